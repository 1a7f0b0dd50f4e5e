//! The iteration of the optimizers: direction, line search, update of the memory.
//!
//! Two points exist at any time: `current`, the last one accepted, and `trial`. Accepting a step
//! swaps them. The module documentation describes an iteration.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::lbfgs::LbfgsMemory;
use super::line_search::{LineSearchStart, StepSearch, TrialDecision, TrialStep};
use super::objective::{Iteration, LbfgsOptions, LbfgsSettings, Objective, Outcome, StopReason};
use super::owlqn::{self, L1Penalty};
use super::state::{ConvergenceTest, OptimizerState, Start, StateObserver};
use super::vector::{PointRef, VectorOps};

/// A point with the results of its evaluation.
struct EvaluatedPoint<D> {
    x: Vec<f64>,        // [n]
    gradient: Vec<f64>, // [n] of the smooth part
    value: f64,         // F, with the penalty
    detail: D,
}

impl<D> EvaluatedPoint<D> {
    fn as_ref(&self) -> PointRef<'_> {
        PointRef { x: &self.x, gradient: &self.gradient }
    }
}

/// The result of a line search.
enum LineSearchResult {
    /// The accepted step; the point is `trial`.
    Step(f64),
    Failed,
    Interrupted,
}

/// The norms of a point.
#[derive(Clone, Copy)]
struct PointNorms {
    gradient: f64, // ‖∇F‖, of the pseudo-gradient with L1
    x: f64,        // ‖x‖
    nonzero: usize,
}

impl PointNorms {
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
    ops: VectorOps,
    memory: LbfgsMemory,
    current: EvaluatedPoint<D>,
    trial: EvaluatedPoint<D>,
    direction: Vec<f64>, // [n]
    slope: f64,          // of F along `direction`
    norms: PointNorms,   // of `current`
    convergence: ConvergenceTest,
    first_distance: f64, // length of the first trial step without curvature information
    iterations: usize,
    evaluations: usize,
    search_evaluations: usize, // of them, those of the current line search
    skipped_updates: usize,
    restarts: usize,
    is_resumed: bool,     // `current` was reported to the observer before
    is_reevaluated: bool, // `current` was evaluated under the function of this iteration
}

impl<'a, D: Clone> Descent<'a, D> {
    /// Evaluates the starting point, or resumes in a state. Vectors, and `l1`, are `[n]`.
    pub(super) fn new(
        objective: &'a mut dyn Objective<Detail = D>,
        start: Start<D>,
        l1: Option<&'a [f64]>,
        settings: &'a LbfgsSettings,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        let state = match start {
            Start::State(state) => *state,
            Start::Point(x) => {
                let mut gradient = vec![0.0; x.len()];
                let (mut value, detail) = objective.evaluate(&x, &mut gradient);
                if let Some(l1) = l1 {
                    value += L1Penalty::new(l1).value(&mut VectorOps::new(x.len()), &x);
                }
                let current = EvaluatedPoint { x, gradient, value, detail };
                return Self {
                    evaluations: 1,
                    ..Self::at(current, objective, l1, settings, interrupt)
                };
            }
        };
        let current = EvaluatedPoint {
            x: state.x.into_owned(),
            gradient: state.gradient.into_owned(),
            value: state.value,
            detail: state.detail,
        };
        let mut descent = Self {
            convergence: state.convergence,
            first_distance: state.first_distance,
            iterations: state.iterations,
            evaluations: state.evaluations,
            skipped_updates: state.skipped_updates,
            restarts: state.restarts,
            is_resumed: true,
            is_reevaluated: state.is_reevaluated,
            ..Self::at(current, objective, l1, settings, interrupt)
        };
        if let Some(round) = state.round {
            descent.objective.resume_round(round);
        }
        descent.memory.restore(state.pairs);
        descent
    }

    /// Starts at an evaluated point, with an empty memory.
    fn at(
        current: EvaluatedPoint<D>,
        objective: &'a mut dyn Objective<Detail = D>,
        l1: Option<&'a [f64]>,
        settings: &'a LbfgsSettings,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        let options = settings.options();
        let (dimension, value) = (current.x.len(), current.value);
        let mut ops = VectorOps::new(dimension);
        let mut penalty = l1.map(L1Penalty::new);
        let norms = measure(&mut ops, penalty.as_mut(), &current);
        let curvature = (!options.plain).then(|| objective.inverse_curvature());
        let memory = LbfgsMemory::new(options.memory, dimension, curvature.flatten());
        Self {
            objective,
            options,
            interrupt,
            penalty,
            ops,
            memory,
            trial: EvaluatedPoint {
                x: vec![0.0; dimension],
                gradient: vec![0.0; dimension],
                value,
                detail: current.detail.clone(),
            },
            current,
            direction: vec![0.0; dimension],
            slope: 0.0,
            norms,
            convergence: ConvergenceTest::new(value, norms.gradient),
            first_distance: 1.0,
            iterations: 0,
            evaluations: 0,
            search_evaluations: 0,
            skipped_updates: 0,
            restarts: 0,
            is_resumed: false,
            is_reevaluated: false,
        }
    }

    /// Iterates until a stopping test holds.
    pub(super) fn run(mut self, observer: &mut dyn StateObserver<D>) -> Outcome<D> {
        let mut step = 0.0;
        let stop_reason = loop {
            if !(self.current.value.is_finite() && self.norms.are_finite()) {
                break StopReason::NonFinite;
            }
            if !std::mem::take(&mut self.is_resumed) {
                if observer.iteration(&self.report(step)).is_break() {
                    break StopReason::Interrupted;
                }
                observer.state(&self.state(), false);
            }
            match self.iterate() {
                ControlFlow::Continue(accepted) => step = accepted,
                ControlFlow::Break(reason) => {
                    if reason == StopReason::Interrupted {
                        observer.state(&self.state(), true);
                    }
                    break reason;
                }
            }
        };
        Outcome {
            x: self.current.x,
            value: self.current.value,
            detail: self.current.detail,
            stop_reason,
            iterations: self.iterations,
            evaluations: self.evaluations,
            gradient_norm: self.norms.gradient,
            skipped_updates: self.skipped_updates,
            restarts: self.restarts,
        }
    }

    /// Makes the stopping tests and a step.
    fn iterate(&mut self) -> ControlFlow<StopReason, f64> {
        self.begin_iteration()?;
        self.begin_round(false)?;
        loop {
            let reason = match self.stopping_test() {
                Some(reason) => reason,
                None => match self.advance() {
                    ControlFlow::Break(StopReason::LineSearch) => StopReason::LineSearch,
                    result => return result,
                },
            };
            let is_limit = reason == StopReason::MaxIterations;
            if is_limit || !self.begin_round(true)? {
                return ControlFlow::Break(reason);
            }
        }
    }

    /// Returns the state. After an interrupt it is that at the beginning of the iteration, or of
    /// its last line search, which then begins again.
    fn state(&self) -> OptimizerState<'_, D> {
        let EvaluatedPoint { x, gradient, value, detail } = &self.current;
        OptimizerState {
            x: Cow::Borrowed(x),
            gradient: Cow::Borrowed(gradient),
            value: *value,
            detail: detail.clone(),
            pairs: self.memory.state(),
            convergence: self.convergence.clone(),
            first_distance: self.first_distance,
            iterations: self.iterations,
            evaluations: self.evaluations - self.search_evaluations,
            skipped_updates: self.skipped_updates,
            restarts: self.restarts,
            is_reevaluated: self.is_reevaluated,
            round: self.objective.round(),
        }
    }

    fn report(&self, step: f64) -> Iteration<'_, D> {
        Iteration {
            number: self.iterations,
            value: self.current.value,
            detail: &self.current.detail,
            gradient_norm: self.norms.gradient,
            x_norm: self.norms.x,
            step,
            evaluations: self.evaluations,
            x: &self.current.x,
            nonzero: self.norms.nonzero,
        }
    }

    fn stopping_test(&self) -> Option<StopReason> {
        if self.norms.gradient <= self.options.gradient_tolerance * self.norms.x.max(1.0) {
            return Some(StopReason::Gradient);
        }
        if self.convergence.is_converged(self.options) {
            return Some(StopReason::Improvement);
        }
        let limit = self.options.max_iterations?;
        (self.iterations >= limit).then_some(StopReason::MaxIterations)
    }

    /// Makes a step, along −g after clearing the memory if necessary.
    fn advance(&mut self) -> ControlFlow<StopReason, f64> {
        loop {
            self.find_direction();
            let first = if self.memory.is_empty() {
                self.first_distance / self.ops.dot(&self.direction, &self.direction).sqrt()
            } else {
                1.0
            };
            let start = self.convergence.line_search_start(self.current.value, self.slope);
            let result = if self.penalty.is_some() {
                self.search_orthant(start, first)
            } else {
                self.search_smooth(start, first)
            };
            match result {
                LineSearchResult::Step(step) => {
                    self.accept();
                    return ControlFlow::Continue(step);
                }
                LineSearchResult::Interrupted => {
                    return ControlFlow::Break(StopReason::Interrupted);
                }
                LineSearchResult::Failed if self.memory.is_empty() => {
                    return ControlFlow::Break(StopReason::LineSearch);
                }
                LineSearchResult::Failed => {
                    self.search_evaluations = 0;
                    self.restart();
                }
            }
        }
    }

    /// Reevaluates `current` if the function has changed.
    fn begin_iteration(&mut self) -> ControlFlow<StopReason> {
        let has_changed = self.objective.begin_iteration(self.iterations as u64);
        if !has_changed || self.is_reevaluated {
            return ControlFlow::Continue(());
        }
        self.reevaluate()?;
        self.is_reevaluated = true;
        self.convergence.record_reevaluation(self.current.value, self.options.period);
        ControlFlow::Continue(())
    }

    /// Reevaluates `current` if a new round of the objective begins, and returns whether one does.
    fn begin_round(&mut self, is_converged: bool) -> ControlFlow<StopReason, bool> {
        let iteration = self.iterations as u64;
        if !self.objective.begin_round(iteration, is_converged) {
            return ControlFlow::Continue(false);
        }
        self.reevaluate()?;
        self.search_evaluations = 0;
        let (value, norm) = (self.current.value, self.norms.gradient);
        self.convergence.record_round(value, norm, self.options);
        ControlFlow::Continue(true)
    }

    /// Evaluates `current` under a function that has changed.
    fn reevaluate(&mut self) -> ControlFlow<StopReason> {
        if self.is_interrupted() {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        let current = &mut self.current;
        let (smooth, detail) = self.objective.evaluate(&current.x, &mut current.gradient);
        self.evaluations += 1;
        current.detail = detail;
        current.value = match &self.penalty {
            Some(penalty) => smooth + penalty.value(&mut self.ops, &current.x),
            None => smooth,
        };
        self.norms = measure(&mut self.ops, self.penalty.as_mut(), &self.current);
        if !(self.current.value.is_finite() && self.norms.are_finite()) {
            return ControlFlow::Break(StopReason::NonFinite);
        }
        ControlFlow::Continue(())
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|i| i.load(Ordering::Relaxed))
    }

    fn restart(&mut self) {
        self.memory.clear();
        self.restarts += 1;
    }

    /// Sets `direction` and `slope`. If the direction does not descend, clears the memory, since −g
    /// always does.
    fn find_direction(&mut self) {
        self.slope = self.quasi_newton_direction();
        if !(self.slope < 0.0 || self.memory.is_empty()) {
            self.restart();
            self.slope = self.quasi_newton_direction();
        }
    }

    fn quasi_newton_direction(&mut self) -> f64 {
        let gradient = match &self.penalty {
            Some(penalty) => penalty.pseudo_gradient(),
            None => &self.current.gradient,
        };
        let slope = self.memory.direction(&mut self.ops, gradient, &mut self.direction);
        match &self.penalty {
            Some(penalty) => penalty.align(&mut self.ops, &mut self.direction),
            None => slope,
        }
    }

    /// Searches for a step that satisfies the conditions of the line search of the options.
    fn search_smooth(&mut self, start: LineSearchStart, first: f64) -> LineSearchResult {
        let (method, trials) = (self.options.line_search, self.options.max_line_search);
        let mut search = StepSearch::new(start, method, trials);
        let mut step = first;
        loop {
            if self.try_step(step).is_none() {
                return LineSearchResult::Interrupted;
            }
            let value = self.trial.value;
            let slope = self.ops.dot(&self.trial.gradient, &self.direction);
            match search.decide(TrialStep { step, value, slope }) {
                TrialDecision::Accept => return LineSearchResult::Step(step),
                TrialDecision::Try(next) => step = next,
                TrialDecision::GiveUp => return self.fall_back(start, search.fallback(), step),
            }
        }
    }

    /// Searches for a step within the orthant of `current`, by backtracking.
    fn search_orthant(&mut self, start: LineSearchStart, first: f64) -> LineSearchResult {
        let mut next = first;
        let mut last = first;
        let mut lowest = start.value - start.noise;
        let mut best = None;
        for _ in 0..self.options.max_line_search {
            let step = next;
            let Some(change) = self.try_step(step) else {
                return LineSearchResult::Interrupted;
            };
            let gradient = &self.trial.gradient;
            let value = if self.ops.dot(gradient, gradient).is_finite() {
                self.trial.value
            } else {
                f64::NAN
            };
            if owlqn::is_accepted(start, value, change) {
                return LineSearchResult::Step(step);
            }
            if value.is_finite() && value < lowest {
                lowest = value;
                best = Some(step);
            }
            last = step;
            next = step
                * match self.options.plain {
                    true => 0.5,
                    false => owlqn::shorten(start, value, change),
                };
        }
        self.fall_back(start, best, last)
    }

    /// Returns to the best trial step of a failed line search, if one decreased F.
    fn fall_back(
        &mut self,
        start: LineSearchStart,
        best: Option<f64>,
        last: f64,
    ) -> LineSearchResult {
        let Some(step) = best else {
            return LineSearchResult::Failed;
        };
        if step != last {
            if self.try_step(step).is_none() {
                return LineSearchResult::Interrupted;
            }
            // a stochastic objective may return another value this time
            if !(self.trial.value.is_finite() && start.is_decrease(self.trial.value)) {
                return LineSearchResult::Failed;
            }
        }
        LineSearchResult::Step(step)
    }

    /// Moves `trial` to a step from `current` and evaluates it; returns the linear change of F, or
    /// `None` if interrupted.
    fn try_step(&mut self, step: f64) -> Option<f64> {
        if self.is_interrupted() {
            return None;
        }
        let (x, d) = (&self.current.x, &self.direction);
        let (change, absolute) = match &self.penalty {
            Some(penalty) => penalty.project(&mut self.ops, x, step, d, &mut self.trial.x),
            None => {
                self.ops.step(x, step, d, &mut self.trial.x);
                (step * self.slope, 0.0)
            }
        };
        let (smooth, detail) = self.objective.evaluate(&self.trial.x, &mut self.trial.gradient);
        self.evaluations += 1;
        self.search_evaluations += 1;
        self.trial.value = smooth + absolute;
        self.trial.detail = detail;
        Some(change)
    }

    /// Makes `trial` the current point and updates the memory.
    fn accept(&mut self) {
        let (from, to) = (self.current.as_ref(), self.trial.as_ref());
        let update = self.memory.update(&mut self.ops, from, to);
        if !update.is_stored {
            self.skipped_updates += 1;
        }
        if update.step_norm > 0.0 {
            self.first_distance = update.step_norm;
        }
        std::mem::swap(&mut self.current, &mut self.trial);
        self.is_reevaluated = false;
        self.search_evaluations = 0;
        self.iterations += 1;
        self.norms = measure(&mut self.ops, self.penalty.as_mut(), &self.current);
        self.convergence.record_step(self.current.value, self.norms.gradient, self.options.period);
    }
}

/// Computes the norms of a point, and with L1 its pseudo-gradient.
fn measure<D>(
    ops: &mut VectorOps,
    penalty: Option<&mut L1Penalty>,
    point: &EvaluatedPoint<D>,
) -> PointNorms {
    let [xx, gg, nonzero] = ops.norms(&point.x, &point.gradient);
    let gg = match penalty {
        Some(penalty) => penalty.differentiate(ops, &point.x, &point.gradient),
        None => gg,
    };
    PointNorms { gradient: gg.sqrt(), x: xx.sqrt(), nonzero: nonzero as usize }
}
