//! The paper's dynamic program (eqs. 15–18): messages that are vectors over features.
//!
//! The features of a sentence are pairs: a node attribute j with a label, (j, b), of value g[t][j]
//! where y_t = b; an edge attribute e, or the bare transition, with two labels, (e, a, b). Let q be
//! their number. Equations 15 to 18 express ∇log μ of every edge through expectations of the
//! feature vector of the prefix and of the suffix (here F[t] includes g_t; the paper's F_t ends
//! before t):
//!
//! ```text
//! F[t][b] = Σ_a p(y_{t−1} = a | y_t = b)·(F[t−1][a] + g_t(a, b))                         (eq. 17)
//! B[t][a] = Σ_b p(y_{t+1} = b | y_t = a)·(g_{t+1}(a, b) + B[t+1][b])                     (eq. 18)
//! ∇log μ[t][a][b] = F[t−1][a] + g_t(a, b) + B[t][b] − E[f]                               (eq. 15)
//! ```
//!
//! By the product rule, with M = μ·w (`quadratic.rs`), the gradient with respect to the weights is
//!
//! ```text
//! Σ_{t,a,b} w·∇μ = Σ_t ( Σ_a (Σ_b M)·F[t−1][a] + Σ_{a,b} M·g_t(a, b) + Σ_b (Σ_a M)·B[t][b] )
//!                  − (Σ M)·E[f]
//! ```
//!
//! O(TK²q) time. The sum over t is accumulated while the messages are computed, which takes O(Kq)
//! memory; storing all messages, as in the paper, takes O(TKq). The features and their collapsing
//! are in `features.rs`.

use super::features::{ActiveFeatures, FeatureGradient, FeatureRows};
use super::quadratic::{EdgeMatrices, add_node_value, column_sums, node_weights};
use super::regularizer::{ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput};
use crate::chain::Order;
use crate::math::{add, add_scaled, dot, set_zeros};

/// The engine of the paper, for comparison.
#[derive(Clone, Debug, Default)]
pub struct Message {
    collapse: bool,
    edges: EdgeMatrices,
    node: ActiveFeatures,
    edge: ActiveFeatures,
    messages: [Vec<f64>; 2], // [K][q] F[t] or B[t], and the next one: F[t+1] or B[t−1]
    gradient: Vec<f64>,      // [q]
    expectations: Vec<f64>,  // [q] E[f]
    conditional: Vec<f64>,   // [K][S]
    row: Vec<f64>,           // [S]
    output: FeatureGradient,
}

impl Message {
    /// Creates the engine, with or without collapsing.
    pub fn new(collapse: bool) -> Self {
        Self { collapse, ..Self::default() }
    }
}

impl Regularizer for Message {
    fn begin(&mut self, chain: ChainContext<'_>) {
        self.edges.begin(chain);
        set_zeros(&mut self.row, chain.transitions.stride());
    }

    fn regularize(&mut self, sentence: SentenceInput<'_>, out: &mut Derivatives<'_>) -> f64 {
        let tokens = sentence.checked_tokens(out);
        self.prepare(sentence, tokens);
        let value = match sentence.chain.transitions.order() {
            Order::Zero => self.regularize_independent(sentence, out),
            Order::One if tokens == 0 => 0.0,
            Order::One => {
                let (value, total) = self.forward(sentence, out);
                self.backward(sentence);
                add_scaled(&mut self.gradient, -total, &self.expectations);
                value
            }
        };
        self.write_gradient(sentence);
        value
    }

    fn finish(&mut self, chain: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        self.edges.finish(chain.transitions, &mut out);
    }

    fn feature_gradient(&self) -> Option<&FeatureGradient> {
        Some(&self.output)
    }
}

impl Message {
    /// Returns the length of the node part, which comes first in a vector over features.
    fn node_size(&self) -> usize {
        self.node.count * self.row.len()
    }

    /// Sets the features of a sentence and sizes the arrays.
    fn prepare(&mut self, sentence: SentenceInput<'_>, tokens: usize) {
        let transitions = sentence.chain.transitions;
        self.node.set(sentence.features.node, 0, tokens, self.collapse);
        let labels = transitions.labels();
        let mut size = self.node_size();
        if transitions.order() == Order::One {
            self.edge.set(sentence.features.edge, 1, tokens, self.collapse);
            size += (1 + self.edge.count) * labels * self.row.len();
        }
        self.messages.iter_mut().for_each(|messages| set_zeros(messages, labels * size));
        for sums in [&mut self.gradient, &mut self.expectations] {
            set_zeros(sums, size);
        }
        self.conditional.resize(self.edges.marginals.len(), 0.0);
    }

    /// Order 0: the derivative with respect to the weight of the feature (j, b) is Σ_t
    /// g[t][j]·p[b]·(w[b] − E[w]).
    fn regularize_independent(
        &mut self,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let stride = self.row.len();
        let mut value = 0.0;
        for t in 0..sentence.lattice.tokens {
            value += add_node_value(sentence, t, &mut self.row, out);
            let marginals = &sentence.lattice.node_marginals()[t * stride..][..stride];
            let mean = dot(marginals, &self.row);
            for (x, p) in self.row.iter_mut().zip(marginals) {
                *x = p * (*x - mean);
            }
            add_feature_rows(&mut self.gradient, &self.node, t, &self.row);
        }
        value
    }

    /// Computes the messages F; adds the terms with g_t and F to the gradient. Returns weight·R and
    /// E[W] = Σ M.
    fn forward(&mut self, sentence: SentenceInput<'_>, out: &mut Derivatives<'_>) -> (f64, f64) {
        let (stride, size) = (self.row.len(), self.gradient.len());
        let marginals = sentence.lattice.node_marginals();
        let mut value = add_node_value(sentence, 0, &mut self.row, out);
        for (w, p) in self.row.iter_mut().zip(marginals) {
            *w *= p;
        }
        let mut total = self.row.iter().sum();
        add_feature_rows(&mut self.gradient, &self.node, 0, &self.row);
        add_feature_rows(&mut self.expectations, &self.node, 0, &marginals[..stride]);
        for (b, message) in self.messages[0].chunks_exact_mut(size).enumerate() {
            add_label(message, &self.node, 0, stride, b, 1.0);
        }
        for t in 1..sentence.lattice.tokens {
            self.edges.set_quadratic(sentence, t);
            value += self.edges.add_edge_value(sentence.weight, t, out);
            total += self.edges.weighted.iter().sum::<f64>();
            let rows = self.edges.weighted.chunks_exact(stride);
            for (message, row) in self.messages[0].chunks_exact(size).zip(rows) {
                add_scaled(&mut self.gradient, row.iter().sum(), message);
            }
            self.add_edges(t);
            self.edges.conditionals_given_label(&mut self.conditional);
            self.step_forward(t);
        }
        (value, total)
    }

    /// Adds M·g and μ·g of the edges into t to the gradient and the expectations.
    fn add_edges(&mut self, t: usize) {
        let nodes = self.node_size();
        for (out, matrix) in [
            (&mut self.gradient, &self.edges.weighted),
            (&mut self.expectations, &self.edges.marginals),
        ] {
            column_sums(matrix, &mut self.row);
            let (node, edge) = out.split_at_mut(nodes);
            add_feature_rows(node, &self.node, t, &self.row);
            add(&mut edge[..matrix.len()], matrix);
            add_feature_rows(&mut edge[matrix.len()..], &self.edge, t, matrix);
        }
    }

    /// Computes F[t] from F[t−1].
    fn step_forward(&mut self, t: usize) {
        let (stride, size, nodes) = (self.row.len(), self.gradient.len(), self.node_size());
        let [messages, next] = &mut self.messages;
        for (b, next) in next.chunks_exact_mut(size).enumerate() {
            next.fill(0.0);
            let before = self.conditional.chunks_exact(stride).map(|row| row[b]);
            for ((a, message), p) in messages.chunks_exact(size).enumerate().zip(before) {
                if p != 0.0 {
                    add_scaled(next, p, message);
                    let edge = &mut next[nodes..];
                    add_pair(edge, &self.edge, t, self.conditional.len(), a * stride + b, p);
                }
            }
            add_label(next, &self.node, t, stride, b, 1.0);
        }
        self.messages.swap(0, 1);
    }

    /// Computes the messages B; adds the terms with B to the gradient.
    fn backward(&mut self, sentence: SentenceInput<'_>) {
        let (stride, size) = (self.row.len(), self.gradient.len());
        self.messages[0].fill(0.0);
        for t in (1..sentence.lattice.tokens).rev() {
            self.edges.set_quadratic(sentence, t);
            column_sums(&self.edges.weighted, &mut self.row);
            for (message, m) in self.messages[0].chunks_exact(size).zip(&self.row) {
                add_scaled(&mut self.gradient, *m, message);
            }
            self.edges.conditionals_given_previous(&mut self.conditional);
            self.step_backward(t);
        }
        node_weights(sentence, 0, &mut self.row);
        let first = self.row.iter().zip(&sentence.lattice.node_marginals()[..stride]);
        for (message, (w, p)) in self.messages[0].chunks_exact(size).zip(first) {
            add_scaled(&mut self.gradient, p * w, message);
        }
    }

    /// Computes B[t−1] from B[t].
    fn step_backward(&mut self, t: usize) {
        let (stride, size, nodes) = (self.row.len(), self.gradient.len(), self.node_size());
        let rows = self.conditional.chunks_exact(stride);
        let [messages, next] = &mut self.messages;
        for ((a, next), row) in next.chunks_exact_mut(size).enumerate().zip(rows) {
            next.fill(0.0);
            for ((b, message), &p) in messages.chunks_exact(size).enumerate().zip(row) {
                if p != 0.0 {
                    add_scaled(next, p, message);
                    add_label(next, &self.node, t, stride, b, p);
                    let edge = &mut next[nodes..];
                    add_pair(edge, &self.edge, t, self.conditional.len(), a * stride + b, p);
                }
            }
        }
        self.messages.swap(0, 1);
    }

    /// Writes the gradient with respect to attribute weights and accumulates that of the
    /// transitions.
    fn write_gradient(&mut self, sentence: SentenceInput<'_>) {
        let (weight, transitions) = (sentence.weight, sentence.chain.transitions);
        let (node, edge) = self.gradient.split_at(self.node_size());
        let size = transitions.labels() * self.row.len();
        let output = &mut self.output;
        expand(&self.node, node, weight, &mut output.nodes);
        if transitions.order() == Order::One {
            let (transitions, edge) = edge.split_at(size);
            add_scaled(&mut self.edges.score_sums, weight, transitions);
            expand(&self.edge, edge, weight, &mut output.edges);
        }
    }
}

/// Adds value·`row` for each feature of t, where every feature has as many entries as `row`.
fn add_feature_rows(out: &mut [f64], active: &ActiveFeatures, t: usize, row: &[f64]) {
    for (feature, value) in active.at(t) {
        add_scaled(&mut out[feature * row.len()..][..row.len()], value, row);
    }
}

/// Adds p·value at entry `at` of each feature of t, where every feature has `size` entries.
fn add_label(out: &mut [f64], active: &ActiveFeatures, t: usize, size: usize, at: usize, p: f64) {
    for (feature, value) in active.at(t) {
        out[feature * size + at] += p * value;
    }
}

/// Like [`add_label`], preceded by the bare transition, which is always active.
fn add_pair(out: &mut [f64], active: &ActiveFeatures, t: usize, size: usize, at: usize, p: f64) {
    out[at] += p;
    add_label(&mut out[size..], active, t, size, at, p);
}

/// Writes the derivatives of each attribute from those of its feature.
fn expand(active: &ActiveFeatures, gradient: &[f64], weight: f64, out: &mut FeatureRows) {
    let size = gradient.len() / active.count.max(1);
    out.columns.clone_from(&active.columns);
    out.rows.clear();
    for &(feature, value) in &active.members {
        let row = &gradient[feature * size..][..size];
        out.rows.extend(row.iter().map(|x| weight * value * x));
    }
}
