//! Which objectives the optimizer minimizes, one after the other.

use std::sync::atomic::AtomicBool;

use super::events::Observer;
use super::options::{NoiseTerm, TrainOptions};
use super::watch::Watch;
use crate::error::{Error, Result};
use crate::objective::{PenalizedLikelihood, Terms};
use crate::optim::{LbfgsOptions, LbfgsSettings, Outcome, StopReason, minimize};
use crate::score::ParameterSpace;

/// The objective with the noise that the options ask for.
pub(super) fn with_noise<'a>(
    objective: PenalizedLikelihood<'a>,
    options: &TrainOptions,
) -> PenalizedLikelihood<'a> {
    match options.noise() {
        None => objective,
        Some(NoiseTerm::Quadratic(noise)) => objective.with_noise(noise),
        Some(NoiseTerm::Sampled(monte_carlo)) => objective.with_monte_carlo(monte_carlo),
    }
}

/// From weights that are all 0 to the last ones: with noise in two stages, the first of which, the
/// warm-up, is without.
pub(super) struct Optimizer<'a> {
    pub options: &'a TrainOptions,
    pub space: &'a ParameterSpace,
    /// Ends training when it is set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl Optimizer<'_> {
    /// Runs all stages of `objective`, which has no noise yet.
    ///
    /// # Errors
    ///
    /// The objective is not finite where training begins.
    pub fn run(
        &self,
        mut objective: PenalizedLikelihood<'_>,
        watch: &mut Watch<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome<Terms>> {
        let mut theta = vec![0.0; self.space.dimension()];
        let mut limit = self.options.max_iterations;
        let warm_up = self.options.warm_up();
        if warm_up > 0 {
            let iterations = limit.map_or(warm_up, |limit| limit.min(warm_up));
            watch.begin_warm_up();
            let outcome = self.stage(&mut objective, theta, Some(iterations), watch, observer)?;
            limit = limit.map(|limit| limit - outcome.iterations);
            let is_over = outcome.stop_reason == StopReason::Interrupted || limit == Some(0);
            if is_over {
                return Ok(outcome);
            }
            watch.end_warm_up(&outcome);
            theta = outcome.x;
        }
        objective = with_noise(objective, self.options);
        self.stage(&mut objective, theta, limit, watch, observer)
    }

    /// Minimizes one objective, in at most `limit` iterations.
    pub fn stage(
        &self,
        objective: &mut PenalizedLikelihood<'_>,
        theta: Vec<f64>,
        limit: Option<usize>,
        watch: &mut Watch<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome<Terms>> {
        let settings = LbfgsSettings::new(LbfgsOptions {
            max_iterations: limit,
            ..LbfgsOptions::default()
        })?;
        let l1 = (self.options.l1 > 0.0).then(|| self.space.l1_strengths(self.options.l1));
        let outcome = minimize(
            objective,
            theta,
            l1.as_deref(),
            &settings,
            self.interrupt,
            &mut |iteration| watch.iteration(iteration, observer),
        )?;
        if outcome.stop_reason == StopReason::NonFinite && watch.is_at_start() {
            return Err(Error::parameter(
                "the objective is not finite where training begins; expected smaller values of \
                 attributes, or less noise",
            ));
        }
        Ok(outcome)
    }
}
