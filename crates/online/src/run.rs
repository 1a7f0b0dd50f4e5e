//! A run of epochs, which are the iterations of a course of training.

use std::borrow::Cow;
use std::ops::ControlFlow;

use dropchain::error::{Error, Result};
use dropchain::objective::Terms;
use dropchain::optim::{Iteration, Outcome, StopReason};
use dropchain::train::{Course, Stage, TrainingSet};
use serde::{Deserialize, Serialize};

use crate::epochs::{Epoch, EpochLearner, LearnerSettings};

/// A run of epochs.
pub(crate) struct Run<'a> {
    pub learner: EpochLearner<'a>,
    is_probabilistic: bool,
    /// With noise: the number of epochs before it.
    warm_up: Option<usize>,
    /// The epoch with the lowest objective, if its weights are the result: of stochastic gradient
    /// descent without development data, as in CRFsuite.
    lowest: Option<LowestEpoch<'a>>,
}

/// Runs a stage in epochs.
///
/// # Errors
///
/// The weights became infinite before the first epoch ended; the state to resume from does not fit
/// the data.
pub(crate) fn learn(
    settings: LearnerSettings,
    stage: &Stage,
    course: &mut Course<'_>,
) -> Result<Outcome<Terms>> {
    let set = course.set();
    let mut run = Run::new(set, settings, course.take_start());
    let keeps_lowest = run.is_probabilistic && !set.chooses_on_dev();
    run.lowest = keeps_lowest.then(LowestEpoch::default);
    run.resume(course)?;
    run.run(stage.limit, course)
}

impl<'a> Run<'a> {
    /// Creates a run that starts at θ and keeps its last weights.
    pub fn new(set: &'a TrainingSet, settings: LearnerSettings, theta: Vec<f64>) -> Self {
        Self {
            is_probabilistic: settings.algorithm.is_probabilistic(),
            warm_up: settings.noise.is_some().then_some(settings.warm_up),
            learner: EpochLearner::new(set.data(), set.space(), settings, theta),
            lowest: None,
        }
    }

    /// Restores the state of an interrupted run, if there is one.
    ///
    /// # Errors
    ///
    /// The state does not fit the data.
    pub fn resume(&mut self, course: &mut Course<'_>) -> Result<()> {
        let Some(state) = course.take_state::<RunState<'static>>()? else {
            return Ok(());
        };
        if let (Some(lowest), Some(state)) = (&mut self.lowest, state.lowest) {
            *lowest = state;
        }
        self.learner.restore(&state.learner)
    }

    /// Trains until `limit` epochs have been made in all, or the algorithm or the course ends.
    ///
    /// # Errors
    ///
    /// The weights became infinite before the first epoch ended.
    pub fn run(&mut self, limit: Option<usize>, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        let mut last = Epoch {
            objective: f64::NAN,
            terms: Terms::default(),
            rate: None,
            has_converged: false,
        };
        let reason = loop {
            if limit.is_some_and(|limit| self.learner.epochs >= limit) {
                break StopReason::MaxIterations;
            }
            if course.is_interrupted() || !self.learner.prepare(course.interrupt()) {
                self.save(course, true);
                break StopReason::Interrupted;
            }
            if let Some(calibration) = self.learner.calibration.take() {
                course.calibrated(&calibration);
            }
            let epoch = self.learner.run_epoch();
            if !epoch.objective.is_finite() {
                break StopReason::NonFinite;
            }
            last = epoch;
            // No checkpoint follows the last epoch: a run that resumes from it would not know that
            // training has ended. One from before repeats the epoch.
            if self.observe(&last, course).is_break() {
                break StopReason::Interrupted;
            }
            if last.has_converged {
                break match self.is_probabilistic {
                    true => StopReason::Improvement,
                    false => StopReason::Loss,
                };
            }
            self.save(course, false);
        };
        self.finish(reason, &last, course)
    }

    /// Reports an epoch.
    fn observe(&mut self, epoch: &Epoch, course: &mut Course<'_>) -> ControlFlow<()> {
        let epochs = self.learner.epochs;
        let theta = &self.learner.theta[..];
        if let Some(lowest) = &mut self.lowest {
            if self.warm_up.is_some_and(|warm_up| epochs == warm_up + 1) {
                // Objectives with and without the noise term are not comparable.
                *lowest = LowestEpoch::default();
            }
            lowest.record(epochs, epoch.objective, theta);
        }
        let mut terms = epoch.terms;
        if !self.is_probabilistic {
            terms.log_likelihood = f64::NAN;
        }
        let iteration = Iteration {
            number: epochs,
            value: epoch.objective,
            detail: &terms,
            gradient_norm: f64::NAN,
            x_norm: theta.iter().map(|w| w * w).sum::<f64>().sqrt(),
            step: epoch.rate.unwrap_or(1.0),
            evaluations: epochs,
            x: theta,
            nonzero: theta.iter().filter(|&&w| w != 0.0).count(),
        };
        course.iteration(&iteration, epoch.rate)
    }

    /// Writes a checkpoint if it is time.
    fn save(&self, course: &mut Course<'_>, is_interrupted: bool) {
        course.save(is_interrupted, || RunState {
            learner: self.learner.state(),
            lowest: self.lowest.as_ref().map(LowestEpoch::borrow),
        });
    }

    /// Returns the result.
    fn finish(
        &mut self,
        reason: StopReason,
        last: &Epoch,
        course: &mut Course<'_>,
    ) -> Result<Outcome<Terms>> {
        let epochs = self.learner.epochs;
        let mut x = self.learner.theta.clone();
        if let Some(lowest) = self.lowest.take().filter(|lowest| lowest.epoch > 0) {
            course.choose(lowest.epoch);
            x = lowest.theta.into_owned();
        } else if reason == StopReason::NonFinite && !course.has_kept() {
            return Err(Error::NotFinite(format!(
                "the loss is not finite in epoch {epochs}; expected smaller attribute values, or \
                 smaller steps"
            )));
        }
        Ok(Outcome {
            x,
            value: last.objective,
            detail: last.terms,
            stop_reason: reason,
            iterations: epochs,
            evaluations: epochs,
            gradient_norm: f64::NAN,
            restarts: 0,
        })
    }
}

/// The epoch with the lowest objective so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct LowestEpoch<'a> {
    /// Its number; 0 if there is none yet.
    epoch: usize,
    objective: f64,
    /// Its weights.
    theta: Cow<'a, [f64]>,
}

/// The state of online training after an epoch.
#[derive(Serialize, Deserialize)]
struct RunState<'a> {
    learner: Vec<f64>,
    lowest: Option<LowestEpoch<'a>>,
}

impl LowestEpoch<'_> {
    /// Records an epoch.
    fn record(&mut self, epoch: usize, objective: f64, theta: &[f64]) {
        if self.epoch == 0 || objective < self.objective {
            let kept = self.theta.to_mut();
            kept.clear();
            kept.extend_from_slice(theta);
            (self.epoch, self.objective) = (epoch, objective);
        }
    }

    /// Returns a copy that borrows the weights.
    fn borrow(&self) -> LowestEpoch<'_> {
        LowestEpoch { theta: Cow::Borrowed(&self.theta), ..*self }
    }
}
