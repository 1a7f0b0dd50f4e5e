//! What a model records of being a classifier.

use serde::{Deserialize, Serialize};

use super::features::FeatureOptions;
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::model::{Header, Model};

/// How several classes are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiclass {
    /// One model: p(y) ∝ exp(score of y).
    #[default]
    Softmax,
    /// A model for each class against the others: p(y) ∝ σ(score of y).
    OneVsRest,
}

/// What a model records of being a classifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClassifierRecord {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    pub multiclass: Multiclass,
}

impl ClassifierRecord {
    /// Reads the record of a model.
    pub fn of(model: &Model) -> Result<Self> {
        let fault = |message: &str| Error::model(model.path(), message);
        let header: &Header = model.header();
        let record = header.provenance.classifier();
        let record = record.ok_or_else(|| match header.provenance.is_regression() {
            true => fault(
                "the model predicts numbers; expected a classifier (`dropchain regress` has \
                 commands for this one)",
            ),
            false => {
                fault("the model is a tagger; expected a classifier, which `classify train` makes")
            }
        })?;
        if header.order != Order::Zero || header.template.is_some() {
            return Err(fault(
                "the model is a classifier with the structure of a tagger",
            ));
        }
        serde_json::from_value(record).map_err(|error| {
            fault(&format!(
                "what the model records of its features cannot be read: {error}"
            ))
        })
    }

    /// Adds the record to a model.
    #[cfg(feature = "train")]
    pub fn add_to(self, model: &Model) -> Result<Model> {
        let record = serde_json::to_value(self)
            .map_err(|error| Error::parameter(format!("cannot record the features: {error}")))?;
        model.with_classifier(&record)
    }
}
