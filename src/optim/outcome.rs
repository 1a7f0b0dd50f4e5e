//! The progress and the result of a minimization.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state after an accepted step, as passed to the observer of [`minimize`](super::minimize).
#[derive(Clone, Copy, Debug)]
pub struct Iteration<'a, D> {
    /// Number of accepted steps; 0 at the starting point.
    pub number: usize,
    /// F(x), with the L1 penalty.
    pub value: f64,
    /// The detail that the objective reported for x.
    pub detail: &'a D,
    /// ‖∇f(x)‖₂; with L1 the norm of the pseudo-gradient of F.
    pub gradient_norm: f64,
    /// ‖x‖₂.
    pub x_norm: f64,
    /// Accepted step α along the search direction; 0 at the starting point.
    pub step: f64,
    /// Evaluations so far, including the starting point.
    pub evaluations: usize,
    /// The point, `[n]`.
    pub x: &'a [f64],
    /// Number of nonzero entries of x.
    pub nonzero: usize,
}

/// Why [`minimize`](super::minimize) stopped. Not converging is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The value hardly decreased over the last iterations:
    /// [`improvement_tolerance`](super::LbfgsOptions::improvement_tolerance).
    Improvement,
    /// The gradient is small: [`gradient_tolerance`](super::LbfgsOptions::gradient_tolerance).
    Gradient,
    /// [`max_iterations`](super::LbfgsOptions::max_iterations) steps were accepted.
    MaxIterations,
    /// The line search failed even along −g: the point is as good as rounding permits, or value and
    /// gradient disagree.
    LineSearch,
    /// The observer or the interrupt flag requested it.
    Interrupted,
    /// The starting point has no finite value and gradient, or a norm overflowed.
    NonFinite,
    /// The loss of a sentence is small on average: an online learner.
    Loss,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Improvement => "the value no longer improves",
            Self::Gradient => "the gradient vanishes",
            Self::MaxIterations => "the maximum number of iterations is reached",
            Self::LineSearch => "the line search finds no lower value",
            Self::Interrupted => "interrupted",
            Self::NonFinite => "the value or the gradient is not finite",
            Self::Loss => "the loss is small",
        })
    }
}

/// The result of [`minimize`](super::minimize).
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<D> {
    /// The last accepted point, `[n]`. No accepted value of the same function is lower, up to
    /// rounding noise.
    pub x: Vec<f64>,
    /// F(x), with the L1 penalty.
    pub value: f64,
    /// The detail that the objective reported for x.
    pub detail: D,
    /// Why the minimization stopped.
    pub stop_reason: StopReason,
    /// Number of accepted steps.
    pub iterations: usize,
    /// Number of calls of [`Objective::evaluate`](super::Objective::evaluate).
    pub evaluations: usize,
    /// ‖∇f(x)‖₂; with L1 the norm of the pseudo-gradient of F.
    pub gradient_norm: f64,
    /// Number of steps without positive curvature, which did not update the memory.
    pub skipped_updates: usize,
    /// Number of times the memory was cleared. Together with many skipped updates, a sign that
    /// value and gradient disagree.
    pub restarts: usize,
}
