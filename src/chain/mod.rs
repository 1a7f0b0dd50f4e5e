//! The linear chain: exact inference over label sequences, numbers in, numbers out.
//!
//! A sentence has T tokens and K labels. A path y = y₀ … y_{T−1} has the score
//!
//! ```text
//! score(y) = start[y₀] + Σ_t node[t][y_t] + Σ_{t≥1} (trans[y_{t−1}][y_t] + edge[t][y_{t−1}][y_t]) + end[y_{T−1}]
//! ```
//!
//! and the probability exp(score(y) − A), where A = log Σ_y exp score(y) is the *log-partition*.
//! `edge`, the scores of observation-conditioned edges, is optional. At order 0 there are no
//! transitions: every token is on its own, and `start` and `end` merely add to the first and the
//! last node.
//!
//! | question | answer | cost |
//! |---|---|---|
//! | A, node marginals p(y_t = b), edge marginals p(y_{t−1} = a, y_t = b) | [`Lattice`] | O(TK²) |
//! | Σ_t of the edge marginals: the gradient of A in `trans` | [`EdgeSums`] | one multiply-add per (t, a, b) |
//! | best path, among the legal ones where a [`Constraint`] says so | [`Viterbi::decode`] | O(TK²) |
//! | the n best paths | [`Viterbi::nbest`] | O(TK² + nTK log n) |
//! | score of a given path | [`score`] | O(T) |
//!
//! At order 0 every K² is a K. What all sentences of an evaluation share is prepared once, in
//! [`Transitions`]; the numbers of one sentence are lent as [`Scores`]; what inference needs room
//! for lies in a [`Lattice`] or [`Viterbi`] that its caller keeps and reuses, so that after the
//! longest sentence nothing is allocated any more.
//!
//! # Layout
//!
//! Arrays are flat and row-major. A row over labels is as long as the *stride* S = [`padded`]`(K)`,
//! a multiple of [`LANES`], so that inner loops run over whole vectors. Padding in what is lent to
//! this module is never looked at, whatever it holds; padding in what this module hands out is
//! exactly 0 (in the logarithms of [`Mode::Log`], −∞).
//!
//! # Scores that are not finite
//!
//! Inference never panics on a value. Where a score, or a sum of the scores of one node or edge,
//! is infinite or NaN, the log-partition and all marginals are NaN; decoding returns some path, or
//! none. (What is impossible is said with a [`Constraint`], not with −∞.)
//!
//! Arrays of the wrong shape, on the other hand, are a fault of the caller and do panic.

mod constraint;
mod expectations;
mod forward_backward;
mod label_weights;
mod lattice;
mod logspace;
mod nbest;
#[cfg(test)]
pub(crate) mod oracle;
pub(crate) mod products;
#[cfg(test)]
mod tests;
mod transitions;
mod viterbi;

pub use constraint::Constraint;
pub use expectations::EdgeSums;
pub use label_weights::LabelWeights;
pub use lattice::{Lattice, Mode};
pub use nbest::ScoredPath;
pub use transitions::{Order, Transitions};
pub use viterbi::Viterbi;

use crate::ids::LabelId;

/// Numbers that inner loops take at a time: a row over labels is a multiple of this long.
pub const LANES: usize = 8;

/// The stride S of K labels: K, rounded up to whole [`LANES`].
#[must_use]
pub const fn padded(labels: usize) -> usize {
    labels.next_multiple_of(LANES)
}

/// The scores of one sentence, with stride S = [`padded`]`(K)`.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// `node[t][b]`, of shape `[T][S]`.
    pub node: &'a [f64],
    /// `edge[t][a][b]`, of shape `[T][K][S]`, where there are edge scores; the matrix of t = 0 is
    /// not looked at, and at order 0 none is.
    pub edge: Option<&'a [f64]>,
}

impl<'a> Scores<'a> {
    /// Number of tokens T, after checking the shapes.
    fn tokens(&self, transitions: &Transitions) -> usize {
        let (labels, stride) = (transitions.labels(), transitions.stride());
        let tokens = self.node.len() / stride;
        assert_eq!(self.node.len(), tokens * stride, "node scores are [T][S]");
        if let Some(edge) = self.edge {
            let expected = tokens * labels * stride;
            assert_eq!(edge.len(), expected, "edge scores are [T][K][S]");
        }
        tokens
    }

    /// The edge scores, unless the order says that there are no edges.
    fn edges(&self, transitions: &Transitions) -> Option<&'a [f64]> {
        match transitions.order() {
            Order::Zero => None,
            Order::One => self.edge,
        }
    }

    /// Writes node[t][·], with the boundary weights where t is first or last, to `row` `[K]`.
    fn copy_node(&self, transitions: &Transitions, t: usize, row: &mut [f64]) {
        let stride = transitions.stride();
        row.copy_from_slice(&self.node[t * stride..][..row.len()]);
        if t == 0 {
            add(row, transitions.start());
        }
        if (t + 1) * stride == self.node.len() {
            add(row, transitions.end());
        }
    }
}

fn add(row: &mut [f64], terms: &[f64]) {
    for (x, term) in row.iter_mut().zip(terms) {
        *x += term;
    }
}

/// The score of `path` `[T]`; its probability is exp(score − log-partition).
///
/// The terms are added in the order in which [`Viterbi::decode`] adds them, so that the score of
/// the best path is the same number here and there.
///
/// # Panics
///
/// If `path` has not T labels, or one that is not below K, or if `scores` have the wrong shape.
#[must_use]
pub fn score(transitions: &Transitions, scores: Scores, path: &[LabelId]) -> f64 {
    let (labels, stride) = (transitions.labels(), transitions.stride());
    let tokens = scores.tokens(transitions);
    assert_eq!(path.len(), tokens, "a path has a label for every token");
    let edge = scores.edges(transitions);
    let mut total = 0.0;
    for (t, label) in path.iter().enumerate() {
        let b = label.index();
        assert!(b < labels, "label {b} of a path over {labels} labels");
        let mut node = scores.node[t * stride + b];
        if t == 0 {
            node += transitions.start()[b];
        }
        if t + 1 == tokens {
            node += transitions.end()[b];
        }
        if t == 0 {
            total = node;
            continue;
        }
        let a = path[t - 1].index();
        let mut step = transitions.scores()[a * stride + b];
        if let Some(edge) = edge {
            step += edge[(t * labels + a) * stride + b];
        }
        total = (total + step) + node;
    }
    total
}
