//! The interface between the trainer and an algorithm that learns weights.

use std::fmt::Debug;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::base_models::BaseRole;
use super::course::Course;
use super::options::{CommonOptions, Regularization, TrainOptions};
use super::schedule::{Schedule, Stage, StageObjective};
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::objective::{NoiseOptions, Terms};
use crate::optim::Outcome;

/// A learner of any kind.
pub type AnyLearner = Arc<dyn Learner>;

/// Options with a learner of any kind.
pub type AnyOptions = TrainOptions<AnyLearner>;

/// An algorithm that learns the weights of a training set, with its options.
///
/// The trainer makes the [`schedule`](Self::schedule) once, and [runs](Self::run) its stages one
/// after the other, each from the weights of the one before. A learner is deterministic: the same
/// options and data result in the same bits.
pub trait Learner: Debug + Send + Sync {
    /// Returns name and options.
    fn options(&self) -> LearnerOptions;

    /// Runs a stage on the training set of the course, from
    /// [`Course::take_start`], or from the state that an interrupted run has saved
    /// ([`Course::take_state`]), in at most [`Stage::limit`] iterations. Each iteration is reported
    /// ([`Course::iteration`]), which may end the stage, and its state saved ([`Course::save`]).
    ///
    /// # Errors
    ///
    /// The objective is not finite at the start; the state to resume from does not fit the data.
    fn run(&self, stage: &Stage, course: &mut Course<'_>) -> Result<Outcome<Terms>>;

    /// Returns the learner with other penalties and noise; by default there are no others.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming what it does not have.
    fn with_regularization(&self, _regularization: Regularization) -> Result<AnyLearner> {
        let name = self.options().name;
        Err(Error::parameter(format!("algorithm {name} has penalties and noise of its own")))
    }

    /// Checks that the learner can do what is asked of it; by default it can.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that is out of its range or prevents it.
    fn check(&self, _request: Request<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns the stages of training, given the maximum number of iterations of the options; by
    /// default one without noise, which may stop early.
    fn schedule(&self, max_iterations: Option<usize>) -> Schedule {
        Schedule::single(Stage::last(StageObjective::WithoutNoise), max_iterations)
    }

    /// Estimates the memory in bytes that learning takes at its peak, excluding the set; by default
    /// that of an evaluation of the objective without noise, and of eight numbers for each
    /// parameter.
    fn memory(&self, set: &TrainingSet) -> usize {
        set.memory_to_evaluate(&NoiseOptions::none()) + 8 * 8 * set.space().dimension()
    }
}

/// The options of a learner.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerOptions {
    /// The name on the command line, in logs, models and checkpoints.
    pub name: &'static str,
    /// The options as logs, models and checkpoints record them, with all defaults that depend on
    /// other options resolved.
    pub record: Map<String, Value>,
    /// Penalties and noise, with a number for `l2`.
    pub regularization: Regularization,
}

/// A question that a learner may answer.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// Training with these options, and with its own.
    Options(&'a CommonOptions),
    /// Training that starts at the weights of a model, in this role and with this path.
    Start(BaseRole, &'a str),
    /// Training that is divided among ranks.
    Ranks,
    /// Further terms of the objective ([`TrainOptions::with_term`]).
    Terms,
}

impl dyn Learner + '_ {
    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.options().name
    }

    /// Returns penalties and noise, with a number for `l2`.
    pub fn regularization(&self) -> Regularization {
        self.options().regularization
    }
}

/// As a map with the name under `algorithm`.
impl Serialize for dyn Learner {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let LearnerOptions { name, mut record, .. } = self.options();
        record.insert("algorithm".to_owned(), name.into());
        record.serialize(serializer)
    }
}

/// Learners are equal if their names and options are.
impl PartialEq for dyn Learner {
    fn eq(&self, other: &Self) -> bool {
        let [a, b] = [self, other].map(Learner::options);
        a.name == b.name && a.record == b.record
    }
}

/// Returns the fields of options, for [`LearnerOptions::record`].
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
