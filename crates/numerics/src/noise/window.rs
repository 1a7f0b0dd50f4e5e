//! The gradient within a window: eqs. 20 and 21.
//!
//! Conditioned on the labels at t, labels far from t have nearly their unconditional distribution.
//! Equation 20 takes them to be equal: of all local features g_i(y_{i−1}, y_i) it keeps those with
//! |i − t| ≤ r,
//!
//! ```text
//! ∇log μ[t][a][b] ≈ E[G | y_{t−1} = a, y_t = b] − E[G],     G = Σ_{i=t−r}^{t+r} g_i(y_{i−1}, y_i)
//! ```
//!
//! (with the bounds of the formula; the sentence before it in the paper excludes the outermost i,
//! which would make r = 0 differ from eq. 21). As the coordinates of g_i are the scores s[i], this
//! amounts to keeping, of
//!
//! ```text
//! ∂R/∂s[i][c][d] = Σ_t Σ_{a,b} w[t][a][b]·Cov(y has a, b at t; y has c, d at i)
//!                = Σ_t Cov(w[t]; y has c, d at i)
//! ```
//!
//! the t with |t − i| ≤ r. Each message of `quadratic.rs` is thus restricted to a window.
//! With x[t][j][b] = E[w[t] | y_j = b],
//!
//! ```text
//! F[i][c] = Σ_{t=i−r+1}^{i} x[t][i][c]           B[i][d] = Σ_{t=i+1}^{i+r} x[t][i][d]
//! ∂R/∂s[i][c][d] ≈ μ[i][c][d]·(F[i−1][c] + w[i][c][d] + B[i][d] − Σ_{t=i−r}^{i+r} E[w[t]])
//! ```
//!
//! where x[t][t][b] = E[w[t] | y_t = b], x[t][t−1][a] = E[w[t] | y_{t−1} = a], and away from t
//! x[t][j][b] = Σ_a p(y_{j−1} = a | y_j = b)·x[t][j−1][a] for j > t, and for j < t − 1 likewise
//! from the right. At most 2r of these are live at a time: O(TK²r) time, O((T + r)K) memory. With
//! r ≥ T − 1 the gradient is exact; with r = 0 there are no messages, and what remains is
//! w[i] − E[w[i]], eq. 21.
//!
//! The value R is always exact, so value and gradient disagree.

use super::quadratic::{
    EdgeMatrices, add_node_covariance, add_node_value, independent_tokens, node_weights,
};
use super::regularizer::{ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput};
use crate::chain::Order;
use crate::math::{add, dot, set_zeros};

/// The approximate engine that keeps covariances within a radius.
#[derive(Clone, Debug, Default)]
pub struct Window {
    radius: usize,
    edges: EdgeMatrices,
    forward: Vec<f64>,   // [T][S] F
    backward: Vec<f64>,  // [T][S] B
    means: Vec<f64>,     // [T] E[w[t]]
    in_flight: Vec<f64>, // [r][S] x[t] for the last r values of t
    row: Vec<f64>,       // [S]
    zeros: Vec<f64>,     // [S]
}

impl Window {
    /// Creates the engine of radius r.
    pub fn new(radius: usize) -> Self {
        Self { radius, ..Self::default() }
    }
}

impl Regularizer for Window {
    fn begin(&mut self, chain: ChainContext<'_>) {
        self.edges.begin(chain);
        for row in [&mut self.row, &mut self.zeros] {
            set_zeros(row, chain.transitions.stride());
        }
    }

    fn regularize(&mut self, sentence: SentenceInput<'_>, out: &mut Derivatives<'_>) -> f64 {
        let tokens = sentence.checked_tokens(out);
        if sentence.chain.transitions.order() == Order::Zero {
            return independent_tokens(sentence, &mut self.row, out);
        }
        let radius = self.radius.min(tokens.saturating_sub(1));
        for rows in [&mut self.forward, &mut self.backward] {
            set_zeros(rows, sentence.variances.node.len());
        }
        self.in_flight.resize(radius * self.row.len(), 0.0);
        self.means.resize(tokens, 0.0);
        if radius > 0 {
            self.compute_forward(sentence, radius);
            self.compute_backward(sentence, radius);
        }
        self.add_derivatives(sentence, radius, out)
    }

    fn finish(&mut self, chain: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        self.edges.finish(chain.transitions, &mut out);
    }
}

impl Window {
    /// Computes F and the means of w.
    fn compute_forward(&mut self, sentence: SentenceInput<'_>, radius: usize) {
        let stride = self.row.len();
        for t in 0..self.means.len() {
            if t > 0 {
                self.edges.set_quadratic(sentence, t);
            }
            for source in (t + 1).saturating_sub(radius)..=t {
                let x = &mut self.in_flight[source % radius * stride..][..stride];
                if source < t {
                    self.edges.expect_given_label(x, 0.0, &mut self.row);
                } else if t > 0 {
                    self.edges.expect_given_label(&self.zeros, 1.0, &mut self.row);
                } else {
                    node_weights(sentence, 0, &mut self.row);
                }
                x.copy_from_slice(&self.row);
                add(&mut self.forward[t * stride..][..stride], x);
            }
            let marginals = &sentence.lattice.node_marginals()[t * stride..][..stride];
            self.means[t] = dot(marginals, &self.row);
        }
    }

    /// Computes B.
    fn compute_backward(&mut self, sentence: SentenceInput<'_>, radius: usize) {
        let (tokens, stride) = (self.means.len(), self.row.len());
        for t in (1..tokens).rev() {
            self.edges.set_quadratic(sentence, t);
            for source in t..(t + radius).min(tokens) {
                let x = &mut self.in_flight[source % radius * stride..][..stride];
                if source > t {
                    self.edges.expect_given_previous(x, 0.0, &mut self.row);
                } else {
                    self.edges.expect_given_previous(&self.zeros, 1.0, &mut self.row);
                }
                x.copy_from_slice(&self.row);
                add(&mut self.backward[(t - 1) * stride..][..stride], x);
            }
        }
    }

    /// Adds all derivatives; returns weight·R.
    fn add_derivatives(
        &mut self,
        sentence: SentenceInput<'_>,
        radius: usize,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let (tokens, stride) = (self.means.len(), self.row.len());
        if tokens == 0 {
            return 0.0;
        }
        let mut value = add_node_value(sentence, 0, &mut self.row, out);
        add(&mut self.row, &self.backward[..stride]);
        add_node_covariance(sentence, 0, &self.row, out.scores.nodes);
        for t in 1..tokens {
            self.edges.set_quadratic(sentence, t);
            value += self.edges.add_edge_value(sentence.weight, t, out);
            let mean = if radius == 0 {
                self.edges.weighted.iter().sum()
            } else {
                let window = t.saturating_sub(radius)..(t + radius + 1).min(tokens);
                self.means[window].iter().sum::<f64>()
            };
            let before = &mut self.forward[(t - 1) * stride..][..stride];
            before.iter_mut().for_each(|x| *x -= mean);
            let after = &self.backward[t * stride..][..stride];
            self.edges.add_edge_covariance(before, after, sentence.weight, t, &mut out.scores);
        }
        value
    }
}
