//! Hard constraints on decoding.

use super::layout::padded;

const LEGAL: f64 = 0.0;
const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// The transitions, first labels and last labels that decoding may use.
///
/// Constraints know nothing of label schemes such as BIO; `model/constraint.rs` derives one from
/// the other. A constraint applies at order 0 too.
#[derive(Clone, Debug)]
pub struct Constraint {
    labels: usize,
    transitions: Vec<f64>, // [K][S] LEGAL or FORBIDDEN, added to the scores
    start: Vec<f64>,       // [K]
    end: Vec<f64>,         // [K]
}

impl Constraint {
    /// Creates a constraint from the allowed `transitions[a][b]` `[K][K]`, first labels `start`
    /// `[K]` and last labels `end` `[K]`.
    ///
    /// # Panics
    ///
    /// If the shapes disagree.
    #[must_use]
    pub fn new(transitions: &[bool], start: &[bool], end: &[bool]) -> Self {
        let labels = start.len();
        assert_eq!(end.len(), labels, "last labels are [K]");
        assert_eq!(transitions.len(), labels * labels, "transitions are [K][K]");
        let stride = padded(labels);
        let mut rows = vec![LEGAL; labels * stride];
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
    #[must_use]
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns whether label `b` may follow label `a`.
    ///
    /// # Panics
    ///
    /// If a label is not below K.
    #[must_use]
    pub fn allows(&self, a: usize, b: usize) -> bool {
        assert!(b < self.labels, "label {b} of {}", self.labels);
        self.transitions[a * padded(self.labels) + b] == LEGAL
    }

    /// Returns whether a path may begin with label `b`.
    ///
    /// # Panics
    ///
    /// If the label is not below K.
    #[must_use]
    pub fn allows_start(&self, b: usize) -> bool {
        self.start[b] == LEGAL
    }

    /// Returns whether a path may end with label `a`.
    ///
    /// # Panics
    ///
    /// If the label is not below K.
    #[must_use]
    pub fn allows_end(&self, a: usize) -> bool {
        self.end[a] == LEGAL
    }

    /// Returns 0 for legal transitions and −∞ for illegal ones, `[K][S]`.
    pub(super) fn transitions(&self) -> &[f64] {
        &self.transitions
    }

    /// Returns 0 for legal first labels and −∞ for illegal ones, `[K]`.
    pub(super) fn start(&self) -> &[f64] {
        &self.start
    }

    /// Returns 0 for legal last labels and −∞ for illegal ones, `[K]`.
    pub(super) fn end(&self) -> &[f64] {
        &self.end
    }
}

fn penalty(allowed: bool) -> f64 {
    if allowed { LEGAL } else { FORBIDDEN }
}
