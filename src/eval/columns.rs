//! Accuracy of each of the columns that labels join.

use serde::Serialize;

use super::metrics::ratio;
use crate::sentence::split_label;

/// Accuracy of one of the columns that labels join.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnReport {
    /// The name of the column.
    pub column: String,
    /// Fraction of tokens with the correct value in this column.
    pub accuracy: f64,
}

/// Counts the correct values of each column.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnCounts {
    names: Vec<String>, // [n]
    correct: Vec<u64>,  // [n]
}

impl ColumnCounts {
    pub fn new(names: &[String]) -> Self {
        Self {
            names: names.to_vec(),
            correct: vec![0; names.len()],
        }
    }

    /// Returns whether labels join no columns.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Counts a token. A label that is not joined has no value in any column.
    pub fn add(&mut self, gold: &str, predicted: &str) {
        let parts = self.names.len();
        if gold == predicted {
            self.correct.iter_mut().for_each(|correct| *correct += 1);
        } else if let (Some(gold), Some(predicted)) =
            (split_label(gold, parts), split_label(predicted, parts))
        {
            for (correct, (gold, predicted)) in
                self.correct.iter_mut().zip(gold.into_iter().zip(predicted))
            {
                *correct += u64::from(gold == predicted);
            }
        }
    }

    /// Returns the names and the number of correct values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.names.iter().map(String::as_str);
        names.zip(self.correct.iter().copied())
    }

    /// Returns the accuracies of `tokens` tokens; `None` without columns.
    pub fn report(&self, tokens: u64) -> Option<Vec<ColumnReport>> {
        let report = |(name, correct): (&str, u64)| ColumnReport {
            column: name.to_owned(),
            accuracy: ratio(1.0, correct, tokens),
        };
        (!self.is_empty()).then(|| self.iter().map(report).collect())
    }
}
