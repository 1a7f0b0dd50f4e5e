//! Noise rates of single attributes.

use std::sync::Arc;

use super::targets::Targets;

/// The rate ρ_j of the noise on each column of a design matrix.
#[derive(Clone, Debug)]
pub struct ColumnRates {
    columns: Arc<[f64]>, // [columns]
    weights: Arc<[f64]>, // rate of the column of each weight, if there are sparse columns
}

impl ColumnRates {
    /// Sets the rate of each column, `[columns]`.
    #[must_use]
    pub fn new(rates: Vec<f64>, targets: &Targets) -> Self {
        let mut weights = Vec::new();
        if targets.is_observed() {
            weights.reserve_exact(targets.weights());
            for (column, &rate) in rates.iter().enumerate() {
                weights.resize(targets.range(column).end, rate);
            }
        }
        Self {
            columns: rates.into(),
            weights: weights.into(),
        }
    }

    /// Returns the rate of a column.
    #[inline(always)]
    pub fn column(&self, column: usize) -> f64 {
        self.columns[column]
    }

    /// Returns the rate of the column of a weight; only if there are sparse columns.
    #[inline(always)]
    pub(super) fn weight(&self, weight: usize) -> f64 {
        self.weights[weight]
    }
}
