//! The state of online training between two epochs.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::online::LearnerState;

/// The epoch with the lowest objective so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LowestEpoch<'a> {
    /// Its number; 0 if there is none yet.
    pub epoch: usize,
    objective: f64,
    /// Its weights.
    pub theta: Cow<'a, [f64]>,
}

/// The state of online training after an epoch.
#[derive(Serialize, Deserialize)]
pub(super) struct OnlineState<'a> {
    pub learner: LearnerState<'a>,
    pub lowest: Option<LowestEpoch<'a>>,
}

impl LowestEpoch<'_> {
    /// Records an epoch.
    pub fn record(&mut self, epoch: usize, objective: f64, theta: &[f64]) {
        if self.epoch == 0 || objective < self.objective {
            let kept = self.theta.to_mut();
            kept.clear();
            kept.extend_from_slice(theta);
            (self.epoch, self.objective) = (epoch, objective);
        }
    }

    /// Returns a copy that borrows the weights.
    pub fn borrow(&self) -> LowestEpoch<'_> {
        LowestEpoch {
            theta: Cow::Borrowed(&self.theta),
            ..*self
        }
    }
}
