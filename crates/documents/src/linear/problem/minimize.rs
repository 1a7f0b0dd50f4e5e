//! Minimizing the objective, by rounds of multipliers where the loss has kinks.

use std::ops::ControlFlow;

use super::super::loss::Loss;
use super::super::objective::{LinearObjective, Noise, Terms};
use super::{Fitted, PAIRS, Problem, Step, Watch};
use dropchain::kernel::optim::{LbfgsOptions, Objective, Outcome, StopReason, minimize};
use dropchain::{Error, Result};

/// What σ is multiplied by where a gap is not this much smaller than the one before, and its least
/// value relative to the first.
const SHRINKING: f64 = 0.3;
const LEAST: f64 = 0.03;

/// The tolerance of the minimum for the first multipliers; that for later ones, relative to the gap
/// that is left, as L-BFGS begins anew and slowly; and the least.
const FIRST_TOLERANCE: f64 = 1e-3;
const NEXT_TOLERANCE: f64 = 1e-7;
const LEAST_TOLERANCE: f64 = 1e-13;

/// The largest number of times that multipliers are set.
const MAX_ROUNDS: usize = 100;

/// A part of a minimization.
#[derive(Clone, Copy)]
struct Stage<'s> {
    l1: &'s [f64],
    done: usize, // iterations before it
    tolerance: f64,
}

impl Problem<'_> {
    /// Minimizes the objective from w = 0.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if numbers overflow at the start.
    pub fn minimize(&self, watch: Watch<'_>) -> Result<Fitted> {
        let fitted = self.minimize_rounds(watch)?;
        let is_finite = fitted.value.is_finite() && fitted.x.iter().all(|w| w.is_finite());
        if fitted.stop_reason == StopReason::NonFinite && fitted.iterations == 0 || !is_finite {
            let message = "the objective is not finite at the start of training; expected smaller \
                           features";
            return Err(Error::NotFinite(message.to_owned()));
        }
        Ok(fitted)
    }

    fn minimize_rounds(&self, watch: Watch<'_>) -> Result<Fitted> {
        let mut objective = self.objective();
        let outputs = self.scorer.outputs;
        let mut phi = vec![0.0; objective.dimension()];
        let mut l1 = vec![0.0; phi.len()];
        for (own, scale) in l1.chunks_exact_mut(outputs).zip(&self.scorer.scales) {
            own.fill(self.options.strengths.l1 * scale);
        }
        let mut stage = Stage { l1: &l1, done: 0, tolerance: self.options.tolerance() };
        let Noise::Smooth(mut sigma) = objective.noise else {
            return self.run(&mut objective, phi, stage, watch);
        };
        let least = LEAST * sigma;
        let mut last_gap = f64::INFINITY;
        // Multipliers that are far from the dual variables need no exact minimum. At an exact one,
        // the gap bounds how far the objective is above its least value.
        stage.tolerance = FIRST_TOLERANCE;
        for round in 1.. {
            let outcome = self.run(&mut objective, phi, stage, watch)?;
            let gap = -outcome.detail.noise / outcome.value.abs();
            if gap > SHRINKING * last_gap {
                sigma = (SHRINKING * sigma).max(least);
            }
            last_gap = gap;
            objective.set_multipliers(&outcome.x, sigma);
            let is_last = !matches!(
                outcome.stop_reason,
                StopReason::Improvement | StopReason::Gradient | StopReason::LineSearch
            );
            let is_near = gap.max(stage.tolerance) <= self.options.tolerance();
            if is_last || is_near || round == MAX_ROUNDS {
                let value = outcome.value - outcome.detail.noise;
                let iterations = stage.done + outcome.iterations;
                return Ok(Outcome { value, iterations, ..outcome });
            }
            stage.done += outcome.iterations;
            stage.tolerance = (NEXT_TOLERANCE * gap).clamp(LEAST_TOLERANCE, FIRST_TOLERANCE);
            phi = outcome.x;
        }
        unreachable!("the last round returns")
    }

    /// Minimizes an objective in a stage.
    fn run(
        &self,
        objective: &mut LinearObjective<'_>,
        start: Vec<f64>,
        stage: Stage<'_>,
        watch: Watch<'_>,
    ) -> Result<Outcome<Terms>> {
        let Stage { l1, done, tolerance } = stage;
        let mut last = [f64::INFINITY; 2];
        let mut observe = |step: &Step<'_>| {
            last = [last[1], step.value];
            match step.number {
                0 if done > 0 => ControlFlow::Continue(()), // it was the last of the round before
                number => watch(&Step { number: done + number, ..*step }),
            }
        };
        let options = LbfgsOptions {
            memory: PAIRS,
            max_iterations: self.options.learning.max_iterations.map(|most| most - most.min(done)),
            improvement_tolerance: Some(tolerance),
            gradient_tolerance: match self.options.learning.loss {
                Loss::Softmax => tolerance.min(1e-5),
                _ => 0.0,
            },
            ..LbfgsOptions::default()
        };
        let mut outcome =
            minimize(objective, start, Some(l1), &options, self.interrupt, &mut observe)?;
        // Where nothing is left to gain but rounding, no step does.
        let is_at_rest = last[0] - last[1] <= tolerance.max(1e-9) * last[1].abs();
        if outcome.stop_reason == StopReason::LineSearch && is_at_rest {
            outcome.stop_reason = StopReason::Improvement;
        }
        Ok(outcome)
    }
}
