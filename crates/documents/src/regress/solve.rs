//! Minimizing the objective of some strengths.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::corpus::Design;
use super::options::{RegressionLoss, RegressionOptions, Solver};
use super::solvers::{self, CoordinateDescent, SmoothObjective, System};
use crate::irls::{self, Documents, InputNoise, IrlsOptions, Minimization, irls_memory};
use dropchain::error::{Error, Result};
use dropchain::extract::SparseRows;
use dropchain::math::dot;
use dropchain::optim::{self, LbfgsOptions, LbfgsSettings, StopReason};

/// The largest system that is factorized unless the user asks for more: 32 MB.
const LARGEST_SYSTEM: usize = 2000;

/// The objective of an exact fit, relative to that without features.
const INTERPOLATED: f64 = 1e-9;

/// Curvature pairs of L-BFGS.
const MEMORY: usize = 15;

/// An iteration of training, as passed to an observer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegressionIteration {
    /// Steps, or passes over the features, so far; 0 at the start.
    pub number: usize,
    /// The objective.
    pub objective: f64,
    /// Number of weights that are not 0.
    pub nonzero: usize,
}

/// Follows training, and may end it.
pub(super) type Watch<'a> = &'a mut dyn FnMut(RegressionIteration) -> ControlFlow<()>;

/// Strengths of the penalties.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strengths {
    pub l2: f64,
    pub l1: f64,
}

/// A minimum.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub w: Vec<f64>, // [D]
    /// The bias of features as they are.
    pub bias: f64,
    pub objective: f64,
    pub iterations: usize,
    pub stop_reason: StopReason,
}

/// Documents to be fitted.
pub(super) struct Fit<'a> {
    design: Design<'a>,
    targets: &'a [f64],
    mean: f64,          // of the targets
    centered: Vec<f64>, // [N] targets minus their mean
    options: &'a RegressionOptions,
    interrupt: Option<&'a AtomicBool>,
}

impl<'a> Fit<'a> {
    /// Prepares the documents of X, which has so many columns, and y.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are no documents, or memory does not suffice.
    pub fn new(
        rows: &'a SparseRows,
        columns: usize,
        targets: &'a [f64],
        held: usize,
        options: &'a RegressionOptions,
        interrupt: Option<&'a AtomicBool>,
    ) -> Result<Self> {
        if targets.is_empty() {
            return Err(Error::parameter("there are no documents to train on"));
        }
        let own = match options.loss {
            RegressionLoss::Insensitive { .. } => {
                let design = Design::memory(rows, columns) + 8 * columns + 16 * targets.len();
                design + irls_memory(rows, columns, 1)
            }
            _ => Design::memory(rows, columns) + 12 * (MEMORY + 6) * columns + 40 * targets.len(),
        };
        check_memory(options, columns, held + own, held)?;
        let count = targets.len() as f64;
        let mean: f64 = targets.iter().map(|y| y / count).sum();
        if options.loss == RegressionLoss::Poisson && mean == 0.0 {
            let message = "all numbers to predict are 0; expected some above, for the poisson loss";
            return Err(Error::parameter(message));
        }
        Ok(Self {
            design: Design::new(rows, columns),
            targets,
            mean,
            centered: targets.iter().map(|y| y - mean).collect(),
            options,
            interrupt,
        })
    }

    /// Returns max |x_j·y| of centered x and y, of standardized x if these are penalized: above
    /// some multiple of that, an L1 penalty leaves no weight.
    pub fn largest_product(&self) -> f64 {
        let products = self.design.transpose_product(&self.centered);
        let products = products.iter().enumerate().map(|(j, p)| {
            let factor = self.factor(j);
            if factor > 0.0 { p.abs() / factor } else { 0.0 }
        });
        products.fold(0.0, f64::max)
    }

    /// Returns the score that all documents have if no feature matters.
    pub fn null_score(&self) -> f64 {
        match self.options.loss {
            RegressionLoss::Poisson => self.mean.ln(),
            _ => self.mean,
        }
    }

    /// Minimizes the objective from `start`, or from w = 0.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if numbers overflow; [`Error::Parameter`] if the solver does not fit.
    pub fn minimize(
        &self,
        strengths: Strengths,
        start: Option<&Solution>,
        watch: Watch<'_>,
    ) -> Result<Solution> {
        let mut solution = match self.options.loss {
            RegressionLoss::Insensitive { epsilon } => self.by_irls(strengths.l2, epsilon, watch),
            RegressionLoss::Poisson => self.by_gradients(strengths, start, watch)?,
            RegressionLoss::Squared => self.least_squares(strengths, start, watch)?,
        };
        if !matches!(self.options.loss, RegressionLoss::Insensitive { .. }) {
            for (w, square) in solution.w.iter_mut().zip(&self.design.squares) {
                *w = if *square == 0.0 { 0.0 } else { *w }; // rounding noise
            }
        }
        let is_finite = solution.objective.is_finite() && solution.bias.is_finite();
        if solution.stop_reason == StopReason::NonFinite || !is_finite {
            let message = "the objective is not finite; expected smaller features and numbers";
            return Err(Error::NotFinite(message.to_owned()));
        }
        Ok(solution)
    }

    fn least_squares(
        &self,
        strengths: Strengths,
        start: Option<&Solution>,
        watch: Watch<'_>,
    ) -> Result<Solution> {
        let solver = self.options.solver;
        let fits = |solver| matches!(solver, Solver::Auto | Solver::CoordinateDescent);
        if strengths.l1 > 0.0 && fits(solver) {
            return Ok(self.by_coordinates(strengths, start, watch));
        }
        let l2 = self.l2(strengths.l2);
        let (_, size) = System::of(&self.design, &l2);
        let is_small = solver == Solver::Auto && size <= LARGEST_SYSTEM && strengths.l1 == 0.0;
        if !is_small && solver != Solver::Cholesky {
            return self.by_gradients(strengths, start, watch);
        }
        let needed = size.saturating_mul(size).saturating_mul(8);
        check_memory(self.options, self.design.dimension(), needed, 0)?;
        let Some(w) = solvers::minimum(&self.design, &self.centered, &l2) else {
            if solver == Solver::Cholesky {
                let message = "features depend on one another linearly, so the minimum is not \
                               unique; expected an L2 strength above 0, or another solver";
                return Err(Error::parameter(message));
            }
            return self.by_gradients(strengths, start, watch);
        };
        let fitted = self.design.scores(&w, 0.0);
        let residuals = self.centered.iter().zip(fitted).map(|(y, f)| y - f);
        let loss: f64 = residuals.map(|r| r * r).sum();
        let penalty: f64 = w.iter().zip(&l2).map(|(w, l2)| l2 * w * w).sum();
        let objective = loss + penalty;
        // There is nothing left to end.
        let _ = watch(iteration(1, objective, &w));
        Ok(Solution {
            bias: self.design.plain_bias(&w, self.mean),
            w,
            objective,
            iterations: 1,
            stop_reason: StopReason::Gradient,
        })
    }

    fn by_coordinates(
        &self,
        strengths: Strengths,
        start: Option<&Solution>,
        watch: Watch<'_>,
    ) -> Solution {
        let w = start.map_or_else(|| vec![0.0; self.design.dimension()], |s| s.w.clone());
        let [l2, l1] = [self.l2(strengths.l2), self.l1(strengths.l1)];
        let mut descent = CoordinateDescent::new(&self.design, &self.centered, w, &l2, &l1);
        let allowed = self.options.tolerance * dot(&self.centered, &self.centered);
        let limit = self.options.max_iterations.unwrap_or(usize::MAX);
        let mut passes = 0;
        let mut lowest = f64::INFINITY;
        let (objective, stop_reason) = loop {
            let check = descent.check();
            let flow = watch(iteration(passes, check.objective, &descent.w));
            let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
            let reason = if check.gap <= allowed {
                Some(StopReason::Gradient)
            } else if !check.objective.is_finite() {
                Some(StopReason::NonFinite)
            } else if flow.is_break() || self.interrupt.is_some_and(is_set) {
                Some(StopReason::Interrupted)
            } else if passes >= limit {
                Some(StopReason::MaxIterations)
            } else if passes > 0 && check.objective >= lowest {
                Some(StopReason::Improvement) // as good as rounding permits
            } else {
                None
            };
            if let Some(reason) = reason {
                break (check.objective, reason);
            }
            lowest = check.objective;
            passes += descent.descend(&check, allowed, limit - passes, self.interrupt);
        };
        Solution {
            bias: self.design.plain_bias(&descent.w, self.mean),
            w: descent.w,
            objective,
            iterations: passes,
            stop_reason,
        }
    }

    /// Minimizes by L-BFGS or OWL-QN.
    fn by_gradients(
        &self,
        strengths: Strengths,
        start: Option<&Solution>,
        watch: Watch<'_>,
    ) -> Result<Solution> {
        let l2 = self.l2(strengths.l2);
        let mut objective = SmoothObjective {
            design: &self.design,
            targets: self.targets,
            loss: self.options.loss,
            noise: match self.options.loss {
                RegressionLoss::Squared => InputNoise::None, // it is in λ
                _ => self.options.noise.input_noise(),
            },
            l2: &l2,
        };
        let mut x = start.map_or_else(|| vec![0.0; l2.len()], |s| s.w.clone());
        x.push(start.map_or(self.null_score(), |s| s.bias + self.design.shift(&s.w)));
        let mut l1 = self.l1(strengths.l1);
        l1.push(0.0);
        let settings = LbfgsSettings::new(LbfgsOptions {
            memory: MEMORY,
            max_iterations: self.options.max_iterations,
            improvement_tolerance: self.options.tolerance,
            gradient_tolerance: 0.0,
            ..LbfgsOptions::default()
        })?;
        let mut last = [f64::INFINITY; 2];
        let mut observe = |i: &optim::Iteration<'_, ()>| {
            last = [last[1], i.value];
            watch(iteration(i.number, i.value, &i.x[..i.x.len() - 1]))
        };
        let l1 = Some(&l1[..]);
        let outcome =
            optim::minimize(&mut objective, x, l1, &settings, self.interrupt, &mut observe)?;
        let mut w = outcome.x;
        let bias = w.pop().unwrap_or_default();
        Ok(Solution {
            bias: self.design.plain_bias(&w, bias),
            w,
            objective: outcome.value,
            iterations: outcome.iterations,
            // Where nothing is left to gain but rounding, no step does.
            stop_reason: match outcome.stop_reason {
                StopReason::LineSearch
                    if is_at_rest(last, self.options.tolerance)
                        || self.is_interpolated(outcome.value) =>
                {
                    StopReason::Improvement
                }
                reason => reason,
            },
        })
    }

    /// Returns whether an objective is 0 but for rounding: least squares without a penalty reach
    /// all numbers exactly, where features are as many as documents.
    fn is_interpolated(&self, objective: f64) -> bool {
        let is_squared = self.options.loss == RegressionLoss::Squared;
        is_squared && objective <= INTERPOLATED * dot(&self.centered, &self.centered)
    }

    /// Trains support vector regression.
    fn by_irls(&self, l2: f64, epsilon: f64, watch: Watch<'_>) -> Solution {
        let columns = self.design.dimension();
        let documents = Documents {
            rows: self.design.rows,
            scales: &vec![1.0; columns],
            bias: 1.0,
            targets: &self.centered,
            weights: &vec![1.0; self.targets.len()],
            penalizes_bias: false,
        };
        let loss = irls::Loss::Insensitive { epsilon };
        let noise = self.options.noise.input_noise();
        let problem = irls::Problem::new(documents, loss, noise, l2);
        let options = IrlsOptions {
            max_iterations: self.options.max_iterations,
            earlier_iterations: 0,
            improvement_tolerance: self.options.tolerance,
            period: 10,
            gradient_tolerance: 1e-9,
        };
        let start = vec![0.0; problem.dimension()];
        let mut run = [Minimization::new(&problem, start, options)];
        let stop_reason = irls::minimize(&mut run, self.interrupt, &mut |run| {
            let run = &run[0];
            watch(iteration(run.iterations(), run.value.total, &run.w[..columns]))
        });
        let [run] = run;
        let iterations = run.iterations();
        let mut w = run.w;
        Solution {
            bias: w.pop().unwrap_or_default() + self.mean,
            w,
            objective: run.value.total,
            iterations,
            stop_reason,
        }
    }

    /// Returns what a weight is multiplied by before it is penalized.
    fn factor(&self, j: usize) -> f64 {
        match self.options.standardize {
            true => (self.design.squares[j] / self.targets.len() as f64).sqrt(),
            false => 1.0,
        }
    }

    /// Returns λ of each feature: the penalty, and of least squares the noise.
    fn l2(&self, strength: f64) -> Vec<f64> {
        let is_squared = self.options.loss == RegressionLoss::Squared;
        let noise = |j: usize| match self.options.noise.input_noise() {
            InputNoise::Proportional(rate) if is_squared => rate * self.design.raw_squares[j],
            InputNoise::Additive(variance) if is_squared => variance * self.targets.len() as f64,
            _ => 0.0,
        };
        let strengths = (0..self.design.dimension()).map(|j| {
            let strength = strength * self.factor(j).powi(2) + noise(j);
            let is_constant = self.design.squares[j] == 0.0;
            // Constant features are the bias, and have no weight of their own.
            if is_constant { strength.max(1.0) } else { strength }
        });
        strengths.collect()
    }

    fn l1(&self, strength: f64) -> Vec<f64> {
        let features = 0..self.design.dimension();
        features.map(|j| strength * self.factor(j)).collect()
    }
}

fn iteration(number: usize, objective: f64, w: &[f64]) -> RegressionIteration {
    RegressionIteration { number, objective, nonzero: w.iter().filter(|&&w| w != 0.0).count() }
}

/// Checks that so many bytes, of which some are held already, are within the limit.
fn check_memory(
    options: &RegressionOptions,
    features: usize,
    needed: usize,
    held: usize,
) -> Result<()> {
    let check = options.memory.check(needed as u64, held as u64);
    check.map_err(|over| {
        Error::parameter(format!(
            "regression on {features} features: {over}; expected fewer features or a larger limit"
        ))
    })
}

/// Returns whether the last iteration has lowered the objective by next to nothing.
fn is_at_rest([before, last]: [f64; 2], tolerance: f64) -> bool {
    before - last <= tolerance.max(1e-9) * last.abs()
}
