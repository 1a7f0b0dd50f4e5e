//! Whole documents: their classes or numbers, predicted from n-grams of words and characters or
//! from ready-made features, by linear models trained with feature noise.
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
//! let trained = DocumentModel::train(documents, &DocumentOptions::classes())?;
//!
//! let model = trained.model; // or DocumentModel::open(path, Task::Classes)
//! let prediction = model.classify(&Instance::from_text("great film"))?;
//! assert_eq!(model.classes()[prediction.best()], "pos");
//! assert!(prediction.probabilities[prediction.best()] > 0.5);
//!
//! // Numbers instead of classes:
//! let documents = [(1.0, "2.5"), (2.0, "4.5"), (3.0, "6.5"), (4.0, "8.5")]
//!     .map(|(x, y)| Ok(Instance::from_features([("x", x)]).with_label(y)));
//! let mut options = DocumentOptions::numbers();
//! options.strengths.l2 = Some(1e-6);
//! let model = DocumentModel::train(documents, &options)?.model;
//! let y = model.predict(&Instance::from_features([("x", 5.0)]))?;
//! assert!((y - 10.5).abs() < 1e-4);
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
pub use eval::{
    ClassEvaluation, ClassReport, ClassScores, NumberEvaluation, NumberReport, comparison_text,
};
pub use features::{FeatureOptions, NgramRange, TermFrequency, Tokens, WordRange};
pub use instances::{
    Instance, InstanceContent, InstanceFormat, InstanceReadOptions, InstanceReader, TableFeatures,
};
pub use linear::Loss;
pub use model::{ModelHeader, Output, OutputLayer};
pub use options::{
    ClassOptions, DataOptions, DocumentOptions, LearningOptions, Masks, Multiclass, NoiseKind,
    Strengths, Task,
};
pub use predictor::{DocumentModel, Prediction, digits};
pub use training::{DocumentTrainer, End, Event, Observer, Start, Trained};
pub use tune::{Configuration, Scoring, SearchResult};
