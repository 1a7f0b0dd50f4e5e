//! The Hessian of the log-partition times a vector.
//!
//! For any numbers w[t][a][b] = node[t][b] + edge[t][a][b], with W(y) = Σ_t w[t][y_{t−1}][y_t],
//!
//! ```text
//! (∇²A·w)[t][a][b] = Cov(W; y has a, b at t) = μ[t][a][b]·(F[t−1][a] + w[t][a][b] + B[t][b] − E[W])
//! ```
//!
//! by the scalar messages F and B of `adjoint.rs`, which has the w of the quadratic regularizer. O(TK²)
//! time, O(TK) memory; O(TK) of both at order 0.

use super::ScoreDerivatives;
use super::pairs::{Pairs, add, dot};
use crate::chain::{Lattice, Order, Transitions};

/// A direction in the space of scores. Paddings must be finite.
#[derive(Clone, Copy, Debug)]
pub struct ScoreDirection<'a> {
    /// By node scores, `[T][S]`.
    pub node: &'a [f64],
    /// By edge scores, `[T][K][S]`, where there are any; the matrix of t = 0 is not looked at, and at
    /// order 0 none is.
    pub edge: Option<&'a [f64]>,
}

/// Products of ∇²A and a vector for sentences under the same transitions, with the room they take.
#[derive(Clone, Debug, Default)]
pub struct HessianProduct {
    pairs: Pairs,
    forward: Vec<f64>,  // [T][S] F
    backward: Vec<f64>, // [S] B[t]
    row: Vec<f64>,      // [S]
}

impl HessianProduct {
    /// Prepares for sentences under `transitions`, and forgets those before.
    pub fn begin(&mut self, transitions: &Transitions) {
        self.pairs.reset(transitions);
        for row in [&mut self.row, &mut self.backward] {
            row.clear();
            row.resize(transitions.stride(), 0.0);
        }
    }

    /// Adds factor·∇²A·w of a sentence to `out`: by node scores `[T][S]`, and by edge scores
    /// `[T][K][S]` where they are wanted. `lattice` is that of the sentence under `transitions`.
    ///
    /// # Panics
    ///
    /// If an array has the wrong shape.
    pub fn add(
        &mut self,
        transitions: &Transitions,
        lattice: &Lattice,
        direction: ScoreDirection<'_>,
        factor: f64,
        mut out: ScoreDerivatives<'_>,
    ) {
        let (tokens, stride) = (lattice.tokens(), transitions.stride());
        for array in [direction.node, out.node] {
            assert_eq!(array.len(), tokens * stride, "node arrays are [T][S]");
        }
        if transitions.order() == Order::Zero {
            for t in 0..tokens {
                let w = &direction.node[t * stride..][..stride];
                scatter_node(lattice, t, (w, factor), out.node);
            }
        } else if tokens > 0 {
            self.forward((transitions, lattice), direction);
            self.backward((transitions, lattice), direction, factor, &mut out);
        }
    }

    /// Adds the products by transition scores, over all sentences since [`HessianProduct::begin`], to
    /// `out` `[K][S]`. Nothing at order 0.
    pub fn finish(&self, out: &mut [f64]) {
        add(out, &self.pairs.score_sums, 1.0);
    }

    /// Fills F.
    fn forward(&mut self, chain: (&Transitions, &Lattice), direction: ScoreDirection<'_>) {
        let stride = self.row.len();
        self.forward.resize(direction.node.len(), 0.0);
        self.forward[..stride].copy_from_slice(&direction.node[..stride]);
        for t in 1..chain.1.tokens() {
            self.pairs.weigh(chain, direction, t);
            let (done, rest) = self.forward.split_at_mut(t * stride);
            let before = &done[(t - 1) * stride..];
            self.pairs.expect_before(before, 1.0, &mut rest[..stride]);
        }
    }

    /// Runs through B and adds the products.
    fn backward(
        &mut self,
        chain: (&Transitions, &Lattice),
        direction: ScoreDirection<'_>,
        factor: f64,
        out: &mut ScoreDerivatives<'_>,
    ) {
        let (tokens, stride) = (chain.1.tokens(), self.row.len());
        let last = (tokens - 1) * stride;
        let mean = dot(&chain.1.node_marginals()[last..], &self.forward[last..]);
        self.backward.fill(0.0);
        for t in (1..tokens).rev() {
            let before = &mut self.forward[(t - 1) * stride..][..stride];
            self.pairs.weigh(chain, direction, t);
            self.pairs.expect_after(&self.backward, 1.0, &mut self.row);
            before.iter_mut().for_each(|x| *x -= mean);
            self.pairs.scatter(before, &self.backward, (factor, t), out);
            std::mem::swap(&mut self.backward, &mut self.row);
        }
        add(&mut self.backward, &self.forward[..stride], 1.0);
        scatter_node(chain.1, 0, (&self.backward, factor), out.node);
    }
}

/// Adds factor·p\[b\]·(x\[b\] − E\[x\]) to the row of t.
fn scatter_node(lattice: &Lattice, t: usize, (x, factor): (&[f64], f64), node: &mut [f64]) {
    let row = t * x.len()..(t + 1) * x.len();
    let marginals = &lattice.node_marginals()[row.clone()];
    let mean = dot(marginals, x);
    for ((out, p), x) in node[row].iter_mut().zip(marginals).zip(x) {
        *out += factor * (p * (x - mean));
    }
}
