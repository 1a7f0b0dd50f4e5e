//! Whole documents: their classes ([`classify`]), or numbers ([`regress`]), predicted from n-grams
//! of words and characters or from ready-made features, by linear models trained with feature
//! noise.
//!
//! A model file is of one kind, a classifier or a regression, and neither is a tagger: each has a
//! magic of its own.
#![deny(missing_docs)]

pub mod classify;
mod eval;
mod features;
mod instances;
pub mod irls;
mod kind;
pub mod regress;

pub use eval::{
    ClassEvaluation, ClassReport, ClassScores, NumberEvaluation, NumberReport, comparison_text,
};
pub use features::{FeatureOptions, NgramRange, TermFrequency, Tokens};
pub use instances::{
    Instance, InstanceContent, InstanceFormat, InstanceReadOptions, InstanceReader, TableFeatures,
};
pub use kind::ModelKind;
