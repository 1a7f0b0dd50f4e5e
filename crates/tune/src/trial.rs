//! The result of trying a configuration.

use std::cmp::Ordering;

use serde::Serialize;

use super::run::{Course, Score};
use super::space::Configuration;
use super::statistics::{mean, standard_deviation, standard_error};
use dropchain::kernel::train::{MeanChoice, MeanScore};
use dropchain::train::DevScore;

/// A configuration that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// Number of the configuration in the search, from 1.
    pub number: usize,
    /// The configuration.
    #[serde(flatten)]
    pub configuration: Configuration,
    /// Score of the configuration; `None` if some run has none, because it was interrupted or made
    /// no iteration.
    #[serde(flatten)]
    pub score: Option<TrialScore>,
    /// Number of iterations; with folds, the maximum.
    pub iterations: usize,
    /// The objective after the last iteration; with folds, the mean.
    pub objective: Option<f64>,
    /// Why training ended, with folds on the first.
    pub stop_reason: &'static str,
}

/// The score of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialScore {
    /// The score on development data, or the mean over the folds.
    #[serde(flatten)]
    pub score: DevScore,
    /// The scores on the folds, if there are any.
    #[serde(flatten)]
    pub folds: Option<FoldScores>,
    /// The mean of this score and of those of up to four iterations before it, by which the
    /// iteration was chosen.
    pub dev_mean: f64,
    /// The iteration of the score, counting the warm-up.
    pub best_iteration: usize,
    /// The recall bias with which the score was reached; with folds, the mean.
    pub recall_bias: f64,
    /// With L1: the number of weights that are not 0 then; with folds, the mean, rounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonzero_weights: Option<usize>,
}

/// The scores of a configuration on the folds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoldScores {
    /// The standard error of their mean.
    pub standard_error: f64,
    /// Standard deviation of the scores.
    pub standard_deviation: f64,
    /// The scores.
    pub fold_scores: Vec<f64>,
}

impl Trial {
    /// Summarizes the runs of a configuration: one on development data, or those on all folds;
    /// fewer if they were interrupted.
    pub(super) fn new(
        index: usize,
        configuration: Configuration,
        courses: &[Course],
        folds: Option<usize>,
    ) -> Self {
        let courses = if courses.len() == folds.unwrap_or(1) { courses } else { &[] };
        let is_scored = courses.iter().all(|course| course.end.iterations > 0);
        let score = match courses {
            [course] if folds.is_none() => on_dev(course),
            _ => over_folds(courses),
        };
        let score = score.filter(|_| is_scored).map(|score| {
            let nonzero_weights = score.nonzero_weights.filter(|_| configuration.has_l1());
            TrialScore { nonzero_weights, ..score }
        });
        let objectives: Option<Vec<f64>> = courses.iter().map(|course| course.objective).collect();
        let objectives = objectives.filter(|all| !all.is_empty());
        Self {
            number: index + 1,
            configuration,
            score,
            iterations: courses.iter().map(|c| c.end.iterations).max().unwrap_or(0),
            objective: objectives.map(|objectives| mean(&objectives)),
            stop_reason: courses.first().map_or("interrupted", |course| course.end.reason.name()),
        }
    }

    /// Returns the value of the score, between 0 and 1.
    pub fn value(&self) -> Option<f64> {
        self.score.as_ref().map(|score| score.score.value())
    }

    /// Returns the scores on the folds.
    pub fn folds(&self) -> Option<&FoldScores> {
        self.score.as_ref()?.folds.as_ref()
    }

    /// Compares two results, the better one first: by score, then by strength of regularization
    /// ([`Configuration::compare_strength`]).
    pub fn compare(&self, other: &Self) -> Ordering {
        let value = |trial: &Self| trial.value().unwrap_or(f64::NEG_INFINITY);
        value(other)
            .total_cmp(&value(self))
            .then_with(|| self.configuration.compare_strength(&other.configuration))
            .then(self.number.cmp(&other.number))
    }
}

/// Returns the score of training on development data.
fn on_dev(course: &Course) -> Option<TrialScore> {
    let end = &course.end;
    let kept = course.score_after(end.best_iteration);
    Some(TrialScore {
        score: end.dev?,
        folds: None,
        dev_mean: end.dev_mean?,
        best_iteration: end.best_iteration,
        recall_bias: end.recall_bias,
        nonzero_weights: kept.map(|score| score.nonzero_weights),
    })
}

/// Returns the mean score over the folds after the iteration that training would choose by it.
fn over_folds(courses: &[Course]) -> Option<TrialScore> {
    let last = courses.iter().map(|course| course.scores.len()).max()?;
    let warm_up = courses.iter().map(|course| course.warm_up).max()?;
    let after = |iteration, number: fn(&Score) -> f64| -> Option<Vec<f64>> {
        courses.iter().map(|course| course.score_after(iteration).map(number)).collect()
    };
    let mut choice = MeanChoice::default();
    for iteration in 1..=last {
        if iteration == warm_up + 1 {
            choice.begin_stage();
        }
        choice.add(iteration, mean(&after(iteration, |score| score.value)?));
    }
    let MeanScore { iteration: best_iteration, mean: dev_mean } = choice.kept?;
    let values = after(best_iteration, |score| score.value)?;
    let weights = after(best_iteration, |score| score.nonzero_weights as f64)?;
    Some(TrialScore {
        score: match courses.first()?.end.dev? {
            DevScore::F1(_) => DevScore::F1(mean(&values)),
            DevScore::Accuracy(_) => DevScore::Accuracy(mean(&values)),
        },
        dev_mean,
        best_iteration,
        recall_bias: mean(&after(best_iteration, |score| score.recall_bias)?),
        nonzero_weights: Some(mean(&weights).round() as usize),
        folds: Some(FoldScores {
            standard_error: standard_error(&values),
            standard_deviation: standard_deviation(&values),
            fold_scores: values,
        }),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::FoldDifferences;
    use crate::tests::configuration;
    use dropchain::kernel::optim::StopReason;
    use dropchain::train::End;

    fn course(warm_up: usize, scores: &[f64]) -> Course {
        let number =
            |(i, &value): (usize, &f64)| Score { value, recall_bias: i as f64, nonzero_weights: 7 };
        Course {
            scores: scores.iter().enumerate().map(number).collect(),
            objective: Some(1.0),
            warm_up,
            end: End {
                reason: StopReason::Patience,
                iterations: scores.len(),
                warm_up,
                time: Duration::ZERO,
                best_iteration: 1,
                recall_bias: 0.0,
                regularization: String::new(),
                noise: None,
                dev: scores.first().copied().map(DevScore::F1),
                dev_mean: scores.first().copied(),
            },
        }
    }

    fn trial(number: usize, [dropout, l2]: [f64; 2], courses: &[Course]) -> Trial {
        let folds = (courses.len() > 1).then_some(courses.len());
        Trial::new(number - 1, configuration(dropout, l2), courses, folds)
    }

    #[test]
    fn folds_are_compared_after_the_same_iteration() {
        // Each fold on its own would choose another iteration, with a mean of 0.85.
        let courses = [course(1, &[0.6, 0.9, 0.6, 0.5]), course(1, &[0.2, 0.1, 0.6, 0.8])];
        let score = trial(1, [0.3, 0.1], &courses).score.unwrap();
        assert_eq!((score.score, score.best_iteration), (DevScore::F1(0.65), 4));
        assert_eq!(score.recall_bias, 3.0);
        let folds = score.folds.unwrap();
        assert_eq!(folds.fold_scores, [0.5, 0.8]);
        // The standard deviation of 0.5 and 0.8 is 0.3 / √2.
        assert!((folds.standard_error - 0.15).abs() < 1e-12);
        assert!((folds.standard_deviation - 0.3 / 2.0_f64.sqrt()).abs() < 1e-12);
        // Iterations before the noise compete.
        let courses = [course(1, &[0.7, 0.9, 0.6]), course(1, &[0.7, 0.1, 0.6])];
        let score = trial(1, [0.3, 0.1], &courses).score.unwrap();
        assert_eq!((score.score, score.best_iteration), (DevScore::F1(0.7), 1));
        // A fold that has ended counts with its last score.
        let courses = [course(0, &[0.5, 0.7]), course(0, &[0.5, 0.5, 0.5, 0.9])];
        let score = trial(1, [0.3, 0.1], &courses).score.unwrap();
        assert_eq!((score.best_iteration, score.folds.unwrap().fold_scores), (4, vec![0.7, 0.9]));
    }

    #[test]
    fn what_noise_gains_is_compared_fold_by_fold() {
        let noise_gain = |trials: &[Trial]| FoldDifferences::new(trials).noise_gain;
        let courses = |scores: [f64; 3]| scores.map(|score| course(0, &[score]));
        let with = trial(1, [0.3, 0.1], &courses([0.75, 0.5, 0.5]));
        let worse = trial(2, [0.5, 0.1], &courses([0.5, 0.5, 0.5]));
        let without = trial(3, [0.0, 0.1], &courses([0.5, 0.5, 0.625]));
        let gain = noise_gain(&[with.clone(), without, worse]).unwrap();
        assert_eq!((gain.first, gain.second, gain.ahead), (1, 3, 1));
        assert_eq!(gain.fold_differences, [0.25, 0.0, -0.125]);
        assert!((gain.mean - 0.125 / 3.0).abs() < 1e-15);
        assert_eq!(noise_gain(std::slice::from_ref(&with)), None);
        assert_eq!(FoldDifferences::new(std::slice::from_ref(&with)), FoldDifferences::default());
        let on_dev = |dropout| trial(4, [dropout, 0.1], &[course(0, &[0.5])]);
        assert_eq!(noise_gain(&[on_dev(0.3), on_dev(0.0)]), None);
    }

    #[test]
    fn a_configuration_without_a_score_on_every_fold_has_none() {
        let none = trial(1, [0.3, 0.1], &[course(0, &[0.5]), course(0, &[])]);
        assert_eq!(none.score, None);
        assert_eq!(Trial::new(0, configuration(0.3, 0.1), &[], Some(2)).score, None);
        assert_eq!(trial(2, [0.0, 0.0], &[course(0, &[0.0])]).compare(&none), Ordering::Less);
    }

    #[test]
    fn ties_go_to_the_stronger_regularization() {
        let trial = |number, values, score| trial(number, values, &[course(0, &[score])]);
        let weak = trial(1, [0.3, 0.1], 0.5);
        let noisy = trial(2, [0.5, 0.1], 0.5);
        let strong = trial(3, [0.3, 1.0], 0.5);
        let better = trial(4, [0.0, 0.0], 0.6);
        let mut all = [&weak, &noisy, &strong, &better];
        all.sort_by(|a, b| a.compare(b));
        assert_eq!(all.map(|trial| trial.number), [4, 2, 3, 1]);
    }
}
