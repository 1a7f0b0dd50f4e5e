//! Training in segments: a limited number of iterations from initial weights, to be resumed later.
//!
//! L-BFGS starts each segment with an empty history, and dual coordinate descent with variables of
//! 0; everything else is as in a single run. An online algorithm resumes with the state of its
//! learner, which takes the place of weights.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::best::{BestScore, BestWeights};
use super::events::{DevScore, EndReason, Iteration, Observer, ObserverError};
use super::monitor::Monitor;
use super::online::OnlineTraining;
use super::optimize::{Optimizer, Watch, with_noise};
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::Result;
use crate::objective::Terms;
use crate::optim::{Outcome, Start, StopReason};

/// A segment of a training run.
#[derive(Debug)]
pub struct Segment<'a> {
    /// Initial weights, `[set.space().dimension()]`; after epochs of an online algorithm, the state
    /// of the learner.
    pub start: Vec<f64>,
    /// Number of iterations in earlier segments.
    pub done: usize,
    /// Maximum number of iterations; `None`: until training ends.
    pub limit: Option<usize>,
    /// Whether this is the warm-up: without noise, without early stopping.
    pub is_warm_up: bool,
    /// The best score so far.
    pub best: Option<BestScore>,
    /// The recall bias from which the search for it resumes.
    pub recall_bias: f64,
    /// Ends the segment when set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl<'a> Segment<'a> {
    /// Creates the warm-up segment: the first iterations, without noise.
    #[must_use]
    pub fn warm_up(
        start: Vec<f64>,
        limit: usize,
        recall_bias: f64,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        Self {
            start,
            done: 0,
            limit: Some(limit),
            is_warm_up: true,
            best: None,
            recall_bias,
            interrupt,
        }
    }
}

/// The result of a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegmentEnd {
    /// The last weights; after epochs of an online algorithm, the state of the learner
    /// ([`TrainingSet::weights_at_end`]).
    pub theta: Vec<f64>,
    /// Number of iterations so far, including earlier segments.
    pub done: usize,
    /// The objective after the last iteration.
    pub objective: f64,
    /// Scores on development data after each iteration of the segment.
    pub scores: Vec<DevScore>,
    /// The recall bias of each score.
    pub recall_biases: Vec<f64>,
    /// With L1: the number of attributes with a nonzero weight at each score.
    pub active_attributes: Vec<usize>,
    /// The best weights, if they belong to this segment.
    pub best: Option<BestWeights>,
    /// Why training ended; `None` if it can be resumed.
    pub reason: Option<EndReason>,
    /// The recall bias from which the search for it resumes.
    pub recall_bias: f64,
}

impl TrainingSet {
    /// Runs a segment of training.
    ///
    /// # Errors
    ///
    /// The settings have a recall bias other than 0, but the order is 0 or there is no label `O`;
    /// the objective is not finite at the start.
    pub fn run(&self, settings: &TrainSettings, segment: Segment<'_>) -> Result<SegmentEnd> {
        let mut monitor = Monitor::new(self, settings, Instant::now())?;
        let best = segment.best.map(|best| BestWeights {
            iteration: best.iteration,
            score: best.score,
            recall_bias: segment.recall_bias,
            theta: Vec::new(),
        });
        monitor.resume(segment.done, best, segment.recall_bias);
        monitor.count_active_attributes(self);
        let mut recorder = ScoreRecorder::default();
        let mut watch = Watch {
            monitor: &mut monitor,
            observer: &mut recorder,
            warm_up: settings.warm_up(),
            checkpointer: None,
            agreement: None,
        };
        let done = segment.done;
        let outcome = if settings.options().loss.is_some() {
            let Segment {
                start,
                limit,
                interrupt,
                ..
            } = segment;
            self.reweight(settings, start, done, limit, interrupt, &mut watch)?
        } else if settings.options().algorithm.is_online() {
            self.learn_segment(settings, segment, &mut watch)?
        } else {
            self.optimize_segment(settings, segment, &mut watch)?
        };
        let (iterations, objective) = (outcome.iterations, outcome.value);
        let active_attributes = monitor.take_active_attributes();
        let state = monitor.into_state(outcome)?;
        let is_resumable = state.reason == EndReason::Optimizer(StopReason::MaxIterations);
        Ok(SegmentEnd {
            theta: state.theta,
            done: done + iterations,
            objective,
            scores: recorder.scores,
            recall_biases: (recorder.recall_biases.into_iter())
                .map(|bias| bias.unwrap_or(state.recall_bias))
                .collect(),
            active_attributes,
            // The weights are empty if they belong to an earlier segment.
            best: state.best.filter(|best| !best.theta.is_empty()),
            reason: (!is_resumable).then_some(state.reason),
            recall_bias: state.recall_bias,
        })
    }

    /// Runs L-BFGS from the start of a segment.
    fn optimize_segment(
        &self,
        settings: &TrainSettings,
        segment: Segment<'_>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let mut objective = self.likelihood(settings.l2());
        if segment.is_warm_up {
            watch.monitor.begin_fixed_run();
        } else {
            objective = with_noise(objective, self, settings)?.resume_at(segment.done as u64);
        }
        let optimizer = Optimizer {
            settings,
            set: self,
            interrupt: segment.interrupt,
        };
        let start = Start::Point(segment.start);
        optimizer.minimize(&mut objective, start, segment.limit, watch)
    }

    /// Runs the epochs of a segment. The result is the state of the learner rather than weights.
    fn learn_segment(
        &self,
        settings: &TrainSettings,
        segment: Segment<'_>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let mut training = self.online_segment(settings, segment.done, segment.start)?;
        training.interrupt = segment.interrupt;
        if settings.options().has_noise() {
            watch.monitor.start_patience(settings.warm_up());
        }
        let limit = segment.limit.map(|n| segment.done.saturating_add(n));
        let mut outcome = training.run(limit, watch)?;
        if training.learner.epochs() > 0 {
            outcome.x = training.learner.state().to_numbers();
        }
        Ok(outcome)
    }

    /// Creates online training that continues after `done` epochs: from weights if these are 0,
    /// else from the state of a learner.
    fn online_segment(
        &self,
        settings: &TrainSettings,
        done: usize,
        start: Vec<f64>,
    ) -> Result<OnlineTraining<'_>> {
        let (theta, state) = match done {
            0 => (start, None),
            _ => (self.start(), Some(start)),
        };
        let mut training = self.online(settings, theta, None)?;
        // Of a segment the last weights count, not those with the lowest objective.
        training.lowest = None;
        if let Some(state) = state {
            training.learner.restore_numbers(&state)?;
        }
        Ok(training)
    }

    /// Returns the weights at the end of a segment, given what it ended with: weights or, after
    /// epochs of an online algorithm, the state of the learner.
    ///
    /// # Errors
    ///
    /// The state is not one of these settings.
    pub fn weights_at_end(
        &self,
        settings: &TrainSettings,
        done: usize,
        end: Vec<f64>,
    ) -> Result<Vec<f64>> {
        if done == 0 || !settings.options().algorithm.is_online() {
            return Ok(end);
        }
        let training = self.online_segment(settings, done, end)?;
        Ok(training.learner.theta().to_vec())
    }

    /// Returns the number of numbers that a segment ends with after `done` iterations.
    ///
    /// # Errors
    ///
    /// Same as [`TrainingSet::run`].
    pub fn segment_length(&self, settings: &TrainSettings, done: usize) -> Result<usize> {
        if done == 0 || !settings.options().algorithm.is_online() {
            return Ok(self.dimension());
        }
        let training = self.online(settings, self.start(), None)?;
        Ok(training.learner.state().numbers())
    }
}

/// Records the scores of all iterations.
#[derive(Default)]
struct ScoreRecorder {
    scores: Vec<DevScore>,
    recall_biases: Vec<Option<f64>>, // None: that of the settings
}

impl Observer for ScoreRecorder {
    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        if let Some(score) = iteration.dev {
            self.scores.push(score);
            self.recall_biases.push(iteration.recall_bias);
        }
        Ok(ControlFlow::Continue(()))
    }
}
