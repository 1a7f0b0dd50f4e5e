//! Classification of whole documents: log-linear models over n-grams of words and characters, or
//! over ready-made features, trained with feature noise.
//!
//! A document is a sentence of one token in a model of order 0: what makes taggers makes
//! classifiers (Wang et al. 2013, section 5.1). Only features and outputs are different.
//!
//! ```
//! # #[cfg(feature = "train")] {
//! use dropchain::classify::{Classifier, ClassifierOptions, ClassifierTrainer, Instance};
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
//! let classifier = Classifier::new(trained.model)?; // or Classifier::open(path)
//! let prediction = classifier.classify(&Instance::from_text("great film"))?;
//! assert_eq!(classifier.classes()[prediction.best()], "pos");
//! assert!(prediction.probabilities()[prediction.best()] > 0.5);
//! # Ok(())
//! # }
//! # main().unwrap();
//! # }
//! ```

mod classifier;
mod damage;
mod features;
#[cfg(feature = "train")]
mod one_vs_rest;
mod record;
#[cfg(test)]
mod tests;
#[cfg(feature = "train")]
mod training;

#[doc(inline)]
pub use crate::corpus::{
    Instance, InstanceContent, InstanceFormat, InstanceReadOptions, InstanceReader, TableFeatures,
};
#[cfg(feature = "train")]
pub use crate::irls::Loss;
pub(crate) use classifier::features;
pub use classifier::{Classifier, HiddenUnit, Prediction};
pub use features::{FeatureOptions, NgramRange, TermFrequency, Tokens};
pub use record::Multiclass;
#[cfg(feature = "train")]
pub use training::{ClassifierOptions, ClassifierTrainer, InstanceCorpus, TrainedClassifier};
