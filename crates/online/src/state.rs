//! The state of a learner between epochs.

use serde::{Deserialize, Serialize};

/// The state that epochs change: a learner continues from it to the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The number of epochs so far.
    pub epochs: usize,
    /// The number of sentences that were learned from.
    pub steps: u64,
    /// The learning rate η, once it is calibrated.
    pub eta: Option<f64>,
    /// The objectives of the last epochs, of stochastic gradient descent.
    pub history: Vec<f64>,
    /// The weights, `[dimension]`.
    pub weights: Vec<f64>,
    /// A number beside each weight, or none: the sum s of changes, or a variance.
    pub sums: Vec<f64>,
    /// The epoch with the lowest objective, if it is kept.
    pub lowest: Option<LowestEpoch>,
}

/// The epoch with the lowest objective so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LowestEpoch {
    /// Number of the epoch; 0 if there is none yet.
    pub epoch: usize,
    objective: f64,
    /// The parameters θ after it.
    pub theta: Vec<f64>,
}

impl LowestEpoch {
    pub fn record(&mut self, epoch: usize, objective: f64, theta: &[f64]) {
        if self.epoch == 0 || objective < self.objective {
            (self.epoch, self.objective) = (epoch, objective);
            self.theta.clear();
            self.theta.extend_from_slice(theta);
        }
    }
}
