//! Scores of a regression: errors of predicted numbers, with intervals.

use serde::Serialize;

use dropchain::random::uniform;

/// Number of resamples of the bootstrap.
const SAMPLES: u64 = 1000;

/// The bounds of a 95 % interval, as positions in sorted resamples.
const INTERVAL: [usize; 2] = [
    (SAMPLES as usize * 25) / 1000,
    (SAMPLES as usize * 975) / 1000 - 1,
];

/// Collects predicted numbers.
///
/// ```
/// use dropchain_documents::NumberEvaluation;
///
/// let mut evaluation = NumberEvaluation::default();
/// for (gold, predicted) in [(1.0, 2.0), (2.0, 2.0), (6.0, 5.0)] {
///     evaluation.add(gold, predicted);
/// }
/// let report = evaluation.report(1);
/// assert!((report.mae - 2.0 / 3.0).abs() < 1e-12);
/// assert!((report.r2 - (1.0 - 2.0 / 14.0)).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, Default)]
pub struct NumberEvaluation {
    pairs: Vec<[f64; 2]>, // gold and predicted number of each document
}

/// The scores of a regression. Intervals are 95 % percentile intervals of a bootstrap over
/// documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberReport {
    /// Number of documents.
    pub documents: u64,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// Its interval.
    pub rmse_interval: [f64; 2],
    /// The mean absolute error.
    pub mae: f64,
    /// Its interval.
    pub mae_interval: [f64; 2],
    /// The coefficient of determination, 1 − Σ(y − predicted)² / Σ(y − mean of y)²; 0 if all y are
    /// equal.
    pub r2: f64,
    /// Its interval.
    pub r2_interval: [f64; 2],
    /// The mean Poisson deviance, 2·(y·ln(y/predicted) − y + predicted), if no y is negative and
    /// all predictions are above 0.
    pub poisson_deviance: Option<f64>,
}

impl NumberEvaluation {
    /// Adds a document: its number, and the predicted one.
    pub fn add(&mut self, gold: f64, predicted: f64) {
        self.pairs.push([gold, predicted]);
    }

    /// Returns the scores; `seed` is that of the bootstrap. Those of no documents are 0.
    #[must_use]
    pub fn report(&self, seed: u64) -> NumberReport {
        let [rmse, mae, r2] = scores(self.pairs.iter().copied());
        let [rmse_interval, mae_interval, r2_interval] = self.intervals(seed);
        let has_deviance = self.pairs.iter().all(|[y, p]| *y >= 0.0 && *p > 0.0);
        let deviances = self.pairs.iter().map(|&[y, p]| {
            let logarithm = if y > 0.0 { y * (y / p).ln() } else { 0.0 };
            2.0 * (logarithm - y + p)
        });
        let mean = deviances.sum::<f64>() / self.pairs.len() as f64;
        NumberReport {
            documents: self.pairs.len() as u64,
            rmse,
            rmse_interval,
            mae,
            mae_interval,
            r2,
            r2_interval,
            poisson_deviance: (has_deviance && !self.pairs.is_empty()).then_some(mean),
        }
    }

    fn intervals(&self, seed: u64) -> [[f64; 2]; 3] {
        let n = self.pairs.len();
        if n == 0 {
            return [[0.0; 2]; 3];
        }
        let mut samples = [Vec::new(), Vec::new(), Vec::new()];
        for sample in 0..SAMPLES {
            let drawn = (0..n as u64).map(|i| {
                let position = (1.0 - uniform(seed, sample * n as u64 + i)) * n as f64;
                self.pairs[(position as usize).min(n - 1)]
            });
            for (sample, score) in samples.iter_mut().zip(scores(drawn)) {
                sample.push(score);
            }
        }
        samples.map(|mut sample| {
            sample.sort_by(f64::total_cmp);
            INTERVAL.map(|position| sample[position])
        })
    }
}

/// Returns RMSE, MAE and R² of pairs of gold and predicted numbers.
fn scores(pairs: impl Iterator<Item = [f64; 2]> + Clone) -> [f64; 3] {
    let count = pairs.clone().count() as f64;
    if count == 0.0 {
        return [0.0; 3];
    }
    let mean = pairs.clone().map(|[y, _]| y / count).sum::<f64>();
    let (mut squares, mut absolute, mut total) = (0.0, 0.0, 0.0);
    for [y, predicted] in pairs {
        squares += (y - predicted) * (y - predicted);
        absolute += (y - predicted).abs();
        total += (y - mean) * (y - mean);
    }
    let r2 = if total > 0.0 {
        1.0 - squares / total
    } else {
        0.0
    };
    [(squares / count).sqrt(), absolute / count, r2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_definitions() {
        let mut evaluation = NumberEvaluation::default();
        for i in 0..200 {
            let y = f64::from(i % 10);
            evaluation.add(y, y + if i % 2 == 0 { 1.0 } else { -0.5 });
        }
        let report = evaluation.report(1);
        assert!((report.rmse - 0.625_f64.sqrt()).abs() < 1e-12);
        assert!((report.mae - 0.75).abs() < 1e-12);
        assert!((report.r2 - (1.0 - 0.625 / 8.25)).abs() < 1e-12);
        for (score, [low, high]) in [
            (report.rmse, report.rmse_interval),
            (report.mae, report.mae_interval),
            (report.r2, report.r2_interval),
        ] {
            assert!(
                low < score && score < high && high - low < 0.1,
                "{low} {score} {high}"
            );
        }
        assert_eq!(report, evaluation.report(1));
        assert_ne!(report, evaluation.report(2));
    }

    #[test]
    fn deviances_are_of_counts_alone() {
        let deviance = |pairs: &[[f64; 2]]| {
            let mut evaluation = NumberEvaluation::default();
            pairs.iter().for_each(|&[y, p]| evaluation.add(y, p));
            evaluation.report(1).poisson_deviance
        };
        let found = deviance(&[[0.0, 1.0], [2.0, 1.0]]).unwrap();
        assert!((found - (1.0 + 2.0 * 2.0_f64.ln() - 1.0)).abs() < 1e-12);
        assert_eq!(deviance(&[[-1.0, 1.0]]), None);
        assert_eq!(deviance(&[[1.0, 0.0]]), None);
        assert_eq!(deviance(&[]), None);
    }
}
