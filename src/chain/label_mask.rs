//! The labels that each token of a sentence may have.

use super::layout::padded;
use crate::ids::LabelId;

const ALLOWED: f64 = 0.0;
const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// The labels that each token of a sentence may have, as rows that are added to its scores; a
/// reusable workspace.
///
/// [`Lattice::forward_backward_within`](super::Lattice::forward_backward_within) sums over the
/// paths of such labels alone, and [`Viterbi::decode_within`](super::Viterbi::decode_within) finds
/// the best of them. Unlike a [`Constraint`](super::Constraint), which is the same for all
/// sentences and restricts label pairs, a mask belongs to one sentence.
#[derive(Clone, Debug, Default)]
pub struct LabelMask {
    labels: usize,
    rows: Vec<f64>, // [T][S] ALLOWED or FORBIDDEN
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
        let start = self.rows.len();
        self.rows.resize(start + padded(self.labels), FORBIDDEN);
        for label in labels {
            assert!(label.index() < self.labels, "label {label:?}");
            self.rows[start + label.index()] = ALLOWED;
        }
    }

    /// Returns the number of labels K.
    #[must_use]
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns the number of tokens T.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.rows.len() / padded(self.labels).max(1)
    }

    /// Returns 0 for labels that are allowed and −∞ for others, `[T][S]`.
    #[must_use]
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// Returns whether token `t` may have a label.
    ///
    /// # Panics
    ///
    /// If there is no such token or label.
    #[must_use]
    pub fn allows(&self, t: usize, label: LabelId) -> bool {
        assert!(label.index() < self.labels, "label {label:?}");
        self.rows[t * padded(self.labels) + label.index()] == ALLOWED
    }
}
