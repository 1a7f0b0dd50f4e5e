//! Batches of sentences that are tagged and written together, and their results in the order of the
//! input.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
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
