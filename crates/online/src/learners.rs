//! The learners that the trainer sees.

use std::sync::Arc;

use dropchain::kernel::objective::Terms;
use dropchain::kernel::optim::Outcome;
use dropchain::kernel::train::{
    AnyLearner, Course, Defaults, Learner, LearnerOptions, Regularization, Request, Schedule,
    Stage, StageObjective, TrainingSet, check_not_negative, fields, unfit,
};
use dropchain::train::{Engine, NoiseKind, NoiseOptions};
use dropchain::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::algorithm::{
    Algorithm, Arow, LearnerSettings, LearningRate, MistakeRule, PassiveAggressive, Perceptron,
};
use crate::epochs::learn;

/// Stochastic gradient descent with an L2 penalty: `l2sgd` of CRFsuite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The learning rate η with which calibration begins.
    pub eta: f64,
}

impl Default for Sgd {
    fn default() -> Self {
        Self { l2: None, noise: NoiseOptions::default(), warm_up: None, eta: 0.1 }
    }
}

impl Sgd {
    /// The name.
    pub const NAME: &'static str = "sgd";

    /// Default strength of the L2 penalty without noise.
    pub const L2: f64 = 1.0;

    /// Default of the warm-up epochs.
    pub const WARM_UP: usize = 5;

    fn strength(&self) -> f64 {
        self.l2.unwrap_or(if self.noise.is_on() { Defaults::L2_WITH_NOISE } else { Self::L2 })
    }

    /// Returns penalties and noise as they are given.
    fn unresolved(&self) -> Regularization {
        Regularization { l1: 0.0, l2: self.l2, noise: self.noise, warm_up: self.warm_up }
    }

    /// Checks that the noise is of a kind that updates can have.
    fn check_noise(&self) -> Result<()> {
        let noise = &self.noise;
        let (is_on, is_sampled) = (noise.is_on(), noise.kind.is_sampled());
        let has_kind = matches!(noise.kind, NoiseKind::Dropout | NoiseKind::Gaussian);
        let (found, expected) = if noise.gradient != Engine::Exact {
            let found = format!("gradient '{}'", noise.gradient);
            (found, "the default (`gradient` exact)")
        } else if is_sampled && noise.kind != NoiseKind::MonteCarlo(NoiseKind::SAMPLES) {
            let expected = "no number of samples, since attributes are dropped once per update";
            (format!("{} noise", noise.kind), expected)
        } else if is_on && !has_kind && !is_sampled {
            let expected = "another kind (`noise`), which changes a few weights at a time";
            (format!("{} noise", noise.kind), expected)
        } else {
            return Ok(());
        };
        Err(unfit(self, &found, expected))
    }
}

impl Learner for Sgd {
    fn options(&self) -> LearnerOptions {
        let l2 = Some(self.strength());
        LearnerOptions {
            name: Self::NAME,
            record: fields(&Self { l2, ..self.clone() }),
            regularization: Regularization { l2, ..self.unresolved() },
        }
    }

    fn with_regularization(&self, regularization: Regularization) -> Result<AnyLearner> {
        check_l1(self, regularization.l1)?;
        Ok(AnyLearner::from(Self {
            l2: regularization.l2,
            noise: regularization.noise,
            warm_up: regularization.warm_up,
            eta: self.eta,
        }))
    }

    fn check(&self, request: Request<'_>) -> Result<()> {
        if let Request::Options(_) = request {
            check_not_negative("L2 strength", self.l2.unwrap_or(0.0))?;
            self.noise.check()?;
            self.check_noise()?;
        }
        check(self, Algorithm::Sgd(LearningRate::Calibrated(self.eta)), request)
    }

    /// One stage, of which the first epochs have no noise.
    fn schedule(&self, max_iterations: Option<usize>) -> Schedule {
        let stage = match self.noise.is_on() {
            true => Stage {
                stops_after: Some(self.unresolved().warm_up_or(Self::WARM_UP, max_iterations)),
                ..Stage::last(StageObjective::WithNoise)
            },
            false => Stage::last(StageObjective::WithoutNoise),
        };
        Schedule::single(stage, max_iterations.or(Some(1000)))
    }

    fn memory(&self, set: &TrainingSet) -> usize {
        memory(set, &self.noise)
    }

    fn run(&self, stage: &Stage, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        let noise = self.noise.is_on().then_some(self.noise);
        let settings = LearnerSettings {
            algorithm: Algorithm::Sgd(LearningRate::Calibrated(self.eta)),
            penalty: course.set().penalty(self.strength()),
            warm_up: noise.and(stage.stops_after).unwrap_or(0),
            noise,
            keeps_lowest: !course.set().chooses_on_dev(),
            cooling: None,
            seed: course.seed(),
        };
        learn(settings, stage, course)
    }
}

impl From<Perceptron> for AnyLearner {
    fn from(options: Perceptron) -> Self {
        Arc::new(MistakeRule::Perceptron(options))
    }
}

impl From<PassiveAggressive> for AnyLearner {
    fn from(options: PassiveAggressive) -> Self {
        Arc::new(MistakeRule::PassiveAggressive(options))
    }
}

impl From<Arow> for AnyLearner {
    fn from(options: Arow) -> Self {
        Arc::new(MistakeRule::Arow(options))
    }
}

impl Learner for MistakeRule {
    fn options(&self) -> LearnerOptions {
        let regularization = Regularization::none();
        LearnerOptions { name: (*self).name(), record: fields(self), regularization }
    }

    fn with_regularization(&self, other: Regularization) -> Result<AnyLearner> {
        check_l1(self, other.l1)?;
        for (name, field, value) in [
            ("dropout", "dropout", other.noise.dropout),
            ("edge dropout", "edge_dropout", other.noise.edge_noise()),
            ("L2 strength", "l2", other.l2.unwrap_or(0.0)),
        ] {
            if value > 0.0 {
                let expected = format!(
                    "0, since it learns from the best labels and computes no likelihood \
                     (`{field}` 0)"
                );
                return Err(unfit(self, &format!("{name} {value}"), &expected));
            }
        }
        Ok(Arc::new(*self))
    }

    fn check(&self, request: Request<'_>) -> Result<()> {
        check(self, Algorithm::Mistakes(*self), request)
    }

    fn schedule(&self, max_iterations: Option<usize>) -> Schedule {
        let stage = Stage::last(StageObjective::WithoutNoise);
        Schedule::single(stage, max_iterations.or(Some(100)))
    }

    fn memory(&self, set: &TrainingSet) -> usize {
        memory(set, &NoiseOptions::none())
    }

    fn run(&self, stage: &Stage, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        let settings = LearnerSettings {
            algorithm: Algorithm::Mistakes(*self),
            penalty: course.set().penalty(0.0),
            noise: None,
            warm_up: 0,
            keeps_lowest: false,
            cooling: None,
            seed: course.seed(),
        };
        learn(settings, stage, course)
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

/// Returns the error of what cannot be divided among ranks.
pub(crate) fn undivided(option: &str) -> Error {
    Error::parameter(format!(
        "{option} updates weights by sentence, and runs in one process; expected one rank, or \
         `dropchain train`"
    ))
}

/// Checks that a learner can do what is asked of it, with the parameters of its algorithm.
fn check(learner: &dyn Learner, algorithm: Algorithm, request: Request<'_>) -> Result<()> {
    match request {
        Request::Options(_) => algorithm.check(),
        Request::Ranks => Err(undivided(&format!("`algorithm` {}", learner.name()))),
        Request::Terms => {
            let expected = "`algorithm` lbfgs, which minimizes it";
            Err(unfit(learner, "a further term of the objective", expected))
        }
        Request::Start(..) => Ok(()),
    }
}

fn check_l1(learner: &dyn Learner, l1: f64) -> Result<()> {
    if l1 > 0.0 {
        let expected = "no L1 penalty (`l1` 0), or `algorithm` lbfgs, which alone has one";
        return Err(unfit(learner, &format!("L1 strength {l1}"), expected));
    }
    Ok(())
}
