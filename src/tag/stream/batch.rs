//! Sentences that are tagged and written together.

use std::sync::Arc;

use crate::sentence::{DocumentRule, Sentence};
use crate::tag::TagDocuments;

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
    pub(super) rule: Option<DocumentRule>,
    pub(super) before: Vec<Arc<Sentence>>, // of the document of the first sentence
    pub(super) after: Vec<Arc<Sentence>>,  // of that of the last one
    pub(super) index: u64,
}

impl Batch {
    /// Returns the number of batches before this one in the input.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the sentences in their documents, as far as their tokens see them.
    #[must_use]
    pub fn documents(&self) -> TagDocuments<'_> {
        TagDocuments::with_context(self.rule, [&self.before, &self.sentences, &self.after])
    }
}
