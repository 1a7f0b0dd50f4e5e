//! The exact gradient by an adjoint pass: contraction with w first.
//!
//! The paper propagates the expectation of every feature along the chain and contracts with w at
//! the end (`message.rs`). Contracting first, only W(y) = Σ_t w[t][y_{t−1}][y_t] is propagated,
//! which is a scalar. With the messages F and B of `quadratic.rs`
//!
//! ```text
//! ∂R/∂s[t][a][b] = Cov(W; y has a, b at t) = μ[t][a][b]·(F[t−1][a] + w[t][a][b] + B[t][b] − E[W])
//! ∂R/∂node[t][b] = p(y_t = b)·(F[t][b] + B[t][b] − E[W])
//! ```
//!
//! (only the indirect part, through μ; that through V is in `quadratic.rs`). This is ∇²A·w, a
//! Hessian-vector product, and costs as much as a gradient: O(TK²) time, O(TK) memory.
//!
//! This file works on marginals, for any sentence. The faster `adjoint_kernel` handles nearly all
//! sentences: those without edge scores or edge noise whose messages are in range. Where few label
//! pairs have weights, `pair_kernel.rs` does.

use super::adjoint_kernel::AdjointKernel;
use super::pair_kernel::PairKernel;
use super::quadratic::{EdgeMatrices, add_node_covariance, add_node_value, independent_tokens};
use super::regularizer::{
    ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput, checked_tokens,
};
use crate::chain::{Lattice, Order, ScoreArrays, Transitions};
use crate::math::{add, dot, set_zeros};

/// The exact engine in O(TK²), used for training.
#[derive(Clone, Debug, Default)]
pub struct Adjoint {
    kernel: AdjointKernel,
    pair_kernel: PairKernel,
    edges: EdgeMatrices,
    messages: ScalarMessages,
    row: Vec<f64>, // [S]
}

impl Regularizer for Adjoint {
    fn begin(&mut self, context: ChainContext<'_>) {
        let transitions = context.transitions;
        self.edges.begin(context);
        match (transitions.pairs(), transitions.order()) {
            (Some(pairs), _) => self.pair_kernel.begin(context, pairs),
            (None, Order::One) => self.kernel.begin(context),
            (None, Order::Zero) => {}
        }
        self.messages.reset(transitions);
        set_zeros(&mut self.row, transitions.stride());
    }

    fn regularize(
        &mut self,
        context: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let tokens = checked_tokens(context, sentence, out);
        if context.transitions.order() == Order::Zero {
            return independent_tokens(sentence, &mut self.row, out);
        }
        if tokens == 0 {
            return 0.0;
        }
        if AdjointKernel::supports(sentence, out) {
            return match context.transitions.pairs() {
                Some(pairs) => self.pair_kernel.regularize(context, pairs, sentence, out),
                None => self.kernel.regularize(context.transitions, sentence, out),
            };
        }
        self.regularize_any(context, sentence, out)
    }

    fn finish(&mut self, context: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        match (context.transitions.pairs(), context.transitions.order()) {
            (Some(pairs), _) => self.pair_kernel.finish(context, pairs, &mut out),
            (None, Order::One) => self.kernel.finish(context, &mut self.edges),
            (None, Order::Zero) => {}
        }
        self.edges.finish(context.transitions, &mut out);
    }
}

impl Adjoint {
    /// Regularizes a sentence at order 1, from its marginals.
    fn regularize_any(
        &mut self,
        context: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let (lattice, weight) = (sentence.lattice, sentence.weight);
        self.edges.prepare(context.transitions);
        let (edges, messages) = (&mut self.edges, &mut self.messages);
        let tokens = lattice.tokens();
        let mut value = add_node_value(sentence, 0, messages.first(tokens), out);
        for t in 1..tokens {
            edges.set_quadratic(context, sentence, t);
            value += edges.add_edge_value(weight, t, out);
            messages.forward(edges, t);
        }
        messages.start_backward(lattice);
        for t in (1..tokens).rev() {
            edges.set_quadratic(context, sentence, t);
            messages.backward(edges, weight, t, &mut out.scores);
        }
        messages.finish_backward(lattice, weight, out.scores.nodes);
        value
    }
}

/// The messages F and B of one sentence; a reusable workspace.
#[derive(Clone, Debug, Default)]
struct ScalarMessages {
    forward: Vec<f64>,  // [T][S] F
    backward: Vec<f64>, // [S] B[t]
    next: Vec<f64>,     // [S] B[t−1]
    mean: f64,          // E[W]
}

impl ScalarMessages {
    /// Sizes the rows for `transitions`.
    fn reset(&mut self, transitions: &Transitions) {
        for row in [&mut self.next, &mut self.backward] {
            set_zeros(row, transitions.stride());
        }
    }

    /// Sizes F for a sentence; returns F[0], to be set to w[0].
    fn first(&mut self, tokens: usize) -> &mut [f64] {
        let stride = self.next.len();
        self.forward.resize(tokens * stride, 0.0);
        &mut self.forward[..stride]
    }

    /// Computes F[t] from F[t−1], given the matrices of the edges into t.
    fn forward(&mut self, edges: &mut EdgeMatrices, t: usize) {
        let stride = self.next.len();
        let (done, rest) = self.forward.split_at_mut(t * stride);
        let before = &done[(t - 1) * stride..];
        edges.expect_given_label(before, 1.0, &mut rest[..stride]);
    }

    /// Computes E[W] and sets B[T−1].
    fn start_backward(&mut self, lattice: &Lattice) {
        let last = self.forward.len() - self.next.len();
        self.mean = dot(&lattice.node_marginals()[last..], &self.forward[last..]);
        self.backward.fill(0.0);
    }

    /// Adds weight·Cov(W; ·) of the edges into t to `out`, given their matrices, and computes
    /// B[t−1] from B[t].
    fn backward(
        &mut self,
        edges: &mut EdgeMatrices,
        weight: f64,
        t: usize,
        out: &mut ScoreArrays<'_>,
    ) {
        let stride = self.next.len();
        let before = &mut self.forward[(t - 1) * stride..][..stride];
        edges.expect_given_previous(&self.backward, 1.0, &mut self.next);
        before.iter_mut().for_each(|x| *x -= self.mean);
        edges.add_edge_covariance(before, &self.backward, weight, t, out);
        std::mem::swap(&mut self.backward, &mut self.next);
    }

    /// Adds weight·Cov(W; y_0 = ·) to `node` `[T][S]`.
    fn finish_backward(&mut self, lattice: &Lattice, weight: f64, node: &mut [f64]) {
        let stride = self.next.len();
        add(&mut self.backward, &self.forward[..stride]);
        add_node_covariance(lattice, 0, &self.backward, weight, node);
    }
}
