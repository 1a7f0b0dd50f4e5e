//! The direct part of the gradient alone: R as a function of the variances, with μ held fixed.
//!
//! With μ fixed, R = ½ Σ μ(1 − μ)·V is linear in V, and V is a weighted sum of squares of the
//! weights θ. So R is a weighted L2 penalty Σ Λ_i·θ_i², and ∂R/∂V is all that Λ depends on:
//!
//! ```text
//! Λ_jb = ½ρ Σ_t g²·Σ_a μ[t][a][b]·(1 − μ[t][a][b])
//! ```
//!
//! (`objective/penalty.rs`). There are no derivatives with respect to scores.
//! O(TK²), or O(TK + TP) where only P pairs have weights.

use std::ops::Range;

use super::adjoint_kernel::AdjointKernel;
use super::pair_kernel::{PairKernel, Part};
use super::quadratic::EdgeMatrices;
use super::quadratic::add_node_value;
use super::regularizer::{
    ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput, checked_tokens,
};
use crate::chain::Order;

/// The engine that leaves out the indirect part, for noise that is reweighted.
#[derive(Clone, Debug, Default)]
pub struct Direct {
    edges: EdgeMatrices,
    pair_kernel: PairKernel,
    row: Vec<f64>, // [S]
}

impl Regularizer for Direct {
    fn begin(&mut self, context: ChainContext<'_>) {
        self.edges.begin(context);
        if let Some(pairs) = context.transitions.pairs() {
            self.pair_kernel.begin(context, pairs);
        }
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
            return add_node_values(sentence, 0..tokens, &mut self.row, &mut out);
        }
        if let Some(pairs) = context.transitions.pairs()
            && AdjointKernel::supports(sentence, &out)
        {
            let kernel = &mut self.pair_kernel;
            return kernel.regularize(context, pairs, sentence, Part::Direct, &mut out);
        }
        self.edges.prepare(context.transitions);
        let mut value = add_node_values(sentence, 0..tokens.min(1), &mut self.row, &mut out);
        for t in 1..tokens {
            self.edges.set_quadratic(context, sentence, t);
            value += self.edges.add_edge_value(sentence.weight, t, &mut out);
        }
        value
    }

    fn finish(&mut self, context: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        if context.transitions.order() == Order::One {
            if let Some(pairs) = context.transitions.pairs() {
                self.pair_kernel
                    .finish(context, pairs, Part::Direct, &mut out);
            }
            self.edges.finish(context.transitions, &mut out);
        }
    }
}

/// Returns the contributions to weight·R of tokens without incoming edges, and adds those to ∂R/∂V.
fn add_node_values(
    sentence: SentenceInput<'_>,
    tokens: Range<usize>,
    row: &mut [f64],
    out: &mut Derivatives<'_>,
) -> f64 {
    tokens.map(|t| add_node_value(sentence, t, row, out)).sum()
}
