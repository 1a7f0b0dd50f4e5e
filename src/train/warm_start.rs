//! The warm start of L-BFGS: passes of stochastic gradient descent over the sentences.
//!
//! Far from the minimum, two passes of stochastic updates move the weights as far as fifteen
//! iterations of L-BFGS, at the cost of four; near it, L-BFGS is faster. The passes minimize the
//! likelihood with the L2 penalty: like the iterations of the warm-up, which they precede, they
//! have no noise, and OWL-QN adds the L1 penalty afterwards. Their learning rate falls to 0 at the
//! end of the last one, which takes the noise of the updates out of the weights, much like an
//! average. (docs/decisions, 68)
//!
//! Passes are iterations for the monitor, for logs and for checkpoints; L-BFGS goes on counting.

use std::sync::atomic::AtomicBool;

use super::online::OnlineTraining;
use super::online_state::OnlineState;
use super::optimize::Watch;
use super::options::Defaults;
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::objective::Terms;
use crate::online::{Algorithm, Learner, LearnerSettings, SgdOptions, StepRule};
use crate::optim::{Outcome, StopReason};

/// The initial learning rate η times the mean over tokens of 1 + ‖x‖², by how much an update with η
/// moves the scores of its tokens: so η fits any number of attributes, with values of any size.
/// (docs/decisions, 68)
const RATE: f64 = 4.0;

/// The passes of a warm start.
pub(super) struct WarmStartPasses<'a> {
    pub settings: &'a TrainSettings,
    pub set: &'a TrainingSet,
    /// Stops training when set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl WarmStartPasses<'_> {
    /// Makes the passes, or those that are left after a checkpoint. The result has the weights to
    /// go on with.
    ///
    /// # Errors
    ///
    /// The weights became infinite; the state to resume from does not fit the data.
    pub fn run(
        &self,
        resumed: Option<OnlineState<'static>>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let set = self.set;
        let learner = set.warm_start_learner(self.settings);
        let mut training = OnlineTraining {
            algorithm: learner.algorithm,
            learner: Learner::new(set.data(), set.space(), learner, set.start())?,
            has_noise: false,
            interrupt: self.interrupt,
            lowest: None,
        };
        // There is one trial, which is not worth reporting.
        training.learner.prepare(None);
        training.learner.take_calibration();
        match resumed {
            Some(state) => training.restore(state)?,
            None => watch.monitor.begin_fixed_run(),
        }
        let max = self.settings.options().max_iterations;
        let passes = Defaults::WARM_START_PASSES;
        let outcome = training.run(Some(max.map_or(passes, |max| max.min(passes))), watch);
        let diverged = || {
            Error::NotFinite(
                "the loss is not finite in the passes of the warm start; expected smaller \
                 attribute values, or no warm start (--warm-start off)"
                    .to_owned(),
            )
        };
        match outcome {
            Ok(outcome) if outcome.stop_reason == StopReason::NonFinite => Err(diverged()),
            Err(Error::NotFinite(_)) => Err(diverged()),
            outcome => outcome,
        }
    }
}

impl TrainingSet {
    /// Returns the parameters of the learner that makes the passes of a warm start.
    pub(super) fn warm_start_learner(&self, settings: &TrainSettings) -> LearnerSettings {
        LearnerSettings {
            algorithm: Algorithm::Sgd(SgdOptions {
                step: StepRule::Decreasing,
                eta: RATE / (1.0 + self.mean_square_norm()),
                samples: 1,
                max_trials: 1,
                ..SgdOptions::default()
            }),
            penalty: self.penalty(settings.l2()),
            noise: None,
            warm_up: 0,
            cooling: Some(Defaults::WARM_START_PASSES),
            seed: settings.options().seed,
        }
    }

    /// Returns the mean of ‖x‖² over the labeled tokens, of single attributes. Time O(nonzeros).
    fn mean_square_norm(&self) -> f64 {
        let data = self.data();
        let matrices = [&data.nodes, &data.edges].into_iter();
        let blocks = matrices.zip(self.space().blocks());
        let squares = blocks.filter(|(matrix, _)| !matrix.is_empty());
        let sum: f64 = squares
            .map(|(matrix, block)| {
                let tokens = 0..data.labeled_tokens();
                let entries = tokens.flat_map(|token| matrix.entries(token));
                let square = |(column, value): (u32, f64)| {
                    let value = block.scale[column as usize] * value;
                    value * value
                };
                entries.map(square).sum::<f64>()
            })
            .sum();
        sum / data.labeled_tokens().max(1) as f64
    }
}
