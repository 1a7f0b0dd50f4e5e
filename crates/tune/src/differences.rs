//! The difference between the scores of two configurations, fold by fold.

use serde::Serialize;

use super::statistics::{mean, paired_p_value, standard_deviation};
use super::trial::Trial;

/// The difference between the scores of two configurations over the folds: the first minus the
/// second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoldDifference {
    /// Number of the first configuration.
    pub first: usize,
    /// Number of the second configuration.
    pub second: usize,
    /// The difference of their scores on each fold.
    pub fold_differences: Vec<f64>,
    /// The mean of the differences.
    pub mean: f64,
    /// The standard deviation of the differences.
    pub standard_deviation: f64,
    /// The number of folds on which the first is ahead.
    pub ahead: usize,
    /// The two-sided p-value of a paired t-test over the folds, corrected for training data that
    /// overlap.
    pub p_value: f64,
}

/// The differences that a search with folds reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FoldDifferences {
    /// The lead of the best configuration over the second best, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<FoldDifference>,
    /// The gain of noise: the best configuration with it, minus the best without, if there are
    /// both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_gain: Option<FoldDifference>,
}

impl FoldDifferences {
    /// Compares configurations, sorted, the best first; none of them without folds.
    pub(super) fn new(trials: &[Trial]) -> Self {
        let best = |has_noise: bool| {
            let mut all = trials.iter().filter(|t| t.configuration.has_noise() == has_noise);
            all.find(|trial| trial.folds().is_some())
        };
        let pair = |(first, second)| FoldDifference::new(first, second);
        let runner_up = trials.first().zip(trials.get(1)).and_then(pair);
        Self { runner_up, noise_gain: best(true).zip(best(false)).and_then(pair) }
    }
}

impl FoldDifference {
    pub(super) fn new(first: &Trial, second: &Trial) -> Option<Self> {
        let pairs = first.folds()?.fold_scores.iter().zip(&second.folds()?.fold_scores);
        let differences: Vec<f64> = pairs.map(|(first, second)| first - second).collect();
        Some(Self {
            first: first.number,
            second: second.number,
            mean: mean(&differences),
            standard_deviation: standard_deviation(&differences),
            ahead: differences.iter().filter(|&&d| d > 0.0).count(),
            p_value: paired_p_value(&differences),
            fold_differences: differences,
        })
    }
}
