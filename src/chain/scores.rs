//! The scores of one sentence, and the score of one path.

use super::transitions::{Order, Transitions};
use crate::ids::LabelId;
use crate::math::add;

/// The scores of one sentence, with stride S = [`padded`](super::padded)`(K)`.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// `node[t][b]`, of shape `[T][S]`.
    pub node: &'a [f64],
    /// `edge[t][a][b]`, of shape `[T][K][S]`, if there are edge scores. The matrix of t = 0 is
    /// ignored, and at order 0 all of them are.
    pub edge: Option<&'a [f64]>,
}

impl<'a> Scores<'a> {
    /// Checks the shapes and returns the number of tokens T.
    pub(super) fn tokens(&self, transitions: &Transitions) -> usize {
        let (labels, stride) = (transitions.labels(), transitions.stride());
        let tokens = self.node.len() / stride;
        assert_eq!(self.node.len(), tokens * stride, "node scores are [T][S]");
        if let Some(edge) = self.edge {
            let expected = tokens * labels * stride;
            assert_eq!(edge.len(), expected, "edge scores are [T][K][S]");
        }
        tokens
    }

    /// Returns the edge scores; `None` at order 0.
    pub(super) fn edges(&self, transitions: &Transitions) -> Option<&'a [f64]> {
        match transitions.order() {
            Order::Zero => None,
            Order::One => self.edge,
        }
    }

    /// Writes node[t][·] to `row` `[K]`, plus the boundary weights if t is the first or the last
    /// token.
    pub(super) fn copy_node(&self, transitions: &Transitions, t: usize, row: &mut [f64]) {
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

/// Returns the score of `path` `[T]`; its probability is exp(score − A).
///
/// Terms are added in the same order as by [`Viterbi::decode`](super::Viterbi::decode), so that
/// both compute the same bits for the best path.
///
/// # Panics
///
/// If `path` does not have T labels or has a label that is not below K, or if `scores` have the
/// wrong shape.
#[must_use]
pub fn score(transitions: &Transitions, scores: Scores, path: &[LabelId]) -> f64 {
    let (labels, stride) = (transitions.labels(), transitions.stride());
    let tokens = scores.tokens(transitions);
    assert_eq!(path.len(), tokens, "a path has one label per token");
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
        let mut step = transitions.score(a, b);
        if let Some(edge) = edge {
            step += edge[(t * labels + a) * stride + b];
        }
        total = (total + step) + node;
    }
    total
}
