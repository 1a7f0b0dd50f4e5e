//! The scores of the labels of a sentence.

use crate::chain::{LabelMask, Scores};
use crate::ids::LabelId;
use crate::interrupt::Interrupt;

/// The scores of a sentence: sums of the weights of its attributes, times their values. Those of
/// label pairs, first and last labels are in [`Tagger::transitions`](super::Tagger::transitions).
#[derive(Debug, Default)]
pub struct SentenceScores {
    /// Scores of labels, `[T][stride]`.
    pub nodes: Vec<f64>,
    /// Scores of label pairs, `[T][K][stride]`, empty if there are none; −∞ for pairs that a
    /// condition forbids.
    pub edges: Vec<f64>,
    /// The labels that a condition allows, if there is one.
    pub mask: Option<LabelMask>,
}

impl SentenceScores {
    /// Returns the scores for inference.
    pub fn scores(&self) -> Scores<'_> {
        Scores { node: &self.nodes, edge: (!self.edges.is_empty()).then_some(&self.edges) }
    }

    /// Sets all to 0, and their numbers, unless it is interrupted.
    pub(super) fn reset(&mut self, nodes: usize, edges: usize, interrupt: &Interrupt) {
        for (scores, length) in [(&mut self.nodes, nodes), (&mut self.edges, edges)] {
            scores.clear();
            interrupt.resize(scores, length);
        }
        self.mask = None;
    }

    /// Returns whether token `t` may have label `b`.
    pub(super) fn allows(&self, t: usize, b: usize) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.allows(t, LabelId(b as u16)))
    }
}
