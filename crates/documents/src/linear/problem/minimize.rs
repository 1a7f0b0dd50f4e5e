//! Minimizing the objective: the weights of all scores at once, by rounds of multipliers where the
//! loss has kinks, or the hidden units of each score.

use std::ops::ControlFlow;

use super::super::hidden;
use super::super::loss::{Loss, Smoothing};
use super::super::objective::Terms;
use super::{Fitted, PAIRS, Problem, Step, Watch};
use crate::corpus::Target;
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

/// The objective of an exact fit, relative to that without features.
const INTERPOLATED: f64 = 1e-9;

/// A part of a minimization.
#[derive(Clone, Copy)]
struct Stage<'s> {
    l1: &'s [f64],
    done: usize, // iterations before it
    tolerance: f64,
}

impl Problem<'_> {
    fn options(&self, stage: Stage<'_>) -> LbfgsOptions {
        let Stage { done, tolerance, .. } = stage;
        LbfgsOptions {
            memory: PAIRS,
            max_iterations: self.options.learning.max_iterations.map(|most| most - most.min(done)),
            improvement_tolerance: Some(tolerance),
            gradient_tolerance: if self.options.stops_early() {
                1e-5_f64.min(tolerance)
            } else {
                0.0
            },
            ..LbfgsOptions::default()
        }
    }

    /// Minimizes the objective.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if numbers overflow at the start.
    pub fn minimize(&self, watch: Watch<'_>) -> Result<Fitted> {
        let fitted = match self.options.classes.hidden {
            0 => self.minimize_linear(watch)?,
            _ => self.minimize_hidden(watch)?,
        };
        let is_finite = fitted.objective.is_finite() && fitted.phi.iter().all(|w| w.is_finite());
        if fitted.stop_reason == StopReason::NonFinite && fitted.iterations == 0 || !is_finite {
            let message = "the objective is not finite at the start of training; expected smaller \
                           features and numbers";
            return Err(Error::NotFinite(message.to_owned()));
        }
        Ok(fitted)
    }

    /// Minimizes the objective of linear scores from w = 0.
    fn minimize_linear(&self, watch: Watch<'_>) -> Result<Fitted> {
        let mut objective = self.linear();
        let outputs = self.outputs();
        let count = self.design.dimension() * outputs;
        let mut phi = vec![0.0; objective.dimension()];
        phi[count..].fill(self.null_score() / self.scorer.bias);
        let mut l1 = vec![0.0; phi.len()];
        for j in 0..self.design.dimension() {
            let own = &mut l1[j * outputs..][..outputs];
            own.fill(self.options.strengths.l1 * self.scorer.scales[j] * self.factor(j));
        }
        let mut stage = Stage { l1: &l1, done: 0, tolerance: self.options.tolerance() };
        let Smoothing::Multipliers(mut sigma) = objective.smoothing else {
            let outcome = self.run(&mut objective, phi, stage, watch)?;
            return Ok(self.finish(outcome, count, 0));
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
                return Ok(self.finish(Outcome { value, ..outcome }, count, stage.done));
            }
            stage.done += outcome.iterations;
            stage.tolerance = (NEXT_TOLERANCE * gap).clamp(LEAST_TOLERANCE, FIRST_TOLERANCE);
            phi = outcome.x;
        }
        unreachable!("the last round returns")
    }

    /// Minimizes an objective in a stage.
    fn run<O: Objective<Detail = Terms>>(
        &self,
        objective: &mut O,
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
        let options = self.options(stage);
        let mut outcome =
            minimize(objective, start, Some(l1), &options, self.interrupt, &mut observe)?;
        // Where nothing is left to gain but rounding, no step does.
        let is_at_rest = last[0] - last[1] <= tolerance.max(1e-9) * last[1].abs();
        if outcome.stop_reason == StopReason::LineSearch
            && (is_at_rest || self.is_interpolated(outcome.value))
        {
            outcome.stop_reason = StopReason::Improvement;
        }
        Ok(outcome)
    }

    /// Returns whether an objective is 0 but for rounding: least squares without a penalty reach
    /// all numbers exactly, where features are as many as documents.
    fn is_interpolated(&self, objective: f64) -> bool {
        let mean = self.mean();
        let targets = self.corpus.targets.iter();
        let squares = targets.map(|target| match target {
            Target::Number(y) => (y - mean).powi(2),
            _ => 0.0,
        });
        self.classes() == 0
            && self.options.loss == Loss::Squared
            && objective <= INTERPOLATED * squares.sum::<f64>()
    }

    fn finish(&self, outcome: Outcome<Terms>, count: usize, done: usize) -> Fitted {
        let mut phi = outcome.x;
        if let Some(moments) = self.moments.as_ref().filter(|_| self.classes() == 0) {
            for (w, square) in phi[..count].iter_mut().zip(&moments.squares) {
                *w = if *square == 0.0 { 0.0 } else { *w }; // rounding noise
            }
        }
        Fitted {
            phi,
            objective: outcome.value,
            iterations: done + outcome.iterations,
            stop_reason: outcome.stop_reason,
        }
    }

    /// Minimizes the objective of the hidden units of each score, one after another.
    fn minimize_hidden(&self, watch: Watch<'_>) -> Result<Fitted> {
        let examples = self.examples();
        let (outputs, units) = (self.outputs(), self.options.classes.hidden);
        let mut fitted = Fitted {
            phi: Vec::new(),
            objective: 0.0,
            iterations: 0,
            stop_reason: StopReason::Gradient,
        };
        for k in 0..outputs {
            let targets: Vec<f64> =
                examples.targets.iter().skip(k).step_by(outputs).copied().collect();
            let mut objective = self.hidden(&examples, &targets);
            let start = hidden::start(&self.design, units, self.options.classes.seed);
            let l1 = vec![0.0; start.len()];
            let stage = Stage { l1: &l1, done: 0, tolerance: self.options.tolerance() };
            let outcome = self.run(&mut objective, start, stage, watch)?;
            fitted.phi.extend(outcome.x);
            fitted.objective += outcome.value;
            fitted.iterations = fitted.iterations.max(outcome.iterations);
            if fitted.stop_reason == StopReason::Gradient || k == 0 {
                fitted.stop_reason = outcome.stop_reason;
            }
        }
        Ok(fitted)
    }
}
