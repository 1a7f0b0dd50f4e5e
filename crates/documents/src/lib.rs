//! Whole documents: their classes, predicted from n-grams of words and characters or from
//! ready-made features, by linear models trained with feature noise.
//!
//! ```
//! use dropchain_documents::{DocumentModel, DocumentOptions, Instance};
//!
//! # fn main() -> dropchain::Result<()> {
//! let documents = [
//!     ("a great , funny film", "pos"),
//!     ("great fun", "pos"),
//!     ("a dull film", "neg"),
//!     ("dull , not funny", "neg"),
//! ]
//! .map(|(text, class)| Ok(Instance::from_text(text).with_label(class)));
//! let trained = DocumentModel::train(documents, &DocumentOptions::texts())?;
//!
//! let model = trained.model; // or DocumentModel::open(path)
//! let prediction = model.classify(&Instance::from_text("great film"))?;
//! assert_eq!(model.classes()[prediction.best()], "pos");
//! assert!(prediction.probabilities[prediction.best()] > 0.5);
//! # Ok(())
//! # }
//! # main().unwrap();
//! ```
//!
//! Training minimizes by L-BFGS, or with an L1 penalty OWL-QN, over weights and biases
//!
//! ```text
//! Σ loss(y, f) + noise + c2·‖θ‖² + c1·‖θ‖₁        f = w·x + b
//! ```
#![deny(missing_docs)]

#[cfg(feature = "command")]
pub mod command;
mod corpus;
mod eval;
mod features;
mod instances;
mod linear;
mod model;
mod options;
mod predictor;
#[cfg(test)]
mod tests;
mod training;
mod tune;

pub use corpus::{ClassCount, DocumentCorpus};
pub use eval::{ClassEvaluation, ClassReport, ClassScores, comparison_text};
pub use features::{FeatureOptions, NgramRange, TermFrequency, Tokens, WordRange};
pub use instances::{
    Instance, InstanceContent, InstanceFormat, InstanceReadOptions, InstanceReader,
};
pub use linear::Loss;
pub use model::{DocumentModel, ModelHeader, ModelInput};
pub use options::{DocumentOptions, LearningOptions, Masks, Multiclass, NoiseKind, Strengths};
pub use predictor::Prediction;
pub use training::{DocumentTrainer, End, Event, Observer, Start, Trained};
pub use tune::{Configuration, Scoring, SearchResult};
