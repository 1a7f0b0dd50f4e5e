//! Online learners for dropchain, whose weights change after each sentence.
//!
//! | learner | file |
//! |---|---|
//! | [`Sgd`]: stochastic gradient descent | `sgd.rs` |
//! | [`Perceptron`], [`PassiveAggressive`], [`Arow`] | `mistakes.rs` |
//! | [`WarmStarted`]: L-BFGS after two passes of stochastic updates | `warm_start.rs` |
//!
//! Each is a [`Learner`](dropchain::kernel::train::Learner) of the trainer, and [`Method`] has them
//! all by name. A learner visits the sentences in an order that is a function of seed and epoch
//! (`epochs.rs`). Weights have the layout of the parameters (`problem.rs`), and a sentence changes
//! those of its rows of the design matrix (`rows.rs`). What it costs does not depend on the number
//! of weights: penalties and averages of weights that it does not touch are computed later, from
//! counters.
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
mod calibration;
mod decay;
mod epochs;
mod learners;
mod loss;
mod masks;
mod method;
mod mistakes;
mod problem;
mod rows;
mod sentence_vector;
mod sgd;
#[cfg(test)]
mod tests;
mod warm_start;

pub use algorithm::{Arow, MistakeRule, PassiveAggressive, Perceptron};
pub use learners::Sgd;
pub use method::Method;
pub use warm_start::WarmStarted;
