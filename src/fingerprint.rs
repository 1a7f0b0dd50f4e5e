//! Rabin–Karp fingerprints: polynomial hashes of byte strings that can be concatenated.
//!
//! # Definition
//!
//! The fingerprint of a string of bytes s₀ … s₍ₙ₋₁₎ is the value of a polynomial at a base B,
//!
//! ```text
//! F(s) = Σ_i (sᵢ + 1)·B^(n−1−i)  mod p,    p = 2⁶¹ − 1
//! ```
//!
//! The coefficients are sᵢ + 1, so that leading zero bytes count. A seed determines B.
//!
//! # Concatenation
//!
//! F(st) = F(s)·B^|t| + F(t), one multiplication modulo p whatever the lengths of s and t. The name
//! of an attribute is a concatenation of literals and words: each word is hashed once, as a
//! [`Fragment`] that holds F(t) and B^|t|, and every attribute that contains it then costs a few
//! multiplications and no string is built.
//!
//! # Cost
//!
//! p is a Mersenne prime, so a product is reduced with shifts and additions. Hashing takes one
//! reduction for `BLOCK` bytes, and one for the rest.
//!
//! # Collisions
//!
//! Two different strings of at most n bytes differ by a nonzero polynomial of degree below n, which
//! has fewer than n roots: they collide under fewer than n of the bases. If a set of strings must
//! not collide and does, another seed is tried. [`key`] spreads a fingerprint over 64 bits, which a
//! hash table needs because short strings leave the high bits of F(s) unevenly distributed.
//!
//! # Stability
//!
//! Model files store keys, so no value may ever change.
//!
//! Source: Karp and Rabin, "Efficient randomized pattern-matching algorithms", IBM Journal of
//! Research and Development 31 (1987).

use crate::random;

/// The modulus p, a Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

/// Bytes per reduction: as many products of a byte and a power, each below 2⁷⁰, are added to one
/// below 2¹²².
const BLOCK: usize = 8;

/// The fingerprint of the empty string.
pub const EMPTY: u64 = 0;

/// Reduces a number below 2¹²⁴ modulo p.
#[inline(always)]
fn reduce(wide: u128) -> u64 {
    // 2⁶¹ ≡ 1, so the high bits are added to the low ones. `min` subtracts p if that is possible,
    // since the difference wraps around to a larger number otherwise.
    let sum = (wide as u64 & PRIME) + (wide >> 61) as u64;
    let sum = sum.min(sum.wrapping_sub(PRIME));
    sum.min(sum.wrapping_sub(PRIME))
}

/// Multiplies two numbers below p modulo p.
#[inline(always)]
fn multiply(a: u64, b: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b))
}

/// Computes fingerprints at one base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprinter {
    powers: [u64; BLOCK + 1], // B⁰, B¹, …
}

/// A string to be appended to others: the numbers that [`append`] needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    fingerprint: u64,
    power: u64, // B^length
}

impl Default for Fingerprinter {
    fn default() -> Self {
        Self::from_seed(0)
    }
}

impl Fingerprinter {
    /// Creates the fingerprinter whose base is determined by `seed`.
    pub fn from_seed(seed: u64) -> Self {
        // A large base, so that the fingerprints of short strings spread over all 61 bits too.
        let random = random::nth(seed, 0) | 1 << 60;
        let base = (random & PRIME).min(PRIME - 1);
        let mut powers = [1; BLOCK + 1];
        for i in 1..powers.len() {
            powers[i] = multiply(powers[i - 1], base);
        }
        Self { powers }
    }

    /// Computes the fragment of a string.
    pub fn fragment(self, text: &[u8]) -> Fragment {
        Fragment { fingerprint: self.fingerprint(text), power: self.power(text.len()) }
    }

    /// Computes the fingerprint of a string.
    pub fn fingerprint(self, text: &[u8]) -> u64 {
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let mut sum = EMPTY;
        for block in blocks {
            sum = self.append_bytes(sum, block);
        }
        if !rest.is_empty() {
            sum = self.append_bytes(sum, rest);
        }
        sum
    }

    /// Computes F(st) from F(s) and at most [`BLOCK`] bytes t.
    #[inline(always)]
    fn append_bytes(&self, fingerprint: u64, bytes: &[u8]) -> u64 {
        let mut sum = u128::from(fingerprint) * u128::from(self.powers[bytes.len()]);
        for (&byte, &power) in bytes.iter().zip(self.powers[..bytes.len()].iter().rev()) {
            sum += (u128::from(byte) + 1) * u128::from(power);
        }
        reduce(sum)
    }

    /// Computes B^`exponent` by repeated squaring.
    fn power(self, exponent: usize) -> u64 {
        let mut power = self.powers[exponent % BLOCK];
        let (mut rest, mut square) = (exponent / BLOCK, self.powers[BLOCK]);
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

/// Computes F(st) from F(s) and the fragment of t.
#[inline(always)]
pub fn append(fingerprint: u64, fragment: Fragment) -> u64 {
    let shifted = u128::from(fingerprint) * u128::from(fragment.power);
    reduce(shifted + u128::from(fragment.fingerprint))
}

/// Spreads a fingerprint over 64 bits, for use as the key of a hash table. It is a bijection.
#[inline(always)]
pub fn key(fingerprint: u64) -> u64 {
    random::mix(fingerprint)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_those_that_model_files_store() {
        let fingerprinter = Fingerprinter::default();
        assert_eq!(fingerprinter.powers[1], 1_306_228_856_769_596_847);
        let key = |text: &str| key(fingerprinter.fingerprint(text.as_bytes()));
        assert_eq!(key(""), 0);
        assert_eq!(key("word[0]=Köln"), 8_179_996_243_623_565_362);
    }

    #[test]
    fn leading_zero_bytes_count() {
        let fingerprinter = Fingerprinter::default();
        let [one, none] = [&b"\0"[..], b""].map(|text| fingerprinter.fingerprint(text));
        assert_ne!(one, none);
        let [one, none] = [&b"\0a"[..], b"a"].map(|text| fingerprinter.fingerprint(text));
        assert_ne!(one, none);
    }

    proptest! {
        #[test]
        fn appended_fragments_have_the_fingerprint_of_the_concatenation(
            texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..5),
            seed in any::<u64>(),
        ) {
            let fingerprinter = Fingerprinter::from_seed(seed);
            let joined = texts.iter().fold(EMPTY, |fingerprint, text| {
                append(fingerprint, fingerprinter.fragment(text))
            });
            prop_assert_eq!(joined, fingerprinter.fingerprint(&texts.concat()));
        }

        #[test]
        fn fingerprints_are_values_of_the_polynomial(
            text in proptest::collection::vec(any::<u8>(), 0..40),
            seed in any::<u64>(),
        ) {
            let fingerprinter = Fingerprinter::from_seed(seed);
            let base = u128::from(fingerprinter.powers[1]);
            let value = text.iter().fold(0, |value, &byte| {
                reduce(u128::from(value) * base + u128::from(byte) + 1)
            });
            prop_assert_eq!(value, fingerprinter.fingerprint(&text));
        }

        #[test]
        fn arithmetic_is_modular(wide in 0..1_u128 << 123) {
            prop_assert_eq!(reduce(wide), (wide % u128::from(PRIME)) as u64);
        }
    }
}
