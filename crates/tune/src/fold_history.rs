//! The history of training one configuration on one fold, segment by segment.

use std::sync::atomic::AtomicBool;

use super::checkpoint::StoredWeights;
use dropchain::train::{BestWeights, DevScore, EndReason, Segment, SegmentEnd};

/// The history of training a configuration on a fold, from which it can be resumed.
#[derive(Clone, Debug, Default)]
pub(super) struct FoldHistory {
    /// Number of iterations of the warm start, if the fields below do not count them.
    pub warm_up: usize,
    /// Number of iterations that halving does not count: without noise, those of the warm start.
    pub uncounted: usize,
    /// Number of iterations after the warm-up.
    pub done: usize,
    /// Score after each iteration, and its recall bias.
    pub scores: Vec<(DevScore, f64)>,
    /// With L1: the number of attributes with a nonzero weight at each score.
    pub active_attributes: Vec<usize>,
    /// The recall bias from which the search for it resumes.
    pub recall_bias: f64,
    /// The best score, without its weights.
    pub best: Option<BestWeights>,
    /// The objective after the last iteration.
    pub objective: Option<f64>,
    /// Why training ended, if it has.
    pub reason: Option<EndReason>,
    /// The last weights; `None`: not needed any more.
    pub weights: Option<StoredWeights>,
}

impl FoldHistory {
    /// Creates the history of a configuration that begins with a warm start. Without noise it has
    /// the same objective as the warm start and continues its history.
    pub fn from_warm_start(start: &Self, has_noise: bool) -> Self {
        if has_noise {
            return Self {
                warm_up: start.done,
                recall_bias: start.recall_bias,
                weights: start.weights,
                ..Self::default()
            };
        }
        Self { uncounted: start.done, ..start.clone() }
    }

    /// Returns the next segment, which ends after `target` counted iterations in total; `None` if
    /// training has ended or has reached the target. Its weights are left empty.
    pub fn next_segment<'a>(
        &self,
        target: Option<usize>,
        interrupt: Option<&'a AtomicBool>,
    ) -> Option<Segment<'a>> {
        let limit =
            target.map(|target| (target.saturating_add(self.uncounted)).saturating_sub(self.done));
        (self.reason.is_none() && limit != Some(0)).then(|| Segment {
            start: Vec::new(),
            done: self.done,
            limit,
            is_warm_up: false,
            best: self.best.clone(),
            scores: self.scores.iter().map(|&(score, _)| score).collect(),
            recall_bias: self.recall_bias,
            interrupt,
        })
    }

    /// Appends a segment, whose last weights are stored elsewhere.
    pub fn extend(&mut self, end: SegmentEnd, weights: Option<StoredWeights>) {
        self.done = end.done;
        self.scores.extend(end.scores.into_iter().zip(end.recall_biases));
        self.active_attributes.extend(end.active_attributes);
        self.recall_bias = end.recall_bias;
        self.best = end.best.or(self.best.take());
        self.objective = Some(end.objective);
        self.reason = end.reason;
        self.weights = weights;
    }

    /// Returns the score and recall bias after an iteration, counted from 1, or after the last
    /// iteration if there are fewer.
    pub fn after(&self, iteration: usize) -> Option<(DevScore, f64)> {
        let index = iteration.min(self.scores.len()).checked_sub(1)?;
        self.scores.get(index).copied()
    }

    /// Returns the number of attributes with a nonzero weight after an iteration, counted likewise;
    /// `None` without L1.
    pub fn active_after(&self, iteration: usize) -> Option<usize> {
        let index = iteration.min(self.scores.len()).checked_sub(1)?;
        self.active_attributes.get(index).copied()
    }
}
