//! The objective by label pairs against that with all pairs.

use super::*;
use dropchain_numerics::testing::{with_partial_labels, with_weights};

const LABELS: usize = 70;

const SHAPE: RandomData =
    RandomData { sentences: 30, longest: 9, labels: LABELS, nodes: 20, edges: 0, binary: true };

const OPTIONS: SpaceOptions = SpaceOptions {
    order: Order::One,
    boundary: Boundary::On,
    states: States::Observed,
    transitions: true,
    label_pairs: States::Observed,
    min_frequency: None,
};

fn evaluate(mut objective: PenalizedLikelihood, theta: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![f64::NAN; theta.len()];
    let (value, _) = objective.evaluate(theta, &mut gradient);
    (value, gradient)
}

#[test]
fn value_and_gradient_by_pairs_are_those_with_all_pairs() {
    let mut numbers = Lcg(8);
    let data = SHAPE.build(&mut numbers);
    let mut unlabeled = data.clone();
    unlabeled.labels.truncate(data.sentence(20).start);
    let kinds = [
        with_weights(&data, &[0.5, 2.0, 1.0]),
        with_partial_labels(&data, LABELS, &mut numbers),
        unlabeled,
        data,
    ];
    let noises = [
        None,
        Some(noise(NoiseKind::Dropout, Engine::Exact)),
        Some(noise(NoiseKind::Additive, Engine::Exact)),
        Some(noise(NoiseKind::Reweighted(3), Engine::Exact)),
    ];
    for data in &kinds {
        let space = space(data, &SHAPE, OPTIONS);
        let theta = numbers.vector(space.dimension());
        for noise in noises {
            let objective = || match noise {
                None => PenalizedLikelihood::new(data, &space, 0.1),
                Some(noise) => PenalizedLikelihood::new(data, &space, 0.1).with_noise(noise),
            };
            // Partial labels may make all pairs possible.
            let by_pairs = objective();
            let is_sparse = space.label_pairs().unwrap().len() * 12 <= LABELS * LABELS;
            assert_eq!(by_pairs.is_by_pairs(), is_sparse);
            let (value, gradient) = evaluate(by_pairs, &theta);
            let mut dense = objective();
            dense.use_all_pairs();
            assert!(!dense.is_by_pairs());
            let (expected, expected_gradient) = evaluate(dense, &theta);
            assert_close(value, expected, 1e-12);
            for (found, expected) in gradient.iter().zip(&expected_gradient) {
                assert!((found - expected).abs() <= 1e-10 * (1.0 + expected.abs()));
            }
        }
    }
}

#[test]
fn engines_that_need_all_pairs_have_them() {
    let data = SHAPE.build(&mut Lcg(8));
    let space = space(&data, &SHAPE, OPTIONS);
    for engine in [Engine::Message { collapse: true }, Engine::Window(1), Engine::Window(0)] {
        let noise = noise(NoiseKind::Dropout, engine);
        let objective = PenalizedLikelihood::new(&data, &space, 0.1).with_noise(noise);
        assert!(!objective.is_by_pairs());
    }
}
