//! The function to minimize.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A differentiable function to minimize: the smooth part f, without any L1 penalty.
pub trait Objective {
    /// What an evaluation reports besides the value, such as the terms of the objective.
    type Detail: Clone;

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

    /// Called at the start of each iteration, counted from 0; the starting point belongs to
    /// iteration 0. Returns whether the function has changed, for instance because new random
    /// samples were drawn. The function must not change at any other time.
    fn begin_iteration(&mut self, _iteration: u64) -> bool {
        false
    }

    /// Called after [`begin_iteration`](Self::begin_iteration), and with `is_converged` when the
    /// optimizer would otherwise stop at the current point. Returns whether a new round begins: the
    /// next evaluation, at the current point, fixes the function for the iterations to come.
    ///
    /// An objective that changes in rounds replaces a part of itself by a simpler function that
    /// agrees with it at the point where a round begins, such as a penalty with weights of its own.
    /// It must not begin a round twice at the same iteration, so that the optimizer stops.
    fn begin_round(&mut self, _iteration: u64, _is_converged: bool) -> bool {
        false
    }

    /// Returns what the function of the current round depends on, if it changes in rounds.
    fn round(&self) -> Option<Round<'_>> {
        None
    }

    /// Resumes in a round of an earlier minimization.
    fn resume_round(&mut self, _round: Round<'static>) {}
}

/// What the function of a round depends on, besides the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round<'a> {
    /// The iteration at which the round began.
    pub first: u64,
    /// Numbers that were computed there.
    pub numbers: Cow<'a, [f64]>,
}
