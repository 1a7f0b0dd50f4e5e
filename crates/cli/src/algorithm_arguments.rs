//! The arguments of the training algorithm.

use clap::{Args, ValueEnum};
use dropchain::train::{AnyLearner, Lbfgs};
use dropchain::{Error, Result};
use dropchain_online::{
    Arow, Method, PassiveAggressive, PassiveAggressiveType, Perceptron, Sgd, SgdOptions, StepRule,
    WarmStarted,
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
        value_name = "DELTA",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    delta: Option<f64>,
    /// Number of iterations over which --delta is measured [default: 10]
    #[arg(long, value_name = "N", hide_short_help = true)]
    period: Option<usize>,
    #[command(flatten)]
    lbfgs: LbfgsArguments,
    #[command(flatten)]
    sgd: SgdArguments,
    #[command(flatten)]
    mistakes: MistakeArguments,
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
#[command(next_help_heading = "Algorithm")]
struct SgdArguments {
    /// sgd: how steps develop [default: decreasing]
    #[arg(long, value_enum, hide_short_help = true)]
    step: Option<StepName>,
    /// sgd: learning rate with which calibration begins [default: 0.1]
    #[arg(
        long,
        value_name = "ETA",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    eta: Option<f64>,
    /// sgd: factor between the learning rates that calibration tries [default: 2]
    #[arg(
        long,
        value_name = "FACTOR",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    calibration_rate: Option<f64>,
    /// sgd: number of sentences to calibrate on [default: 1000]
    #[arg(long, value_name = "N", hide_short_help = true)]
    calibration_samples: Option<usize>,
    /// sgd: learning rates in each direction that lower the loss [default: 10]
    #[arg(long, value_name = "N", hide_short_help = true)]
    calibration_candidates: Option<usize>,
    /// sgd: maximum number of learning rates to try [default: 20]
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

/// The parameters of passive-aggressive training and of AROW.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Algorithm")]
struct MistakeArguments {
    /// pa: without slack (0), or type I or II [default: 1]
    #[arg(long, value_enum, hide_short_help = true)]
    pa_type: Option<PaTypeName>,
    /// pa: aggressiveness [default: 1]
    #[arg(
        long,
        value_name = "C",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    pa_c: Option<f64>,
    /// pa: margin that grows with the number of wrong labels [default: on]
    #[arg(long, value_enum, hide_short_help = true)]
    error_sensitive: Option<Switch>,
    /// pa: average the weights over all sentences [default: on]
    #[arg(long, value_enum, hide_short_help = true)]
    averaging: Option<Switch>,
    /// arow: variance of a weight at the start [default: 1]
    #[arg(
        long,
        value_name = "VARIANCE",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    variance: Option<f64>,
    /// arow: tradeoff between loss and change [default: 1]
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
    /// Sets the optimizer of L-BFGS, and the default amount of noise.
    ///
    /// # Errors
    ///
    /// A parameter is of another algorithm.
    pub fn apply(&self, options: &mut Lbfgs) -> Result<()> {
        self.check_flags()?;
        options.noise.dropout = self.method().default_dropout();
        options.optimizer = self.lbfgs.options();
        if self.algorithm == AlgorithmName::Lbfgs {
            let lbfgs = &mut options.optimizer;
            lbfgs.gradient_tolerance = self.epsilon.unwrap_or(lbfgs.gradient_tolerance);
            lbfgs.improvement_tolerance = self.delta.unwrap_or(lbfgs.improvement_tolerance);
            lbfgs.period = self.period.unwrap_or(lbfgs.period);
        }
        Ok(())
    }

    /// Returns the memory of L-BFGS, if it is given.
    pub fn lbfgs_memory(&self) -> Option<usize> {
        self.lbfgs.lbfgs_memory
    }

    /// Returns the learner with the penalties and the noise of an L-BFGS.
    ///
    /// # Errors
    ///
    /// It does not have them; only L-BFGS has a warm start.
    pub fn learner(&self, like: Lbfgs, is_warm: bool) -> Result<AnyLearner> {
        match self.method() {
            Method::Lbfgs(_) if is_warm => Ok(WarmStarted { lbfgs: like }.into()),
            method if is_warm => Err(Error::parameter(format!(
                "algorithm {} with an online warm start; expected --warm-start off: it is a start \
                 of --algorithm lbfgs",
                method.name()
            ))),
            method => method.regularized(like),
        }
    }

    /// Returns the algorithm with its parameters, without penalties and noise.
    pub fn method(&self) -> Method {
        let epsilon = self.epsilon.unwrap_or(0.0);
        match self.algorithm {
            AlgorithmName::Lbfgs => Method::Lbfgs(Lbfgs::default()),
            AlgorithmName::Sgd => Method::Sgd(Sgd {
                steps: self.sgd.options(self.delta, self.period),
                ..Sgd::default()
            }),
            AlgorithmName::Ap => Method::Perceptron(Perceptron { epsilon }),
            AlgorithmName::Pa => {
                Method::PassiveAggressive(self.mistakes.passive_aggressive(epsilon))
            }
            AlgorithmName::Arow => Method::Arow(self.mistakes.arow(epsilon)),
        }
    }

    /// Rejects flags of other algorithms.
    fn check_flags(&self) -> Result<()> {
        use AlgorithmName::{Ap, Arow, Lbfgs, Pa, Sgd};
        let (sgd, mistakes) = (&self.sgd, &self.mistakes);
        let flags: [(&str, bool, &[AlgorithmName]); 18] = [
            ("epsilon", self.epsilon.is_some(), &[Lbfgs, Ap, Pa, Arow]),
            ("delta", self.delta.is_some(), &[Lbfgs, Sgd]),
            ("period", self.period.is_some(), &[Lbfgs, Sgd]),
            ("lbfgs-memory", self.lbfgs.lbfgs_memory.is_some(), &[Lbfgs]),
            ("line-search", self.lbfgs.line_search.is_some(), &[Lbfgs]),
            (
                "max-line-search",
                self.lbfgs.max_line_search.is_some(),
                &[Lbfgs],
            ),
            ("step", sgd.step.is_some(), &[Sgd]),
            ("eta", sgd.eta.is_some(), &[Sgd]),
            ("calibration-rate", sgd.calibration_rate.is_some(), &[Sgd]),
            (
                "calibration-samples",
                sgd.calibration_samples.is_some(),
                &[Sgd],
            ),
            (
                "calibration-candidates",
                sgd.calibration_candidates.is_some(),
                &[Sgd],
            ),
            (
                "calibration-trials",
                sgd.calibration_trials.is_some(),
                &[Sgd],
            ),
            ("pa-type", mistakes.pa_type.is_some(), &[Pa]),
            ("pa-c", mistakes.pa_c.is_some(), &[Pa]),
            ("error-sensitive", mistakes.error_sensitive.is_some(), &[Pa]),
            ("averaging", mistakes.averaging.is_some(), &[Pa]),
            ("variance", mistakes.variance.is_some(), &[Arow]),
            ("gamma", mistakes.gamma.is_some(), &[Arow]),
        ];
        let unfit = flags
            .iter()
            .find(|(_, is_given, algorithms)| *is_given && !algorithms.contains(&self.algorithm));
        let Some((flag, _, algorithms)) = unfit else {
            return Ok(());
        };
        let name = |name: &AlgorithmName| {
            let value = name.to_possible_value();
            value.map_or_else(String::new, |value| value.get_name().to_owned())
        };
        let expected: Vec<String> = algorithms.iter().map(name).collect();
        Err(Error::parameter(format!(
            "--{flag}: has no meaning for --algorithm {}; expected --algorithm {}",
            name(&self.algorithm),
            expected.join(" or ")
        )))
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

impl MistakeArguments {
    fn passive_aggressive(&self, epsilon: f64) -> PassiveAggressive {
        let default = PassiveAggressive::default();
        PassiveAggressive {
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

    fn arow(&self, epsilon: f64) -> Arow {
        let default = Arow::default();
        Arow {
            variance: self.variance.unwrap_or(default.variance),
            gamma: self.gamma.unwrap_or(default.gamma),
            epsilon,
        }
    }
}
