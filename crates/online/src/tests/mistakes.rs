//! The learners from mistakes against dense implementations.

use super::enumeration::{allowed, features, paths};
use super::*;
use dropchain_numerics::testing::{with_partial_labels, with_weights};

/// The most likely path by enumeration, among those that are allowed; among ties the first in the
/// order of Viterbi.
fn best_path(
    data: &Dataset,
    space: &ParameterSpace,
    sentence: usize,
    theta: &[f64],
    allows: impl Fn(&[LabelId]) -> bool,
) -> Vec<LabelId> {
    let mut best = (f64::NEG_INFINITY, Vec::new());
    for path in paths(data, space, sentence) {
        let features = features(data, space, sentence, &path);
        let score: f64 = features.iter().zip(theta).map(|(f, w)| f * w).sum();
        // Equal scores may differ by rounding.
        if allows(&path) && score > best.0 + 1e-9 {
            best = (score, path);
        }
    }
    best.1
}

/// Returns whether another path has the same score as the best one, and not because of weights
/// that are all 0.
fn has_tie(
    data: &Dataset,
    space: &ParameterSpace,
    sentence: usize,
    theta: &[f64],
    best: &[LabelId],
) -> bool {
    let score = |path: &[LabelId]| -> f64 {
        features(data, space, sentence, path).iter().zip(theta).map(|(f, w)| f * w).sum()
    };
    let highest = score(best);
    let is_tie = |path: &[LabelId]| path != best && (score(path) - highest).abs() < 1e-9;
    theta.iter().any(|&w| w != 0.0) && paths(data, space, sentence).iter().any(|path| is_tie(path))
}

/// A dense learner.
struct Dense {
    rule: MistakeRule,
    theta: Vec<f64>,
    variances: Vec<f64>,
    sum: Vec<f64>, // of the weights after each sentence
    count: f64,
    has_tie: bool, // some paths had the same score, which was not 0
}

impl Dense {
    /// Learns from the sentences in this order; returns the loss.
    fn run(&mut self, data: &Dataset, space: &ParameterSpace, order: &[usize]) -> f64 {
        let mut loss = 0.0;
        for &sentence in order {
            // The average has the weights before the first sentence, too.
            self.count += 1.0;
            let (sets, weight) = (allowed(data, sentence), data.weight(sentence));
            // An empty set allows any label.
            let allows = |t: usize, label: &LabelId| sets[t].is_empty() || sets[t].contains(label);
            let all = |path: &[LabelId]| path.iter().enumerate().all(|(t, b)| allows(t, b));
            let path = best_path(data, space, sentence, &self.theta, |_| true);
            self.has_tie |= has_tie(data, space, sentence, &self.theta, &path);
            let wrong = path.iter().enumerate().filter(|&(t, b)| !allows(t, b)).count();
            if wrong > 0 {
                let gold = best_path(data, space, sentence, &self.theta, all);
                let mut delta = features(data, space, sentence, &gold);
                let other = features(data, space, sentence, &path);
                delta.iter_mut().zip(&other).for_each(|(d, x)| *d -= x);
                loss += weight * self.learn(&delta, wrong as f64, path.len(), weight);
            }
            self.sum.iter_mut().zip(&self.theta).for_each(|(s, w)| *s += w);
        }
        loss
    }

    fn learn(&mut self, delta: &[f64], wrong: f64, tokens: usize, weight: f64) -> f64 {
        let margin: f64 = delta.iter().zip(&self.theta).map(|(d, w)| d * w).sum();
        let norm: f64 = delta.iter().map(|d| d * d).sum();
        match self.rule {
            MistakeRule::Perceptron(_) => {
                self.add(weight, delta);
                wrong / tokens as f64
            }
            MistakeRule::PassiveAggressive(options) => {
                let loss = wrong.sqrt() - margin;
                if norm > 0.0 {
                    self.add((loss / norm).min(options.c) * weight, delta);
                }
                loss
            }
            MistakeRule::Arow(options) => {
                let delta: Vec<f64> = delta.iter().map(|d| weight * d).collect();
                let loss = wrong - margin;
                let spread: f64 = delta.iter().zip(&self.variances).map(|(d, v)| d * d * v).sum();
                let alpha = loss / (options.gamma + spread);
                for (i, d) in delta.iter().enumerate() {
                    self.theta[i] += alpha * self.variances[i] * d;
                    self.variances[i] = 1.0 / (1.0 / self.variances[i] + d * d / options.gamma);
                }
                loss
            }
        }
    }

    fn add(&mut self, factor: f64, delta: &[f64]) {
        let weights = self.theta.iter_mut().zip(delta);
        weights.for_each(|(w, d)| *w += factor * d);
    }

    /// Returns the result.
    fn result(&self) -> Vec<f64> {
        if matches!(self.rule, MistakeRule::Arow(_)) {
            return self.theta.clone();
        }
        self.sum.iter().map(|s| s / self.count).collect()
    }
}

/// Every rule with some parameters.
fn rules() -> Vec<MistakeRule> {
    let passive_aggressive =
        |c| MistakeRule::PassiveAggressive(PassiveAggressive { c, epsilon: 0.0 });
    vec![
        MistakeRule::Perceptron(Perceptron::default()),
        MistakeRule::Arow(Arow::default()),
        MistakeRule::Arow(Arow { gamma: 4.0, epsilon: 0.0 }),
        passive_aggressive(1.0),
        passive_aggressive(0.01),
    ]
}

#[test]
fn updates_are_those_of_a_dense_implementation() {
    let mut compared = [0; 2]; // all, and those with a tie
    for (case, (data, space)) in cases().iter().enumerate() {
        let weighted = with_weights(data, &[1.0, 0.5, 3.0]);
        let partial = with_partial_labels(data, space.labels(), &mut Lcg(case as u64));
        let data = [data, &weighted, &partial][case % 3];
        let dimension = space.dimension();
        for rule in rules() {
            let settings = settings(Algorithm::Mistakes(rule));
            let mut dense = Dense {
                rule,
                theta: vec![0.0; dimension],
                variances: vec![1.0; dimension],
                sum: vec![0.0; dimension],
                count: 1.0,
                has_tie: false,
            };
            let mut learner = learner(data, space, &settings);
            compared[0] += 1;
            for epoch in 1..=3 {
                let loss = dense.run(data, space, &order(&settings, epoch, data.len()));
                let found = learner.run_epoch();
                if dense.has_tie && (found.objective - loss).abs() > 1e-9 {
                    // Rounding broke a tie between two paths.
                    compared[1] += 1;
                    break;
                }
                assert!(
                    (found.objective - loss).abs() < 1e-9 * (1.0 + loss.abs()),
                    "case {case}, {rule:?}, epoch {epoch}: {} instead of {loss}",
                    found.objective
                );
                for (found, expected) in learner.theta.iter().zip(dense.result()) {
                    assert_close(*found, expected, 1e-9);
                }
            }
        }
    }
    assert!(compared[1] * 50 < compared[0], "{compared:?}");
}

#[test]
fn training_stops_below_the_mean_loss() {
    let (data, space) = &cases()[0];
    let mut losses = Vec::new();
    let mut learner = learner(
        data,
        space,
        &settings(Algorithm::Mistakes(MistakeRule::Perceptron(Perceptron { epsilon: 0.2 }))),
    );
    let stop = (1..100).find(|_| {
        let epoch = learner.run_epoch();
        losses.push(epoch.objective / data.len() as f64);
        epoch.has_converged
    });
    let n = stop.unwrap();
    assert!(losses[n - 1] < 0.2 && losses[..n - 1].iter().all(|&loss| loss >= 0.2));
}
