//! The algorithm and its parameters.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use dropchain::kernel::train::AnyLearner;
use dropchain::train::{Lbfgs, TrainOptions};
use dropchain::{Error, Result};
use dropchain_online::{Arow, Method, PassiveAggressive, Perceptron, Sgd, WarmStarted};

use super::values::named;

/// How the heading of options begins that are for some algorithms only, which it then names.
pub const ONLY: &str = "Only with --algorithm ";

/// The algorithm and its parameters. Algorithms share the flags that have one name in CRFsuite.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Algorithm")]
pub struct AlgorithmOptions {
    /// How to train the weights; see docs/learners.md
    ///
    /// lbfgs: L-BFGS on all sentences, with --l1 OWL-QN. sgd: stochastic gradient descent with an
    /// L2 penalty. ap: averaged perceptron. pa: passive-aggressive. arow: adaptive regularization
    /// of weights.
    #[arg(long, value_parser = named::<AlgorithmName>(), hide_short_help = true)]
    algorithm: Option<AlgorithmName>,
    /// Stop below this gradient (lbfgs) [default: 1e-5] or mean loss (ap, pa, arow) [default: 0]
    ///
    /// lbfgs stops if ‖gradient‖ ≤ EPSILON · max(1, ‖θ‖), or if the objective fell by less than
    /// 1e-5 of its value in ten iterations, by less than EPSILON if that is smaller.
    #[arg(
        long,
        help_heading = "Only with --algorithm lbfgs or ap or pa or arow",
        value_name = "EPSILON"
    )]
    epsilon: Option<f64>,
    /// Learning rate with which calibration begins
    #[arg(long, help_heading = "Only with --algorithm sgd", value_name = "ETA")]
    eta: Option<f64>,
    /// Aggressiveness: the limit of an update
    #[arg(long, help_heading = "Only with --algorithm pa", value_name = "C")]
    pa_c: Option<f64>,
    /// Tradeoff between loss and change of the weights
    #[arg(long, help_heading = "Only with --algorithm arow", value_name = "GAMMA")]
    gamma: Option<f64>,
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

impl AlgorithmOptions {
    /// Sets the optimizer of L-BFGS, and the default amount of noise.
    pub fn apply(&self, options: &mut TrainOptions) {
        let lbfgs = &mut options.method;
        lbfgs.noise.dropout = self.method().default_dropout();
        if let Some(epsilon) = self.epsilon.filter(|_| matches!(self.method(), Method::Lbfgs(_))) {
            let optimizer = &mut lbfgs.optimizer;
            optimizer.gradient_tolerance = epsilon;
            optimizer.improvement_tolerance = optimizer.improvement_tolerance.min(epsilon);
        }
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
            AlgorithmName::Sgd => {
                let sgd = Sgd::default();
                Method::Sgd(Sgd { eta: self.eta.unwrap_or(sgd.eta), ..sgd })
            }
            AlgorithmName::Ap => Method::Perceptron(Perceptron { epsilon }),
            AlgorithmName::Pa => {
                let c = self.pa_c.unwrap_or(PassiveAggressive::default().c);
                Method::PassiveAggressive(PassiveAggressive { c, epsilon })
            }
            AlgorithmName::Arow => {
                let gamma = self.gamma.unwrap_or(Arow::default().gamma);
                Method::Arow(Arow { gamma, epsilon })
            }
        }
    }
}

/// An option that is not for the algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Name of the option, such as `eta`.
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
