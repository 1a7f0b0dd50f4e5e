//! Training in segments: a limited number of iterations from initial weights, to be resumed later.
//!
//! L-BFGS starts each segment with an empty history; everything else is as in a single run. What a
//! segment ends with is weights, or whatever a learner continues from.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::best::{BestScore, BestWeights};
use super::course::Course;
use super::events::{DevScore, EndReason, Iteration, Observer, ObserverError, Pruned, Rounded};
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::Result;
use crate::model::TrainingRecord;
use crate::optim::StopReason;

/// A segment of a training run.
#[derive(Debug)]
pub struct Segment<'a> {
    /// Initial weights, `[set.space().dimension()]`; after iterations, what they ended with.
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
    /// The last weights, or the state of the learner ([`TrainingSet::weights_at_end`]).
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
        let mut recorder = ScoreRecorder::default();
        let done = segment.done;
        let mut course = Course::of_segment(self, settings, segment, &mut recorder)?;
        let outcome = settings.learner().learn(&mut course)?;
        let (iterations, objective) = (outcome.iterations, outcome.value);
        let end = course.into_end(outcome)?;
        let is_resumable = end.reason == EndReason::Optimizer(StopReason::MaxIterations);
        Ok(SegmentEnd {
            theta: end.theta,
            done: done + iterations,
            objective,
            scores: recorder.scores,
            recall_biases: (recorder.recall_biases.into_iter())
                .map(|bias| bias.unwrap_or(end.recall_bias))
                .collect(),
            active_attributes: end.active_attributes,
            // The weights are empty if they belong to an earlier segment.
            best: end.best.filter(|best| !best.theta.is_empty()),
            reason: (!is_resumable).then_some(end.reason),
            recall_bias: end.recall_bias,
        })
    }

    /// Returns the weights at the end of a segment after `done` iterations, given what it ended
    /// with.
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
        match done {
            0 => Ok(end),
            _ => settings.learner().weights(self, settings.options(), end),
        }
    }

    /// Returns the number of numbers that a segment ends with after `done` iterations.
    ///
    /// # Errors
    ///
    /// Same as [`TrainingSet::run`].
    pub fn segment_length(&self, settings: &TrainSettings, done: usize) -> Result<usize> {
        match done {
            0 => Ok(self.space().dimension()),
            _ => settings.learner().state_length(self, settings.options()),
        }
    }
}

/// Trains the segments of a run, and makes the file of its model.
pub trait SegmentTrainer: fmt::Debug + Sync {
    /// Checks that training with the settings is possible.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::Error::Parameter) names the option that does not fit.
    fn check(&self, settings: &TrainSettings) -> Result<()>;

    /// Returns the numbers that the first segment starts from.
    fn start(&self, set: &TrainingSet) -> Vec<f64>;

    /// Runs a segment.
    ///
    /// # Errors
    ///
    /// The data do not fit the settings; the objective is not finite at the start.
    fn run(
        &self,
        set: &TrainingSet,
        settings: &TrainSettings,
        segment: Segment<'_>,
    ) -> Result<SegmentEnd>;

    /// Returns how many numbers a segment ends with after `done` iterations.
    ///
    /// # Errors
    ///
    /// Same as [`run`](Self::run).
    fn length(&self, set: &TrainingSet, settings: &TrainSettings, done: usize) -> Result<usize>;

    /// Returns the weights at the end of a segment, given the numbers that it ended with.
    ///
    /// # Errors
    ///
    /// The numbers are not those of the settings.
    fn weights(
        &self,
        set: &TrainingSet,
        settings: &TrainSettings,
        done: usize,
        end: Vec<f64>,
    ) -> Result<Vec<f64>>;

    /// Estimates the memory in bytes of training, excluding the set itself.
    fn memory(&self, set: &TrainingSet, settings: &TrainSettings) -> usize;

    /// Prunes and rounds the weights as the settings say, and makes the file of the model. Of
    /// `record` the recall bias is that of the model.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision of the model.
    fn finish(
        &self,
        set: TrainingSet,
        settings: &TrainSettings,
        weights: Vec<f64>,
        record: &TrainingRecord,
    ) -> Result<Finished>;
}

/// A model file, and what became of its weights.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The contents of the file.
    pub model: Vec<u8>,
    /// The effect of pruning.
    pub pruned: Option<Pruned>,
    /// The effect of rounding weights, if they were.
    pub rounded: Option<Rounded>,
}

/// Trains taggers, with the learner of the settings.
#[derive(Clone, Copy, Debug)]
pub struct ObjectiveTrainer;

impl SegmentTrainer for ObjectiveTrainer {
    fn check(&self, _settings: &TrainSettings) -> Result<()> {
        Ok(())
    }

    fn start(&self, set: &TrainingSet) -> Vec<f64> {
        set.start()
    }

    fn run(
        &self,
        set: &TrainingSet,
        settings: &TrainSettings,
        segment: Segment<'_>,
    ) -> Result<SegmentEnd> {
        set.run(settings, segment)
    }

    fn length(&self, set: &TrainingSet, settings: &TrainSettings, done: usize) -> Result<usize> {
        set.segment_length(settings, done)
    }

    fn weights(
        &self,
        set: &TrainingSet,
        settings: &TrainSettings,
        done: usize,
        end: Vec<f64>,
    ) -> Result<Vec<f64>> {
        set.weights_at_end(settings, done, end)
    }

    fn memory(&self, set: &TrainingSet, settings: &TrainSettings) -> usize {
        set.memory_to_train(settings)
    }

    fn finish(
        &self,
        set: TrainingSet,
        settings: &TrainSettings,
        mut weights: Vec<f64>,
        record: &TrainingRecord,
    ) -> Result<Finished> {
        let bias = record.recall_bias;
        let pruned = set.prune(settings, &mut weights, bias)?;
        let rounded = set.round(settings, &mut weights, bias)?;
        let model = set.into_model(settings, &weights, bias, Some(record))?;
        Ok(Finished {
            model: model.as_bytes().to_vec(),
            pruned,
            rounded,
        })
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
