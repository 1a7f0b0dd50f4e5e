//! The labels of sentences, for the detector that decides how they are read.

use crate::label::{PlainLabels, SchemeDetector};
use crate::sentence::{Schema, Sentence};

impl SchemeDetector {
    /// A detector that has also seen the labels of these sentences, document boundaries left out.
    #[must_use]
    pub fn of<'a>(&self, sentences: impl IntoIterator<Item = &'a Sentence>) -> Self {
        let mut detector = self.clone();
        let content = sentences.into_iter().filter(|sentence| !sentence.layout.document_start);
        content.for_each(|sentence| detector.observe_sentence(sentence));
        detector
    }

    /// Notes whether the column of labels has tags: those of CoNLL-U are spans only by choice, and
    /// labels that join columns never.
    pub fn observe_column(&mut self, schema: &Schema) {
        if schema.joined().is_some() {
            *self = std::mem::take(self).with_plain_labels(PlainLabels::Tags);
        }
        if schema.has_tags() {
            self.of_tags();
        }
    }

    /// Observes the labels of a sentence and their column.
    pub fn observe_sentence(&mut self, sentence: &Sentence) {
        self.observe_column(sentence.schema());
        let place = |t| Some(sentence.place(t));
        match sentence.allowed_labels() {
            Some(allowed) => self.observe_partial(&allowed, place),
            None => self.observe_at(&sentence.labels().unwrap_or_default(), place),
        }
    }
}
