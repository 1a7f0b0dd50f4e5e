//! Fingerprints of texts that are put together of pieces.
//!
//! The fingerprint of a text of bytes s₀ … s₍ₙ₋₁₎ is a polynomial at a base B,
//!
//! ```text
//! F(s) = Σ_i (sᵢ + 1)·B^(n−1−i)  mod 2⁶¹ − 1
//! ```
//!
//! so that of two texts in a row is F(st) = F(s)·B^|t| + F(t): one multiplication, whatever their
//! lengths. A word is gone through once, and every attribute that it is part of costs a few
//! multiplications and no text. Two different texts of at most n bytes have one fingerprint under
//! at most n of the 2⁶¹ bases, so where texts must be told apart and two cannot, another base does.
//!
//! Models store fingerprints: nothing here may ever change.
//!
//! Source: Karp and Rabin, "Efficient randomized pattern-matching algorithms", IBM Journal of
//! Research and Development 31 (1987).

use crate::random;

/// The modulus, a Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

/// The fingerprint of the empty text.
pub(crate) const EMPTY: u64 = 0;

/// A number below 2¹²⁴ modulo 2⁶¹ − 1.
#[inline(always)]
fn reduce(wide: u128) -> u64 {
    let sum = (wide as u64 & PRIME) + (wide >> 61) as u64;
    let sum = sum.min(sum.wrapping_sub(PRIME));
    sum.min(sum.wrapping_sub(PRIME))
}

/// a·b modulo 2⁶¹ − 1, of two numbers below it.
#[inline(always)]
fn multiply(a: u64, b: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b))
}

/// The base B of fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprinter {
    powers: [u64; 5], // B⁰ … B⁴
}

/// A piece of a text: its fingerprint and what it multiplies that of the text before it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    print: u64,
    power: u64, // B^length
}

impl Default for Fingerprinter {
    fn default() -> Self {
        Self::from_seed(0)
    }
}

impl Fingerprinter {
    /// Fingerprinter number `seed`.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        // Bases below 2³² are no worse in theory; short texts would only not fill all 61 bits.
        let random = random::nth(seed, 0) | 1 << 60;
        let base = (random & PRIME).min(PRIME - 1);
        let mut powers = [1; 5];
        for i in 1..5 {
            powers[i] = multiply(powers[i - 1], base);
        }
        Self { powers }
    }

    /// A text as a piece.
    #[must_use]
    pub fn fragment(self, text: &[u8]) -> Fragment {
        Fragment {
            print: self.fingerprint(text),
            power: self.power(text.len()),
        }
    }

    /// The fingerprint of a text.
    #[must_use]
    pub fn fingerprint(self, text: &[u8]) -> u64 {
        let term = |byte: u8, power: usize| (u128::from(byte) + 1) * u128::from(self.powers[power]);
        let (fours, rest) = text.as_chunks::<4>();
        let mut print = u128::from(EMPTY);
        for &[a, b, c, d] in fours {
            let next = term(a, 3) + term(b, 2) + term(c, 1) + term(d, 0);
            print = u128::from(reduce(print * u128::from(self.powers[4]) + next));
        }
        for &byte in rest {
            print = u128::from(reduce(print * u128::from(self.powers[1]) + term(byte, 0)));
        }
        print as u64
    }

    fn power(self, exponent: usize) -> u64 {
        let mut power = self.powers[exponent % 4];
        let (mut rest, mut square) = (exponent / 4, self.powers[4]);
        while rest > 0 {
            if rest & 1 == 1 {
                power = multiply(power, square);
            }
            square = multiply(square, square);
            rest >>= 1;
        }
        power
    }
}

/// The fingerprint of a text that has the fingerprint `print` up to `piece`, its end.
#[inline(always)]
#[must_use]
pub(crate) fn append(print: u64, piece: Fragment) -> u64 {
    reduce(u128::from(print) * u128::from(piece.power) + u128::from(piece.print))
}

/// A fingerprint spread over 64 bits: the key for a hash table. One to one.
#[inline(always)]
#[must_use]
pub(crate) fn key(print: u64) -> u64 {
    random::mix(print)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fingerprints_are_what_models_have_stored() {
        let base = Fingerprinter::default();
        assert_eq!(key(base.fingerprint(b"")), 0);
        assert_eq!(base.powers[1], 1_306_228_856_769_596_847);
        let name = "word[0]=Köln".as_bytes();
        assert_eq!(key(base.fingerprint(name)), 8_179_996_243_623_565_362);
    }

    #[test]
    fn a_byte_more_is_another_text() {
        let base = Fingerprinter::default();
        assert_ne!(base.fingerprint(b"\0"), base.fingerprint(b""));
        assert_ne!(base.fingerprint(b"\0a"), base.fingerprint(b"a"));
    }

    proptest! {
        #[test]
        fn pieces_in_a_row_have_the_fingerprint_of_the_whole(
            texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..5),
            seed in any::<u64>(),
        ) {
            let base = Fingerprinter::from_seed(seed);
            let joined = texts.iter().fold(EMPTY, |print, text| append(print, base.fragment(text)));
            prop_assert_eq!(joined, base.fingerprint(&texts.concat()));
        }

        #[test]
        fn arithmetic_is_modular(wide in 0..1_u128 << 123) {
            prop_assert_eq!(reduce(wide), (wide % u128::from(PRIME)) as u64);
        }
    }
}
