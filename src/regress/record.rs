//! What a model records of being a regression.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::chain::Order;
use crate::classify::{FeatureOptions, TableFeatures};
use crate::error::{Error, Result};
use crate::model::{Header, Model};

/// The loss of a document with the number y and the score f = w·x + b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegressionLoss {
    /// (y − f)²: linear regression. f is the prediction.
    #[default]
    Squared,
    /// exp f − y·f: Poisson regression, for counts and rates. exp f is the prediction.
    Poisson,
    /// max(0, |y − f| − ε): support vector regression. f is the prediction.
    Insensitive {
        /// ε, at least 0.
        epsilon: f64,
    },
}

impl RegressionLoss {
    /// Returns the prediction for a score.
    #[must_use]
    pub fn prediction(self, score: f64) -> f64 {
        match self {
            Self::Squared | Self::Insensitive { .. } => score,
            Self::Poisson => score.exp(),
        }
    }
}

impl fmt::Display for RegressionLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Squared => "squared",
            Self::Poisson => "poisson",
            Self::Insensitive { .. } => "insensitive",
        })
    }
}

/// What a model records that predictions need. Training adds its other options, which are ignored
/// here.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct RegressionRecord {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// The columns of tables that features come from.
    pub table: Option<TableFeatures>,
    /// The column or key of the numbers.
    pub label: Option<String>,
    pub loss: RegressionLoss,
}

impl RegressionRecord {
    /// Reads the record of a model.
    pub fn of(model: &Model) -> Result<Self> {
        let fault = |message: &str| Error::model(model.path(), message);
        let header: &Header = model.header();
        let record = header.provenance.regression().ok_or_else(|| {
            fault("the model predicts no numbers; expected one that `regress` makes")
        })?;
        let has_structure = header.order != Order::Zero || header.template.is_some();
        if has_structure || header.labels.len() != 1 || header.label_weights.start.len() != 1 {
            return Err(fault(
                "the model is a regression with the structure of a tagger",
            ));
        }
        serde_json::from_value(record).map_err(|error| {
            fault(&format!(
                "what the model records of its features cannot be read: {error}"
            ))
        })
    }
}
