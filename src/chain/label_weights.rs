//! Transition and boundary weights as model parameters.

use ndarray::ArrayView2;
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
    /// Returns the transition weights as a matrix `[K][K]`.
    ///
    /// # Panics
    ///
    /// If there are K start weights but not K² transition weights.
    #[must_use]
    pub fn transition_matrix(&self) -> ArrayView2<'_, f64> {
        let k = self.start.len();
        ArrayView2::from_shape((k, k), &self.transitions).expect("transitions are [K][K]")
    }
}
