//! The warm start of L-BFGS: passes of stochastic gradient descent over the sentences.
//!
//! Far from the minimum, two passes of stochastic updates move the weights as far as fifteen
//! iterations of L-BFGS, at the cost of four; near it, L-BFGS is faster. The passes minimize the
//! likelihood with the L2 penalty: like the iterations of the warm-up, which they precede, they
//! have no noise, and OWL-QN adds the L1 penalty afterwards. Their learning rate falls to 0 at the
//! end of the last one, which takes the noise of the updates out of the weights, much like an
//! average. (docs/decisions, 68)
//!
//! Passes are iterations for the course of training, for logs and for checkpoints; L-BFGS goes on
//! counting.

use std::sync::Arc;

use dropchain::kernel::objective::Terms;
use dropchain::kernel::optim::{Outcome, StopReason};
use dropchain::kernel::train::{
    AnyLearner, Course, Learner, LearnerOptions, Regularization, Request, Schedule, Stage,
    StageObjective, TrainingSet,
};
use dropchain::train::{Lbfgs, NoiseOptions};
use dropchain::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::algorithm::{Algorithm, LearnerSettings, LearningRate};
use crate::epochs::learn;
use crate::learners::{memory, undivided};

/// The initial learning rate η times the mean over tokens of 1 + ‖x‖², by how much an update with η
/// moves the scores of its tokens: so η fits any number of attributes, with values of any size.
/// (docs/decisions, 68)
const RATE: f64 = 4.0;

/// L-BFGS from the weights after [`PASSES`](Self::PASSES) passes of stochastic gradient descent
/// over the sentences in random order, without noise and without the L1 penalty. The passes count
/// as iterations. Training cannot continue a model then.
///
/// Not to be confused with [`Lbfgs::warm_up`], iterations of L-BFGS itself, which are
/// [`WARM_UP`](Self::WARM_UP) by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WarmStarted {
    /// L-BFGS.
    pub lbfgs: Lbfgs,
}

impl WarmStarted {
    /// The number of passes.
    pub const PASSES: usize = 2;

    /// Default of the warm-up iterations after the passes.
    pub const WARM_UP: usize = 10;

    /// Makes the passes, or those that are left after a checkpoint.
    fn run_passes(&self, stage: &Stage, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        let set = course.set();
        let l2 = self.lbfgs.options().regularization.l2;
        let settings = LearnerSettings {
            algorithm: Algorithm::Sgd(LearningRate::Fixed(RATE / (1.0 + mean_square_norm(set)))),
            penalty: set.penalty(l2.unwrap_or(0.0)),
            noise: None,
            warm_up: 0,
            keeps_lowest: false,
            cooling: Some(Self::PASSES),
            seed: course.seed(),
        };
        let diverged = || {
            Error::NotFinite(
                "the loss is not finite in the passes of the warm start; expected smaller \
                 attribute values, or no warm start (`warm_start` off)"
                    .to_owned(),
            )
        };
        match learn(settings, stage, course) {
            Ok(outcome) if outcome.stop_reason == StopReason::NonFinite => Err(diverged()),
            Err(Error::NotFinite(_)) => Err(diverged()),
            outcome => outcome,
        }
    }
}

impl From<WarmStarted> for AnyLearner {
    fn from(learner: WarmStarted) -> Self {
        Arc::new(learner)
    }
}

impl Learner for WarmStarted {
    fn options(&self) -> LearnerOptions {
        let mut options = self.lbfgs.options();
        options.record.insert("warm_start".to_owned(), "online".into());
        options
    }

    fn with_regularization(&self, regularization: Regularization) -> Result<AnyLearner> {
        let lbfgs = self.lbfgs.regularized(regularization);
        Ok(AnyLearner::from(Self { lbfgs }))
    }

    fn check(&self, request: Request<'_>) -> Result<()> {
        match request {
            Request::Ranks => Err(undivided("`warm_start` online")),
            Request::Start(role, path) => Err(Error::parameter(format!(
                "`warm_start` online, but training starts at {role} {path}; expected `warm_start` \
                 off, since the passes would move its weights away from there"
            ))),
            Request::Options(_) | Request::Terms => self.lbfgs.check(request),
        }
    }

    fn schedule(&self, max_iterations: Option<usize>) -> Schedule {
        let lbfgs = self.lbfgs.schedule_with(Self::WARM_UP, max_iterations);
        lbfgs.after(Stage::fixed(StageObjective::Passes, Self::PASSES))
    }

    fn memory(&self, set: &TrainingSet) -> usize {
        self.lbfgs.memory(set).max(memory(set, &NoiseOptions::none()))
    }

    fn run(&self, stage: &Stage, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        match stage.objective {
            StageObjective::Passes => self.run_passes(stage, course),
            StageObjective::WithoutNoise | StageObjective::WithNoise => {
                self.lbfgs.run(stage, course)
            }
        }
    }
}

/// Returns the mean of ‖x‖² over the labeled tokens, of single attributes. Time O(nonzeros).
fn mean_square_norm(set: &TrainingSet) -> f64 {
    let data = set.data();
    let blocks = [&data.nodes, &data.edges].into_iter().zip(set.space().blocks());
    let sums = blocks.filter(|(matrix, _)| !matrix.is_empty()).map(|(matrix, block)| {
        let entries = (0..data.labels.len()).flat_map(|token| matrix.entries(token));
        let values = entries.map(|(column, value)| block.scale[column as usize] * value);
        values.map(|value| value * value).sum::<f64>()
    });
    sums.sum::<f64>() / data.labels.len().max(1) as f64
}
