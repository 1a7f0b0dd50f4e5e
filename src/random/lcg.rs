//! A sequential generator for tests, which the tests of other crates include.

/// Knuth's MMIX linear congruential generator. The field is its
/// state, which starts as the seed.
pub(crate) struct Lcg(pub u64);

impl Lcg {
    /// Returns the next number, in [−1, 1).
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Returns the next integer in 0..`n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * n as f64) as usize
    }

    /// Returns the next `n` numbers.
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}
