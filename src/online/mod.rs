//! Online learners: the weights change after each sentence.
//!
//! | algorithm | file |
//! |---|---|
//! | stochastic gradient descent, and AdaGrad | `sgd.rs` |
//! | averaged perceptron, passive-aggressive, AROW | `mistakes.rs` |
//!
//! A [`Learner`] visits the sentences in an order that is a function of seed and epoch
//! (`order.rs`). What a sentence costs does not depend on the number of weights: penalties and
//! averages of weights that it does not touch are computed later, from counters. Weights are laid
//! out for access at random (`layout.rs`), the design matrix sentence by sentence (`columns.rs`).
//!
//! Training is sequential: the bits do not depend on the number of threads.

mod algorithm;
mod changes;
mod columns;
mod kernels;
mod layout;
mod learner;
mod masks;
mod memory;
mod mistakes;
mod order;
mod problem;
mod rates;
mod sgd;
#[cfg(test)]
mod tests;

pub use algorithm::{
    Algorithm, ArowOptions, PassiveAggressiveOptions, PassiveAggressiveType, PerceptronOptions,
    SgdOptions, StepRule,
};
pub use learner::{Calibration, Epoch, Learner, LearnerSettings, LearnerState};
pub use memory::learner_memory;
pub use sgd::{OnlineNoise, OnlineNoiseKind};
