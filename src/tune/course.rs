//! The training of one configuration on one fold, leg by leg.

use std::sync::atomic::AtomicBool;

use super::parked::Parked;
use crate::error::Result;
use crate::train::{BestWeights, DevScore, EndReason, Segment, SegmentEnd};

/// What is known of a training that goes on, or may.
#[derive(Debug)]
pub(super) struct Course {
    /// Iterations without noise that were made before those that are counted here.
    pub warm_up: usize,
    /// Iterations that halving does not count: without noise, those of the base.
    pub given: usize,
    /// Iterations made, after the warm-up.
    pub done: usize,
    /// Scores after each iteration.
    pub scores: Vec<DevScore>,
    /// The recall bias of each.
    pub recall_biases: Vec<f64>,
    /// Where its search stands.
    pub recall_bias: f64,
    /// The best score and its iteration.
    pub best: Option<(usize, DevScore)>,
    /// The objective after the last iteration.
    pub objective: Option<f64>,
    /// Why training has ended, if it has.
    pub reason: Option<EndReason>,
    /// The last weights; none: those of the base.
    pub parked: Option<Parked>,
}

/// What a leg changes.
pub(super) struct Step {
    end: SegmentEnd, // without weights
    parked: Parked,
}

impl Step {
    /// Takes the weights out of the end of a leg: the last to be parked, the best to be given to `offer`.
    pub fn new(
        mut end: SegmentEnd,
        in_file: bool,
        offer: impl FnOnce(BestWeights),
    ) -> Result<Self> {
        if let Some(best) = &mut end.best {
            let theta = std::mem::take(&mut best.theta);
            offer(BestWeights {
                theta,
                ..best.clone()
            });
        }
        let parked = Parked::new(std::mem::take(&mut end.theta), in_file)?;
        Ok(Self { end, parked })
    }

    /// The weights, for the next base of a path.
    pub fn copy(&self) -> Result<Vec<f64>> {
        self.parked.copy()
    }
}

impl Course {
    /// Nothing is done yet.
    pub fn new() -> Self {
        Self {
            warm_up: 0,
            given: 0,
            done: 0,
            scores: Vec::new(),
            recall_biases: Vec::new(),
            recall_bias: 0.0,
            best: None,
            objective: None,
            reason: None,
            parked: None,
        }
    }

    /// The training of a configuration that begins with the weights of a base: without noise it goes on
    /// with the same objective, and has all that is known of the base.
    pub fn from_base(base: &Self, has_noise: bool) -> Self {
        let new = Self {
            recall_bias: base.recall_bias,
            ..Self::new()
        };
        if has_noise {
            return Self {
                warm_up: base.done,
                ..new
            };
        }
        Self {
            given: base.done,
            done: base.done,
            scores: base.scores.clone(),
            recall_biases: base.recall_biases.clone(),
            best: base.best,
            objective: base.objective,
            reason: base.reason,
            ..new
        }
    }

    /// The next leg, which ends after `target` counted iterations in all; none if there is none.
    pub fn leg<'a>(
        &self,
        target: Option<usize>,
        interrupt: Option<&'a AtomicBool>,
    ) -> Option<Segment<'a>> {
        let limit =
            target.map(|target| (target.saturating_add(self.given)).saturating_sub(self.done));
        (self.reason.is_none() && limit != Some(0)).then(|| Segment {
            start: Vec::new(),
            done: self.done,
            limit,
            is_warm_up: false,
            best: self.best,
            recall_bias: self.recall_bias,
            interrupt,
        })
    }

    /// Takes in what a leg has changed.
    pub fn go_on(&mut self, step: Step) {
        let end = step.end;
        self.done = end.done;
        self.scores.extend(end.scores);
        self.recall_biases.extend(end.recall_biases);
        self.recall_bias = end.recall_bias;
        self.best = end
            .best
            .map(|best| (best.iteration, best.score))
            .or(self.best);
        self.objective = Some(end.objective);
        self.reason = end.reason;
        self.parked = Some(step.parked);
    }

    /// Score and recall bias after an iteration, from 1; of one that was not made, those of the last.
    pub fn after(&self, iteration: usize) -> Option<(DevScore, f64)> {
        let place = iteration.min(self.scores.len()).checked_sub(1)?;
        Some((self.scores[place], self.recall_biases[place]))
    }
}
