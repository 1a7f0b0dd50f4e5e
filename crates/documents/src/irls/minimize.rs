//! The iterations.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dual::Dual;
use super::problem::{Line, Problem, Scores, Value, dot};
use super::quadratic::{Model, Quadratic, Step, by_cholesky, by_conjugate_gradients};
use dropchain::optim::StopReason;

/// The largest number of conjugate gradients in an iteration.
const MAX_GRADIENTS: usize = 250;

/// How many epochs of dual coordinate descent may gain nothing, before they are at the end of what
/// rounding permits.
const MAX_STALLED: usize = 20;

/// What is a gain, relative to J.
const GAIN: f64 = 1e-12;

/// How often a step is doubled at most.
const DOUBLINGS: usize = 10;

/// How often the interval of the step is divided at most.
const DIVISIONS: usize = 40;

/// The slope at the end of a step, relative to that at its start.
const SLOPE: f64 = 0.1;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IrlsOptions {
    /// The maximum number of iterations.
    pub max_iterations: Option<usize>,
    /// The number of iterations of an earlier run that this one continues: δ goes on from there.
    pub earlier_iterations: usize,
    /// Stop if (J_{k−period} − J_k) / |J_k| is below this, or what J can still fall by according to
    /// the last quadratic or the dual problem.
    pub improvement_tolerance: f64,
    /// The number of iterations over which the improvement is measured.
    pub period: usize,
    /// Stop if ‖∇J‖ ≤ `gradient_tolerance` · max(1, ‖w‖).
    pub gradient_tolerance: f64,
}

/// How quadratics are minimized, or that there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Solvers {
    /// With at most so many weights, the Hessian is factorized.
    pub cholesky: usize,
    /// With more weights, a loss with kinks and no noise is minimized by dual coordinate descent
    /// from 0: an iteration is an epoch.
    pub dual: usize,
    /// Otherwise there are conjugate gradients, until the residual is this fraction of that at the
    /// start: the next quadratic is another one anyhow.
    pub tolerance: f64,
}

impl Default for Solvers {
    fn default() -> Self {
        Self {
            cholesky: 200,
            dual: 200,
            tolerance: 0.1,
        }
    }
}

/// The state after an iteration; number 0 is the start.
#[derive(Clone, Copy, Debug)]
pub struct IrlsIteration<'a> {
    /// The number of the iteration.
    pub number: usize,
    /// J and its terms.
    pub value: Value,
    /// ‖∇J‖; NaN in dual coordinate descent.
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
    minimize_by(Solvers::default(), problem, w, options, interrupt, observer)
}

/// Minimizes J like [`minimize`].
pub(super) fn minimize_by(
    solvers: Solvers,
    problem: &Problem<'_>,
    w: Vec<f64>,
    options: &IrlsOptions,
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn FnMut(&IrlsIteration<'_>) -> ControlFlow<()>,
) -> IrlsOutcome {
    let mut run = Minimization::by(solvers, problem, w, *options);
    loop {
        if run.end() == Some(StopReason::NonFinite) {
            return run.into_outcome(StopReason::NonFinite);
        }
        let flow = observer(&run.iteration());
        if flow.is_break() || is_set(interrupt) {
            return run.into_outcome(StopReason::Interrupted);
        }
        if let Some(reason) = run.end().or_else(|| run.advance(interrupt).err()) {
            return run.into_outcome(reason);
        }
    }
}

/// A minimization between two iterations.
#[derive(Debug)]
pub struct Minimization<'p, 'a> {
    problem: &'p Problem<'a>,
    solvers: Solvers,
    options: IrlsOptions,
    method: Option<Method<'p, 'a>>, // unless it has ended
    w: Vec<f64>,                    // [D + 1]
    value: Value,
    gradient_norm: f64,
    step: f64,
    is_dual: bool,
    values: Vec<f64>, // J of every iteration
    evaluations: usize,
    end: Option<StopReason>,
}

#[derive(Debug)]
enum Method<'p, 'a> {
    /// One quadratic after another.
    Descent(Box<Descent<'p, 'a>>),
    /// The dual problem, one document after another; w is the best so far.
    Ascent(Box<Ascent<'a>>),
}

/// The dual problem between two epochs.
#[derive(Debug)]
struct Ascent<'a> {
    dual: Dual<'a>,
    highest: f64,   // the best dual value
    stalled: usize, // epochs since J or the dual value has improved
}

/// What a step starts from.
#[derive(Debug)]
struct Descent<'p, 'a> {
    scores: Scores,
    quadratic: Quadratic<'p, 'a>,
    delta: f64,
    is_smoothed: bool,
}

impl<'p, 'a> Minimization<'p, 'a> {
    /// Begins at `w`, `[D + 1]`.
    pub fn new(problem: &'p Problem<'a>, w: Vec<f64>, options: IrlsOptions) -> Self {
        Self::by(Solvers::default(), problem, w, options)
    }

    fn by(solvers: Solvers, problem: &'p Problem<'a>, w: Vec<f64>, options: IrlsOptions) -> Self {
        let by_dual = problem.dimension() > solvers.dual;
        let mut run = Self {
            problem,
            solvers,
            options,
            method: None,
            w,
            value: Value::default(),
            gradient_norm: 0.0,
            step: 0.0,
            is_dual: false,
            values: Vec::new(),
            evaluations: 0,
            end: None,
        };
        match problem.without_noise().filter(|_| by_dual) {
            None => run.arrive(false),
            Some((documents, loss, l2)) => match Dual::new(documents, loss, l2) {
                None => run.end = Some(StopReason::NonFinite),
                Some(dual) => {
                    run.is_dual = true;
                    run.gradient_norm = f64::NAN;
                    run.value = run.value_without_noise(&run.w);
                    let ascent = Ascent {
                        highest: dual.value(),
                        dual,
                        stalled: 0,
                    };
                    run.begin_epoch(Box::new(ascent), f64::INFINITY);
                }
            },
        }
        run
    }

    /// Returns the last iteration; number 0 is the start.
    pub fn iteration(&self) -> IrlsIteration<'_> {
        IrlsIteration {
            number: self.values.len().saturating_sub(1),
            value: self.value,
            gradient_norm: self.gradient_norm,
            step: self.step,
            evaluations: self.evaluations,
            w: &self.w,
        }
    }

    /// Returns why no iteration follows, if none does. After [`StopReason::NonFinite`],
    /// [`iteration`](Self::iteration) is not to be used: its value is not finite.
    pub fn end(&self) -> Option<StopReason> {
        self.end
    }

    /// Makes an iteration. `interrupt` ends its conjugate gradients early.
    ///
    /// # Errors
    ///
    /// The minimization has ended, or no step lowers J: the reason.
    pub fn advance(&mut self, interrupt: Option<&AtomicBool>) -> Result<(), StopReason> {
        let made = match self.method.take() {
            Some(Method::Descent(descent)) => self.descend(*descent, interrupt),
            Some(Method::Ascent(ascent)) => self.ascend(ascent),
            None => Err(self.end.unwrap_or(StopReason::NonFinite)),
        };
        self.end = self.end.or(made.err());
        made
    }

    /// Returns the result.
    pub fn into_outcome(self, stop_reason: StopReason) -> IrlsOutcome {
        let gradient = self.problem.gradient(&self.w);
        IrlsOutcome {
            value: match self.is_dual {
                true => self.value_without_noise(&self.w),
                false => self.problem.value(&self.w),
            },
            gradient_norm: dot(&gradient, &gradient).sqrt(),
            stop_reason,
            iterations: self.values.len().saturating_sub(1),
            evaluations: self.evaluations,
            w: self.w,
        }
    }

    /// Records an iteration, whose value is set. Returns why it is the last, if that
    /// follows from its number or the value.
    fn record(&mut self) -> Option<StopReason> {
        if !self.value.total.is_finite() {
            return Some(StopReason::NonFinite);
        }
        let number = self.values.len();
        self.values.push(self.value.total);
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

    /// Computes the quadratic at w; `is_near`: the last one was near its minimum at once.
    fn arrive(&mut self, is_near: bool) {
        let (problem, options) = (self.problem, self.options);
        let number = self.values.len();
        let number = number + options.earlier_iterations;
        let delta = problem.smoothing(number);
        let is_smoothed = problem.is_smoothed(number);
        let scores = problem.scores(&self.w);
        let quadratic = Quadratic::new(problem, &self.w, &scores, Model::Expansion, delta);
        self.value = problem.value_of(&scores, &self.w, delta);
        self.evaluations += 1;
        self.gradient_norm = dot(&quadratic.gradient, &quadratic.gradient).sqrt();
        self.end = match self.gradient_norm.is_finite() {
            true => self.record(),
            false => Some(StopReason::NonFinite),
        };
        if self.end.is_none() && is_smoothed {
            let limit = options.gradient_tolerance * dot(&self.w, &self.w).sqrt().max(1.0);
            self.end = match self.gradient_norm <= limit {
                true => Some(StopReason::Gradient),
                false => (is_near || self.has_stalled()).then_some(StopReason::Improvement),
            };
        }
        if self.end.is_none() {
            self.method = Some(Method::Descent(Box::new(Descent {
                scores,
                quadratic,
                delta,
                is_smoothed,
            })));
        }
    }

    /// Minimizes the quadratic at w, and goes there.
    fn descend(
        &mut self,
        from: Descent<'p, 'a>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<(), StopReason> {
        let (problem, options) = (self.problem, self.options);
        let step = solve(&from.quadratic, self.solvers, interrupt);
        self.evaluations += step.products;
        // The quadratic falls by half of the slope to its minimum.
        let decrease = -0.5 * dot(&from.quadratic.gradient, &step.direction);
        let value = self.value.total;
        let is_near = from.is_smoothed && decrease <= options.improvement_tolerance * value.abs();
        let line = SearchLine::new(problem, &from.scores, &self.w, &step.direction, from.delta);
        self.step = match line.step_length(value) {
            Some(length) => length,
            // A large δ has no lower point, a smaller one may have.
            None if !from.is_smoothed => 0.0,
            // No step lowers the value by more than rounding.
            None => return Err(StopReason::Improvement),
        };
        self.evaluations += 1;
        if self.step > 0.0 {
            for (w, d) in self.w.iter_mut().zip(&step.direction) {
                *w += self.step * d;
            }
        }
        drop(from);
        self.arrive(is_near);
        Ok(())
    }

    /// Returns J and its terms without noise and smoothing.
    fn value_without_noise(&self, w: &[f64]) -> Value {
        let value = self.problem.value(w);
        Value {
            total: value.loss + value.l2,
            ..value
        }
    }

    /// Compares w with the state of the dual problem, after an epoch in which a document's score
    /// changed by at most `change` by its own variable.
    fn begin_epoch(&mut self, ascent: Box<Ascent<'a>>, change: f64) {
        self.evaluations += 1;
        let gap = self.value.total - ascent.highest;
        self.end = self.record();
        if self.end.is_none() && change <= 1e-12 {
            self.end = Some(StopReason::Gradient);
        }
        let enough = self.options.improvement_tolerance * self.value.total.abs();
        if self.end.is_none() && (gap <= enough || ascent.stalled >= MAX_STALLED) {
            self.end = Some(StopReason::Improvement);
        }
        if self.end.is_none() {
            self.method = Some(Method::Ascent(ascent));
        }
    }

    /// Makes an epoch of the dual problem.
    fn ascend(&mut self, mut ascent: Box<Ascent<'a>>) -> Result<(), StopReason> {
        let change = ascent.dual.epoch();
        self.evaluations += 2;
        self.step = 1.0;
        let value = self.value_without_noise(&ascent.dual.w);
        if !value.total.is_finite() {
            return Err(StopReason::NonFinite);
        }
        let gain = GAIN * self.value.total.abs();
        let dual_value = ascent.dual.value();
        let has_gained =
            value.total < self.value.total - gain || dual_value > ascent.highest + gain;
        ascent.stalled = if has_gained { 0 } else { ascent.stalled + 1 };
        ascent.highest = ascent.highest.max(dual_value);
        if value.total < self.value.total {
            self.value = value;
            self.w.copy_from_slice(&ascent.dual.w);
        }
        self.begin_epoch(ascent, change);
        Ok(())
    }
}

/// Returns whether there is a flag that is set.
fn is_set(interrupt: Option<&AtomicBool>) -> bool {
    interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

fn solve(quadratic: &Quadratic<'_, '_>, by: Solvers, interrupt: Option<&AtomicBool>) -> Step {
    let is_small = quadratic.gradient.len() <= by.cholesky;
    let exact = is_small.then(|| by_cholesky(quadratic)).flatten();
    exact.unwrap_or_else(|| {
        by_conjugate_gradients(quadratic, by.tolerance, MAX_GRADIENTS, interrupt)
    })
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
