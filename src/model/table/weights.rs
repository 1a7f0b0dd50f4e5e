//! The weights of one attribute.

use super::encoding::WeightEncoding;

/// The encoded weights of one attribute, of any table format.
#[derive(Clone, Copy, Debug)]
pub struct AttributeWeights<'a> {
    pub(super) entries: &'a [u8],
    /// What the stored numbers are multiplied by.
    pub(super) scale: f64,
    pub(super) encoding: WeightEncoding,
    pub(super) labels: usize,
}

impl AttributeWeights<'_> {
    /// Calls `visit(position, weight)` for each stored weight, with the position b or a·K + b.
    pub fn for_each(&self, mut visit: impl FnMut(usize, f64)) {
        let entries = self.entries.chunks_exact(self.encoding.entry_size());
        for (i, entry) in entries.enumerate() {
            let position =
                if self.encoding.is_dense() { i } else { self.encoding.read_position(entry) };
            visit(position, self.read_weight(entry));
        }
    }

    /// Returns the weight at a position b or a·K + b; 0 if there is none.
    pub fn get(&self, position: usize) -> f64 {
        let mut entries = self.entries.chunks_exact(self.encoding.entry_size());
        let entry = match self.encoding.is_dense() {
            true => entries.nth(position),
            false => entries.find(|entry| self.encoding.read_position(entry) == position),
        };
        entry.map_or(0.0, |entry| self.read_weight(entry))
    }

    /// Adds the weights times `value` to a token's scores, `[1 or K][stride]`. Returns `false` if
    /// there is no score for a weight.
    #[inline(always)]
    pub fn add_to(&self, value: f64, stride: usize, scores: &mut [f64]) -> bool {
        let factor = value * self.scale;
        if self.encoding.is_dense() {
            let size = self.labels * self.encoding.entry_size();
            let lines = scores.chunks_exact_mut(stride);
            for (line, entries) in lines.zip(self.entries.chunks_exact(size)) {
                self.encoding.add_row(entries, factor, &mut line[..self.labels]);
            }
            return true;
        }
        for entry in self.entries.chunks_exact(self.encoding.entry_size()) {
            let position = self.encoding.read_position(entry);
            let at = if position < self.labels {
                position
            } else {
                position / self.labels * stride + position % self.labels
            };
            match scores.get_mut(at) {
                Some(score) => *score += factor * self.encoding.read_number(entry),
                None => return false,
            }
        }
        true
    }

    #[inline(always)]
    fn read_weight(&self, entry: &[u8]) -> f64 {
        self.scale * self.encoding.read_number(entry)
    }
}
