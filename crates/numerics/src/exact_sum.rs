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
