//! Tests of streaming.

use std::io::{self, Cursor, Write};

use super::queue::{MAX_AHEAD, MAX_WAITING_BYTES};
use super::waiting::{BATCH, READ_AHEAD};
use super::*;
use crate::corpus::{Format, ReadOptions};
use crate::sentence::DocumentRule;

pub fn reader(text: &str) -> Reader {
    let options =
        ReadOptions { format: Some(Format::Conll), unlabeled: true, ..ReadOptions::default() };
    Reader::from_read(Box::new(Cursor::new(text.to_owned())), "x", &options)
}

/// Writes the first word of each sentence, and `+` before a batch that begins a document.
fn words(batch: &Batch, _: &mut Workspace, text: &mut Vec<u8>) -> Result<()> {
    if batch.new_document {
        text.push(b'+');
    }
    for sentence in &batch.sentences {
        text.extend_from_slice(sentence.cell(0, 0).as_bytes());
        text.push(b' ');
    }
    Ok(())
}

/// Writes the bytes of batches.
fn write(mut out: impl Write + Send) -> impl FnMut(Vec<u8>) -> Result<()> + Send {
    move |text| out.write_all(&text).map_err(|error| Error::io("out", error))
}

fn numbers(n: usize) -> String {
    (0..n).map(|i| format!("{i}\n\n")).collect()
}

#[test]
fn output_is_in_the_order_of_the_input_for_any_number_of_threads() {
    let expected: String = (0..5000).map(|i| format!("{i} ")).collect();
    for threads in [1, 2, 7] {
        let mut out = Vec::new();
        stream(reader(&numbers(5000)), None, threads, words, write(&mut out)).unwrap();
        assert!(out == expected.as_bytes(), "{threads} threads");
    }
}

#[test]
fn output_ends_with_the_first_error() {
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
        let result = stream(reader(&numbers(3000)), None, threads, tag, write(&mut out));
        assert_eq!(result.unwrap_err().to_string(), "700");
        let expected: String = (0..700).map(|i| format!("{i} ")).collect();
        assert!(out == expected.as_bytes(), "{threads} threads");
    }
}

#[test]
fn output_before_a_malformed_line_is_written() {
    let mut out = Vec::new();
    let text = numbers(100) + "a b\n";
    let result = stream(reader(&text), None, 2, words, write(&mut out));
    assert!(result.unwrap_err().to_string().starts_with("x:201: "));
    assert!(out.ends_with(b"98 99 "));
}

#[test]
fn a_batch_knows_whether_it_begins_a_document() {
    let queue = Queue::default();
    let text = "a\n\n".repeat(BATCH - 1) + "-DOCSTART-\n\nb\n\nc\n";
    queue.fill(reader(&text)).unwrap();
    let [first, second] = [queue.pop_batch().unwrap(), queue.pop_batch().unwrap()];
    assert_eq!((first.sentences.len(), second.sentences.len()), (BATCH, 2));
    assert!(!first.new_document && second.new_document);
    assert!(queue.pop_batch().is_none());
}

#[test]
fn a_write_error_ends_tagging() {
    struct FullDisk;
    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let result = stream(reader(&numbers(5000)), None, 2, words, write(FullDisk));
    assert!(matches!(result, Err(Error::Io { .. })));
}

/// Tags with a first batch that ends only once the other workers have done what they can, and
/// returns the largest number of batches taken before the first was written.
fn most_ahead(output: usize) -> u64 {
    const THREADS: usize = 4;
    let [taken, done] = [(); 2].map(|()| Mutex::new(0u64));
    let most = Mutex::new(0);
    let tag = |batch: &Batch, _: &mut Workspace, text: &mut Vec<u8>| {
        *lock(&taken) += 1;
        if batch.index == 0 {
            // The others have stopped if none has finished for a while.
            let mut before = u64::MAX;
            while before != *lock(&done) {
                before = *lock(&done);
                thread::sleep(std::time::Duration::from_millis(200));
            }
            *lock(&most) = *lock(&taken);
        } else {
            text.resize(output, b'x');
            *lock(&done) += 1;
        }
        Ok(())
    };
    let text = numbers(BATCH * (MAX_AHEAD as usize + 100));
    stream(reader(&text), None, THREADS, tag, write(io::sink())).unwrap();
    assert!(*lock(&taken) >= MAX_AHEAD + 100);
    most.into_inner().unwrap()
}

#[test]
fn output_behind_a_slow_batch_is_bounded() {
    let most = most_ahead(1);
    assert!((100..=MAX_AHEAD).contains(&most), "{most} batches");
    // Workers that have taken a batch finish it.
    let most = most_ahead(MAX_WAITING_BYTES / 10);
    assert!((5..=10 + 1 + 4).contains(&most), "{most} batches");
}

pub fn documents_of(window: u32) -> Option<DocumentOptions> {
    Some(DocumentOptions { rule: DocumentRule::Auto, window })
}

#[test]
fn a_window_larger_than_the_queue_does_not_block() {
    let documents = documents_of(5 * READ_AHEAD as u32);
    let expected: String = (0..20_000).map(|i| format!("{i} ")).collect();
    for threads in [1, 3] {
        let mut out = Vec::new();
        let input = reader(&numbers(20_000));
        stream(input, documents, threads, words, write(&mut out)).unwrap();
        assert!(out == expected.as_bytes(), "{threads} threads");
    }
}

#[test]
fn output_of_an_unfinished_document_before_an_error_is_written() {
    let mut out = Vec::new();
    let text = numbers(100) + "a b\n";
    let input = reader(&text);
    let result = stream(input, documents_of(1000), 2, words, write(&mut out));
    assert!(result.unwrap_err().to_string().starts_with("x:201: "));
    assert!(out.ends_with(b"98 99 "));
}

#[test]
fn sentences_that_wait_count_against_the_limit_on_memory() {
    let options = ReadOptions {
        format: Some(Format::Conll),
        unlabeled: true,
        limits: crate::MemoryLimit::Bytes(100_000).into(),
        ..ReadOptions::default()
    };
    let input = Box::new(Cursor::new(numbers(10_000)));
    let input = Reader::from_read(input, "x", &options);
    let tag = |_: &Batch, _: &mut Workspace, _: &mut Vec<u8>| Ok(());
    let result = stream(input, documents_of(9000), 1, tag, write(io::sink()));
    let message = result.unwrap_err().to_string();
    assert!(
        message.contains("the part of the document that a token sees needs more memory"),
        "{message}"
    );
}

#[test]
fn outputs_that_share_memory_are_counted_once() {
    /// Counts the bytes that it shares with outputs before it less and less.
    #[derive(Default)]
    struct Shared(Arc<()>);
    impl BatchOutput for Shared {
        fn memory(&self) -> usize {
            1000 / Arc::strong_count(&self.0)
        }
    }
    let shared = Arc::new(());
    let output = || Shared(Arc::clone(&shared));
    let mut in_order = InOrder::new(|_| Ok(()));
    let (second, third) = (output(), output());
    assert!(in_order.add(2, third, Ok(())) && in_order.add(1, second, Ok(())));
    assert!(in_order.waiting_bytes > 0);
    assert!(in_order.add(0, Shared::default(), Ok(())));
    assert_eq!((in_order.next, in_order.waiting_bytes), (3, 0));
}
