//! Minimization of the objective, with a warm-up if there is noise.

use std::sync::atomic::AtomicBool;

use super::events::Observer;
use super::monitor::Monitor;
use super::settings::{NoiseTerm, TrainSettings};
use crate::error::{Error, Result};
use crate::objective::{PenalizedLikelihood, Terms};
use crate::optim::{LbfgsOptions, LbfgsSettings, Outcome, StopReason, minimize};
use crate::score::ParameterSpace;

/// Adds the noise term of the settings to an objective.
pub(super) fn with_noise<'a>(
    objective: PenalizedLikelihood<'a>,
    settings: &TrainSettings,
) -> PenalizedLikelihood<'a> {
    match settings.noise() {
        None => objective,
        Some(NoiseTerm::Quadratic(noise)) => objective.with_noise(noise),
        Some(NoiseTerm::MonteCarlo(monte_carlo)) => objective.with_monte_carlo(monte_carlo),
    }
}

/// Minimizes the objectives of a training run.
pub(super) struct Optimizer<'a> {
    pub settings: &'a TrainSettings,
    pub space: &'a ParameterSpace,
    /// Stops training when set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl Optimizer<'_> {
    /// Trains from θ = 0: with noise, first the warm-up without it. `objective` has no noise yet.
    ///
    /// # Errors
    ///
    /// The objective is not finite at the start.
    pub fn run(
        &self,
        mut objective: PenalizedLikelihood<'_>,
        monitor: &mut Monitor<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome<Terms>> {
        let mut theta = vec![0.0; self.space.dimension()];
        let options = self.settings.options();
        let mut limit = options.max_iterations;
        let warm_up = self.settings.warm_up();
        if options.has_noise() && warm_up > 0 {
            let iterations = limit.map_or(warm_up, |limit| limit.min(warm_up));
            monitor.begin_warm_up();
            let outcome =
                self.minimize(&mut objective, theta, Some(iterations), monitor, observer)?;
            limit = limit.map(|limit| limit - outcome.iterations);
            if outcome.stop_reason == StopReason::Interrupted || limit == Some(0) {
                return Ok(outcome);
            }
            monitor.end_warm_up(&outcome);
            theta = outcome.x;
        }
        objective = with_noise(objective, self.settings);
        self.minimize(&mut objective, theta, limit, monitor, observer)
    }

    /// Minimizes one objective, in at most `limit` iterations.
    ///
    /// # Errors
    ///
    /// The objective is not finite at the start of training.
    pub fn minimize(
        &self,
        objective: &mut PenalizedLikelihood<'_>,
        theta: Vec<f64>,
        limit: Option<usize>,
        monitor: &mut Monitor<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome<Terms>> {
        let lbfgs = LbfgsSettings::new(LbfgsOptions {
            max_iterations: limit,
            ..LbfgsOptions::default()
        })?;
        let l1 = self.settings.options().l1;
        let l1 = (l1 > 0.0).then(|| self.space.l1_strengths(l1));
        let outcome = minimize(
            objective,
            theta,
            l1.as_deref(),
            &lbfgs,
            self.interrupt,
            &mut |iteration| monitor.iteration(iteration, observer),
        )?;
        if outcome.stop_reason == StopReason::NonFinite && monitor.is_at_start() {
            return Err(Error::NotFinite(
                "the objective is not finite at the start of training; expected smaller attribute \
                 values, or less noise"
                    .to_owned(),
            ));
        }
        Ok(outcome)
    }
}
