//! The sums P₀ to P₃ over tokens and sentences.

use super::workspace::AdjointKernel;
use crate::chain::products::add_outer_products;
use crate::noise::edge_matrices::EdgeMatrices;
use crate::noise::regularizer::ChainContext;
use crate::simd::{self, Kernel};

/// Number of buffered tokens that triggers the sums: with fewer, reading and writing the sums would
/// cost more than the multiplications.
pub(super) const FLUSH_TOKENS: usize = 32;

impl AdjointKernel {
    /// Adds the derivatives with respect to transitions to the sums of `edges`.
    pub fn finish(&mut self, context: ChainContext<'_>, edges: &mut EdgeMatrices) {
        simd::dispatch(FlushSums(self));
        let matrices = context
            .transitions
            .potentials()
            .iter()
            .zip(context.variance);
        let derivatives = edges.score_sums.iter_mut().zip(&mut edges.variance_sums);
        let [p0, p1, p2, p3] = &self.sums;
        for (i, ((e, tau), (score, variance))) in matrices.zip(derivatives).enumerate() {
            let square = e * e;
            *score += e * (p1[i] + 0.5 * tau * p0[i]) - square * (p3[i] + tau * p2[i]);
            *variance += 0.5 * (e * p0[i] - square * p2[i]);
        }
    }
}

/// Adds the buffered products to the sums and empties the buffers.
pub(super) struct FlushSums<'a>(pub(super) &'a mut AdjointKernel);

impl Kernel for FlushSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let kernel = self.0;
        let stride = kernel.row.len();
        let pending = std::mem::take(&mut kernel.pending);
        let products = [
            (&kernel.alpha, &kernel.v, 0),
            (&kernel.phi, &kernel.v, 1),
            (&kernel.alpha, &kernel.g, 1),
            (&kernel.alpha_squared, &kernel.v_squared, 2),
            (&kernel.alpha_squared, &kernel.n_v_squared, 3),
        ];
        if pending > 0 {
            for (x, y, sums) in products {
                let (x, y) = (&x[..pending - stride], &y[stride..pending]);
                add_outer_products(stride, x, y, &mut kernel.sums[sums]);
            }
        }
    }
}
