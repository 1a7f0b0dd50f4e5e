//! The loop of the optimizers: direction, step, memory.
//!
//! Two points exist at any time: `here`, the last one accepted, and `there`, the one on trial;
//! an accepted step exchanges them. See the module above for what one iteration does.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::lbfgs::History;
use super::line_search::{Start, Trial, Verdict, WolfeSearch};
use super::owlqn::{self, Penalty};
use super::progress::Progress;
use super::vector::Passes;
use super::{Iteration, LbfgsOptions, LbfgsSettings, Objective, Outcome, StopReason};

/// A point with all that was evaluated there.
struct Point<D> {
    x: Vec<f64>,        // [n]
    gradient: Vec<f64>, // [n] of the smooth part
    value: f64,         // F, with the penalty
    detail: D,
}

/// How a search for a step ended; where it was found, the point is `there`.
enum Found {
    Step(f64),
    Nothing,
    Interrupted,
}

/// ‖∇F‖ (that of the pseudo-gradient with L1), ‖x‖ and the number of nonzero x_i of a point.
#[derive(Clone, Copy)]
struct Norms {
    gradient: f64,
    x: f64,
    nonzero: usize,
}

impl Norms {
    fn are_finite(self) -> bool {
        self.gradient.is_finite() && self.x.is_finite()
    }
}

/// A minimization under way.
pub(super) struct Descent<'a, O: Objective> {
    objective: &'a mut O,
    options: &'a LbfgsOptions,
    interrupt: Option<&'a AtomicBool>,
    penalty: Option<Penalty<'a>>,
    passes: Passes,
    history: History,
    here: Point<O::Detail>,
    there: Point<O::Detail>,
    direction: Vec<f64>, // [n]
    slope: f64,          // of F along `direction`
    norms: Norms,        // of `here`
    progress: Progress,
    reach: f64, // distance to go at first when nothing is known of the curvature
    iterations: usize,
    evaluations: usize,
    skipped_updates: usize,
    restarts: usize,
}

impl<'a, O: Objective> Descent<'a, O> {
    /// Evaluates the starting point. `x` and `l1` are `[n]`.
    pub(super) fn new(
        objective: &'a mut O,
        x: Vec<f64>,
        l1: Option<&'a [f64]>,
        settings: &'a LbfgsSettings,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        let options = settings.options();
        let dimension = x.len();
        let mut passes = Passes::new(dimension);
        let mut gradient = vec![0.0; dimension];
        let (mut value, detail) = objective.evaluate(&x, &mut gradient);
        let mut penalty = l1.map(Penalty::new);
        if let Some(penalty) = &penalty {
            value += penalty.value(&mut passes, &x);
        }
        let here = Point {
            x,
            gradient,
            value,
            detail,
        };
        let norms = measure(&mut passes, penalty.as_mut(), &here);
        let history = History::new(options.memory, dimension, objective.inverse_curvature());
        Self {
            objective,
            options,
            interrupt,
            penalty,
            passes,
            history,
            there: Point {
                x: vec![0.0; dimension],
                gradient: vec![0.0; dimension],
                value,
                detail: here.detail.clone(),
            },
            here,
            direction: vec![0.0; dimension],
            slope: 0.0,
            norms,
            progress: Progress::new(value, norms.gradient),
            reach: 1.0,
            iterations: 0,
            evaluations: 1,
            skipped_updates: 0,
            restarts: 0,
        }
    }

    /// Descends until a stopping test holds.
    pub(super) fn run(
        mut self,
        observer: &mut dyn FnMut(&Iteration<'_, O::Detail>) -> ControlFlow<()>,
    ) -> Outcome<O::Detail> {
        let mut step = 0.0;
        let stop_reason = loop {
            if !(self.here.value.is_finite() && self.norms.are_finite()) {
                break StopReason::NonFinite;
            }
            if observer(&self.report(step)).is_break() {
                break StopReason::Interrupted;
            }
            if let ControlFlow::Break(reason) = self.begin_iteration() {
                break reason;
            }
            if let Some(reason) = self.stopping_test() {
                break reason;
            }
            match self.advance() {
                ControlFlow::Continue(accepted) => step = accepted,
                ControlFlow::Break(reason) => break reason,
            }
        };
        Outcome {
            x: self.here.x,
            value: self.here.value,
            detail: self.here.detail,
            stop_reason,
            iterations: self.iterations,
            evaluations: self.evaluations,
            gradient_norm: self.norms.gradient,
            skipped_updates: self.skipped_updates,
            restarts: self.restarts,
        }
    }

    fn report(&self, step: f64) -> Iteration<'_, O::Detail> {
        Iteration {
            number: self.iterations,
            value: self.here.value,
            detail: &self.here.detail,
            gradient_norm: self.norms.gradient,
            x_norm: self.norms.x,
            step,
            evaluations: self.evaluations,
            x: &self.here.x,
            nonzero: self.norms.nonzero,
        }
    }

    fn stopping_test(&self) -> Option<StopReason> {
        if self.norms.gradient <= self.options.gradient_tolerance * self.norms.x.max(1.0) {
            return Some(StopReason::Gradient);
        }
        if self.progress.has_ended(self.options) {
            return Some(StopReason::Improvement);
        }
        let limit = self.options.max_iterations?;
        (self.iterations >= limit).then_some(StopReason::MaxIterations)
    }

    /// Makes a step, if need be along −g after clearing the memory.
    fn advance(&mut self) -> ControlFlow<StopReason, f64> {
        loop {
            self.find_direction();
            let first = if self.history.is_empty() {
                self.reach / self.passes.dot(&self.direction, &self.direction).sqrt()
            } else {
                1.0
            };
            let start = self.progress.start(self.here.value, self.slope);
            let found = if self.penalty.is_some() {
                self.search_orthant(start, first)
            } else {
                self.search_wolfe(start, first)
            };
            match found {
                Found::Step(step) => {
                    self.accept();
                    return ControlFlow::Continue(step);
                }
                Found::Interrupted => return ControlFlow::Break(StopReason::Interrupted),
                Found::Nothing if self.history.is_empty() => {
                    return ControlFlow::Break(StopReason::LineSearch);
                }
                Found::Nothing => self.restart(),
            }
        }
    }

    /// Evaluates `here` again if the function has changed.
    fn begin_iteration(&mut self) -> ControlFlow<StopReason> {
        if !self.objective.begin_iteration(self.iterations as u64) {
            return ControlFlow::Continue(());
        }
        if self.is_interrupted() {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        let here = &mut self.here;
        let (smooth, detail) = self.objective.evaluate(&here.x, &mut here.gradient);
        self.evaluations += 1;
        here.detail = detail;
        here.value = match &self.penalty {
            Some(penalty) => smooth + penalty.value(&mut self.passes, &here.x),
            None => smooth,
        };
        self.norms = measure(&mut self.passes, self.penalty.as_mut(), &self.here);
        if !(self.here.value.is_finite() && self.norms.are_finite()) {
            return ControlFlow::Break(StopReason::NonFinite);
        }
        self.progress.renew(self.here.value, self.options.period);
        ControlFlow::Continue(())
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|i| i.load(Ordering::Relaxed))
    }

    fn restart(&mut self) {
        self.history.clear();
        self.restarts += 1;
    }

    /// Sets `direction` and `slope`. A direction that does not descend costs the memory, since
    /// −g always does.
    fn find_direction(&mut self) {
        self.slope = self.quasi_newton_direction();
        if !(self.slope < 0.0 || self.history.is_empty()) {
            self.restart();
            self.slope = self.quasi_newton_direction();
        }
    }

    fn quasi_newton_direction(&mut self) -> f64 {
        let gradient = match &self.penalty {
            Some(penalty) => penalty.pseudo_gradient(),
            None => &self.here.gradient,
        };
        let slope = self
            .history
            .direction(&mut self.passes, gradient, &mut self.direction);
        match &self.penalty {
            Some(penalty) => penalty.align(&mut self.passes, &mut self.direction),
            None => slope,
        }
    }

    /// Looks for a step that satisfies the strong Wolfe conditions.
    fn search_wolfe(&mut self, start: Start, first: f64) -> Found {
        let mut search = WolfeSearch::new(start, self.options.max_line_search);
        let mut step = first;
        loop {
            if self.try_step(step).is_none() {
                return Found::Interrupted;
            }
            let value = self.there.value;
            let slope = self.passes.dot(&self.there.gradient, &self.direction);
            match search.judge(Trial { step, value, slope }) {
                Verdict::Accept => return Found::Step(step),
                Verdict::Try(next) => step = next,
                Verdict::GiveUp => return self.fall_back(start, search.fallback(), step),
            }
        }
    }

    /// Looks for a step within the orthant of `here`, by backtracking.
    fn search_orthant(&mut self, start: Start, first: f64) -> Found {
        let mut next = first;
        let mut last = first;
        let mut lowest = start.value - start.noise;
        let mut best = None;
        for _ in 0..self.options.max_line_search {
            let step = next;
            let Some(change) = self.try_step(step) else {
                return Found::Interrupted;
            };
            let gradient = &self.there.gradient;
            let value = if self.passes.dot(gradient, gradient).is_finite() {
                self.there.value
            } else {
                f64::NAN
            };
            if owlqn::is_accepted(start, value, change) {
                return Found::Step(step);
            }
            if value.is_finite() && value < lowest {
                lowest = value;
                best = Some(step);
            }
            last = step;
            next = step * owlqn::shorten(start, value, change);
        }
        self.fall_back(start, best, last)
    }

    /// Returns to the best trial of a search that failed, if there is one of any use.
    fn fall_back(&mut self, start: Start, best: Option<f64>, last: f64) -> Found {
        let Some(step) = best else {
            return Found::Nothing;
        };
        if step != last {
            if self.try_step(step).is_none() {
                return Found::Interrupted;
            }
            // an objective that draws at random can have changed its mind
            if !(self.there.value.is_finite() && start.is_decrease(self.there.value)) {
                return Found::Nothing;
            }
        }
        Found::Step(step)
    }

    /// Puts `there` at a step from `here` and evaluates it; returns the change that F would have
    /// if it were linear, or nothing when interrupted.
    fn try_step(&mut self, step: f64) -> Option<f64> {
        if self.is_interrupted() {
            return None;
        }
        let (x, d) = (&self.here.x, &self.direction);
        let (change, absolute) = match &self.penalty {
            Some(penalty) => penalty.project(&mut self.passes, x, (step, d), &mut self.there.x),
            None => {
                self.passes.step(x, step, d, &mut self.there.x);
                (step * self.slope, 0.0)
            }
        };
        let (smooth, detail) = self
            .objective
            .evaluate(&self.there.x, &mut self.there.gradient);
        self.evaluations += 1;
        self.there.value = smooth + absolute;
        self.there.detail = detail;
        Some(change)
    }

    /// Makes `there` the current point and learns from the step.
    fn accept(&mut self) {
        let learned = self.history.learn(
            &mut self.passes,
            (&self.here.x, &self.here.gradient),
            (&self.there.x, &self.there.gradient),
        );
        if !learned.kept {
            self.skipped_updates += 1;
        }
        if learned.length > 0.0 {
            self.reach = learned.length;
        }
        std::mem::swap(&mut self.here, &mut self.there);
        self.iterations += 1;
        self.norms = measure(&mut self.passes, self.penalty.as_mut(), &self.here);
        self.progress
            .note(self.here.value, self.norms.gradient, self.options.period);
    }
}

/// The norms of a point, and with L1 its pseudo-gradient.
fn measure<D>(passes: &mut Passes, penalty: Option<&mut Penalty>, point: &Point<D>) -> Norms {
    let [xx, gg, nonzero] = passes.norms(&point.x, &point.gradient);
    let gg = match penalty {
        Some(penalty) => penalty.differentiate(passes, &point.x, &point.gradient),
        None => gg,
    };
    Norms {
        gradient: gg.sqrt(),
        x: xx.sqrt(),
        nonzero: nonzero as usize,
    }
}
