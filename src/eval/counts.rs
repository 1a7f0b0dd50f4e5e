//! What an evaluation counts: true positives with precision, recall and F1; the confusion matrix;
//! and the correct values of columns that labels join.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::sentence::split_label;

/// Numbers of spans (or of tokens with a label).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// True positives: in both gold and predicted, with the same tokens and type.
    pub correct: u64,
    /// In gold (the support).
    pub gold: u64,
    /// Predicted.
    pub predicted: u64,
}

/// Precision, recall and F1; 0 if the denominator is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// correct / predicted.
    pub precision: f64,
    /// correct / gold.
    pub recall: f64,
    /// Harmonic mean of the two; conlleval calls it FB1.
    pub f1: f64,
}

impl Counts {
    /// The metrics as fractions in 0..=1.
    pub fn metrics(self) -> Metrics {
        self.scaled(1.0)
    }

    /// The metrics in percent, in conlleval's arithmetic, so that they are rounded identically.
    pub fn percentages(self) -> Metrics {
        self.scaled(100.0)
    }

    fn scaled(self, one: f64) -> Metrics {
        let precision = ratio(one, self.correct, self.predicted);
        let recall = ratio(one, self.correct, self.gold);
        let f1 = if precision + recall > 0.0 {
            2.0 * precision * recall / (precision + recall)
        } else {
            0.0
        };
        Metrics { precision, recall, f1 }
    }
}

/// `one`·part/whole; 0 if `whole` is 0.
pub fn ratio(one: f64, part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { one * part as f64 / whole as f64 }
}

/// The standard error of a proportion of n spans or tokens; `None` if n is 0. It is too small as
/// far as they depend on one another.
pub fn standard_error(proportion: f64, n: usize) -> Option<f64> {
    (n > 0).then(|| (proportion * (1.0 - proportion) / n as f64).max(0.0).sqrt())
}

/// A gold label and the wrong label predicted for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion<'a> {
    /// The gold label.
    pub gold: &'a str,
    /// The predicted label.
    pub predicted: &'a str,
    /// Number of tokens.
    pub count: u64,
}

/// Token counts by gold and predicted label.
///
/// Ordered maps make the order of all lists deterministic.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfusionMatrix {
    counts: BTreeMap<String, BTreeMap<String, u64>>, // gold, then predicted
}

impl ConfusionMatrix {
    /// Counts a token; allocates only for a new pair of labels.
    pub fn add(&mut self, gold: &str, predicted: &str) {
        let known = self.counts.get_mut(gold).and_then(|row| row.get_mut(predicted));
        if let Some(count) = known {
            *count += 1;
        } else {
            let row = self.counts.entry(gold.to_owned()).or_default();
            row.insert(predicted.to_owned(), 1);
        }
    }

    fn iter(&self) -> impl Iterator<Item = Confusion<'_>> {
        self.counts.iter().flat_map(|(gold, row)| {
            row.iter().map(|(predicted, &count)| Confusion { gold, predicted, count })
        })
    }

    /// Token counts per label, labels in bytewise order.
    pub fn labels(&self) -> Vec<(&str, Counts)> {
        let mut labels: BTreeMap<&str, Counts> = BTreeMap::new();
        for pair in self.iter() {
            labels.entry(pair.gold).or_default().gold += pair.count;
            let counts = labels.entry(pair.predicted).or_default();
            counts.predicted += pair.count;
            if pair.gold == pair.predicted {
                counts.correct += pair.count;
            }
        }
        labels.into_iter().collect()
    }

    /// The `limit` most frequent pairs of different labels.
    pub fn most_frequent(&self, limit: usize) -> Vec<Confusion<'_>> {
        let mut pairs: Vec<_> = self.iter().filter(|c| c.gold != c.predicted).collect();
        pairs.sort_by_key(|c| Reverse(c.count)); // stable: ties keep bytewise order
        pairs.truncate(limit);
        pairs
    }
}

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
        Self { names: names.to_vec(), correct: vec![0; names.len()] }
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
        self.names.iter().map(String::as_str).zip(self.correct.iter().copied())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_fractions_or_percentages() {
        let counts = Counts { correct: 1, gold: 2, predicted: 4 };
        let metrics = counts.metrics();
        assert_eq!((metrics.precision, metrics.recall), (0.25, 0.5));
        assert_eq!(metrics.f1, 2.0 * 0.125 / 0.75);
        assert_eq!(counts.percentages().precision, 25.0);
    }

    #[test]
    fn metrics_with_a_zero_denominator_are_zero() {
        assert_eq!(Counts::default().metrics(), Metrics::default());
        let nothing_correct = Counts { gold: 3, ..Counts::default() };
        assert_eq!(nothing_correct.metrics(), Metrics::default());
    }
}
