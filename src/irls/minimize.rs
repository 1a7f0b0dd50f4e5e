//! The iterations.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::least_squares::{Step, by_cholesky, by_conjugate_gradients};
use super::problem::{Problem, Quadratic, Scores, Value, dot};
use crate::optim::StopReason;

/// With at most so many weights, the Hessian is factorized.
const SMALL: usize = 200;

/// How often a step that does not lower the objective is halved.
const HALVINGS: usize = 30;

/// How often a step that lowers the objective is doubled.
const DOUBLINGS: usize = 10;

/// How the quadratic of an iteration is minimized.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// By Cholesky factorization if there are few weights, else by conjugate gradients.
    #[default]
    Auto,
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
    /// Stop if (J_{k−period} − J_k) / |J_k| is below this.
    pub improvement_tolerance: f64,
    /// The number of iterations over which the improvement is measured.
    pub period: usize,
    /// Stop if ‖∇J‖ ≤ `gradient_tolerance` · max(1, ‖w‖).
    pub gradient_tolerance: f64,
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
    /// The step, as a multiple of that to the minimum of the quadratic; 0 at the start.
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
    mut w: Vec<f64>,
    options: &IrlsOptions,
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn FnMut(&IrlsIteration<'_>) -> ControlFlow<()>,
) -> IrlsOutcome {
    let mut values = Vec::new();
    let mut evaluations = 0;
    let mut step_length = 0.0;
    let mut conjugation = Conjugation::default();
    loop {
        let number = values.len();
        let scores = problem.scores(&w);
        let value = problem.value_of(&scores, &w);
        let quadratic = problem.quadratic(&w, &scores);
        evaluations += 1;
        let gradient_norm = dot(&quadratic.gradient, &quadratic.gradient).sqrt();
        let outcome = move |w, stop_reason| IrlsOutcome {
            w,
            value,
            gradient_norm,
            stop_reason,
            iterations: number,
            evaluations,
        };
        if !value.total.is_finite() || !gradient_norm.is_finite() {
            return outcome(w, StopReason::NonFinite);
        }
        let flow = observer(&IrlsIteration {
            number,
            value,
            gradient_norm,
            step: step_length,
            evaluations,
            w: &w,
        });
        values.push(value.total);
        let is_interrupted = interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        if flow.is_break() || is_interrupted {
            return outcome(w, StopReason::Interrupted);
        }
        if gradient_norm <= options.gradient_tolerance * dot(&w, &w).sqrt().max(1.0) {
            return outcome(w, StopReason::Gradient);
        }
        let before = number.checked_sub(options.period).map(|i| values[i]);
        let improvement = before.map(|before| (before - value.total) / value.total.abs());
        // NaN if both are 0: nothing is left to gain.
        if improvement.is_some_and(|i| i.is_nan() || i < options.improvement_tolerance) {
            return outcome(w, StopReason::Improvement);
        }
        if options.max_iterations.is_some_and(|limit| number >= limit) {
            return outcome(w, StopReason::MaxIterations);
        }
        let step = solve(&quadratic, options.solver, interrupt);
        evaluations += step.products;
        let direction = conjugation.direction(&quadratic.gradient, step.direction);
        let Some(length) = step_length_of(problem, &scores, &w, &direction, value.total) else {
            return IrlsOutcome {
                evaluations,
                // No step lowers the value by more than rounding.
                ..outcome(w, StopReason::Improvement)
            };
        };
        evaluations += 1;
        step_length = length;
        for (w, d) in w.iter_mut().zip(&direction) {
            *w += length * d;
        }
        conjugation.direction = direction;
    }
}

/// The last direction, gradient and step of least squares.
#[derive(Default)]
struct Conjugation {
    direction: Vec<f64>, // [D + 1], or empty
    gradient: Vec<f64>,
    step: Vec<f64>,
}

impl Conjugation {
    /// Returns the direction for a gradient and the step of least squares there: the step plus a
    /// multiple of the last direction (Polak and Ribière, with the Hessian of the quadratic as
    /// preconditioner), or the step alone where that is no direction of descent.
    fn direction(&mut self, gradient: &[f64], step: Vec<f64>) -> Vec<f64> {
        let last = -dot(&self.step, &self.gradient);
        let factor = (dot(&step, &self.gradient) - dot(&step, gradient)) / last;
        self.gradient.clear();
        self.gradient.extend_from_slice(gradient);
        let mut direction = step.clone();
        self.step = step;
        if factor > 0.0 && factor.is_finite() && !self.direction.is_empty() {
            for (d, old) in direction.iter_mut().zip(&self.direction) {
                *d += factor * old;
            }
            if dot(&direction, gradient) >= 0.0 {
                direction.copy_from_slice(&self.step);
            }
        }
        direction
    }
}

fn solve(quadratic: &Quadratic<'_, '_>, solver: Solver, interrupt: Option<&AtomicBool>) -> Step {
    let is_small = quadratic.gradient.len() <= SMALL;
    let exact = match solver {
        Solver::Auto => is_small.then(|| by_cholesky(quadratic)).flatten(),
        Solver::Cholesky => by_cholesky(quadratic),
        Solver::ConjugateGradients(_) => None,
    };
    let tolerance = match solver {
        Solver::ConjugateGradients(tolerance) => tolerance,
        _ => Solver::TOLERANCE,
    };
    exact.unwrap_or_else(|| by_conjugate_gradients(quadratic, tolerance, Solver::LIMIT, interrupt))
}

/// Returns the multiple of `d` to go: 1 lowers J, but for rounding or overflow, when it is halved;
/// then it is doubled as long as J falls further. `None` if no step lowers J.
fn step_length_of(
    problem: &Problem<'_>,
    scores: &Scores,
    w: &[f64],
    d: &[f64],
    value: f64,
) -> Option<f64> {
    let line = problem.line(w, d);
    let squares = [dot(w, w), dot(w, d), dot(d, d)];
    let along = |step: f64| problem.value_along(scores, &line, squares, step);
    let mut lengths = (0..=HALVINGS).map(|i| 0.5_f64.powi(i as i32));
    let (mut length, mut lowest) = lengths.find_map(|length| {
        let lower = along(length);
        (lower < value).then_some((length, lower))
    })?;
    if length < 1.0 {
        return Some(length);
    }
    for _ in 0..DOUBLINGS {
        let next = along(2.0 * length);
        if next >= lowest || next.is_nan() {
            break;
        }
        (length, lowest) = (2.0 * length, next);
    }
    Some(length)
}
