//! Counts of correct, gold and predicted, and the scores made of them.

/// How many spans (or labels) there were, and how many were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Predicted as in gold: the same tokens, the same type.
    pub correct: u64,
    /// In gold: the support.
    pub gold: u64,
    /// Predicted.
    pub predicted: u64,
}

/// Precision, recall and their harmonic mean; 0 where there is nothing to divide by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Correct among the predicted.
    pub precision: f64,
    /// Correct among the gold.
    pub recall: f64,
    /// F1, which conlleval calls FB1.
    pub f1: f64,
}

impl Counts {
    /// Scores as fractions, in 0..=1.
    #[must_use]
    pub fn metrics(self) -> Metrics {
        self.scaled(1.0)
    }

    /// Scores in percent, by conlleval's arithmetic, so that they round as its do.
    #[must_use]
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
        Metrics {
            precision,
            recall,
            f1,
        }
    }
}

/// `one`·part/whole; 0 of nothing.
pub(super) fn ratio(one: f64, part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        one * part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_fractions_and_percentages() {
        let counts = Counts {
            correct: 1,
            gold: 2,
            predicted: 4,
        };
        let scores = counts.metrics();
        assert_eq!((scores.precision, scores.recall), (0.25, 0.5));
        assert_eq!(scores.f1, 2.0 * 0.125 / 0.75);
        assert_eq!(counts.percentages().precision, 25.0);
    }

    #[test]
    fn of_nothing_every_score_is_zero() {
        assert_eq!(Counts::default().metrics(), Metrics::default());
        let nothing_found = Counts {
            gold: 3,
            ..Counts::default()
        };
        assert_eq!(nothing_found.metrics(), Metrics::default());
    }
}
