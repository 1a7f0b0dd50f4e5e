//! All solvers find the minimum that the definition has.

use std::collections::BTreeMap;

use super::{documents, options, sparse_documents, train};
use crate::regress::*;
use crate::{Instance, InstanceContent};
use dropchain::optim::StopReason;

const EXACT: f64 = 1e-12;

/// Weights by name, with the bias.
fn weights(trained: &TrainedRegression) -> (BTreeMap<String, f64>, f64) {
    let weights = trained.regression.weights().unwrap().into_iter();
    (weights.collect(), trained.regression.header().bias)
}

/// Compares up to the single precision of models.
fn assert_equal(a: &TrainedRegression, b: &TrainedRegression, what: &str) {
    let close = |a: f64, b: f64| (a - b).abs() < 3e-5 * (1.0 + b.abs());
    let ((a, a_bias), (b, b_bias)) = (weights(a), weights(b));
    assert!(close(a_bias, b_bias), "{what}: {a_bias} {b_bias}");
    for name in a.keys().chain(b.keys()) {
        let [a, b] = [&a, &b].map(|w| w.get(name).copied().unwrap_or(0.0));
        assert!(close(a, b), "{what}, {name}: {a} {b}");
    }
}

fn features(document: &Instance) -> &[(String, f64)] {
    match &document.content {
        InstanceContent::Features(features) => features,
        InstanceContent::Text(_) => &[],
    }
}

fn target(document: &Instance) -> f64 {
    document.label.as_deref().unwrap().parse().unwrap()
}

/// Returns the objective by its definition. The expectation of the squared loss under dropout is
/// over all masks.
fn objective(documents: &[Instance], trained: &TrainedRegression, o: &RegressionOptions) -> f64 {
    let (w, bias) = weights(trained);
    let mut value = 0.0;
    for document in documents {
        let y = target(document);
        let features = features(document);
        let products = features.iter().map(|(name, x)| x * w.get(name).unwrap_or(&0.0));
        let products: Vec<f64> = products.collect();
        value += match (o.loss, o.noise) {
            (RegressionLoss::Poisson, noise) => {
                let rho = match noise {
                    FeatureNoise::Dropout(q) => q / (1.0 - q),
                    _ => 0.0,
                };
                let f: f64 = products.iter().sum::<f64>() + bias;
                let variance: f64 = products.iter().map(|p| rho * p * p).sum();
                f.exp() * (1.0 + 0.5 * variance) - y * f
            }
            (_, FeatureNoise::Dropout(q)) => {
                let masks = 0..1_u32 << products.len();
                let outcomes = masks.map(|mask| {
                    let (mut f, mut p) = (bias, 1.0);
                    for (i, product) in products.iter().enumerate() {
                        if mask >> i & 1 == 1 {
                            f += product / (1.0 - q);
                            p *= 1.0 - q;
                        } else {
                            p *= q;
                        }
                    }
                    p * (y - f) * (y - f)
                });
                outcomes.sum()
            }
            _ => (y - bias - products.iter().sum::<f64>()).powi(2),
        };
    }
    let penalties = w.values().map(|w| o.l2 * w * w + o.l1 * w.abs());
    value + penalties.sum::<f64>()
}

#[test]
fn the_solvers_of_least_squares_agree() {
    // More documents than features, and fewer.
    for (count, columns) in [(60, 8), (12, 30)] {
        let documents = sparse_documents(count, columns);
        for noise in [FeatureNoise::None, FeatureNoise::Dropout(0.3), FeatureNoise::Additive(0.2)] {
            for standardize in [false, true] {
                let train = |solver, l1| {
                    let options = RegressionOptions {
                        noise,
                        standardize,
                        solver,
                        l1,
                        l2: 0.5,
                        tolerance: EXACT,
                        ..RegressionOptions::default()
                    };
                    train(documents.clone(), &options)
                };
                let what = format!("{count} {columns} {noise:?} {standardize}");
                let ridge = train(Solver::Cholesky, 0.0);
                assert_equal(&train(Solver::Lbfgs, 0.0), &ridge, &what);
                assert_equal(&train(Solver::Auto, 0.0), &ridge, &what);
                let net = train(Solver::CoordinateDescent, 3.0);
                assert_equal(&train(Solver::Lbfgs, 3.0), &net, &what);
                assert!(net.regression.weights().unwrap().len() < 30, "{what}");
            }
        }
    }
}

#[test]
fn the_objective_is_that_of_the_definition() {
    let documents = sparse_documents(40, 6);
    for loss in [RegressionLoss::Squared, RegressionLoss::Poisson] {
        for noise in [FeatureNoise::None, FeatureNoise::Dropout(0.3)] {
            for l1 in [0.0, 2.0] {
                let options = RegressionOptions {
                    loss,
                    noise,
                    l1,
                    l2: 0.3,
                    tolerance: EXACT,
                    ..RegressionOptions::default()
                };
                let trained = train(documents.clone(), &options);
                let expected = objective(&documents, &trained, &options);
                let found = trained.objective;
                // The weights of a model have single precision.
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs(),
                    "{loss} {noise:?} {l1}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn no_weight_nearby_has_a_lower_objective() {
    let documents = sparse_documents(40, 6);
    for loss in [RegressionLoss::Squared, RegressionLoss::Poisson] {
        let options = RegressionOptions {
            loss,
            noise: FeatureNoise::Dropout(0.4),
            l1: 1.0,
            l2: 0.2,
            tolerance: EXACT,
            ..RegressionOptions::default()
        };
        let trained = train(documents.clone(), &options);
        let lowest = objective(&documents, &trained, &options);
        let (w, bias) = weights(&trained);
        let names: Vec<&String> = w.keys().collect();
        assert!(!names.is_empty() && bias != 0.0);
        for name in names {
            for step in [-1e-2, 1e-2] {
                let mut moved = w.clone();
                *moved.get_mut(name).unwrap() += step;
                let value = objective_at(&documents, &moved, bias, &options);
                assert!(value > lowest, "{loss} {name} {step}: {value} {lowest}");
            }
        }
        for step in [-1e-2, 1e-2] {
            let value = objective_at(&documents, &w, bias + step, &options);
            assert!(value > lowest, "{loss} bias {step}: {value} {lowest}");
        }
    }
}

/// Returns the objective by its definition at some weights, with V in closed form.
fn objective_at(
    documents: &[Instance],
    w: &BTreeMap<String, f64>,
    bias: f64,
    o: &RegressionOptions,
) -> f64 {
    let rho = match o.noise {
        FeatureNoise::Dropout(q) => q / (1.0 - q),
        _ => 0.0,
    };
    let losses = documents.iter().map(|document| {
        let products = features(document).iter();
        let products: Vec<f64> =
            products.map(|(name, x)| x * w.get(name).unwrap_or(&0.0)).collect();
        let f = bias + products.iter().sum::<f64>();
        let variance: f64 = products.iter().map(|p| rho * p * p).sum();
        let y = target(document);
        match o.loss {
            RegressionLoss::Poisson => f.exp() * (1.0 + 0.5 * variance) - y * f,
            _ => (y - f) * (y - f) + variance,
        }
    });
    let penalties = w.values().map(|w| o.l2 * w * w + o.l1 * w.abs());
    losses.sum::<f64>() + penalties.sum::<f64>()
}

#[test]
fn standardized_penalties_do_not_depend_on_units() {
    let documents = sparse_documents(50, 7);
    let scaled: Vec<Instance> = documents
        .iter()
        .map(|document| {
            let entries = features(document).iter();
            let entries = entries.map(|(name, x)| (name.clone(), 100.0 * x));
            Instance::from_features(entries).with_label(document.label.clone().unwrap())
        })
        .collect();
    for l1 in [0.0, 5.0] {
        let options = RegressionOptions {
            standardize: true,
            l1,
            l2: 2.0,
            tolerance: EXACT,
            ..RegressionOptions::default()
        };
        let [plain, scaled] = [&documents, &scaled].map(|d| train(d.clone(), &options));
        for ((name, a), (other, b)) in weights(&plain).0.iter().zip(&weights(&scaled).0) {
            assert_eq!(name, other);
            assert!((a - 100.0 * b).abs() < 1e-5, "{name}: {a} {b}");
        }
    }
}

#[test]
fn a_minimum_that_is_not_unique_is_an_error_of_one_solver_alone() {
    let documents: Vec<Instance> = (0..6)
        .map(|i| {
            let x = f64::from(i);
            Instance::from_features([("a", x), ("b", 2.0 * x)]).with_label(x.to_string())
        })
        .collect();
    let run = |solver| {
        let options = RegressionOptions { l2: 0.0, solver, ..RegressionOptions::default() };
        Regression::train(documents.clone().into_iter().map(Ok), &options)
    };
    let message = run(Solver::Cholesky).unwrap_err().to_string();
    assert!(message.contains("not unique"), "{message}");
    let regression = run(Solver::Auto).unwrap().regression;
    let y = regression.predict(&documents[4]).unwrap();
    assert!((y - 4.0).abs() < 1e-3, "{y}");
}

#[test]
fn models_have_the_same_bits_for_any_number_of_threads() {
    let documents = sparse_documents(700, 40);
    for (loss, l1) in [
        (RegressionLoss::Squared, 0.0),
        (RegressionLoss::Squared, 2.0),
        (RegressionLoss::Poisson, 0.0),
        (RegressionLoss::Insensitive { epsilon: 0.1 }, 0.0),
    ] {
        let model = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let options = RegressionOptions { loss, l1, max_iterations: Some(30), ..options() };
            pool.build().unwrap().install(|| {
                let trained = train(documents.clone(), &options);
                trained.regression.file().as_bytes().to_vec()
            })
        };
        assert_eq!(model(1), model(3), "{loss} {l1}");
    }
}

#[test]
fn limits_and_observers_end_training() {
    use std::ops::ControlFlow;

    use dropchain::optim::StopReason;

    for (loss, l1, solver) in [
        (RegressionLoss::Squared, 1e-3, Solver::CoordinateDescent),
        (RegressionLoss::Squared, 0.0, Solver::Lbfgs),
        (RegressionLoss::Poisson, 0.0, Solver::Auto),
    ] {
        let mut options = RegressionOptions {
            loss,
            l1,
            solver,
            max_iterations: Some(1),
            tolerance: 0.0,
            ..options()
        };
        let trained = train(documents(true), &options);
        assert_eq!(trained.stop_reason, StopReason::MaxIterations, "{loss}");
        options.max_iterations = None;
        let trainer = RegressionTrainer::new(options).unwrap();
        let corpus = trainer.corpus(documents(true).into_iter().map(Ok)).unwrap();
        let mut numbers = Vec::new();
        let trained = trainer.train(&corpus, &mut |iteration| {
            numbers.push(iteration.number);
            ControlFlow::Break(())
        });
        assert_eq!(trained.unwrap().stop_reason, StopReason::Interrupted, "{loss}");
        assert_eq!(numbers, [0], "{loss}");
    }
}

#[test]
fn more_features_than_documents_without_a_penalty_are_an_exact_fit() {
    for solver in [Solver::Auto, Solver::Lbfgs] {
        let options = RegressionOptions { l2: 0.0, solver, ..RegressionOptions::default() };
        let trained = train(sparse_documents(6, 30), &options);
        assert_ne!(trained.stop_reason, StopReason::LineSearch, "{solver:?}");
        assert!(trained.objective < 1e-8, "{solver:?}: {}", trained.objective);
    }
}
