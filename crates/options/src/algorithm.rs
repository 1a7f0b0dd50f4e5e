//! The algorithm and its parameters.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use dropchain::optim::{LbfgsOptions, LineSearch};
use dropchain::train::{AnyLearner, Lbfgs, TrainOptions};
use dropchain::{Error, Result};
use dropchain_online::{
    Arow, Method, PassiveAggressive, PassiveAggressiveType, Perceptron, Sgd, SgdOptions, StepRule,
    WarmStarted,
};

use super::values::{named, switch};

/// How the heading of options begins that are for some algorithms only, which it then names.
pub const ONLY: &str = "Only with --algorithm ";

/// The algorithm and its parameters. Algorithms share the flags that have one name in CRFsuite.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Algorithm")]
pub struct AlgorithmOptions {
    /// How to train the weights; see docs/learners.md [default: lbfgs]
    ///
    /// lbfgs: L-BFGS on all sentences, with --l1 OWL-QN. sgd: stochastic gradient descent with an
    /// L2 penalty. ap: averaged perceptron. pa: passive-aggressive. arow: adaptive regularization
    /// of weights.
    #[arg(long, value_parser = named::<AlgorithmName>(), hide_short_help = true)]
    algorithm: Option<AlgorithmName>,
    /// Stop below this gradient (lbfgs) [default: 1e-5] or mean loss (ap, pa, arow) [default: 0]
    ///
    /// lbfgs stops if ‖gradient‖ ≤ EPSILON · max(1, ‖θ‖).
    #[arg(
        long,
        help_heading = "Only with --algorithm lbfgs or ap or pa or arow",
        value_name = "EPSILON"
    )]
    epsilon: Option<f64>,
    /// Stop if the objective fell by less than this fraction in --period iterations
    ///
    /// The default is 1e-5, of sgd 1e-6; ap, pa and arow have no such test.
    #[arg(long, help_heading = "Only with --algorithm lbfgs or sgd", value_name = "DELTA")]
    delta: Option<f64>,
    /// Number of iterations over which --delta is measured [default: 10]
    #[arg(long, help_heading = "Only with --algorithm lbfgs or sgd", value_name = "N")]
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AlgorithmName {
    /// L-BFGS on all sentences; with --l1 OWL-QN
    #[default]
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

dropchain::named!(AlgorithmName, "algorithm":
    Lbfgs = "lbfgs",
    Sgd = "sgd",
    Ap = "ap",
    Pa = "pa",
    Arow = "arow",
);

/// The parameters of stochastic gradient descent.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Only with --algorithm sgd")]
struct SgdArguments {
    /// How steps develop [default: decreasing]
    #[arg(long, value_parser = named::<StepRule>())]
    step: Option<StepRule>,
    /// Learning rate with which calibration begins [default: 0.1]
    #[arg(long, value_name = "ETA")]
    eta: Option<f64>,
    /// Factor between the learning rates that calibration tries [default: 2]
    #[arg(long, value_name = "FACTOR")]
    calibration_rate: Option<f64>,
    /// Number of sentences to calibrate on [default: 1000]
    #[arg(long, value_name = "N")]
    calibration_samples: Option<usize>,
    /// Learning rates in each direction that lower the loss [default: 10]
    #[arg(long, value_name = "N")]
    calibration_candidates: Option<usize>,
    /// Maximum number of learning rates to try [default: 20]
    #[arg(long, value_name = "N")]
    calibration_trials: Option<usize>,
}

/// The parameters of passive-aggressive training.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Only with --algorithm pa")]
struct PassiveAggressiveArguments {
    /// Without slack (0), or type I or II [default: 1]
    #[arg(long, value_parser = named::<PassiveAggressiveType>())]
    pa_type: Option<PassiveAggressiveType>,
    /// Aggressiveness [default: 1]
    #[arg(long, value_name = "C")]
    pa_c: Option<f64>,
    /// Margin that grows with the number of wrong labels [default: on]
    #[arg(long, value_parser = switch())]
    error_sensitive: Option<bool>,
    /// Average the weights over all sentences [default: on]
    #[arg(long, value_parser = switch())]
    averaging: Option<bool>,
}

/// The parameters of AROW.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Only with --algorithm arow")]
struct ArowArguments {
    /// Variance of a weight at the start [default: 1]
    #[arg(long, value_name = "VARIANCE")]
    variance: Option<f64>,
    /// Tradeoff between loss and change [default: 1]
    #[arg(long, value_name = "GAMMA")]
    gamma: Option<f64>,
}

impl AlgorithmOptions {
    /// Sets the optimizer of L-BFGS, and the default amount of noise.
    pub fn apply(&self, options: &mut TrainOptions) {
        let lbfgs = &mut options.method;
        lbfgs.noise.dropout = self.method().default_dropout();
        lbfgs.optimizer = self.lbfgs.options(&lbfgs.optimizer);
        if matches!(self.algorithm, None | Some(AlgorithmName::Lbfgs)) {
            let optimizer = &mut lbfgs.optimizer;
            optimizer.gradient_tolerance = self.epsilon.unwrap_or(optimizer.gradient_tolerance);
            optimizer.improvement_tolerance = self.delta.unwrap_or(optimizer.improvement_tolerance);
            optimizer.period = self.period.unwrap_or(optimizer.period);
        }
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
        match self.algorithm.unwrap_or_default() {
            AlgorithmName::Lbfgs => Method::Lbfgs(Lbfgs::default()),
            AlgorithmName::Sgd => Method::Sgd(Sgd {
                steps: self.sgd.options(self.delta, self.period),
                ..Sgd::default()
            }),
            AlgorithmName::Ap => Method::Perceptron(Perceptron { epsilon }),
            AlgorithmName::Pa => Method::PassiveAggressive(self.pa.options(epsilon)),
            AlgorithmName::Arow => Method::Arow(self.arow.options(epsilon)),
        }
    }
}

impl SgdArguments {
    fn options(&self, delta: Option<f64>, period: Option<usize>) -> SgdOptions {
        let default = SgdOptions::default();
        SgdOptions {
            step: self.step.unwrap_or(default.step),
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
    fn options(&self, epsilon: f64) -> PassiveAggressive {
        let default = PassiveAggressive::default();
        PassiveAggressive {
            variant: self.pa_type.unwrap_or(default.variant),
            c: self.pa_c.unwrap_or(default.c),
            error_sensitive: self.error_sensitive.unwrap_or(default.error_sensitive),
            averaging: self.averaging.unwrap_or(default.averaging),
            epsilon,
        }
    }
}

impl ArowArguments {
    fn options(&self, epsilon: f64) -> Arow {
        let default = Arow::default();
        Arow {
            variance: self.variance.unwrap_or(default.variance),
            gamma: self.gamma.unwrap_or(default.gamma),
            epsilon,
        }
    }
}

/// The options of L-BFGS, except those that other algorithms share.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Only with --algorithm lbfgs")]
struct LbfgsArguments {
    /// Number of curvature pairs to keep [default: 6]
    #[arg(long, value_name = "N")]
    lbfgs_memory: Option<usize>,
    /// Line search [default: strong-wolfe]
    ///
    /// With --l1 it is that of OWL-QN.
    #[arg(long, value_parser = named::<LineSearch>(), value_name = "SEARCH")]
    line_search: Option<LineSearch>,
    /// Maximum number of evaluations in a line search [default: 20]
    #[arg(long, value_name = "N")]
    max_line_search: Option<usize>,
    /// Take the steps of CRFsuite's optimizer, which needs more iterations
    #[arg(long)]
    plain: bool,
}

impl LbfgsArguments {
    /// Returns the options, with defaults for those that other algorithms share.
    fn options(&self, default: &LbfgsOptions) -> LbfgsOptions {
        LbfgsOptions {
            memory: self.lbfgs_memory.unwrap_or(default.memory),
            line_search: self.line_search.unwrap_or(default.line_search),
            max_line_search: self.max_line_search.unwrap_or(default.max_line_search),
            plain: self.plain || default.plain,
            ..default.clone()
        }
    }
}

/// An option that is not for the algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Its name, such as `eta`.
    pub name: String,
    /// The algorithm.
    pub algorithm: String,
    /// The algorithms that it is for, with `or` in between.
    pub expected: String,
}

/// Returns the algorithms that an option is for, if it is not for all.
pub fn algorithms(option: &Arg) -> Option<&str> {
    option.get_help_heading()?.strip_prefix(ONLY)
}

/// Returns the first option that is given but not for the algorithm; `None` also for a command
/// without algorithms.
pub fn misplaced(command: &Command, matches: &ArgMatches) -> Option<Misplaced> {
    let algorithm = matches.try_get_one::<AlgorithmName>("algorithm").ok()?;
    let algorithm = algorithm.copied().unwrap_or_default().name();
    command.get_arguments().find_map(|option| {
        let expected = algorithms(option)?;
        let source = matches.value_source(option.get_id().as_str());
        let is_wrong = source == Some(ValueSource::CommandLine)
            && !expected.split(" or ").any(|name| name == algorithm);
        is_wrong.then(|| Misplaced {
            name: option.get_long().unwrap_or_default().to_owned(),
            algorithm: algorithm.to_owned(),
            expected: expected.to_owned(),
        })
    })
}
