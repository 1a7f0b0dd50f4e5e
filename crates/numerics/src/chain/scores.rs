//! The input of inference for one sentence: its scores, hard constraints on decoding, and the
//! labels that each token may have.

use super::products::padded;
use super::transitions::{Order, Transitions};
use crate::ids::LabelId;
use crate::math::{add, largest_magnitude};

/// The scores of one sentence, with stride S = [`padded`](super::padded)`(K)`.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// `node[t][b]`, of shape `[T][S]`.
    pub node: &'a [f64],
    /// `edge[t][a][b]`, of shape `[T][K][S]`, if there are edge scores. The matrix of t = 0 is
    /// ignored, and at order 0 all of them are.
    pub edge: Option<&'a [f64]>,
}

/// Numbers that are written for the scores of one sentence, such as derivatives, or for those of
/// several.
#[derive(Debug)]
pub struct ScoreArrays<'a> {
    /// Node scores, `[T][S]`.
    pub nodes: &'a mut [f64],
    /// Edge scores, `[T][K][S]`, or empty if there are none or they are not requested.
    pub edges: &'a mut [f64],
}

impl<'a> ScoreArrays<'a> {
    /// Sets all numbers to this one.
    pub fn fill(&mut self, number: f64) {
        self.nodes.fill(number);
        self.edges.fill(number);
    }

    /// Splits off the first numbers of nodes and of edges, or none of an array that is empty.
    #[must_use]
    pub fn take(&mut self, nodes: usize, edges: usize) -> Self {
        let take = |array: &mut &'a mut [f64], length: usize| {
            array.split_off_mut(..length.min(array.len())).unwrap_or_default()
        };
        Self { nodes: take(&mut self.nodes, nodes), edges: take(&mut self.edges, edges) }
    }

    /// Returns the largest magnitude among the numbers.
    pub fn largest_magnitude(&self) -> f64 {
        largest_magnitude(self.nodes).max(largest_magnitude(self.edges))
    }

    /// Returns the numbers as scores.
    pub fn as_scores(&self) -> Scores<'_> {
        Scores::new(self.nodes, self.edges)
    }
}

impl<'a> Scores<'a> {
    /// Creates scores of nodes and edges; there are none of edges if that array is empty.
    pub fn new(node: &'a [f64], edges: &'a [f64]) -> Self {
        let edge = (!edges.is_empty()).then_some(edges);
        Self { node, edge }
    }

    /// Checks the shapes and returns the number of tokens T.
    pub(super) fn tokens(&self, transitions: &Transitions) -> usize {
        let (labels, stride) = (transitions.labels(), transitions.stride());
        let tokens = self.node.len() / stride;
        assert_eq!(self.node.len(), tokens * stride, "node scores are [T][S]");
        if let Some(edge) = self.edge {
            assert_eq!(edge.len(), tokens * labels * stride, "edge scores are [T][K][S]");
        }
        tokens
    }

    /// Returns the edge scores; `None` at order 0.
    pub(super) fn edges(&self, transitions: &Transitions) -> Option<&'a [f64]> {
        self.edge.filter(|_| transitions.order() == Order::One)
    }

    /// Writes node[t][·] to `row`, `[K]` or `[S]`, plus the boundary weights if t is the first or
    /// the last token.
    #[inline(always)]
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

/// Added to the score of what is allowed, or is not.
const ALLOWED: f64 = 0.0;
const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// The transitions, first labels and last labels that decoding may use.
///
/// Constraints know nothing of label schemes such as BIO; `decoding_constraint` in
/// `model/header.rs` derives one from the other. A constraint applies at order 0 too.
#[derive(Clone, Debug)]
pub struct Constraint {
    labels: usize,
    pub(super) transitions: Vec<f64>, // [K][S] ALLOWED or FORBIDDEN, added to the scores
    pub(super) start: Vec<f64>,       // [K]
    pub(super) end: Vec<f64>,         // [K]
}

impl Constraint {
    /// Creates a constraint from the allowed `transitions[a][b]` `[K][K]`, first labels `start`
    /// `[K]` and last labels `end` `[K]`.
    ///
    /// # Panics
    ///
    /// If the shapes disagree.
    pub fn new(transitions: &[bool], start: &[bool], end: &[bool]) -> Self {
        let labels = start.len();
        assert_eq!(end.len(), labels, "last labels are [K]");
        assert_eq!(transitions.len(), labels * labels, "transitions are [K][K]");
        let stride = padded(labels);
        let mut rows = vec![ALLOWED; labels * stride];
        for (i, &allowed) in transitions.iter().enumerate() {
            rows[i / labels * stride + i % labels] = penalty(allowed);
        }
        Self {
            labels,
            transitions: rows,
            start: start.iter().map(|&allowed| penalty(allowed)).collect(),
            end: end.iter().map(|&allowed| penalty(allowed)).collect(),
        }
    }

    /// Returns the number of labels K.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns whether label `b` may follow label `a`.
    ///
    /// # Panics
    ///
    /// If a label is not below K.
    pub fn allows(&self, a: usize, b: usize) -> bool {
        assert!(b < self.labels, "label {b} of {}", self.labels);
        self.transitions[a * padded(self.labels) + b] == ALLOWED
    }

    /// Returns whether a path may begin with label `b`.
    ///
    /// # Panics
    ///
    /// If the label is not below K.
    pub fn allows_start(&self, b: usize) -> bool {
        self.start[b] == ALLOWED
    }

    /// Returns whether a path may end with label `a`.
    ///
    /// # Panics
    ///
    /// If the label is not below K.
    pub fn allows_end(&self, a: usize) -> bool {
        self.end[a] == ALLOWED
    }
}

fn penalty(allowed: bool) -> f64 {
    if allowed { ALLOWED } else { FORBIDDEN }
}

/// The labels that each token of a sentence may have, as rows that are added to its scores; a
/// reusable workspace.
///
/// [`Lattice::forward_backward`](super::Lattice::forward_backward) sums over the
/// paths of such labels alone, and [`Viterbi::decode`](super::Viterbi::decode) finds
/// the best of them. Unlike a [`Constraint`](super::Constraint), which is the same for all
/// sentences and restricts label pairs, a mask belongs to one sentence.
#[derive(Clone, Debug, Default)]
pub struct LabelMask {
    labels: usize,
    pub(crate) rows: Vec<f64>, // [T][S] ALLOWED or FORBIDDEN
}

impl LabelMask {
    /// Begins the mask of another sentence, with `labels` labels.
    pub fn begin(&mut self, labels: usize) {
        self.labels = labels;
        self.rows.clear();
    }

    /// Appends a token that may have any label.
    pub fn push_any(&mut self) {
        let end = self.rows.len() + padded(self.labels);
        self.rows.resize(end, ALLOWED);
    }

    /// Appends a token that may have these labels.
    ///
    /// # Panics
    ///
    /// If a label is not below K.
    pub fn push(&mut self, labels: &[LabelId]) {
        let end = self.rows.len() + padded(self.labels);
        self.rows.resize(end, FORBIDDEN);
        labels.iter().for_each(|&label| self.allow(label));
    }

    /// Allows the last token a label.
    ///
    /// # Panics
    ///
    /// If there is no token, or the label is not below K.
    pub fn allow(&mut self, label: LabelId) {
        assert!(label.index() < self.labels, "label {label:?}");
        let start = self.rows.len() - padded(self.labels);
        self.rows[start + label.index()] = ALLOWED;
    }

    /// Returns the number of labels K.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns the number of tokens T.
    pub fn tokens(&self) -> usize {
        self.rows.len() / padded(self.labels).max(1)
    }

    /// Returns whether token `t` may have a label.
    ///
    /// # Panics
    ///
    /// If there is no such token or label.
    pub fn allows(&self, t: usize, label: LabelId) -> bool {
        assert!(label.index() < self.labels, "label {label:?}");
        self.rows[t * padded(self.labels) + label.index()] == ALLOWED
    }
}
