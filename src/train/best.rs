//! The best score and weights so far.

use serde::{Deserialize, Serialize};

use super::events::DevScore;

/// A score on development data and its iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestScore {
    /// The iteration.
    pub iteration: usize,
    /// Its score.
    pub score: DevScore,
}

/// The weights with the best score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestWeights {
    /// Their iteration.
    pub iteration: usize,
    /// Their score.
    pub score: DevScore,
    /// The recall bias with which the score was reached.
    pub recall_bias: f64,
    /// The weights.
    pub theta: Vec<f64>,
}
