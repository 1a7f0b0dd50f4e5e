//! Classification of whole documents: log-linear models over n-grams of words and characters, or
//! over ready-made features, trained with feature noise.
//!
//! Without a loss of y·score, a document is trained as a sentence of one token in a model of order
//! 0: what makes taggers makes classifiers (Wang et al. 2013, section 5.1). Losses of y·score have
//! training of their own ([`crate::irls`]).
//!
//! ```
//! use dropchain_documents::Instance;
//! use dropchain_documents::classify::{ClassifierOptions, ClassifierTrainer};
//!
//! # fn main() -> dropchain::Result<()> {
//! let documents = [
//!     ("a great , funny film", "pos"),
//!     ("great fun", "pos"),
//!     ("a dull film", "neg"),
//!     ("dull , not funny", "neg"),
//! ]
//! .map(|(text, class)| Instance::from_text(text).with_label(class));
//! let trainer = ClassifierTrainer::new(ClassifierOptions::default())?;
//! let corpus = trainer.corpus(documents)?;
//! let trained = trainer.train(&corpus, None, &mut ())?;
//!
//! let classifier = trained.classifier; // or Classifier::open(path)
//! let prediction = classifier.classify(&Instance::from_text("great film"))?;
//! assert_eq!(classifier.classes()[prediction.best()], "pos");
//! assert!(prediction.probabilities[prediction.best()] > 0.5);
//! # Ok(())
//! # }
//! # main().unwrap();
//! ```

mod classifier;
mod corpus;
mod header;
mod losses;
mod options;
#[cfg(test)]
mod tests;
mod training;

pub use classifier::{Classifier, HiddenUnit, Prediction, inspection, inspection_text};
pub use corpus::{ClassCount, InstanceCorpus};
pub use header::{ClassifierHeader, Multiclass, Output, OutputLayer};
pub use options::ClassifierOptions;
pub use training::{ClassifierTrainer, TrainedClassifier};

pub use crate::irls::Loss;
