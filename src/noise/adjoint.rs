//! The exact gradient by contraction first.
//!
//! The paper carries the expectation of every feature along the chain and contracts with w in the
//! end. Contracting first, only W(y) = Σ_t w[t][y_{t−1}][y_t] is carried along, which is a number. With
//!
//! ```text
//! F[t][b] = E[Σ_{i≤t} w[i] | y_t = b] = Σ_a p(y_{t−1} = a | y_t = b)·(F[t−1][a] + w[t][a][b])     F[0] = w[0]
//! B[t][a] = E[Σ_{i>t} w[i] | y_t = a] = Σ_b p(y_{t+1} = b | y_t = a)·(w[t+1][a][b] + B[t+1][b])   B[T−1] = 0
//! ```
//!
//! the Markov property gives E[W | y_{t−1} = a, y_t = b] = F[t−1][a] + w[t][a][b] + B[t][b], and thus
//!
//! ```text
//! ∂R/∂s[t][a][b] = Cov(W; y has a, b at t) = μ[t][a][b]·(F[t−1][a] + w[t][a][b] + B[t][b] − E[W])
//! ∂R/∂node[t][b] = p(y_t = b)·(F[t][b] + B[t][b] − E[W])          E[W] = Σ_b p(y_t = b)·(F[t][b] + B[t][b])
//! ```
//!
//! This is ∇²A·w, a Hessian of the log-partition times a vector, and costs what a gradient costs:
//! O(TK²) time, O(TK) memory.
//!
//! Here it is spelled out with marginals, for any sentence. Sentences without edge scores or edge
//! noise whose numbers allow it, which are nearly all, go through `factored.rs`, which is faster.

use super::factored::Factored;
use super::pairs::{Pairs, checked_tokens, dot, independent, scatter_node, single};
use super::{ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput};
use crate::chain::Order;

/// The exact engine, and the one to train with.
#[derive(Clone, Debug, Default)]
pub struct Adjoint {
    factored: Factored,
    pairs: Pairs,
    forward: Vec<f64>,  // [T][S] F
    backward: Vec<f64>, // [S] B[t]
    row: Vec<f64>,      // [S]
}

impl Regularizer for Adjoint {
    fn begin(&mut self, shared: ChainContext<'_>) {
        self.pairs.begin(shared);
        if shared.transitions.order() == Order::One {
            self.factored.begin(shared);
        }
        for row in [&mut self.row, &mut self.backward] {
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
        if tokens == 0 {
            return 0.0;
        }
        if Factored::suits(sentence, &out) {
            let transitions = shared.transitions;
            return self.factored.regularize(transitions, sentence, &mut out);
        }
        let value = self.forward(shared, sentence, &mut out);
        self.backward(shared, sentence, &mut out);
        value
    }

    fn finish(&mut self, shared: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        if shared.transitions.order() == Order::One {
            self.factored.add_to(shared, &mut self.pairs);
            self.pairs.finish(&mut out);
        }
    }
}

impl Adjoint {
    /// Fills F and adds ∂R/∂V; returns weight·R.
    fn forward(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let stride = shared.transitions.stride();
        self.forward.resize(sentence.node_variance.len(), 0.0);
        let mut value = single(sentence, 0, &mut self.forward[..stride], out);
        for t in 1..sentence.lattice.tokens() {
            self.pairs.load(shared, sentence, t);
            value += self.pairs.direct(sentence.weight, t, out);
            let (done, rest) = self.forward.split_at_mut(t * stride);
            self.pairs
                .expect_before(&done[(t - 1) * stride..], 1.0, &mut rest[..stride]);
        }
        value
    }

    /// Runs through B and adds ∂R/∂s.
    fn backward(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) {
        let (tokens, stride) = (sentence.lattice.tokens(), shared.transitions.stride());
        let last = (tokens - 1) * stride;
        let marginals = sentence.lattice.node_marginals();
        let mean = dot(&marginals[last..], &self.forward[last..]);
        self.backward.fill(0.0);
        for t in (1..tokens).rev() {
            let before = &mut self.forward[(t - 1) * stride..][..stride];
            self.pairs.load(shared, sentence, t);
            self.pairs.expect_after(&self.backward, 1.0, &mut self.row);
            before.iter_mut().for_each(|x| *x -= mean);
            let at = (sentence.weight, t);
            self.pairs
                .scatter(before, &self.backward, at, &mut out.scores());
            std::mem::swap(&mut self.backward, &mut self.row);
        }
        for (x, forward) in self.backward.iter_mut().zip(&self.forward) {
            *x += forward;
        }
        scatter_node(sentence, 0, &self.backward, out);
    }
}
