//! The amounts of noise on the attributes of a block.

use super::layout::{Layout, Place};
use dropchain::score::FeatureBlock;

/// The amounts of noise on the attributes of a block: rates or variances.
#[derive(Clone, Debug, Default)]
pub(super) struct AttributeRates {
    uniform: f64,
    rows: Vec<f64>,    // [rows], or empty
    columns: Vec<f64>, // [columns], or empty
}

impl AttributeRates {
    /// Creates the same amount for all attributes or, if there are some, amounts for each column.
    pub fn new(block: &FeatureBlock, uniform: f64, columns: Option<&[f64]>) -> Self {
        let Some(columns) = columns else {
            return Self {
                uniform,
                ..Self::default()
            };
        };
        let places = Layout::places(block).into_iter().zip(columns);
        let rows = places.filter_map(|(place, &amount)| match place {
            Place::Row(_) => Some(amount),
            Place::Singles(_) => None,
        });
        Self {
            uniform,
            rows: rows.collect(),
            columns: columns.to_vec(),
        }
    }

    /// Converts the amounts.
    #[must_use]
    pub fn map(mut self, convert: impl Fn(f64) -> f64) -> Self {
        self.uniform = convert(self.uniform);
        for amount in self.rows.iter_mut().chain(&mut self.columns) {
            *amount = convert(*amount);
        }
        self
    }

    /// Returns the amount of the attributes with a row of weights.
    #[inline(always)]
    pub fn row(&self, row: u32) -> f64 {
        if self.columns.is_empty() {
            self.uniform
        } else {
            self.rows[row as usize]
        }
    }

    /// Returns the amount of the attributes of a column.
    #[inline(always)]
    pub fn column(&self, column: u32) -> f64 {
        if self.columns.is_empty() {
            self.uniform
        } else {
            self.columns[column as usize]
        }
    }
}
