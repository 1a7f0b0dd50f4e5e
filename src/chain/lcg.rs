//! Pseudorandom numbers for tests.

/// Knuth's MMIX linear congruential generator; deterministic.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    /// Returns the next number, in [−1, 1).
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Returns an integer in 0..n.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * n as f64) as usize
    }
}
