//! How much noise the weights of a model have seen.
//!
//! Training with noise begins without it. If it ends in that warm-up, the model is one of the
//! penalties alone, whatever noise was asked for.

use serde::{Deserialize, Serialize};

/// How much noise the weights of a model have seen in a training run that was to have noise. What
/// earlier runs had, whose models it continued, does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseExposure {
    /// The noise that was asked for, by its name, such as `dropout`.
    pub kind: String,
    /// Number of iterations with noise that the weights have seen; 0 if they are those of the
    /// warm-up.
    pub iterations: usize,
    /// Number of iterations without noise, before those with it.
    pub warm_up: usize,
    /// The highest mean score of the iterations with noise on development data, if the weights are
    /// those of the warm-up because they scored better.
    pub lost: Option<f64>,
}

impl NoiseExposure {
    /// Returns how much noise the weights of iteration `kept` have seen.
    pub fn new(kind: String, kept: usize, warm_up: usize) -> Self {
        Self { kind, iterations: kept.saturating_sub(warm_up), warm_up, lost: None }
    }

    /// Returns whether the weights have seen any noise.
    pub fn is_any(&self) -> bool {
        self.iterations > 0
    }
}
