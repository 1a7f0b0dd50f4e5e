//! The weights of label pairs, first labels and last labels.

use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// Transition and boundary weights, unpadded: the parameters that no attribute conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelWeights {
    /// Transition weights, `[K][K]`, from row to column.
    pub transitions: Vec<f64>,
    /// Weights of the first label, `[K]`.
    pub start: Vec<f64>,
    /// Weights of the last label, `[K]`.
    pub end: Vec<f64>,
}

impl LabelWeights {
    /// The transition weights as a matrix, `[K][K]`, from row to column.
    ///
    /// # Panics
    ///
    /// If there are not K² of them for K start weights.
    #[must_use]
    pub fn transition_matrix(&self) -> ArrayView2<'_, f64> {
        let k = self.start.len();
        ArrayView2::from_shape((k, k), &self.transitions).expect("transitions are [K][K]")
    }
}
