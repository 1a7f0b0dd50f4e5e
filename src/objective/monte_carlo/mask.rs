//! Dropout masks as a function of counters.
//!
//! A mask is a pure function of (seed, iteration, sample, kind of weight, token of the corpus,
//! attribute, member of its class, weight): a path down a tree of SplitMix64 generators
//! ([`random`]), in which the n-th output of one generator seeds its n-th child. Masks are
//! recomputed wherever they are needed and never stored, and depend neither on the order of work
//! nor on the number of threads.

use crate::random;

/// A node in the tree of SplitMix64 generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(pub u64);

impl Key {
    /// Returns the `n`-th child.
    #[inline(always)]
    pub fn at(self, n: u64) -> Self {
        Self(random::nth(self.0, n))
    }
}

/// The masks of all features in one sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleMasks {
    pub attributes: [Masks; 2], // nodes, edges
    pub transitions: Masks,
    pub start: Masks,
    pub end: Masks,
}

impl SampleMasks {
    /// Creates masks with rate `node` for node attributes and `edge` for all other features.
    pub fn new(key: Key, node: f64, edge: f64) -> Self {
        let edges = |kind| Masks::new(key.at(kind), edge);
        Self {
            attributes: [Masks::new(key.at(0), node), edges(1)],
            transitions: edges(2),
            start: edges(3),
            end: edges(4),
        }
    }
}

/// The masks of the weights of one kind, in one sample.
///
/// Each weight takes 32 random bits, so the rate is rounded to a multiple of 2⁻³². Surviving
/// weights are scaled by 1/(1 − the rounded rate): the expectation is exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Masks {
    key: Key,
    threshold: u32, // a weight is dropped if its bits are below this
}

impl Masks {
    /// Creates masks with rate δ < 1.
    pub fn new(key: Key, rate: f64) -> Self {
        let threshold = (rate * 2_f64.powi(32)).round() as u32; // at most u32::MAX
        Self { key, threshold }
    }

    /// Returns the masks with another rate.
    #[inline(always)]
    pub fn with_rate(self, rate: f64) -> Self {
        Self::new(self.key, rate)
    }

    /// Writes the factors of the weights of an attribute at a token of the corpus. A weight of a
    /// class of m `members` stands for m weights that are dropped independently: its factor is
    /// k/(m(1 − δ)) if k survive.
    pub fn fill(&self, token: usize, column: usize, members: u32, factors: &mut [f64]) {
        if self.threshold == 0 {
            return factors.fill(1.0);
        }
        let key = self.key.at(token as u64).at(column as u64);
        let words = factors.len().div_ceil(2) as u64; // per member
        factors.fill(0.0);
        for member in 0..u64::from(members) {
            for (i, pair) in factors.chunks_mut(2).enumerate() {
                let word = key.at(member * words + i as u64).0;
                for (survivors, bits) in pair.iter_mut().zip([word as u32, (word >> 32) as u32]) {
                    *survivors += f64::from(u8::from(bits >= self.threshold));
                }
            }
        }
        let keep = 1.0 - f64::from(self.threshold) * 2_f64.powi(-32);
        let scale = 1.0 / (f64::from(members) * keep);
        factors.iter_mut().for_each(|x| *x *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the deviation of the number of ones among `n` fair coins, in standard deviations.
    fn deviation(ones: u32, n: u32) -> f64 {
        (f64::from(ones) - f64::from(n) / 2.0) / (f64::from(n) / 4.0).sqrt()
    }

    #[test]
    fn every_bit_is_one_half_of_the_time() {
        const N: u32 = 1 << 16;
        // Neighboring counters at each level of a short chain.
        for level in 0..3 {
            let mut ones = [0_u32; 64];
            for n in 0..u64::from(N) {
                let mut path = [5, 6, 7];
                path[level] = n;
                let bits = path.into_iter().fold(Key(1), Key::at).0;
                (0..64).for_each(|i| ones[i] += (bits >> i & 1) as u32);
            }
            for ones in ones {
                assert!(deviation(ones, N).abs() < 5.0, "{ones} of {N}");
            }
        }
    }

    #[test]
    fn neighboring_counters_are_independent() {
        const N: u32 = 1 << 16;
        for level in 0..3 {
            // How often a bit is that of the next counter.
            let mut equal = [0_u32; 64];
            for n in 0..u64::from(N) {
                let [one, next] = [n, n + 1].map(|n| {
                    let mut path = [0, 0, 0];
                    path[level] = n;
                    path.into_iter().fold(Key(0), Key::at).0
                });
                (0..64).for_each(|i| equal[i] += (!(one ^ next) >> i & 1) as u32);
            }
            for equal in equal {
                assert!(deviation(equal, N).abs() < 5.0, "{equal} of {N}");
            }
        }
    }

    #[test]
    fn halves_of_a_word_are_uniform_together() {
        // The top 4 bits of both halves: χ² with 255 degrees of freedom has mean 255 and standard
        // deviation 22.6.
        const N: u32 = 1 << 16;
        let mut counts = [0_u32; 256];
        for n in 0..u64::from(N) {
            let word = Key(7).at(n).0;
            counts[((word >> 28 & 15) << 4 | word >> 60) as usize] += 1;
        }
        let expected = f64::from(N) / 256.0;
        let squares = counts.map(|count| (f64::from(count) - expected).powi(2) / expected);
        let statistic: f64 = squares.iter().sum();
        assert!((statistic - 255.0).abs() < 5.0 * 22.6, "{statistic}");
    }

    /// Mean and variance of the factors of many weights.
    fn moments(rate: f64, members: u32) -> [f64; 2] {
        let masks = Masks::new(Key(3), rate);
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        let mut factors = [0.0; 5];
        for token in 0..100 {
            for column in 0..100 {
                masks.fill(token, column, members, &mut factors);
                sum += factors.iter().sum::<f64>();
                squares += factors.iter().map(|x| x * x).sum::<f64>();
                count += 5.0;
            }
        }
        let mean = sum / count;
        [mean, squares / count - mean * mean]
    }

    #[test]
    fn factors_have_mean_1_and_the_variance_of_dropout() {
        for (rate, members) in [(0.1, 1), (0.5, 1), (0.9, 1), (0.5, 3), (0.2, 7)] {
            let [mean, variance] = moments(rate, members);
            let expected = rate / (1.0 - rate) / f64::from(members);
            let error = (expected / 50_000.0).sqrt();
            assert!((mean - 1.0).abs() < 4.0 * error, "{rate} {members}: {mean}");
            assert!(
                (variance / expected - 1.0).abs() < 0.05,
                "{rate} {members}: {variance}"
            );
        }
    }

    #[test]
    fn a_rate_of_0_keeps_everything() {
        assert_eq!(moments(0.0, 2), [1.0, 0.0]);
    }

    #[test]
    fn the_highest_rates_give_finite_factors() {
        let mut factors = [0.0; 9];
        for rate in [1.0 - f64::EPSILON, 0.999_999_999] {
            Masks::new(Key(1), rate).fill(0, 0, 1, &mut factors);
            assert!(factors.iter().all(|x| x.is_finite()));
        }
    }
}
