//! Minimization of the objective by L-BFGS, with a warm-up if there is noise.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::agreement::Agreement;
use super::checkpoint::{AlgorithmState, Checkpointer, TrainingState};
use super::events::Observer;
use super::monitor::Monitor;
use super::settings::{NoiseTerm, TrainSettings, check_labels};
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::objective::{PenalizedLikelihood, Terms};
use crate::optim::{
    Iteration, LbfgsOptions, LbfgsSettings, OptimizerState, Outcome, Start, StateObserver,
    StopReason, minimize_from,
};

/// Adds the noise term of the settings to an objective on `set`.
///
/// # Errors
///
/// [`Error::Parameter`](crate::Error::Parameter): the noise is not that of so many labels.
pub(super) fn with_noise(
    objective: PenalizedLikelihood,
    set: &TrainingSet,
    settings: &TrainSettings,
) -> Result<PenalizedLikelihood> {
    let Some(noise) = settings.noise() else {
        return Ok(objective);
    };
    check_labels(&noise, set.space().labels())?;
    let amounts = set.attribute_noise(&noise);
    Ok(match noise {
        NoiseTerm::Quadratic(noise) => objective.with_attribute_noise(noise, amounts),
        NoiseTerm::MonteCarlo(sampling) => objective.with_attribute_sampling(sampling, amounts),
    })
}

/// Minimizes the objectives of a training run.
pub(super) struct Optimizer<'a> {
    pub settings: &'a TrainSettings,
    pub set: &'a TrainingSet,
    /// Stops training when set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl Optimizer<'_> {
    /// Trains from `start`: with noise, first the warm-up without it. `objective` has no noise yet.
    ///
    /// # Errors
    ///
    /// The objective is not finite at the start; the state to resume from does not fit it; the
    /// noise is not that of so many labels.
    pub fn run(
        &self,
        mut objective: PenalizedLikelihood,
        mut start: Start<Terms>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let options = self.settings.options();
        if let Some(noise) = self.settings.noise() {
            check_labels(&noise, self.set.space().labels())?; // before the warm-up
        }
        if matches!(start, Start::Point(_)) && options.has_noise() && watch.warm_up > 0 {
            watch.monitor.begin_fixed_run();
        }
        if watch.monitor.is_fixed_run() {
            let left = self.iterations_left(watch);
            let limit = left.map_or(watch.warm_up, |left| left.min(watch.warm_up));
            let outcome = self.minimize(&mut objective, start, Some(limit), watch)?;
            let is_last = left == Some(outcome.iterations);
            if outcome.stop_reason == StopReason::Interrupted || is_last {
                return Ok(outcome);
            }
            watch.monitor.end_fixed_run(&outcome);
            start = Start::Point(outcome.x);
        }
        let limit = self.iterations_left(watch);
        objective = with_noise(objective, self.set, self.settings)?;
        self.minimize(&mut objective, start, limit, watch)
    }

    /// Returns the maximum number of iterations that earlier runs have left, if there is one.
    fn iterations_left(&self, watch: &Watch<'_, '_>) -> Option<usize> {
        let earlier = watch.monitor.earlier_iterations();
        let max = self.settings.options().max_iterations;
        max.map(|max| max.saturating_sub(earlier))
    }

    /// Minimizes one objective, in at most `limit` iterations.
    ///
    /// # Errors
    ///
    /// The objective is not finite at the start of training; the start does not fit it.
    pub fn minimize(
        &self,
        objective: &mut PenalizedLikelihood,
        start: Start<Terms>,
        limit: Option<usize>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let lbfgs = LbfgsSettings::new(LbfgsOptions {
            max_iterations: limit,
            ..self.settings.options().lbfgs.clone()
        })?;
        let l1 = self.set.l1_strengths(self.settings.options().l1);
        let outcome = minimize_from(
            objective,
            start,
            l1.as_deref(),
            &lbfgs,
            self.interrupt,
            watch,
        )?;
        if outcome.stop_reason == StopReason::NonFinite && watch.monitor.is_at_start() {
            return Err(Error::NotFinite(
                "the objective is not finite at the start of training; expected smaller attribute \
                 values, or less noise"
                    .to_owned(),
            ));
        }
        Ok(outcome)
    }
}

/// Monitors the optimizer and writes checkpoints.
pub(super) struct Watch<'a, 'set> {
    pub monitor: &'a mut Monitor<'set>,
    pub observer: &'a mut dyn Observer,
    /// Number of warm-up iterations, if there is noise.
    pub warm_up: usize,
    pub checkpointer: Option<Checkpointer<'a>>,
    /// With ranks: what they agree on after every iteration.
    pub agreement: Option<&'a Agreement<'a>>,
}

impl StateObserver<Terms> for Watch<'_, '_> {
    fn iteration(&mut self, iteration: &Iteration<'_, Terms>) -> ControlFlow<()> {
        let flow = self.monitor.iteration(iteration, self.observer);
        match self.agreement {
            None => flow,
            Some(agreement) => agreement.agree(iteration, flow),
        }
    }

    fn state(&mut self, state: &OptimizerState<'_, Terms>, is_interrupted: bool) {
        self.save(is_interrupted, || AlgorithmState::Batch(state.clone()));
    }
}

impl Watch<'_, '_> {
    /// Writes a checkpoint of a run after an iteration, if it is time or if it is interrupted.
    pub fn save<'s>(&mut self, is_interrupted: bool, state: impl FnOnce() -> AlgorithmState<'s>) {
        let checkpointer = self.checkpointer.as_mut();
        let Some(checkpointer) = checkpointer.filter(|checkpointer| checkpointer.is_written())
        else {
            return;
        };
        let monitor = self.monitor.state();
        let is_due = is_interrupted || checkpointer.is_due(monitor.iterations);
        if monitor.iterations == 0 || !is_due {
            return;
        }
        self.observer.checkpoint();
        let written = checkpointer.write(&TrainingState {
            warm_up: self.warm_up,
            monitor,
            algorithm: state(),
        });
        if let Err(error) = written {
            self.observer.checkpoint_failed(&error);
        }
    }
}
