//! The regularization path: the minima of falling strengths, each started from the last, and the
//! choice of one by cross-validation.
//!
//! A strength s and a ratio r give the penalties c1 = 2·s·r and c2 = s·(1 − r), so that of least
//! squares s is N·α of scikit-learn's `ElasticNet(alpha=α, l1_ratio=r)`, and of r = 0 it is α of
//! its `Ridge`. The path begins at the least s for which all weights are 0 (for r < 0.001, as if r
//! were that), and falls geometrically. In a fold with n of N documents, strengths are s·n/N.
//!
//! Source: Friedman, Hastie and Tibshirani, "Regularization paths for generalized linear models via
//! coordinate descent", 2010.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Serialize;

use crate::Loss;
use crate::corpus::{DocumentCorpus, Target};
use crate::eval::poisson_deviance;
use crate::linear::{Fitted, Problem, Step, Strengths};
use crate::options::{DocumentOptions, Penalties};
use crate::training::{DocumentTrainer, End, Trained};
use crate::tune::shuffled;
use dropchain::error::{Error, Result};
use dropchain::kernel::optim::StopReason;

/// The ratio that the first strength is computed for if that of the path is lower.
const LEAST_RATIO: f64 = 1e-3;

/// The last strength of a sequence, relative to the first.
const SMALLEST: f64 = 1e-3;

/// A regularization path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathOptions {
    /// r, from 0 (ridge) to 1 (lasso).
    pub l1_ratio: f64,
    /// Strengths; `None` for a geometric sequence.
    pub strengths: Option<Vec<f64>>,
    /// The number of strengths in that sequence, which ends with a thousandth of the first.
    pub count: usize,
    /// How strengths are scored, if they are.
    pub cross_validation: Option<CrossValidation>,
    /// Whether points have their weights.
    pub with_weights: bool,
}

/// Scores by cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossValidation {
    /// Number of folds, at least 2. Documents are shuffled.
    pub folds: usize,
    /// The random seed.
    pub seed: u64,
    /// Whether the strongest penalty is chosen whose error is within one standard error of the
    /// least (Breiman et al. 1984), instead of the one with the least.
    pub one_standard_error: bool,
}

impl Default for PathOptions {
    /// A hundred strengths of the lasso, to a thousandth of the first.
    fn default() -> Self {
        Self {
            l1_ratio: 1.0,
            strengths: None,
            count: 100,
            cross_validation: None,
            with_weights: false,
        }
    }
}

/// The minimum for a strength.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathPoint {
    /// s.
    pub strength: f64,
    /// c2.
    pub l2: f64,
    /// c1.
    pub l1: f64,
    /// Number of weights that are not 0.
    pub nonzero: usize,
    /// The objective.
    pub objective: f64,
    /// The fraction of the deviance of the training documents that is explained; of least squares
    /// R².
    pub explained: f64,
    /// The mean error over folds: mean squared error, or mean Poisson deviance; and its standard
    /// error.
    #[serde(flatten)]
    pub validation: Option<Validation>,
    /// Weights that are not 0, if they were asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
}

/// An error over folds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// The mean.
    pub error: f64,
    /// Standard error of the mean error.
    pub standard_error: f64,
}

/// The minima of a path.
#[derive(Debug)]
pub struct RegressionPath {
    /// By falling strength; fewer than asked for if training was interrupted.
    pub points: Vec<PathPoint>,
    /// The number of the point that cross-validation chose.
    pub chosen: Option<usize>,
    /// The model of that point.
    pub trained: Option<Trained>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

impl PathOptions {
    fn check(&self, documents: usize) -> Result<()> {
        let bad = self.strengths.iter().flatten().find(|s| !(s.is_finite() && **s > 0.0));
        let count = self.strengths.as_ref().map_or(self.count, Vec::len);
        let folds = self.cross_validation.map(|cv| cv.folds);
        let message = if !(0.0..=1.0).contains(&self.l1_ratio) {
            format!("L1 ratio {}; expected a number from 0 to 1", self.l1_ratio)
        } else if let Some(strength) = bad {
            format!("strength {strength}; expected a finite number above 0")
        } else if count == 0 {
            "no strengths; expected at least one".to_owned()
        } else if let Some(folds) = folds.filter(|folds| !(2..=documents).contains(folds)) {
            format!(
                "{folds} folds of {documents} documents; expected at least 2 folds, and at least \
                 one document per fold"
            )
        } else {
            return Ok(());
        };
        Err(Error::parameter(message))
    }

    fn split(&self, strength: f64) -> Strengths {
        Strengths { l2: strength * (1.0 - self.l1_ratio), l1: 2.0 * strength * self.l1_ratio }
    }

    /// Finds the minimum of each strength times `share`, started from that of the last, and visits
    /// it. Returns whether it came to the end.
    fn follow(
        &self,
        problem: &Problem<'_>,
        (strengths, share): (&[f64], f64),
        mut visit: impl FnMut(usize, &Fitted),
    ) -> Result<bool> {
        let mut last: Option<Fitted> = None;
        for (i, strength) in strengths.iter().enumerate() {
            let watch = &mut |_: &Step<'_>| ControlFlow::Continue(());
            let split = self.split(strength * share);
            let fitted = problem.minimize(split, last.as_ref(), watch)?;
            if fitted.stop_reason == StopReason::Interrupted {
                return Ok(false);
            }
            visit(i, last.insert(fitted));
        }
        Ok(true)
    }

    /// Returns the strengths, in falling order.
    fn strengths(&self, problem: &Problem<'_>, loss: Loss) -> Result<Vec<f64>> {
        if let Some(strengths) = &self.strengths {
            let mut strengths = strengths.clone();
            strengths.sort_by(|a, b| b.total_cmp(a));
            return Ok(strengths);
        }
        let slope = if loss == Loss::Poisson { 1.0 } else { 2.0 };
        let ratio = self.l1_ratio.max(LEAST_RATIO);
        let largest = slope * problem.largest_product() / (2.0 * ratio);
        if !(largest > 0.0 && largest.is_finite()) {
            let message = "no feature goes with the numbers to predict, so that there is no \
                           largest strength; expected numbers that differ, or strengths";
            return Err(Error::parameter(message));
        }
        let steps = self.count.saturating_sub(1).max(1) as f64;
        let factor = |i: usize| SMALLEST.powf(i as f64 / steps);
        Ok((0..self.count).map(|i| largest * factor(i)).collect())
    }
}

impl DocumentTrainer<'_> {
    /// Trains on documents with numbers with falling strengths instead of those of the options, and
    /// with the one that cross-validation chooses makes a model. `observer` is called with the part
    /// of the work that is done.
    ///
    /// # Errors
    ///
    /// The errors of [`train`](Self::train); [`Error::Parameter`] if an option is out of range, or
    /// the loss has no path: that of support vector regression.
    pub fn path(
        &self,
        corpus: &DocumentCorpus,
        path: &PathOptions,
        observer: &mut dyn FnMut(f64),
    ) -> Result<RegressionPath> {
        let loss = self.options.model.loss;
        if let Loss::Insensitive { .. } = loss {
            let message = "a path with the insensitive loss; expected squared or poisson";
            return Err(Error::parameter(message));
        }
        let features = corpus.features();
        let problem = Problem::new(corpus, features, &self.options, self.interrupt)?;
        path.check(corpus.documents())?;
        let strengths = path.strengths(&problem, loss)?;
        // The path and its folds.
        let rounds = path.cross_validation.map_or(1, |cv| cv.folds + 1);
        let total = (rounds * strengths.len()) as f64;
        let mut done = 0;
        let mut advance = || {
            done += 1;
            observer(f64::from(done) / total);
        };
        let mut result = RegressionPath {
            points: Vec::new(),
            chosen: None,
            trained: None,
            interrupted: true, // unless it comes to its end
        };
        let null = vec![problem.null_score(); corpus.documents()];
        let null_error = mean_error(corpus, &null, loss);
        let mut all: Vec<Fitted> = Vec::new();
        let has_folds = path.cross_validation.is_some();
        let is_complete = path.follow(&problem, (&strengths, 1.0), |i, fitted| {
            let error = mean_error(corpus, &problem.scores(&fitted.phi, &corpus.rows), loss);
            let explained = match null_error > 0.0 {
                true => 1.0 - error / null_error,
                false => 0.0, // there is nothing to explain
            };
            result.points.push(path.point(strengths[i], (&problem, fitted), corpus, explained));
            all.extend(has_folds.then(|| fitted.clone()));
            advance();
        })?;
        let Some(cv) = path.cross_validation.filter(|_| is_complete) else {
            result.interrupted = !is_complete;
            return Ok(result);
        };
        let Some(errors) = self.validate(corpus, path, cv, &strengths, &mut advance)? else {
            return Ok(result);
        };
        let errors: Vec<Validation> = errors.iter().map(|errors| moments(errors)).collect();
        for (point, error) in result.points.iter_mut().zip(&errors) {
            point.validation = Some(*error);
        }
        let chosen = cv.choose(&errors);
        result.chosen = Some(chosen);
        let (point, fitted) = (&result.points[chosen], &all[chosen]);
        let own = Penalties { l2: Some(point.l2), l1: point.l1, ..self.options.penalties };
        let options = DocumentOptions { penalties: own, ..self.options.clone() };
        let end = End {
            reason: Some(fitted.stop_reason),
            iterations: fitted.iterations,
            best_iteration: fitted.iterations,
            dev_accuracy: None,
            objective: fitted.objective,
        };
        let model = self.model(corpus, &problem, (&options, fitted, end))?;
        result.trained = Some(Trained { model, end });
        result.interrupted = false;
        Ok(result)
    }

    /// Returns the errors of all folds for each strength; `None` if training was interrupted.
    fn validate(
        &self,
        corpus: &DocumentCorpus,
        path: &PathOptions,
        cv: CrossValidation,
        strengths: &[f64],
        advance: &mut dyn FnMut(),
    ) -> Result<Option<Vec<Vec<f64>>>> {
        let count = corpus.documents();
        let order = shuffled(count, cv.seed);
        let mut errors = vec![Vec::new(); strengths.len()];
        for fold in 0..cv.folds {
            let [start, end] = [fold, fold + 1].map(|i| i * count / cv.folds);
            let mut trained: Vec<usize> = [&order[..start], &order[end..]].concat();
            trained.sort_unstable();
            let (rest, held_out) = (corpus.subset(&trained), corpus.subset(&order[start..end]));
            let problem = Problem::new(&rest, corpus.features(), &self.options, self.interrupt)?;
            let share = trained.len() as f64 / count as f64;
            let is_complete = path.follow(&problem, (strengths, share), |i, fitted| {
                let scores = problem.scores(&fitted.phi, &held_out.rows);
                errors[i].push(mean_error(&held_out, &scores, self.options.model.loss));
                advance();
            })?;
            if !is_complete {
                return Ok(None);
            }
        }
        Ok(Some(errors))
    }
}

impl PathOptions {
    fn point(
        &self,
        strength: f64,
        (problem, fitted): (&Problem<'_>, &Fitted),
        corpus: &DocumentCorpus,
        explained: f64,
    ) -> PathPoint {
        let Strengths { l2, l1 } = self.split(strength);
        let rows = problem.parts(&fitted.phi).rows;
        let weights = rows.iter().map(|row| row.first().map_or(0.0, |(_, weight)| *weight));
        let named = corpus.feature_names().into_iter().zip(weights);
        let named = named.filter(|(_, weight)| *weight != 0.0);
        let named: BTreeMap<String, f64> = named.map(|(name, w)| (name.to_owned(), w)).collect();
        PathPoint {
            strength,
            l2,
            l1,
            nonzero: named.len(),
            objective: fitted.objective,
            explained,
            validation: None,
            weights: if self.with_weights { named } else { BTreeMap::new() },
        }
    }
}

impl CrossValidation {
    /// Returns the number of the best strength, given errors by falling strength.
    fn choose(self, errors: &[Validation]) -> usize {
        // One that is not finite is of no use.
        let finite = |i: usize| {
            let error = errors[i].error;
            if error.is_finite() { error } else { f64::INFINITY }
        };
        let better = |a: usize, b: usize| if finite(b) < finite(a) { b } else { a };
        let best = (0..errors.len()).reduce(better).unwrap_or(0);
        if !self.one_standard_error {
            return best;
        }
        let bound = finite(best) + errors[best].standard_error;
        (0..errors.len()).find(|&i| finite(i) <= bound).unwrap_or(best)
    }
}

/// Returns the mean squared error or the mean Poisson deviance of documents with these scores.
fn mean_error(corpus: &DocumentCorpus, scores: &[f64], loss: Loss) -> f64 {
    let errors = corpus.targets.iter().zip(scores).map(|(target, &score)| {
        let Target::Number(y) = *target else { return 0.0 };
        let predicted = loss.prediction(score);
        match loss {
            Loss::Poisson => poisson_deviance(y, predicted),
            _ => (y - predicted) * (y - predicted),
        }
    });
    errors.sum::<f64>() / scores.len() as f64
}

/// Returns the mean of at least two numbers and its standard error.
fn moments(numbers: &[f64]) -> Validation {
    let count = numbers.len() as f64;
    let error = numbers.iter().sum::<f64>() / count;
    let squares = numbers.iter().map(|x| (x - error) * (x - error));
    Validation { error, standard_error: (squares.sum::<f64>() / (count - 1.0) / count).sqrt() }
}
