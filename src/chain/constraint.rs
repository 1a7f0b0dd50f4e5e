//! Which paths are legal.

use super::padded;

const LEGAL: f64 = 0.0;
const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// Which transitions, first labels and last labels are legal, for decoding.
///
/// Numbers only: what makes a label sequence legal (a scheme of spans, say) is known elsewhere.
/// It binds at order 0 as well.
#[derive(Clone, Debug)]
pub struct Constraint {
    labels: usize,
    transitions: Vec<f64>, // [K][S] LEGAL or FORBIDDEN, to be added to scores
    start: Vec<f64>,       // [K]
    end: Vec<f64>,         // [K]
}

impl Constraint {
    /// From what is allowed: `transitions[a][b]` `[K][K]`, first labels `start` and last labels
    /// `end` `[K]`.
    ///
    /// # Panics
    ///
    /// If the shapes do not agree.
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

    /// Number of labels K.
    #[must_use]
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Whether label `b` may follow label `a`.
    ///
    /// # Panics
    ///
    /// If a label is not below K.
    #[must_use]
    pub fn allows(&self, a: usize, b: usize) -> bool {
        assert!(b < self.labels, "label {b} of {}", self.labels);
        self.transitions[a * padded(self.labels) + b] == LEGAL
    }

    /// Whether a path may begin with label `b`.
    ///
    /// # Panics
    ///
    /// If the label is not below K.
    #[must_use]
    pub fn allows_start(&self, b: usize) -> bool {
        self.start[b] == LEGAL
    }

    /// Whether a path may end with label `a`.
    ///
    /// # Panics
    ///
    /// If the label is not below K.
    #[must_use]
    pub fn allows_end(&self, a: usize) -> bool {
        self.end[a] == LEGAL
    }

    /// 0 where a transition is legal and −∞ where it is not, `[K][S]`.
    pub(super) fn transitions(&self) -> &[f64] {
        &self.transitions
    }

    /// 0 where a first label is legal and −∞ where it is not, `[K]`.
    pub(super) fn start(&self) -> &[f64] {
        &self.start
    }

    /// 0 where a last label is legal and −∞ where it is not, `[K]`.
    pub(super) fn end(&self) -> &[f64] {
        &self.end
    }
}

fn penalty(allowed: bool) -> f64 {
    if allowed { LEGAL } else { FORBIDDEN }
}
