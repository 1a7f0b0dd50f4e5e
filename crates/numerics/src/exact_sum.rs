//! Sums whose bits depend neither on the order nor on the grouping of their terms.
//!
//! Floating-point addition rounds, so (a + b) + c and a + (b + c) differ in their last bits. They
//! are equal if all terms and all partial sums are multiples of one unit and need at most 53 bits.
//! An accumulator that starts at an [`anchor`] has that property: 1.5·2^q, where 2^q is large
//! compared with the sum, so that the accumulator stays between 2^q and 2^(q+1), where the doubles
//! are the multiples of 2^(q−52). Every addition then rounds the term to such a multiple and is
//! otherwise exact. The sum is the accumulator minus its anchor.
//!
//! Rounding to even would make the result depend on the accumulator if a term were halfway between
//! two multiples. A term with its last bit set ([`untied`]) never is: that bit is worth less than
//! half a unit.
//!
//! The error of each term is at most half a unit, 2^−49 of the bound. This is the pre-rounding of
//! Rump, "Ultimately fast accurate summation" (2009), and of Demmel and Nguyen, "Fast reproducible
//! floating-point summation" (2013), with one bin.

/// Bounds below this count as this, so that units are normal numbers.
const SMALLEST_BOUND: f64 = 1e-280;

/// Returns where an accumulator starts, given a bound on the sum of the magnitudes of its terms.
/// Not finite if the bound is not, or is near the largest number.
#[inline(always)]
pub fn anchor(bound: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    let bound = if bound < SMALLEST_BOUND { SMALLEST_BOUND } else { bound };
    // 2^q = 2 · (the power of two up to 4 · bound)
    3.0 * f64::from_bits((4.0 * bound).to_bits() & EXPONENT)
}

/// Sets the last bit of a term, so that no accumulator has to round a tie.
#[inline(always)]
pub fn untied(term: f64) -> f64 {
    f64::from_bits(term.to_bits() | 1)
}

/// Adds terms to accumulators.
pub fn add_untied(accumulators: &mut [f64], terms: &[f64]) {
    let pairs = accumulators.iter_mut().zip(terms);
    pairs.for_each(|(sum, &term)| *sum += untied(term));
}

/// A sum in fixed point, for few terms without a known bound. Terms are cut off below 2^−48; terms
/// above 2^52 in magnitude make the sum infinite or NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedPointSum {
    units: i128,
    excess: f64, // terms out of range
}

impl FixedPointSum {
    /// The number of words of [`to_words`](Self::to_words).
    pub const WORDS: usize = 5;

    /// 1 / unit.
    const SCALE: f64 = (1u64 << 48) as f64;

    /// 2^100; no number of terms overflows.
    const MOST_UNITS: f64 = (1u128 << 100) as f64;

    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        let units = term * Self::SCALE;
        if units.abs() < Self::MOST_UNITS {
            self.units = self.units.wrapping_add(units as i128);
        } else {
            self.excess += term * f64::INFINITY;
        }
    }

    /// Returns the sum.
    pub fn value(&self) -> f64 {
        self.units as f64 / Self::SCALE + self.excess
    }

    /// Returns words whose sums over up to 2^20 sums are the words of the total.
    pub fn to_words(self) -> [f64; Self::WORDS] {
        let word = |i: i128| ((self.units >> (32 * i)) & 0xffff_ffff) as f64;
        let highest = (self.units >> 96) as f64;
        [word(0), word(1), word(2), highest, self.excess]
    }

    /// Returns the sum with these words.
    pub fn from_words(words: [f64; Self::WORDS]) -> Self {
        let [low, second, third, highest, excess] = words;
        let mut units = 0i128;
        for word in [highest, third, second, low] {
            units = (units << 32).wrapping_add(word as i128);
        }
        Self { units, excess }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lcg;

    /// Terms of magnitudes from 1e-9 to 1, some with few bits, and the sum of their magnitudes.
    fn terms(n: usize) -> (Vec<f64>, f64) {
        let mut numbers = Lcg(1);
        let exponents = numbers.vector(n);
        let terms = numbers.vector(n).into_iter().zip(exponents);
        let terms = terms.enumerate().map(|(i, (x, exponent))| match i % 3 {
            0 => f64::from(x as f32 / 3.0),
            _ => x * 10f64.powf(9.0 * (exponent.abs().min(1.0) - 1.0)),
        });
        let terms: Vec<f64> = terms.collect();
        let bound = terms.iter().map(|x| x.abs()).sum();
        (terms, bound)
    }

    fn sum<'a>(terms: impl IntoIterator<Item = &'a f64>, bound: f64) -> f64 {
        let start = anchor(bound);
        terms.into_iter().fold(start, |sum, &x| sum + untied(x)) - start
    }

    #[test]
    fn sums_have_the_same_bits_in_any_order_and_grouping() {
        let (terms, bound) = terms(10_000);
        let whole = sum(&terms, bound);
        assert_eq!(sum(terms.iter().rev(), bound).to_bits(), whole.to_bits());
        for parts in [2, 3, 7, 1000] {
            let total: f64 = terms.chunks(terms.len() / parts).map(|part| sum(part, bound)).sum();
            assert_eq!(total.to_bits(), whole.to_bits(), "{parts} parts");
        }
        let plain: f64 = terms.iter().sum();
        assert!((plain - whole).abs() < 1e-12 * bound, "{plain} {whole}");
        // The test would see a difference: ordinary sums have one.
        assert_ne!(plain.to_bits(), terms.iter().rev().sum::<f64>().to_bits());
    }

    #[test]
    fn a_tie_does_not_depend_on_the_accumulator() {
        // Half a unit of the anchor 1.5·2^3, added to an even and to an odd multiple.
        let (start, half) = (anchor(1.0), 2f64.powi(3 - 53));
        assert_eq!(start, 12.0);
        let rounded = |sum: f64, term: f64| (sum + term) - sum;
        let sums = [start, start + 2.0 * half];
        let [even, odd] = sums.map(|sum| rounded(sum, half));
        assert_ne!(even, odd);
        let [even, odd] = sums.map(|sum| rounded(sum, untied(half)));
        assert_eq!(even, odd);
    }

    #[test]
    fn no_terms_sum_to_0_and_neither_do_zeros() {
        for bound in [0.0, 1e-300, 1.0, 1e300] {
            assert_eq!(sum(&[], bound), 0.0);
            assert_eq!(sum(&[0.0, -0.0, 0.0], bound), 0.0);
        }
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        for bound in [f64::INFINITY, f64::NAN, f64::MAX] {
            assert!(!sum(&[1.0], bound).is_finite());
        }
        for term in [f64::INFINITY, f64::NAN] {
            assert!(!sum(&[term, 1.0], 2.0).is_finite());
        }
    }

    #[test]
    fn fixed_point_sums_are_exact_in_parts() {
        let (terms, _) = terms(1000);
        let total = |terms: &[f64]| {
            let mut sum = FixedPointSum::default();
            terms.iter().for_each(|&x| sum.add(1e6 * x));
            sum
        };
        let whole = total(&terms);
        let mut words = [0.0; FixedPointSum::WORDS];
        for part in terms.chunks(37) {
            let part = total(part).to_words();
            words.iter_mut().zip(part).for_each(|(x, y)| *x += y);
        }
        assert_eq!(FixedPointSum::from_words(words).value().to_bits(), whole.value().to_bits());
        let plain: f64 = terms.iter().map(|x| 1e6 * x).sum();
        assert!((whole.value() - plain).abs() < 1e-6);
        assert!(whole.value() != 0.0);
    }

    #[test]
    fn fixed_point_sums_have_no_range_to_overflow() {
        for (term, expected) in [(1e40, f64::INFINITY), (-1e40, f64::NEG_INFINITY)] {
            let mut sum = FixedPointSum::default();
            sum.add(term);
            sum.add(1.0);
            assert_eq!(sum.value(), expected);
            assert_eq!(FixedPointSum::from_words(sum.to_words()).value(), expected);
        }
        let mut sum = FixedPointSum::default();
        sum.add(f64::NAN);
        assert!(sum.value().is_nan());
    }
}
