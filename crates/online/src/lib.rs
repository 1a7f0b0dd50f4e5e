//! Online learners for dropchain, whose weights change after each sentence.
//!
//! | learner | file |
//! |---|---|
//! | [`Sgd`]: stochastic gradient descent, and AdaGrad | `sgd.rs` |
//! | [`Perceptron`], [`PassiveAggressive`], [`Arow`] | `mistakes.rs` |
//! | [`WarmStarted`]: L-BFGS after two passes of stochastic updates | `warm_start.rs` |
//!
//! Each is a [`Learner`](dropchain::train::Learner) of the trainer, and [`Method`] has them all by
//! name. A learner visits the sentences in an order that is a function of seed and epoch
//! (`order.rs`). What a sentence costs does not depend on the number of weights: penalties and
//! averages of weights that it does not touch are computed later, from counters. Weights are laid
//! out for access at random (`layout.rs`), the design matrix sentence by sentence (`columns.rs`).
//!
//! Training is sequential: the bits do not depend on the number of threads.
//!
//! ```
//! use dropchain::train::{TrainOptions, Trainer};
//! use dropchain_online::Sgd;
//!
//! let trainer = Trainer::new(TrainOptions::new(Sgd::default()))?;
//! # Ok::<(), dropchain::Error>(())
//! ```

mod algorithm;
mod changes;
mod columns;
mod epochs;
mod kernels;
mod layout;
mod learners;
mod masks;
mod method;
mod mistakes;
mod order;
mod problem;
mod run;
mod sgd;
#[cfg(test)]
mod tests;
mod warm_start;

pub use algorithm::{
    Arow, PassiveAggressive, PassiveAggressiveType, Perceptron, SgdOptions, StepRule,
};
pub use epochs::Calibration;
pub use learners::Sgd;
pub use method::Method;
pub use warm_start::WarmStarted;
