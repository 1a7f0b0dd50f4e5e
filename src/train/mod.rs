//! Training: from labeled sentences to a model.
//!
//! ```text
//! sentences → labels, attributes → X → classes of equal columns → objective → optimizer → model
//! ```
//!
//! [`Trainer`] runs all of these steps and reports to an [`Observer`]. The steps are public as
//! well: [`TrainingCorpora`] (sentences), [`ExtractedCorpora`] (attributes as ids, from which folds
//! can be held out) and [`TrainingSet`] (matrices and parameters). Training is deterministic: the
//! same data and options result in the same model, bit for bit, for any number of threads.
//!
//! With noise, the first iterations are a warm-up without it
//! ([`Lbfgs::warm_up`](field@Lbfgs::warm_up)). The development data are tagged after
//! each iteration; the model has the weights and the recall bias ([`TrainOptions::recall_bias`])
//! with the best score. The bias lowers the score of the label `O`: likelihood weighs all tokens
//! alike, F1 counts spans, and if names are rare the most likely labels miss too many of them
//! (Minkov, Wang, Tomasic and Cohen 2006).

mod agreement;
mod base_models;
mod base_weights;
mod checkpoint;
mod corpora;
mod course;
mod defaults;
mod dev_scorer;
mod development;
mod events;
mod expand;
mod extracted;
mod extraction;
mod finish;
mod folds;
mod from_attributes;
mod held_out_corpora;
mod hold_out;
mod label_scores;
mod labeled_sentence;
mod labels;
mod lbfgs;
mod learner;
mod line_options;
mod memory;
mod model_match;
mod noise_options;
mod options;
mod origin;
mod predictor;
mod recall_bias;
mod segment;
mod segment_run;
mod settings;
#[cfg(test)]
mod tests;
mod trainer;
mod training_set;
mod two_passes;

pub use crate::chain::Order;
pub use crate::extract::{AttributeCorpus, IntoAttribute};
pub use crate::model::Precision;
pub use crate::noise::Engine;
pub use crate::ranks::{Ranks, Reduce};
pub use crate::score::{Boundary, States};
pub use base_models::{BaseModels, BaseRole};
pub use checkpoint::{CHECKPOINT_MAGIC, CheckpointInterval, Checkpoints};
#[doc(hidden)]
pub use corpora::check_one_pass;
pub use corpora::{TrainingCorpora, is_content};
pub use course::Course;
pub use defaults::Defaults;
pub use events::{
    DevDetails, DevScore, End, EndReason, Iteration, Observer, ObserverError, Pass, Pruned,
    Rounded, Start,
};
#[doc(hidden)]
pub use extracted::ExtractedCorpora;
#[doc(hidden)]
pub use finish::Finished;
pub use folds::Folds;
pub use hold_out::{HeldOut, HoldOut};
pub use label_scores::{LabelCounts, LabelScores};
pub use learner::{AnyLearner, AnyOptions, Learner, fields, unfit};
pub use model_match::{MatchCounts, ModelMatch};
pub use noise_options::{NoiseKind, NoiseOptions, Regularization, check_not_negative};
pub use options::{DevUse, Lbfgs, TrainOptions};
pub use predictor::Predictor;
#[doc(hidden)]
pub use segment::{BestWeights, RecentScores, Segment, SegmentEnd};
pub use settings::TrainSettings;
#[doc(hidden)]
pub use settings::check_line_options;
pub use trainer::{Trained, Trainer};
pub use training_set::PenaltyRule;
#[doc(hidden)]
pub use training_set::TrainingSet;
