//! The scores of the labels of a sentence.

use super::condition::Condition;
use super::input::TagInput;
use super::tagger::Tagger;
use super::tagging::TagOptions;
use crate::chain::{LabelMask, Scores};
use crate::error::Result;

/// The scores of a sentence: sums of the weights of its attributes, times their values. Those of
/// label pairs, first and last labels are in [`Tagger::transitions`].
#[derive(Debug)]
pub struct SentenceScores {
    /// Scores of labels, `[T][stride]`.
    pub nodes: Vec<f64>,
    /// Scores of label pairs, `[T][K][stride]`, if there are any; −∞ for pairs that a condition
    /// forbids.
    pub edges: Option<Vec<f64>>,
    /// The labels that a condition allows, if there is one.
    pub mask: Option<LabelMask>,
}

impl SentenceScores {
    /// Returns the scores for inference.
    #[must_use]
    pub fn scores(&self) -> Scores<'_> {
        Scores {
            node: &self.nodes,
            edge: self.edges.as_deref(),
        }
    }
}

impl Tagger {
    /// Computes the scores of a sentence of which some labels or spans are known.
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_given`], whose memory these options determine; but a condition that no
    /// sequence fulfills is not noticed.
    pub fn scores_given<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        condition: &Condition,
        options: TagOptions,
    ) -> Result<SentenceScores> {
        let sentence = sentence.into();
        let restriction = self.restriction(condition, sentence)?;
        let restriction = restriction.as_ref();
        self.check_memory(sentence, options, restriction)?;
        self.with_workspace(|workspace| {
            let has_edges = self.score_within(sentence, restriction, workspace)?;
            let [nodes, edges] = [&mut workspace.nodes, &mut workspace.edges].map(std::mem::take);
            Ok(SentenceScores {
                nodes,
                edges: has_edges.then_some(edges),
                mask: restriction.map(|restriction| restriction.mask.clone()),
            })
        })
    }
}
