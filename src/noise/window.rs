//! The gradient within a radius: eqs. 20 and 21.
//!
//! Conditioned on the labels at t, what stands far from t is nearly as probable as it is anyway.
//! Equation 20 takes it to be just as probable: of all local features g_i(y_{i−1}, y_i) it keeps
//! those with |i − t| ≤ r,
//!
//! ```text
//! ∇log μ[t][a][b] ≈ E[G | y_{t−1} = a, y_t = b] − E[G],     G = Σ_{i=t−r}^{t+r} g_i(y_{i−1}, y_i)
//! ```
//!
//! (the formula's bounds; the sentence before it in the paper leaves the outermost i away, which
//! would make r = 0 and eq. 21 differ). As g_i has the scores s[i] as coordinates, this says: of
//!
//! ```text
//! ∂R/∂s[i][c][d] = Σ_t Σ_{a,b} w[t][a][b]·Cov(y has a, b at t; y has c, d at i) = Σ_t Cov(w[t]; y has c, d at i)
//! ```
//!
//! keep the t with |t − i| ≤ r. That leaves the messages of `adjoint.rs` with a window each: with
//! x[t][j][b] = E[w[t] | y_j = b],
//!
//! ```text
//! F[i][c] = Σ_{t=i−r+1}^{i} x[t][i][c]           B[i][d] = Σ_{t=i+1}^{i+r} x[t][i][d]
//! ∂R/∂s[i][c][d] ≈ μ[i][c][d]·(F[i−1][c] + w[i][c][d] + B[i][d] − Σ_{t=i−r}^{i+r} E[w[t]])
//! ```
//!
//! where x[t][t][b] = E[w[t] | y_t = b], x[t][t−1][a] = E[w[t] | y_{t−1} = a], and away from t
//! x[t][j][b] = Σ_a p(y_{j−1} = a | y_j = b)·x[t][j−1][a] for j > t, for j < t − 1 likewise from the
//! right. Up to 2r of these are under way at a time: O(TK²r) time, O((T + r)K) memory. With r ≥ T − 1 it
//! is exact; with r = 0 there are no messages, and what is left is w[i] − E[w[i]], eq. 21.
//!
//! The value is exact all the same, so value and gradient disagree.

use super::pairs::{
    Pairs, add, checked_tokens, dot, independent, node_weights, scatter_node, single,
};
use super::{ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput};
use crate::chain::Order;

/// The engine that looks no further than a radius.
#[derive(Clone, Debug, Default)]
pub struct Window {
    radius: usize,
    pairs: Pairs,
    forward: Vec<f64>,   // [T][S] F
    backward: Vec<f64>,  // [T][S] B
    means: Vec<f64>,     // [T] E[w[t]]
    under_way: Vec<f64>, // [r][S] x[t] for the last r values of t
    row: Vec<f64>,       // [S]
    zeros: Vec<f64>,     // [S]
}

impl Window {
    /// The engine of radius r.
    #[must_use]
    pub fn new(radius: usize) -> Self {
        Self {
            radius,
            ..Self::default()
        }
    }
}

impl Regularizer for Window {
    fn begin(&mut self, shared: ChainContext<'_>) {
        self.pairs.begin(shared);
        for row in [&mut self.row, &mut self.zeros] {
            row.clear();
            row.resize(shared.transitions.stride(), 0.0);
        }
    }

    fn regularize(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        mut out: Derivatives<'_>,
    ) -> f64 {
        let tokens = checked_tokens(shared, sentence, &out);
        if shared.transitions.order() == Order::Zero {
            return independent(sentence, &mut self.row, &mut out);
        }
        let radius = self.radius.min(tokens.saturating_sub(1));
        for rows in [&mut self.forward, &mut self.backward] {
            rows.clear();
            rows.resize(sentence.node_variance.len(), 0.0);
        }
        self.under_way.resize(radius * self.row.len(), 0.0);
        self.means.resize(tokens, 0.0);
        if radius > 0 {
            self.run_forward(shared, sentence, radius);
            self.run_backward(shared, sentence, radius);
        }
        self.scatter(shared, sentence, radius, &mut out)
    }

    fn finish(&mut self, shared: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        if shared.transitions.order() == Order::One {
            self.pairs.finish(&mut out);
        }
    }
}

impl Window {
    /// Fills F and the means of w.
    fn run_forward(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        radius: usize,
    ) {
        let stride = self.row.len();
        for t in 0..self.means.len() {
            if t > 0 {
                self.pairs.load(shared, sentence, t);
            }
            for source in (t + 1).saturating_sub(radius)..=t {
                let x = &mut self.under_way[source % radius * stride..][..stride];
                if source < t {
                    self.pairs.expect_before(x, 0.0, &mut self.row);
                } else if t > 0 {
                    self.pairs.expect_before(&self.zeros, 1.0, &mut self.row);
                } else {
                    node_weights(sentence, 0, &mut self.row);
                }
                x.copy_from_slice(&self.row);
                add(&mut self.forward[t * stride..][..stride], x, 1.0);
            }
            let marginals = &sentence.lattice.node_marginals()[t * stride..][..stride];
            self.means[t] = dot(marginals, &self.row);
        }
    }

    /// Fills B.
    fn run_backward(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        radius: usize,
    ) {
        let (tokens, stride) = (self.means.len(), self.row.len());
        for t in (1..tokens).rev() {
            self.pairs.load(shared, sentence, t);
            for source in t..(t + radius).min(tokens) {
                let x = &mut self.under_way[source % radius * stride..][..stride];
                if source > t {
                    self.pairs.expect_after(x, 0.0, &mut self.row);
                } else {
                    self.pairs.expect_after(&self.zeros, 1.0, &mut self.row);
                }
                x.copy_from_slice(&self.row);
                add(&mut self.backward[(t - 1) * stride..][..stride], x, 1.0);
            }
        }
    }

    /// Adds all derivatives; returns weight·R.
    fn scatter(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        radius: usize,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let (tokens, stride) = (self.means.len(), self.row.len());
        if tokens == 0 {
            return 0.0;
        }
        let mut value = single(sentence, 0, &mut self.row, out);
        add(&mut self.row, &self.backward[..stride], 1.0);
        scatter_node(sentence, 0, &self.row, out);
        for t in 1..tokens {
            self.pairs.load(shared, sentence, t);
            value += self.pairs.direct(sentence.weight, t, out);
            let mean = if radius == 0 {
                self.pairs.weighted.iter().sum()
            } else {
                let window = t.saturating_sub(radius)..(t + radius + 1).min(tokens);
                self.means[window].iter().sum::<f64>()
            };
            let before = &mut self.forward[(t - 1) * stride..][..stride];
            before.iter_mut().for_each(|x| *x -= mean);
            let after = &self.backward[t * stride..][..stride];
            let at = (sentence.weight, t);
            self.pairs.scatter(before, after, at, &mut out.scores());
        }
        value
    }
}
