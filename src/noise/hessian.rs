//! Products of the Hessian of the log-partition function with a vector.
//!
//! For any w[t][a][b] = node[t][b] + edge[t][a][b], with W(y) = Σ_t w[t][y_{t−1}][y_t],
//!
//! ```text
//! (∇²A·w)[t][a][b] = Cov(W; y has a, b at t)
//!                  = μ[t][a][b]·(F[t−1][a] + w[t][a][b] + B[t][b] − E[W])
//! ```
//!
//! by the scalar messages F and B of `quadratic.rs`. O(TK²) time, O(TK) memory; O(TK) of both
//! at order 0. The adjoint engine is the special case w = ½ (1 − 2μ)·V.

use super::quadratic::{EdgeMatrices, ScalarMessages, add_node_covariance};
use crate::chain::{Lattice, Order, ScoreArrays, Scores, Transitions};
use crate::math::add;

/// Computes ∇²A·w for sentences under the same transitions; a reusable workspace.
#[derive(Clone, Debug, Default)]
pub struct HessianProduct {
    edges: EdgeMatrices,
    messages: ScalarMessages,
}

impl HessianProduct {
    /// Starts a batch of sentences under `transitions`; clears the sums.
    pub fn begin(&mut self, transitions: &Transitions) {
        self.edges.reset();
        self.edges.prepare(transitions);
        self.messages.reset(transitions);
    }

    /// Adds factor·∇²A·w of a sentence to `out`. `lattice` is that of the sentence under
    /// `transitions`, `direction` is w.
    ///
    /// # Panics
    ///
    /// If an array has the wrong shape.
    pub fn add(
        &mut self,
        transitions: &Transitions,
        lattice: &Lattice,
        direction: Scores<'_>,
        factor: f64,
        mut out: ScoreArrays<'_>,
    ) {
        let (tokens, stride) = (lattice.tokens(), transitions.stride());
        for array in [direction.node, out.nodes] {
            assert_eq!(array.len(), tokens * stride, "node arrays are [T][S]");
        }
        if transitions.order() == Order::Zero {
            for t in 0..tokens {
                let w = &direction.node[t * stride..][..stride];
                add_node_covariance(lattice, t, w, factor, out.nodes);
            }
            return;
        }
        if tokens == 0 {
            return;
        }
        let (edges, messages) = (&mut self.edges, &mut self.messages);
        messages.first(tokens).copy_from_slice(&direction.node[..stride]);
        for t in 1..tokens {
            edges.set_direction(transitions, lattice, direction, t);
            messages.forward(edges, t);
        }
        messages.start_backward(lattice);
        for t in (1..tokens).rev() {
            edges.set_direction(transitions, lattice, direction, t);
            messages.backward(edges, factor, t, &mut out);
        }
        messages.finish_backward(lattice, factor, out.nodes);
    }

    /// Adds the products with respect to transition scores, summed over all sentences since
    /// [`HessianProduct::begin`], to `out` `[K][S]`. Nothing at order 0.
    pub fn finish(&self, out: &mut [f64]) {
        add(out, &self.edges.score_sums);
    }
}

impl EdgeMatrices {
    /// Sets μ and M = μ·w for the edges into t ≥ 1. O(K²).
    fn set_direction(
        &mut self,
        transitions: &Transitions,
        lattice: &Lattice,
        w: Scores<'_>,
        t: usize,
    ) {
        let (size, stride) = (self.marginals.len(), self.stride());
        lattice.edge_marginals(transitions, t, &mut self.marginals);
        let node = &w.node[t * stride..][..stride];
        let rows = self.weighted.chunks_exact_mut(stride);
        for (row, marginals) in rows.zip(self.marginals.chunks_exact(stride)) {
            for ((x, mu), w) in row.iter_mut().zip(marginals).zip(node) {
                *x = mu * w;
            }
        }
        if let Some(edge) = w.edge {
            let edge = self.marginals.iter().zip(&edge[t * size..][..size]);
            for (x, (mu, w)) in self.weighted.iter_mut().zip(edge) {
                *x += mu * w;
            }
        }
    }
}
