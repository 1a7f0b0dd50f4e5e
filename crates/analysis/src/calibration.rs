//! Calibration: whether predictions with probability p are correct in a fraction p of the cases.

use serde::Serialize;

/// Number of bins.
const BINS: usize = 10;

/// Counts correct predictions by their probability, in ten bins of equal width.
///
/// ```
/// use dropchain_analysis::Calibration;
///
/// let mut calibration = Calibration::default();
/// calibration.add(0.92, true);
/// calibration.add(0.98, false);
/// // Both are in the last bin: 0.95 on average, and half of them are correct.
/// assert!((calibration.expected_error() - 0.45).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    bins: [Sums; BINS],
    squared_error: f64,
}

/// The predictions of a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    count: u64,
    correct: u64,
    confidence: f64,
}

/// The predictions whose probability is in `low..high`, of the last bin in `low..=1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// The lowest probability.
    pub low: f64,
    /// The lowest probability of the next bin.
    pub high: f64,
    /// Number of predictions.
    pub count: u64,
    /// Mean probability of the predictions; 0 if there are none.
    pub confidence: f64,
    /// The fraction of them that is correct; 0 without predictions.
    pub accuracy: f64,
}

impl Calibration {
    /// Adds a prediction. A probability outside 0..=1 counts as the nearest one, NaN as 0.
    pub fn add(&mut self, confidence: f64, is_correct: bool) {
        let confidence = if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) };
        let bin = (confidence * BINS as f64) as usize;
        let bin = &mut self.bins[bin.min(BINS - 1)];
        bin.count += 1;
        bin.correct += u64::from(is_correct);
        bin.confidence += confidence;
        let error = confidence - f64::from(u8::from(is_correct));
        self.squared_error += error * error;
    }

    /// Number of predictions.
    pub fn count(&self) -> u64 {
        self.bins.iter().map(|bin| bin.count).sum()
    }

    /// The bins, those without predictions included.
    pub fn bins(&self) -> Vec<CalibrationBin> {
        let width = 1.0 / BINS as f64;
        let bins = self.bins.iter().enumerate();
        bins.map(|(i, bin)| CalibrationBin {
            low: i as f64 * width,
            high: (i + 1) as f64 * width,
            count: bin.count,
            confidence: bin.confidence / bin.count.max(1) as f64,
            accuracy: bin.correct as f64 / bin.count.max(1) as f64,
        })
        .collect()
    }

    /// The expected calibration error (ECE): how far accuracy and mean probability of a bin are
    /// apart, weighted by its number of predictions. 0 without predictions.
    pub fn expected_error(&self) -> f64 {
        let gaps = self.bins.iter().map(|bin| (bin.correct as f64 - bin.confidence).abs());
        gaps.sum::<f64>() / self.count().max(1) as f64
    }

    /// The Brier score of being correct: the mean squared difference between the probability of a
    /// prediction and whether it is correct. Other labels do not count. 0 without predictions.
    pub fn top_label_brier_score(&self) -> f64 {
        self.squared_error / self.count().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn errors_are_those_computed_by_hand() {
        let mut calibration = Calibration::default();
        for (confidence, is_correct) in [(0.98, true), (0.9, false), (0.3, true), (0.1, false)] {
            calibration.add(confidence, is_correct);
        }
        // Bins: |1 − 1.88| + |1 − 0.3| + |0 − 0.1| = 1.68, over 4 predictions.
        assert!(near(calibration.expected_error(), 1.68 / 4.0));
        // 0.0004 + 0.81 + 0.49 + 0.01 = 1.3104.
        assert!(near(calibration.top_label_brier_score(), 1.3104 / 4.0));
        let bins = calibration.bins();
        let counts: Vec<u64> = bins.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [0, 1, 0, 1, 0, 0, 0, 0, 0, 2]);
        assert!(near(bins[9].confidence, 0.94) && near(bins[9].accuracy, 0.5));
        assert!(near(bins[9].low, 0.9) && near(bins[9].high, 1.0));
        assert_eq!((bins[2].confidence, bins[2].accuracy), (0.0, 0.0));
    }

    #[test]
    fn probabilities_at_the_ends_and_beyond_are_in_the_outer_bins() {
        let mut calibration = Calibration::default();
        for confidence in [1.0, 1.5, 0.0, -1.0, f64::NAN] {
            calibration.add(confidence, true);
        }
        let bins = calibration.bins();
        assert_eq!((bins[9].count, bins[0].count), (2, 3));
        assert!(near(bins[9].confidence, 1.0));
    }

    #[test]
    fn nothing_is_perfectly_calibrated() {
        let nothing = Calibration::default();
        assert_eq!((nothing.expected_error(), nothing.top_label_brier_score()), (0.0, 0.0));
        assert_eq!(nothing.count(), 0);
    }
}
