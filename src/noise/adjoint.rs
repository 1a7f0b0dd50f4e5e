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
use super::pair_kernel::{PairKernel, Part};
use super::quadratic::EdgeMatrices;
use super::quadratic::ScalarMessages;
use super::quadratic::{add_node_value, independent_tokens, shared_value};
use super::regularizer::{
    ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput, checked_tokens,
};
use crate::chain::Order;

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
        self.edges.begin(context);
        match context.transitions.pairs() {
            Some(pairs) => self.pair_kernel.begin(context, pairs),
            None if context.transitions.order() == Order::One => self.kernel.begin(context),
            None => {}
        }
        self.messages.reset(context.transitions);
        self.row.clear();
        self.row.resize(context.transitions.stride(), 0.0);
    }

    fn regularize(
        &mut self,
        context: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        mut out: Derivatives<'_>,
    ) -> f64 {
        let tokens = checked_tokens(context, sentence, &out);
        if context.transitions.order() == Order::Zero {
            return independent_tokens(sentence, &mut self.row, &mut out);
        }
        if tokens == 0 {
            return 0.0;
        }
        if AdjointKernel::supports(sentence, &out) {
            let transitions = context.transitions;
            return match transitions.pairs() {
                None => self.kernel.regularize(transitions, sentence, &mut out),
                Some(pairs) => {
                    let kernel = &mut self.pair_kernel;
                    kernel.regularize(context, pairs, sentence, Part::Whole, &mut out)
                }
            };
        }
        self.regularize_any(context, sentence, &mut out)
    }

    fn finish(&mut self, context: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        if context.transitions.order() == Order::One {
            match context.transitions.pairs() {
                None => self.kernel.finish(context, &mut self.edges),
                Some(pairs) => self
                    .pair_kernel
                    .finish(context, pairs, Part::Whole, &mut out),
            }
            self.edges.finish(context.transitions, &mut out);
        }
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
            messages.backward(edges, weight, t, &mut out.scores());
        }
        messages.finish_backward(lattice, weight, out.node);
        value + shared_value(sentence)
    }
}
