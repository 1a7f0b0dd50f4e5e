//! Weights as they are stored, in each [`Precision`].
//!
//! | precision | bytes | a weight |
//! |---|---|---|
//! | `f64`, `f32` | 8, 4 | IEEE 754 binary64, binary32 |
//! | `f16` | 2 | IEEE 754 binary16 without infinities and NaN: at most 65504, 11 bits |

use crate::model::format::Precision;

/// Number of bits in the significand of an `f16` after the first.
const F16_BITS: i32 = 10;

/// Exponent of the smallest normal `f16`.
const F16_MIN_EXPONENT: i32 = -14;

/// Exponent of the largest `f16`.
const F16_MAX_EXPONENT: i32 = 15;

/// A weight as stored: its bytes.
pub(super) trait StoredWeight: Copy + Default {
    /// Number of bytes.
    const SIZE: usize;

    /// Divides bytes into weights.
    fn weights(bytes: &[u8]) -> &[Self];

    /// Returns the weight.
    fn number(self) -> f64;
}

impl StoredWeight for [u8; 8] {
    const SIZE: usize = 8;

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
    const SIZE: usize = 4;

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
    const SIZE: usize = 2;

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
            Self::F64 => <[u8; 8]>::SIZE,
            Self::F32 => <[u8; 4]>::SIZE,
            Self::F16 => <[u8; 2]>::SIZE,
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
