//! The encoding of weights.

use crate::model::format::Precision;

/// How the entries of a table are encoded: a weight, in sparse tables preceded by its position.
///
/// The *position* of a weight is its label b or, for edges, the label pair a·K + b.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WeightEncoding {
    pub dense: bool,
    /// Whether positions have 2 bytes rather than 4.
    pub narrow: bool,
    pub precision: Precision,
    /// Whether the highest bit of a position marks the last entry of an attribute.
    pub flagged: bool,
}

impl WeightEncoding {
    #[inline(always)]
    fn position_size(self) -> usize {
        match (self.dense, self.narrow) {
            (true, _) => 0,
            (false, true) => 2,
            (false, false) => 4,
        }
    }

    /// Returns the size of an entry in bytes.
    #[inline(always)]
    pub fn entry_size(self) -> usize {
        self.position_size()
            + match self.precision {
                Precision::F32 => 4,
                Precision::F64 => 8,
            }
    }

    /// Returns the bit of a position that marks the last entry.
    #[inline(always)]
    fn last_flag(self) -> u32 {
        match (self.flagged, self.narrow) {
            (false, _) => 0,
            (true, true) => 1 << 15,
            (true, false) => 1 << 31,
        }
    }

    /// Appends an entry.
    pub fn push(self, position: u32, last: bool, weight: f64, bytes: &mut Vec<u8>) {
        let position = if last {
            position | self.last_flag()
        } else {
            position
        };
        bytes.extend_from_slice(&position.to_le_bytes()[..self.position_size()]);
        match self.precision {
            Precision::F32 => bytes.extend_from_slice(&(weight as f32).to_le_bytes()),
            Precision::F64 => bytes.extend_from_slice(&weight.to_le_bytes()),
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

    /// Returns whether an entry is the last of its attribute (sparse tables of version 2).
    pub fn is_last(self, entry: &[u8]) -> bool {
        self.read_flagged_position(entry) & self.last_flag() != 0
    }

    /// Returns the weight of an entry.
    #[inline(always)]
    pub fn read_weight(self, entry: &[u8]) -> f64 {
        let weight = &entry[self.position_size()..];
        match (self.precision, weight) {
            (Precision::F32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (Precision::F64, &[a, b, c, d, e, f, g, h]) => {
                f64::from_le_bytes([a, b, c, d, e, f, g, h])
            }
            _ => 0.0,
        }
    }

    /// Adds the entries of a dense row, times `value`, to scores.
    #[inline(always)]
    pub fn add_row(self, entries: &[u8], value: f64, scores: &mut [f64]) {
        match self.precision {
            Precision::F32 => {
                let (entries, _) = entries.as_chunks::<4>();
                for (score, entry) in scores.iter_mut().zip(entries) {
                    *score += value * f64::from(f32::from_le_bytes(*entry));
                }
            }
            Precision::F64 => {
                let (entries, _) = entries.as_chunks::<8>();
                for (score, entry) in scores.iter_mut().zip(entries) {
                    *score += value * f64::from_le_bytes(*entry);
                }
            }
        }
    }
}
