//! The queue between the thread that reads and the workers that tag, the batches that it gives to
//! them, and their results in the order of the input.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::waiting::{BATCH, WaitingSentences};
use crate::corpus::Reader;
use crate::error::Result;
use crate::memory::input_over_limit;
use crate::sentence::{DocumentOptions, DocumentRule, Sentence};
use crate::tag::TagDocuments;

/// Maximum number of batches from the one to be written next to the last one that is taken.
pub(super) const MAX_AHEAD: u64 = 256;

/// Memory of waiting output, in bytes, at which no more batches are taken.
pub(super) const MAX_WAITING_BYTES: usize = 64 << 20;

/// Sentences that are tagged and written together.
#[derive(Debug)]
pub struct Batch {
    /// The sentences, in input order.
    pub sentences: Vec<Arc<Sentence>>,
    /// The column separator of the input's first sentence
    /// ([`Reader::separator`](crate::corpus::Reader::separator)).
    pub separator: char,
    /// Whether the sentence before the batch is a document boundary.
    pub new_document: bool,
    rule: Option<DocumentRule>,
    before: Vec<Arc<Sentence>>, // of the document of the first sentence
    after: Vec<Arc<Sentence>>,  // of that of the last one
    pub(super) index: u64,
}

impl Batch {
    /// Returns the number of batches before this one in the input.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the sentences in their documents, as far as their tokens see them.
    pub fn documents(&self) -> TagDocuments<'_> {
        TagDocuments::with_context(self.rule, [&self.before, &self.sentences, &self.after])
    }
}

/// The result of a batch, such as its output as bytes.
pub trait BatchOutput: Default + Send {
    /// Returns the memory of the output in bytes, which is limited while it waits for an earlier
    /// batch.
    fn memory(&self) -> usize;
}

impl BatchOutput for Vec<u8> {
    fn memory(&self) -> usize {
        self.capacity()
    }
}

/// Hands over the results of batches in the order of their indices.
pub(super) struct InOrder<T, S> {
    sink: S,
    pub next: u64, // index of the batch to be handed over next
    pending: BTreeMap<u64, (usize, T, Result<()>)>, // with the memory that was counted
    pub waiting_bytes: usize, // of `pending`
    pub result: Result<()>, // the first error of tagging or of the sink, in the order of the input
}

impl<T: BatchOutput, S: FnMut(T) -> Result<()>> InOrder<T, S> {
    pub fn new(sink: S) -> Self {
        Self { sink, next: 0, pending: BTreeMap::new(), waiting_bytes: 0, result: Ok(()) }
    }

    /// Adds the output of batch `index`, and hands over every batch that is next in order. Returns
    /// false after the first error, when no more output is needed.
    pub fn add(&mut self, index: u64, output: T, result: Result<()>) -> bool {
        // Counted once: what the output shares with another that is dropped would count
        // differently.
        let bytes = output.memory();
        self.waiting_bytes += bytes;
        self.pending.insert(index, (bytes, output, result));
        while self.result.is_ok()
            && let Some((bytes, output, result)) = self.pending.remove(&self.next)
        {
            self.next += 1;
            self.waiting_bytes -= bytes;
            self.result = (self.sink)(output).and(result);
        }
        self.result.is_ok()
    }
}

/// A bounded queue of sentences that have been read and not yet tagged.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    not_empty: Condvar,
    not_full: Condvar,
    written: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: WaitingSentences,
    taken: u64,           // batches
    written: u64,         // batches whose output has been written
    waiting_bytes: usize, // output of later batches
    separator: Option<char>,
    new_document: bool, // whether the last batch ended with a document boundary
    idle_workers: usize,
    reader_waits: bool,
    ended: bool,  // the input has ended
    closed: bool, // workers get no more batches
}

impl QueueState {
    /// Whether so much output waits for an earlier batch that no more batches are to be taken.
    fn is_far_ahead(&self) -> bool {
        self.taken - self.written >= MAX_AHEAD || self.waiting_bytes >= MAX_WAITING_BYTES
    }
}

/// Marks the end of the input when the reader returns, fails or panics.
struct EndOnDrop<'a>(&'a Queue);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.ended = true;
        state.waiting.end();
        drop(state);
        self.0.not_empty.notify_all();
    }
}

impl Queue {
    pub fn new(documents: Option<DocumentOptions>) -> Self {
        let waiting = WaitingSentences::new(documents);
        Self { state: Mutex::new(QueueState { waiting, ..Default::default() }), ..Self::default() }
    }

    /// Reads all sentences into the queue, waiting while it is full.
    pub fn fill(&self, mut reader: Reader) -> Result<()> {
        let _guard = EndOnDrop(self);
        let limit = reader.memory_limit();
        while let Some(sentence) = reader.next() {
            let sentence = sentence?;
            let mut state = lock(&self.state);
            // One sentence always fits.
            while state.waiting.are_full() && state.waiting.ready > 0 && !state.closed {
                state.reader_waits = true;
                state = wait(&self.not_full, state);
            }
            if state.closed {
                break;
            }
            state.separator.get_or_insert(reader.separator());
            let (waiting, bytes) = (&mut state.waiting, sentence.memory());
            let ready = waiting.ready;
            if (waiting.bytes + bytes) as u64 > limit && ready == 0 && waiting.tokens > 0 {
                return Err(input_over_limit(
                    sentence.place(0),
                    "the part of the document that a token sees needs",
                    limit,
                    "a smaller `document_window`, or other `document`",
                ));
            }
            waiting.push(sentence, bytes);
            // Wake another worker only if there is a batch for it.
            let has_more = waiting.ready.div_ceil(BATCH) > ready.div_ceil(BATCH);
            if state.idle_workers > 0 && has_more {
                self.not_empty.notify_one();
            }
        }
        Ok(())
    }

    /// Pops the next batch, waiting while the queue is empty; `None` at the end.
    pub fn pop_batch(&self) -> Option<Batch> {
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return None;
            } else if state.is_far_ahead() {
                state = wait(&self.written, state);
            } else if state.waiting.ready == 0 && !state.ended {
                state.idle_workers += 1;
                state = wait(&self.not_empty, state);
                state.idle_workers -= 1;
            } else {
                break;
            }
        }
        let separator = state.separator.filter(|_| state.waiting.len() > 0)?;
        let index = state.taken;
        state.taken += 1;
        let rule = state.waiting.rule();
        let [before, sentences, after] = state.waiting.take_batch();
        let ends_document = sentences.last().is_some_and(|s| s.layout.document_start);
        let new_document = std::mem::replace(&mut state.new_document, ends_document);
        let has_space = state.waiting.are_half_empty() || state.waiting.ready == 0;
        if state.reader_waits && has_space {
            state.reader_waits = false;
            self.not_full.notify_one();
        }
        Some(Batch { sentences, separator, new_document, rule, before, after, index })
    }

    /// Closes the queue: the reader stops and workers get no more batches.
    pub fn close(&self) {
        lock(&self.state).closed = true;
        self.not_empty.notify_all();
        self.not_full.notify_all();
        self.written.notify_all();
    }

    /// Records that the output of the first `batches` batches has been written, while that of later
    /// ones, `waiting_bytes` bytes, waits.
    pub fn set_written(&self, batches: u64, waiting_bytes: usize) {
        let mut state = lock(&self.state);
        let was_far_ahead = state.is_far_ahead();
        (state.written, state.waiting_bytes) = (batches, waiting_bytes);
        if was_far_ahead && !state.is_far_ahead() {
            self.written.notify_all();
        }
    }
}

fn wait<'a>(condition: &Condvar, state: MutexGuard<'a, QueueState>) -> MutexGuard<'a, QueueState> {
    condition.wait(state).unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex, ignoring poisoning: a panic is propagated when its thread is joined, and the
/// state that it left behind is not used.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
