//! The arguments of the training algorithm.

use clap::{Args, ValueEnum};
use dropchain::train::{
    Algorithm, ArowOptions, Defaults, PassiveAggressiveOptions, PassiveAggressiveType,
    PerceptronOptions, SgdOptions, StepRule, TrainOptions,
};

use super::arguments::Switch;
use super::lbfgs_arguments::LbfgsArguments;

/// The algorithm and its parameters. Algorithms share the flags that have one name in CRFsuite.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Algorithm")]
pub struct AlgorithmArguments {
    /// How to train the weights; see docs/learners.md
    #[arg(long, value_enum, default_value = "lbfgs", hide_short_help = true)]
    algorithm: AlgorithmName,
    /// Stop below this gradient (lbfgs) [default: 1e-5] or mean loss (ap, pa, arow) [default: 0]
    ///
    /// lbfgs stops if ‖gradient‖ ≤ EPSILON · max(1, ‖θ‖).
    #[arg(
        long,
        help_heading = "Only with --algorithm lbfgs or ap or pa or arow",
        value_name = "EPSILON",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    epsilon: Option<f64>,
    /// Stop if the objective fell by less than this fraction in --period iterations
    ///
    /// The default is 1e-5, of sgd 1e-6; ap, pa and arow have no such test.
    #[arg(
        long,
        help_heading = "Only with --algorithm lbfgs or sgd",
        value_name = "DELTA",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    delta: Option<f64>,
    /// Number of iterations over which --delta is measured [default: 10]
    #[arg(
        long,
        help_heading = "Only with --algorithm lbfgs or sgd",
        value_name = "N",
        hide_short_help = true
    )]
    period: Option<usize>,
    #[command(flatten)]
    lbfgs: LbfgsArguments,
    #[command(flatten)]
    sgd: SgdArguments,
    #[command(flatten)]
    pa: PassiveAggressiveArguments,
    #[command(flatten)]
    arow: ArowArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AlgorithmName {
    /// L-BFGS on all sentences; with --l1 OWL-QN
    Lbfgs,
    /// Stochastic gradient descent with an L2 penalty
    Sgd,
    /// Averaged perceptron
    Ap,
    /// Passive-aggressive
    Pa,
    /// Adaptive regularization of weights
    Arow,
}

/// The parameters of stochastic gradient descent.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Only with --algorithm sgd")]
struct SgdArguments {
    /// How steps develop [default: decreasing]
    #[arg(long, value_enum, hide_short_help = true)]
    step: Option<StepName>,
    /// Learning rate with which calibration begins [default: 0.1]
    #[arg(
        long,
        value_name = "ETA",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    eta: Option<f64>,
    /// Factor between the learning rates that calibration tries [default: 2]
    #[arg(
        long,
        value_name = "FACTOR",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    calibration_rate: Option<f64>,
    /// Number of sentences to calibrate on [default: 1000]
    #[arg(long, value_name = "N", hide_short_help = true)]
    calibration_samples: Option<usize>,
    /// Learning rates in each direction that lower the loss [default: 10]
    #[arg(long, value_name = "N", hide_short_help = true)]
    calibration_candidates: Option<usize>,
    /// Maximum number of learning rates to try [default: 20]
    #[arg(long, value_name = "N", hide_short_help = true)]
    calibration_trials: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StepName {
    /// One rate for all weights, which decreases with time
    Decreasing,
    /// One rate per weight, which decreases with its gradients (AdaGrad)
    Adagrad,
    /// One rate per weight, which decreases with its second derivatives (dropout descent)
    Curvature,
}

/// The parameters of passive-aggressive training.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Only with --algorithm pa")]
struct PassiveAggressiveArguments {
    /// Without slack (0), or type I or II [default: 1]
    #[arg(long, value_enum, hide_short_help = true)]
    pa_type: Option<PaTypeName>,
    /// Aggressiveness [default: 1]
    #[arg(
        long,
        value_name = "C",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    pa_c: Option<f64>,
    /// Margin that grows with the number of wrong labels [default: on]
    #[arg(long, value_enum, hide_short_help = true)]
    error_sensitive: Option<Switch>,
    /// Average the weights over all sentences [default: on]
    #[arg(long, value_enum, hide_short_help = true)]
    averaging: Option<Switch>,
}

/// The parameters of AROW.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Only with --algorithm arow")]
struct ArowArguments {
    /// Variance of a weight at the start [default: 1]
    #[arg(
        long,
        value_name = "VARIANCE",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    variance: Option<f64>,
    /// Tradeoff between loss and change [default: 1]
    #[arg(
        long,
        value_name = "GAMMA",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    gamma: Option<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PaTypeName {
    #[value(name = "0")]
    Zero,
    #[value(name = "1")]
    One,
    #[value(name = "2")]
    Two,
}

impl AlgorithmArguments {
    /// Sets the algorithm and its parameters.
    pub fn apply(&self, options: &mut TrainOptions) {
        options.algorithm = self.algorithm();
        options.dropout = Defaults::dropout(&options.algorithm);
        options.lbfgs = self.lbfgs.options();
        if self.algorithm == AlgorithmName::Lbfgs {
            let lbfgs = &mut options.lbfgs;
            lbfgs.gradient_tolerance = self.epsilon.unwrap_or(lbfgs.gradient_tolerance);
            lbfgs.improvement_tolerance = self.delta.unwrap_or(lbfgs.improvement_tolerance);
            lbfgs.period = self.period.unwrap_or(lbfgs.period);
        }
    }

    /// Returns the memory of L-BFGS, if it is given.
    pub fn lbfgs_memory(&self) -> Option<usize> {
        self.lbfgs.lbfgs_memory
    }

    /// Returns the algorithm with its parameters.
    pub fn algorithm(&self) -> Algorithm {
        let epsilon = self.epsilon.unwrap_or(0.0);
        match self.algorithm {
            AlgorithmName::Lbfgs => Algorithm::Lbfgs,
            AlgorithmName::Sgd => Algorithm::Sgd(self.sgd.options(self.delta, self.period)),
            AlgorithmName::Ap => Algorithm::Ap(PerceptronOptions { epsilon }),
            AlgorithmName::Pa => Algorithm::Pa(self.pa.options(epsilon)),
            AlgorithmName::Arow => Algorithm::Arow(self.arow.options(epsilon)),
        }
    }
}

impl SgdArguments {
    fn options(&self, delta: Option<f64>, period: Option<usize>) -> SgdOptions {
        let default = SgdOptions::default();
        SgdOptions {
            step: match self.step {
                None => default.step,
                Some(StepName::Decreasing) => StepRule::Decreasing,
                Some(StepName::Adagrad) => StepRule::Adagrad,
                Some(StepName::Curvature) => StepRule::Curvature,
            },
            eta: self.eta.unwrap_or(default.eta),
            rate: self.calibration_rate.unwrap_or(default.rate),
            samples: self.calibration_samples.unwrap_or(default.samples),
            candidates: self.calibration_candidates.unwrap_or(default.candidates),
            max_trials: self.calibration_trials.unwrap_or(default.max_trials),
            period: period.unwrap_or(default.period),
            delta: delta.unwrap_or(default.delta),
        }
    }
}

impl PassiveAggressiveArguments {
    fn options(&self, epsilon: f64) -> PassiveAggressiveOptions {
        let default = PassiveAggressiveOptions::default();
        PassiveAggressiveOptions {
            variant: match self.pa_type {
                None => default.variant,
                Some(PaTypeName::Zero) => PassiveAggressiveType::Zero,
                Some(PaTypeName::One) => PassiveAggressiveType::One,
                Some(PaTypeName::Two) => PassiveAggressiveType::Two,
            },
            c: self.pa_c.unwrap_or(default.c),
            error_sensitive: (self.error_sensitive).map_or(default.error_sensitive, Switch::is_on),
            averaging: self.averaging.map_or(default.averaging, Switch::is_on),
            epsilon,
        }
    }
}

impl ArowArguments {
    fn options(&self, epsilon: f64) -> ArowOptions {
        let default = ArowOptions::default();
        ArowOptions {
            variance: self.variance.unwrap_or(default.variance),
            gamma: self.gamma.unwrap_or(default.gamma),
            epsilon,
        }
    }
}
