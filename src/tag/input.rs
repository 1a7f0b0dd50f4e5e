//! What a tagger tags.

use super::keyed_sentence::KeyedSentence;
use crate::error::Place;
use crate::sentence::{Document, Sentence};

/// What a tagger tags. References to both kinds of sentences convert to it.
#[derive(Clone, Copy, Debug)]
pub enum TagInput<'a> {
    /// A sentence of columns, to which the model's template applies, or of ready-made attributes.
    Sentence(&'a Sentence),
    /// A sentence of a document, by its number. Templates may look at the rest of the document.
    InDocument(&'a Document<'a>, usize),
    /// A sentence of ready-made attributes, prepared for the tagger.
    Keyed(&'a KeyedSentence),
}

impl TagInput<'_> {
    /// Returns the number of tokens T; 0 if the document has no such sentence.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Sentence(sentence) => sentence.len(),
            Self::InDocument(document, i) => document.sentence(i).map_or(0, Sentence::len),
            Self::Keyed(sentence) => sentence.len(),
        }
    }

    /// Returns whether there are no tokens.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the place of a token, for errors: where it was read, or its number, from 0.
    #[must_use]
    pub fn place(self, t: usize) -> Place {
        match self {
            Self::Sentence(sentence) => sentence.place(t),
            Self::InDocument(document, i) => match document.sentence(i) {
                Some(sentence) => sentence.place(t),
                None => Place::file(format!("sentence {i}")),
            },
            Self::Keyed(_) => Place::file(format!("token {t}")),
        }
    }
}

impl<'a> From<&'a Sentence> for TagInput<'a> {
    fn from(sentence: &'a Sentence) -> Self {
        Self::Sentence(sentence)
    }
}

impl<'a> From<(&'a Document<'a>, usize)> for TagInput<'a> {
    fn from((document, i): (&'a Document<'a>, usize)) -> Self {
        Self::InDocument(document, i)
    }
}

impl<'a> From<&'a KeyedSentence> for TagInput<'a> {
    fn from(sentence: &'a KeyedSentence) -> Self {
        Self::Keyed(sentence)
    }
}
