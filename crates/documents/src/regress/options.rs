//! How to train a regression, and what a model file records besides weights.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::irls::InputNoise;
use crate::{FeatureOptions, TableFeatures};
use dropchain::error::{Error, Result};
use dropchain::memory::MemoryLimit;

/// Noise on features. The bias has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureNoise {
    /// None.
    #[default]
    None,
    /// Features are dropped with this rate, below 1; those that remain grow by 1/(1 − rate).
    Dropout(f64),
    /// Features are multiplied by Gaussian numbers with mean 1 and this variance.
    Gaussian(f64),
    /// Gaussian numbers with mean 0 and this variance are added to all features.
    Additive(f64),
}

/// How the objective is minimized. All find the same minimum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// The fastest that fits: squared loss by coordinate descent with an L1 penalty, else by
    /// Cholesky factorization if features or documents are at most 2000, else by L-BFGS.
    #[default]
    Auto,
    /// Cholesky factorization of the Hessian, D×D or N×N, whichever is smaller: squared loss, no L1
    /// penalty.
    Cholesky,
    /// L-BFGS; with an L1 penalty OWL-QN.
    Lbfgs,
    /// Coordinate descent: squared loss with an L1 penalty.
    CoordinateDescent,
}

/// How to train a regression.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegressionOptions {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// The columns of tables that features come from; recorded for those who predict.
    pub table: Option<TableFeatures>,
    /// The column or key of the numbers to predict, if it has a name of its own; recorded.
    pub label: Option<String>,
    /// What is minimized.
    pub loss: RegressionLoss,
    /// Noise on features.
    pub noise: FeatureNoise,
    /// Strength c2 of the penalty c2·‖w‖².
    pub l2: f64,
    /// Strength c1 of the penalty c1·‖w‖₁.
    pub l1: f64,
    /// Whether penalties are those of the weights of standardized features: with s, the standard
    /// deviation of a feature over documents, they are c2·s²·w² and c1·s·|w|.
    pub standardize: bool,
    /// How the objective is minimized.
    pub solver: Solver,
    /// The maximum number of iterations: steps, or passes over the features.
    pub max_iterations: Option<usize>,
    /// Training stops if the objective fell by less than this fraction in ten iterations;
    /// coordinate descent, if it is above the minimum by at most this fraction of that of w = 0.
    pub tolerance: f64,
    /// Limits the memory of documents and of training.
    #[serde(skip)]
    pub memory: MemoryLimit,
}

impl Default for RegressionOptions {
    /// Least squares with a ridge of 1.
    fn default() -> Self {
        Self {
            features: None,
            table: None,
            label: None,
            loss: RegressionLoss::default(),
            noise: FeatureNoise::default(),
            l2: 1.0,
            l1: 0.0,
            standardize: false,
            solver: Solver::default(),
            max_iterations: None,
            tolerance: 1e-8,
            memory: MemoryLimit::default(),
        }
    }
}

impl FeatureNoise {
    /// Returns the noise by the variances that it gives to scores.
    pub(super) fn input_noise(self) -> InputNoise {
        match self {
            Self::Dropout(rate) if rate > 0.0 => InputNoise::Proportional(rate / (1.0 - rate)),
            Self::Gaussian(variance) if variance > 0.0 => InputNoise::Proportional(variance),
            Self::Additive(variance) if variance > 0.0 => InputNoise::Additive(variance),
            _ => InputNoise::None,
        }
    }

    fn check(self) -> Result<()> {
        let (amount, is_in_range, expected) = match self {
            Self::None => return Ok(()),
            Self::Dropout(rate) => {
                let is_in_range = (0.0..1.0).contains(&rate);
                (rate, is_in_range, "a dropout rate below 1")
            }
            Self::Gaussian(variance) | Self::Additive(variance) => {
                let is_in_range = variance >= 0.0 && variance.is_finite();
                (variance, is_in_range, "a finite variance")
            }
        };
        if is_in_range {
            return Ok(());
        }
        Err(Error::parameter(format!(
            "noise of {amount}; expected {expected} that is not negative"
        )))
    }
}

impl RegressionOptions {
    /// Checks that all options are in their ranges and fit one another.
    pub(super) fn check(&self) -> Result<()> {
        self.noise.check()?;
        for (name, number) in
            [("L2 strength", self.l2), ("L1 strength", self.l1), ("tolerance", self.tolerance)]
        {
            if !(number.is_finite() && number >= 0.0) {
                return Err(Error::parameter(format!(
                    "{name} {number}; expected a finite number that is not negative"
                )));
            }
        }
        self.features.map_or(Ok(()), |features| features.check())?;
        self.check_solver()
    }

    fn check_solver(&self) -> Result<()> {
        let (loss, has_l1) = (self.loss, self.l1 > 0.0);
        let fault = |found: &str, expected: &str| {
            Err(Error::parameter(format!(
                "{found} with the {loss} loss{}; expected {expected}",
                if has_l1 { " and an L1 penalty" } else { "" }
            )))
        };
        if let RegressionLoss::Insensitive { epsilon } = loss {
            if !(epsilon.is_finite() && epsilon >= 0.0) {
                return Err(Error::parameter(format!(
                    "epsilon {epsilon}; expected a finite number that is not negative"
                )));
            }
            if has_l1 || self.standardize {
                let found = if has_l1 { "an L1 strength" } else { "standardized penalties" };
                return fault(found, "squared or poisson");
            }
            if self.solver != Solver::Auto {
                return fault("a solver", "no choice: it has one of its own");
            }
        }
        match self.solver {
            Solver::Cholesky if has_l1 || loss != RegressionLoss::Squared => {
                fault("Cholesky factorization", "the squared loss without one")
            }
            Solver::CoordinateDescent if !has_l1 || loss != RegressionLoss::Squared => {
                fault("coordinate descent", "the squared loss and an L1 penalty")
            }
            _ => Ok(()),
        }
    }
}

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
pub struct RegressionHeader {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// The columns of tables that features come from.
    pub table: Option<TableFeatures>,
    /// The column or key of the numbers.
    pub label: Option<String>,
    /// The loss that was minimized.
    pub loss: RegressionLoss,
    /// The bias b.
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
