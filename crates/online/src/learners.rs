//! The learners that the trainer sees.

use std::sync::Arc;

use dropchain::error::{Error, Result};
use dropchain::objective::{NoiseTerm, Terms};
use dropchain::optim::Outcome;
use dropchain::template::LineOptions;
use dropchain::train::{
    AnyLearner, Course, Defaults, Engine, Learner, NoiseKind, NoiseOptions, Regularization,
    TrainOptions, TrainingSet, check_not_negative, fields, unfit,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::algorithm::{Algorithm, Arow, PassiveAggressive, Perceptron, SgdOptions, StepRule};
use crate::epochs::{EpochLearner, LearnerSettings};
use crate::run::learn;
use crate::sgd::{OnlineNoise, OnlineNoiseKind};

/// Stochastic gradient descent with an L2 penalty: `l2sgd` of CRFsuite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sgd {
    /// Strength c2 of the L2 penalty. `None`: [`Defaults::L2_WITH_NOISE`] with noise,
    /// [`L2`](Self::L2) without.
    pub l2: Option<f64>,
    /// The noise term: quadratic with the exact gradient and a mask per weight, or attributes that
    /// are dropped once per update ([`NoiseKind::MonteCarlo`]).
    #[serde(flatten)]
    pub noise: NoiseOptions,
    /// Number of epochs without noise, before those with it. `None`: [`WARM_UP`](Self::WARM_UP).
    pub warm_up: Option<usize>,
    /// The steps, their calibration and the stopping test.
    #[serde(rename = "sgd")]
    pub steps: SgdOptions,
}

impl Sgd {
    /// The name.
    pub const NAME: &'static str = "sgd";

    /// Default strength of the L2 penalty without noise.
    pub const L2: f64 = 1.0;

    /// Default of the warm-up epochs.
    pub const WARM_UP: usize = 5;

    fn strength(&self) -> f64 {
        self.l2.unwrap_or(match self.noise.is_on() {
            true => Defaults::L2_WITH_NOISE,
            false => Self::L2,
        })
    }

    fn settings(&self, set: &TrainingSet, seed: u64, warm_up: usize) -> LearnerSettings {
        let noise = self.noise.feature_noise(seed).map(|noise| OnlineNoise {
            amounts: set.attribute_noise(&noise),
            kind: match noise.term {
                NoiseTerm::MonteCarlo { seed, .. } => {
                    OnlineNoiseKind::Sampled { rates: noise.amounts(), seed }
                }
                _ => OnlineNoiseKind::Analytic(noise),
            },
        });
        LearnerSettings {
            algorithm: Algorithm::Sgd(self.steps),
            penalty: set.penalty(self.strength()),
            noise,
            warm_up,
            cooling: None,
            seed,
        }
    }

    /// Checks that the noise is of a kind that updates can have.
    fn check_noise(&self) -> Result<()> {
        let noise = &self.noise;
        let is_on = noise.is_on();
        let is_sampled = noise.kind == NoiseKind::MonteCarlo;
        let has_kind = matches!(noise.kind, NoiseKind::Dropout | NoiseKind::Gaussian);
        let (found, expected) = if noise.gradient != Engine::Exact {
            let found = format!("gradient '{}'", noise.gradient);
            (found, "the default (--gradient exact)")
        } else if noise.samples != Defaults::SAMPLES {
            let found = format!("{} samples", noise.samples);
            let expected = "the default, since attributes are dropped once per update";
            (found, expected)
        } else if is_on && !has_kind && !is_sampled {
            let expected = "another kind (--noise), which changes a few weights at a time";
            (format!("{} noise", noise.kind), expected)
        } else if is_on && is_sampled && self.steps.step == StepRule::Curvature {
            let found = "step curvature and sampled noise".to_owned();
            (found, "--noise dropout, or --step adagrad")
        } else {
            return Ok(());
        };
        Err(unfit(self, &found, expected))
    }
}

impl Learner for Sgd {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn record(&self) -> Map<String, Value> {
        fields(&Self { l2: Some(self.strength()), ..self.clone() })
    }

    fn check(&self, _options: &TrainOptions<()>) -> Result<()> {
        check_not_negative("L2 strength", self.l2.unwrap_or(0.0))?;
        self.noise.check()?;
        self.check_noise()?;
        Algorithm::Sgd(self.steps).check()
    }

    fn regularization(&self) -> Regularization {
        Regularization {
            l1: 0.0,
            l2: Some(self.strength()),
            noise: self.noise.clone(),
            warm_up: self.warm_up,
        }
    }

    fn with_regularization(&self, regularization: Regularization) -> Result<AnyLearner> {
        check_l1(self, regularization.l1)?;
        Ok(AnyLearner::from(Self {
            l2: regularization.l2,
            noise: regularization.noise,
            warm_up: regularization.warm_up,
            steps: self.steps,
        }))
    }

    fn default_warm_up(&self) -> usize {
        Self::WARM_UP
    }

    fn max_iterations(&self) -> Option<usize> {
        Some(1000)
    }

    fn check_ranks(&self) -> Result<()> {
        Err(undivided("--algorithm sgd"))
    }

    fn unused_line_option(&self, options: &LineOptions) -> Option<[&'static str; 2]> {
        options.l1.map(|_| ["l1", "lbfgs"])
    }

    fn memory(&self, set: &TrainingSet) -> usize {
        memory(set, &self.noise)
    }

    fn learn(&self, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        let warm_up = course.warm_up(Self::WARM_UP);
        learn(self.settings(course.set(), course.seed(), warm_up), course)
    }

    fn ends_with_weights(&self) -> bool {
        false
    }

    fn state_length(&self, set: &TrainingSet, seed: u64) -> Result<usize> {
        Ok(state_length(set, self.settings(set, seed, 0)))
    }

    fn weights(&self, set: &TrainingSet, seed: u64, state: Vec<f64>) -> Result<Vec<f64>> {
        weights(set, self.settings(set, seed, 0), &state)
    }
}

/// A learner that changes weights when it makes mistakes.
#[derive(Clone, Debug)]
struct MistakeDriven {
    name: &'static str,
    algorithm: Algorithm,
    options: Map<String, Value>,
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

impl From<Perceptron> for AnyLearner {
    fn from(options: Perceptron) -> Self {
        MistakeDriven::learner(Perceptron::NAME, Algorithm::Perceptron(options), &options)
    }
}

impl From<PassiveAggressive> for AnyLearner {
    fn from(options: PassiveAggressive) -> Self {
        let algorithm = Algorithm::PassiveAggressive(options);
        MistakeDriven::learner(PassiveAggressive::NAME, algorithm, &options)
    }
}

impl From<Arow> for AnyLearner {
    fn from(options: Arow) -> Self {
        MistakeDriven::learner(Arow::NAME, Algorithm::Arow(options), &options)
    }
}

impl MistakeDriven {
    fn learner(name: &'static str, algorithm: Algorithm, options: &impl Serialize) -> AnyLearner {
        Arc::new(Self { name, algorithm, options: fields(options) })
    }

    fn settings(&self, set: &TrainingSet, seed: u64) -> LearnerSettings {
        LearnerSettings {
            algorithm: self.algorithm,
            penalty: set.penalty(0.0),
            noise: None,
            warm_up: 0,
            cooling: None,
            seed,
        }
    }
}

impl Learner for MistakeDriven {
    fn name(&self) -> &'static str {
        self.name
    }

    fn record(&self) -> Map<String, Value> {
        Map::from_iter([(self.name.to_owned(), self.options.clone().into())])
    }

    fn check(&self, _options: &TrainOptions<()>) -> Result<()> {
        self.algorithm.check()
    }

    fn regularization(&self) -> Regularization {
        Regularization::none()
    }

    fn with_regularization(&self, other: Regularization) -> Result<AnyLearner> {
        check_unregularized(self, &other)?;
        Ok(Arc::new(self.clone()))
    }

    fn max_iterations(&self) -> Option<usize> {
        Some(100)
    }

    fn check_ranks(&self) -> Result<()> {
        Err(undivided(&format!("--algorithm {}", self.name)))
    }

    fn unused_line_option(&self, options: &LineOptions) -> Option<[&'static str; 2]> {
        let LineOptions { l1, l2, dropout } = options;
        let l1 = l1.map(|_| ["l1", "lbfgs"]);
        let l2 = l2.map(|_| ["l2", "lbfgs or sgd"]);
        l1.or(l2).or(dropout.map(|_| ["dropout", "lbfgs or sgd"]))
    }

    fn memory(&self, set: &TrainingSet) -> usize {
        memory(set, &NoiseOptions::none())
    }

    fn learn(&self, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        learn(self.settings(course.set(), course.seed()), course)
    }

    fn ends_with_weights(&self) -> bool {
        false
    }

    fn state_length(&self, set: &TrainingSet, seed: u64) -> Result<usize> {
        Ok(state_length(set, self.settings(set, seed)))
    }

    fn weights(&self, set: &TrainingSet, seed: u64, state: Vec<f64>) -> Result<Vec<f64>> {
        weights(set, self.settings(set, seed), &state)
    }
}

impl From<Sgd> for AnyLearner {
    fn from(learner: Sgd) -> Self {
        Arc::new(learner)
    }
}

/// Estimates the memory in bytes of a learner: what evaluating the objective takes, whose matrices
/// and workspaces are of the same sizes, and numbers for each parameter.
pub(crate) fn memory(set: &TrainingSet, noise: &NoiseOptions) -> usize {
    // Weights, sums, times of decay and the weights at the start of calibration; the parameters,
    // those of the best epoch, the result, and those of calibration.
    set.memory_to_evaluate(noise) + 8 * 9 * set.space().dimension()
}

/// Returns the number of numbers of a learner's state.
fn state_length(set: &TrainingSet, settings: LearnerSettings) -> usize {
    let learner = EpochLearner::new(set.data(), set.space(), settings, set.start());
    learner.state_length()
}

/// Returns the weights of a learner in a state.
fn weights(set: &TrainingSet, settings: LearnerSettings, state: &[f64]) -> Result<Vec<f64>> {
    let mut learner = EpochLearner::new(set.data(), set.space(), settings, set.start());
    learner.restore(state)?;
    Ok(learner.theta)
}

/// Returns the error of what cannot be divided among ranks.
pub(crate) fn undivided(option: &str) -> Error {
    Error::parameter(format!(
        "{option} updates weights by sentence, and runs in one process; expected one rank, or \
         `dropchain train`"
    ))
}

fn check_l1(learner: &dyn Learner, l1: f64) -> Result<()> {
    if l1 > 0.0 {
        let expected = "no L1 penalty (--l1 0), or --algorithm lbfgs, which alone has one";
        return Err(unfit(learner, &format!("L1 strength {l1}"), expected));
    }
    Ok(())
}

/// Checks that there are no penalties and no noise.
fn check_unregularized(learner: &dyn Learner, other: &Regularization) -> Result<()> {
    check_l1(learner, other.l1)?;
    for (name, flag, value) in [
        ("dropout", "--dropout", other.noise.dropout),
        ("edge dropout", "--edge-dropout", other.noise.edge_noise()),
        ("L2 strength", "--l2", other.l2.unwrap_or(0.0)),
    ] {
        if value > 0.0 {
            let expected = format!(
                "0, since it learns from the best labels and computes no likelihood ({flag} 0)"
            );
            return Err(unfit(learner, &format!("{name} {value}"), &expected));
        }
    }
    Ok(())
}
