//! Minimization of a smooth function, optionally with an L1 penalty: L-BFGS and OWL-QN.
//!
//! Problem: find x ∈ ℝⁿ that minimizes
//!
//! ```text
//! F(x) = f(x) + Σ_i c_i |x_i|,    c_i ≥ 0
//! ```
//!
//! where an [`Objective`] computes the smooth part f and its gradient in one pass. [`minimize`]
//! runs L-BFGS (Nocedal 1980; Liu & Nocedal 1989) with a strong-Wolfe line search, or, if some
//! c_i > 0, OWL-QN (Andrew & Gao 2007), whose solutions contain exact zeros.
//!
//! # One iteration
//!
//! 1. Direction d = −H·g by the two-loop recursion (`lbfgs.rs`). With L1, g is the pseudo-gradient
//!    and d is aligned with −g (`owlqn.rs`).
//! 2. Step α along d: strong Wolfe (`line_search.rs`) or backtracking (the same file); with L1
//!    backtracking within an orthant.
//! 3. The curvature pair (s, y) = (change of x, change of ∇f) enters the memory if its curvature is
//!    positive; otherwise it is skipped.
//! 4. The observer is called, then the stopping tests are made (`state.rs`).
//!
//! The first step, and the first after a restart, goes along −g, where the scale of f is unknown.
//! The first trial moves x by a distance of 1 (α = 1/‖g‖, like CRFsuite and Wapiti), after a
//! restart by that of the last accepted step. Every other line search starts at α = 1.
//!
//! # When value and gradient disagree
//!
//! Gradients may be approximate, so no amount of disagreement makes the optimizer loop. A line
//! search takes at most 20 evaluations. If none of them satisfies
//! its conditions, the trial with the lowest value is taken, provided that this is below the
//! current value by more than rounding noise (at the cost of one more evaluation unless it was the
//! last trial). Otherwise the memory is cleared and one line search along −g is made. If that fails
//! too, or the failed one was along −g already, [`minimize`] stops with [`StopReason::LineSearch`]
//! at the best point. Trials whose value or gradient is not finite only shorten the step.
//!
//! # Stochastic objectives
//!
//! An [`Objective`] that draws random samples may change with every iteration
//! ([`Change::Samples`]). The current point is then reevaluated, so that the stopping
//! tests see the value under a function that was not minimized yet, and each line search and each
//! pair (s, y) belongs to a single function. The observer receives the value under the function
//! just minimized, which tends to be biased low. For the stopping test in this case see
//! [`improvement_tolerance`].
//!
//! # Objectives that change in rounds
//!
//! An [`Objective`] may keep a part of itself fixed for a number of iterations, a round
//! ([`Change::Round`]). A new round begins when the objective says so and when the
//! optimizer would otherwise stop. The current point is then reevaluated; the pairs of earlier
//! rounds stay in the memory, since most of the curvature is the same. The stopping tests compare
//! values of the same round only; in addition, the optimizer stops ([`StopReason::Improvement`])
//! at the beginning of a round whose value differs from that at the beginning of the last one by
//! less than the fraction [`improvement_tolerance`], or if the mean of these values
//! over a period of rounds is no longer lower than that over the period before.
//!
//! [`improvement_tolerance`]: field@LbfgsOptions::improvement_tolerance
//!
//! # Rounding
//!
//! Near a minimum a step changes F by less than the rounding error of F long before the gradient
//! has converged. Values within 10⁻¹² |F| of each other therefore count as equal, and the slope
//! alone decides (after Hager & Zhang 2005, section 3). No accepted value ever exceeds the lowest
//! one by more than that. After 20 iterations that decrease neither F beyond the noise nor the
//! gradient norm by a tenth, the optimizer stops with [`StopReason::Improvement`] whatever the
//! tolerances.
//!
//! # Cost
//!
//! Per iteration 4·memory·n multiplications in 2·memory + 2 passes, besides the evaluations.
//! Memory: 2·memory vectors of n `f32`, allocated with the first iterations, another for the
//! preconditioner, and 5 of n `f64` (6 with L1). Vectors of more than 16,384 entries are processed
//! by all threads of the current rayon pool, in fixed chunks whose sums are added in order: results
//! are bit-identical for any number of threads, if those of the objective are.
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
//! use dropchain::kernel::optim::{LbfgsOptions, Objective, StopReason, minimize};
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
//! let options = LbfgsOptions::default();
//! let outcome = minimize(&mut Parabola, vec![0.0], None, &options, None, &mut |iteration| {
//!     assert!(iteration.value <= 9.0);
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(outcome.stop_reason, StopReason::Gradient);
//! assert!((outcome.x[0] - 3.0).abs() < 1e-5);
//! # Ok::<(), dropchain::Error>(())
//! ```

mod descent;
pub(crate) mod lbfgs;
pub(crate) mod line_search;
mod objective;
pub(crate) mod owlqn;
pub(crate) mod state;
pub(crate) mod vector;

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result, check_not_negative};
use descent::Descent;

pub use objective::{
    Change, Iteration, LbfgsOptions, Objective, Outcome, Round, StopReason, check_gradient,
};
pub use state::{SavedState, Start, StateObserver};

/// Minimizes `objective` starting at `x`, with an optional L1 penalty of strength `l1[i]` ≥ 0 on
/// x_i.
///
/// `x` and `l1` are `[n]`. If no strength is positive, plain L-BFGS is used. `observer` is called
/// for the starting point (iteration 0) and every accepted point, unless the starting point has no
/// finite value. `interrupt` is checked before every evaluation but the first; once it is set, the
/// last accepted point is returned.
///
/// # Errors
///
/// [`Error::Parameter`] if the length of `x` or `l1` is not [`Objective::dimension`], a strength is
/// negative or not finite, or an option is out of range.
pub fn minimize<O: Objective>(
    objective: &mut O,
    x: Vec<f64>,
    l1: Option<&[f64]>,
    options: &LbfgsOptions,
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn FnMut(&Iteration<'_, O::Detail>) -> ControlFlow<()>,
) -> Result<Outcome<O::Detail>> {
    let start = Start::Point(x);
    let observer = &mut |iteration: &Iteration<'_, O::Detail>| observer(iteration);
    minimize_from(objective, start, l1, options, interrupt, observer)
}

/// Minimizes `objective` like [`minimize`], from a point or resuming an earlier minimization.
///
/// # Errors
///
/// Same as [`minimize`]; the state to resume from has vectors of other lengths.
pub fn minimize_from<O: Objective>(
    objective: &mut O,
    start: Start<O::Detail>,
    l1: Option<&[f64]>,
    options: &LbfgsOptions,
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn StateObserver<O::Detail>,
) -> Result<Outcome<O::Detail>> {
    options.check()?;
    let dimension = objective.dimension();
    let is_resumed = matches!(start, Start::State(_));
    match &start {
        Start::Point(x) => check_length("the starting point", x.len(), dimension)?,
        Start::State(saved) => saved.check(dimension, options.memory)?,
    }
    if let Some(l1) = l1 {
        check_length("the L1 penalty", l1.len(), dimension)?;
        l1.iter().try_for_each(|&strength| check_not_negative("L1 strength", strength))?;
    }
    let l1 = l1.filter(|l1| l1.iter().any(|&c| c > 0.0));
    Ok(Descent::new(objective, start, l1, options, interrupt).run(is_resumed, observer))
}

fn check_length(what: &str, actual: usize, expected: usize) -> Result<()> {
    if actual == expected {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "{what} has {actual} entries; the objective has {expected} variables"
    )))
}
