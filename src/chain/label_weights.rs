//! Transition and boundary weights as model parameters.

use std::slice::ChunksExact;

use serde::{Deserialize, Serialize};

/// Transition and boundary weights, unpadded: the parameters that depend on labels alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelWeights {
    /// Transition weights `[K][K]`, from the label of the row to that of the column.
    pub transitions: Vec<f64>,
    /// Weights of the first label, `[K]`.
    pub start: Vec<f64>,
    /// Weights of the last label, `[K]`.
    pub end: Vec<f64>,
}

impl LabelWeights {
    /// Returns the weights `[K]` of the transitions from each label, `[K][K]` in all.
    pub fn transition_rows(&self) -> ChunksExact<'_, f64> {
        self.transitions.chunks_exact(self.start.len().max(1))
    }
}
