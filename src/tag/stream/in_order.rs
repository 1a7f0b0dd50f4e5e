//! The results of batches in the order of the input.

use std::collections::BTreeMap;

use crate::error::Result;

/// What a batch results in, such as its output as bytes.
pub trait BatchOutput: Default + Send {
    /// Its memory in bytes, which is limited while it waits for that of an earlier batch.
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
    next: u64, // index of the batch to be handed over next
    pending: BTreeMap<u64, (T, Result<()>)>,
    waiting_bytes: usize, // of `pending`
    result: Result<()>,
}

impl<T: BatchOutput, S: FnMut(T) -> Result<()>> InOrder<T, S> {
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            next: 0,
            pending: BTreeMap::new(),
            waiting_bytes: 0,
            result: Ok(()),
        }
    }

    /// Returns the number of batches that have been handed over.
    pub fn done(&self) -> u64 {
        self.next
    }

    /// Returns the memory in bytes of what waits for an earlier batch.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Returns the first error of tagging or of the sink, in the order of the input.
    pub fn into_result(self) -> Result<()> {
        self.result
    }

    /// Adds the output of batch `index`, and hands over every batch that is next in order. Returns
    /// false after the first error, when no more output is needed.
    pub fn add(&mut self, index: u64, output: T, result: Result<()>) -> bool {
        self.waiting_bytes += output.memory();
        self.pending.insert(index, (output, result));
        while self.result.is_ok()
            && let Some((output, result)) = self.pending.remove(&self.next)
        {
            self.next += 1;
            self.waiting_bytes -= output.memory();
            self.result = (self.sink)(output).and(result);
        }
        self.result.is_ok()
    }
}
