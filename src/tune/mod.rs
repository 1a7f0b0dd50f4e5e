//! The search for good parameters: dropout, L2, L1, weight of unlabeled text, template.
//!
//! ```text
//! space → configurations ─┐
//! text → matrices, once   ├→ weights before noise, along a path → rungs of successive halving → model
//! dev data or k folds ────┘
//! ```
//!
//! **Score.** On development data a configuration is worth what [`Trainer`](crate::Trainer) would say of it:
//! the best span F1 (or accuracy) of any iteration; with noise, of those after the warm-up. By k-fold cross-validation it is worth the mean over the
//! folds after the iteration where that mean is best: all folds stop at the same iteration, so that none chooses
//! its own; a fold whose training has ended counts with its last score. The standard error is that of the mean,
//! √(variance / k). Of equal scores the stronger regularization wins ([`Configuration::by_strength`]).
//!
//! **Warm starts.** Training with noise begins with iterations without ([`TrainOptions::warm_up`](crate::TrainOptions)).
//! Configurations with the same template, L2 and L1 share them. Along the path from the strongest L1 and L2
//! to the weakest, each begins where its neighbor's ended and makes half as many of these iterations. The
//! likelihood with L2 and L1 is convex, so the path leads to the same minimum. Noise is added last, because
//! R is not convex: from weights trained with more noise, rare attributes would not rise from 0.
//! A configuration without noise goes on from there as well.
//!
//! **Halving.** [`Schedule`]: those that are kept go on from their weights; only the memory of L-BFGS
//! begins anew.
//!
//! **The model** is, with development data, that of the best score. With folds, the best configuration is
//! trained on all data along the same path, for as many iterations and with the mean recall bias that the
//! folds suggest.
//!
//! Trainings run side by side as far as threads and memory go ([`Plan`]); where memory does not hold
//! the weights that wait, they wait in temporary files. None of that changes a bit of the result.

mod axis;
mod bases;
mod course;
mod data;
mod folds;
mod memory;
mod parked;
mod pool;
mod refit;
mod schedule;
mod search;
mod space;
mod standing;
#[cfg(test)]
mod tests;

pub use axis::Axis;
pub use data::{Data, Judge};
pub use folds::Folds;
pub use memory::Plan;
pub use schedule::{Rung, Schedule};
pub use search::{Found, Observer, RungEnd, Search, Stage};
pub use space::{Configuration, Space};
pub use standing::Standing;
