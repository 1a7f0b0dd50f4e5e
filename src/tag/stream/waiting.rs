//! The sentences that have been read and not yet tagged, with the context that they see.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sentence::{DocumentOptions, DocumentRule, Sentence, Separation};

/// Maximum number of sentences in a batch.
pub(super) const BATCH: usize = 64;

/// Maximum number of sentences in the queue.
pub(super) const READ_AHEAD: usize = 16 * BATCH;

/// Maximum number of sentences in a batch with its context, which is indexed for each batch.
const DOCUMENT_BATCH: usize = 8 * BATCH;

/// Number of tokens that ends a batch.
pub(super) const BATCH_TOKENS: usize = 1 << 14;

/// Memory of the sentences that ends reading ahead, in bytes.
pub(super) const READ_AHEAD_BYTES: usize = 64 << 20;

/// Sentences in input order: those that are kept as context of the next ones, then those that wait.
#[derive(Default)]
pub(super) struct WaitingSentences {
    sentences: VecDeque<Queued>,
    past: usize,      // sentences at the front that have been taken
    pub ready: usize, // sentences after them that wait for no others of their document
    pub bytes: usize, // memory of the sentences that wait
    pub tokens: u64,  // read so far
    documents: Option<DocumentOptions>,
}

/// A sentence and its memory when it was read: what it shares with sentences that were tagged in
/// the meantime would count differently now.
struct Queued {
    sentence: Arc<Sentence>,
    bytes: usize,
    end: u64, // the number of tokens up to its last one; those of boundaries do not count
    begins: bool, // a document begins with it, or it is a boundary between documents
}

impl WaitingSentences {
    pub fn new(documents: Option<DocumentOptions>) -> Self {
        Self { documents, ..Self::default() }
    }

    /// Returns what a document is, if the tagger sees documents.
    pub fn rule(&self) -> Option<DocumentRule> {
        self.documents.map(|documents| documents.rule)
    }

    /// Returns the number of sentences that wait.
    pub fn len(&self) -> usize {
        self.sentences.len() - self.past
    }

    /// Returns whether no more sentences are to be read ahead.
    pub fn are_full(&self) -> bool {
        self.len() >= READ_AHEAD || self.bytes >= READ_AHEAD_BYTES
    }

    /// Returns whether there is space for more than a few.
    pub fn are_half_empty(&self) -> bool {
        self.len() <= READ_AHEAD / 2 && self.bytes <= READ_AHEAD_BYTES / 2
    }

    /// Adds a sentence, which others may wait for.
    pub fn push(&mut self, sentence: Sentence, bytes: usize) {
        let layout = &sentence.layout;
        let begins = self.rule().is_some_and(|rule| {
            rule.separates(layout.separation)
                || layout.document_start && rule.separates(Separation::MARK)
        });
        if begins {
            self.end();
        }
        self.tokens += if layout.document_start { 0 } else { sentence.len() as u64 };
        self.bytes += bytes;
        let (sentence, end) = (Arc::new(sentence), self.tokens);
        self.sentences.push_back(Queued { sentence, bytes, end, begins });
        let window = match self.rule() {
            Some(DocumentRule::Sentence) => 0,
            _ => self.window(),
        };
        while let Some(next) = self.sentences.get(self.past + self.ready)
            && next.end + window <= self.tokens
        {
            self.ready += 1;
        }
    }

    /// Ends the document: no sentence waits for others any more.
    pub fn end(&mut self) {
        self.ready = self.len();
    }

    /// Takes the next batch. Returns its sentences with those before and after that belong to their
    /// documents and that they see.
    pub fn take_batch(&mut self) -> [Vec<Arc<Sentence>>; 3] {
        let largest = self.documents.map_or(BATCH, |_| DOCUMENT_BATCH);
        let start = self.past;
        let (mut end, mut tokens) = (start, 0);
        while end - start < self.ready.min(largest) && tokens < BATCH_TOKENS {
            tokens += self.sentences[end].sentence.len();
            self.bytes -= self.sentences[end].bytes;
            end += 1;
        }
        let is_first = |&i: &usize| self.sentences.get(i).is_some_and(|s| s.begins);
        let first = (1..=start).rev().find(is_first).unwrap_or(0);
        let seen = self.end_before(end) + self.window();
        let next = (end..self.sentences.len())
            .find(|i| is_first(i) || self.end_before(*i) >= seen)
            .unwrap_or(self.sentences.len());
        let taken = [first..start, start..end, end..next].map(|range| {
            self.sentences.range(range).map(|queued| Arc::clone(&queued.sentence)).collect()
        });
        (self.past, self.ready) = (end, self.ready - (end - start));
        // No token to come sees sentences that end before the window.
        while self.past > 0 && self.sentences[0].end + self.window() <= self.end_before(self.past) {
            self.sentences.pop_front();
            self.past -= 1;
        }
        taken
    }

    /// Returns how far tokens see, in tokens.
    fn window(&self) -> u64 {
        self.documents.map_or(0, |documents| documents.window.into())
    }

    /// Returns the number of tokens up to sentence `i`, of which there is one before.
    fn end_before(&self, i: usize) -> u64 {
        i.checked_sub(1).map_or(0, |before| self.sentences[before].end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{documents_of, reader};
    use super::*;
    use crate::error::Result;
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
            let mut state = WaitingSentences::new(documents_of(23));
            let (mut found, mut most) = (Vec::new(), 0);
            let mut take = |state: &mut WaitingSentences| {
                while state.ready > 0 {
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
            state.end();
            take(&mut state);
            assert_eq!(state.len(), 0);
            assert_eq!(found, expected, "every {every}");
            // Whole sentences of up to 3 tokens to either side, and boundaries.
            assert!(most <= 2 * 24, "{most}");
        }
    }

    #[test]
    fn what_waits_for_its_document_is_bounded_by_the_window() {
        let mut state = WaitingSentences::new(documents_of(100));
        for i in 0..10_000 {
            state.push(Sentence::from_words(["a"]), 1);
            assert_eq!(state.ready, usize::from(i >= 100));
            if state.ready > 0 {
                state.take_batch();
            }
            assert!(state.len() <= 101 && state.past <= 100);
        }
        assert_eq!(state.past, 100);
    }

    #[test]
    fn long_sentences_make_small_batches() {
        let mut waiting = WaitingSentences::default();
        let long = "a\n".repeat(BATCH_TOKENS / 2 + 1) + "\n";
        reader(&long.repeat(5)).for_each(|sentence| waiting.push(sentence.unwrap(), 7));
        let sizes = [(); 3].map(|()| waiting.take_batch()[1].len());
        assert_eq!(sizes, [2, 2, 1]);
        assert_eq!((waiting.len(), waiting.bytes), (0, 0));
    }
}
