//! Potentials: exponentials of scores, bounded from below.

use super::layout::padded;
use crate::math::exp_at_least;
use crate::simd::{self, Kernel};

/// φ, the lower bound of potentials and messages in scaled exponentials: 2⁻¹⁰⁰⁰.
///
/// `forward_backward.rs` explains why it is needed.
pub(super) const FLOOR: f64 = f64::from_bits((1023 - 1000) << 52);

/// log φ.
const LN_FLOOR: f64 = -1000.0 * std::f64::consts::LN_2;

/// Exponentiates log-potentials, rounding up to φ.
pub(super) fn exponentiate(potentials: &mut [f64]) {
    simd::dispatch(Exponentiate(potentials));
}

/// [`exponentiate`] as a SIMD kernel.
struct Exponentiate<'a>(&'a mut [f64]);

impl Kernel for Exponentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        exp_at_least(self.0, LN_FLOOR);
    }
}

/// Exponentiates log-potentials of rows over labels in a SIMD kernel, rounding up to φ; sets the
/// padding to 0.
#[inline(always)]
pub(super) fn exponentiate_rows(potentials: &mut [f64], labels: usize) {
    exp_at_least(potentials, LN_FLOOR);
    for row in potentials.chunks_exact_mut(padded(labels)) {
        row[labels..].fill(0.0);
    }
}
