//! Memory layout of rows over labels.

/// The SIMD width that inner loops are written for: rows over labels are padded to a multiple of
/// it.
pub const LANES: usize = 8;

/// Returns the stride S of rows over K labels: K rounded up to a multiple of [`LANES`].
#[must_use]
pub const fn padded(labels: usize) -> usize {
    labels.next_multiple_of(LANES)
}
