//! The edges into one token: marginals, variances and weights as K × K matrices.
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

use super::regularizer::{ChainDerivatives, ScoreDerivatives};
use super::vector::add_scaled;
use crate::chain::{Lattice, Transitions};
use crate::math::dot;

/// The matrices of one token, and sums of derivatives with respect to transitions over all tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgeMatrices {
    pub marginals: Vec<f64>,     // [K][S] μ
    pub weighted: Vec<f64>,      // [K][S] M = μ·w
    pub variance: Vec<f64>,      // [K][S] V
    pub score_sums: Vec<f64>,    // [K][S] Σ weight·∂R/∂transition scores
    pub variance_sums: Vec<f64>, // [K][S] Σ weight·∂R/∂transition variances
    column_sums: Vec<f64>,       // [S]
}

impl EdgeMatrices {
    /// Clears the matrices and sums. [`prepare`](Self::prepare) sizes them.
    pub fn reset(&mut self) {
        self.matrices().into_iter().for_each(Vec::clear);
        self.column_sums.clear();
    }

    /// Sizes the matrices and sums for the first sentence that needs them; new sums are 0.
    pub fn prepare(&mut self, transitions: &Transitions) {
        let (labels, stride) = (transitions.labels(), transitions.stride());
        let size = labels * stride;
        for matrix in self.matrices() {
            matrix.resize(size, 0.0);
        }
        self.column_sums.resize(stride, 0.0);
    }

    fn matrices(&mut self) -> [&mut Vec<f64>; 5] {
        [
            &mut self.marginals,
            &mut self.weighted,
            &mut self.variance,
            &mut self.score_sums,
            &mut self.variance_sums,
        ]
    }

    /// Returns the stride S.
    pub fn stride(&self) -> usize {
        self.column_sums.len()
    }

    /// Adds the sums over all tokens, if there are any, to `out`.
    pub fn finish(&self, transitions: &Transitions, out: &mut ChainDerivatives<'_>) {
        let sums = [
            (&mut *out.scores, &self.score_sums),
            (&mut *out.variance, &self.variance_sums),
        ];
        for (out, sums) in sums {
            match transitions.pairs() {
                None => add_scaled(out, sums, 1.0),
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
            let columns = out.iter_mut().zip(&mut self.column_sums).zip(mu).zip(m);
            for (((out, sum), mu), m) in columns {
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
        let rows = self.marginals.chunks_exact(stride);
        let rows = rows.zip(self.weighted.chunks_exact(stride));
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
        let stride = self.stride();
        self.column_sums.fill(0.0);
        for row in self.marginals.chunks_exact(stride) {
            add_scaled(&mut self.column_sums, row, 1.0);
        }
        let rows = out.chunks_exact_mut(stride);
        for (out, row) in rows.zip(self.marginals.chunks_exact(stride)) {
            for ((out, mu), sum) in out.iter_mut().zip(row).zip(&self.column_sums) {
                *out = conditional(*mu, *sum);
            }
        }
    }

    /// Writes p(y_t = b | y_{t−1} = a) to `out` `[K][S]`.
    pub fn conditionals_given_previous(&self, out: &mut [f64]) {
        let stride = self.stride();
        let rows = out.chunks_exact_mut(stride);
        for (out, row) in rows.zip(self.marginals.chunks_exact(stride)) {
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
        out: &mut ScoreDerivatives<'_>,
    ) {
        let (size, stride) = (self.marginals.len(), self.stride());
        self.column_sums.fill(0.0);
        let rows = self.weighted.chunks_exact_mut(stride);
        for ((m, mu), x) in rows.zip(self.marginals.chunks_exact(stride)).zip(before) {
            let columns = m.iter_mut().zip(mu).zip(after).zip(&mut self.column_sums);
            for (((m, mu), y), sum) in columns {
                *m = weight * (mu * (x + y) + *m);
                *sum += *m;
            }
        }
        let node = &mut out.node[t * stride..][..stride];
        add_scaled(node, &self.column_sums, 1.0);
        add_scaled(&mut self.score_sums, &self.weighted, 1.0);
        if let Some(edge) = out.edge.as_deref_mut() {
            add_scaled(&mut edge[t * size..][..size], &self.weighted, 1.0);
        }
    }
}

/// Adds weight·p[b]·(x[b] − E[x]) to the derivatives with respect to the node scores of t,
/// with x `[S]`, node `[T][S]`.
pub(super) fn add_node_covariance(
    lattice: &Lattice,
    t: usize,
    x: &[f64],
    weight: f64,
    node: &mut [f64],
) {
    let row = t * x.len()..(t + 1) * x.len();
    let marginals = &lattice.node_marginals()[row.clone()];
    let mean = dot(marginals, x);
    for ((out, p), x) in node[row].iter_mut().zip(marginals).zip(x) {
        *out += weight * (p * (x - mean));
    }
}

/// Returns `numerator` / `probability`, a conditional expectation; 0 if the condition has no
/// probability and thus does not contribute to anything.
fn conditional(numerator: f64, probability: f64) -> f64 {
    if probability < f64::MIN_POSITIVE {
        0.0
    } else {
        numerator / probability
    }
}
