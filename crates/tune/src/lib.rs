//! Hyperparameter search: dropout, L2, L1, weight of unlabeled text, template.
//!
//! A search is a list of runs, each an ordinary training with [`Trainer`](dropchain::Trainer):
//!
//! ```text
//! search space → configurations × folds → one run each, in parallel → table → best model
//! ```
//!
//! **Space.** A configuration is a list of options of `train` with their values. How options become
//! training parameters is the caller's ([`SettingsOf`]); what a search knows of an option is a row
//! of [`PARAMETERS`].
//!
//! **Score.** With development data, the score of a configuration is the one that its training
//! reports, and the model is that of the best run: the one that `train` makes with the same
//! options. With k-fold cross-validation it is the mean over the folds after the iteration where
//! that mean is best: all folds stop at the same iteration, so none chooses its own; a fold whose
//! training has ended counts with its last score. The best configuration is then trained on all
//! data, for that number of iterations and with the mean recall bias, and in the same way on the
//! other folds of each fold, to predict it ([`OutOfFold`]). Ties go to the stronger regularization
//! ([`Configuration::compare_strength`]). The best and the runner-up, and noise and its absence,
//! are compared fold by fold ([`FoldDifference`]).
//!
//! **Concurrency.** As many runs are trained at a time as threads and memory allow ([`Plan`]). That
//! does not change a bit of the result.
//!
//! **Crashes.** With a [`Checkpoint`], the scores of every finished run are a line of a file. A
//! search that resumes trains the other runs only, and has the results of one that was never
//! interrupted, bit for bit.

mod axis;
mod checkpoint;
mod data;
mod differences;
mod out_of_fold;
mod run;
mod search;
mod space;
mod statistics;
mod table;
#[cfg(test)]
mod tests;
mod trial;

pub use axis::Axis;
pub use checkpoint::Checkpoint;
pub use data::TuningData;
pub use differences::{FoldDifference, FoldDifferences};
pub use dropchain::kernel::train::Folds;
pub use out_of_fold::OutOfFold;
pub use run::Plan;
pub use search::{Search, TuneObserver, TuneResult};
pub use space::{Configuration, PARAMETERS, Parameter, SearchSpace, SettingsOf, text};
pub use trial::{FoldScores, Trial, TrialScore};
