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
//!
//! # The direct part alone
//!
//! With μ held fixed, R = ½ Σ μ(1 − μ)·V is linear in V, and V is a weighted sum of squares of the
//! weights θ. So R is a weighted L2 penalty Σ Λ_i·θ_i², and ∂R/∂V is all that Λ depends on:
//!
//! ```text
//! Λ_jb = ½ρ Σ_t g²·Σ_a μ[t][a][b]·(1 − μ[t][a][b])
//! ```
//!
//! (`objective/penalty.rs`). There are no derivatives with respect to scores.
//! O(TK²), or O(TK + TP) where only P pairs have weights.

use super::adjoint_kernel::AdjointKernel;
use super::pair_kernel::{PairKernel, Part};
use super::quadratic::{
    EdgeMatrices, ScalarMessages, add_node_value, independent_tokens, shared_value,
};
use super::regularizer::{
    ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput, checked_tokens,
};
use crate::chain::Order;
use crate::math::set_zeros;

/// The exact engine in O(TK²), used for training.
#[derive(Clone, Debug, Default)]
pub struct Adjoint {
    part: Part,
    kernel: AdjointKernel,
    pair_kernel: PairKernel,
    edges: EdgeMatrices,
    messages: ScalarMessages,
    row: Vec<f64>, // [S]
}

impl Adjoint {
    /// Creates the engine that leaves out the indirect part, for noise that is reweighted.
    pub fn direct() -> Self {
        Self { part: Part::Direct, ..Self::default() }
    }
}

impl Regularizer for Adjoint {
    fn begin(&mut self, context: ChainContext<'_>) {
        let transitions = context.transitions;
        self.edges.begin(context);
        match transitions.pairs() {
            Some(pairs) => self.pair_kernel.begin(context, pairs),
            None if self.has_kernel(context) => self.kernel.begin(context),
            None => {}
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
        let row = &mut self.row;
        if context.transitions.order() == Order::Zero {
            return match self.part {
                Part::Whole => independent_tokens(sentence, row, out),
                Part::Direct => {
                    let values = (0..tokens).map(|t| add_node_value(sentence, t, row, out));
                    values.sum()
                }
            };
        }
        if tokens == 0 {
            return 0.0;
        }
        if AdjointKernel::supports(sentence, out) {
            if let Some(pairs) = context.transitions.pairs() {
                let (kernel, part) = (&mut self.pair_kernel, self.part);
                return kernel.regularize(context, pairs, sentence, part, out);
            }
            if self.has_kernel(context) {
                return self.kernel.regularize(context.transitions, sentence, out);
            }
        }
        self.regularize_any(context, sentence, out)
    }

    fn finish(&mut self, context: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        match context.transitions.pairs() {
            Some(pairs) => self.pair_kernel.finish(context, pairs, self.part, &mut out),
            None if self.has_kernel(context) => self.kernel.finish(context, &mut self.edges),
            None => {}
        }
        self.edges.finish(context.transitions, &mut out);
    }
}

impl Adjoint {
    /// Whether `kernel` has sentences of chains in which all pairs have weights.
    fn has_kernel(&self, context: ChainContext<'_>) -> bool {
        self.part == Part::Whole && context.transitions.order() == Order::One
    }

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
        let (tokens, is_whole) = (lattice.tokens(), self.part == Part::Whole);
        let mut value = add_node_value(sentence, 0, messages.first(tokens), out);
        for t in 1..tokens {
            edges.set_quadratic(context, sentence, t);
            value += edges.add_edge_value(weight, t, out);
            if is_whole {
                messages.forward(edges, t);
            }
        }
        if !is_whole {
            return value;
        }
        messages.start_backward(lattice);
        for t in (1..tokens).rev() {
            edges.set_quadratic(context, sentence, t);
            messages.backward(edges, weight, t, &mut out.scores);
        }
        messages.finish_backward(lattice, weight, out.scores.nodes);
        value + shared_value(sentence)
    }
}
