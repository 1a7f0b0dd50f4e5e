//! Further terms of an objective, which are neither the likelihood, nor the noise term of
//! the sentences, nor the penalty.

use std::fmt::Debug;

use super::pass::SentencePass;
use super::problem::Problem;
use crate::optim::{Change, Round};

/// A term that is evaluated after the likelihood.
pub trait Term: Debug + Send + Sync {
    /// Returns the term at θ and adds its gradient.
    fn add(&mut self, input: TermInput<'_>, gradient: &mut [f64]) -> f64;

    /// See [`Objective::begin_iteration`](crate::optim::Objective::begin_iteration).
    fn begin_iteration(&mut self, _iteration: u64, _is_converged: bool) -> Change {
        Change::None
    }

    /// See [`Objective::round`](crate::optim::Objective::round).
    fn round(&self) -> Option<Round<'_>> {
        None
    }

    /// See [`Objective::resume_round`](crate::optim::Objective::resume_round).
    fn resume_round(&mut self, _round: &Round<'static>) {}
}

/// The arguments of a term.
#[derive(Debug)]
pub struct TermInput<'a> {
    /// The sentences and the layout of θ.
    pub problem: &'a Problem,
    /// The pass that computed the likelihood at θ.
    pub pass: &'a mut SentencePass,
    /// θ.
    pub theta: &'a [f64],
}
