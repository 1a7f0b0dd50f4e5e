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

use super::corpus::RegressionCorpus;
use super::options::{RegressionLoss, RegressionOptions};
use super::solve::{Fit, Solution, Strengths};
use super::training::{RegressionTrainer, TrainedRegression};
use crate::eval::poisson_deviance;
use dropchain::error::{Error, Result};
use dropchain::extract::SparseRows;
use dropchain::optim::StopReason;
use dropchain::random::uniform;

/// The ratio that the first strength is computed for if that of the path is lower.
const LEAST_RATIO: f64 = 1e-3;

/// A regularization path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathOptions {
    /// r, from 0 (ridge) to 1 (lasso).
    pub l1_ratio: f64,
    /// Strengths; `None` for a geometric sequence.
    pub strengths: Option<Vec<f64>>,
    /// The number of strengths in that sequence.
    pub count: usize,
    /// Its last strength, relative to the first.
    pub smallest: f64,
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
            smallest: 1e-3,
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
    /// The mean error over folds: mean squared error, or mean Poisson deviance.
    pub error: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Steps, or passes over the features.
    pub iterations: usize,
    /// Weights that are not 0, if they were asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
}

/// The minima of a path.
#[derive(Debug)]
pub struct RegressionPath {
    /// By falling strength; fewer than asked for if training was interrupted.
    pub points: Vec<PathPoint>,
    /// The number of the point that cross-validation chose.
    pub chosen: Option<usize>,
    /// The model of that point.
    pub trained: Option<TrainedRegression>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

impl PathOptions {
    fn check(&self, documents: usize) -> Result<()> {
        if !(0.0..=1.0).contains(&self.l1_ratio) {
            return Err(Error::parameter(format!(
                "L1 ratio {}; expected a number from 0 to 1",
                self.l1_ratio
            )));
        }
        if !(self.smallest > 0.0 && self.smallest < 1.0) {
            return Err(Error::parameter(format!(
                "smallest strength {}; expected a fraction of the largest between 0 and 1",
                self.smallest
            )));
        }
        let given = self.strengths.iter().flatten();
        if let Some(strength) = given.clone().find(|s| !(s.is_finite() && **s > 0.0)) {
            return Err(Error::parameter(format!(
                "strength {strength}; expected a finite number above 0"
            )));
        }
        let count = self.strengths.as_ref().map_or(self.count, Vec::len);
        if count == 0 {
            return Err(Error::parameter("no strengths; expected at least one"));
        }
        match self.cross_validation {
            Some(cv) if cv.folds < 2 || cv.folds > documents => Err(Error::parameter(format!(
                "{} folds of {documents} documents; expected at least 2 folds, and at least one \
                 document per fold",
                cv.folds
            ))),
            _ => Ok(()),
        }
    }

    /// Finds the minimum of a strength, started from that of the last, which it replaces. Returns
    /// `None` if training was interrupted.
    fn next<'s>(
        &self,
        fit: &Fit<'_>,
        strength: f64,
        last: &'s mut Option<Solution>,
    ) -> Result<Option<&'s Solution>> {
        let watch = &mut |_| ControlFlow::Continue(());
        let solution = fit.minimize(self.split(strength), last.as_ref(), watch)?;
        let is_interrupted = solution.stop_reason == StopReason::Interrupted;
        Ok((!is_interrupted).then(|| &*last.insert(solution)))
    }

    fn split(&self, strength: f64) -> Strengths {
        Strengths { l2: strength * (1.0 - self.l1_ratio), l1: 2.0 * strength * self.l1_ratio }
    }

    /// Returns the strengths, in falling order.
    fn strengths(&self, fit: &Fit<'_>, loss: RegressionLoss) -> Result<Vec<f64>> {
        if let Some(strengths) = &self.strengths {
            let mut strengths = strengths.clone();
            strengths.sort_by(|a, b| b.total_cmp(a));
            return Ok(strengths);
        }
        let slope = match loss {
            RegressionLoss::Poisson => 1.0,
            _ => 2.0,
        };
        let ratio = self.l1_ratio.max(LEAST_RATIO);
        let largest = slope * fit.largest_product() / (2.0 * ratio);
        if !(largest > 0.0 && largest.is_finite()) {
            let message = "no feature goes with the numbers to predict, so that there is no \
                           largest strength; expected numbers that differ, or strengths";
            return Err(Error::parameter(message));
        }
        let steps = self.count.saturating_sub(1).max(1) as f64;
        let factor = |i: usize| self.smallest.powf(i as f64 / steps);
        Ok((0..self.count).map(|i| largest * factor(i)).collect())
    }
}

impl RegressionTrainer<'_> {
    /// Trains with falling strengths instead of those of the options, and with the one that
    /// cross-validation chooses makes a model. `observer` is called with the part of the work that
    /// is done.
    ///
    /// # Errors
    ///
    /// Those of [`train`](Self::train); [`Error::Parameter`] if an option is out of range, or the
    /// loss has no path: that of support vector regression.
    pub fn path(
        &self,
        corpus: &RegressionCorpus,
        path: &PathOptions,
        observer: &mut dyn FnMut(f64),
    ) -> Result<RegressionPath> {
        let loss = self.options.loss;
        if let RegressionLoss::Insensitive { .. } = loss {
            return Err(Error::parameter(format!(
                "a path with the {loss} loss; expected squared or poisson"
            )));
        }
        let fit = self.fit(corpus)?;
        path.check(corpus.documents())?;
        let strengths = path.strengths(&fit, loss)?;
        // The path, its folds, and the path to the chosen strength again.
        let rounds = path.cross_validation.map_or(1, |cv| cv.folds + 2);
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
        let null = Solution {
            w: vec![0.0; corpus.features()],
            bias: fit.null_score(),
            objective: 0.0,
            iterations: 0,
            stop_reason: StopReason::Gradient,
        };
        let null_error = mean_error(&corpus.rows, &corpus.targets, &null, loss);
        let mut last = None;
        for &strength in &strengths {
            let Some(solution) = path.next(&fit, strength, &mut last)? else {
                return Ok(result);
            };
            let error = mean_error(&corpus.rows, &corpus.targets, solution, loss);
            let explained = match null_error > 0.0 {
                true => 1.0 - error / null_error,
                false => 0.0, // there is nothing to explain
            };
            let point = path.point(strength, solution, corpus, explained);
            result.points.push(point);
            advance();
        }
        if let Some(cv) = path.cross_validation {
            let Some(errors) = self.validate(corpus, path, cv, &strengths, &mut advance)? else {
                return Ok(result);
            };
            let errors: Vec<[f64; 2]> = errors.iter().map(|errors| moments(errors)).collect();
            for (point, error) in result.points.iter_mut().zip(&errors) {
                [point.error, point.standard_error] = error.map(Some);
            }
            let chosen = cv.choose(&errors);
            result.chosen = Some(chosen);
            last = None;
            for &strength in &strengths[..=chosen] {
                if path.next(&fit, strength, &mut last)?.is_none() {
                    return Ok(result);
                }
                advance();
            }
            let point = &result.points[chosen];
            let options = RegressionOptions { l2: point.l2, l1: point.l1, ..self.options.clone() };
            let solution = last.as_ref();
            let trained = solution.map(|solution| self.finish(corpus, &options, solution));
            result.trained = trained.transpose()?;
            observer(1.0);
        }
        result.interrupted = false;
        Ok(result)
    }

    /// Returns the errors of all folds for each strength; `None` if training was interrupted.
    fn validate(
        &self,
        corpus: &RegressionCorpus,
        path: &PathOptions,
        cv: CrossValidation,
        strengths: &[f64],
        advance: &mut dyn FnMut(),
    ) -> Result<Option<Vec<Vec<f64>>>> {
        let count = corpus.documents();
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let other = (1.0 - uniform(cv.seed, last as u64)) * (last + 1) as f64;
            order.swap(last, (other as usize).min(last));
        }
        let options = &self.options;
        let mut errors = vec![Vec::new(); strengths.len()];
        for fold in 0..cv.folds {
            let [start, end] = [fold, fold + 1].map(|i| i * count / cv.folds);
            let mut trained: Vec<usize> = [&order[..start], &order[end..]].concat();
            trained.sort_unstable();
            let (rows, targets) = corpus.subset(&trained);
            let (held_rows, held_targets) = corpus.subset(&order[start..end]);
            let held = corpus.memory() + rows.memory();
            let columns = corpus.features();
            let fit = Fit::new(&rows, columns, &targets, held, options, self.interrupt)?;
            let share = trained.len() as f64 / count as f64;
            let mut last = None;
            for (errors, strength) in errors.iter_mut().zip(strengths) {
                let Some(solution) = path.next(&fit, strength * share, &mut last)? else {
                    return Ok(None);
                };
                errors.push(mean_error(&held_rows, &held_targets, solution, options.loss));
                advance();
            }
        }
        Ok(Some(errors))
    }
}

impl PathOptions {
    fn point(
        &self,
        strength: f64,
        solution: &Solution,
        corpus: &RegressionCorpus,
        explained: f64,
    ) -> PathPoint {
        let Strengths { l2, l1 } = self.split(strength);
        let mut weights = BTreeMap::new();
        if self.with_weights {
            let named = corpus.names().into_iter().zip(&solution.w);
            let named = named.filter(|(_, weight)| **weight != 0.0);
            weights.extend(named.map(|(name, &weight)| (name.to_owned(), weight)));
        }
        PathPoint {
            strength,
            l2,
            l1,
            nonzero: solution.w.iter().filter(|&&w| w != 0.0).count(),
            objective: solution.objective,
            explained,
            error: None,
            standard_error: None,
            iterations: solution.iterations,
            weights,
        }
    }
}

impl CrossValidation {
    /// Returns the number of the best strength, given errors and standard errors by falling
    /// strength.
    fn choose(self, errors: &[[f64; 2]]) -> usize {
        // One that is not finite is of no use.
        let finite = |error: f64| Some(error).filter(|e| e.is_finite()).unwrap_or(f64::INFINITY);
        let mut best = 0;
        for (i, error) in errors.iter().enumerate() {
            if finite(error[0]) < finite(errors[best][0]) {
                best = i;
            }
        }
        if !self.one_standard_error {
            return best;
        }
        let bound = finite(errors[best][0]) + errors[best][1];
        let within = errors.iter().position(|error| finite(error[0]) <= bound);
        within.unwrap_or(best)
    }
}

/// Returns the mean squared error or the mean Poisson deviance.
fn mean_error(
    rows: &SparseRows,
    targets: &[f64],
    solution: &Solution,
    loss: RegressionLoss,
) -> f64 {
    let errors = targets.iter().enumerate().map(|(n, &y)| {
        let entries = rows.entries(n);
        let products = entries.map(|(j, x)| x * solution.w[j as usize]);
        let predicted = loss.prediction(solution.bias + products.sum::<f64>());
        match loss {
            RegressionLoss::Poisson => poisson_deviance(y, predicted),
            _ => (y - predicted) * (y - predicted),
        }
    });
    errors.sum::<f64>() / targets.len() as f64
}

/// Returns the mean of at least two numbers and its standard error.
fn moments(numbers: &[f64]) -> [f64; 2] {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares = numbers.iter().map(|x| (x - mean) * (x - mean));
    [mean, (squares.sum::<f64>() / (count - 1.0) / count).sqrt()]
}
