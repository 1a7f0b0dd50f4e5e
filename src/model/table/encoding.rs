//! The encoding of weights.

use super::stored_weight::StoredWeight;
use crate::model::format::{Precision, TableInfo, Version};

/// How the entries of a table are encoded: a weight, in sparse tables preceded by its position.
///
/// The *position* of a weight is its label b or, for edges, the label pair a·K + b.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightEncoding {
    pub dense: bool,
    pub position: PositionWidth,
    pub precision: Precision,
    /// Whether the highest bit of a position marks the last entry of an attribute.
    pub flagged: bool,
    /// Whether locations in sparse tables count bytes rather than entries.
    pub located_by_byte: bool,
}

/// Number of bytes of the positions of a sparse table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PositionWidth {
    One,
    Two,
    Four,
}

impl PositionWidth {
    /// Returns the width in tables of a version whose attributes have `scores` weights at most;
    /// `are_nodes` is whether they are attributes of tokens.
    pub fn new(version: Version, are_nodes: bool, scores: usize) -> Self {
        match are_nodes {
            true if version == Version::Five && scores <= 1 << 7 => Self::One,
            true => Self::Two,
            false => Self::Four,
        }
    }

    /// Returns the number of bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }
}

impl WeightEncoding {
    /// Returns the encoding in tables of this version.
    pub fn new(
        version: Version,
        dense: bool,
        position: PositionWidth,
        precision: Precision,
    ) -> Self {
        Self {
            dense,
            position,
            precision,
            flagged: version != Version::One && !dense,
            located_by_byte: version == Version::Five,
        }
    }

    #[inline(always)]
    fn position_size(self) -> usize {
        match self.dense {
            true => 0,
            false => self.position.bytes(),
        }
    }

    /// Returns the size of an entry in bytes.
    #[inline(always)]
    pub fn entry_size(self) -> usize {
        self.position_size() + self.precision.bytes()
    }

    /// Returns the size of a row of `entries` in bytes.
    #[inline(always)]
    pub fn row_size(self, entries: usize) -> usize {
        self.precision.scale_bytes() + entries * self.entry_size()
    }

    /// Returns the size of the weights of a table in bytes; `None` if it overflows.
    pub fn table_size(self, info: &TableInfo) -> Option<u64> {
        let scales = info
            .attributes
            .checked_mul(self.precision.scale_bytes() as u64)?;
        let entries = info.weights.checked_mul(self.entry_size() as u64)?;
        scales.checked_add(entries)
    }

    /// Returns the exclusive upper bound of the locations in a table.
    pub fn locations(self, info: &TableInfo) -> u64 {
        match (self.dense, self.located_by_byte) {
            (true, _) => info.attributes,
            (false, false) => info.weights,
            (false, true) => self.table_size(info).unwrap_or(u64::MAX),
        }
    }

    /// Returns the number of bytes from the first row to the one at a location, for rows of
    /// `entries` if they are dense.
    #[inline(always)]
    pub fn offset(self, location: u64, entries: usize) -> usize {
        let unit = match (self.dense, self.located_by_byte) {
            (true, _) => self.row_size(entries),
            (false, false) => self.entry_size(),
            (false, true) => 1,
        };
        location as usize * unit
    }

    /// Returns the location of a sparse row that follows so many bytes of others.
    pub fn sparse_location(self, bytes: usize) -> u64 {
        match self.located_by_byte {
            true => bytes as u64,
            false => (bytes / self.entry_size()) as u64,
        }
    }

    /// Returns the bit of a position that marks the last entry.
    #[inline(always)]
    fn last_flag(self) -> u32 {
        match self.flagged {
            true => 1 << (8 * self.position.bytes() - 1),
            false => 0,
        }
    }

    /// Appends a row of weights at ascending positions; a dense row has them all. The weights are
    /// as stored ([`Precision::round`]), the scale is that of the row.
    pub fn push_row(self, row: &[(u32, f64)], scale: f64, bytes: &mut Vec<u8>) {
        self.precision.push_scale(scale, bytes);
        for (i, &(position, weight)) in row.iter().enumerate() {
            let last = i + 1 == row.len();
            let position = position | if last { self.last_flag() } else { 0 };
            bytes.extend_from_slice(&position.to_le_bytes()[..self.position_size()]);
            self.precision.push(weight, scale, bytes);
        }
    }

    #[inline(always)]
    fn read_flagged_position(self, entry: &[u8]) -> u32 {
        let mut bytes = [0; 4];
        bytes[..self.position_size()].copy_from_slice(&entry[..self.position_size()]);
        u32::from_le_bytes(bytes)
    }

    /// Returns the position of an entry (sparse tables).
    #[inline(always)]
    pub fn read_position(self, entry: &[u8]) -> usize {
        (self.read_flagged_position(entry) & !self.last_flag()) as usize
    }

    /// Returns whether an entry is the last of its attribute (sparse tables since version 2).
    pub fn is_last(self, entry: &[u8]) -> bool {
        self.read_flagged_position(entry) & self.last_flag() != 0
    }

    /// Returns the scale at the start of a row and its entries; `None` if there are no bytes.
    #[inline(always)]
    pub fn split_scale(self, row: &[u8]) -> Option<(f64, &[u8])> {
        match self.precision {
            Precision::I8 => <[u8; 1]>::split_scale(row),
            _ => Some((1.0, row)),
        }
    }

    /// Returns the number that an entry stores.
    #[inline(always)]
    pub fn read_number(self, entry: &[u8]) -> f64 {
        let number = &entry[self.position_size()..];
        match self.precision {
            Precision::F64 => first::<[u8; 8]>(number),
            Precision::F32 => first::<[u8; 4]>(number),
            Precision::F16 => first::<[u8; 2]>(number),
            Precision::I8 => first::<[u8; 1]>(number),
        }
    }

    /// Adds the entries of a dense row, times `factor`, to scores.
    #[inline(always)]
    pub fn add_row(self, entries: &[u8], factor: f64, scores: &mut [f64]) {
        match self.precision {
            Precision::F64 => add::<[u8; 8]>(entries, factor, scores),
            Precision::F32 => add::<[u8; 4]>(entries, factor, scores),
            Precision::F16 => add::<[u8; 2]>(entries, factor, scores),
            Precision::I8 => add::<[u8; 1]>(entries, factor, scores),
        }
    }
}

#[inline(always)]
fn first<W: StoredWeight>(bytes: &[u8]) -> f64 {
    W::weights(bytes)
        .first()
        .map_or(0.0, |weight| weight.number())
}

#[inline(always)]
fn add<W: StoredWeight>(entries: &[u8], factor: f64, scores: &mut [f64]) {
    for (score, entry) in scores.iter_mut().zip(W::weights(entries)) {
        *score += factor * entry.number();
    }
}
