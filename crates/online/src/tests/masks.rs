//! Real dropout of attributes.

use dropchain::kernel::objective::{NoiseKind, NoiseOptions};

use super::*;
use crate::masks::Dropout;
use crate::problem::Problem;
use crate::rows::Rows;

fn sampled(seed: u64, eta: f64) -> LearnerSettings {
    let kind = NoiseKind::MonteCarlo(1);
    LearnerSettings {
        noise: Some(NoiseOptions { kind, edge_dropout: Some(0.5), ..NoiseOptions::dropout(0.3) }),
        seed,
        penalty: Penalty::from(0.0),
        ..settings(Algorithm::Sgd(LearningRate::Fixed(eta)))
    }
}

/// One step at `theta`: the loss of the sentence before it and the weights after it.
fn step(data: &Dataset, space: &ParameterSpace, theta: &[f64]) -> (f64, Vec<f64>) {
    let mut learner = EpochLearner::new(data, space, sampled(5, 1e-6), theta.to_vec());
    let epoch = learner.run_epoch();
    (-epoch.terms.log_likelihood, learner.theta.clone())
}

#[test]
fn a_step_follows_the_gradient_of_the_masked_loss() {
    for (case, (data, space)) in cases().iter().enumerate() {
        let data = one(data, case % data.len());
        let theta = Lcg(case as u64).vector(space.dimension());
        let (_, after) = step(&data, space, &theta);
        for i in 0..theta.len() {
            let shifted = |h: f64| {
                let mut theta = theta.clone();
                theta[i] += h;
                step(&data, space, &theta).0
            };
            let derivative = (shifted(1e-4) - shifted(-1e-4)) / 2e-4;
            let gradient = (theta[i] - after[i]) / 1e-6;
            assert_close(gradient, derivative, 1e-5);
        }
    }
}

#[test]
fn masked_values_are_right_on_average() {
    let shape =
        RandomData { sentences: 1, longest: 1, labels: 3, nodes: 4, edges: 0, binary: false };
    let data =
        (0..).map(|seed| shape.build(&mut Lcg(seed))).find(|data| data.nodes.nonzeros() == 3);
    let data = data.unwrap();
    let space = space(&data, &shape, FIRST_ORDER);
    let problem = Problem::new(&data, &space);
    let rows = Rows::new(&problem, 0);
    const N: u64 = 20_000;
    let mut sums = [0.0; 3];
    let mut transitions = 0.0;
    let dropout = Dropout { rates: [0.3, 0.6], seed: 7 };
    for epoch in 0..N {
        let dropped = dropout.draw(&rows, epoch);
        let entries = dropped.rows(&rows).matrices[0].entries(0).zip(data.nodes.entries(0));
        for (sum, ((column, x), (old_column, old))) in sums.iter_mut().zip(entries) {
            assert_eq!(column, old_column);
            assert!(x == 0.0 || (x / old - 1.0 / 0.7).abs() < 1e-12);
            *sum += x / old / N as f64;
        }
        transitions += dropped.transitions[0] / N as f64;
    }
    // Standard deviations √(δ/(1 − δ)/N): 0.0046 and 0.0087.
    for sum in sums {
        assert!((sum - 1.0).abs() < 0.025, "{sum}");
    }
    assert!((transitions - 1.0).abs() < 0.045, "{transitions}");
}

#[test]
fn masks_depend_on_seed_and_epoch() {
    let (data, space) = &cases()[0];
    let run = |seed| {
        let mut learner = learner(data, space, &sampled(seed, 0.1));
        [learner.run_epoch(), learner.run_epoch()].map(|epoch| epoch.objective)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
