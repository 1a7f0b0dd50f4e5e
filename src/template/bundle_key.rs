//! The keys of bundles of template lines.

/// Maximum number of adjacent cells that a bundle reads.
pub(super) const MAX_CELLS: usize = 3;

/// The number of a bundle in its template, and the cells that it reads at a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleKey([u32; 1 + MAX_CELLS]);

impl BundleKey {
    /// Creates the key of a bundle; 0 takes the place of cells that it does not read.
    #[inline(always)]
    pub fn new(bundle: u32, [a, b, c]: [u32; MAX_CELLS]) -> Self {
        Self([bundle, a, b, c])
    }

    /// Returns the numbers that make up the key.
    #[inline(always)]
    pub fn numbers(self) -> [u32; 1 + MAX_CELLS] {
        self.0
    }
}
