//! What learns the weights: the interface between the trainer and an algorithm.

use std::fmt::Debug;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::course::Course;
use super::noise_options::Regularization;
use super::options::{CommonOptions, TrainOptions};
use super::predictor::Predictor;
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::objective::Terms;
use crate::optim::Outcome;
use crate::template::LineOptions;

/// A learner of any kind.
pub type AnyLearner = Arc<dyn Learner>;

/// Options with a learner of any kind.
pub type AnyOptions = TrainOptions<AnyLearner>;

/// An algorithm that learns the weights of a training set, with its options.
///
/// A learner starts where its [`Course`] says, reports every iteration to it, and goes on until the
/// course or its own stopping test ends it. It is deterministic: the same options and data result
/// in the same bits.
pub trait Learner: Debug + Send + Sync {
    /// Returns the name on the command line, in logs, models and checkpoints.
    fn name(&self) -> &'static str;

    /// Returns the options as logs, models and checkpoints record them, with all defaults that
    /// depend on other options resolved.
    fn record(&self) -> Map<String, Value>;

    /// Checks the options of the learner.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the one that is out of its range, or does not fit the others.
    fn check(&self, options: &CommonOptions) -> Result<()>;

    /// Returns penalties and noise, with a number for `l2`.
    fn regularization(&self) -> Regularization;

    /// Returns the learner with other penalties and noise.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming what it does not have.
    fn with_regularization(&self, regularization: Regularization) -> Result<AnyLearner>;

    /// Returns the number of iterations without noise, before those with it, unless
    /// [`Regularization::warm_up`] or a low maximum of iterations determines it.
    fn default_warm_up(&self) -> usize {
        0
    }

    /// Returns the default of the maximum number of iterations, if there is one.
    fn max_iterations(&self) -> Option<usize> {
        None
    }

    /// Checks that training can start at the weights of a model, such as `--init FILE`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]: the learner chooses its own start.
    fn check_start(&self, _model: &str) -> Result<()> {
        Ok(())
    }

    /// Checks that training can be divided among ranks.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that prevents it.
    fn check_ranks(&self) -> Result<()> {
        Ok(())
    }

    /// Returns an option of a template line that has no effect, and the names of learners with
    /// which it has one.
    fn unused_line_option(&self, _options: &LineOptions) -> Option<[&'static str; 2]> {
        None
    }

    /// Returns what predicts with the learned parameters, if they are not those of a tagger.
    fn predictor(&self) -> Option<&dyn Predictor> {
        None
    }

    /// Estimates the memory in bytes that learning takes at its peak, excluding the set.
    fn memory(&self, set: &TrainingSet) -> usize;

    /// Learns the weights of the course's training set. In a segment
    /// ([`Course::is_segment`]) the result may be a state instead, from which another segment
    /// continues.
    ///
    /// # Errors
    ///
    /// The objective is not finite at the start; the state to resume from does not fit the data.
    fn learn(&self, course: &mut Course<'_>) -> Result<Outcome<Terms>>;

    /// Returns whether segments end with weights, from which other penalties and noise can
    /// continue.
    fn ends_with_weights(&self) -> bool {
        true
    }

    /// Returns how many numbers a segment ends with.
    ///
    /// # Errors
    ///
    /// The options do not fit the data.
    fn state_length(&self, set: &TrainingSet, _seed: u64) -> Result<usize> {
        Ok(set.space().dimension())
    }

    /// Returns the weights, given what a segment ended with.
    ///
    /// # Errors
    ///
    /// The state does not fit the data.
    fn weights(&self, _set: &TrainingSet, _seed: u64, state: Vec<f64>) -> Result<Vec<f64>> {
        Ok(state)
    }
}

/// As a map with the name under `algorithm`.
impl Serialize for dyn Learner {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut record = self.record();
        record.insert("algorithm".to_owned(), self.name().into());
        record.serialize(serializer)
    }
}

/// Learners are equal if their names and options are.
impl PartialEq for dyn Learner {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.record() == other.record()
    }
}

/// Returns the fields of options, for [`Learner::record`].
pub fn fields(options: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Returns the error of a learner whose option needs another value.
pub fn unfit(learner: &dyn Learner, option: &str, expected: &str) -> Error {
    Error::parameter(format!("algorithm {} with {option}; expected {expected}", learner.name()))
}
