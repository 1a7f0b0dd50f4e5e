//! Node marginals of a sentence as a matrix.

use std::ops::Index;
use std::slice::ChunksExact;

/// The probabilities p(label | sentence) of the K labels at each of T tokens.
///
/// Indexed by token and label: `marginals[[t, label]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marginals {
    values: Vec<f64>, // [T][K]
    labels: usize,
}

impl Marginals {
    /// Takes the probabilities `[T][K]`, row by row, of K ≥ 1 labels.
    pub fn new(values: Vec<f64>, labels: usize) -> Self {
        Self { values, labels }
    }

    /// Returns the probabilities `[K]` of each token.
    pub fn rows(&self) -> ChunksExact<'_, f64> {
        self.values.chunks_exact(self.labels.max(1))
    }

    /// Returns the probabilities `[K]` of token `t`.
    ///
    /// # Panics
    ///
    /// If there is no such token.
    pub fn row(&self, t: usize) -> &[f64] {
        &self.values[t * self.labels..(t + 1) * self.labels]
    }

    /// Returns all probabilities, row by row, `[T][K]`.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Turns the matrix into its probabilities, row by row, `[T][K]`.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }
}

impl Index<[usize; 2]> for Marginals {
    type Output = f64;

    fn index(&self, [t, label]: [usize; 2]) -> &f64 {
        &self.row(t)[label]
    }
}
