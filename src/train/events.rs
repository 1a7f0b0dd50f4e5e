//! Training events, as observers receive them and as logs store them.
//!
//! Each event serializes to the fields of its line in a log ([`log`](super::log)): their names are
//! a contract that scripts rely on.

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::model_match::ModelMatch;
use super::options::is_default;
use crate::error::Error;
use crate::eval::Counts;
use crate::ids::LabelId;
use crate::model::{NoiseExposure, Precision, TrainingRecord};
use crate::optim::StopReason;

/// The state before the first iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The training options as logs and models record them, defaults resolved.
    #[serde(rename = "parameters")]
    pub options: Value,
    /// The sizes of the data.
    #[serde(flatten)]
    pub data: DataSizes,
    /// How the training data were read, in words: labels and columns, then warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reading: Vec<String>,
    /// How large the model is.
    #[serde(flatten)]
    pub model: ModelSizes,
    /// Estimated peak memory of training in bytes: matrices, parameters, optimizer.
    pub estimated_memory: usize,
}

/// The sizes of the data of a training run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataSizes {
    /// Number of training sentences.
    pub sentences: usize,
    /// Number of training tokens.
    pub tokens: usize,
    /// Total weight of the training sentences, if some weight is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_weight: Option<f64>,
    /// Number of training tokens that have several labels or none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub partial_tokens: usize,
    /// Number of unlabeled sentences.
    pub unlabeled_sentences: usize,
    /// Number of development sentences.
    pub dev_sentences: usize,
    /// Number of gold spans of the development data, of tokens if the labels encode no spans: what
    /// their score is a share of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dev_units: usize,
    /// Number of labels.
    pub labels: usize,
}

/// The sizes of a model in training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelSizes {
    /// Number of distinct attributes, node and edge.
    pub attributes: usize,
    /// Number of attribute classes after collapsing attributes that always occur together.
    pub collapsed_attributes: usize,
    /// Number of parameters θ.
    #[serde(rename = "weights")]
    pub parameters: usize,
    /// Number of weights of single attributes and of label pairs, before collapsing.
    #[serde(skip)]
    pub weights: usize,
    /// Attributes per token before collapsing.
    pub active_per_token: f64,
    /// Attribute classes per token after collapsing.
    pub collapsed_active_per_token: f64,
}

/// The learning rates that were tried before the first iteration of stochastic gradient descent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// Number of sentences that were used.
    pub sentences: usize,
    /// The objective at the start.
    pub initial: f64,
    /// The learning rates in the order of trials, and the objective after one pass with each.
    pub trials: Vec<(f64, f64)>,
    /// The one that was chosen.
    pub rate: f64,
}

/// One iteration of the optimizer. A log has null for a value that is NaN or infinite; read back,
/// it is NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// Iteration number; 0 is the starting point.
    #[serde(rename = "iteration")]
    pub number: usize,
    /// Value of the objective, all terms included.
    #[serde(deserialize_with = "number")]
    pub objective: f64,
    /// The terms of the objective.
    #[serde(flatten)]
    pub terms: ObjectiveTerms,
    /// The last step of the optimizer.
    #[serde(flatten)]
    pub optimizer: OptimizerStep,
    /// The weights after the iteration.
    #[serde(flatten)]
    pub weights: WeightCounts,
    /// Time since extraction ended, excluding the time for scoring development data.
    #[serde(rename = "seconds", with = "seconds")]
    pub time: Duration,
    /// Score on development data.
    #[serde(flatten)]
    pub dev: Option<DevScore>,
    /// The mean of this score and of those of up to four iterations before it with the same
    /// objective, by which an iteration is kept; `None` if development data do not choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_mean: Option<f64>,
    /// The recall bias with which the score was reached; `None` if it is not being searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_bias: Option<f64>,
    /// Figures of the development data besides the score.
    #[serde(skip)]
    pub dev_details: Option<DevDetails>,
}

/// The terms of the objective after an iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveTerms {
    /// Σ log p(y|x). NaN, in logs null, for a learner without likelihood.
    #[serde(deserialize_with = "number")]
    pub log_likelihood: f64,
    /// Value of the noise term.
    #[serde(rename = "dropout", deserialize_with = "number")]
    pub noise: f64,
    /// Value of the L2 penalty.
    #[serde(deserialize_with = "number")]
    pub l2: f64,
    /// Value of the L1 penalty.
    #[serde(deserialize_with = "number")]
    pub l1: f64,
}

/// The step of an optimizer in an iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OptimizerStep {
    /// Norm of the gradient; with L1, of the pseudo-gradient. NaN, in logs null, for a learner
    /// without one.
    #[serde(deserialize_with = "number")]
    pub gradient_norm: f64,
    /// Evaluations of the objective so far.
    pub evaluations: usize,
    /// The step of the line search as a multiple of the direction, or the learning rate.
    #[serde(skip)]
    pub step: f64,
    /// The learning rate after the iteration, for a learner that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
}

/// The weights after an iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WeightCounts {
    /// Number of nonzero parameters.
    pub nonzero: usize,
    /// ‖θ‖, of single attributes as well as of classes.
    #[serde(skip)]
    pub norm: f64,
    /// Number of nonzero weights of single attributes and of label pairs, before collapsing.
    #[serde(skip)]
    pub nonzero_weights: usize,
}

/// Figures of the development data besides the score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DevDetails {
    /// The iteration that is kept so far.
    pub best_iteration: usize,
    /// The number of iterations since the highest mean score with this objective, without those of
    /// the warm-up: training ends when it is
    /// [`TrainOptions::patience`](field@super::TrainOptions::patience).
    pub waited: usize,
    /// The counts of spans of each type; none if the labels do not encode spans.
    pub types: Vec<(String, Counts)>,
    /// Predictions by label, if scores are only reported (a patience of 0).
    pub label_scores: Option<LabelScores>,
}

/// Predictions on development data, counted by label and by sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelScores {
    /// Each label of the model with its numbers of tokens, in the order of the model.
    pub labels: Vec<(String, Counts)>,
    /// Number of sentences.
    pub sentences: usize,
    /// Number of sentences of which all labels were predicted correctly.
    pub correct_sentences: usize,
}

impl LabelScores {
    /// Creates counts of 0.
    pub(super) fn new(labels: &[String]) -> Self {
        let label = |name: &String| (name.clone(), Counts::default());
        Self { labels: labels.iter().map(label).collect(), ..Self::default() }
    }

    /// Adds a sentence. A gold label that the model does not have is `None`.
    pub(super) fn add(
        &mut self,
        gold: impl ExactSizeIterator<Item = Option<LabelId>>,
        predicted: &[LabelId],
    ) {
        let (tokens, mut correct) = (gold.len(), 0);
        for (gold, &predicted) in gold.zip(predicted) {
            self.labels[predicted.index()].1.predicted += 1;
            if let Some(gold) = gold {
                self.labels[gold.index()].1.gold += 1;
            }
            if gold == Some(predicted) {
                self.labels[predicted.index()].1.correct += 1;
                correct += 1;
            }
        }
        self.sentences += 1;
        self.correct_sentences += usize::from(correct == tokens);
    }
}

/// A score on development data, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum DevScore {
    /// Span F1.
    #[serde(rename = "dev_f1")]
    F1(f64),
    /// Token accuracy, for labels that do not encode spans.
    #[serde(rename = "dev_accuracy")]
    Accuracy(f64),
}

/// As a percentage, with the name of the metric.
impl fmt::Display for DevScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.2}", self.metric(), 100.0 * self.value())
    }
}

impl DevScore {
    /// Returns the name of the metric.
    pub fn metric(self) -> &'static str {
        match self {
            Self::F1(_) => "F1",
            Self::Accuracy(_) => "accuracy",
        }
    }

    /// Returns the score, between 0 and 1.
    pub fn value(self) -> f64 {
        match self {
            Self::F1(value) | Self::Accuracy(value) => value,
        }
    }

    /// Adds the score to what a model records of its training.
    pub fn add_to(self, record: TrainingRecord) -> TrainingRecord {
        match self {
            Self::F1(value) => TrainingRecord { dev_f1: Some(value), ..record },
            Self::Accuracy(value) => TrainingRecord { dev_accuracy: Some(value), ..record },
        }
    }
}

/// The result of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Why training stopped.
    #[serde(rename = "stop_reason")]
    pub reason: StopReason,
    /// Number of iterations. If it is 0, nothing was learned: the weights are those where training
    /// starts.
    pub iterations: usize,
    /// The number of them in the warm-up, without noise.
    #[serde(skip)]
    pub warm_up: usize,
    /// Total time, measured as [`Iteration::time`].
    #[serde(rename = "seconds", with = "seconds")]
    pub time: Duration,
    /// The iteration whose weights the model has; 0 is where training starts.
    pub best_iteration: usize,
    /// The recall bias of the model
    /// ([`TrainOptions::recall_bias`](field@super::TrainOptions::recall_bias)).
    pub recall_bias: f64,
    /// The regularization of the model's weights ([`TrainingRecord::regularization`]).
    pub regularization: String,
    /// How much noise they have seen, if training was to have noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseExposure>,
    /// The score of the weights of the model on development data.
    #[serde(flatten)]
    pub dev: Option<DevScore>,
    /// The mean score by which they were chosen ([`Iteration::dev_mean`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_mean: Option<f64>,
}

impl End {
    /// Returns whether training got so far that its model should replace an older one: weights of
    /// no iteration, or with noise those of a warm-up that failed, should not.
    pub fn has_result(&self) -> bool {
        match self.reason {
            StopReason::Interrupted => self.best_iteration > 0,
            StopReason::NonFinite => self.iterations > self.warm_up,
            _ => true,
        }
    }

    /// Returns what the model records of its training.
    pub fn record(&self) -> TrainingRecord {
        let record = TrainingRecord {
            iterations: self.iterations,
            best_iteration: self.best_iteration,
            stop_reason: Some(self.reason.name().to_owned()),
            recall_bias: self.recall_bias,
            regularization: self.regularization.clone(),
            noise: self.noise.clone(),
            dev_mean: self.dev_mean,
            ..TrainingRecord::default()
        };
        match self.dev {
            Some(score) => score.add_to(record),
            None => record,
        }
    }
}

/// The effect of pruning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pruned {
    /// Number of nonzero attribute weights before pruning.
    pub before: usize,
    /// Number of nonzero attribute weights after pruning.
    pub after: usize,
    /// Scores on development data, before and after.
    pub dev: Option<[DevScore; 2]>,
}

/// The effect of rounding weights to a precision of few bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounded {
    /// Precision of the weights in the model.
    pub precision: Precision,
    /// Scores on development data, before and after.
    pub dev: Option<[DevScore; 2]>,
}

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "weights rounded to {} bytes", self.precision.bytes())?;
        let Some([before, after]) = self.dev else { return Ok(()) };
        write!(f, "; on development data: {before} before, {after} after")
    }
}

/// An error of an observer, which ends training with [`Error::Observer`].
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;

/// A part of training in two passes over the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "pass", rename_all = "snake_case")]
pub enum Pass {
    /// The model of the first pass.
    First,
    /// A model of all folds of the training data but one, for the predictions on that one.
    Fold {
        /// The number of the fold that is left out, from 1.
        number: usize,
        /// Number of folds.
        of: usize,
    },
    /// The model of the second pass, which reads the predictions of the first.
    Second,
}

/// Receives training events, and may end training. `()` ignores all events.
pub trait Observer {
    /// Called before the other events of each model, if training has two passes.
    fn pass(&mut self, _pass: Pass) {}
    /// Called before the first iteration.
    fn start(&mut self, _start: &Start) {}
    /// Called after [`Observer::start`] for each model that training continues from.
    fn matched(&mut self, _found: &ModelMatch) {}
    /// Called after [`Observer::start`] if training resumes from a checkpoint, with the number of
    /// iterations that were made before. With 0 right after [`Observer::pass`] if the passes before
    /// it had ended, and it had made none.
    fn resumed(&mut self, _iterations: usize) {}
    /// Called before a checkpoint is written: events so far will not be sent again.
    fn checkpoint(&mut self) {}
    /// Called if a checkpoint could not be written; the earlier one is kept and training continues.
    fn checkpoint_failed(&mut self, _error: &Error) {}
    /// Called before the first iteration if the learner has tried learning rates.
    fn calibrated(&mut self, _calibration: &Calibration) {}
    /// Called after each iteration, and for the starting point (number 0). Returns whether to
    /// continue; [`ControlFlow::Break`] ends training with the best model so far, like an
    /// interrupt.
    ///
    /// # Errors
    ///
    /// Any error ends training without a model.
    fn iteration(&mut self, _iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        Ok(ControlFlow::Continue(()))
    }
    /// Called after the last iteration.
    fn end(&mut self, _end: &End) {}
    /// Called after pruning, if [`StorageOptions::prune`](field@super::StorageOptions::prune) is
    /// set.
    fn pruned(&mut self, _pruned: &Pruned) {}

    /// Called after weights have been rounded, after pruning, if the model has them in
    /// [`Precision::F16`].
    fn rounded(&mut self, _rounded: &Rounded) {}
}

impl Observer for () {}

/// Reads a number that is null if it was not finite.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Durations in seconds.
mod seconds {
    use super::*;

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_by_label_and_sentences_if_all_labels_are_right() {
        let mut scores = LabelScores::new(&["A", "B"].map(str::to_owned));
        let [a, b] = [0, 1].map(LabelId);
        scores.add([Some(a), Some(b)].into_iter(), &[a, b]);
        scores.add([Some(a), None].into_iter(), &[b, b]);
        let counts = |correct, predicted, gold| Counts { correct, predicted, gold };
        assert_eq!(scores.labels[0], ("A".to_owned(), counts(1, 1, 2)));
        assert_eq!(scores.labels[1], ("B".to_owned(), counts(1, 3, 1)));
        assert_eq!((scores.correct_sentences, scores.sentences), (1, 2));
    }
}
