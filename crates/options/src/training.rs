//! All options of training, in the two parts that a search tells apart.

use clap::Args;
use dropchain::kernel::train::{AnyLearner, AnyOptions};
use dropchain::train::{Lbfgs, NoiseKind, TrainOptions};
use dropchain::{Error, Result};
use dropchain_online::{Method, WarmStarted};

use super::model::{ModelOptions, StorageOptions, named};

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
    /// How to train the weights: lbfgs, sgd[=ETA], ap, pa[=C], arow[=GAMMA]
    ///
    /// lbfgs: L-BFGS on all sentences, with --l1 OWL-QN. sgd: stochastic gradient descent with an
    /// L2 penalty; calibration of its learning rate begins with ETA (0.1). ap: averaged perceptron.
    /// pa: passive-aggressive; C (1) limits an update. arow: adaptive regularization of weights;
    /// GAMMA (1) trades the loss for the change of the weights. See docs/learners.md.
    #[arg(long, hide_short_help = true, help_heading = "Algorithm")]
    algorithm: Option<Method>,
    /// Stop below this gradient (lbfgs) [default: 1e-5] or mean loss (ap, pa, arow) [default: 0]
    ///
    /// lbfgs stops if ‖gradient‖ ≤ EPSILON · max(1, ‖θ‖), or if the objective fell by less than
    /// 1e-5 of its value in ten iterations, by less than EPSILON if that is smaller; by default,
    /// with noise and without --dev or --patience, by less than 3e-3.
    #[arg(long, hide_long_help = true, help_heading = "Algorithm")]
    epsilon: Option<f64>,
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
        let lbfgs = &mut options.method;
        lbfgs.noise.dropout = self.method().default_dropout();
        if let Some(epsilon) = self.epsilon.filter(|_| matches!(self.method(), Method::Lbfgs(_))) {
            let optimizer = &mut lbfgs.optimizer;
            optimizer.gradient_tolerance = epsilon;
            optimizer.improvement_tolerance = Some(epsilon.min(1e-5));
        }
        let attributes = &mut options.attributes;
        attributes.caseless = self.caseless.unwrap_or(attributes.caseless);
    }

    /// Returns the options with the learner, which takes the place of L-BFGS, with its penalties
    /// and noise.
    ///
    /// # Errors
    ///
    /// It does not have them; only L-BFGS has a warm start; SGD has no threshold to stop at.
    pub fn with_learner(&self, options: TrainOptions, is_warm: bool) -> Result<AnyOptions> {
        let lbfgs = options.method.clone();
        let learner: AnyLearner = match self.method() {
            Method::Lbfgs(_) if is_warm => WarmStarted { lbfgs }.into(),
            method if is_warm => {
                return Err(Error::parameter(format!(
                    "algorithm {} with an online warm start; expected `warm_start` off: it is a \
                     start of `algorithm` lbfgs",
                    method.name()
                )));
            }
            Method::Sgd(_) if self.epsilon.is_some() => {
                return Err(Error::parameter(
                    "`epsilon` has no meaning for algorithm sgd; expected lbfgs, ap, pa or arow",
                ));
            }
            method => method.regularized(lbfgs)?,
        };
        Ok(options.with_method(learner))
    }

    /// Returns the algorithm with its parameters, without penalties and noise.
    pub fn method(&self) -> Method {
        let mut method = self.algorithm.clone().unwrap_or(Method::Lbfgs(Lbfgs::default()));
        if let (Method::Mistakes(rule), Some(epsilon)) = (&mut method, self.epsilon) {
            *rule.epsilon() = epsilon;
        }
        method
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
        if let Some(name) = &self.gradient {
            options.method.noise.gradient = name.parse()?;
        }
        options.method.warm_up = self.warm_up.or(options.method.warm_up);
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
