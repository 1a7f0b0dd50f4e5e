//! Stochastic gradient descent against dense steps along gradients of the batch objective.

use dropchain::kernel::noise::Engine;
use dropchain::kernel::objective::{NoiseKind, NoiseOptions, PenalizedLikelihood};
use dropchain::kernel::optim::Objective;
use dropchain_numerics::testing::with_weights;

use super::enumeration::loss;
use super::*;

/// The strength and the centers of a penalty.
struct Prior {
    strength: f64,
    centers: Vec<f64>,
    is_plain: bool,
}

impl Prior {
    fn new(dimension: usize, case: usize) -> (Self, Penalty) {
        let mut numbers = Lcg(case as u64);
        let mut prior =
            Self { strength: 0.5, centers: vec![0.0; dimension], is_plain: case.is_multiple_of(2) };
        let mut penalty = Penalty::from(0.5);
        if !prior.is_plain {
            prior.centers = numbers.vector(dimension);
            penalty = penalty.with_centers(prior.centers.clone());
        }
        (prior, penalty)
    }
}

/// Dense stochastic gradient descent.
struct Dense<'a> {
    data: &'a Dataset,
    space: &'a ParameterSpace,
    eta: f64,
    prior: Prior,
    theta: Vec<f64>,
    steps: f64,
    cooling: Option<usize>, // in epochs
}

impl Dense<'_> {
    /// Takes the steps of an epoch; returns the sum of the terms of the sentences.
    fn run(&mut self, order: &[usize], noise: Option<NoiseOptions>) -> f64 {
        let n = order.len() as f64;
        let mut sum = 0.0;
        for &sentence in order {
            let lambda = 2.0 * self.prior.strength / n;
            let mut eta = self.eta;
            eta /= 1.0 + self.eta * lambda * self.steps;
            if let Some(epochs) = self.cooling {
                eta *= (1.0 - self.steps / (epochs as f64 * n)).max(0.0);
            }
            self.steps += 1.0;
            for (i, w) in self.theta.iter_mut().enumerate() {
                let factor = match self.prior.is_plain {
                    true => 1.0 - eta * lambda,
                    false => (-eta * lambda).exp(),
                };
                let center = self.prior.centers[i];
                *w = center + (*w - center) * factor;
            }
            let (loss, gradient) = self.gradient(sentence, noise);
            sum += loss;
            for (i, g) in gradient.iter().enumerate() {
                self.theta[i] -= eta * g;
            }
        }
        sum
    }

    /// Returns the value and the gradient of a sentence's terms: without noise by enumeration of
    /// all paths.
    fn gradient(&self, sentence: usize, noise: Option<NoiseOptions>) -> (f64, Vec<f64>) {
        let Some(noise) = noise else { return loss(self.data, self.space, &self.theta, sentence) };
        let data = one(self.data, sentence);
        let mut gradient = vec![0.0; self.theta.len()];
        let mut objective = PenalizedLikelihood::new(&data, self.space, 0.0).with_noise(noise);
        let (value, _) = objective.evaluate(&self.theta, &mut gradient);
        (value, gradient)
    }
}

const NOISE: NoiseOptions = NoiseOptions {
    kind: NoiseKind::Dropout,
    dropout: 0.3,
    edge_dropout: Some(0.5),
    gradient: Engine::Exact,
    unlabeled_weight: 0.2,
};

#[test]
fn steps_are_those_of_a_dense_implementation() {
    for (case, (data, space)) in cases().iter().enumerate() {
        let (prior, penalty) = Prior::new(space.dimension(), case);
        let has_noise = case % 3 == 1;
        let cooling = (case % 5 == 2).then_some(3); // of 4 epochs
        let settings = LearnerSettings {
            penalty,
            noise: has_noise.then_some(NOISE),
            warm_up: 1,
            cooling,
            ..settings(Algorithm::Sgd(LearningRate::Fixed(0.1)))
        };
        let start = Lcg(9).vector(space.dimension());
        let mut dense =
            Dense { data, space, eta: 0.1, prior, theta: start.clone(), steps: 0.0, cooling };
        let mut learner = EpochLearner::new(data, space, settings.clone(), start);
        for epoch in 1..=4 {
            let noise = (has_noise && epoch > 1).then_some(NOISE);
            let sum = dense.run(&order(&settings, epoch, data.len()), noise);
            let found = learner.run_epoch();
            assert_close(found.terms.noise - found.terms.log_likelihood, sum, 1e-9);
            let l2: f64 = (0..space.dimension())
                .map(|i| {
                    let distance = dense.theta[i] - dense.prior.centers[i];
                    dense.prior.strength * distance * distance
                })
                .sum();
            assert_close(found.terms.l2, l2, 1e-9);
            for (found, expected) in learner.theta.iter().zip(&dense.theta) {
                assert_close(*found, *expected, 1e-9);
            }
        }
    }
}

#[test]
fn calibration_takes_the_rate_with_the_lowest_loss_after_one_pass() {
    let (data, space) = &cases()[0];
    let settings = settings(Algorithm::Sgd(LearningRate::Calibrated(0.1)));
    let order = &order(&settings, 0, data.len())[..];
    // Of the losses before updates, as CRFsuite has them, or after all of them.
    let objective = |eta: f64, is_after: bool| {
        // The penalty of a pass over some of the sentences is their share of the whole.
        let mut dense = Dense {
            data,
            space,
            eta,
            prior: Prior::new(space.dimension(), 0).0,
            theta: vec![0.0; space.dimension()],
            steps: 0.0,
            cooling: None,
        };
        let share = order.len() as f64 / data.len() as f64;
        dense.prior.strength = 0.5 * share;
        let mut sum = dense.run(order, None);
        let penalty = 0.5 * share * dense.theta.iter().map(|w| w * w).sum::<f64>();
        if is_after {
            dense.eta = 0.0; // so that nothing changes
            sum = dense.run(order, None);
        }
        sum + penalty
    };
    let tokens: usize = order.iter().map(|&i| data.sentence(i).len()).sum();
    let initial = tokens as f64 * (space.labels() as f64).ln();
    // Up from 0.1 while the loss is lower than at 0, then down from 0.05: ten each that are lower,
    // and nineteen in all.
    let tried = |is_after: bool| {
        let is_lower = |eta: f64| objective(eta, is_after) < initial;
        let up = (0..10).map(|step| 0.1 * f64::powi(2.0, step));
        let lower = up.clone().take_while(|&eta| is_lower(eta)).count();
        let mut tried: Vec<f64> = up.take(lower + 1).collect();
        let mut left = 10;
        for step in 1.. {
            if left == 0 || tried.len() == 19 {
                break;
            }
            let eta = 0.1 / f64::powi(2.0, step);
            tried.push(eta);
            left -= usize::from(is_lower(eta));
        }
        tried
    };
    let any_lower = tried(false).into_iter().any(|eta| objective(eta, false) < initial);
    let compare =
        |a: &f64, b: &f64| objective(*a, !any_lower).total_cmp(&objective(*b, !any_lower));
    let best = tried(!any_lower).into_iter().min_by(compare);
    let rate = learner(data, space, &settings).run_epoch().rate.unwrap();
    let eta = best.unwrap();
    let lambda = 2.0 * 0.5 / data.len() as f64;
    assert_close(rate, eta / (1.0 + eta * lambda * (data.len() - 1) as f64), 1e-12);
}

#[test]
fn training_stops_when_the_objective_falls_too_little_in_a_period() {
    let (data, space) = &cases()[1];
    let mut learner =
        learner(data, space, &settings(Algorithm::Sgd(LearningRate::Calibrated(0.1))));
    let mut objectives = Vec::new();
    let stop = (1..100_000).find(|_| {
        let epoch = learner.run_epoch();
        objectives.push(epoch.objective);
        epoch.has_converged
    });
    let n = stop.unwrap();
    let fall = |n: usize| (objectives[n - 11] - objectives[n - 1]) / objectives[n - 1];
    assert!(fall(n) < 1e-6);
    assert!((11..n).all(|n| fall(n) >= 1e-6));
}

#[test]
fn twice_the_weights_and_the_penalty_at_half_the_rate_give_the_same_weights() {
    for (data, space) in &cases()[..8] {
        let doubled = with_weights(data, &[2.0]);
        let run = |data: &Dataset, factor: f64| {
            let settings = LearnerSettings {
                penalty: Penalty::from(0.5 * factor),
                ..settings(Algorithm::Sgd(LearningRate::Fixed(0.1 / factor)))
            };
            let mut learner = learner(data, space, &settings);
            let epochs = [learner.run_epoch(), learner.run_epoch()];
            (learner.theta.clone(), epochs[1].objective / factor)
        };
        let (one, other) = (run(data, 1.0), run(&doubled, 2.0));
        assert_close(one.1, other.1, 1e-12);
        for (one, other) in one.0.iter().zip(&other.0) {
            assert_close(*one, *other, 1e-12);
        }
    }
}
