//! The arguments of the model that `regress train` and `regress path` learn.

use clap::Args;
use dropchain::{Error, Result};
use dropchain_documents::regress::{FeatureNoise, RegressionLoss, RegressionOptions};

use super::input::NumberInput;
use crate::classify::FeatureArguments;
use crate::file_name::FileName;
use crate::named::{Named, named};

/// The loss, the noise, and when training ends.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelArguments {
    #[command(flatten)]
    features: FeatureArguments,
    /// What is minimized, summed over documents with the number y and the score f
    #[arg(long, value_parser = named(&LOSSES), default_value = "squared", help_heading = "Model")]
    loss: RegressionLoss,
    /// insensitive: ε of max(0, |y − f| − ε) [default: 0.1]
    #[arg(
        long,
        value_name = "EPS",
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    epsilon: Option<f64>,
    /// Penalize the weights of features divided by their standard deviation
    #[arg(long, help_heading = "Regularization")]
    standardize: bool,
    /// Amount of feature noise: the dropout rate, or the variance of Gaussian noise; 0 for none
    #[arg(
        long,
        value_name = "RATE",
        default_value_t = 0.0,
        allow_negative_numbers = true,
        help_heading = "Regularization"
    )]
    dropout: f64,
    /// Kind of the noise
    #[arg(
        long,
        value_parser = named(&NOISES),
        default_value = "dropout",
        help_heading = "Regularization"
    )]
    noise: fn(f64) -> FeatureNoise,
    /// Maximum number of iterations [default: none]
    #[arg(long, value_name = "N", help_heading = "Optimization")]
    max_iterations: Option<usize>,
    /// Stop when the objective falls by less than this fraction in ten iterations; coordinate
    /// descent, when it is this close to the minimum, as a fraction of that without features
    #[arg(
        long,
        value_name = "FRACTION",
        default_value_t = 1e-8,
        allow_negative_numbers = true,
        help_heading = "Optimization"
    )]
    tolerance: f64,
}

/// ε of support vector regression, unless it is given.
const EPSILON: f64 = 0.1;

const LOSSES: [Named<RegressionLoss>; 3] = [
    (
        "squared",
        "(y − f)²: linear regression",
        RegressionLoss::Squared,
    ),
    (
        "poisson",
        "exp(f) − y·f: Poisson regression, of counts; exp(f) is predicted",
        RegressionLoss::Poisson,
    ),
    (
        "insensitive",
        "max(0, |y − f| − ε): support vector regression",
        RegressionLoss::Insensitive { epsilon: EPSILON },
    ),
];

type NoiseOfAmount = fn(f64) -> FeatureNoise;

/// The noise of an amount.
const NOISES: [Named<NoiseOfAmount>; 3] = [
    ("dropout", "Features are dropped", FeatureNoise::Dropout),
    (
        "gaussian",
        "Features are multiplied by Gaussian numbers with mean 1",
        FeatureNoise::Gaussian,
    ),
    (
        "additive",
        "Gaussian numbers with mean 0 are added to features",
        FeatureNoise::Additive,
    ),
];

impl ModelArguments {
    /// Returns the options for training on some files.
    pub fn options(&self, input: &NumberInput, train: &[FileName]) -> Result<RegressionOptions> {
        let loss = match (self.loss, self.epsilon) {
            (RegressionLoss::Insensitive { .. }, Some(epsilon)) => {
                RegressionLoss::Insensitive { epsilon }
            }
            (_, Some(_)) => {
                let message = "--epsilon: requires --loss insensitive";
                return Err(Error::parameter(message));
            }
            (loss, None) => loss,
        };
        let features = match input.has_features(train) {
            true => None,
            false => Some(self.features.options()?),
        };
        Ok(RegressionOptions {
            features,
            table: input.table(),
            label: input.documents.label.clone(),
            loss,
            noise: match self.dropout {
                0.0 => FeatureNoise::None,
                amount => (self.noise)(amount),
            },
            standardize: self.standardize,
            max_iterations: self.max_iterations,
            tolerance: self.tolerance,
            memory: input.documents.limits.memory(),
            ..RegressionOptions::default()
        })
    }
}
