//! Training: from labeled sentences to a model.
//!
//! ```text
//! sentences, or ready-made attributes → X → classes of equal columns → TrainingSet
//! options → Schedule: stages of { objective, limit, stops early? }
//! for each stage: Learner::run(stage, course) → weights → the model
//! ```
//!
//! [`Trainer`] runs all of it and reports to an [`Observer`]. Four nouns carry it:
//!
//! - the **schedule** (`schedule.rs`): what is minimized, for how long, one stage after the other.
//!   It is made once from the options. With noise, the first iterations are a warm-up without it
//!   ([`Lbfgs::warm_up`](field@Lbfgs::warm_up));
//! - a **learner** ([`Learner`](learner::Learner)): an algorithm that runs a stage. [`Lbfgs`] is
//!   one;
//! - the **selection** (`selection.rs`): development data are tagged after each iteration, and it
//!   decides which weights and which recall bias ([`TrainOptions::recall_bias`]) the model has, and
//!   when training stops early. The bias lowers the score of the label `O`: likelihood weighs all
//!   tokens alike, F1 counts spans, and if names are rare the most likely labels miss too many of
//!   them (Minkov, Wang, Tomasic and Cohen 2006);
//! - **checkpoints** (`checkpoint.rs`): where a run is in its schedule, its selection, and the
//!   state of its learner, from which it resumes to the same bits.
//!
//! The course (`course.rs`) is where they meet: a learner starts, reports and saves through it.
//! Training is deterministic: the same data and options result in the same model, bit for bit, for
//! any number of threads and ranks.

mod agreement;
mod base_models;
pub(crate) mod checkpoint;
pub(crate) mod corpora;
pub(crate) mod course;
mod development;
mod events;
mod extraction;
mod finish;
pub(crate) mod folds;
mod hold_out;
mod labeled_sentence;
mod labels;
mod lbfgs;
pub(crate) mod learner;
mod memory;
mod model_match;
pub(crate) mod options;
mod origin;
pub(crate) mod schedule;
pub(crate) mod selection;
mod settings;
#[cfg(test)]
mod tests;
mod trainer;
pub(crate) mod training_set;
mod two_passes;

pub use crate::extract::AttributeCorpus;
pub use crate::noise::Engine;
pub use crate::objective::{AnyTerm, NoiseKind, NoiseOptions};
pub use crate::optim::StopReason;
pub use crate::score::{Boundary, States};
pub use base_models::{BaseModels, BaseRole};
pub use checkpoint::{CheckpointInterval, Checkpoints};
pub use corpora::{HeldOut, HoldOut, TrainingCorpora};
pub use events::{
    Calibration, DataSizes, DevDetails, DevScore, End, Iteration, LabelScores, ModelSizes,
    ObjectiveTerms, Observer, ObserverError, OptimizerStep, Pass, Pruned, Rounded, Start,
    WeightCounts,
};
pub use model_match::{MatchCounts, ModelMatch};
pub use options::{
    AttributeOptions, LabelOptions, Lbfgs, StorageOptions, StructureOptions, TrainOptions,
};
pub use settings::TrainSettings;
pub use trainer::{Trained, Trainer};
