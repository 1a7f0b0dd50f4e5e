//! Online training: epochs, monitored like the iterations of the optimizer.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::checkpoint::AlgorithmState;
use super::online_state::{LowestEpoch, OnlineState};
use super::optimize::Watch;
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::objective::Terms;
use crate::online::{Algorithm, Epoch, Learner, LearnerSettings, OnlineNoise};
use crate::optim::{Iteration, Outcome, StopReason};

/// An online training run.
pub(super) struct OnlineTraining<'a> {
    pub learner: Learner<'a>,
    pub algorithm: Algorithm,
    /// Whether there is noise, after the warm-up.
    pub has_noise: bool,
    /// Stops training when set.
    pub interrupt: Option<&'a AtomicBool>,
    /// The epoch with the lowest objective, if its weights are the result: of stochastic gradient
    /// descent without development data, as in CRFsuite.
    pub lowest: Option<LowestEpoch<'a>>,
}

impl OnlineTraining<'_> {
    /// Restores the state of an interrupted run.
    ///
    /// # Errors
    ///
    /// The state does not fit the data.
    pub fn restore(&mut self, state: OnlineState<'static>) -> Result<()> {
        if let (Some(lowest), Some(state)) = (&mut self.lowest, state.lowest) {
            *lowest = state;
        }
        self.learner.restore(state.learner)
    }

    /// Trains until `limit` epochs have been made in all, or the algorithm or the monitor stops.
    ///
    /// # Errors
    ///
    /// The weights became infinite before the first epoch ended.
    pub fn run(
        &mut self,
        limit: Option<usize>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let mut last = Epoch {
            objective: f64::NAN,
            terms: Terms::default(),
            rate: None,
            has_converged: false,
        };
        let reason = loop {
            if limit.is_some_and(|limit| self.learner.epochs() >= limit) {
                break StopReason::MaxIterations;
            }
            let interrupted = self
                .interrupt
                .is_some_and(|flag| flag.load(Ordering::Relaxed));
            if interrupted || !self.prepare(watch) {
                self.save(watch, true);
                break StopReason::Interrupted;
            }
            let epoch = self.learner.run_epoch();
            if !epoch.objective.is_finite() {
                break StopReason::NonFinite;
            }
            last = epoch;
            // No checkpoint follows the last epoch: a run that resumes from it would not know that
            // training has ended. One from before repeats the epoch.
            if self.observe(&last, watch).is_break() {
                break StopReason::Interrupted;
            }
            if last.has_converged {
                break match self.algorithm {
                    Algorithm::Lbfgs | Algorithm::Sgd(_) => StopReason::Improvement,
                    Algorithm::Ap(_) | Algorithm::Pa(_) | Algorithm::Arow(_) => StopReason::Loss,
                };
            }
            self.save(watch, false);
        };
        self.finish(reason, &last, watch)
    }

    /// Prepares the first epoch. Returns false if interrupted.
    fn prepare(&mut self, watch: &mut Watch<'_, '_>) -> bool {
        let is_ready = self.learner.prepare(self.interrupt);
        if let Some(calibration) = self.learner.take_calibration() {
            watch.observer.calibrated(&calibration);
        }
        is_ready
    }

    /// Hands an epoch to the monitor.
    fn observe(&mut self, epoch: &Epoch, watch: &mut Watch<'_, '_>) -> ControlFlow<()> {
        let epochs = self.learner.epochs();
        let theta = self.learner.theta();
        if let Some(lowest) = &mut self.lowest {
            if self.has_noise && epochs == watch.warm_up + 1 {
                // Objectives with and without the noise term are not comparable.
                *lowest = LowestEpoch::default();
            }
            lowest.record(epochs, epoch.objective, theta);
        }
        let mut terms = epoch.terms;
        if !self.algorithm.is_probabilistic() {
            terms.log_likelihood = f64::NAN;
        }
        let iteration = Iteration {
            number: epochs - watch.monitor.earlier_iterations(),
            value: epoch.objective,
            detail: &terms,
            gradient_norm: f64::NAN,
            x_norm: theta.iter().map(|w| w * w).sum::<f64>().sqrt(),
            step: epoch.rate.unwrap_or(1.0),
            evaluations: epochs - watch.monitor.earlier_iterations(),
            x: theta,
            nonzero: theta.iter().filter(|&&w| w != 0.0).count(),
        };
        watch.monitor.epoch(&iteration, epoch.rate, watch.observer)
    }

    /// Writes a checkpoint if it is time.
    fn save(&self, watch: &mut Watch<'_, '_>, is_interrupted: bool) {
        watch.save(is_interrupted, || {
            AlgorithmState::Online(OnlineState {
                learner: self.learner.state(),
                lowest: self.lowest.as_ref().map(LowestEpoch::borrow),
            })
        });
    }

    /// Returns the result.
    fn finish(
        &mut self,
        reason: StopReason,
        last: &Epoch,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let epochs = self.learner.epochs();
        let mut x = self.learner.theta().to_vec();
        if let Some(lowest) = self.lowest.take().filter(|lowest| lowest.epoch > 0) {
            watch.monitor.choose(lowest.epoch);
            x = lowest.theta.into_owned();
        } else if reason == StopReason::NonFinite && !watch.monitor.has_best() {
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
            iterations: epochs - watch.monitor.earlier_iterations(),
            evaluations: epochs - watch.monitor.earlier_iterations(),
            gradient_norm: f64::NAN,
            skipped_updates: 0,
            restarts: 0,
        })
    }
}

impl TrainingSet {
    /// Returns the parameters of an online learner.
    pub(super) fn learner(&self, settings: &TrainSettings) -> LearnerSettings {
        let noise = settings.noise();
        LearnerSettings {
            algorithm: settings.options().algorithm,
            penalty: self.penalty(settings.l2()),
            noise: noise
                .zip(settings.online_noise())
                .map(|(noise, kind)| OnlineNoise {
                    kind,
                    amounts: self.attribute_noise(&noise),
                }),
            warm_up: settings.warm_up(),
            cooling: None,
            seed: settings.options().seed,
        }
    }

    /// Creates an online training run that starts at θ.
    ///
    /// # Errors
    ///
    /// The algorithm is not an online one.
    pub(super) fn online<'a>(
        &'a self,
        settings: &TrainSettings,
        theta: Vec<f64>,
        interrupt: Option<&'a AtomicBool>,
    ) -> Result<OnlineTraining<'a>> {
        let algorithm = settings.options().algorithm;
        let learner = self.learner(settings);
        let keeps_lowest = matches!(algorithm, Algorithm::Sgd(_)) && !self.chooses_on_dev();
        Ok(OnlineTraining {
            learner: Learner::new(self.data(), self.space(), learner, theta)?,
            algorithm,
            has_noise: settings.options().has_noise(),
            interrupt,
            lowest: keeps_lowest.then(LowestEpoch::default),
        })
    }
}
