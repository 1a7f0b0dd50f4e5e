//! What happens after every iteration: development documents are scored, observers are told, and
//! training ends if the score no longer rises.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::layout::Layout;
use crate::irls::{InputNoise, Loss, Value};
use dropchain::error::{Error, Result};
use dropchain::extract::Target;
use dropchain::ids::LabelId;
use dropchain::optim::{self, LbfgsOptions, Outcome, StopReason};
use dropchain::train::{
    BestWeights, DevScore, End, EndReason, Iteration, NoiseKind, Observer, Segment, TrainSettings,
    TrainingSet,
};

/// Trains classifiers with a loss of y·score: by iteratively reweighted least squares, or with
/// hidden units by L-BFGS.
#[derive(Clone, Debug, PartialEq)]
pub struct LossTrainer {
    /// The loss.
    pub loss: Loss,
    /// The number of hidden units; 0 for none.
    pub hidden: usize,
    /// The seed of the weights of hidden units that training starts from.
    pub seed: u64,
    /// The stopping tests, and with hidden units the memory of L-BFGS.
    pub optimizer: LbfgsOptions,
}

impl LossTrainer {
    pub(super) fn layout(&self, set: &TrainingSet) -> Layout {
        Layout {
            columns: set.space().nodes.columns(),
            labels: set.labels().len(),
            units: self.hidden,
        }
    }
}

/// Monitors the iterations of a training or of a segment of one.
pub struct Monitor<'a> {
    pub trainer: &'a LossTrainer,
    pub set: &'a TrainingSet,
    pub settings: &'a TrainSettings,
    pub layout: Layout,
    /// Iterations of earlier segments.
    pub done: usize,
    /// Whether there were earlier segments, which have told of the start.
    pub skips_start: bool,
    pub best: Option<BestWeights>,
    /// The score after each iteration.
    pub scores: Vec<DevScore>,
    pub clock: Instant,
    scoring_time: Duration,
    iterations: usize,
    patience_is_exhausted: bool,
    error: Option<Error>,
}

impl<'a> Monitor<'a> {
    /// Begins a segment, whose best weights it takes.
    pub fn new(
        trainer: &'a LossTrainer,
        set: &'a TrainingSet,
        settings: &'a TrainSettings,
        segment: &mut Segment<'_>,
    ) -> Self {
        Self {
            trainer,
            set,
            settings,
            layout: trainer.layout(set),
            done: segment.done,
            skips_start: true,
            best: segment.best.take(),
            scores: Vec::new(),
            clock: Instant::now(),
            scoring_time: Duration::ZERO,
            iterations: 0,
            patience_is_exhausted: false,
            error: None,
        }
    }

    /// Handles an iteration.
    pub fn iteration(
        &mut self,
        iteration: &optim::Iteration<'_, Value>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        if iteration.number == 0 && self.skips_start {
            return ControlFlow::Continue(());
        }
        let number = self.done + iteration.number;
        self.iterations = number;
        let time = self.time();
        let dev = self.score(number, iteration.x);
        let terms = iteration.detail;
        let (nonzero, weight_norm) = self.layout.of_labels(iteration.x);
        let classes = self.set.node_classes();
        let observed = observer.iteration(&Iteration {
            number,
            objective: iteration.value,
            log_likelihood: match self.trainer.loss {
                Loss::Logistic => -terms.loss,
                _ => f64::NAN,
            },
            noise: match self.settings.has_noise() {
                true => terms.total - terms.loss - terms.l2,
                false => 0.0,
            },
            l2: terms.l2,
            l1: 0.0,
            gradient_norm: iteration.gradient_norm,
            evaluations: iteration.evaluations,
            nonzero,
            time,
            dev,
            recall_bias: None,
            learning_rate: None,
            weight_norm,
            step: iteration.step,
            nonzero_weights: self.layout.nonzero_weights(iteration.x, classes),
            label_scores: None,
        });
        match observed {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => return ControlFlow::Break(()),
            Err(error) => {
                self.error = Some(Error::Observer(error));
                return ControlFlow::Break(());
            }
        }
        self.patience_is_exhausted = self.best.as_ref().is_some_and(|best| {
            best.score.value() > 0.0
                && number
                    >= best
                        .iteration
                        .saturating_add(self.settings.options().patience)
        });
        match self.patience_is_exhausted {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Returns the time since training began, excluding that for scoring.
    fn time(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.scoring_time)
    }

    /// Scores the weights, and keeps a copy of them if they are the best so far.
    fn score(&mut self, number: usize, theta: &[f64]) -> Option<DevScore> {
        let started = Instant::now();
        let score = accuracy(self.set, self.layout, theta)?;
        let value = score.value();
        let best = self.best.as_ref().map(|best| best.score.value());
        if best.is_none_or(|best| value > best || best == 0.0) {
            self.best = Some(BestWeights {
                iteration: number,
                score,
                recall_bias: 0.0,
                theta: theta.to_vec(),
            });
        }
        self.scores.push(score);
        self.scoring_time += started.elapsed();
        Some(score)
    }

    /// Returns why training stopped.
    ///
    /// # Errors
    ///
    /// The observer failed.
    pub fn reason(&mut self, stop_reason: StopReason) -> Result<EndReason> {
        match self.error.take() {
            Some(error) => Err(error),
            None if stop_reason == StopReason::Interrupted && self.patience_is_exhausted => {
                Ok(EndReason::Patience)
            }
            None => Ok(EndReason::Optimizer(stop_reason)),
        }
    }

    /// Returns the weights of the model and how training ended.
    ///
    /// # Errors
    ///
    /// The observer failed.
    pub fn finish(mut self, outcome: Outcome<Value>) -> Result<(Vec<f64>, End)> {
        let reason = self.reason(outcome.stop_reason)?;
        let end = End {
            reason,
            iterations: self.iterations,
            warm_up: 0,
            time: self.time(),
            best_iteration: self.best.as_ref().map_or(self.iterations, |b| b.iteration),
            recall_bias: 0.0,
            dev: self.best.as_ref().map(|best| best.score),
        };
        let theta = self.best.map_or(outcome.x, |best| best.theta);
        Ok((theta, end))
    }
}

/// Returns the accuracy of weights on development documents, if there are any.
pub fn accuracy(set: &TrainingSet, layout: Layout, theta: &[f64]) -> Option<DevScore> {
    let (data, gold) = set.development()?;
    let predicted = layout.predict(theta, data, &set.space().nodes.scale);
    let names = set.labels().names();
    let pairs = predicted.into_iter().zip(gold);
    let right = pairs
        .filter(|(label, gold)| names[*label] == gold[0])
        .count();
    Some(DevScore::Accuracy(right as f64 / gold.len() as f64))
}

/// Returns the classes of the documents, `[N]`.
///
/// # Errors
///
/// [`Error::Parameter`] if they are sentences, or have no class or several.
pub fn classes(set: &TrainingSet, loss: Loss) -> Result<Vec<LabelId>> {
    let data = set.data();
    if data.unlabeled() > 0 {
        return Err(fault(loss, "unlabeled documents", "labeled ones"));
    }
    if data.tokens() != data.len() || set.space().edges.columns() > 0 {
        return Err(fault(loss, "sentences", "documents: one token each"));
    }
    if set.labels().len() < 2 {
        return Err(fault(loss, "one class", "two or more"));
    }
    let labels = (0..data.len()).map(|i| match data.target(i) {
        Target::Gold(&[label]) => Ok(label),
        _ => Err(fault(loss, "a partial label", "one class per document")),
    });
    labels.collect()
}

/// Returns the error of data that do not fit the loss.
fn fault(loss: Loss, found: &str, expected: &str) -> Error {
    let name = loss.name();
    Error::parameter(format!("the {name} loss with {found}; expected {expected}"))
}

/// Returns the error of an objective that is not finite where training starts.
pub fn not_finite() -> Error {
    Error::NotFinite(
        "the objective is not finite at the start of training; expected smaller feature values"
            .to_owned(),
    )
}

/// Returns the noise of the inputs.
pub fn input_noise(settings: &TrainSettings) -> Result<InputNoise> {
    let noise = &settings.regularization().noise;
    let rate = noise.dropout;
    Ok(match noise.kind {
        _ if !noise.is_on() => InputNoise::None,
        NoiseKind::Dropout => InputNoise::Proportional(rate / (1.0 - rate)),
        NoiseKind::Gaussian => InputNoise::Proportional(rate),
        NoiseKind::Additive => InputNoise::Additive(rate),
        kind => {
            return Err(Error::parameter(format!(
                "the noise is {kind}; expected noise with a bound"
            )));
        }
    })
}
