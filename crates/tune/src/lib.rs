//! Hyperparameter search: dropout, L2, L1, weight of unlabeled text, template.
//!
//! ```text
//! search space → configurations ─┐
//! corpora → matrices, once       ├→ warm starts along a path → successive halving → model
//! dev data or k folds ───────────┘
//! ```
//!
//! **Score.** With development data, the score of a configuration is the one that
//! [`Trainer`](dropchain::Trainer) reports: the best span F1 (or accuracy) of any iteration; with
//! noise, of those after the warm-up. With k-fold cross-validation it is the mean over the folds
//! after the iteration where that mean is best: all folds stop at the same iteration, so none
//! chooses its own; a fold whose training has ended counts with its last score. The standard error
//! is that of the mean, √(variance / k). Ties go to the stronger regularization
//! ([`Configuration::compare_strength`]). What noise gains over its absence is compared fold by
//! fold ([`NoiseGain`]).
//!
//! **Warm starts.** Training with noise begins with a warm-up without it
//! ([`Lbfgs::warm_up`](field@dropchain::train::Lbfgs::warm_up)). Configurations with the
//! same template, L2 and L1 share it. Along the regularization path from the strongest L1 and L2 to
//! the weakest, each warm start begins with the weights of its neighbor and runs half as many
//! iterations. The likelihood with L2 and L1 is convex, so the path leads to the same minimum.
//! Noise is added last because R is not convex: starting from weights trained with more noise, rare
//! attributes would stay at 0. A configuration without noise resumes from its warm start as well.
//!
//! **Halving.** [`Schedule`]: the surviving configurations resume from their weights; only the
//! history of L-BFGS starts empty.
//!
//! **Model.** With development data, the model is that of the best score. With folds, the best
//! configuration is trained on all data along the same path, for the number of iterations and with
//! the mean recall bias that the folds determined.
//!
//! As many trainings run concurrently as threads and memory allow ([`ResourcePlan`]); the weights
//! of suspended trainings are in a temporary file. Neither changes a bit of the result.
//!
//! **Continued training.** If the data come with models to continue from
//! ([`TuningData::from_models`]), every training starts at their weights. By default the warm
//! starts then have no iterations.
//!
//! **Crashes.** A search is a sequence of segments of trainings, each a pure function of those
//! before. With a [`Checkpoint`], a file keeps all that are finished; a search that resumes takes
//! them from there, and has the results of one that was never interrupted, bit for bit.

mod axis;
mod checkpoint;
mod data;
mod fold_history;
mod gain;
mod observer;
mod pool;
mod resource_plan;
mod run;
mod schedule;
mod search;
mod search_run;
mod space;
mod statistics;
#[cfg(test)]
mod tests;
mod trial;
mod warm_start;

pub use axis::Axis;
pub use checkpoint::{Checkpoint, Resumed};
pub use data::{TuningData, Validation};
pub use dropchain::train::Folds;
pub use gain::NoiseGain;
pub use observer::{Phase, RungResult, TuneObserver};
pub use resource_plan::ResourcePlan;
pub use run::TuneResult;
pub use schedule::{Rung, Schedule};
pub use search::Search;
pub use space::{Configuration, SearchSpace, warm_up_iterations};
pub use trial::TrialResult;
