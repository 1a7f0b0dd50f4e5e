//! The state of a minimization between two iterations, from which it resumes to the same bits.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::convergence::ConvergenceTest;
use super::objective::Round;
use super::outcome::Iteration;
use crate::error::{Error, Result};

/// Where a minimization starts.
pub(crate) enum Start<D> {
    /// At a point, `[n]`.
    Point(Vec<f64>),
    /// In the state of an earlier minimization of the same function with the same settings, which
    /// it resumes.
    State(Box<OptimizerState<'static, D>>),
}

/// The state of a minimization after an accepted step.
///
/// Everything that later iterations depend on, except what follows from the objective and the
/// settings. Serialized, it takes 8n bytes for each of x and ∇f, 8n for an objective that changes
/// in rounds, and 4n for each of the 2m vectors of the L-BFGS memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OptimizerState<'a, D> {
    pub(super) x: Cow<'a, [f64]>,        // [n]
    pub(super) gradient: Cow<'a, [f64]>, // [n] of the smooth part
    pub(super) value: f64,
    pub(super) detail: D,
    pub(super) pairs: Vec<PairState<'a>>, // oldest first
    pub(super) convergence: ConvergenceTest,
    pub(super) first_distance: f64,
    pub(super) iterations: usize,
    pub(super) evaluations: usize,
    pub(super) skipped_updates: usize,
    pub(super) restarts: usize,
    /// Whether value and gradient belong to the function of the next iteration already, for an
    /// objective that changes.
    pub(super) is_reevaluated: bool,
    /// Of an objective that changes in rounds.
    pub(super) round: Option<Round<'a>>,
}

/// A pair of the L-BFGS memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PairState<'a> {
    pub(super) s: Cow<'a, [f32]>, // [n]
    pub(super) y: Cow<'a, [f32]>, // [n]
    pub(super) sy: f64,
    pub(super) ypy: f64,
}

impl<D> OptimizerState<'_, D> {
    /// Checks the lengths of all vectors: `dimension` variables, at most `memory` pairs.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if one differs.
    pub(super) fn check(&self, dimension: usize, memory: usize) -> Result<()> {
        let vectors = self.pairs.iter().flat_map(|pair| [&pair.s, &pair.y]);
        let is_valid = self.x.len() == dimension
            && self.gradient.len() == dimension
            && self.pairs.len() <= memory
            && vectors.into_iter().all(|vector| vector.len() == dimension)
            && (self.round.iter()).all(|round| round.numbers.len() == dimension);
        if is_valid {
            return Ok(());
        }
        Err(Error::parameter(format!(
            "the state of the optimizer does not fit an objective of {dimension} variables"
        )))
    }
}

/// Receives the iterations of a minimization, and its state after each.
pub(crate) trait StateObserver<D> {
    /// Called for the starting point (iteration 0), unless the minimization resumes there, and for
    /// every accepted point.
    fn iteration(&mut self, iteration: &Iteration<'_, D>) -> ControlFlow<()>;

    /// Called after [`StateObserver::iteration`], and again when the minimization is interrupted.
    fn state(&mut self, state: &OptimizerState<'_, D>, is_interrupted: bool);
}

/// An observer that ignores the state.
pub(super) struct IterationObserver<'a, D>(
    pub &'a mut dyn FnMut(&Iteration<'_, D>) -> ControlFlow<()>,
);

impl<D> StateObserver<D> for IterationObserver<'_, D> {
    fn iteration(&mut self, iteration: &Iteration<'_, D>) -> ControlFlow<()> {
        (self.0)(iteration)
    }

    fn state(&mut self, _: &OptimizerState<'_, D>, _: bool) {}
}
