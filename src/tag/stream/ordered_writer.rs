//! Output of batches in the order of the input.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::error::{Error, Result};

/// Writes the output of batches in the order of their indices.
pub(super) struct OrderedWriter<W> {
    out: W,
    next: u64, // index of the batch to be written next
    pending: BTreeMap<u64, (Vec<u8>, Result<()>)>,
    waiting_bytes: usize, // of `pending`
    result: Result<()>,
}

impl<W: Write> OrderedWriter<W> {
    pub fn new(out: W) -> Self {
        Self {
            out,
            next: 0,
            pending: BTreeMap::new(),
            waiting_bytes: 0,
            result: Ok(()),
        }
    }

    /// Returns the number of batches whose output has been written.
    pub fn written(&self) -> u64 {
        self.next
    }

    /// Returns the memory in bytes of the output that waits for that of an earlier batch.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Returns the first error of tagging or writing, in the order of the input.
    pub fn into_result(self) -> Result<()> {
        self.result
    }

    /// Adds the output of batch `index`, and writes every batch that is next in order. Returns
    /// false after the first error, when no more output is needed.
    pub fn write(
        &mut self,
        index: u64,
        text: Vec<u8>,
        result: Result<()>,
        write_error: &impl Fn(io::Error) -> Error,
    ) -> bool {
        self.waiting_bytes += text.capacity();
        self.pending.insert(index, (text, result));
        while self.result.is_ok()
            && let Some((text, result)) = self.pending.remove(&self.next)
        {
            self.next += 1;
            self.waiting_bytes -= text.capacity();
            let written = self.out.write_all(&text).and_then(|()| self.out.flush());
            self.result = written.map_err(write_error).and(result);
        }
        self.result.is_ok()
    }
}
