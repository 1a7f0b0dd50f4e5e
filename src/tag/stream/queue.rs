//! The queue between the thread that reads and the workers that tag.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::batch::Batch;
use crate::corpus::Reader;
use crate::error::Result;
use crate::memory::input_over_limit;
use crate::sentence::{DocumentOptions, DocumentRule, Sentence, Separation};

/// Maximum number of sentences in a batch.
pub(super) const BATCH: usize = 64;

/// Maximum number of sentences in a batch with its context, which is indexed for each batch.
const DOCUMENT_BATCH: usize = 8 * BATCH;

/// Number of tokens that ends a batch.
const BATCH_TOKENS: usize = 1 << 14;

/// Maximum number of sentences in the queue.
pub(super) const READ_AHEAD: usize = 16 * BATCH;

/// Memory of the sentences that ends reading ahead, in bytes.
const READ_AHEAD_BYTES: usize = 64 << 20;

/// Maximum number of batches from the one to be written next to the last one that is taken.
pub(super) const MAX_AHEAD: u64 = 256;

/// Memory of waiting output, in bytes, at which no more batches are taken.
pub(super) const MAX_WAITING_BYTES: usize = 64 << 20;

/// A bounded queue of sentences that have been read and not yet tagged.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    not_empty: Condvar,
    not_full: Condvar,
    written: Condvar,
}

#[derive(Default)]
pub(super) struct QueueState {
    sentences: VecDeque<Queued>,
    bytes: usize, // memory of the sentences
    documents: Option<DocumentOptions>,
    ready: usize, // sentences at the front that wait for no others of their document
    end: u64,     // tokens read so far
    past: VecDeque<Arc<Sentence>>, // sentences before the first, of the same document
    past_tokens: usize,
    separator: Option<char>,
    idle_workers: usize,
    reader_waits: bool,
    ended: bool,          // the input has ended
    closed: bool,         // workers get no more batches
    batches: u64,         // taken
    written: u64,         // batches whose output has been written
    waiting_bytes: usize, // output of later batches
    new_document: bool,
}

/// A sentence and its memory when it was read: what it shares with sentences that were tagged in
/// the meantime would count differently now.
struct Queued {
    sentence: Arc<Sentence>,
    bytes: usize,
    end: u64,     // the number of tokens up to its last one
    begins: bool, // a document begins with it, or it is a boundary between documents
}

/// Returns the number of tokens of a sentence that count in a document.
fn document_tokens(sentence: &Sentence) -> usize {
    match sentence.layout.document_start {
        true => 0,
        false => sentence.len(),
    }
}

impl QueueState {
    /// Whether the next sentence has to wait. One sentence always fits.
    fn is_full(&self) -> bool {
        let is_full = self.sentences.len() >= READ_AHEAD || self.bytes >= READ_AHEAD_BYTES;
        is_full && self.ready() > 0
    }

    /// Returns the number of sentences at the front that wait for no others of their document.
    fn ready(&self) -> usize {
        match self.documents {
            Some(_) if !self.ended => self.ready,
            _ => self.sentences.len(),
        }
    }

    /// Adds a sentence. Returns whether there is a batch for another worker.
    fn push(&mut self, sentence: Sentence, bytes: usize) -> bool {
        let before = self.ready();
        let layout = &sentence.layout;
        let begins = self.documents.is_some_and(|DocumentOptions { rule, .. }| {
            rule.separates(layout.separation)
                || layout.document_start && rule.separates(Separation::MARK)
        });
        if begins {
            self.ready = self.sentences.len();
        }
        self.end += document_tokens(&sentence) as u64;
        self.bytes += bytes;
        self.sentences.push_back(Queued {
            sentence: Arc::new(sentence),
            bytes,
            end: self.end,
            begins,
        });
        if let Some(DocumentOptions { rule, window }) = self.documents {
            let window = match rule {
                DocumentRule::Sentence => 0,
                _ => u64::from(window),
            };
            while let Some(next) = self.sentences.get(self.ready)
                && next.end + window <= self.end
            {
                self.ready += 1;
            }
        }
        // Batches that are full, and one for the rest.
        self.ready().div_ceil(BATCH) > before.div_ceil(BATCH)
    }

    /// Whether so much output waits for an earlier batch that no more batches are to be taken.
    fn is_far_ahead(&self) -> bool {
        self.batches - self.written >= MAX_AHEAD || self.waiting_bytes >= MAX_WAITING_BYTES
    }

    /// Removes the sentences of the next batch. Returns them with those before and after that
    /// belong to their documents and that they see.
    fn take_batch(&mut self) -> [Vec<Arc<Sentence>>; 3] {
        let largest = match self.documents {
            Some(_) => DOCUMENT_BATCH,
            None => BATCH,
        };
        let (mut size, mut tokens) = (0, 0);
        while size < self.ready().min(largest) && tokens < BATCH_TOKENS {
            tokens += self.sentences[size].sentence.len();
            size += 1;
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if let Some(documents) = self.documents {
            self.forget_past_at(0);
            before = self.past.iter().cloned().collect();
            after = self.context_after(size, documents.window as usize);
            for i in 0..size {
                self.forget_past_at(i);
                let sentence = &self.sentences[i].sentence;
                self.past_tokens += document_tokens(sentence);
                self.past.push_back(Arc::clone(sentence));
                self.shorten_past(documents.window as usize);
            }
            self.ready = self.ready.saturating_sub(size);
        }
        let batch = self.sentences.drain(..size);
        let bytes = &mut self.bytes;
        let batch = batch.map(|queued| {
            *bytes -= queued.bytes;
            queued.sentence
        });
        [before, batch.collect(), after]
    }

    /// Forgets the sentences before sentence `i` if a document begins with it.
    fn forget_past_at(&mut self, i: usize) {
        if self.sentences[i].begins {
            self.past.clear();
            self.past_tokens = 0;
        }
    }

    /// Forgets the sentences at the beginning of the past that no token to come sees.
    fn shorten_past(&mut self, window: usize) {
        while let Some(first) = self.past.front()
            && self.past_tokens - document_tokens(first) >= window
        {
            self.past_tokens -= document_tokens(first);
            self.past.pop_front();
        }
    }

    /// Returns the sentences from `first` on that the tokens before it see.
    fn context_after(&self, first: usize, window: usize) -> Vec<Arc<Sentence>> {
        let mut tokens = 0;
        let mut after = Vec::new();
        for queued in self.sentences.range(first..) {
            if queued.begins || tokens >= window {
                break;
            }
            tokens += document_tokens(&queued.sentence);
            after.push(Arc::clone(&queued.sentence));
        }
        after
    }
}

/// Marks the end of the input when the reader returns, fails or panics.
struct EndOnDrop<'a>(&'a Queue);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).ended = true;
        self.0.not_empty.notify_all();
    }
}

impl Queue {
    pub fn new(documents: Option<DocumentOptions>) -> Self {
        let state = QueueState { documents, ..QueueState::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    /// Reads all sentences into the queue, waiting while it is full.
    pub fn fill(&self, mut reader: Reader) -> Result<()> {
        let _guard = EndOnDrop(self);
        let limit = reader.memory_limit();
        while let Some(sentence) = reader.next() {
            let sentence = sentence?;
            let mut state = lock(&self.state);
            while state.is_full() && !state.closed {
                state.reader_waits = true;
                state = wait(&self.not_full, state);
            }
            if state.closed {
                break;
            }
            state.separator.get_or_insert(reader.separator());
            let bytes = sentence.memory();
            if (state.bytes + bytes) as u64 > limit && state.ready() == 0 && state.end > 0 {
                return Err(input_over_limit(
                    sentence.place(0),
                    "the part of the document that a token sees needs",
                    limit,
                    "a smaller --document-window, or other --document",
                ));
            }
            let has_more = state.push(sentence, bytes);
            // Wake another worker only if there is a batch for it.
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
            } else if state.ready() == 0 && !state.ended {
                state.idle_workers += 1;
                state = wait(&self.not_empty, state);
                state.idle_workers -= 1;
            } else {
                break;
            }
        }
        let separator = state.separator.filter(|_| !state.sentences.is_empty())?;
        let index = state.batches;
        state.batches += 1;
        let rule = state.documents.map(|documents| documents.rule);
        let [before, sentences, after] = state.take_batch();
        let ends_document = sentences.last().is_some_and(|s| s.layout.document_start);
        let new_document = std::mem::replace(&mut state.new_document, ends_document);
        let is_half_empty = state.sentences.len() <= READ_AHEAD / 2;
        let has_space = is_half_empty && state.bytes <= READ_AHEAD_BYTES / 2;
        if state.reader_waits && (has_space || state.ready() == 0) {
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

#[cfg(test)]
mod tests {
    use super::super::tests::{documents_of, reader};
    use super::*;
    use crate::tag::TagDocuments;

    /// One-word sentences with words of a few letters; `-` is a document boundary.
    fn document_text(sentences: usize, documents: usize) -> String {
        let sentence = |i: usize| match i % (sentences / documents) {
            0 => "-DOCSTART-\n\n".to_owned(),
            j => format!("{}\n\n", ["a", "b\na\nc", "d", "a\na", "e\nb"][(j * j + j / 7) % 5]),
        };
        (0..sentences).map(sentence).collect()
    }

    /// The attributes of all tokens of a sentence, with a template that looks at its document.
    fn attributes(input: crate::tag::TagInput<'_>) -> String {
        struct Names(Vec<u8>);
        impl crate::template::AttributeSink for Names {
            fn node(&mut self, attribute: &crate::template::Attribute<'_>, _: f64) {
                attribute.write(&mut self.0);
                self.0.push(b' ');
            }
            fn edge(&mut self, _: &crate::template::Attribute<'_>, _: f64) {}
        }
        let source = "mention(count)\nmention(order)\nothers(word[-1])\ndocument: window=23";
        let template: crate::Template = source.parse().unwrap();
        let mut names = Names(Vec::new());
        if let crate::tag::TagInput::InDocument(document, i) = input {
            let sentence = document.sentence(i).unwrap();
            let extractor = template.bind(sentence.schema()).unwrap();
            let mut workspace = crate::template::Workspace::default();
            extractor.prepare(document.in_context(i).unwrap(), &mut workspace).unwrap();
            for t in 0..sentence.len() {
                extractor.extract(sentence, t, &mut workspace, &mut names);
            }
        }
        String::from_utf8(names.0).unwrap()
    }

    #[test]
    fn attributes_do_not_depend_on_when_sentences_arrive() {
        let sentences: Vec<Sentence> =
            reader(&document_text(400, 5)).collect::<Result<_>>().unwrap();
        let whole = TagDocuments::with_context(Some(DocumentRule::Auto), [&[], &sentences, &[]]);
        let expected: Vec<String> = (0..whole.len()).map(|i| attributes(whole.input(i))).collect();
        for every in [1, 2, 5, 37, 1000] {
            let mut state = QueueState { documents: documents_of(23), ..QueueState::default() };
            let (mut found, mut most) = (Vec::new(), 0);
            let mut take = |state: &mut QueueState| {
                while state.ready() > 0 {
                    let [before, batch, after] = state.take_batch();
                    most = most.max(before.len() + after.len());
                    let parts = [&before[..], &batch, &after];
                    let parts = TagDocuments::with_context(Some(DocumentRule::Auto), parts);
                    found.extend((0..parts.len()).map(|i| attributes(parts.input(i))));
                }
            };
            for (i, sentence) in sentences.iter().enumerate() {
                state.push(sentence.clone(), 1);
                if i % every == 0 {
                    take(&mut state);
                }
            }
            state.ended = true;
            take(&mut state);
            assert!(state.sentences.is_empty());
            assert_eq!(found, expected, "every {every}");
            // Whole sentences of up to 3 tokens to either side, and boundaries.
            assert!(most <= 2 * 24, "{most}");
        }
    }

    #[test]
    fn what_waits_for_its_document_is_bounded_by_the_window() {
        let mut state = QueueState { documents: documents_of(100), ..QueueState::default() };
        for i in 0..10_000 {
            state.push(Sentence::from_words(["a"]), 1);
            assert_eq!(state.ready(), usize::from(i >= 100));
            if state.ready() > 0 {
                state.take_batch();
            }
            assert!(state.sentences.len() <= 101 && state.past.len() <= 100);
        }
        assert_eq!(state.past_tokens, 100);
    }

    #[test]
    fn long_sentences_make_small_batches() {
        let queue = Queue::default();
        let long = "a\n".repeat(BATCH_TOKENS / 2 + 1) + "\n";
        queue.fill(reader(&long.repeat(5))).unwrap();
        let sizes = std::iter::from_fn(|| queue.pop_batch()).map(|batch| batch.sentences.len());
        assert_eq!(sizes.collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(lock(&queue.state).bytes, 0);
    }
}
