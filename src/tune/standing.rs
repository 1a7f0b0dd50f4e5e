//! What a configuration is worth.

use std::cmp::Ordering;

use super::course::Course;
use super::space::Configuration;
use crate::train::{DevScore, EndReason};

/// What a configuration is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Its number, from 1, in the order of the search.
    pub number: usize,
    /// The configuration.
    pub configuration: Configuration,
    /// How many rungs it took part in.
    pub rungs: usize,
    /// Its score; none if it has not been scored on every fold.
    pub score: Option<DevScore>,
    /// With folds: the standard error of the score.
    pub standard_error: Option<f64>,
    /// With folds: the score of each.
    pub fold_scores: Vec<f64>,
    /// The iteration of the score, those without noise included.
    pub best_iteration: usize,
    /// Iterations made; with folds, the most.
    pub iterations: usize,
    /// The recall bias of the score; with folds, the mean.
    pub recall_bias: f64,
    /// The objective after the last iteration; with folds, the mean.
    pub objective: Option<f64>,
    /// Why training ended, if it has, on the first fold.
    pub reason: Option<EndReason>,
    /// The iteration of the score, as [`Course`] counts.
    pub(super) counted: usize,
}

impl Standing {
    /// What the courses of a configuration, one for each fold, come to.
    pub(super) fn new(
        number: usize,
        configuration: Configuration,
        courses: &[Course],
        has_folds: bool,
    ) -> Self {
        let warm_up = courses.first().map_or(0, |course| course.warm_up);
        let best = best(courses);
        let counted = best.as_ref().map_or(0, |best| best.0);
        let at_best = courses.iter().filter_map(|course| course.after(counted));
        let (scores, biases): (Vec<DevScore>, Vec<f64>) = at_best.unzip();
        let values: Vec<f64> = scores.iter().map(|score| score.value()).collect();
        let objectives: Option<Vec<f64>> = courses.iter().map(|course| course.objective).collect();
        let ended = courses.iter().all(|course| course.reason.is_some());
        Self {
            number,
            configuration,
            rungs: 0,
            score: best.map(|(_, score)| score),
            standard_error: (has_folds && best.is_some()).then(|| standard_error(&values)),
            fold_scores: if has_folds { values } else { Vec::new() },
            best_iteration: if counted > 0 { counted + warm_up } else { 0 },
            iterations: warm_up + courses.iter().map(|course| course.done).max().unwrap_or(0),
            recall_bias: mean(&biases),
            objective: objectives.map(|objectives| mean(&objectives)),
            reason: courses.first().and_then(|c| c.reason).filter(|_| ended),
            counted,
        }
    }

    /// The better standing first: by score; of equal ones, the stronger regularization
    /// ([`Configuration::by_strength`]).
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        let value = |standing: &Self| standing.score.map_or(f64::NEG_INFINITY, DevScore::value);
        value(other)
            .total_cmp(&value(self))
            .then_with(|| self.configuration.by_strength(&other.configuration))
            .then(self.number.cmp(&other.number))
    }
}

/// The iteration whose mean score over the folds is best, the first of equal ones, with that mean.
fn best(courses: &[Course]) -> Option<(usize, DevScore)> {
    let last = courses.iter().map(|course| course.scores.len()).max()?;
    let mut best: Option<(usize, DevScore)> = None;
    for iteration in 1..=last {
        let scores: Option<Vec<DevScore>> = (courses.iter())
            .map(|course| course.after(iteration).map(|(score, _)| score))
            .collect();
        let scores = scores?;
        let values: Vec<f64> = scores.iter().map(|score| score.value()).collect();
        let mean = match scores.first()? {
            DevScore::F1(_) => DevScore::F1(mean(&values)),
            DevScore::Accuracy(_) => DevScore::Accuracy(mean(&values)),
        };
        if best.is_none_or(|(_, best)| mean.value() > best.value()) {
            best = Some((iteration, mean));
        }
    }
    best
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard error of a mean.
fn standard_error(values: &[f64]) -> f64 {
    let (n, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (squares / (n - 1.0).max(1.0) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(scores: &[f64]) -> Course {
        Course {
            scores: scores.iter().map(|&score| DevScore::F1(score)).collect(),
            recall_biases: (0..scores.len()).map(|i| i as f64).collect(),
            warm_up: 20,
            done: scores.len(),
            ..Course::new()
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
        }
    }

    fn standing(number: usize, configuration: Configuration, courses: &[Course]) -> Standing {
        Standing::new(number, configuration, courses, courses.len() > 1)
    }

    #[test]
    fn folds_are_compared_after_the_same_iteration() {
        // Each fold by itself would choose another iteration, for a mean of 0.85.
        let courses = [course(&[0.9, 0.6, 0.5]), course(&[0.1, 0.6, 0.8])];
        let standing = standing(1, configuration(0.3, 0.1), &courses);
        assert_eq!(standing.score, Some(DevScore::F1(0.65)));
        assert_eq!(standing.best_iteration, 23);
        assert_eq!(standing.fold_scores, [0.5, 0.8]);
        assert_eq!(standing.recall_bias, 2.0);
        // The standard deviation of 0.5 and 0.8 is 0.3 / √2.
        assert!((standing.standard_error.unwrap() - 0.15).abs() < 1e-12);
    }

    #[test]
    fn a_fold_that_has_ended_counts_with_its_last_score() {
        let courses = [course(&[0.5, 0.7]), course(&[0.5, 0.5, 0.5, 0.9])];
        let standing = standing(1, configuration(0.3, 0.1), &courses);
        assert_eq!(
            (standing.counted, standing.fold_scores),
            (4, vec![0.7, 0.9])
        );
    }

    #[test]
    fn without_a_score_on_every_fold_there_is_none() {
        let courses = [course(&[0.5]), course(&[])];
        let none = standing(1, configuration(0.3, 0.1), &courses);
        assert_eq!((none.score, none.best_iteration), (None, 0));
        let some = standing(2, configuration(0.0, 0.0), &[course(&[0.0])]);
        assert_eq!(some.compare(&none), Ordering::Less);
    }

    #[test]
    fn of_equal_scores_the_stronger_regularization_is_better() {
        let weak = standing(1, configuration(0.3, 0.1), &[course(&[0.5])]);
        let noisy = standing(2, configuration(0.5, 0.1), &[course(&[0.5])]);
        let strong = standing(3, configuration(0.3, 1.0), &[course(&[0.5])]);
        let better = standing(4, configuration(0.0, 0.0), &[course(&[0.6])]);
        let mut all = [&weak, &noisy, &strong, &better];
        all.sort_by(|a, b| a.compare(b));
        assert_eq!(all.map(|standing| standing.number), [4, 2, 3, 1]);
    }
}
