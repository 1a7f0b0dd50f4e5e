//! The loss, and what a model file records besides weights.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{FeatureOptions, TableFeatures};

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

/// Everything in a regression but the weights of its features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RegressionHeader {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// The columns of tables that features come from.
    pub table: Option<TableFeatures>,
    /// The column or key of the numbers.
    pub label: Option<String>,
    pub loss: RegressionLoss,
    pub bias: f64,
    /// Number of training documents.
    pub documents: u64,
    /// Training files, as named by the user.
    pub files: Vec<String>,
    /// Version of dropchain that trained the model.
    pub version: String,
    /// All options of training, and how it ended, as JSON.
    pub options: Value,
}
