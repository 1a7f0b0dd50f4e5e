//! What training tells while it runs.

use std::time::Duration;

use super::options::TrainOptions;
use crate::optim::StopReason;

/// What is known before the first iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Start<'a> {
    /// All parameters.
    pub options: &'a TrainOptions,
    /// Sentences of training data.
    pub sentences: usize,
    /// Tokens of training data.
    pub tokens: usize,
    /// Unlabeled sentences.
    pub unlabeled_sentences: usize,
    /// Sentences of development data.
    pub dev_sentences: usize,
    /// Number of labels.
    pub labels: usize,
    /// Different attributes (node and edge).
    pub attributes: usize,
    /// Classes of attributes that always occur together: what remains after collapsing.
    pub collapsed: usize,
    /// Parameters θ.
    pub parameters: usize,
    /// Attributes per token, before and after collapsing.
    pub per_token: [f64; 2],
    /// Bytes of memory that training is about to take: matrices, parameters, optimizer.
    pub memory: usize,
}

/// One iteration of the optimizer.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Its number; 0 is the starting point.
    pub number: usize,
    /// The objective, all terms.
    pub objective: f64,
    /// Σ log p(y|x).
    pub log_likelihood: f64,
    /// The noise term.
    pub noise: f64,
    /// The L2 term.
    pub l2: f64,
    /// The L1 term.
    pub l1: f64,
    /// Norm of the gradient (with L1, of the pseudo-gradient).
    pub gradient_norm: f64,
    /// Evaluations of the objective so far.
    pub evaluations: usize,
    /// Parameters that are not zero.
    pub nonzero: usize,
    /// Time since reading and extraction ended, without the time for scoring development data.
    pub time: Duration,
    /// Score on development data: a fraction.
    pub dev: Option<DevScore>,
    /// The recall bias that gave it, where it is searched for.
    pub recall_bias: Option<f64>,
}

/// A score on development data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DevScore {
    /// Span F1.
    F1(f64),
    /// Token accuracy, where labels are no span scheme.
    Accuracy(f64),
}

impl DevScore {
    /// The score, between 0 and 1.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::F1(value) | Self::Accuracy(value) => value,
        }
    }
}

/// How training ended.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Why it ended.
    pub reason: EndReason,
    /// Iterations made.
    pub iterations: usize,
    /// The iteration whose weights are in the model.
    pub best_iteration: usize,
    /// Time as in [`Iteration::time`].
    pub time: Duration,
    /// Best score on development data.
    pub dev: Option<DevScore>,
    /// The recall bias that is in the model ([`TrainOptions::recall_bias`]).
    pub recall_bias: f64,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The optimizer came to its end.
    Optimizer(StopReason),
    /// The score on development data did not rise for a while.
    Patience,
}

impl EndReason {
    /// A name for logs, such as `improvement` or `patience`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Patience => "patience",
            Self::Optimizer(StopReason::Improvement) => "improvement",
            Self::Optimizer(StopReason::Gradient) => "gradient",
            Self::Optimizer(StopReason::MaxIterations) => "max_iterations",
            Self::Optimizer(StopReason::LineSearch) => "line_search",
            Self::Optimizer(StopReason::Interrupted) => "interrupted",
            Self::Optimizer(StopReason::NonFinite) => "non_finite",
        }
    }
}

impl std::fmt::Display for EndReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Optimizer(reason) => reason.fmt(f),
            Self::Patience => f.write_str("the score on development data no longer rises"),
        }
    }
}

/// What pruning did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pruned {
    /// Weights of attributes before.
    pub before: usize,
    /// Weights of attributes after.
    pub after: usize,
    /// Scores on development data, before and after.
    pub dev: Option<[DevScore; 2]>,
}

/// Is told how training goes.
pub trait Observer {
    /// Before the first iteration.
    fn start(&mut self, _start: &Start<'_>) {}
    /// After each iteration, and before the first (number 0).
    fn iteration(&mut self, _iteration: &Iteration) {}
    /// After the last iteration.
    fn end(&mut self, _end: &End) {}
    /// After weights near 0 have been left out, where that is asked for.
    fn pruned(&mut self, _pruned: &Pruned) {}
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
