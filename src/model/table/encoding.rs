//! The encoding of weights.

use super::stored_weight::StoredWeight;
use crate::model::format::{AttributeKind, Precision, TableInfo};

/// How the entries of a table are encoded: a weight, in sparse tables preceded by its position.
///
/// The *position* of a weight is its label b or, for edges, the label pair a·K + b. Its highest bit
/// marks the last entry of an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightEncoding {
    /// Number of bytes of a position; 0 in dense tables.
    pub position_size: usize,
    pub precision: Precision,
}

impl WeightEncoding {
    /// Returns the encoding of dense tables.
    pub fn dense(precision: Precision) -> Self {
        Self { position_size: 0, precision }
    }

    /// Returns the encoding of sparse tables of a model of K labels.
    pub fn sparse(kind: AttributeKind, labels: usize, precision: Precision) -> Self {
        let position_size = match kind {
            AttributeKind::Node if labels <= 1 << 7 => 1,
            AttributeKind::Node => 2,
            AttributeKind::Edge => 4,
        };
        Self { position_size, precision }
    }

    #[inline(always)]
    pub fn is_dense(self) -> bool {
        self.position_size == 0
    }

    /// Returns the size of an entry in bytes.
    #[inline(always)]
    pub fn entry_size(self) -> usize {
        self.position_size + self.precision.bytes()
    }

    /// Returns the size of a row of `entries` in bytes.
    #[inline(always)]
    pub fn row_size(self, entries: usize) -> usize {
        entries * self.entry_size()
    }

    /// Returns the size of the weights of a table in bytes; `None` if it overflows.
    pub fn table_size(self, info: &TableInfo) -> Option<u64> {
        info.weights.checked_mul(self.entry_size() as u64)
    }

    /// Returns the exclusive upper bound of the locations in a table.
    pub fn locations(self, info: &TableInfo) -> u64 {
        if self.is_dense() { info.attributes } else { self.table_size(info).unwrap_or(u64::MAX) }
    }

    /// Returns the number of bytes from the first row to the one at a location, for rows of
    /// `entries` if they are dense.
    #[inline(always)]
    pub fn offset(self, location: u64, entries: usize) -> usize {
        if self.is_dense() { location as usize * self.row_size(entries) } else { location as usize }
    }

    /// Returns the bit of a position that marks the last entry (sparse tables).
    #[inline(always)]
    fn last_flag(self) -> u32 {
        1 << (8 * self.position_size - 1)
    }

    /// Appends a row of weights at ascending positions; a dense row has them all. The weights are
    /// as stored ([`Precision::round`]).
    pub fn push_row(self, row: &[(u32, f64)], bytes: &mut Vec<u8>) {
        for (i, &(position, weight)) in row.iter().enumerate() {
            if !self.is_dense() {
                let is_last = i + 1 == row.len();
                let position = position | if is_last { self.last_flag() } else { 0 };
                bytes.extend_from_slice(&position.to_le_bytes()[..self.position_size]);
            }
            self.precision.push(weight, bytes);
        }
    }

    /// Returns the position of an entry, and whether it is the last of its attribute (sparse
    /// tables).
    pub fn read_position(self, entry: &[u8]) -> (usize, bool) {
        let mut bytes = [0; 4];
        bytes[..self.position_size].copy_from_slice(&entry[..self.position_size]);
        let (position, flag) = (u32::from_le_bytes(bytes), self.last_flag());
        ((position & !flag) as usize, position & flag != 0)
    }

    /// Returns the weight of an entry.
    #[inline(always)]
    pub fn read_weight(self, entry: &[u8]) -> f64 {
        let number = &entry[self.position_size..];
        match self.precision {
            Precision::F64 => first::<[u8; 8]>(number),
            Precision::F32 => first::<[u8; 4]>(number),
            Precision::F16 => first::<[u8; 2]>(number),
        }
    }
}

#[inline(always)]
fn first<W: StoredWeight>(bytes: &[u8]) -> f64 {
    W::weights(bytes).first().map_or(0.0, |weight| weight.number())
}
