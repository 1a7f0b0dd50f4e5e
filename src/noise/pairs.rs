//! One position of a sentence: its marginals, variances and w, as plain matrices.
//!
//! This is the form that holds in either mode of the lattice and with edge scores: everything is
//! said by marginals, and conditional probabilities are marginals divided by marginals. With
//! M = μ·w, the conditional expectations that all engines are made of are
//!
//! ```text
//! E[x[y_{t−1}] + w[t][y_{t−1}][y_t] | y_t = b] = Σ_a (μ[t][a][b]·x[a] + M[t][a][b]) / Σ_a μ[t][a][b]
//! ```
//!
//! and its mirror image. The divisor is p(y_t = b), but taken from the very numbers above it, so that
//! an expectation stays within its values even where a probability is too small to be known well.

use super::{
    ChainContext, ChainDerivatives, Derivatives, ScoreDerivatives, ScoreDirection, SentenceInput,
};
use crate::chain::{Lattice, Order, Transitions};

/// The matrices of one position, and sums of derivatives by transitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    pub marginals: Vec<f64>,     // [K][S] μ
    pub weighted: Vec<f64>,      // [K][S] M = μ·w
    pub score_sums: Vec<f64>,    // [K][S] Σ weight·∂R/∂transition scores
    pub variance_sums: Vec<f64>, // [K][S] Σ weight·∂R/∂transition variances
    variance: Vec<f64>,          // [K][S] V
    column: Vec<f64>,            // [S]
}

impl Pairs {
    pub fn begin(&mut self, shared: ChainContext<'_>) {
        if shared.transitions.order() == Order::One {
            let size = shared.transitions.labels() * shared.transitions.stride();
            assert_eq!(shared.variance.len(), size, "variances are [K][S]");
        }
        self.reset(shared.transitions);
    }

    /// Sizes the matrices and clears the sums.
    pub fn reset(&mut self, transitions: &Transitions) {
        let (labels, stride) = (transitions.labels(), transitions.stride());
        let size = labels * stride;
        for matrix in [
            &mut self.marginals,
            &mut self.weighted,
            &mut self.variance,
            &mut self.score_sums,
            &mut self.variance_sums,
        ] {
            matrix.clear();
            matrix.resize(size, 0.0);
        }
        self.column.clear();
        self.column.resize(stride, 0.0);
    }

    pub fn finish(&self, out: &mut ChainDerivatives<'_>) {
        add(out.scores, &self.score_sums, 1.0);
        add(out.variance, &self.variance_sums, 1.0);
    }

    /// Sets μ and M for the edges that lead to t ≥ 1. O(K²).
    pub fn load(&mut self, shared: ChainContext<'_>, sentence: SentenceInput<'_>, t: usize) {
        let stride = shared.transitions.stride();
        sentence
            .lattice
            .edge_marginals(shared.transitions, t, &mut self.marginals);
        let node = &sentence.node_variance[t * stride..][..stride];
        let rows = self.variance.chunks_exact_mut(stride);
        for (row, transitions) in rows.zip(shared.variance.chunks_exact(stride)) {
            for ((v, node), transition) in row.iter_mut().zip(node).zip(transitions) {
                *v = node + transition;
            }
        }
        if let Some(edge) = sentence.edge_variance {
            let size = self.variance.len();
            add(&mut self.variance, &edge[t * size..][..size], 1.0);
        }
        let from = self.marginals.iter().zip(&self.variance);
        for (x, (mu, v)) in self.weighted.iter_mut().zip(from) {
            *x = mu * (0.5 - mu) * v;
        }
    }

    /// Sets μ and M for the edges that lead to t ≥ 1, with a w that is given. O(K²).
    pub fn weigh(
        &mut self,
        (transitions, lattice): (&Transitions, &Lattice),
        w: ScoreDirection<'_>,
        t: usize,
    ) {
        let (size, stride) = (self.marginals.len(), self.column.len());
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

    /// Adds what the edges to t contribute to ∂R/∂V; returns what they contribute to weight·R.
    pub fn direct(&mut self, weight: f64, t: usize, out: &mut Derivatives<'_>) -> f64 {
        let (size, stride) = (self.marginals.len(), self.column.len());
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

    /// out\[b\] = Σ_a (μ\[a\]\[b\]·x\[a\] + scale·M\[a\]\[b\]) / Σ_a μ\[a\]\[b\], with x and out `[S]`.
    pub fn expect_before(&mut self, x: &[f64], scale: f64, out: &mut [f64]) {
        let stride = out.len();
        out.fill(0.0);
        self.column.fill(0.0);
        let rows = self.marginals.chunks_exact(stride);
        for ((mu, m), x) in rows.zip(self.weighted.chunks_exact(stride)).zip(x) {
            let columns = out.iter_mut().zip(&mut self.column).zip(mu).zip(m);
            for (((out, sum), mu), m) in columns {
                *out += mu * x + scale * m;
                *sum += mu;
            }
        }
        for (x, sum) in out.iter_mut().zip(&self.column) {
            *x = ratio(*x, *sum);
        }
    }

    /// out\[a\] = Σ_b (μ\[a\]\[b\]·x\[b\] + scale·M\[a\]\[b\]) / Σ_b μ\[a\]\[b\], with x and out `[S]`.
    pub fn expect_after(&self, x: &[f64], scale: f64, out: &mut [f64]) {
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
            *out = ratio(numerator, sum);
        }
    }

    /// Writes p(y_{t−1} = a | y_t = b) to `out` `[K][S]`.
    pub fn given_after(&mut self, out: &mut [f64]) {
        self.column.fill(0.0);
        for row in self.marginals.chunks_exact(self.column.len()) {
            add(&mut self.column, row, 1.0);
        }
        let stride = self.column.len();
        let rows = out.chunks_exact_mut(stride);
        for (out, row) in rows.zip(self.marginals.chunks_exact(stride)) {
            for ((out, mu), sum) in out.iter_mut().zip(row).zip(&self.column) {
                *out = ratio(*mu, *sum);
            }
        }
    }

    /// Writes p(y_t = b | y_{t−1} = a) to `out` `[K][S]`.
    pub fn given_before(&self, out: &mut [f64]) {
        let stride = self.column.len();
        let rows = out.chunks_exact_mut(stride);
        for (out, row) in rows.zip(self.marginals.chunks_exact(stride)) {
            let sum = row.iter().sum();
            for (out, mu) in out.iter_mut().zip(row) {
                *out = ratio(*mu, sum);
            }
        }
    }

    /// Adds weight·(μ\[a\]\[b\]·(before\[a\] + after\[b\]) + M\[a\]\[b\]), the derivatives by the scores of
    /// the edges to t.
    pub fn scatter(
        &mut self,
        before: &[f64],
        after: &[f64],
        (weight, t): (f64, usize),
        out: &mut ScoreDerivatives<'_>,
    ) {
        let (size, stride) = (self.marginals.len(), self.column.len());
        self.column.fill(0.0);
        let rows = self.weighted.chunks_exact_mut(stride);
        for ((m, mu), x) in rows.zip(self.marginals.chunks_exact(stride)).zip(before) {
            let columns = m.iter_mut().zip(mu).zip(after).zip(&mut self.column);
            for (((m, mu), y), column) in columns {
                *m = weight * (mu * (x + y) + *m);
                *column += *m;
            }
        }
        add(&mut out.node[t * stride..][..stride], &self.column, 1.0);
        add(&mut self.score_sums, &self.weighted, 1.0);
        if let Some(edge) = out.edge.as_deref_mut() {
            add(&mut edge[t * size..][..size], &self.weighted, 1.0);
        }
    }
}

/// Number of tokens, after checking the shapes.
pub(super) fn checked_tokens(
    shared: ChainContext<'_>,
    sentence: SentenceInput<'_>,
    out: &Derivatives<'_>,
) -> usize {
    let tokens = sentence.lattice.tokens();
    let rows = tokens * shared.transitions.stride();
    for array in [sentence.node_variance, out.node, out.node_variance] {
        assert_eq!(array.len(), rows, "node arrays are [T][S]");
    }
    if shared.transitions.order() == Order::One {
        let edges = [
            sentence.edge_variance,
            out.edge.as_deref(),
            out.edge_variance.as_deref(),
        ];
        for array in edges.into_iter().flatten() {
            let expected = rows * shared.transitions.labels();
            assert_eq!(array.len(), expected, "edge arrays are [T][K][S]");
        }
    }
    tokens
}

/// A sentence whose tokens do not depend on one another: eq. 8 for each. Adds all derivatives;
/// returns weight·R.
pub(super) fn independent(
    sentence: SentenceInput<'_>,
    row: &mut [f64],
    out: &mut Derivatives<'_>,
) -> f64 {
    let values = (0..sentence.lattice.tokens()).map(|t| {
        let value = single(sentence, t, row, out);
        scatter_node(sentence, t, row, out);
        value
    });
    values.sum()
}

/// Writes w\[t\] of a token to which no edge leads, ½(1 − 2p)·V, to `w` `[S]`.
pub(super) fn node_weights(sentence: SentenceInput<'_>, t: usize, w: &mut [f64]) {
    let row = t * w.len()..(t + 1) * w.len();
    let marginals = &sentence.lattice.node_marginals()[row.clone()];
    for ((w, p), v) in w
        .iter_mut()
        .zip(marginals)
        .zip(&sentence.node_variance[row])
    {
        *w = (0.5 - p) * v;
    }
}

/// As [`node_weights`]; adds ∂R/∂V as well, and returns what the token contributes to weight·R.
pub(super) fn single(
    sentence: SentenceInput<'_>,
    t: usize,
    w: &mut [f64],
    out: &mut Derivatives<'_>,
) -> f64 {
    node_weights(sentence, t, w);
    let row = t * w.len()..(t + 1) * w.len();
    let marginals = &sentence.lattice.node_marginals()[row.clone()];
    let variance = &sentence.node_variance[row.clone()];
    let mut total = 0.0;
    for ((out, p), v) in out.node_variance[row]
        .iter_mut()
        .zip(marginals)
        .zip(variance)
    {
        let derivative = sentence.weight * (0.5 * p * (1.0 - p));
        *out += derivative;
        total += derivative * v;
    }
    total
}

/// Adds weight·p\[b\]·(x\[b\] − E\[x\]) to the derivatives by the node scores of t, with x `[S]`.
pub(super) fn scatter_node(
    sentence: SentenceInput<'_>,
    t: usize,
    x: &[f64],
    out: &mut Derivatives<'_>,
) {
    let row = t * x.len()..(t + 1) * x.len();
    let marginals = &sentence.lattice.node_marginals()[row.clone()];
    let mean = dot(marginals, x);
    for ((out, p), x) in out.node[row].iter_mut().zip(marginals).zip(x) {
        *out += sentence.weight * (p * (x - mean));
    }
}

/// A conditional expectation; 0 where the condition has no probability, and thus no part in anything.
fn ratio(numerator: f64, probability: f64) -> f64 {
    if probability < f64::MIN_POSITIVE {
        0.0
    } else {
        numerator / probability
    }
}

pub(super) fn add(sums: &mut [f64], terms: &[f64], factor: f64) {
    assert_eq!(sums.len(), terms.len());
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += factor * term;
    }
}

pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
