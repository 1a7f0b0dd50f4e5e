//! The encoding of slots, in an open-addressing hash table with linear probing, and of weights, in
//! each [`Precision`].
//!
//! | precision | bytes | a weight |
//! |---|---|---|
//! | `f64`, `f32` | 8, 4 | IEEE 754 binary64, binary32 |
//! | `f16` | 2 | IEEE 754 binary16 without infinities and NaN: at most 65504, 11 bits |

use crate::model::format::{AttributeKind, Precision, TableInfo};

/// Maximum number of slots that a look-up probes. Tables have no longer run of occupied slots.
///
/// With a load factor of 3/5 the longest run among a billion slots has about 200. A table forged to
/// be full would otherwise be searched as a whole for every unknown attribute.
pub(super) const MAX_PROBES: usize = 4096;

/// The location of the weights of an attribute: the index of a dense row, or the number of bytes
/// before a sparse one. In an undamaged model it is below 2⁶⁴ − 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightLocation(
    /// The index or the number.
    pub u64,
);

/// How the slots of a table are encoded and probed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    number: u64,
    bits: u32, // width of the location in a slot
}

impl Slots {
    /// Creates a layout of `number` slots for locations below `locations`.
    pub fn new(number: u64, locations: u64) -> Self {
        Self { number, bits: (64 - locations.leading_zeros()).clamp(1, 63) }
    }

    /// Returns the slot where probing for a key starts: the high bits of the key, scaled to the
    /// number of slots.
    #[inline]
    pub fn home(self, key: u64) -> usize {
        ((u128::from(key) * u128::from(self.number)) >> 64) as usize
    }

    /// Returns the slot to probe after slot `at`.
    #[inline]
    pub fn next(self, at: usize) -> usize {
        if at as u64 + 1 == self.number { 0 } else { at + 1 }
    }

    /// Returns the location in a nonempty slot, if its key matches `key`.
    #[inline]
    pub fn matches(self, slot: u64, key: u64) -> Option<WeightLocation> {
        let low = (1 << self.bits) - 1;
        let same = (slot ^ (key << self.bits)) & !low == 0;
        same.then(|| WeightLocation((slot & low).wrapping_sub(1)))
    }

    /// Encodes a slot.
    pub fn encode(self, key: u64, location: u64) -> u64 {
        key << self.bits | (location + 1)
    }
}

/// Number of bits in the significand of an `f16` after the first.
const F16_BITS: i32 = 10;

/// Exponent of the smallest normal `f16`.
const F16_MIN_EXPONENT: i32 = -14;

/// Exponent of the largest `f16`.
const F16_MAX_EXPONENT: i32 = 15;

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

    /// Returns the bit of a position that marks the last entry (sparse tables).
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
    pub fn read_weight(self, entry: &[u8]) -> f64 {
        let number = &entry[self.position_size..];
        match self.precision {
            Precision::F64 => first::<[u8; 8]>(number),
            Precision::F32 => first::<[u8; 4]>(number),
            Precision::F16 => first::<[u8; 2]>(number),
        }
    }
}

fn first<W: StoredWeight>(bytes: &[u8]) -> f64 {
    W::weights(bytes).first().map_or(0.0, |weight| weight.number())
}

/// A weight as stored: its bytes.
pub(super) trait StoredWeight: Copy + Default {
    /// Divides bytes into weights.
    fn weights(bytes: &[u8]) -> &[Self];

    /// Returns the weight.
    fn number(self) -> f64;
}

impl StoredWeight for [u8; 8] {
    #[inline(always)]
    fn weights(bytes: &[u8]) -> &[Self] {
        bytes.as_chunks().0
    }

    #[inline(always)]
    fn number(self) -> f64 {
        f64::from_le_bytes(self)
    }
}

impl StoredWeight for [u8; 4] {
    #[inline(always)]
    fn weights(bytes: &[u8]) -> &[Self] {
        bytes.as_chunks().0
    }

    #[inline(always)]
    fn number(self) -> f64 {
        f64::from(f32::from_le_bytes(self))
    }
}

impl StoredWeight for [u8; 2] {
    #[inline(always)]
    fn weights(bytes: &[u8]) -> &[Self] {
        bytes.as_chunks().0
    }

    /// Moves exponent and significand to where an `f32` has them and corrects the exponent by a
    /// multiplication, which is exact and normalizes subnormal numbers.
    #[inline(always)]
    fn number(self) -> f64 {
        const CORRECTION: f32 = f32::from_bits((127 + 112) << 23); // 2¹¹²
        let bits = u32::from(u16::from_le_bytes(self));
        let bits = (bits & 0x7fff) << 13 | (bits & 0x8000) << 16;
        f64::from(f32::from_bits(bits) * CORRECTION)
    }
}

impl Precision {
    /// Returns the number of bytes of a weight.
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }

    /// Returns the weight that is read if `weight` is stored; not finite if it is too large.
    pub fn round(self, weight: f64) -> f64 {
        match self {
            Self::F64 => weight,
            Self::F32 => f64::from(weight as f32),
            Self::F16 => {
                let quantum = f16_quantum(weight);
                let rounded = (weight / quantum).round_ties_even() * quantum;
                match rounded.abs() < f64::from(1 << (F16_MAX_EXPONENT + 1)) {
                    true => rounded,
                    false => f64::INFINITY,
                }
            }
        }
    }

    /// Appends a weight that [`round`](Self::round) returned.
    pub(super) fn push(self, weight: f64, bytes: &mut Vec<u8>) {
        match self {
            Self::F64 => bytes.extend_from_slice(&weight.to_le_bytes()),
            Self::F32 => bytes.extend_from_slice(&(weight as f32).to_le_bytes()),
            Self::F16 => bytes.extend_from_slice(&encode_f16(weight).to_le_bytes()),
        }
    }
}

/// Returns the exponent of a number as an `f16`: that of the smallest normal one for smaller ones.
fn f16_exponent(number: f64) -> i32 {
    let exponent = ((number.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    exponent.max(F16_MIN_EXPONENT)
}

/// Returns the distance between neighboring `f16` numbers where `number` is.
fn f16_quantum(number: f64) -> f64 {
    f64::powi(2.0, f16_exponent(number) - F16_BITS)
}

/// Encodes a number that an `f16` has exactly.
fn encode_f16(number: f64) -> u16 {
    let exponent = f16_exponent(number);
    let significand = (number.abs() / f16_quantum(number)) as u16; // 1 for the hidden bit, if any
    let magnitude = significand + (((exponent - F16_MIN_EXPONENT) as u16) << F16_BITS);
    magnitude | u16::from(number.is_sign_negative()) << 15
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all nonnegative numbers of 2 bytes, in ascending order.
    fn halves() -> Vec<f64> {
        let bits = 0..0x7c00_u16;
        bits.map(|bits| bits.to_le_bytes().number()).collect()
    }

    #[test]
    fn f16_has_the_numbers_of_ieee_754() {
        let numbers = halves();
        for (bits, number) in [
            (0x0000, 0.0),
            (0x0001, 2f64.powi(-24)),
            (0x03ff, 1023.0 * 2f64.powi(-24)),
            (0x0400, 2f64.powi(-14)),
            (0x3555, 0.333_251_953_125),
            (0x3c00, 1.0),
            (0x7bff, 65504.0),
        ] {
            assert_eq!(numbers[bits], number, "{bits:#x}");
        }
        assert!(numbers.is_sorted_by(|a, b| a < b));
        assert_eq!(0xc000_u16.to_le_bytes().number(), -2.0);
    }

    #[test]
    fn f16_rounds_to_the_nearest_number_and_ties_to_even() {
        let round = |number: f64| Precision::F16.round(number);
        for (i, pair) in halves().windows(2).enumerate() {
            let [low, high] = [pair[0], pair[1]];
            let middle = f64::midpoint(low, high);
            assert_eq!(round(low), low);
            assert_eq!(round(middle), if i % 2 == 0 { low } else { high });
            assert_eq!(round(-middle.next_down()), -low);
            assert_eq!(round(middle.next_up()), high);
        }
        assert_eq!(round(65519.99), 65504.0);
        assert!(
            [65520.0, -65520.0, f64::NAN, f64::INFINITY].iter().all(|&x| !round(x).is_finite())
        );
    }

    #[test]
    fn f16_is_read_as_it_is_written() {
        for number in halves().into_iter().flat_map(|number| [number, -number]) {
            let mut bytes = Vec::new();
            Precision::F16.push(number, &mut bytes);
            assert_eq!([bytes[0], bytes[1]].number().to_bits(), number.to_bits(), "{number}");
        }
    }
}
