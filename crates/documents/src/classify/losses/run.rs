//! A run of an optimizer, and what it needs to know of the documents.

use std::sync::atomic::AtomicBool;

use dropchain::error::{Error, Result};
use dropchain::extract::Target;
use dropchain::ids::LabelId;
use dropchain::optim::LbfgsOptions;
use dropchain::train::{Observer, TrainSettings, TrainingSet};

use super::monitor::Monitor;
use crate::irls::{InputNoise, Loss};

/// Classes and weights of documents.
pub struct DocumentData {
    pub labels: Vec<LabelId>, // [N]
    pub weights: Vec<f64>,    // [N]
}

/// A run of the optimizer.
pub struct Run<'a, 'set> {
    pub set: &'set TrainingSet,
    pub settings: &'a TrainSettings,
    pub optimizer: &'a LbfgsOptions,
    pub noise: InputNoise,
    pub start: Vec<f64>,
    pub done: usize,
    pub limit: Option<usize>,
    pub interrupt: Option<&'a AtomicBool>,
    pub monitor: &'a mut Monitor<'set>,
    pub observer: &'a mut dyn Observer,
}

impl DocumentData {
    /// Returns classes and weights of the documents.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if they are sentences, or have no class or several.
    pub fn new(set: &TrainingSet, loss: Loss) -> Result<Self> {
        let data = set.data();
        if data.unlabeled() > 0 {
            return Err(fault(loss, "unlabeled documents", "labeled ones"));
        }
        if data.tokens() != data.len() || set.space().edges.columns() > 0 {
            return Err(fault(loss, "sentences", "documents: one token each"));
        }
        if set.labels().len() < 2 {
            return Err(fault(loss, "one class", "two or more"));
        }
        let labels = (0..data.len()).map(|i| match data.target(i) {
            Target::Gold(&[label]) => Ok(label),
            _ => Err(fault(loss, "a partial label", "one class per document")),
        });
        Ok(Self {
            labels: labels.collect::<Result<_>>()?,
            weights: (0..data.len()).map(|i| data.weight(i)).collect(),
        })
    }

    /// Returns 1 for documents with this label, −1 for others, `[N]`.
    pub fn targets(&self, label: usize) -> Vec<f64> {
        let labels = self.labels.iter();
        let target = |own: &LabelId| if own.index() == label { 1.0 } else { -1.0 };
        labels.map(target).collect()
    }
}

/// Returns the error of data that do not fit the loss.
fn fault(loss: Loss, found: &str, expected: &str) -> Error {
    let name = loss.name();
    Error::parameter(format!("the {name} loss with {found}; expected {expected}"))
}

/// Returns the error of an objective that is not finite where training starts.
pub fn not_finite() -> Error {
    Error::NotFinite(
        "the objective is not finite at the start of training; expected smaller feature values"
            .to_owned(),
    )
}
