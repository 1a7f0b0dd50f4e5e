//! Covariances with a sum over the path, by scalar messages.
//!
//! For W(y) = Σ_t w[t][y_{t−1}][y_t] let
//!
//! ```text
//! F[t][b] = E[Σ_{i≤t} w[i] | y_t = b] = Σ_a p(y_{t−1} = a | y_t = b)·(F[t−1][a] + w[t][a][b])
//! B[t][a] = E[Σ_{i>t} w[i] | y_t = a] = Σ_b p(y_{t+1} = b | y_t = a)·(w[t+1][a][b] + B[t+1][b])
//! F[0] = w[0]          B[T−1] = 0
//! ```
//!
//! By the Markov property E[W | y_{t−1} = a, y_t = b] = F[t−1][a] + w[t][a][b] + B[t][b], and thus
//!
//! ```text
//! Cov(W; y has a, b at t) = μ[t][a][b]·(F[t−1][a] + w[t][a][b] + B[t][b] − E[W])
//! Cov(W; y_t = b) = p(y_t = b)·(F[t][b] + B[t][b] − E[W])
//! E[W] = Σ_b p(y_t = b)·(F[t][b] + B[t][b])    for any t
//! ```
//!
//! O(TK²) time, O(TK) memory.

use super::edge_matrices::{EdgeMatrices, add_node_covariance};
use super::regularizer::ScoreDerivatives;
use super::vector::add_scaled;
use crate::chain::{Lattice, Transitions};
use crate::math::dot;

/// The messages F and B of one sentence; a reusable workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct ScalarMessages {
    forward: Vec<f64>,  // [T][S] F
    backward: Vec<f64>, // [S] B[t]
    next: Vec<f64>,     // [S] B[t−1]
    mean: f64,          // E[W]
}

impl ScalarMessages {
    /// Sizes the rows for `transitions`.
    pub fn reset(&mut self, transitions: &Transitions) {
        for row in [&mut self.next, &mut self.backward] {
            row.clear();
            row.resize(transitions.stride(), 0.0);
        }
    }

    /// Sizes F for a sentence; returns F[0], to be set to w[0].
    pub fn first(&mut self, tokens: usize) -> &mut [f64] {
        let stride = self.next.len();
        self.forward.resize(tokens * stride, 0.0);
        &mut self.forward[..stride]
    }

    /// Computes F[t] from F[t−1], given the matrices of the edges into t.
    pub fn forward(&mut self, edges: &mut EdgeMatrices, t: usize) {
        let stride = self.next.len();
        let (done, rest) = self.forward.split_at_mut(t * stride);
        let before = &done[(t - 1) * stride..];
        edges.expect_given_label(before, 1.0, &mut rest[..stride]);
    }

    /// Computes E[W] and sets B[T−1].
    pub fn start_backward(&mut self, lattice: &Lattice) {
        let last = self.forward.len() - self.next.len();
        self.mean = dot(&lattice.node_marginals()[last..], &self.forward[last..]);
        self.backward.fill(0.0);
    }

    /// Adds weight·Cov(W; ·) of the edges into t to `out`, given their matrices, and computes
    /// B[t−1] from B[t].
    pub fn backward(
        &mut self,
        edges: &mut EdgeMatrices,
        weight: f64,
        t: usize,
        out: &mut ScoreDerivatives<'_>,
    ) {
        let stride = self.next.len();
        let before = &mut self.forward[(t - 1) * stride..][..stride];
        edges.expect_given_previous(&self.backward, 1.0, &mut self.next);
        before.iter_mut().for_each(|x| *x -= self.mean);
        edges.add_edge_covariance(before, &self.backward, weight, t, out);
        std::mem::swap(&mut self.backward, &mut self.next);
    }

    /// Adds weight·Cov(W; y_0 = ·) to `node` `[T][S]`.
    pub fn finish_backward(&mut self, lattice: &Lattice, weight: f64, node: &mut [f64]) {
        let stride = self.next.len();
        add_scaled(&mut self.backward, &self.forward[..stride], 1.0);
        add_node_covariance(lattice, 0, &self.backward, weight, node);
    }
}
