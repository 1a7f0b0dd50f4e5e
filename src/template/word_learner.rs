//! Learning which words of the training data the Stanford shapes know.

use std::sync::Arc;

use super::ColumnRef;
use super::shape::{KnownWords, is_known_word_candidate};
use crate::sentence::Sentence;

/// The known words of the sentences so far.
#[derive(Clone, Debug, Default)]
pub struct WordLearner {
    columns: Vec<ColumnRef>, // that words are read from
    known: KnownWords,
}

impl WordLearner {
    pub(super) fn new(columns: Vec<ColumnRef>) -> Self {
        Self {
            columns,
            known: KnownWords::default(),
        }
    }

    /// Returns whether no template uses known words.
    pub fn is_idle(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds the words of a sentence, and calls `visit` with each that is new and its token.
    pub(super) fn add_each<'s>(
        &mut self,
        sentence: &'s Sentence,
        mut visit: impl FnMut(&'s str, usize),
    ) {
        let indices = self
            .columns
            .iter()
            .filter_map(|c| c.index(sentence.schema()));
        for index in indices {
            for t in 0..sentence.len() {
                let word = sentence.cell(t, index);
                if is_known_word_candidate(word) && !self.known.contains(word) {
                    self.known.insert(word.into());
                    visit(word, t);
                }
            }
        }
    }

    pub(super) fn finish(self) -> Arc<KnownWords> {
        Arc::new(self.known)
    }
}
