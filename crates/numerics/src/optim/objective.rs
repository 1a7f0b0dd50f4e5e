//! The function to minimize, and a check of its gradient; the parameters, the progress and the
//! result of a minimization.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, check_not_negative};

/// A differentiable function to minimize: the smooth part f, without any L1 penalty.
pub trait Objective {
    /// Further results of an evaluation besides the value, such as the terms of the objective.
    type Detail: Clone + 'static;

    /// Returns the number of variables n.
    fn dimension(&self) -> usize;

    /// Returns the value f(x) and writes the gradient ∇f(x) to `gradient`; both slices are `[n]`.
    ///
    /// Where f is undefined, the value or entries of the gradient may be NaN or infinite: the
    /// optimizer then tries a shorter step. The gradient may be an approximation.
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, Self::Detail);

    /// Returns a diagonal preconditioner: estimates of the inverse diagonal of the Hessian, up to a
    /// common factor; `[n]`, finite and positive.
    ///
    /// It is the initial inverse Hessian of L-BFGS, up to scale. Good estimates save iterations and
    /// bad ones cost some; the minimum stays the same. The default is `None`, the identity.
    fn inverse_curvature(&self) -> Option<Vec<f32>> {
        None
    }

    /// Called at the start of each iteration, counted from 0, and with `is_converged` when the
    /// optimizer would otherwise stop at the current point; the starting point belongs to iteration
    /// 0. Returns whether the function changes now. It must not change at any other time.
    ///
    /// An objective that changes in rounds replaces a part of itself by a simpler function that
    /// agrees with it at the point where a round begins, such as a penalty with weights of its own.
    /// It must not begin a round twice at the same iteration, so that the optimizer stops.
    fn begin_iteration(&mut self, _iteration: u64, _is_converged: bool) -> Change {
        Change::None
    }

    /// Returns what the functions of the current rounds depend on: for each part that may change in
    /// rounds, if it has begun one.
    fn rounds(&self) -> Vec<Option<Round<'_>>> {
        Vec::new()
    }

    /// Resumes in the rounds of an earlier minimization.
    fn resume_rounds(&mut self, _rounds: Vec<Option<Round<'static>>>) {}
}

/// How an objective changes between two iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It stays the same.
    #[default]
    None,
    /// It has drawn new random samples.
    Samples,
    /// A new round begins: the next evaluation, at the current point, fixes the function for the
    /// iterations to come.
    Round,
}

/// The arguments of the function that is called in each round, besides the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round<'a> {
    /// The iteration at which the round began.
    pub first: u64,
    /// Numbers that were computed there.
    pub numbers: Cow<'a, [f64]>,
}

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

impl<'a, D> Iteration<'a, D> {
    /// A step of an algorithm that has one evaluation in each, and no norm of gradients.
    pub fn new(number: usize, value: f64, detail: &'a D, x: &'a [f64]) -> Self {
        Self {
            number,
            value,
            detail,
            gradient_norm: f64::NAN,
            x_norm: x.iter().map(|w| w * w).sum::<f64>().sqrt(),
            step: 1.0,
            evaluations: number,
            x,
            nonzero: x.iter().filter(|&&w| w != 0.0).count(),
        }
    }

    /// Returns the result of an algorithm that stops at this step.
    pub fn outcome(&self, stop_reason: StopReason) -> Outcome<D>
    where
        D: Clone,
    {
        Outcome {
            x: self.x.to_vec(),
            value: self.value,
            detail: self.detail.clone(),
            stop_reason,
            iterations: self.number,
            evaluations: self.evaluations,
            gradient_norm: self.gradient_norm,
            restarts: 0,
        }
    }
}

/// Why [`minimize`](super::minimize), or training, stopped. Not converging is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The value hardly decreased over the last iterations:
    /// [`improvement_tolerance`](field@super::LbfgsOptions::improvement_tolerance).
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
    /// Early stopping: the score on development data did not improve for
    /// `TrainOptions::patience` iterations.
    Patience,
}

crate::named!(StopReason, "reason":
    Patience = "patience",
    Improvement = "improvement",
    Gradient = "gradient",
    MaxIterations = "max_iterations",
    LineSearch = "line_search",
    Interrupted = "interrupted",
    NonFinite = "non_finite",
    Loss = "loss",
);

impl StopReason {
    /// Returns the reason in words.
    pub fn message(self) -> &'static str {
        match self {
            Self::Patience => "early stopping, no improvement on development data",
            Self::Improvement => "the value no longer improves",
            Self::Gradient => "the gradient vanishes",
            Self::MaxIterations => "the maximum number of iterations is reached",
            Self::LineSearch => "the line search finds no lower value",
            Self::Interrupted => "interrupted",
            Self::NonFinite => "the value or the gradient is not finite",
            Self::Loss => "the loss is small",
        }
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
    /// Number of times the memory was cleared: if often, value and gradient disagree.
    pub restarts: usize,
}

/// The largest useful memory; more is a typo.
const MAX_MEMORY: usize = 1000;

/// The parameters of [`minimize`](super::minimize), which checks them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LbfgsOptions {
    /// Number of curvature pairs to keep, 1 to 1000. Each takes two vectors of n `f32`.
    ///
    /// Default 6, like CRFsuite: more pairs save few evaluations when training a CRF, and those of
    /// a large model take most of the memory of training.
    pub memory: usize,
    /// Maximum number of accepted steps. Default: unlimited.
    pub max_iterations: Option<usize>,
    /// Stop if (F_{k−period} − F_k) / |F_k| is below this; at 0, only the rounding test stops.
    ///
    /// For an objective that changes with every iteration, the test compares means: that of the
    /// values at the start of the last `period` iterations must be below that of the `period`
    /// before by this fraction. A mean that does not decrease stops the optimizer at any tolerance.
    ///
    /// Default 10⁻⁵, like CRFsuite, so that training times are comparable; a caller that knows its
    /// objective may have another default.
    pub improvement_tolerance: Option<f64>,
    /// Number of iterations, at least 1, over which the improvement is measured.
    ///
    /// Default 10, like CRFsuite: single steps of L-BFGS can be poor long before the end.
    pub period: usize,
    /// Stop if ‖g‖ ≤ `gradient_tolerance` · max(1, ‖x‖); at 0 only a gradient of exactly 0 stops.
    ///
    /// Default 10⁻⁵, like CRFsuite.
    pub gradient_tolerance: f64,
    /// Whether to do without what liblbfgs, the optimizer of CRFsuite, does not have: the estimate
    /// of the curvature that the objective has
    /// ([`Objective::inverse_curvature`](super::Objective::inverse_curvature)), and, with an L1
    /// penalty, interpolation between steps, which are halved instead. The points are then those
    /// that it visits; there are more of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
}

impl Default for LbfgsOptions {
    fn default() -> Self {
        Self {
            memory: 6,
            max_iterations: None,
            improvement_tolerance: None,
            period: 10,
            gradient_tolerance: 1e-5,
            plain: false,
        }
    }
}

impl LbfgsOptions {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that is out of range.
    pub fn check(&self) -> Result<()> {
        if !(1..=MAX_MEMORY).contains(&self.memory) {
            return Err(Error::parameter(format!(
                "memory of {} pairs; expected 1 to {MAX_MEMORY}",
                self.memory
            )));
        }
        if self.period == 0 {
            return Err(Error::parameter("period is 0; expected 1 or more"));
        }
        check_not_negative("improvement_tolerance", self.improvement_tolerance())?;
        check_not_negative("gradient_tolerance", self.gradient_tolerance)
    }

    /// Returns the tolerance of the improvement, or its default.
    pub(super) fn improvement_tolerance(&self) -> f64 {
        self.improvement_tolerance.unwrap_or(1e-5)
    }
}

/// Returns the largest error of the gradient at `x`, compared with central differences of the
/// value.
///
/// The derivative with respect to x_i is compared with (f(x + h_i e_i) − f(x − h_i e_i)) / 2h_i,
/// where h_i = h·max(1, |x_i|). The error is relative to the larger of the two, or absolute if both
/// are below 1, and infinite if one of them is not finite. For a correct gradient it consists of
/// about h² of truncation and ε|f|/h of rounding (ε = 2·10⁻¹⁶): h = 10⁻⁵ usually gives errors below
/// 10⁻⁸.
///
/// Costs 2n + 1 evaluations. `x` is `[n]`.
///
/// # Panics
///
/// If `objective` panics because `x` has the wrong length.
pub fn check_gradient<O: Objective>(objective: &mut O, x: &[f64], h: f64) -> f64 {
    let mut gradient = vec![0.0; x.len()];
    let mut ignored = vec![0.0; x.len()];
    let mut point = x.to_vec();
    objective.evaluate(x, &mut gradient);
    let mut worst: f64 = 0.0;
    for (i, (&center, &derivative)) in x.iter().zip(&gradient).enumerate() {
        let h = h * center.abs().max(1.0);
        point[i] = center + h;
        let (above, _) = objective.evaluate(&point, &mut ignored);
        point[i] = center - h;
        let (below, _) = objective.evaluate(&point, &mut ignored);
        point[i] = center;
        let difference = (above - below) / (2.0 * h);
        let scale = derivative.abs().max(difference.abs()).max(1.0);
        let error = (derivative - difference).abs() / scale;
        worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
    }
    worst
}
