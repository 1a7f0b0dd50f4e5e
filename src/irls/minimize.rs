//! The iterations.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dual::Dual;
use super::least_squares::{Step, by_cholesky, by_conjugate_gradients};
use super::problem::{Line, Problem, Scores, Value};
use super::quadratic::{Model, Quadratic};
use super::sums::dot;
use crate::optim::StopReason;

/// With at most so many weights, the Hessian is factorized.
const SMALL: usize = 200;

/// How often a step is doubled at most.
const DOUBLINGS: usize = 10;

/// How often the interval of the step is divided at most.
const DIVISIONS: usize = 40;

/// The slope at the end of a step, relative to that at its start.
const SLOPE: f64 = 0.1;

/// How the quadratic of an iteration is minimized, or that there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// By Cholesky factorization if there are few weights, else by conjugate gradients; if there
    /// are many weights, a loss with kinks and no noise, by dual coordinate descent.
    #[default]
    Auto,
    /// By dual coordinate descent from 0, if the loss has kinks and there is no noise: an iteration
    /// is an epoch. Otherwise like [`Solver::ConjugateGradients`].
    Dual,
    /// By Cholesky factorization.
    Cholesky,
    /// By conjugate gradients, until the residual is this fraction of that at the start.
    ConjugateGradients(f64),
}

impl Solver {
    /// The residual of conjugate gradients by default: the next quadratic is another one anyhow.
    const TOLERANCE: f64 = 0.1;

    /// The largest number of conjugate gradients in an iteration.
    const LIMIT: usize = 250;
}

/// When to stop, and how to get there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IrlsOptions {
    /// The maximum number of iterations.
    pub max_iterations: Option<usize>,
    /// Stop if (J_{k−period} − J_k) / |J_k| is below this, or what J can still fall by according to
    /// the last quadratic or the dual problem.
    pub improvement_tolerance: f64,
    /// The number of iterations over which the improvement is measured.
    pub period: usize,
    /// Stop if ‖∇J‖ ≤ `gradient_tolerance` · max(1, ‖w‖).
    pub gradient_tolerance: f64,
    /// What the quadratics are.
    pub model: Model,
    /// How quadratics are minimized.
    pub solver: Solver,
}

/// The state after an iteration; number 0 is the start.
#[derive(Clone, Copy, Debug)]
pub struct IrlsIteration<'a> {
    /// The number of the iteration.
    pub number: usize,
    /// J and its terms.
    pub value: Value,
    /// ‖∇J‖.
    pub gradient_norm: f64,
    /// The step, as a multiple of that to the minimum of the quadratic; 0 at the start, 1 for an
    /// epoch of dual coordinate descent.
    pub step: f64,
    /// Passes over the documents so far.
    pub evaluations: usize,
    /// w, `[D + 1]`.
    pub w: &'a [f64],
}

/// The result.
#[derive(Clone, Debug, PartialEq)]
pub struct IrlsOutcome {
    /// w, `[D + 1]`.
    pub w: Vec<f64>,
    /// J and its terms.
    pub value: Value,
    /// ‖∇J‖.
    pub gradient_norm: f64,
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// The number of iterations.
    pub iterations: usize,
    /// Passes over the documents.
    pub evaluations: usize,
}

/// Minimizes J from `w`, `[D + 1]`. `interrupt` and `observer` may end it.
pub fn minimize(
    problem: &Problem<'_>,
    w: Vec<f64>,
    options: &IrlsOptions,
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn FnMut(&IrlsIteration<'_>) -> ControlFlow<()>,
) -> IrlsOutcome {
    let mut run = Run {
        problem,
        options,
        interrupt,
        observer,
        values: Vec::new(),
        evaluations: 0,
    };
    let by_dual = match options.solver {
        Solver::Dual => true,
        Solver::Auto => problem.dimension() > SMALL,
        Solver::Cholesky | Solver::ConjugateGradients(_) => false,
    };
    match problem.without_noise().filter(|_| by_dual) {
        Some((documents, loss, l2)) => match Dual::new(documents, loss, l2) {
            Some(dual) => run.ascend(dual, w),
            None => run.outcome(w, StopReason::NonFinite),
        },
        None => run.descend(w),
    }
}

/// The state of a minimization.
struct Run<'r, 'p> {
    problem: &'r Problem<'p>,
    options: &'r IrlsOptions,
    interrupt: Option<&'r AtomicBool>,
    observer: &'r mut dyn FnMut(&IrlsIteration<'_>) -> ControlFlow<()>,
    values: Vec<f64>, // J of every iteration
    evaluations: usize,
}

impl Run<'_, '_> {
    /// Returns the result at `w`.
    fn outcome(&self, w: Vec<f64>, stop_reason: StopReason) -> IrlsOutcome {
        let gradient = self.problem.gradient(&w);
        IrlsOutcome {
            value: self.problem.value(&w),
            gradient_norm: dot(&gradient, &gradient).sqrt(),
            w,
            stop_reason,
            iterations: self.values.len().saturating_sub(1),
            evaluations: self.evaluations,
        }
    }

    /// Reports an iteration. Returns why to stop, if that follows from values alone.
    fn report(
        &mut self,
        w: &[f64],
        value: Value,
        gradient_norm: f64,
        step: f64,
    ) -> Option<StopReason> {
        let number = self.values.len();
        if !value.total.is_finite() || !gradient_norm.is_finite() {
            return Some(StopReason::NonFinite);
        }
        let flow = (self.observer)(&IrlsIteration {
            number,
            value,
            gradient_norm,
            step,
            evaluations: self.evaluations,
            w,
        });
        self.values.push(value.total);
        let is_interrupted = self
            .interrupt
            .is_some_and(|flag| flag.load(Ordering::Relaxed));
        if flow.is_break() || is_interrupted {
            return Some(StopReason::Interrupted);
        }
        let limit = self.options.max_iterations;
        let is_last = limit.is_some_and(|limit| number >= limit);
        is_last.then_some(StopReason::MaxIterations)
    }

    /// Returns whether the last iterations have lowered J by little.
    fn has_stalled(&self) -> bool {
        let last = self.values.len() - 1;
        let before = last.checked_sub(self.options.period);
        before.is_some_and(|before| {
            let [before, value] = [before, last].map(|i| self.values[i]);
            let improvement = (before - value) / value.abs();
            // NaN if both are 0: nothing is left to gain.
            improvement.is_nan() || improvement < self.options.improvement_tolerance
        })
    }

    /// Minimizes one quadratic after another.
    fn descend(&mut self, mut w: Vec<f64>) -> IrlsOutcome {
        let Self {
            problem,
            options,
            interrupt,
            ..
        } = *self;
        let mut step_length = 0.0;
        let mut is_near = false; // the last quadratic was near its minimum at once
        loop {
            let number = self.values.len();
            let delta = problem.smoothing(number);
            let is_smoothed = problem.is_smoothed(number);
            let scores = problem.scores(&w);
            let value = problem.value_of(&scores, &w, delta);
            let quadratic = Quadratic::new(problem, &w, &scores, options.model, delta);
            self.evaluations += 1;
            let gradient_norm = dot(&quadratic.gradient, &quadratic.gradient).sqrt();
            let mut reason = self.report(&w, value, gradient_norm, step_length);
            if reason.is_none() && is_smoothed {
                let limit = options.gradient_tolerance * dot(&w, &w).sqrt().max(1.0);
                reason = match gradient_norm <= limit {
                    true => Some(StopReason::Gradient),
                    false => (is_near || self.has_stalled()).then_some(StopReason::Improvement),
                };
            }
            if let Some(reason) = reason {
                return self.outcome(w, reason);
            }
            let step = solve(&quadratic, options.solver, interrupt);
            self.evaluations += step.products;
            // The quadratic falls by half of the slope to its minimum.
            let decrease = -0.5 * dot(&quadratic.gradient, &step.direction);
            is_near = is_smoothed && decrease <= options.improvement_tolerance * value.total.abs();
            let line = SearchLine::new(problem, &scores, &w, &step.direction, delta);
            match line.step_length(value.total) {
                Some(length) => step_length = length,
                // A large δ has no lower point, a smaller one may have.
                None if !is_smoothed => step_length = 0.0,
                // No step lowers the value by more than rounding.
                None => return self.outcome(w, StopReason::Improvement),
            }
            self.evaluations += 1;
            for (w, d) in w.iter_mut().zip(&step.direction) {
                *w += step_length * d;
            }
        }
    }

    /// Maximizes the dual problem, one document after another.
    fn ascend(&mut self, mut dual: Dual<'_>, start: Vec<f64>) -> IrlsOutcome {
        let (problem, options) = (self.problem, self.options);
        let objective = |w: &[f64]| {
            let value = problem.value(w);
            Value {
                total: value.loss + value.l2,
                ..value
            }
        };
        let mut best = (objective(&start), start);
        let mut change = f64::INFINITY;
        loop {
            self.evaluations += 1;
            let value = best.0;
            let gap = value.total - dual.value();
            let step = if self.values.is_empty() { 0.0 } else { 1.0 };
            let mut reason = self.report(&best.1, value, change.min(f64::MAX), step);
            if reason.is_none() && change <= 1e-12 {
                reason = Some(StopReason::Gradient);
            }
            if reason.is_none() && gap <= options.improvement_tolerance * value.total.abs() {
                reason = Some(StopReason::Improvement);
            }
            if let Some(reason) = reason {
                return self.outcome(best.1, reason);
            }
            change = dual.epoch();
            self.evaluations += 2;
            let value = objective(&dual.w);
            if !value.total.is_finite() {
                return self.outcome(dual.w, StopReason::NonFinite);
            }
            if value.total < best.0.total {
                best.0 = value;
                best.1.copy_from_slice(&dual.w);
            }
        }
    }
}

fn solve(quadratic: &Quadratic<'_, '_>, solver: Solver, interrupt: Option<&AtomicBool>) -> Step {
    let is_small = quadratic.gradient.len() <= SMALL;
    let exact = match solver {
        Solver::Auto => is_small.then(|| by_cholesky(quadratic)).flatten(),
        Solver::Cholesky => by_cholesky(quadratic),
        Solver::ConjugateGradients(_) | Solver::Dual => None,
    };
    let tolerance = match solver {
        Solver::ConjugateGradients(tolerance) => tolerance,
        _ => Solver::TOLERANCE,
    };
    exact.unwrap_or_else(|| by_conjugate_gradients(quadratic, tolerance, Solver::LIMIT, interrupt))
}

/// J along a line.
struct SearchLine<'s, 'r, 'p> {
    problem: &'r Problem<'p>,
    scores: &'s Scores,
    line: Line,
    squares: [f64; 3],
    delta: f64,
}

impl<'s, 'r, 'p> SearchLine<'s, 'r, 'p> {
    fn new(problem: &'r Problem<'p>, scores: &'s Scores, w: &[f64], d: &[f64], delta: f64) -> Self {
        Self {
            problem,
            scores,
            line: problem.line(w, d),
            squares: [dot(w, w), dot(w, d), dot(d, d)],
            delta,
        }
    }

    /// Returns J and its slope.
    fn at(&self, step: f64) -> [f64; 2] {
        let Self {
            problem,
            scores,
            line,
            squares,
            delta,
        } = self;
        problem.value_along(scores, line, *squares, *delta, step)
    }

    /// Returns a step at which J is below `value` and its slope a small part of that at 0: 1 if
    /// that will do. J is convex, so the slope rises along the line. `None` if no step lowers J.
    fn step_length(&self, value: f64) -> Option<f64> {
        let enough = SLOPE * self.at(0.0)[1].abs();
        let mut best = None;
        let mut lowest = value;
        let mut interval = [0.0, f64::INFINITY];
        let mut step = 1.0;
        for _ in 0..DOUBLINGS + DIVISIONS {
            let [value, slope] = self.at(step);
            if value < lowest {
                (lowest, best) = (value, Some(step));
                if slope.abs() <= enough {
                    return best;
                }
            }
            // NaN: too far.
            if slope < 0.0 && value.is_finite() {
                interval[0] = step;
            } else {
                interval[1] = step;
            }
            let [low, high] = interval;
            step = match high.is_finite() {
                true => 0.5 * (low + high),
                false if low >= 2.0_f64.powi(DOUBLINGS as i32) => break,
                false => 2.0 * low,
            };
        }
        best
    }
}
