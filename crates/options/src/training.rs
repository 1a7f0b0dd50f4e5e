//! All options of training, in the two parts that a search tells apart.

use clap::Args;
use dropchain::Result;
use dropchain::kernel::train::AnyOptions;
use dropchain::train::{NoiseKind, TrainOptions};

use super::algorithm::AlgorithmOptions;
use super::model::{ModelOptions, StorageOptions};
use super::noise::{CourseOptions, NoiseLevels};
use super::values::named;

/// The options of training.
#[derive(Clone, Debug, Default, Args)]
pub struct TrainingOptions {
    /// The options that a search does not change.
    #[command(flatten)]
    pub fixed: FixedOptions,
    /// The options that it searches.
    #[command(flatten)]
    pub searched: SearchedOptions,
}

/// The options that a search does not change.
#[derive(Clone, Debug, Default, Args)]
pub struct FixedOptions {
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    storage: StorageOptions,
    /// Noise whose effect is minimized: dropout, gaussian, additive, reweighted[=N],
    /// monte-carlo[=SAMPLES]
    ///
    /// dropout: by its deterministic second-order approximation. gaussian and additive:
    /// multiplicative and additive Gaussian noise, by the same approximation. reweighted=N: dropout
    /// as a weighted L2 penalty that is renewed every N iterations (20 if there is no N): faster,
    /// and slightly different. monte-carlo=SAMPLES: dropout by so many random samples per sentence
    /// and iteration, 1 to 1000 (4 if there is no number): slower, for comparison. Time grows
    /// linearly with the number of samples; the sampling error falls with its square root.
    #[arg(long, value_name = "KIND", hide_short_help = true, help_heading = "Regularization")]
    pub noise: Option<NoiseKind>,
    /// Stop after N iterations [default: train to convergence]
    #[arg(long, value_name = "N", help_heading = "Training")]
    max_iterations: Option<usize>,
    /// Stop after N iterations without a higher mean of five scores on --dev
    ///
    /// 0: scores on --dev are only reported; they neither stop training nor choose the iteration.
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "Training")]
    patience: Option<usize>,
    /// The algorithm.
    #[command(flatten)]
    pub algorithm: AlgorithmOptions,
    /// Also learn to tag text without case, from copies of the sentences in lower case
    ///
    /// Sentences without capitals, of capitals only, or in which Every Word Is Capitalized then
    /// have weights of their own; other sentences are tagged as before. WEIGHT is that of a copy
    /// relative to its sentence. Training takes twice as long.
    #[arg(long, value_name = "WEIGHT", num_args = 0..=1, require_equals = true,
          default_missing_value = "1", help_heading = "Training", hide_short_help = true)]
    caseless: Option<f64>,
}

/// Strengths, rates and the course of training, which a search tries.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Regularization")]
pub struct SearchedOptions {
    /// Strength c2 of the L2 penalty c2·‖θ‖² [default: 0.1 with noise, 0.3 without, of sgd 1]
    #[arg(long, value_name = "C2")]
    l2: Option<f64>,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁; above 0, many weights become exactly 0
    #[arg(long, value_name = "C1", hide_short_help = true)]
    l1: Option<f64>,
    #[command(flatten)]
    levels: NoiseLevels,
    /// How training with noise proceeds.
    #[command(flatten)]
    pub course: CourseOptions,
    /// Random seed of --noise monte-carlo, online algorithms and --dev SHARE
    #[arg(long, value_name = "N", allow_negative_numbers = true, hide_short_help = true)]
    seed: Option<u64>,
    /// Weight of an unlabeled sentence, relative to a labeled one
    #[arg(long, value_name = "ALPHA", help_heading = "Unlabeled text", hide_short_help = true)]
    unlabeled_weight: Option<f64>,
    /// Start lbfgs at 0, or after two fast passes of stochastic updates (online) [default: off]
    ///
    /// The passes count as iterations. Without noise, L-BFGS then converges to the same minimum.
    /// The iterations of --warm-up, which are L-BFGS without noise, follow the passes. Not
    /// supported with --init or --towards, whose weights are the start.
    #[arg(long, value_parser = named::<Start>(), value_name = "START",
          help_heading = "Algorithm", hide_long_help = true)]
    warm_start: Option<Start>,
}

impl FixedOptions {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        self.model.apply(options);
        self.storage.apply(options);
        let kind = &mut options.method.noise.kind;
        *kind = self.noise.unwrap_or(*kind);
        options.max_iterations = self.max_iterations.or(options.max_iterations);
        options.patience = self.patience.unwrap_or(options.patience);
        self.algorithm.apply(options);
        let attributes = &mut options.attributes;
        attributes.caseless = self.caseless.unwrap_or(attributes.caseless);
    }

    /// Returns the options with the learner, which takes the place of L-BFGS.
    ///
    /// # Errors
    ///
    /// It does not have their penalties or noise; only L-BFGS has a warm start.
    pub fn with_learner(&self, options: TrainOptions, is_warm: bool) -> Result<AnyOptions> {
        let learner = self.algorithm.learner(options.method.clone(), is_warm)?;
        Ok(options.with_method(learner))
    }
}

impl SearchedOptions {
    /// Sets the corresponding training options.
    ///
    /// # Errors
    ///
    /// The gradient is unknown.
    pub fn apply(&self, options: &mut TrainOptions) -> Result<()> {
        let method = &mut options.method;
        method.l2 = self.l2.or(method.l2);
        method.l1 = self.l1.unwrap_or(method.l1);
        let weight = &mut method.noise.unlabeled_weight;
        *weight = self.unlabeled_weight.unwrap_or(*weight);
        self.levels.apply(options);
        self.course.apply(options)?;
        options.seed = self.seed.unwrap_or(options.seed);
        Ok(())
    }

    /// Returns the seed, if it is given and no warm start uses it.
    pub fn seed_of_noise(&self) -> Option<u64> {
        // A warm start visits the sentences in an order that depends on the seed.
        self.seed.filter(|_| !self.is_warm())
    }

    /// Returns whether L-BFGS starts after passes of stochastic updates.
    pub fn is_warm(&self) -> bool {
        self.warm_start == Some(Start::Online)
    }
}

/// The starting point of L-BFGS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Off,
    Online,
}

dropchain::named!(Start, "start": Off = "off", Online = "online");

impl TrainingOptions {
    /// Returns options that are those of `base` unless they are given.
    ///
    /// # Errors
    ///
    /// The gradient is unknown, or the algorithm does not have an option.
    pub fn over(&self, base: TrainOptions) -> Result<AnyOptions> {
        let mut options = base;
        self.fixed.apply(&mut options);
        self.searched.apply(&mut options)?;
        self.fixed.with_learner(options, self.searched.is_warm())
    }
}
