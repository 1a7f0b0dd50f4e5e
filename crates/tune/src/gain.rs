//! The gain of noise, fold by fold.

use serde::Serialize;

use super::statistics::{mean, paired_p_value, standard_deviation};
use super::trial::Trial;

/// The difference over the folds between the best configuration with noise and the best without.
///
/// Both are the best of those searched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoiseGain {
    /// Number of the best configuration with noise.
    pub with_noise: usize,
    /// Number of the best configuration without noise.
    pub without_noise: usize,
    /// The difference of their scores on each fold.
    pub fold_differences: Vec<f64>,
    /// The mean of the differences.
    pub mean: f64,
    /// The standard deviation of the differences.
    pub standard_deviation: f64,
    /// The number of folds on which noise is ahead.
    pub ahead: usize,
    /// The two-sided p-value of a paired t-test over the folds, corrected for training data that
    /// overlap.
    pub p_value: f64,
}

impl NoiseGain {
    /// Compares the best configuration with noise to the best without; `None` if one of them is
    /// missing or there are no folds. `trials` is sorted, the best first.
    pub(super) fn new(trials: &[Trial]) -> Option<Self> {
        let best = |has_noise: bool| {
            let mut all = trials.iter().filter(|t| t.configuration.has_noise() == has_noise);
            all.find_map(|trial| Some((trial.number, &trial.folds()?.fold_scores)))
        };
        let ((with_noise, with), (without_noise, without)) = (best(true)?, best(false)?);
        let pairs = with.iter().zip(without);
        let differences: Vec<f64> = pairs.map(|(with, without)| with - without).collect();
        Some(Self {
            with_noise,
            without_noise,
            mean: mean(&differences),
            standard_deviation: standard_deviation(&differences),
            ahead: differences.iter().filter(|&&d| d > 0.0).count(),
            p_value: paired_p_value(&differences),
            fold_differences: differences,
        })
    }
}
