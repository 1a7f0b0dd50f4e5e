//! The result of trying a configuration.

use std::cmp::Ordering;

use serde::Serialize;

use super::fold_history::FoldHistory;
use super::space::Configuration;
use super::statistics::{mean, standard_deviation, standard_error};
use dropchain::train::{DevScore, EndReason, RecentScores};

/// The result of trying a configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialResult {
    /// Number of the configuration in the search, from 1.
    pub number: usize,
    /// The configuration.
    #[serde(flatten)]
    pub configuration: Configuration,
    /// Number of rungs that it took part in.
    #[serde(skip)]
    pub rungs: usize,
    /// Its score; `None` if a fold has none.
    #[serde(flatten)]
    pub score: Option<DevScore>,
    /// With folds: the standard error of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// With folds: the standard deviation of their scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_deviation: Option<f64>,
    /// With folds: the score on each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fold_scores: Vec<f64>,
    /// The iteration of the score, counting the warm-up.
    pub best_iteration: usize,
    /// Number of iterations; with folds, the maximum.
    pub iterations: usize,
    /// The recall bias with which the score was reached; with folds, the mean.
    pub recall_bias: f64,
    /// With L1: the number of attributes with a nonzero weight at the iteration of the score; with
    /// folds, the mean, rounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_attributes: Option<usize>,
    /// The objective after the last iteration; with folds, the mean.
    pub objective: Option<f64>,
    /// Why training on the first fold ended, if it has ended on all folds.
    #[serde(skip)]
    pub reason: Option<EndReason>,
    /// The iteration of the score, as counted by [`FoldHistory`].
    #[serde(skip)]
    pub(super) counted_best: usize,
}

impl TrialResult {
    /// Summarizes the histories of a configuration on each fold.
    pub(super) fn new(
        number: usize,
        configuration: Configuration,
        histories: &[FoldHistory],
        has_folds: bool,
    ) -> Self {
        let warm_up = histories.first().map_or(0, |history| history.warm_up);
        let best = best(histories);
        let counted = best.as_ref().map_or(0, |best| best.0);
        let at_best = histories.iter().filter_map(|history| history.after(counted));
        let (scores, biases): (Vec<DevScore>, Vec<f64>) = at_best.unzip();
        let values: Vec<f64> = scores.iter().map(|score| score.value()).collect();
        let objectives: Option<Vec<f64>> =
            histories.iter().map(|history| history.objective).collect();
        let active: Option<Vec<f64>> = (histories.iter())
            .map(|history| history.active_after(counted).map(|count| count as f64))
            .collect();
        let ended = histories.iter().all(|history| history.reason.is_some());
        Self {
            number,
            configuration,
            rungs: 0,
            score: best.map(|(_, score)| score),
            standard_error: (has_folds && best.is_some()).then(|| standard_error(&values)),
            standard_deviation: (has_folds && best.is_some()).then(|| standard_deviation(&values)),
            fold_scores: if has_folds { values } else { Vec::new() },
            best_iteration: if counted > 0 { counted + warm_up } else { 0 },
            iterations: warm_up + histories.iter().map(|history| history.done).max().unwrap_or(0),
            recall_bias: mean(&biases),
            active_attributes: active.map(|counts| mean(&counts).round() as usize),
            objective: objectives.map(|objectives| mean(&objectives)),
            reason: histories.first().and_then(|c| c.reason).filter(|_| ended),
            counted_best: counted,
        }
    }

    /// Compares two results, the better one first: by score, then by strength of regularization
    /// ([`Configuration::compare_strength`]).
    pub fn compare(&self, other: &Self) -> Ordering {
        let value = |trial: &Self| trial.score.map_or(f64::NEG_INFINITY, DevScore::value);
        value(other)
            .total_cmp(&value(self))
            .then_with(|| self.configuration.compare_strength(&other.configuration))
            .then(self.number.cmp(&other.number))
    }
}

/// Returns the iteration that is best by the mean score over the folds, averaged with the
/// iterations before it as in training (the first among ties), and its mean score over the folds.
fn best(histories: &[FoldHistory]) -> Option<(usize, DevScore)> {
    let last = histories.iter().map(|history| history.scores.len()).max()?;
    let mut best: Option<(usize, DevScore, f64)> = None;
    let mut recent = RecentScores::default();
    for iteration in 1..=last {
        let scores: Option<Vec<DevScore>> = (histories.iter())
            .map(|history| history.after(iteration).map(|(score, _)| score))
            .collect();
        let scores = scores?;
        let values: Vec<f64> = scores.iter().map(|score| score.value()).collect();
        let mean = match scores.first()? {
            DevScore::F1(_) => DevScore::F1(mean(&values)),
            DevScore::Accuracy(_) => DevScore::Accuracy(mean(&values)),
        };
        let smooth = recent.mean_with(mean);
        if best.is_none_or(|(_, _, best)| smooth > best) {
            best = Some((iteration, mean, smooth));
        }
    }
    best.map(|(iteration, mean, _)| (iteration, mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoiseGain;

    fn history(scores: &[f64]) -> FoldHistory {
        FoldHistory {
            scores: (scores.iter().zip(0..))
                .map(|(&score, i)| (DevScore::F1(score), f64::from(i)))
                .collect(),
            warm_up: 20,
            done: scores.len(),
            ..FoldHistory::default()
        }
    }

    fn configuration(dropout: f64, l2: f64) -> Configuration {
        Configuration {
            template: 0,
            dropout,
            edge_dropout: dropout,
            l2,
            l1: 0.0,
            unlabeled_weight: 0.2,
            warm_up: None,
            gradient: None,
        }
    }

    fn trial(
        number: usize,
        configuration: Configuration,
        histories: &[FoldHistory],
    ) -> TrialResult {
        TrialResult::new(number, configuration, histories, histories.len() > 1)
    }

    #[test]
    fn folds_are_compared_after_the_same_iteration() {
        // Each fold on its own would choose another iteration, with a mean of 0.85.
        let histories = [history(&[0.9, 0.6, 0.5]), history(&[0.1, 0.6, 0.8])];
        let result = trial(1, configuration(0.3, 0.1), &histories);
        assert_eq!(result.score, Some(DevScore::F1(0.65)));
        assert_eq!(result.best_iteration, 23);
        assert_eq!(result.fold_scores, [0.5, 0.8]);
        assert_eq!(result.recall_bias, 2.0);
        // The standard deviation of 0.5 and 0.8 is 0.3 / √2.
        assert!((result.standard_error.unwrap() - 0.15).abs() < 1e-12);
        assert!((result.standard_deviation.unwrap() - 0.3 / 2.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn what_noise_gains_is_compared_fold_by_fold() {
        let histories = |scores: [f64; 3]| scores.map(|score| history(&[score]));
        let with = trial(1, configuration(0.3, 0.1), &histories([0.75, 0.5, 0.5]));
        let worse = trial(2, configuration(0.5, 0.1), &histories([0.5, 0.5, 0.5]));
        let without = trial(3, configuration(0.0, 0.1), &histories([0.5, 0.5, 0.625]));
        let gain = NoiseGain::new(&[with.clone(), without, worse]).unwrap();
        assert_eq!((gain.with_noise, gain.without_noise, gain.ahead), (1, 3, 1));
        assert_eq!(gain.fold_differences, [0.25, 0.0, -0.125]);
        assert!((gain.mean - 0.125 / 3.0).abs() < 1e-15);
        assert_eq!(NoiseGain::new(std::slice::from_ref(&with)), None);
        let on_dev = |dropout| trial(4, configuration(dropout, 0.1), &[history(&[0.5])]);
        assert_eq!(NoiseGain::new(&[on_dev(0.3), on_dev(0.0)]), None);
    }

    #[test]
    fn a_fold_that_has_ended_counts_with_its_last_score() {
        let histories = [history(&[0.5, 0.7]), history(&[0.5, 0.5, 0.5, 0.9])];
        let result = trial(1, configuration(0.3, 0.1), &histories);
        assert_eq!((result.counted_best, result.fold_scores), (4, vec![0.7, 0.9]));
    }

    #[test]
    fn a_configuration_without_a_score_on_every_fold_has_none() {
        let histories = [history(&[0.5]), history(&[])];
        let none = trial(1, configuration(0.3, 0.1), &histories);
        assert_eq!((none.score, none.best_iteration), (None, 0));
        let some = trial(2, configuration(0.0, 0.0), &[history(&[0.0])]);
        assert_eq!(some.compare(&none), Ordering::Less);
    }

    #[test]
    fn ties_go_to_the_stronger_regularization() {
        let weak = trial(1, configuration(0.3, 0.1), &[history(&[0.5])]);
        let noisy = trial(2, configuration(0.5, 0.1), &[history(&[0.5])]);
        let strong = trial(3, configuration(0.3, 1.0), &[history(&[0.5])]);
        let better = trial(4, configuration(0.0, 0.0), &[history(&[0.6])]);
        let mut all = [&weak, &noisy, &strong, &better];
        all.sort_by(|a, b| a.compare(b));
        assert_eq!(all.map(|trial| trial.number), [4, 2, 3, 1]);
    }
}
