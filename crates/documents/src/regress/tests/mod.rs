//! Tests of regression.

mod path;
mod regression;
mod solvers;

use super::*;
use crate::Instance;
use dropchain::random::uniform;

/// y = 3 + 2·a − b, with numbers that are wild now and then.
fn documents(wild: bool) -> Vec<Instance> {
    let document = |i: u64| {
        let [a, b, c] = [0, 1, 2].map(|k| uniform(5, 3 * i + k));
        let is_wild = wild && i.is_multiple_of(20);
        let y = 3.0 + 2.0 * a - b + if is_wild { 100.0 } else { 0.0 };
        Instance::from_features([("a", a), ("b", b), ("c", c)]).with_label(y.to_string())
    };
    (0..100).map(document).collect()
}

/// `count` sparse documents of `features` features, the third of which is constant, with counts
/// that depend on some of them.
fn sparse_documents(count: u64, features: u64) -> Vec<Instance> {
    let document = |n: u64| {
        let value = |j: u64| match (uniform(7, n * features + j), j) {
            (_, 2) => 1.5,
            (u, _) if u < 0.4 => 2.0 * u + j as f64 / 7.0,
            _ => 0.0,
        };
        let score: f64 = (0..features).map(|j| value(j) / (j + 2) as f64).sum();
        let y = (score + uniform(11, n)).floor();
        let entries = (0..features).map(|j| (format!("f{j}"), value(j)));
        Instance::from_features(entries.filter(|(_, x)| *x != 0.0)).with_label(y.to_string())
    };
    (0..count).map(document).collect()
}

fn options() -> RegressionOptions {
    RegressionOptions { l2: 1e-3, ..RegressionOptions::default() }
}

fn train(documents: Vec<Instance>, options: &RegressionOptions) -> TrainedRegression {
    Regression::train(documents.into_iter().map(Ok), options).unwrap()
}
