//! The document that a workspace is prepared for.

use std::sync::Arc;

use super::text::push_lower;
use crate::error::{Error, Result};
use crate::sentence::{Document, IndexedText, Sentence, WordIndex};

/// What an extractor needs to know of documents.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentPlan {
    /// Number of tokens before a token, and after it, that functions see.
    pub window: u32,
    /// The texts that are indexed: a column, verbatim or in lower case.
    pub indices: Vec<(usize, bool)>,
}

/// A sentence in its document.
#[derive(Clone, Copy)]
pub(super) struct SentenceContext<'a> {
    pub sentence: &'a Sentence,
    /// The document and the number of the sentence in it; `None` if nobody asks.
    pub document: Option<(&'a Document<'a>, usize)>,
}

/// The document that a workspace is prepared for: its indices, and where the sentence is in it.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentState {
    identity: Option<Arc<()>>,
    indices: Vec<Arc<WordIndex>>, // [indices of the plan]
    /// The token of the document that the sentence begins with.
    pub start: usize,
}

impl DocumentState {
    /// Forgets the document.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns whether `document` is the one it is prepared for.
    pub(super) fn is_prepared_for(&self, document: &Document<'_>) -> bool {
        let identity = self.identity.as_ref();
        identity.is_some_and(|own| Arc::ptr_eq(own, document.identity()))
    }

    /// Prepares for sentence `number` of `document`, whose sentences have the indexed columns.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document has too many tokens.
    pub(super) fn prepare(
        &mut self,
        plan: &DocumentPlan,
        document: &Document<'_>,
        number: usize,
    ) -> Result<()> {
        self.start = document.tokens_of(number).start;
        if self.is_prepared_for(document) {
            return Ok(());
        }
        if document.tokens() > u32::MAX as usize / 2 {
            let place = document.sentences()[0].place(0);
            let message = format!(
                "the document has {} tokens; expected fewer",
                document.tokens()
            );
            return Err(Error::input(place, message));
        }
        self.identity = Some(Arc::clone(document.identity()));
        self.indices.clear();
        self.indices
            .extend(plan.indices.iter().map(|&(column, lower)| {
                document.index(column, lower.then_some(push_lower as IndexedText))
            }));
        Ok(())
    }

    /// Returns an index of the plan.
    pub(super) fn index(&self, number: usize) -> &Arc<WordIndex> {
        &self.indices[number]
    }
}
