//! What an evaluation counts: true positives with precision, recall and F1; confusions; and the
//! accuracies of columns that labels join.

use serde::Serialize;

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
        let sum = precision + recall;
        let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
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

/// Accuracy of one of the columns that labels join.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnReport {
    /// The name of the column.
    pub column: String,
    /// Fraction of tokens with the correct value in this column.
    pub accuracy: f64,
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
