//! What trains the segments of a run.

use std::fmt;

use super::course::Course;
use super::events::{Pruned, Rounded};
use super::segment::{Segment, SegmentEnd};
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::Result;
use crate::model::TrainingRecord;

/// Trains the segments of a run, and makes the file of its model.
pub trait SegmentTrainer: fmt::Debug + Sync {
    /// Checks that training with the settings is possible.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::Error::Parameter) names the option that does not fit.
    fn check(&self, _settings: &TrainSettings) -> Result<()> {
        Ok(())
    }

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
    fn start(&self, set: &TrainingSet) -> Vec<f64> {
        set.start()
    }

    fn run(
        &self,
        set: &TrainingSet,
        settings: &TrainSettings,
        segment: Segment<'_>,
    ) -> Result<SegmentEnd> {
        let mut observer = ();
        let mut course = Course::of_segment(
            set,
            settings.options(),
            settings.regularization(),
            segment,
            &mut observer,
        )?;
        let outcome = settings.learner().learn(&mut course)?;
        course.into_end(outcome)
    }

    fn length(&self, set: &TrainingSet, settings: &TrainSettings, done: usize) -> Result<usize> {
        match done {
            0 => Ok(set.space().dimension()),
            _ => settings
                .learner()
                .state_length(set, settings.options().seed),
        }
    }

    fn weights(
        &self,
        set: &TrainingSet,
        settings: &TrainSettings,
        done: usize,
        end: Vec<f64>,
    ) -> Result<Vec<f64>> {
        match done {
            0 => Ok(end),
            _ => settings
                .learner()
                .weights(set, settings.options().seed, end),
        }
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
