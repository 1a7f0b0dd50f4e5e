//! The iterations.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::dual::Dual;
use super::problem::{CONCURRENT, Line, Problem, Scores, Value, dot};
use super::quadratic::{Model, Quadratic, Step, by_cholesky, by_conjugate_gradients};
use dropchain::optim::StopReason;

/// The largest number of conjugate gradients in an iteration.
const MAX_GRADIENTS: usize = 250;

/// The largest number of epochs from the minimum of a smoothed loss.
const MAX_EPOCHS: u64 = 1000;

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
    /// A loss with kinks and no noise is minimized by dual coordinate descent, in which an
    /// iteration is an epoch: with more than so many weights from 0, else from the minimum of the
    /// smoothed loss. `None`: it stays smoothed.
    pub dual: Option<usize>,
    /// Otherwise there are conjugate gradients, until the residual is this fraction of that at the
    /// start: the next quadratic is another one anyhow.
    pub tolerance: f64,
}

impl Default for Solvers {
    fn default() -> Self {
        Self { cholesky: 200, dual: Some(200), tolerance: 0.1 }
    }
}

/// Makes iterations of all minimizations, one of each at a time, until all have ended, or
/// `interrupt` or `observer` end them, which is called at the start, too. Returns why they ended.
pub fn minimize<'p, 'a>(
    runs: &mut [Minimization<'p, 'a>],
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn FnMut(&[Minimization<'p, 'a>]) -> ControlFlow<()>,
) -> StopReason {
    let is_interrupted = || interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
    let reason = 'iterations: loop {
        if runs.iter().any(|run| run.end == Some(StopReason::NonFinite)) {
            break StopReason::NonFinite;
        }
        if observer(runs).is_break() || is_interrupted() {
            break StopReason::Interrupted;
        }
        let mut advanced = 0;
        for runs in runs.chunks_mut(CONCURRENT) {
            let runs = runs.par_iter_mut();
            advanced += runs.filter_map(|run| run.advance(interrupt).ok()).count();
            if is_interrupted() {
                break 'iterations StopReason::Interrupted;
            }
        }
        if advanced == 0 {
            let reasons =
                [StopReason::NonFinite, StopReason::MaxIterations, StopReason::Improvement];
            let mut reasons = reasons.into_iter();
            let reason = reasons.find(|&reason| runs.iter().any(|run| run.end == Some(reason)));
            break reason.unwrap_or(StopReason::Gradient);
        }
    };
    runs.iter_mut().for_each(Minimization::settle);
    reason
}

/// A minimization between two iterations, or at its end.
#[derive(Debug)]
pub struct Minimization<'p, 'a> {
    problem: &'p Problem<'a>,
    solvers: Solvers,
    options: IrlsOptions,
    descent: Option<Descent<'p, 'a>>, // unless it has ended
    dual: Option<Dual<'a>>,           // instead; w is the best so far
    values: Vec<f64>,                 // J of every iteration
    end: Option<StopReason>,
    /// w, `[D + 1]`.
    pub w: Vec<f64>,
    /// J and its terms; not finite if that is why it ended.
    pub value: Value,
    /// ‖∇J‖; NaN in dual coordinate descent until it ends.
    pub gradient_norm: f64,
    /// The last step, as a multiple of that to the minimum of the quadratic; 0 at the start, 1 for
    /// an epoch of dual coordinate descent.
    pub step: f64,
    /// Passes over the documents so far.
    pub evaluations: usize,
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

    pub(super) fn by(
        solvers: Solvers,
        problem: &'p Problem<'a>,
        w: Vec<f64>,
        options: IrlsOptions,
    ) -> Self {
        let mut run = Self {
            problem,
            solvers,
            options,
            descent: None,
            dual: None,
            values: Vec::new(),
            end: None,
            w,
            value: Value::default(),
            gradient_norm: 0.0,
            step: 0.0,
            evaluations: 0,
        };
        let is_large = solvers.dual.is_some_and(|most| problem.dimension() > most);
        if !is_large || !problem.has_dual() {
            run.arrive(false);
            return run;
        }
        match Dual::new(problem.documents, problem.loss, problem.l2) {
            None => run.end = Some(StopReason::NonFinite),
            Some(dual) => {
                run.dual = Some(dual);
                run.gradient_norm = f64::NAN;
                run.value = problem.value(&run.w).without_noise();
                run.begin_epoch(f64::INFINITY);
            }
        }
        run
    }

    /// Returns the number of iterations.
    pub fn iterations(&self) -> usize {
        self.values.len().saturating_sub(1)
    }

    /// Returns whether it ended without a result.
    pub fn has_failed(&self) -> bool {
        self.end == Some(StopReason::NonFinite) && self.iterations() == 0
    }

    /// Makes an iteration. `interrupt` ends its conjugate gradients early.
    ///
    /// # Errors
    ///
    /// The minimization has ended, or no step lowers J: the reason.
    fn advance(&mut self, interrupt: Option<&AtomicBool>) -> Result<(), StopReason> {
        let made = match (self.end, self.descent.take()) {
            (Some(reason), _) => Err(reason),
            (None, Some(descent)) => self.descend(descent, interrupt),
            (None, None) => self.ascend(),
        };
        self.end = self.end.or(made.err());
        made
    }

    /// Computes value and gradient of the result.
    fn settle(&mut self) {
        let gradient = self.problem.gradient(&self.w);
        self.gradient_norm = dot(&gradient, &gradient).sqrt();
        self.value = self.problem.value(&self.w);
        if self.dual.is_some() {
            self.value = self.value.without_noise();
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
        let number = self.values.len() + options.earlier_iterations;
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
        let has_minimum = [StopReason::Gradient, StopReason::Improvement].map(Some);
        if has_minimum.contains(&self.end) && self.solvers.dual.is_some() && problem.has_dual() {
            self.leave_smoothing(&scores);
            return;
        }
        self.descent =
            self.end.is_none().then_some(Descent { scores, quadratic, delta, is_smoothed });
    }

    /// Goes on with the dual problem at the minimum of the smoothed loss, which has these scores.
    fn leave_smoothing(&mut self, scores: &Scores) {
        let problem = self.problem;
        let Some(mut dual) = Dual::new(problem.documents, problem.loss, problem.l2) else {
            return;
        };
        dual.start_at(problem.dual_variables(scores), &self.w);
        self.dual = Some(dual);
        self.gradient_norm = f64::NAN;
        self.value = problem.plain_value(&self.w).0;
        self.values.pop(); // the same iteration
        self.begin_epoch(f64::INFINITY);
    }

    /// Minimizes the quadratic at w, and goes there.
    fn descend(
        &mut self,
        from: Descent<'p, 'a>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<(), StopReason> {
        let step = solve(&from.quadratic, self.solvers, interrupt);
        self.evaluations += step.products;
        // The quadratic falls by half of the slope to its minimum.
        let decrease = -0.5 * dot(&from.quadratic.gradient, &step.direction);
        let value = self.value.total;
        let tolerance = self.options.improvement_tolerance;
        let is_near = from.is_smoothed && decrease <= tolerance * value.abs();
        let line = (self.problem).line(&from.scores, &self.w, &step.direction, from.delta);
        self.step = match step_length(&line, value) {
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
        drop(line);
        drop(from);
        self.arrive(is_near);
        Ok(())
    }

    /// Compares w with the state of the dual problem, after an epoch in which a document's score
    /// changed by at most `change` by its own variable.
    fn begin_epoch(&mut self, change: f64) {
        self.evaluations += 1;
        self.end = self.record();
        let Some(dual) = self.dual.as_ref().filter(|_| self.end.is_none()) else {
            return;
        };
        let value = self.value.total;
        let enough = self.options.improvement_tolerance * value.abs();
        if change <= 1e-12 {
            self.end = Some(StopReason::Gradient);
        } else if value - dual.highest <= enough
            || dual.stalled >= dual.patience()
            || (dual.is_continued && dual.epochs >= MAX_EPOCHS)
        {
            self.end = Some(StopReason::Improvement);
        }
    }

    /// Makes an epoch of the dual problem.
    fn ascend(&mut self) -> Result<(), StopReason> {
        let Some(dual) = &mut self.dual else {
            return Ok(()); // there is either a descent or a dual problem
        };
        let change = dual.epoch();
        self.evaluations += 2;
        self.step = 1.0;
        let (value, shift) = self.problem.plain_value(&dual.w);
        if !value.total.is_finite() {
            return Err(StopReason::NonFinite);
        }
        let gain = GAIN * self.value.total.abs();
        let dual_value = dual.value();
        let has_gained = value.total < self.value.total - gain || dual_value > dual.highest + gain;
        dual.stalled = if has_gained { 0 } else { dual.stalled + 1 };
        dual.highest = dual.highest.max(dual_value);
        if value.total < self.value.total {
            self.value = value;
            self.w.copy_from_slice(&dual.w);
            self.w[dual.w.len() - 1] += shift;
        }
        self.begin_epoch(change);
        Ok(())
    }
}

fn solve(quadratic: &Quadratic<'_, '_>, by: Solvers, interrupt: Option<&AtomicBool>) -> Step {
    let is_small = quadratic.gradient.len() <= by.cholesky;
    let exact = is_small.then(|| by_cholesky(quadratic)).flatten();
    exact.unwrap_or_else(|| {
        by_conjugate_gradients(quadratic, by.tolerance, MAX_GRADIENTS, interrupt)
    })
}

/// Returns a step at which J is below `value` and its slope a small part of that at 0: 1 if that
/// will do. J is convex, so the slope rises along the line. `None` if no step lowers J.
fn step_length(line: &Line<'_, '_>, value: f64) -> Option<f64> {
    let enough = SLOPE * line.at(0.0)[1].abs();
    let mut best = None;
    let mut lowest = value;
    let mut interval = [0.0, f64::INFINITY];
    let mut step = 1.0;
    for _ in 0..DOUBLINGS + DIVISIONS {
        let [value, slope] = line.at(step);
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
