//! The algorithms and their parameters, with the meaning and the defaults of CRFsuite.

use serde::{Deserialize, Serialize};

use dropchain::kernel::objective::{NoiseOptions, Penalty};
use dropchain::kernel::train::check_not_negative;
use dropchain::{Error, Result};

/// An algorithm with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Algorithm {
    /// Stochastic gradient descent.
    Sgd(LearningRate),
    /// Changes of weights when the most likely labels are wrong.
    Mistakes(MistakeRule),
}

/// The parameters of a learner, all within their ranges.
#[derive(Clone, Debug)]
pub(crate) struct LearnerSettings {
    /// An online algorithm.
    pub algorithm: Algorithm,
    /// The L2 penalty of stochastic gradient descent.
    pub penalty: Penalty,
    /// The noise of stochastic gradient descent.
    pub noise: Option<NoiseOptions>,
    /// Number of epochs without noise, before those with it.
    pub warm_up: usize,
    /// Whether the result is the epoch with the lowest objective, not the last one.
    pub keeps_lowest: bool,
    /// Number of epochs over which the learning rate of stochastic gradient descent falls to 0, on
    /// top of its schedule.
    pub cooling: Option<usize>,
    /// The seed of the order of sentences.
    pub seed: u64,
}

/// How weights change when the most likely labels are wrong; a learner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum MistakeRule {
    /// The averaged perceptron.
    #[serde(rename = "ap")]
    Perceptron(Perceptron),
    /// Passive-aggressive.
    #[serde(rename = "pa")]
    PassiveAggressive(PassiveAggressive),
    /// Adaptive regularization of weights.
    #[serde(rename = "arow")]
    Arow(Arow),
}

/// The learning rate η of stochastic gradient descent. Steps have the rate η/(1 + ηλt) at step t,
/// where λ is the strength of the penalty of one sentence: the schedule of Pegasos, as in CRFsuite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LearningRate {
    /// Found by calibration, which begins with this one.
    Calibrated(f64),
    /// This one.
    Fixed(f64),
}

/// The averaged perceptron: `ap` of CRFsuite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Perceptron {
    /// Stop if the mean over sentences of the fraction of wrong labels is below this.
    pub epsilon: f64,
}

/// Passive-aggressive training (Crammer et al. 2006): with the margin √d where d labels are wrong,
/// and averaged weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PassiveAggressive {
    /// The aggressiveness C, which limits an update: PA-I.
    pub c: f64,
    /// Stop if the mean loss of a sentence is below this.
    pub epsilon: f64,
}

/// Adaptive regularization of weights (Crammer, Kulesza and Dredze 2009).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Arow {
    /// The tradeoff γ between the loss and the change of weights, relative to their variance at the
    /// start, 1: updates depend on the ratio of the two alone.
    pub gamma: f64,
    /// Stop if the mean loss of a sentence is below this.
    pub epsilon: f64,
}

impl Default for PassiveAggressive {
    fn default() -> Self {
        Self { c: 1.0, epsilon: 0.0 }
    }
}

impl Default for Arow {
    fn default() -> Self {
        Self { gamma: 1.0, epsilon: 0.0 }
    }
}

impl MistakeRule {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Perceptron(_) => Perceptron::NAME,
            Self::PassiveAggressive(_) => PassiveAggressive::NAME,
            Self::Arow(_) => Arow::NAME,
        }
    }

    /// Returns the mean loss below which training stops.
    pub fn epsilon(&mut self) -> &mut f64 {
        let (Self::Perceptron(Perceptron { epsilon })
        | Self::PassiveAggressive(PassiveAggressive { epsilon, .. })
        | Self::Arow(Arow { epsilon, .. })) = self;
        epsilon
    }
}

impl Perceptron {
    /// The name.
    pub const NAME: &'static str = "ap";
}

impl PassiveAggressive {
    /// The name.
    pub const NAME: &'static str = "pa";
}

impl Arow {
    /// The name.
    pub const NAME: &'static str = "arow";
}

impl Algorithm {
    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the parameter that is out of its range.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Sgd(LearningRate::Calibrated(eta) | LearningRate::Fixed(eta)) => {
                check_positive("learning rate", eta)
            }
            Self::Mistakes(mut rule) => {
                match &rule {
                    MistakeRule::Perceptron(_) => {}
                    MistakeRule::PassiveAggressive(options) => {
                        check_positive("aggressiveness", options.c)?;
                    }
                    MistakeRule::Arow(options) => check_positive("gamma", options.gamma)?,
                }
                check_not_negative("epsilon", *rule.epsilon())
            }
        }
    }
}

fn check_positive(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} {value}; expected a finite number above 0")))
}
