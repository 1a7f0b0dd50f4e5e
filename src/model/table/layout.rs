//! How weights are written.

use super::super::header::Precision;

/// How a weight is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    pub dense: bool,
    pub narrow: bool, // places fit 2 bytes
    pub precision: Precision,
    pub flagged: bool, // the highest bit of a place marks the last weight of an attribute
}

impl Layout {
    #[inline(always)]
    fn place(self) -> usize {
        match (self.dense, self.narrow) {
            (true, _) => 0,
            (false, true) => 2,
            (false, false) => 4,
        }
    }

    /// Bytes of an entry.
    #[inline(always)]
    pub fn entry(self) -> usize {
        self.place()
            + match self.precision {
                Precision::F32 => 4,
                Precision::F64 => 8,
            }
    }

    /// The bit of a place that marks the last weight.
    #[inline(always)]
    fn flag(self) -> u32 {
        match (self.flagged, self.narrow) {
            (false, _) => 0,
            (true, true) => 1 << 15,
            (true, false) => 1 << 31,
        }
    }

    pub fn push(self, place: u32, last: bool, weight: f64, bytes: &mut Vec<u8>) {
        let place = if last { place | self.flag() } else { place };
        bytes.extend_from_slice(&place.to_le_bytes()[..self.place()]);
        match self.precision {
            Precision::F32 => bytes.extend_from_slice(&(weight as f32).to_le_bytes()),
            Precision::F64 => bytes.extend_from_slice(&weight.to_le_bytes()),
        }
    }

    #[inline(always)]
    fn read_bits(self, entry: &[u8]) -> u32 {
        let mut bytes = [0; 4];
        bytes[..self.place()].copy_from_slice(&entry[..self.place()]);
        u32::from_le_bytes(bytes)
    }

    /// The place that an entry begins with (sparse tables).
    #[inline(always)]
    pub fn read_place(self, entry: &[u8]) -> usize {
        (self.read_bits(entry) & !self.flag()) as usize
    }

    /// Whether an entry is marked as the last (sparse tables).
    pub fn is_last(self, entry: &[u8]) -> bool {
        self.read_bits(entry) & self.flag() != 0
    }

    #[inline(always)]
    pub fn read_weight(self, entry: &[u8]) -> f64 {
        let weight = &entry[self.place()..];
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
