//! The weights of one attribute.

use super::encoding::WeightEncoding;
use crate::error::Result;
use crate::model::container::Container;

/// The encoded weights of one attribute, of any table format.
#[derive(Clone, Copy, Debug)]
pub struct AttributeWeights<'a> {
    pub(super) entries: &'a [u8],
    pub(super) encoding: WeightEncoding,
    /// Number of scores, K or K².
    pub(super) scores: usize,
    pub(super) file: &'a Container,
}

impl AttributeWeights<'_> {
    /// Calls `visit(position, weight)` for each stored weight, with the position b or a·K + b.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](crate::Error::Model) if there is no such position.
    pub fn for_each(&self, mut visit: impl FnMut(usize, f64)) -> Result<()> {
        let entries = self.entries.chunks_exact(self.encoding.entry_size());
        for (i, entry) in entries.enumerate() {
            let position =
                if self.encoding.is_dense() { i } else { self.encoding.read_position(entry) };
            if position >= self.scores {
                return Err(self.file.weight_without_label());
            }
            visit(position, self.encoding.read_weight(entry));
        }
        Ok(())
    }

    /// Returns the weight at a position b or a·K + b; 0 if there is none.
    pub fn get(&self, position: usize) -> f64 {
        let mut entries = self.entries.chunks_exact(self.encoding.entry_size());
        let entry = match self.encoding.is_dense() {
            true => entries.nth(position),
            false => entries.find(|entry| self.encoding.read_position(entry) == position),
        };
        entry.map_or(0.0, |entry| self.encoding.read_weight(entry))
    }
}
