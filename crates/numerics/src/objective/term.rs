//! Further terms of an objective, which are neither the likelihood, nor the noise term of
//! the sentences, nor the penalty.

use std::fmt::{self, Debug};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::pass::SentencePass;
use super::problem::Problem;
use crate::optim::{Change, Round};
use crate::score::ParameterSpace;

/// A term of the objective beside the likelihood: a regularizer, for example.
///
/// It is a function of θ that may have state. Models and checkpoints record it as its `Debug` text,
/// which therefore has all that results depend on.
pub trait Term: Debug + Send + Sync {
    /// Returns the value of the term at θ, and adds its gradient to `gradient`, `[dimension]`.
    fn add(&mut self, input: TermInput<'_>, gradient: &mut [f64]) -> f64;

    /// See [`Objective::begin_iteration`](crate::optim::Objective::begin_iteration): a term whose
    /// function changes says so here; by default it does not. It changes with the evaluation that
    /// follows: training may be interrupted before, and ask again.
    fn begin_iteration(&mut self, _iteration: u64, _is_converged: bool) -> Change {
        Change::None
    }

    /// Returns the state that its function depends on, if it changes in rounds: the checkpoint of
    /// an interrupted run has it.
    fn round(&self) -> Option<Round<'_>> {
        None
    }

    /// Continues with the state of an interrupted run.
    fn resume_round(&mut self, _round: Round<'static>) {}
}

/// The arguments of a term.
#[derive(Debug)]
pub struct TermInput<'a> {
    /// θ, `[dimension]`.
    pub theta: &'a [f64],
    /// The layout of θ: which of its entries are weights of attributes, which of label pairs.
    pub space: &'a ParameterSpace,
    pub(super) problem: &'a Problem,
    pub(super) pass: &'a mut SentencePass, // which computed the likelihood at θ
}

/// A term of any kind, as it is when a stage of training begins.
#[derive(Clone)]
pub struct AnyTerm(Arc<dyn Fn() -> Box<dyn Term> + Send + Sync>);

impl AnyTerm {
    /// Returns the term, for a stage.
    pub fn begin(&self) -> Box<dyn Term> {
        (self.0)()
    }
}

impl<T: Term + Clone + 'static> From<T> for AnyTerm {
    fn from(term: T) -> Self {
        Self(Arc::new(move || Box::new(term.clone())))
    }
}

impl Debug for AnyTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.begin().fmt(f)
    }
}

/// As its `Debug` text.
impl Serialize for AnyTerm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:?}"))
    }
}

/// Terms are equal if their texts are.
impl PartialEq for AnyTerm {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}
