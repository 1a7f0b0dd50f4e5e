//! Tests of objectives and minima against enumeration, finite differences and other solvers.

use super::design::Design;
use super::loss::Loss;
use super::noise::{Noise, Sampling};
use super::objective::{Examples, LinearObjective};
use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::optim::{Objective, check_gradient};
use dropchain::kernel::random::uniform;

const LOSSES: [Loss; 4] = [Loss::Softmax, Loss::Hinge, Loss::Logistic, Loss::Squared];

/// 20 documents with 9 features at random, of which two have equal columns, and so many scores.
fn design(outputs: usize) -> Design {
    let mut rows = SparseRows::default();
    for n in 0..20_u64 {
        let mut row: Vec<(u32, f64)> = (0..8_u64)
            .filter(|j| uniform(7, 8 * n + j) < 0.5)
            .map(|j| (j as u32, if j % 2 == 0 { 1.0 } else { 0.5 + uniform(9, 8 * n + j) }))
            .collect();
        let copy = row.iter().find(|(j, _)| *j == 3).map(|(_, x)| (8, *x));
        row.extend(copy);
        rows.push_row(&mut row);
    }
    let design = Design::new(&rows, 9, true, (outputs, 1.5));
    assert_eq!(design.dimension(), 8);
    Design { bias: 1.3, ..design }
}

fn examples(outputs: usize) -> Examples {
    let target = |i: usize| {
        let class = (i / outputs * 7 + i / outputs / 3) % outputs.max(2);
        let is_class = if outputs == 1 { class == 1 } else { class == i % outputs };
        if is_class { 1.0 } else { -1.0 }
    };
    Examples {
        targets: (0..20 * outputs).map(target).collect(),
        weights: (0..20).map(|n| [1.0, 2.0, 0.0][n % 3]).collect(),
        factors: (0..20).map(|n| [0.7, 1.4, 0.3][n % 3]).collect(),
    }
}

fn objective(design: &Design, loss: Loss, noise: Noise) -> LinearObjective<'_> {
    let outputs = design.outputs;
    let count = (design.dimension() + 1) * outputs;
    LinearObjective {
        design,
        examples: examples(outputs),
        loss,
        is_joint: outputs > 1 && loss == Loss::Softmax,
        noise,
        multipliers: vec![0.1; 20 * outputs],
        l2: (0..count).map(|i| 0.1 * (i % 3) as f64).collect(),
        curvature: vec![1.0; count],
    }
}

fn weights(count: usize) -> Vec<f64> {
    (0..count as u64).map(|j| 2.0 * uniform(3, j) - 1.0).collect()
}

fn check(mut objective: LinearObjective<'_>, what: &str) {
    let phi = weights(objective.dimension());
    let error = check_gradient(&mut objective, &phi, 1e-5);
    assert!(error < 1e-6, "{what}: {error}");
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let sampling = Sampling { samples: 3, rate: 0.4, seed: 5, iteration: 0, is_shared: false };
    let noises = [
        Noise::None,
        Noise::Proportional(0.75),
        Noise::Additive(0.2),
        Noise::Gaussian(0.75),
        Noise::Sampled(sampling),
        Noise::Shared(0.75),
    ];
    for outputs in [1, 3] {
        let design = design(outputs);
        for loss in LOSSES {
            for (i, noise) in noises.into_iter().enumerate() {
                let of_softmax = i > 2;
                let of_joint = i == 5;
                let is_joint = outputs > 1 && loss == Loss::Softmax;
                let is_fit = (!of_softmax || loss == Loss::Softmax) && (!of_joint || is_joint);
                // Without noise only losses with multipliers are smooth; they are tested below.
                let is_smooth = i > 0 || matches!(loss, Loss::Softmax | Loss::Squared);
                if is_fit && is_smooth {
                    let what = format!("{loss:?}, {outputs} scores, {noise:?}");
                    check(objective(&design, loss, noise), &what);
                }
            }
        }
    }
}

#[test]
fn gradients_with_multipliers_are_those_of_finite_differences() {
    let design = design(1);
    for sigma in [1.0, 0.1] {
        let mut objective = objective(&design, Loss::Hinge, Noise::None);
        objective.examples.factors.clone_from(&objective.examples.weights);
        objective.noise = Noise::Smooth(sigma);
        let phi = weights(objective.dimension());
        let (_, terms) = objective.evaluate(&phi, &mut vec![0.0; phi.len()]);
        assert!(terms.noise <= 0.0, "the smooth loss is below");
        objective.set_multipliers(&phi, sigma);
        check(objective, &sigma.to_string());
    }
}

/// Returns the expectation of a loss over all masks of a row with these products x·w.
fn expected(products: &[f64], bias: f64, rate: f64, loss: impl Fn(f64) -> f64) -> f64 {
    let masks = 0..1_u32 << products.len();
    let terms = masks.map(|mask| {
        let (mut probability, mut score) = (1.0, bias);
        for (i, product) in products.iter().enumerate() {
            let is_kept = mask >> i & 1 == 1;
            probability *= if is_kept { 1.0 - rate } else { rate };
            score += if is_kept { product / (1.0 - rate) } else { 0.0 };
        }
        probability * loss(score)
    });
    terms.sum()
}

#[test]
fn bounds_are_above_the_expected_loss_by_enumeration_and_tight_without_noise() {
    let rate = 0.4;
    for loss in &LOSSES[1..] {
        for seed in 0..30 {
            let random = |n: u64| 2.0 * uniform(seed, n) - 1.0;
            let products: Vec<f64> = (0..6).map(random).collect();
            let (bias, y) = (random(6), if seed % 2 == 0 { 1.0 } else { -1.0 });
            let f = products.iter().sum::<f64>() + bias;
            let variance = rate / (1.0 - rate) * products.iter().map(|x| x * x).sum::<f64>();
            let bound = |variance| {
                let point = loss.noisy(y, f, variance);
                point.loss + point.noise
            };
            let plain = |f| loss.plain(y, f).loss;
            let expected = expected(&products, bias, rate, plain);
            assert!(bound(variance) >= expected - 1e-12, "{loss:?}");
            let slack = if *loss == Loss::Hinge { 1e-4 } else { 1e-12 };
            assert!((bound(0.0) - plain(f)).abs() < slack, "{loss:?}");
            if *loss == Loss::Squared {
                assert!((bound(variance) - expected).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn quadratic_and_sampled_noise_of_small_rates_are_the_expectation() {
    let (products, bias, rate) = ([0.3, -0.2, 0.25, 0.1], 0.4, 0.02);
    let f = products.iter().sum::<f64>() + bias;
    let variance = rate / (1.0 - rate) * products.iter().map(|x| x * x).sum::<f64>();
    let loss = Loss::Softmax;
    let plain = |f| loss.plain(1.0, f).loss;
    let exact = expected(&products, bias, rate, plain) - plain(f);
    for point in [loss.noisy(1.0, f, variance), loss.gaussian(1.0, f, variance)] {
        assert!((point.noise / exact - 1.0).abs() < 0.08, "{} {exact}", point.noise);
    }
    let sampling = Sampling { samples: 20_000, rate: 0.3, seed: 1, iteration: 0, is_shared: true };
    let factors = (0..20_000).map(|s| sampling.factor([0, s], 3, [0, 1]));
    let (sum, squares) = factors.fold((0.0, 0.0), |(a, b), x| (a + x, b + x * x));
    assert!((sum / 2e4 - 1.0).abs() < 0.02 && (squares / 2e4 - 1.0 / 0.7).abs() < 0.03);
}
