//! The paper's own dynamic program: messages that are vectors over the features of the sentence.
//!
//! The features of a sentence are pairs: a node attribute j with a label, (j, b), which is worth
//! g[t][j] where y_t = b; an edge attribute e, or the bare transition, with two labels, (e, a, b). Let
//! q be their number. Equations 15 to 18 give ∇log μ, for every edge, by expectations of the feature
//! vector of the prefix and of the suffix (here F[t] includes what stands at t; the paper's F_t ends
//! before t):
//!
//! ```text
//! F[t][b] = Σ_a p(y_{t−1} = a | y_t = b)·(F[t−1][a] + g_t(a, b))
//! B[t][a] = Σ_b p(y_{t+1} = b | y_t = a)·(g_{t+1}(a, b) + B[t+1][b])
//! ∇log μ[t][a][b] = F[t−1][a] + g_t(a, b) + B[t][b] − E[f]                                   (eq. 15)
//! ```
//!
//! and the product rule makes of them, with M = μ·w (`pairs.rs`), the gradient by the weights
//!
//! ```text
//! Σ_{t,a,b} w·∇μ = Σ_t ( Σ_a (Σ_b M)·F[t−1][a] + Σ_{a,b} M·g_t(a, b) + Σ_b (Σ_a M)·B[t][b] ) − (Σ M)·E[f]
//! ```
//!
//! O(TK²q) time. The sum over t is taken as the messages come along, so they take O(Kq) memory where
//! storing all of them, as the paper has it, takes O(TKq).
//! Which attributes those are, and how they are collapsed, is in `active.rs`.

use super::active::{Active, ActiveCounts};
use super::pairs::{Pairs, add, checked_tokens, dot, node_weights, single};
use super::{ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput};
use crate::chain::Order;

/// Derivatives of weight·R, by way of the scores, by the weights of the features of a sentence.
///
/// What comes by way of the variances is in [`Derivatives`], as with any engine; what is by
/// transition weights is in [`ChainDerivatives::scores`].
#[derive(Clone, Debug, Default)]
pub struct FeatureGradient {
    stride: usize,
    labels: usize,
    node_columns: Vec<u32>,
    node: Vec<f64>, // [J][S]
    edge_columns: Vec<u32>,
    edge: Vec<f64>, // [E][K][S]
}

impl FeatureGradient {
    /// The node attributes of the sentence in ascending order, with a row `[S]` each.
    pub fn node(&self) -> impl Iterator<Item = (u32, &[f64])> {
        let rows = self.node.chunks_exact(self.stride.max(1));
        self.node_columns.iter().copied().zip(rows)
    }

    /// The edge attributes of the sentence in ascending order, with a matrix `[K][S]` each.
    pub fn edge(&self) -> impl Iterator<Item = (u32, &[f64])> {
        let matrices = self.edge.chunks_exact((self.labels * self.stride).max(1));
        self.edge_columns.iter().copied().zip(matrices)
    }
}

/// The engine of the paper.
#[derive(Clone, Debug, Default)]
pub struct Message {
    collapse: bool,
    pairs: Pairs,
    node: Active,
    edge: Active,
    messages: Vec<f64>,     // [K][q] F[t] or B[t]
    next: Vec<f64>,         // [K][q] F[t+1] or B[t−1]
    gradient: Vec<f64>,     // [q]
    expectations: Vec<f64>, // [q] E[f]
    conditional: Vec<f64>,  // [K][S]
    row: Vec<f64>,          // [S]
    output: FeatureGradient,
    counts: ActiveCounts,
}

impl Message {
    /// The engine, with collapsing or without.
    #[must_use]
    pub fn new(collapse: bool) -> Self {
        Self {
            collapse,
            ..Self::default()
        }
    }
}

impl Regularizer for Message {
    fn begin(&mut self, shared: ChainContext<'_>) {
        self.pairs.begin(shared);
        self.counts = ActiveCounts::default();
        (self.output.labels, self.output.stride) =
            (shared.transitions.labels(), shared.transitions.stride());
        self.row.clear();
        self.row.resize(shared.transitions.stride(), 0.0);
    }

    fn regularize(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        mut out: Derivatives<'_>,
    ) -> f64 {
        let tokens = checked_tokens(shared, sentence, &out);
        self.prepare(shared, sentence, tokens);
        let value = match shared.transitions.order() {
            Order::Zero => self.independent(sentence, &mut out),
            Order::One if tokens == 0 => 0.0,
            Order::One => {
                let (value, total) = self.forward(shared, sentence, &mut out);
                self.backward(shared, sentence);
                add(&mut self.gradient, &self.expectations, -total);
                value
            }
        };
        self.emit(shared, sentence.weight);
        value
    }

    fn finish(&mut self, shared: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        if shared.transitions.order() == Order::One {
            self.pairs.finish(&mut out);
        }
    }

    fn feature_gradient(&self) -> Option<&FeatureGradient> {
        Some(&self.output)
    }

    fn active_counts(&self) -> Option<ActiveCounts> {
        Some(self.counts)
    }
}

impl Message {
    /// Number of places of node features, which come first in a vector over features.
    fn node_size(&self) -> usize {
        self.node.features * self.row.len()
    }

    /// Takes the features of a sentence and sizes the arrays.
    fn prepare(&mut self, shared: ChainContext<'_>, sentence: SentenceInput<'_>, tokens: usize) {
        let features = sentence.features;
        self.node.set(features.node, 0, tokens, self.collapse);
        let labels = shared.transitions.labels();
        let mut size = self.node_size();
        if shared.transitions.order() == Order::One {
            self.edge.set(features.edge, 1, tokens, self.collapse);
            size += (1 + self.edge.features) * labels * self.row.len();
        }
        for (array, length) in [
            (&mut self.messages, labels * size),
            (&mut self.next, labels * size),
            (&mut self.gradient, size),
            (&mut self.expectations, size),
        ] {
            array.clear();
            array.resize(length, 0.0);
        }
        self.conditional.resize(self.pairs.marginals.len(), 0.0);
        self.counts.tokens += tokens as u64;
        self.counts.attributes += (self.node.columns.len() + self.edge.columns.len()) as u64;
        self.counts.collapsed += (self.node.features + self.edge.features) as u64;
    }

    /// Order 0: by the weight of (j, b), Σ_t g[t][j]·p[b]·(w[b] − E[w]).
    fn independent(&mut self, sentence: SentenceInput<'_>, out: &mut Derivatives<'_>) -> f64 {
        let stride = self.row.len();
        let mut value = 0.0;
        for t in 0..sentence.lattice.tokens() {
            value += single(sentence, t, &mut self.row, out);
            let marginals = &sentence.lattice.node_marginals()[t * stride..][..stride];
            let mean = dot(marginals, &self.row);
            for (x, p) in self.row.iter_mut().zip(marginals) {
                *x = p * (*x - mean);
            }
            add_local(&mut self.gradient, &self.node, t, &self.row);
        }
        value
    }

    /// Runs through F; adds what stands at t and before it to the gradient. Returns weight·R and
    /// E[W] = Σ M.
    fn forward(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> (f64, f64) {
        let (stride, size) = (self.row.len(), self.gradient.len());
        let marginals = sentence.lattice.node_marginals();
        let mut value = single(sentence, 0, &mut self.row, out);
        for (w, p) in self.row.iter_mut().zip(marginals) {
            *w *= p;
        }
        let mut total = self.row.iter().sum();
        add_local(&mut self.gradient, &self.node, 0, &self.row);
        add_local(&mut self.expectations, &self.node, 0, &marginals[..stride]);
        for (b, message) in self.messages.chunks_exact_mut(size).enumerate() {
            add_label(message, &self.node, 0, (stride, b), 1.0);
        }
        for t in 1..sentence.lattice.tokens() {
            self.pairs.load(shared, sentence, t);
            value += self.pairs.direct(sentence.weight, t, out);
            total += self.pairs.weighted.iter().sum::<f64>();
            let rows = self.pairs.weighted.chunks_exact(stride);
            for (message, row) in self.messages.chunks_exact(size).zip(rows) {
                add(&mut self.gradient, message, row.iter().sum());
            }
            self.add_edges(t);
            self.pairs.given_after(&mut self.conditional);
            self.step_forward(t);
        }
        (value, total)
    }

    /// Adds M·g and μ·g of the edges to t to the gradient and the expectations.
    fn add_edges(&mut self, t: usize) {
        let nodes = self.node_size();
        for (out, matrix) in [
            (&mut self.gradient, &self.pairs.weighted),
            (&mut self.expectations, &self.pairs.marginals),
        ] {
            column_sums(matrix, &mut self.row);
            let (node, edge) = out.split_at_mut(nodes);
            add_local(node, &self.node, t, &self.row);
            add(&mut edge[..matrix.len()], matrix, 1.0);
            add_local(&mut edge[matrix.len()..], &self.edge, t, matrix);
        }
    }

    /// From F[t−1] to F[t].
    fn step_forward(&mut self, t: usize) {
        let (stride, size, nodes) = (self.row.len(), self.gradient.len(), self.node_size());
        for (b, next) in self.next.chunks_exact_mut(size).enumerate() {
            next.fill(0.0);
            let before = self.conditional.chunks_exact(stride).map(|row| row[b]);
            for ((a, message), p) in self.messages.chunks_exact(size).enumerate().zip(before) {
                if p != 0.0 {
                    add(next, message, p);
                    let edge = &mut next[nodes..];
                    add_pair(
                        edge,
                        &self.edge,
                        t,
                        (self.conditional.len(), a * stride + b),
                        p,
                    );
                }
            }
            add_label(next, &self.node, t, (stride, b), 1.0);
        }
        std::mem::swap(&mut self.messages, &mut self.next);
    }

    /// Runs through B; adds what stands after t to the gradient.
    fn backward(&mut self, shared: ChainContext<'_>, sentence: SentenceInput<'_>) {
        let (stride, size) = (self.row.len(), self.gradient.len());
        self.messages.fill(0.0);
        for t in (1..sentence.lattice.tokens()).rev() {
            self.pairs.load(shared, sentence, t);
            column_sums(&self.pairs.weighted, &mut self.row);
            for (message, m) in self.messages.chunks_exact(size).zip(&self.row) {
                add(&mut self.gradient, message, *m);
            }
            self.pairs.given_before(&mut self.conditional);
            self.step_backward(t);
        }
        node_weights(sentence, 0, &mut self.row);
        let first = self
            .row
            .iter()
            .zip(&sentence.lattice.node_marginals()[..stride]);
        for (message, (w, p)) in self.messages.chunks_exact(size).zip(first) {
            add(&mut self.gradient, message, p * w);
        }
    }

    /// From B[t] to B[t−1].
    fn step_backward(&mut self, t: usize) {
        let (stride, size, nodes) = (self.row.len(), self.gradient.len(), self.node_size());
        let rows = self.conditional.chunks_exact(stride);
        for ((a, next), row) in self.next.chunks_exact_mut(size).enumerate().zip(rows) {
            next.fill(0.0);
            for ((b, message), &p) in self.messages.chunks_exact(size).enumerate().zip(row) {
                if p != 0.0 {
                    add(next, message, p);
                    add_label(next, &self.node, t, (stride, b), p);
                    let edge = &mut next[nodes..];
                    add_pair(
                        edge,
                        &self.edge,
                        t,
                        (self.conditional.len(), a * stride + b),
                        p,
                    );
                }
            }
        }
        std::mem::swap(&mut self.messages, &mut self.next);
    }

    /// Writes the derivatives by attributes and adds those by transitions.
    fn emit(&mut self, shared: ChainContext<'_>, weight: f64) {
        let (node, edge) = self.gradient.split_at(self.node_size());
        let stride = self.row.len();
        let size = shared.transitions.labels() * stride;
        let output = &mut self.output;
        expand(&self.node, node, (stride, weight), &mut output.node);
        output.node_columns.clone_from(&self.node.columns);
        output.edge_columns.clone_from(&self.edge.columns);
        if shared.transitions.order() == Order::One {
            let (transitions, edge) = edge.split_at(size);
            add(&mut self.pairs.score_sums, transitions, weight);
            expand(&self.edge, edge, (size, weight), &mut output.edge);
        }
    }
}

/// Adds value·`row` to the places of each feature of t, of which every one has as many as `row`.
fn add_local(out: &mut [f64], active: &Active, t: usize, row: &[f64]) {
    for (feature, value) in active.at(t) {
        add(&mut out[feature * row.len()..][..row.len()], row, value);
    }
}

/// Adds p·value to place `at` of each feature of t, of which every one has `size`.
fn add_label(out: &mut [f64], active: &Active, t: usize, (size, at): (usize, usize), p: f64) {
    for (feature, value) in active.at(t) {
        out[feature * size + at] += p * value;
    }
}

/// As [`add_label`], after the transition, which is always there.
fn add_pair(out: &mut [f64], active: &Active, t: usize, (size, at): (usize, usize), p: f64) {
    out[at] += p;
    add_label(&mut out[size..], active, t, (size, at), p);
}

fn column_sums(matrix: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    for row in matrix.chunks_exact(sums.len()) {
        add(sums, row, 1.0);
    }
}

/// Writes to `out` `[J][size]` what each attribute takes of its feature's derivatives.
fn expand(active: &Active, gradient: &[f64], (size, weight): (usize, f64), out: &mut Vec<f64>) {
    out.clear();
    for &(feature, value) in &active.members {
        let row = &gradient[feature * size..][..size];
        out.extend(row.iter().map(|x| weight * value * x));
    }
}
