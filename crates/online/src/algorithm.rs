//! The algorithms and their parameters, with the meaning and the defaults of CRFsuite.

use serde::{Deserialize, Serialize};

use dropchain::error::{Error, Result};
use dropchain::train::check_not_negative;

/// Most trials of a calibration; more is a typo.
const MAX_TRIALS: usize = 1000;

/// An algorithm with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Algorithm {
    /// Stochastic gradient descent.
    Sgd(SgdOptions),
    /// Changes of weights when the most likely labels are wrong.
    Mistakes(MistakeRule),
}

/// How weights change when the most likely labels are wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MistakeRule {
    /// The averaged perceptron.
    Perceptron(Perceptron),
    /// Passive-aggressive.
    PassiveAggressive(PassiveAggressive),
    /// Adaptive regularization of weights.
    Arow(Arow),
}

/// Parameters of stochastic gradient descent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SgdOptions {
    /// How the step size of a weight develops.
    pub step: StepRule,
    /// The learning rate η with which calibration begins.
    pub eta: f64,
    /// The factor between the learning rates that calibration tries.
    pub rate: f64,
    /// Number of sentences to calibrate on.
    pub samples: usize,
    /// Number of learning rates above and below [`eta`](field@Self::eta) to try that decrease the
    /// loss.
    pub candidates: usize,
    /// Maximum number of learning rates to try.
    pub max_trials: usize,
    /// Number of epochs over which [`delta`](field@Self::delta) is measured.
    pub period: usize,
    /// Stop if the objective fell by less than this fraction in a period.
    pub delta: f64,
}

/// How the step size of a weight develops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepRule {
    /// η/(1 + ηλt) for all weights at step t, where λ is the strength of the penalty of one
    /// sentence: the schedule of Pegasos, as in CRFsuite.
    #[default]
    Decreasing,
    /// η/√(Σ g²) over the gradients g of the weight so far: AdaGrad (Duchi, Hazan and Singer 2011).
    Adagrad,
}

dropchain::named!(StepRule, "step":
    Decreasing = "decreasing",
    Adagrad = "adagrad",
);

/// The averaged perceptron: `ap` of CRFsuite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Perceptron {
    /// Stop if the mean over sentences of the fraction of wrong labels is below this.
    pub epsilon: f64,
}

/// Passive-aggressive training (Crammer et al. 2006).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PassiveAggressive {
    /// How an update is limited.
    pub variant: PassiveAggressiveType,
    /// The aggressiveness C.
    pub c: f64,
    /// Whether the margin is the root of the number of wrong labels, rather than 1.
    pub error_sensitive: bool,
    /// Whether the result is the average of the weights over all sentences.
    pub averaging: bool,
    /// Stop if the mean loss of a sentence is below this.
    pub epsilon: f64,
}

/// How an update of passive-aggressive training is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PassiveAggressiveType {
    /// Not at all.
    #[serde(rename = "0")]
    Zero,
    /// By C: PA-I.
    #[default]
    #[serde(rename = "1")]
    One,
    /// By a quadratic slack: PA-II.
    #[serde(rename = "2")]
    Two,
}

dropchain::named!(PassiveAggressiveType, "type": Zero = "0", One = "1", Two = "2");

/// Adaptive regularization of weights (Crammer, Kulesza and Dredze 2009).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Arow {
    /// The variance of every weight at the start.
    pub variance: f64,
    /// The tradeoff γ between the loss and the change of weights.
    pub gamma: f64,
    /// Stop if the mean loss of a sentence is below this.
    pub epsilon: f64,
}

impl Default for SgdOptions {
    fn default() -> Self {
        Self {
            step: StepRule::Decreasing,
            eta: 0.1,
            rate: 2.0,
            samples: 1000,
            candidates: 10,
            max_trials: 20,
            period: 10,
            delta: 1e-6,
        }
    }
}

impl Default for PassiveAggressive {
    fn default() -> Self {
        Self {
            variant: PassiveAggressiveType::One,
            c: 1.0,
            error_sensitive: true,
            averaging: true,
            epsilon: 0.0,
        }
    }
}

impl Default for Arow {
    fn default() -> Self {
        Self { variance: 1.0, gamma: 1.0, epsilon: 0.0 }
    }
}

impl Algorithm {
    /// Returns whether training minimizes a penalized likelihood, to which a noise term can be
    /// added. The others learn from the most likely labels alone.
    pub fn is_probabilistic(&self) -> bool {
        matches!(self, Self::Sgd(_))
    }

    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the parameter that is out of its range.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Sgd(options) => options.check(),
            Self::Mistakes(MistakeRule::Perceptron(options)) => {
                check_not_negative("epsilon", options.epsilon)
            }
            Self::Mistakes(MistakeRule::PassiveAggressive(options)) => {
                check_positive("aggressiveness", options.c)?;
                check_not_negative("epsilon", options.epsilon)
            }
            Self::Mistakes(MistakeRule::Arow(options)) => {
                check_positive("variance", options.variance)?;
                check_positive("gamma", options.gamma)?;
                check_not_negative("epsilon", options.epsilon)
            }
        }
    }
}

impl SgdOptions {
    fn check(&self) -> Result<()> {
        check_positive("learning rate", self.eta)?;
        if !(self.rate.is_finite() && self.rate > 1.0) {
            return Err(Error::parameter(format!(
                "calibration rate {}; expected a finite number above 1",
                self.rate
            )));
        }
        for (name, count) in [
            ("calibration samples", self.samples),
            ("calibration candidates", self.candidates),
            ("period", self.period),
        ] {
            if count == 0 {
                return Err(Error::parameter(format!("{name} 0; expected 1 or more")));
            }
        }
        if !(1..=MAX_TRIALS).contains(&self.max_trials) {
            return Err(Error::parameter(format!(
                "{} calibration trials; expected 1 to {MAX_TRIALS}",
                self.max_trials
            )));
        }
        check_not_negative("delta", self.delta)
    }
}

fn check_positive(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} {value}; expected a finite number above 0")))
}
