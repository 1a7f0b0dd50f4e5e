//! The quadratic regularizer R (eq. 14): its value and the direct part of its gradient.
//!
//! ```text
//! R = ½ Σ_{t,a,b} μ[t][a][b]·(1 − μ[t][a][b])·V[t][a][b]                                 (eq. 14)
//! ```
//!
//! with the edge marginals μ, at t = 0 the node marginals p, and the score variances
//!
//! ```text
//! V[t][a][b] = node_variance[t][b] + transition_variance[a][b] + edge_variance[t][a][b]
//! V[0][b] = node_variance[0][b]
//! ```
//!
//! The *direct* part of the gradient goes through V, which is linear in its three terms:
//!
//! ```text
//! ∂R/∂V[t][a][b] = ½ μ[t][a][b]·(1 − μ[t][a][b])
//! ```
//!
//! The *indirect* part goes through μ. This file computes its weights w; the engines differ in how
//! they propagate them:
//!
//! ```text
//! w[t][a][b] = ∂R/∂μ[t][a][b] = ½ (1 − 2μ[t][a][b])·V[t][a][b]            M = μ·w
//! ```
//!
//! At order 0 tokens are independent and R is eq. 8 summed over tokens, ½ Σ_{t,b} p·(1 − p)·V.
//!
//! # Noise that labels share
//!
//! If one mask drops a node attribute j for all labels, not one per weight, the second-order term
//! of its noise is not ½ρg² Σ_b p·(1 − p)·θ² but ½ρg² times the variance of θ\[j\]\[y_t\]:
//!
//! ```text
//! R = ½ Σ_{t,b} p[t][b]·U[t][b]
//! U[t][b] = Σ_j ρ·g²·(θ[j][b] − u_j)²        u_j = Σ_c p[t][c]·θ[j][c]
//! ∂R/∂p[t][b] = ½ U[t][b]                    ∂R/∂θ[j][b] = Σ_t ρ·g²·p[t][b]·(θ[j][b] − u_j)
//! ```
//!
//! (up to a constant per token in ∂R/∂p, which changes no covariance: u_j is where Σ p·(θ − u)² is
//! least). The caller computes U from the marginals. Such attributes are left out of V, and
//! together w[t][a][b] = ½ L − μ·V, where L = V + U is [`SentenceInput::linear_variance`]. The
//! value is E[W] + ½ Σ μ²·V with and without U.

use super::edge_matrices::{EdgeMatrices, add_node_covariance};
use super::regularizer::{ChainContext, Derivatives, SentenceInput};
use super::vector::add_scaled;
use crate::chain::Order;

impl EdgeMatrices {
    /// Starts a batch of sentences: checks the shapes and clears the sums. If few label pairs have
    /// weights, few sentences need the matrices: call [`prepare`](Self::prepare) then.
    pub fn begin(&mut self, context: ChainContext<'_>) {
        if context.transitions.order() == Order::One {
            let numbers = context.transitions.pair_numbers();
            assert_eq!(
                context.variance.len(),
                numbers,
                "variances are [K][S] or [P]"
            );
        }
        self.reset();
        if context.transitions.pairs().is_none() {
            self.prepare(context.transitions);
        }
    }

    /// Sets μ, V and M for the edges into t ≥ 1. O(K²).
    pub fn set_quadratic(
        &mut self,
        context: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        t: usize,
    ) {
        let stride = context.transitions.stride();
        sentence
            .lattice
            .edge_marginals(context.transitions, t, &mut self.marginals);
        let node = &sentence.node_variance[t * stride..][..stride];
        let rows = self.variance.chunks_exact_mut(stride);
        match context.transitions.pairs() {
            None => {
                for (row, transitions) in rows.zip(context.variance.chunks_exact(stride)) {
                    for ((v, node), transition) in row.iter_mut().zip(node).zip(transitions) {
                        *v = node + transition;
                    }
                }
            }
            Some(pairs) => {
                rows.for_each(|row| row.copy_from_slice(node));
                pairs.add_to_matrix(context.variance, &mut self.variance);
            }
        }
        if let Some(edge) = sentence.edge_variance {
            let size = self.variance.len();
            add_scaled(&mut self.variance, &edge[t * size..][..size], 1.0);
        }
        let from = self.marginals.iter().zip(&self.variance);
        for (x, (mu, v)) in self.weighted.iter_mut().zip(from) {
            *x = mu * (0.5 - mu) * v;
        }
        if let Some(linear) = sentence.linear_variance {
            let linear = &linear[t * stride..][..stride];
            let rows = self.weighted.chunks_exact_mut(stride);
            for (row, mu) in rows.zip(self.marginals.chunks_exact(stride)) {
                for (((x, mu), l), v) in row.iter_mut().zip(mu).zip(linear).zip(node) {
                    *x += mu * (0.5 * (l - v));
                }
            }
        }
    }

    /// Returns the contribution of the edges into t to weight·R, and adds that to ∂R/∂V.
    pub fn add_edge_value(&mut self, weight: f64, t: usize, out: &mut Derivatives<'_>) -> f64 {
        let (size, stride) = (self.marginals.len(), self.stride());
        let node = &mut out.node_variance[t * stride..][..stride];
        let mut total = 0.0;
        for (a, row) in self.marginals.chunks_exact(stride).enumerate() {
            let variance = &self.variance[a * stride..][..stride];
            let sums = &mut self.variance_sums[a * stride..][..stride];
            for (((mu, v), sum), node) in row.iter().zip(variance).zip(sums).zip(&mut *node) {
                let derivative = weight * (0.5 * mu * (1.0 - mu));
                *sum += derivative;
                *node += derivative;
                total += derivative * v;
            }
        }
        if let Some(edge) = out.edge_variance.as_deref_mut() {
            let edge = &mut edge[t * size..][..size];
            for (x, mu) in edge.iter_mut().zip(&self.marginals) {
                *x += weight * (0.5 * mu * (1.0 - mu));
            }
        }
        total
    }
}

/// Writes w[t][b] = ½ L − p·V of a token without incoming edges to `w` `[S]`; if L is V, that is
/// ½ (1 − 2p)·V.
pub(super) fn node_weights(sentence: SentenceInput<'_>, t: usize, w: &mut [f64]) {
    let row = t * w.len()..(t + 1) * w.len();
    let marginals = &sentence.lattice.node_marginals()[row.clone()];
    let variance = &sentence.node_variance[row];
    for ((w, p), v) in w.iter_mut().zip(marginals).zip(variance) {
        *w = (0.5 - p) * v;
    }
    if let Some(linear) = sentence.linear_variance {
        let linear = linear[t * w.len()..].iter();
        for (w, (l, v)) in w.iter_mut().zip(linear.zip(variance)) {
            *w += 0.5 * (l - v);
        }
    }
}

/// Returns weight·½ Σ p·U, the contribution of noise that labels share, over all tokens.
pub(super) fn shared_value(sentence: SentenceInput<'_>) -> f64 {
    let Some(linear) = sentence.linear_variance else {
        return 0.0;
    };
    let marginals = sentence.lattice.node_marginals().iter();
    let shared = linear.iter().zip(sentence.node_variance);
    let terms = marginals.zip(shared).map(|(p, (l, v))| p * (l - v));
    sentence.weight * (0.5 * terms.sum::<f64>())
}

/// Returns the contribution ½ weight·Σ_b p·(1 − p)·V of a token without incoming edges to weight·R,
/// and adds that to ∂R/∂V; sets `w` like [`node_weights`].
pub(super) fn add_node_value(
    sentence: SentenceInput<'_>,
    t: usize,
    w: &mut [f64],
    out: &mut Derivatives<'_>,
) -> f64 {
    node_weights(sentence, t, w);
    let row = t * w.len()..(t + 1) * w.len();
    let marginals = &sentence.lattice.node_marginals()[row.clone()];
    let variance = &sentence.node_variance[row.clone()];
    let out = &mut out.node_variance[row];
    let mut total = 0.0;
    for ((out, p), v) in out.iter_mut().zip(marginals).zip(variance) {
        let derivative = sentence.weight * (0.5 * p * (1.0 - p));
        *out += derivative;
        total += derivative * v;
    }
    total
}

/// Order 0 (eq. 8 per token): returns weight·R and adds all derivatives.
pub(super) fn independent_tokens(
    sentence: SentenceInput<'_>,
    row: &mut [f64],
    out: &mut Derivatives<'_>,
) -> f64 {
    let values = (0..sentence.lattice.tokens()).map(|t| {
        let value = add_node_value(sentence, t, row, out);
        add_node_covariance(sentence.lattice, t, row, sentence.weight, out.node);
        value
    });
    values.sum::<f64>() + shared_value(sentence)
}
