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
//! # The edges into one token, as K × K matrices
//!
//! This form covers every sentence: both modes of the lattice, with or without edge scores. It
//! works on marginals only, and obtains conditional probabilities as their quotients. With
//! M = μ·w, the conditional expectations that all engines are built from are
//!
//! ```text
//! E[x[y_{t−1}] + w[t][y_{t−1}][y_t] | y_t = b]
//!     = Σ_a (μ[t][a][b]·x[a] + M[t][a][b]) / Σ_a μ[t][a][b]
//! ```
//!
//! and its mirror image. The divisor is p(y_t = b), but summed from the same marginals as the
//! numerator, so that an expectation stays within the range of its values even if the probability
//! is too small to be accurate.
//!
//! # Covariances with a sum over the path, by scalar messages
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

use super::regularizer::{ChainContext, ChainDerivatives, Derivatives, SentenceInput};
use crate::chain::{Order, ScoreArrays, Transitions};
use crate::math::{add, dot};

/// Writes w[t][b] = ½ (1 − 2p)·V of a token without incoming edges to `w` `[S]`.
pub(super) fn node_weights(sentence: SentenceInput<'_>, t: usize, w: &mut [f64]) {
    let row = t * w.len()..(t + 1) * w.len();
    let marginals = &sentence.lattice.node_marginals()[row.clone()];
    let variance = &sentence.variances.node[row];
    for ((w, p), v) in w.iter_mut().zip(marginals).zip(variance) {
        *w = (0.5 - p) * v;
    }
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
    let variance = &sentence.variances.node[row.clone()];
    let out = &mut out.variances.nodes[row];
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
    let values = (0..sentence.lattice.tokens).map(|t| {
        let value = add_node_value(sentence, t, row, out);
        add_node_covariance(sentence, t, row, out.scores.nodes);
        value
    });
    values.sum()
}

/// The matrices of one token, and sums of derivatives with respect to transitions over all tokens.
#[derive(Clone, Debug, Default)]
pub struct EdgeMatrices {
    /// μ, `[K][S]`.
    pub marginals: Vec<f64>,
    /// M = μ·w, `[K][S]`.
    pub weighted: Vec<f64>,
    /// V, `[K][S]`.
    pub variance: Vec<f64>,
    /// Σ weight·∂R/∂transition scores, `[K][S]`.
    pub score_sums: Vec<f64>,
    /// Σ weight·∂R/∂transition variances, `[K][S]`.
    pub variance_sums: Vec<f64>,
    column_sums: Vec<f64>, // [S]
}

impl EdgeMatrices {
    /// Starts a batch of sentences: checks the shapes and clears the sums. If few label pairs have
    /// weights, few sentences need the matrices: call [`prepare`](Self::prepare) then.
    pub fn begin(&mut self, ChainContext { transitions, variances }: ChainContext<'_>) {
        if transitions.order() == Order::One {
            let numbers = transitions.pair_numbers();
            assert_eq!(variances.pairs.len(), numbers, "variances are [K][S] or [P]");
        }
        self.matrices().into_iter().for_each(Vec::clear);
        self.column_sums.clear();
        if transitions.pairs().is_none() {
            self.prepare(transitions);
        }
    }

    /// Sets μ, V and M for the edges into t ≥ 1. O(K²).
    pub fn set_quadratic(&mut self, sentence: SentenceInput<'_>, t: usize) {
        let ChainContext { transitions, variances } = sentence.chain;
        let stride = transitions.stride();
        sentence.lattice.edge_marginals(transitions, t, &mut self.marginals);
        let node = &sentence.variances.node[t * stride..][..stride];
        let rows = self.variance.chunks_exact_mut(stride);
        match transitions.pairs() {
            None => {
                for (row, transitions) in rows.zip(variances.pairs.chunks_exact(stride)) {
                    for ((v, node), transition) in row.iter_mut().zip(node).zip(transitions) {
                        *v = node + transition;
                    }
                }
            }
            Some(pairs) => {
                rows.for_each(|row| row.copy_from_slice(node));
                pairs.add_to_matrix(&variances.pairs, &mut self.variance);
            }
        }
        if let Some(edge) = sentence.variances.edge {
            let size = self.variance.len();
            add(&mut self.variance, &edge[t * size..][..size]);
        }
        let from = self.marginals.iter().zip(&self.variance);
        for (x, (mu, v)) in self.weighted.iter_mut().zip(from) {
            *x = mu * (0.5 - mu) * v;
        }
    }

    /// Returns the contribution of the edges into t to weight·R, and adds that to ∂R/∂V.
    pub fn add_edge_value(&mut self, weight: f64, t: usize, out: &mut Derivatives<'_>) -> f64 {
        let (size, stride) = (self.marginals.len(), self.column_sums.len());
        let node = &mut out.variances.nodes[t * stride..][..stride];
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
        if !out.variances.edges.is_empty() {
            let edge = &mut out.variances.edges[t * size..][..size];
            for (x, mu) in edge.iter_mut().zip(&self.marginals) {
                *x += weight * (0.5 * mu * (1.0 - mu));
            }
        }
        total
    }

    /// Sizes the matrices and sums for the first sentence that needs them; new sums are 0.
    pub fn prepare(&mut self, transitions: &Transitions) {
        let (labels, stride) = (transitions.labels(), transitions.stride());
        self.matrices().into_iter().for_each(|matrix| matrix.resize(labels * stride, 0.0));
        self.column_sums.resize(stride, 0.0);
    }

    fn matrices(&mut self) -> [&mut Vec<f64>; 5] {
        let Self { marginals, weighted, variance, score_sums, variance_sums, .. } = self;
        [marginals, weighted, variance, score_sums, variance_sums]
    }

    /// Adds the sums over all tokens, if there are any, to `out`.
    pub fn finish(&self, transitions: &Transitions, out: &mut ChainDerivatives<'_>) {
        if transitions.order() == Order::Zero {
            return;
        }
        let sums =
            [(&mut *out.scores, &self.score_sums), (&mut *out.variance, &self.variance_sums)];
        for (out, sums) in sums {
            match transitions.pairs() {
                None => add(out, sums),
                Some(pairs) if !sums.is_empty() => pairs.add_at_pairs(sums, out),
                Some(_) => {}
            }
        }
    }

    /// out[b] = Σ_a (μ[a][b]·x[a] + scale·M[a][b]) / Σ_a μ[a][b], with x and out
    /// `[S]`.
    pub fn expect_given_label(&mut self, x: &[f64], scale: f64, out: &mut [f64]) {
        let stride = out.len();
        out.fill(0.0);
        self.column_sums.fill(0.0);
        let rows = self.marginals.chunks_exact(stride);
        for ((mu, m), x) in rows.zip(self.weighted.chunks_exact(stride)).zip(x) {
            for (((out, sum), mu), m) in out.iter_mut().zip(&mut self.column_sums).zip(mu).zip(m) {
                *out += mu * x + scale * m;
                *sum += mu;
            }
        }
        for (x, sum) in out.iter_mut().zip(&self.column_sums) {
            *x = conditional(*x, *sum);
        }
    }

    /// out[a] = Σ_b (μ[a][b]·x[b] + scale·M[a][b]) / Σ_b μ[a][b], with x and out
    /// `[S]`.
    pub fn expect_given_previous(&self, x: &[f64], scale: f64, out: &mut [f64]) {
        let stride = out.len();
        out.fill(0.0);
        let rows = self.marginals.chunks_exact(stride).zip(self.weighted.chunks_exact(stride));
        for ((mu, m), out) in rows.zip(out) {
            let (mut numerator, mut sum) = (0.0, 0.0);
            for ((mu, m), x) in mu.iter().zip(m).zip(x) {
                numerator += mu * x + scale * m;
                sum += mu;
            }
            *out = conditional(numerator, sum);
        }
    }

    /// Writes p(y_{t−1} = a | y_t = b) to `out` `[K][S]`.
    pub fn conditionals_given_label(&mut self, out: &mut [f64]) {
        let stride = self.column_sums.len();
        column_sums(&self.marginals, &mut self.column_sums);
        for (out, row) in out.chunks_exact_mut(stride).zip(self.marginals.chunks_exact(stride)) {
            for ((out, mu), sum) in out.iter_mut().zip(row).zip(&self.column_sums) {
                *out = conditional(*mu, *sum);
            }
        }
    }

    /// Writes p(y_t = b | y_{t−1} = a) to `out` `[K][S]`.
    pub fn conditionals_given_previous(&self, out: &mut [f64]) {
        let stride = self.column_sums.len();
        for (out, row) in out.chunks_exact_mut(stride).zip(self.marginals.chunks_exact(stride)) {
            let sum = row.iter().sum();
            for (out, mu) in out.iter_mut().zip(row) {
                *out = conditional(*mu, sum);
            }
        }
    }

    /// Adds weight·(μ[a][b]·(before[a] + after[b]) + M[a][b]), the derivatives with
    /// respect to the scores of the edges into t, to `out` and the sums.
    ///
    /// Overwrites M.
    pub fn add_edge_covariance(
        &mut self,
        before: &[f64],
        after: &[f64],
        weight: f64,
        t: usize,
        out: &mut ScoreArrays<'_>,
    ) {
        let (size, stride) = (self.marginals.len(), self.column_sums.len());
        self.column_sums.fill(0.0);
        let rows = self.weighted.chunks_exact_mut(stride);
        for ((m, mu), x) in rows.zip(self.marginals.chunks_exact(stride)).zip(before) {
            for (((m, mu), y), sum) in m.iter_mut().zip(mu).zip(after).zip(&mut self.column_sums) {
                *m = weight * (mu * (x + y) + *m);
                *sum += *m;
            }
        }
        let node = &mut out.nodes[t * stride..][..stride];
        add(node, &self.column_sums);
        add(&mut self.score_sums, &self.weighted);
        if !out.edges.is_empty() {
            add(&mut out.edges[t * size..][..size], &self.weighted);
        }
    }
}

/// Adds weight·p[b]·(x[b] − E[x]) to the derivatives with respect to the node scores of t,
/// with x `[S]`, node `[T][S]`.
pub(super) fn add_node_covariance(
    sentence: SentenceInput<'_>,
    t: usize,
    x: &[f64],
    node: &mut [f64],
) {
    let row = t * x.len()..(t + 1) * x.len();
    let marginals = &sentence.lattice.node_marginals()[row.clone()];
    let mean = dot(marginals, x);
    for ((out, p), x) in node[row].iter_mut().zip(marginals).zip(x) {
        *out += sentence.weight * (p * (x - mean));
    }
}

/// Returns `numerator` / `probability`, a conditional expectation; 0 if the condition has no
/// probability and thus does not contribute to anything.
fn conditional(numerator: f64, probability: f64) -> f64 {
    if probability < f64::MIN_POSITIVE { 0.0 } else { numerator / probability }
}

/// Sums the rows of a matrix.
pub(super) fn column_sums(matrix: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    for row in matrix.chunks_exact(sums.len()) {
        add(sums, row);
    }
}
