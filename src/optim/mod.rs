//! Minimization of a smooth function, with or without an L1 penalty.
//!
//! Problem: find x ∈ ℝⁿ that minimizes
//!
//! ```text
//! F(x) = f(x) + Σ_i c_i |x_i|,    c_i ≥ 0
//! ```
//!
//! where an [`Objective`] gives the smooth part f and its gradient in one pass. [`minimize`] runs
//! L-BFGS (Nocedal 1980; Liu & Nocedal 1989) with a strong-Wolfe line search, and, where some
//! c_i > 0, OWL-QN (Andrew & Gao 2007), whose results hold exact zeros.
//!
//! # One iteration
//!
//! 1. direction d = −H·g by the two-loop recursion (`lbfgs.rs`); with L1, g is the
//!    pseudo-gradient and d is aligned with it (`owlqn.rs`);
//! 2. a step α along d: strong Wolfe (`line_search.rs`), or with L1 backtracking inside an orthant;
//! 3. the pair (s, y) = (change of x, change of ∇f) enters the memory where its curvature is
//!    positive; otherwise it is skipped and counted;
//! 4. the observer is called, then the stopping tests are made.
//!
//! The first step, and every step after a restart, goes along −g, where nothing is known of the
//! scale of f: the first trial moves x by a distance of 1 (α = 1/‖g‖, as CRFsuite and Wapiti do),
//! after a restart by the distance of the last accepted step. Every other search starts at α = 1.
//!
//! # When value and gradient disagree
//!
//! Approximate gradients are legitimate here, so no amount of disagreement makes the search
//! loop. A line search costs at most [`LbfgsOptions::max_line_search`] evaluations. If none of them
//! satisfies its conditions, the trial with the lowest value is taken, provided that it
//! lies below the current value by more than rounding noise (this costs one more evaluation
//! unless it was the last trial). Otherwise the memory is cleared and one search along −g is
//! made; if that fails too, or the failed search was one along −g, [`minimize`] stops with
//! [`StopReason::LineSearch`] and the best point.
//! Trials whose value or gradient is not finite only shorten the step.
//!
//! # A function that changes
//!
//! An [`Objective`] that draws random samples may become another function with every iteration
//! ([`Objective::begin_iteration`]). The current point is then evaluated again, so that the stopping
//! tests see a function that was not minimized yet, and a line search and a pair (s, y) belong to one
//! function each. What the observer sees is the value under the function just minimized, as a rule a
//! bit low. For when such a search ends see [`LbfgsOptions::improvement_tolerance`].
//!
//! # Rounding
//!
//! Near a minimum a step changes F by less than the rounding error of F long before the gradient
//! has converged. Values within 10⁻¹² |F| of each other therefore count as equal, and the slope
//! alone decides (after Hager & Zhang 2005, section 3). No accepted value ever exceeds the lowest
//! one by more than that. After 20 iterations that lower neither F beyond the noise nor the
//! gradient norm by a tenth the search has arrived and stops with [`StopReason::Improvement`],
//! whatever the tolerances.
//!
//! # Cost
//!
//! Per iteration 4·memory·n multiplications in 2·memory + 1 passes, besides the evaluations.
//! Memory: 2·memory + 5 vectors of n numbers (6 with L1), allocated before the first iteration.
//! Vectors of more than 16,384 entries are worked on by all threads of the current rayon pool, in
//! fixed chunks whose sums are added in order: results are the same to the bit for any number of
//! threads, if those of the objective are.
//!
//! # References
//!
//! - D. C. Liu, J. Nocedal: On the limited memory BFGS method for large scale optimization.
//!   Mathematical Programming 45, 1989.
//! - J. Nocedal, S. Wright: Numerical Optimization, 2nd edition, 2006: algorithms 3.5, 3.6, 7.4.
//! - G. Andrew, J. Gao: Scalable training of L1-regularized log-linear models. ICML 2007.
//! - W. Hager, H. Zhang: A new conjugate gradient method with guaranteed descent and an efficient
//!   line search. SIAM Journal on Optimization 16, 2005.
//!
//! # Example
//!
//! ```
//! use dropchain::optim::{Objective, LbfgsSettings, StopReason, minimize};
//! use std::ops::ControlFlow;
//!
//! /// (x − 3)²
//! struct Parabola;
//!
//! impl Objective for Parabola {
//!     type Detail = ();
//!     fn dimension(&self) -> usize {
//!         1
//!     }
//!     fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, ()) {
//!         gradient[0] = 2.0 * (x[0] - 3.0);
//!         ((x[0] - 3.0).powi(2), ())
//!     }
//! }
//!
//! let settings = LbfgsSettings::default();
//! let outcome = minimize(&mut Parabola, vec![0.0], None, &settings, None, &mut |iteration| {
//!     assert!(iteration.value <= 9.0);
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(outcome.stop_reason, StopReason::Gradient);
//! assert!((outcome.x[0] - 3.0).abs() < 1e-5);
//! # Ok::<(), dropchain::Error>(())
//! ```

mod check;
mod descent;
mod lbfgs;
mod line_search;
mod owlqn;
mod progress;
mod settings;
#[cfg(test)]
mod tests;
mod vector;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use descent::Descent;

pub use check::check_gradient;
pub use settings::{LbfgsOptions, LbfgsSettings};

/// A function to minimize: its smooth part, without any L1 penalty.
pub trait Objective {
    /// What an evaluation has to tell besides the value, such as the terms of the objective.
    type Detail: Clone;

    /// Number n of variables.
    fn dimension(&self) -> usize;

    /// Value f(x), and ∇f(x) written over `gradient`; both slices are `[n]`.
    ///
    /// Where f is not defined the value or an entry of the gradient may be NaN or infinite: the
    /// optimizer then tries a shorter step. The gradient may be an approximation.
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, Self::Detail);

    /// Estimates of the inverse of the diagonal of the Hessian, up to a common factor; `[n]`, finite and
    /// above 0. They are the metric in which the first step goes downhill and from which curvature is
    /// learned: good ones save iterations, bad ones cost some, and the minimum is the same. Default:
    /// none, all variables alike.
    fn inverse_curvature(&self) -> Option<Vec<f32>> {
        None
    }

    /// Tells that an iteration begins (0 is the first; the starting point belongs to it), and asks
    /// whether the function is another one than before. It must not change in between.
    fn begin_iteration(&mut self, _iteration: u64) -> bool {
        false
    }
}

/// The state after an accepted step, for the observer of [`minimize`].
#[derive(Clone, Copy, Debug)]
pub struct Iteration<'a, D> {
    /// Number of accepted steps; 0 at the starting point.
    pub number: usize,
    /// F(x), with the L1 penalty.
    pub value: f64,
    /// What the objective told about x.
    pub detail: &'a D,
    /// ‖∇f(x)‖₂; with L1 that of the pseudo-gradient of F.
    pub gradient_norm: f64,
    /// ‖x‖₂.
    pub x_norm: f64,
    /// Accepted step α along the search direction; 0 at the starting point.
    pub step: f64,
    /// Evaluations so far, that of the starting point included.
    pub evaluations: usize,
    /// The point, `[n]`.
    pub x: &'a [f64],
    /// Number of entries of x that are not exactly 0.
    pub nonzero: usize,
}

/// Why [`minimize`] came to an end. Not converging is no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The value hardly fell over the last iterations: [`LbfgsOptions::improvement_tolerance`].
    Improvement,
    /// The gradient is small: [`LbfgsOptions::gradient_tolerance`].
    Gradient,
    /// [`LbfgsOptions::max_iterations`] steps were made.
    MaxIterations,
    /// Not even along −g was a lower value found: the point is as good as rounding permits, or
    /// the gradient does not belong to the value.
    LineSearch,
    /// The observer or the interrupt flag asked for it.
    Interrupted,
    /// The starting point has no finite value and gradient, or a norm overflowed.
    NonFinite,
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
        })
    }
}

/// What [`minimize`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<D> {
    /// The last accepted point, `[n]`; no accepted value of the same function is lower, up to rounding
    /// noise.
    pub x: Vec<f64>,
    /// F(x), with the L1 penalty.
    pub value: f64,
    /// What the objective told about x.
    pub detail: D,
    /// Why the search ended.
    pub stop_reason: StopReason,
    /// Accepted steps.
    pub iterations: usize,
    /// Calls of [`Objective::evaluate`].
    pub evaluations: usize,
    /// ‖∇f(x)‖₂; with L1 that of the pseudo-gradient of F.
    pub gradient_norm: f64,
    /// Steps along which no positive curvature was found, so that the memory did not learn from
    /// them.
    pub skipped_updates: usize,
    /// How often the memory was cleared. Together with many skipped updates it is a sign that
    /// value and gradient disagree.
    pub restarts: usize,
}

/// Minimizes `objective` from `x`, with an optional L1 penalty of strength `l1[i]` ≥ 0 on x_i.
///
/// `x` and `l1` are `[n]`. Without a positive strength plain L-BFGS runs. The observer sees the
/// starting point (iteration 0) and every accepted point; it is not called if the starting point
/// has no finite value. `interrupt` is looked at before every evaluation but the first; the last
/// accepted point is then returned.
///
/// # Errors
///
/// [`Error::Parameter`] when `x` or `l1` has not [`Objective::dimension`] entries or a strength is
/// negative or not finite.
pub fn minimize<O: Objective>(
    objective: &mut O,
    x: Vec<f64>,
    l1: Option<&[f64]>,
    settings: &LbfgsSettings,
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn FnMut(&Iteration<'_, O::Detail>) -> ControlFlow<()>,
) -> Result<Outcome<O::Detail>> {
    let dimension = objective.dimension();
    check_length("the starting point", x.len(), dimension)?;
    if let Some(l1) = l1 {
        check_length("the L1 penalty", l1.len(), dimension)?;
        if let Some(strength) = l1.iter().find(|c| !c.is_finite() || **c < 0.0) {
            return Err(Error::parameter(format!(
                "L1 strength {strength}; expected a finite number that is not negative"
            )));
        }
    }
    let l1 = l1.filter(|l1| l1.iter().any(|&c| c > 0.0));
    Ok(Descent::new(objective, x, l1, settings, interrupt).run(observer))
}

fn check_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "{what} has {found} entries; the objective has {expected} variables"
    )))
}
