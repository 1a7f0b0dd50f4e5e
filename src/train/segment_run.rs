//! Running a segment with the learner of the settings.

use super::course::Course;
use super::predictor::start_of;
use super::segment::{Segment, SegmentEnd};
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::Result;

impl Segment<'_> {
    /// Runs the segment.
    ///
    /// # Errors
    ///
    /// The data do not fit the settings; the objective is not finite at the start.
    pub fn run(self, set: &TrainingSet, settings: &TrainSettings) -> Result<SegmentEnd> {
        let mut observer = ();
        let options = (settings.options(), settings.regularization());
        let predictor = settings.learner().predictor();
        let mut course = Course::of_segment(set, options, predictor, self, &mut observer)?;
        let outcome = settings.learner().learn(&mut course)?;
        course.into_end(outcome)
    }
}

impl TrainSettings {
    /// Returns the numbers that the first segment starts from.
    pub fn start(&self, set: &TrainingSet) -> Vec<f64> {
        start_of(self.learner().predictor(), set)
    }

    /// Returns how many numbers a segment ends with after `done` iterations.
    ///
    /// # Errors
    ///
    /// The data do not fit the settings.
    pub fn state_length(&self, set: &TrainingSet, done: usize) -> Result<usize> {
        match done {
            0 if self.learner().predictor().is_none() => Ok(set.space().dimension()),
            _ => self.learner().state_length(set, self.options().seed),
        }
    }

    /// Returns the weights at the end of a segment, given the numbers that it ended with after
    /// `done` iterations.
    ///
    /// # Errors
    ///
    /// The numbers are not those of the settings.
    pub fn weights(&self, set: &TrainingSet, done: usize, end: Vec<f64>) -> Result<Vec<f64>> {
        match done {
            0 => Ok(end),
            _ => self.learner().weights(set, self.options().seed, end),
        }
    }
}
