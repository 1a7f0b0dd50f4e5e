//! Tagging a stream: reading, tagging and writing at once, results in order.
//!
//! One thread reads ahead. Each of N others takes a batch of what is there, tags it, makes the output
//! of it, and writes that when the batches before have been written. A sentence that comes alone is
//! a batch of its own, so its answer does not wait for the next.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::workspace::Workspace;
use crate::corpus::Reader;
use crate::error::{Error, Result};
use crate::sentence::Sentence;

/// Sentences that are tagged together when the input is ahead of us.
const BATCH: usize = 64;

/// Sentences that are read ahead.
const AHEAD: usize = 16 * BATCH;

/// Sentences that are tagged and written together.
#[derive(Debug)]
pub struct Batch {
    /// The sentences, in their order.
    pub sentences: Vec<Sentence>,
    /// What separated the columns of the very first sentence ([`Reader::separator`]).
    pub separator: char,
    /// Whether the sentence before these is the boundary of a document.
    pub new_document: bool,
    number: u64,
}

/// Tags what `reader` reads and writes it to `out`, in the order of the input, with `threads`
/// threads and one that reads.
///
/// `tag` appends to its last argument what is to be written for a batch. What it has appended when it
/// fails is still written, and nothing after it. `fault` makes an error of one that `out` has.
///
/// # Errors
///
/// The first error of reading, tagging or writing, in the order of the sentences; or
/// [`Error::Parameter`] when so many threads cannot be started.
pub fn stream<W, F>(
    reader: Reader,
    threads: usize,
    out: W,
    tag: F,
    fault: impl Fn(std::io::Error) -> Error + Sync,
) -> Result<()>
where
    W: Write + Send,
    F: Fn(&Batch, &mut Workspace, &mut Vec<u8>) -> Result<()> + Sync,
{
    let queue = Arc::new(Queue::default());
    // Where tagging fails, reading may be waiting for input that never comes: it is left behind.
    let reading = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.fill(reader)
    });
    let output = Mutex::new(Output {
        out,
        next: 0,
        waiting: BTreeMap::new(),
        result: Ok(()),
    });
    let work = || {
        let mut workspace = Workspace::default();
        while let Some(batch) = queue.take() {
            let mut text = Vec::new();
            let result = tag(&batch, &mut workspace, &mut text);
            if !lock(&output).put(batch.number, text, result, &fault) {
                queue.close();
            }
        }
    };
    thread::scope(|scope| {
        let _closing = Closing(&queue);
        for _ in 1..threads {
            let work = || {
                let _closing = Closing(&queue);
                work();
            };
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, work) {
                queue.close();
                return Err(Error::parameter(format!("cannot start threads: {error}")));
            }
        }
        work();
        Ok(())
    })?;
    let output = output.into_inner().unwrap_or_else(PoisonError::into_inner);
    output.result?;
    match reading.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Takes a lock. What a panic left behind is not used: the panic goes on where threads are joined.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes the queue at the end of a thread, a panic included, so that no other waits for it.
struct Closing<'a>(&'a Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.close();
        }
    }
}

/// Sentences that have been read and not been tagged.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Default)]
struct State {
    sentences: VecDeque<Sentence>,
    separator: Option<char>,
    idle: usize, // threads that wait for a sentence
    full: bool,  // whether the reader waits
    ended: bool, // no more will come
    closed: bool,
    batches: u64,
    new_document: bool,
}

/// Says that no more sentences will come, whatever reading ended with.
struct Ending<'a>(&'a Queue);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).ended = true;
        self.0.filled.notify_all();
    }
}

impl Queue {
    /// Reads all sentences.
    fn fill(&self, mut reader: Reader) -> Result<()> {
        let _ending = Ending(self);
        while let Some(sentence) = reader.next() {
            let sentence = sentence?;
            let mut state = lock(&self.state);
            while state.sentences.len() >= AHEAD && !state.closed {
                state.full = true;
                state = wait(&self.emptied, state);
            }
            if state.closed {
                break;
            }
            state.separator.get_or_insert(reader.separator());
            state.sentences.push_back(sentence);
            // More than one thread is woken only when there is work for more than one.
            if state.idle > 0 && state.sentences.len() % BATCH == 1 {
                self.filled.notify_one();
            }
        }
        Ok(())
    }

    /// The next sentences; `None` when there will be none.
    fn take(&self) -> Option<Batch> {
        let mut state = lock(&self.state);
        while state.sentences.is_empty() && !state.ended && !state.closed {
            state.idle += 1;
            state = wait(&self.filled, state);
            state.idle -= 1;
        }
        if state.closed {
            return None;
        }
        let separator = state.separator.filter(|_| !state.sentences.is_empty())?;
        let number = state.batches;
        state.batches += 1;
        let size = state.sentences.len().min(BATCH);
        let sentences: Vec<Sentence> = state.sentences.drain(..size).collect();
        let boundary = sentences.last().is_some_and(|s| s.layout.document_start);
        let new_document = std::mem::replace(&mut state.new_document, boundary);
        if state.full && state.sentences.len() <= AHEAD / 2 {
            state.full = false;
            self.emptied.notify_one();
        }
        Some(Batch {
            sentences,
            separator,
            new_document,
            number,
        })
    }

    /// Nobody takes sentences any more.
    fn close(&self) {
        lock(&self.state).closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}

fn wait<'a>(condition: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    let waited = condition.wait(state);
    waited.unwrap_or_else(PoisonError::into_inner)
}

/// Where output goes, batch by batch.
struct Output<W> {
    out: W,
    next: u64,
    waiting: BTreeMap<u64, (Vec<u8>, Result<()>)>,
    result: Result<()>,
}

impl<W: Write> Output<W> {
    /// Writes what came of batch `number` in its turn; whether more is wanted.
    fn put(
        &mut self,
        number: u64,
        text: Vec<u8>,
        result: Result<()>,
        fault: &impl Fn(std::io::Error) -> Error,
    ) -> bool {
        self.waiting.insert(number, (text, result));
        while self.result.is_ok()
            && let Some((text, result)) = self.waiting.remove(&self.next)
        {
            self.next += 1;
            let written = self.out.write_all(&text).and_then(|()| self.out.flush());
            self.result = written.map_err(fault).and(result);
        }
        self.result.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor};

    use super::*;
    use crate::corpus::{Format, ReadOptions};

    fn reader(text: &str) -> Reader {
        let options = ReadOptions {
            format: Some(Format::Conll),
            unlabeled: true,
            ..ReadOptions::default()
        };
        Reader::from_read(Box::new(Cursor::new(text.to_owned())), "x", &options)
    }

    /// Writes the first word of each sentence, `+` where a batch begins a document.
    fn words(batch: &Batch, text: &mut Vec<u8>) {
        if batch.new_document {
            text.push(b'+');
        }
        for sentence in &batch.sentences {
            text.extend_from_slice(sentence.cell(0, 0).as_bytes());
            text.push(b' ');
        }
    }

    fn fault(error: io::Error) -> Error {
        Error::io("out", error)
    }

    fn numbers(n: usize) -> String {
        (0..n).map(|i| format!("{i}\n\n")).collect()
    }

    #[test]
    fn output_is_in_the_order_of_the_input_for_any_number_of_threads() {
        let expected: String = (0..5000).map(|i| format!("{i} ")).collect();
        for threads in [1, 2, 7] {
            let mut out = Vec::new();
            let tag = |batch: &Batch, _: &mut Workspace, text: &mut Vec<u8>| {
                words(batch, text);
                Ok(())
            };
            stream(reader(&numbers(5000)), threads, &mut out, tag, fault).unwrap();
            assert!(out == expected.as_bytes(), "{threads} threads");
        }
    }

    #[test]
    fn the_first_fault_ends_the_output() {
        for threads in [1, 3] {
            let mut out = Vec::new();
            let tag = |batch: &Batch, _: &mut Workspace, text: &mut Vec<u8>| {
                for sentence in &batch.sentences {
                    let word = sentence.cell(0, 0);
                    if word == "700" || word == "900" {
                        return Err(Error::parameter(word));
                    }
                    text.extend_from_slice(word.as_bytes());
                    text.push(b' ');
                }
                Ok(())
            };
            let result = stream(reader(&numbers(3000)), threads, &mut out, tag, fault);
            assert_eq!(result.unwrap_err().to_string(), "700");
            let expected: String = (0..700).map(|i| format!("{i} ")).collect();
            assert!(out == expected.as_bytes(), "{threads} threads");
        }
    }

    #[test]
    fn what_comes_before_a_faulty_line_is_written() {
        let mut out = Vec::new();
        let tag = |batch: &Batch, _: &mut Workspace, text: &mut Vec<u8>| {
            words(batch, text);
            Ok(())
        };
        let text = numbers(100) + "a b\n";
        let result = stream(reader(&text), 2, &mut out, tag, fault);
        assert!(result.unwrap_err().to_string().starts_with("x:201: "));
        assert!(out.ends_with(b"98 99 "));
    }

    #[test]
    fn a_batch_knows_whether_a_document_begins_before_it() {
        let queue = Queue::default();
        let text = "a\n\n".repeat(BATCH - 1) + "-DOCSTART-\n\nb\n\nc\n";
        queue.fill(reader(&text)).unwrap();
        let [first, second] = [queue.take().unwrap(), queue.take().unwrap()];
        assert_eq!((first.sentences.len(), second.sentences.len()), (BATCH, 2));
        assert!(!first.new_document && second.new_document);
        assert!(queue.take().is_none());
    }

    #[test]
    fn a_stream_that_refuses_output_ends_tagging() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let tag = |batch: &Batch, _: &mut Workspace, text: &mut Vec<u8>| {
            words(batch, text);
            Ok(())
        };
        let result = stream(reader(&numbers(5000)), 2, Full, tag, fault);
        assert!(matches!(result, Err(Error::Io { .. })));
    }
}
