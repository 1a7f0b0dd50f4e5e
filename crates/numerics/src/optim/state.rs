//! The state of a minimization between two iterations, from which it resumes to the same bits.
//!
//! # Stopping tests on the value
//!
//! There are two. The first is that of CRFsuite: over a number of iterations, F must decrease by a
//! fraction of its size. The second guards against rounding: within a number of iterations, F must
//! decrease by more than its noise, or the gradient norm must decrease. It stops the optimizer
//! whatever the tolerances.
//!
//! For an objective that draws new samples in every iteration, values of different functions are
//! comparable only on average. There the value of a point is that under the next function, which
//! has not been minimized yet, and one test replaces both: the mean of these values over a period
//! of iterations must decrease by a fraction of its size from that of the period before. This stops
//! the optimizer once progress disappears in the sampling noise: when the mean stagnates, it
//! increases by chance sooner or later.
//!
//! An objective that changes in rounds agrees at the beginning of each with a function that is the
//! same in all rounds, so values there are comparable. They need not decrease. They are settled
//! when two in a row are equal up to the tolerance; the test of means ends a sequence that never
//! settles.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};

use super::lbfgs::LbfgsMemory;
use super::line_search::LineSearchStart;
use super::objective::{Iteration, LbfgsOptions, Round};
use super::vector::Point;
use crate::error::{Error, Result};

/// Where a minimization starts.
pub enum Start<D: Clone + 'static> {
    /// At a point, `[n]`.
    Point(Vec<f64>),
    /// In the state of an earlier minimization of the same function with the same settings, which
    /// it resumes.
    State(Box<SavedState<'static, D>>),
}

impl<D: Clone + 'static> Start<D> {
    /// Returns the point, `[n]`.
    pub(super) fn x(&self) -> &[f64] {
        match self {
            Self::Point(x) => x,
            Self::State(saved) => &saved.state.current.x,
        }
    }
}

/// The state of a minimization after an accepted step: everything that later iterations depend on,
/// except what follows from the objective and the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimizerState<D> {
    pub(super) current: Point<D>,
    pub(super) memory: LbfgsMemory,
    pub(super) convergence: ConvergenceTest,
    /// Length of the first trial step without curvature information.
    pub(super) first_distance: f64,
    pub(super) iterations: usize,
    pub(super) evaluations: usize,
    pub(super) restarts: usize,
    /// Whether value and gradient belong to the function of the next iteration already, for an
    /// objective that changes.
    pub(super) is_reevaluated: bool,
}

impl<D> OptimizerState<D> {
    /// The state at a starting point with this norm of the gradient.
    pub(super) fn new(current: Point<D>, gradient_norm: f64) -> Self {
        Self {
            convergence: ConvergenceTest::new(current.value, gradient_norm),
            current,
            memory: LbfgsMemory::default(),
            first_distance: 1.0,
            iterations: 0,
            evaluations: 1,
            restarts: 0,
            is_reevaluated: false,
        }
    }
}

/// A state to resume from. Serialized, it takes 8n bytes for each of x and ∇f, 8n for an objective
/// that changes in rounds, and 4n for each of the 2m vectors of the L-BFGS memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedState<'a, D: Clone> {
    pub(super) state: Cow<'a, OptimizerState<D>>,
    /// The rounds, if the objective changes in rounds.
    pub(super) rounds: Vec<Option<Round<'a>>>,
}

impl<D: Clone> SavedState<'_, D> {
    /// Checks the lengths of all vectors: `dimension` variables, at most `memory` pairs.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if one differs.
    pub(super) fn check(&self, dimension: usize, memory: usize) -> Result<()> {
        let OptimizerState { current, memory: pairs, .. } = &*self.state;
        let is_valid = [&current.x, &current.gradient].iter().all(|v| v.len() == dimension)
            && pairs.fits(memory, dimension);
        if is_valid {
            return Ok(());
        }
        Err(Error::parameter(format!(
            "the state of the optimizer does not fit an objective of {dimension} variables"
        )))
    }
}

/// Receives the iterations of a minimization, and its state after each.
pub trait StateObserver<D: Clone> {
    /// Called for the starting point (iteration 0), unless the minimization resumes there, and for
    /// every accepted point.
    fn iteration(&mut self, iteration: &Iteration<'_, D>) -> ControlFlow<()>;

    /// Called after [`StateObserver::iteration`], and again when the minimization is interrupted.
    fn state(&mut self, state: &SavedState<'_, D>, is_interrupted: bool);
}

/// An observer that ignores the state.
impl<D: Clone, F: FnMut(&Iteration<'_, D>) -> ControlFlow<()>> StateObserver<D> for F {
    fn iteration(&mut self, iteration: &Iteration<'_, D>) -> ControlFlow<()> {
        self(iteration)
    }

    fn state(&mut self, _: &SavedState<'_, D>, _: bool) {}
}

/// Values of F within this fraction count as equal. A sum of 10⁵ to 10⁸ terms has a relative
/// rounding error of 10⁻¹⁵ to 10⁻¹³.
const NOISE: f64 = 1e-12;

/// The number of iterations without progress after which the optimizer stops. Allowing some keeps a
/// poor step at the noise level from ending the convergence of the gradient.
const MAX_STALLED: usize = 20;

/// A gradient norm below this fraction of the reference counts as progress.
const GRADIENT_PROGRESS: f64 = 0.9;

/// The history of F and of its gradient norm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConvergenceTest {
    recent: VecDeque<f64>, // values of the last `period` + 1 points, oldest first
    lowest: f64,
    value_reference: f64, // the value at its last decrease beyond the noise
    norm_reference: f64,  // the gradient norm at its last progress
    stalled: usize,       // iterations since one of the references was set
    reevaluated: VecDeque<f64>, // values of the last 2·`period` points under the next function
    rounds: VecDeque<f64>, // values at the beginning of the last 2·`period` rounds
    is_settled: bool,     // whether the current round, which has no steps yet, is the last
}

impl ConvergenceTest {
    /// The history of a starting point.
    pub fn new(value: f64, gradient_norm: f64) -> Self {
        Self {
            recent: VecDeque::from([value]),
            lowest: value,
            value_reference: value,
            norm_reference: gradient_norm,
            ..Self::default()
        }
    }

    /// Records the value of the current point under a new function.
    pub fn record_reevaluation(&mut self, value: f64, period: usize) {
        push(&mut self.reevaluated, value, 2 * period);
        self.lowest = value;
    }

    /// Records the value and the gradient norm at the beginning of a round.
    pub fn record_round(&mut self, value: f64, gradient_norm: f64, options: &LbfgsOptions) {
        let tolerance = options.improvement_tolerance();
        let is_equal = |last: &f64| (value - last).abs() <= tolerance * value.abs();
        let is_last_equal = tolerance > 0.0 && self.rounds.back().is_some_and(is_equal);
        push(&mut self.rounds, value, 2 * options.period);
        self.is_settled = is_last_equal || has_converged_mean(&self.rounds, options);
        self.recent = VecDeque::from([value]);
        (self.lowest, self.value_reference) = (value, value);
        self.norm_reference = gradient_norm;
        self.stalled = 0;
    }

    /// Returns the rounding noise of F: values this close count as equal.
    fn noise(&self) -> f64 {
        NOISE * self.lowest.abs()
    }

    /// Returns the starting state of a line search.
    pub(super) fn line_search_start(&self, value: f64, slope: f64) -> LineSearchStart {
        LineSearchStart { value, slope, lowest: self.lowest, noise: self.noise() }
    }

    /// Records an accepted point.
    pub fn record_step(&mut self, value: f64, gradient_norm: f64, period: usize) {
        push(&mut self.recent, value, period + 1);
        self.is_settled = false;
        self.lowest = self.lowest.min(value);
        self.stalled += 1;
        if value < self.value_reference - self.noise() {
            self.value_reference = value;
            self.stalled = 0;
        }
        if gradient_norm < GRADIENT_PROGRESS * self.norm_reference {
            self.norm_reference = gradient_norm;
            self.stalled = 0;
        }
    }

    /// Returns whether a stopping test holds.
    pub fn is_converged(&self, options: &LbfgsOptions) -> bool {
        if !self.reevaluated.is_empty() {
            return has_converged_mean(&self.reevaluated, options);
        }
        if self.is_settled || self.stalled >= MAX_STALLED {
            return true;
        }
        let (Some(old), Some(new)) = (self.recent.front(), self.recent.back()) else {
            return false;
        };
        self.recent.len() > options.period
            && options.improvement_tolerance() > 0.0
            && old - new < options.improvement_tolerance() * new.abs()
    }
}

/// Appends a value, and drops the first if there are more than `most`.
fn push(values: &mut VecDeque<f64>, value: f64, most: usize) {
    values.push_back(value);
    if values.len() > most {
        values.pop_front();
    }
}

/// Returns whether there are values of two periods, and the mean over the second is lower than that
/// over the first by less than the tolerance.
fn has_converged_mean(values: &VecDeque<f64>, options: &LbfgsOptions) -> bool {
    if values.len() / 2 < options.period {
        return false;
    }
    let mean = |range: Range<usize>| values.range(range).sum::<f64>() / options.period as f64;
    let old = mean(0..options.period);
    let new = mean(options.period..2 * options.period);
    old - new <= options.improvement_tolerance() * new.abs()
}
