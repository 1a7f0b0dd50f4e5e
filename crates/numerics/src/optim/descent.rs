//! The iteration of the optimizers: direction, line search, update of the memory.
//!
//! Two points exist at any time: `current`, the last one accepted, and `trial`. Accepting a step
//! swaps them. The module documentation describes an iteration.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::line_search::{MAX_TRIALS, SearchMethod, StepSearch, TrialDecision, TrialStep};
use super::objective::{Change, Iteration, LbfgsOptions, Objective, Outcome, StopReason};
use super::owlqn::L1Penalty;
use super::state::{OptimizerState, SavedState, Start, StateObserver};
use super::vector::{self, Point, dot};
use crate::aligned::zeros;

/// The norms of a point.
#[derive(Clone, Copy)]
struct PointNorms {
    gradient: f64, // ‖∇F‖, of the pseudo-gradient with L1
    x: f64,        // ‖x‖
    nonzero: usize,
}

impl PointNorms {
    /// The norms from the sums of [`vector::norms`], and with L1 from the pseudo-gradient, which is
    /// computed.
    fn new<D>([xx, gg, nonzero]: [f64; 3], l1: Option<&mut L1Penalty>, point: &Point<D>) -> Self {
        let gg = l1.map_or(gg, |penalty| penalty.differentiate(&point.x, &point.gradient));
        Self { gradient: gg.sqrt(), x: xx.sqrt(), nonzero: nonzero as usize }
    }

    fn are_finite(self) -> bool {
        self.gradient.is_finite() && self.x.is_finite()
    }
}

/// A minimization in progress.
pub(super) struct Descent<'a, D> {
    objective: &'a mut dyn Objective<Detail = D>,
    options: &'a LbfgsOptions,
    interrupt: Option<&'a AtomicBool>,
    penalty: Option<L1Penalty<'a>>,
    state: OptimizerState<D>, // its point is `current`
    norms: PointNorms,        // of `current`
    trial: Point<D>,
    direction: Vec<f64>,       // [n]
    slope: f64,                // of F along the direction
    search_evaluations: usize, // of the current line search
}

impl<'a, D: Clone + 'static> Descent<'a, D> {
    /// Evaluates the starting point, or resumes in a state. Vectors, and `l1`, are `[n]`.
    pub(super) fn new(
        objective: &'a mut dyn Objective<Detail = D>,
        start: Start<D>,
        l1: Option<&'a [f64]>,
        options: &'a LbfgsOptions,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        let n = start.x().len();
        let mut penalty = l1.map(L1Penalty::new);
        let (mut state, rounds) = match start {
            Start::State(saved) => (saved.state.into_owned(), saved.rounds),
            Start::Point(x) => {
                let mut gradient = zeros(n);
                let (mut value, detail) = objective.evaluate(&x, &mut gradient);
                if let Some(penalty) = &penalty {
                    value += penalty.value(&x);
                }
                let point = Point { x, gradient, value, detail };
                let norm = measure(penalty.as_mut(), &point).gradient;
                (OptimizerState::new(point, norm), Vec::new())
            }
        };
        let curvature = (!options.plain).then(|| objective.inverse_curvature());
        let curvature = curvature.flatten().unwrap_or_else(|| vec![1.0; n]);
        state.memory.prepare(options.memory, curvature);
        objective.resume_rounds(rounds);
        Self {
            objective,
            options,
            interrupt,
            norms: measure(penalty.as_mut(), &state.current),
            penalty,
            trial: Point {
                x: zeros(n),
                gradient: zeros(n),
                value: state.current.value,
                detail: state.current.detail.clone(),
            },
            state,
            direction: zeros(n),
            slope: 0.0,
            search_evaluations: 0,
        }
    }

    /// Iterates until a stopping test holds. `is_resumed`: the current point was reported to the
    /// observer before.
    pub(super) fn run(
        mut self,
        mut is_resumed: bool,
        observer: &mut dyn StateObserver<D>,
    ) -> Outcome<D> {
        let mut step = 0.0;
        let stop_reason = loop {
            if !(self.state.current.value.is_finite() && self.norms.are_finite()) {
                break StopReason::NonFinite;
            }
            if !std::mem::take(&mut is_resumed) {
                if observer.iteration(&self.report(step)).is_break() {
                    break StopReason::Interrupted;
                }
                observer.state(&self.saved(), false);
            }
            match self.iterate() {
                ControlFlow::Continue(accepted) => step = accepted,
                ControlFlow::Break(reason) => {
                    if reason == StopReason::Interrupted {
                        observer.state(&self.saved(), true);
                    }
                    break reason;
                }
            }
        };
        let OptimizerState { current, iterations, evaluations, restarts, .. } = self.state;
        Outcome {
            x: current.x,
            value: current.value,
            detail: current.detail,
            stop_reason,
            iterations,
            evaluations: evaluations + self.search_evaluations,
            gradient_norm: self.norms.gradient,
            restarts,
        }
    }

    /// Returns the state. After an interrupt it is that at the beginning of the iteration, or of
    /// its last line search, which then begins again.
    fn saved(&self) -> SavedState<'_, D> {
        SavedState { state: Cow::Borrowed(&self.state), rounds: self.objective.rounds() }
    }

    fn report(&self, step: f64) -> Iteration<'_, D> {
        let OptimizerState { current, iterations, evaluations, .. } = &self.state;
        Iteration {
            number: *iterations,
            value: current.value,
            detail: &current.detail,
            gradient_norm: self.norms.gradient,
            x_norm: self.norms.x,
            step,
            evaluations: *evaluations,
            x: &current.x,
            nonzero: self.norms.nonzero,
        }
    }

    /// Makes the stopping tests and a step.
    fn iterate(&mut self) -> ControlFlow<StopReason, f64> {
        self.begin_iteration(false)?;
        loop {
            let reason = match self.stopping_test() {
                Some(reason) => reason,
                None => match self.advance() {
                    ControlFlow::Break(StopReason::LineSearch) => StopReason::LineSearch,
                    result => return result,
                },
            };
            let is_limit = reason == StopReason::MaxIterations;
            if is_limit || self.begin_iteration(true)? != Change::Round {
                return ControlFlow::Break(reason);
            }
        }
    }

    fn stopping_test(&self) -> Option<StopReason> {
        if self.norms.gradient <= self.options.gradient_tolerance * self.norms.x.max(1.0) {
            return Some(StopReason::Gradient);
        }
        if self.state.convergence.is_converged(self.options) {
            return Some(StopReason::Improvement);
        }
        let limit = self.options.max_iterations?;
        (self.state.iterations >= limit).then_some(StopReason::MaxIterations)
    }

    /// Makes a step, along −g after clearing the memory if necessary.
    fn advance(&mut self) -> ControlFlow<StopReason, f64> {
        loop {
            self.set_quasi_newton_direction();
            // If it does not descend, −g does.
            if !(self.slope < 0.0 || self.state.memory.pairs.is_empty()) {
                self.restart();
                self.set_quasi_newton_direction();
            }
            if let Some(step) = self.search()? {
                self.accept();
                return ControlFlow::Continue(step);
            }
            if self.state.memory.pairs.is_empty() {
                return ControlFlow::Break(StopReason::LineSearch);
            }
            self.end_search();
            self.restart();
        }
    }

    /// Counts the evaluations of a line search that will not begin again.
    fn end_search(&mut self) {
        self.state.evaluations += std::mem::take(&mut self.search_evaluations);
    }

    /// Lets the objective change: the current point is then reevaluated, unless a resumed run has
    /// done that. Returns the change.
    fn begin_iteration(&mut self, is_converged: bool) -> ControlFlow<StopReason, Change> {
        let iteration = self.state.iterations as u64;
        let change = self.objective.begin_iteration(iteration, is_converged);
        let is_done = change == Change::Samples && self.state.is_reevaluated;
        if change == Change::None || is_done {
            return ControlFlow::Continue(change);
        }
        self.check_interrupt()?;
        self.state.evaluations += 1;
        let OptimizerState { current, convergence, is_reevaluated, .. } = &mut self.state;
        let (smooth, detail) = self.objective.evaluate(&current.x, &mut current.gradient);
        current.detail = detail;
        current.value = match &self.penalty {
            Some(penalty) => smooth + penalty.value(&current.x),
            None => smooth,
        };
        self.norms = measure(self.penalty.as_mut(), current);
        if !(current.value.is_finite() && self.norms.are_finite()) {
            return ControlFlow::Break(StopReason::NonFinite);
        }
        if change == Change::Round {
            convergence.record_round(current.value, self.norms.gradient, self.options);
        } else {
            convergence.record_reevaluation(current.value, self.options.period);
            *is_reevaluated = true;
        }
        self.end_search();
        ControlFlow::Continue(change)
    }

    fn check_interrupt(&self) -> ControlFlow<StopReason> {
        match self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            true => ControlFlow::Break(StopReason::Interrupted),
            false => ControlFlow::Continue(()),
        }
    }

    fn restart(&mut self) {
        self.state.memory.pairs.clear();
        self.state.restarts += 1;
    }

    /// Sets the direction, that of a quasi-Newton step.
    fn set_quasi_newton_direction(&mut self) {
        let OptimizerState { memory, current, .. } = &mut self.state;
        let d = &mut self.direction;
        self.slope = vector::passes(d.len(), || match &self.penalty {
            None => memory.direction(&current.gradient, d),
            Some(penalty) => {
                memory.direction(&penalty.pseudo, d);
                penalty.align(d)
            }
        });
    }

    /// Searches for a step that satisfies the strong Wolfe conditions; with L1, within the orthant
    /// of `current`, by backtracking. The point is `trial`; `None` if the search failed.
    fn search(&mut self) -> ControlFlow<StopReason, Option<f64>> {
        let OptimizerState { current, memory, convergence, first_distance, .. } = &self.state;
        let mut step = 1.0;
        if memory.pairs.is_empty() {
            step = first_distance / dot(&self.direction, &self.direction).sqrt();
        }
        let start = convergence.line_search_start(current.value, self.slope);
        let method = match &self.penalty {
            None => SearchMethod::Smooth,
            Some(_) => SearchMethod::Orthant { halves: self.options.plain },
        };
        let mut search = StepSearch::new(start, method, MAX_TRIALS);
        loop {
            let trial = self.try_step(step)?;
            match search.decide(trial) {
                TrialDecision::Accept => return ControlFlow::Continue(Some(step)),
                TrialDecision::Try(next) => step = next,
                TrialDecision::GiveUp => return self.fall_back(&search, step),
            }
        }
    }

    /// Returns to the best trial step of a failed line search, if one decreased F.
    fn fall_back(
        &mut self,
        search: &StepSearch,
        last: f64,
    ) -> ControlFlow<StopReason, Option<f64>> {
        let best = search.fallback();
        if let Some(step) = best.filter(|&step| step != last) {
            self.try_step(step)?;
            // a stochastic objective may return another value this time
            if !(self.trial.value.is_finite() && search.start.is_decrease(self.trial.value)) {
                return ControlFlow::Continue(None);
            }
        }
        ControlFlow::Continue(best)
    }

    /// Moves `trial` to a step from `current` and evaluates it. With L1 the slope is the linear
    /// change of F, and the value is NaN if the gradient is not finite.
    fn try_step(&mut self, step: f64) -> ControlFlow<StopReason, TrialStep> {
        self.check_interrupt()?;
        let (x, d, trial) = (&self.state.current.x, &self.direction, &mut self.trial);
        let projected = self.penalty.as_ref();
        let projected = projected.map(|p| p.project(x, step, d, &mut trial.x));
        if projected.is_none() {
            vector::step(x, step, d, &mut trial.x);
        }
        let (smooth, detail) = self.objective.evaluate(&trial.x, &mut trial.gradient);
        self.search_evaluations += 1;
        trial.detail = detail;
        let Some((change, absolute)) = projected else {
            trial.value = smooth;
            let slope = dot(&trial.gradient, d);
            return ControlFlow::Continue(TrialStep { step, value: smooth, slope });
        };
        trial.value = smooth + absolute;
        let is_finite = dot(&trial.gradient, &trial.gradient).is_finite();
        let value = if is_finite { trial.value } else { f64::NAN };
        ControlFlow::Continue(TrialStep { step, value, slope: change })
    }

    /// Makes `trial` the current point and updates the memory.
    fn accept(&mut self) {
        let OptimizerState { current, memory, first_distance, .. } = &mut self.state;
        let (distance, sums) = memory.update(current, &self.trial);
        if distance > 0.0 {
            *first_distance = distance;
        }
        std::mem::swap(current, &mut self.trial);
        self.norms = PointNorms::new(sums, self.penalty.as_mut(), current);
        let value = current.value;
        self.state.convergence.record_step(value, self.norms.gradient, self.options.period);
        self.state.is_reevaluated = false;
        self.state.iterations += 1;
        self.end_search();
    }
}

/// Computes the norms of a point, and with L1 its pseudo-gradient.
fn measure<D>(l1: Option<&mut L1Penalty>, point: &Point<D>) -> PointNorms {
    PointNorms::new(vector::norms(&point.x, &point.gradient), l1, point)
}
