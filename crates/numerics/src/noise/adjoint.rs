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
use super::regularizer::{ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput};
use crate::chain::Order;
use crate::math::{add, dot, set_zeros};

/// The exact engine in O(TK²), used for training.
#[derive(Clone, Debug, Default)]
pub struct Adjoint {
    kernel: AdjointKernel,
    pair_kernel: PairKernel,
    edges: EdgeMatrices,
    forward: Vec<f64>,  // [T][S] F
    backward: Vec<f64>, // [S] B[t]
    row: Vec<f64>,      // [S]
}

impl Regularizer for Adjoint {
    fn begin(&mut self, chain: ChainContext<'_>) {
        let transitions = chain.transitions;
        self.edges.begin(chain);
        match (transitions.pairs(), transitions.order()) {
            (Some(pairs), _) => self.pair_kernel.begin(chain, pairs),
            (None, Order::One) => self.kernel.begin(chain),
            (None, Order::Zero) => {}
        }
        for row in [&mut self.backward, &mut self.row] {
            set_zeros(row, transitions.stride());
        }
    }

    fn regularize(&mut self, sentence: SentenceInput<'_>, out: &mut Derivatives<'_>) -> f64 {
        let tokens = sentence.checked_tokens(out);
        if sentence.chain.transitions.order() == Order::Zero {
            return independent_tokens(sentence, &mut self.row, out);
        }
        if tokens == 0 {
            return 0.0;
        }
        if AdjointKernel::supports(sentence, out) {
            return match sentence.chain.transitions.pairs() {
                Some(pairs) => self.pair_kernel.regularize(pairs, sentence, out),
                None => self.kernel.regularize(sentence, out),
            };
        }
        self.regularize_any(sentence, out)
    }

    fn finish(&mut self, chain: ChainContext<'_>, mut out: ChainDerivatives<'_>) {
        match (chain.transitions.pairs(), chain.transitions.order()) {
            (Some(pairs), _) => self.pair_kernel.finish(chain, pairs, &mut out),
            (None, Order::One) => self.kernel.finish(chain, &mut self.edges),
            (None, Order::Zero) => {}
        }
        self.edges.finish(chain.transitions, &mut out);
    }
}

impl Adjoint {
    /// Regularizes a sentence at order 1, from its marginals.
    fn regularize_any(&mut self, sentence: SentenceInput<'_>, out: &mut Derivatives<'_>) -> f64 {
        let (lattice, weight) = (sentence.lattice, sentence.weight);
        let (tokens, stride) = (lattice.tokens, self.row.len());
        let Self { edges, forward, backward, row, .. } = self;
        edges.prepare(sentence.chain.transitions);
        forward.resize(tokens * stride, 0.0);
        let mut value = add_node_value(sentence, 0, &mut forward[..stride], out);
        for t in 1..tokens {
            edges.set_quadratic(sentence, t);
            value += edges.add_edge_value(weight, t, out);
            let (done, rest) = forward.split_at_mut(t * stride);
            edges.expect_given_label(&done[(t - 1) * stride..], 1.0, &mut rest[..stride]);
        }
        let last = (tokens - 1) * stride;
        let mean = dot(&lattice.node_marginals()[last..], &forward[last..]); // E[W]
        backward.fill(0.0);
        for t in (1..tokens).rev() {
            edges.set_quadratic(sentence, t);
            edges.expect_given_previous(backward, 1.0, row);
            let before = &mut forward[(t - 1) * stride..][..stride];
            before.iter_mut().for_each(|x| *x -= mean);
            edges.add_edge_covariance(before, backward, weight, t, &mut out.scores);
            std::mem::swap(backward, row);
        }
        add(backward, &forward[..stride]);
        add_node_covariance(sentence, 0, backward, out.scores.nodes);
        value
    }
}
