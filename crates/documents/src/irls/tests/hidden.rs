//! Tests of hidden units against the definition of the objective and finite differences.

use super::*;
use crate::irls::{HiddenProblem, hidden_dimension, hidden_start};
use dropchain::objective::Terms;
use dropchain::optim::{self, LbfgsSettings, Objective, check_gradient};

const L2: f64 = 0.3;

/// θ with all kinds of weights.
fn theta(columns: usize, units: usize) -> Vec<f64> {
    weights(hidden_dimension(columns, units))
}

fn problem(data: &Data, loss: Loss, noise: InputNoise, units: usize) -> HiddenProblem<'_> {
    let documents = data.problem(loss, noise, 0.0).documents;
    HiddenProblem::new(documents, loss, noise, L2, units)
}

/// The score of a document with features x, `[D]`.
fn score(x: &[f64], theta: &[f64], units: usize) -> f64 {
    let columns = x.len();
    let (biases, rest) = theta[columns * units..].split_at(units);
    let unit = |k: usize| {
        let inputs = (0..columns).map(|j| x[j] * theta[j * units + k]);
        rest[k] / (1.0 + (-biases[k] - inputs.sum::<f64>()).exp())
    };
    rest[units] + (0..units).map(unit).sum::<f64>()
}

/// The objective by its definition, with numerical derivatives of scores. A column with scale √m
/// has m features with weights of a √m-th each.
fn reference(data: &Data, loss: Loss, noise: InputNoise, units: usize, theta: &[f64]) -> f64 {
    let columns = data.scales.len();
    let delta = 100.0 * loss.smoothing(&data.targets);
    let mut sum = L2 * dot(theta, theta);
    for (n, &y) in data.targets.iter().enumerate() {
        let mut values = vec![0.0; columns];
        data.rows.entries(n).for_each(|(j, x)| values[j as usize] = x);
        let x: Vec<f64> = values.iter().zip(&data.scales).map(|(x, s)| x * s).collect();
        let mut variance = 0.0;
        for j in 0..columns {
            let shifted = |h: f64| {
                let mut x = x.clone();
                x[j] += h;
                score(&x, theta, units)
            };
            // By √m times a feature.
            let derivative = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            variance += derivative.powi(2)
                * match noise {
                    InputNoise::None => 0.0,
                    InputNoise::Proportional(rate) => rate * values[j].powi(2),
                    InputNoise::Additive(rate) => rate,
                };
        }
        sum += data.weights[n] * loss.bound(y, score(&x, theta, units), variance, delta);
    }
    sum
}

#[test]
fn the_objective_of_hidden_units_is_that_of_the_definition() {
    let data = Data::new(20, 7, 0.5);
    for units in [1, 3] {
        let theta = theta(7, units);
        for loss in LOSSES {
            for noise in NOISES {
                let mut problem = problem(&data, loss, noise, units);
                let mut gradient = vec![0.0; theta.len()];
                let (value, terms) = problem.evaluate(&theta, &mut gradient);
                let expected = reference(&data, loss, noise, units, &theta);
                let error = (value - expected).abs() / expected;
                assert!(error < 1e-7, "{loss:?} {noise:?} {units}: {value} {expected}");
                if loss == Loss::Logistic {
                    let total = terms.l2 + terms.noise - terms.log_likelihood;
                    assert!((total - value).abs() < 1e-9 * value);
                }
                assert!((terms.l2 - L2 * dot(&theta, &theta)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn gradients_of_hidden_units_are_those_of_finite_differences() {
    let data = Data::new(20, 7, 0.5);
    for units in [1, 3] {
        let theta = theta(7, units);
        for loss in LOSSES {
            for noise in NOISES {
                let mut problem = problem(&data, loss, noise, units);
                let error = check_gradient(&mut problem, &theta, 1e-5);
                assert!(error < 1e-7, "{loss:?} {noise:?} {units}: {error}");
            }
        }
    }
}

#[test]
fn hidden_units_have_the_same_bits_for_any_number_of_threads() {
    let data = Data::new(300, 70, 0.3);
    let theta = theta(70, 4);
    for noise in NOISES {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let mut gradient = vec![0.0; theta.len()];
                let mut problem = problem(&data, Loss::Logistic, noise, 4);
                let (value, _) = problem.evaluate(&theta, &mut gradient);
                (value, gradient)
            })
        };
        assert_eq!(run(1), run(3));
    }
}

#[test]
fn training_of_hidden_units_lowers_the_objective_to_a_stationary_point() {
    let data = Data::new(60, 9, 0.5);
    for loss in LOSSES {
        for noise in NOISES {
            let mut problem = problem(&data, loss, noise, 3);
            let start = hidden_start(&data.rows, &data.scales, 3, 5);
            let settings = LbfgsSettings::new(optim::LbfgsOptions {
                improvement_tolerance: 1e-12,
                gradient_tolerance: 1e-5,
                ..optim::LbfgsOptions::default()
            });
            let mut values = Vec::new();
            let mut observe = |iteration: &optim::Iteration<'_, Terms>| {
                values.push(iteration.value);
                ControlFlow::Continue(())
            };
            let settings = settings.unwrap();
            let end = optim::minimize(&mut problem, start, None, &settings, None, &mut observe);
            let end = end.unwrap();
            assert!(values.is_sorted_by(|a, b| *b <= a + 1e-9 * a.abs()));
            assert!(end.value < 0.95 * values[0], "{loss:?} {noise:?}");
            assert!(end.gradient_norm < 1e-3, "{loss:?} {noise:?}: {}", end.gradient_norm);
        }
    }
}

#[test]
fn units_start_apart_with_inputs_of_unit_variance() {
    let data = Data::new(400, 50, 0.4);
    let start = hidden_start(&data.rows, &data.scales, 4, 1);
    let mut sum = 0.0;
    for n in 0..400 {
        for k in 0..4 {
            let inputs = data
                .rows
                .entries(n)
                .map(|(j, x)| data.scales[j as usize] * x * start[j as usize * 4 + k]);
            sum += inputs.sum::<f64>().powi(2) / 1600.0;
        }
    }
    assert!((0.6..1.6).contains(&sum), "{sum}");
    assert_ne!(start, hidden_start(&data.rows, &data.scales, 4, 2));
    assert_eq!(hidden_start(&SparseRows::default(), &[], 2, 1).len(), 5);
}
