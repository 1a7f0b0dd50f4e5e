//! Noise: what is minimized, how much of it there is, and how its gradient is computed.

use clap::Args;
use dropchain::Result;
use dropchain::train::{NoiseKind, TrainOptions};

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
    /// How the gradient of the noise term is computed.
    #[command(flatten)]
    pub gradient: GradientOption,
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
        self.gradient.apply(options)?;
        options.method.warm_up = self.warm_up.or(options.method.warm_up);
        Ok(())
    }
}

/// How the gradient of the noise term is computed.
#[derive(Clone, Debug, Default, Args)]
pub struct GradientOption {
    /// How to compute the gradient of the noise term: exact, message, window=R, local
    ///
    /// `exact` and `message` are exact, `window=R` and `local` approximations; all but `exact` are
    /// for comparison. Noise reweighted and monte-carlo has a gradient of its own.
    #[arg(long, value_name = "ENGINE", hide_short_help = true, help_heading = "Regularization")]
    gradient: Option<String>,
}

impl GradientOption {
    /// Returns the name of the engine, if it is given.
    pub fn name(&self) -> Option<&str> {
        self.gradient.as_deref()
    }

    /// Sets the corresponding training option.
    ///
    /// # Errors
    ///
    /// The gradient is unknown.
    pub fn apply(&self, options: &mut TrainOptions) -> Result<()> {
        if let Some(name) = &self.gradient {
            options.method.noise.gradient = name.parse()?;
        }
        Ok(())
    }
}

/// What is minimized: the kind of noise.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Regularization")]
pub struct NoiseOptions {
    /// Noise whose effect is minimized: dropout, gaussian, additive, reweighted[=N],
    /// monte-carlo[=SAMPLES]
    ///
    /// dropout: by its deterministic second-order approximation. gaussian and additive:
    /// multiplicative and additive Gaussian noise, by the same approximation. reweighted=N: dropout
    /// as a weighted L2 penalty that is renewed every N iterations (20 if there is no N): faster,
    /// and slightly different. monte-carlo=SAMPLES: dropout by so many random samples per sentence
    /// and iteration, 1 to 1000 (4 if there is no number): slower, for comparison. Time grows
    /// linearly with the number of samples; the sampling error falls with its square root.
    #[arg(long, value_name = "KIND", hide_short_help = true)]
    noise: Option<NoiseKind>,
}

impl NoiseOptions {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        let noise = &mut options.method.noise;
        noise.kind = self.noise.unwrap_or(noise.kind);
    }

    /// Returns the option that requires noise, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        self.noise.map(|_| "--noise")
    }

    /// Returns whether the noise is sampled.
    pub fn is_sampled(&self) -> bool {
        self.noise.is_some_and(NoiseKind::is_sampled)
    }
}
