//! Noise: how much of it there is, and how training with it proceeds.

use clap::Args;
use dropchain::Result;
use dropchain::train::TrainOptions;

/// How much noise to train with, for one configuration.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Regularization")]
pub struct NoiseLevels {
    /// Amount of feature noise: the dropout rate, or the variance of Gaussian noise; 0 for none
    ///
    /// Algorithms ap, pa and arow have no noise.
    #[arg(long, value_name = "RATE")]
    dropout: Option<f64>,
    /// Noise on transitions, boundary weights and edge attributes [default: that of --dropout]
    #[arg(long, value_name = "RATE", hide_short_help = true)]
    edge_dropout: Option<f64>,
}

impl NoiseLevels {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        let noise = &mut options.method.noise;
        noise.dropout = self.dropout.unwrap_or(noise.dropout);
        noise.edge_dropout = self.edge_dropout.or(noise.edge_dropout);
    }
}

/// The course of training with noise, for one configuration.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Regularization")]
pub struct CourseOptions {
    /// How to compute the gradient of the noise term: exact, message, window=R, local
    ///
    /// `exact` and `message` are exact, `window=R` and `local` approximations; all but `exact` are
    /// for comparison. Noise reweighted and monte-carlo has a gradient of its own.
    #[arg(long, value_name = "ENGINE", hide_short_help = true)]
    pub gradient: Option<String>,
    /// Warm-up iterations without noise [default: 20, or half of --max-iterations if less]
    ///
    /// After the passes of --warm-start online the default is 10.
    #[arg(long, value_name = "N", hide_short_help = true)]
    warm_up: Option<usize>,
}

impl CourseOptions {
    /// Sets the corresponding training options.
    ///
    /// # Errors
    ///
    /// The gradient is unknown.
    pub fn apply(&self, options: &mut TrainOptions) -> Result<()> {
        if let Some(name) = &self.gradient {
            options.method.noise.gradient = name.parse()?;
        }
        options.method.warm_up = self.warm_up.or(options.method.warm_up);
        Ok(())
    }
}
