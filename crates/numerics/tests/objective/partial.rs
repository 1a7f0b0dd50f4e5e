//! Partial labels and weights of sentences.

use std::sync::Arc;

use super::*;
use dropchain_numerics::testing::{with_partial_labels, with_weights};

const WEIGHTS: [f64; 4] = [2.0, 0.25, 1.0, 0.0];

/// Cases with partial labels and weights.
fn partial_cases() -> Vec<(Dataset, ParameterSpace)> {
    cases_of(|data, labels, numbers| {
        let partial = with_partial_labels(&data, labels, numbers);
        match numbers.below(2) {
            0 => partial,
            _ => with_weights(&partial, &WEIGHTS),
        }
    })
}

#[test]
fn value_and_gradient_of_partial_labels_match_the_enumeration_of_all_paths() {
    let mut numbers = Lcg(21);
    let (mut partial_tokens, mut weighted) = (0, 0);
    for (data, space) in partial_cases() {
        let theta = numbers.vector(space.dimension());
        let (expected, expected_gradient) = enumerated(&data, &space, 0.3, &theta);
        let mut gradient = vec![f64::NAN; theta.len()];
        let mut objective = PenalizedLikelihood::new(&data, &space, 0.3);
        let (value, _) = objective.evaluate(&theta, &mut gradient);
        assert_close(value, expected, 1e-12);
        for (found, expected) in gradient.iter().zip(&expected_gradient) {
            assert_close(*found, *expected, 1e-12);
        }
        partial_tokens += data.partial_tokens();
        weighted += usize::from(data.weights.is_some());
    }
    assert!(partial_tokens > 200 && weighted > 20);
}

#[test]
fn the_gradient_of_partial_labels_with_noise_matches_central_differences() {
    for (i, (data, space)) in partial_cases().iter().enumerate() {
        for noise in noises() {
            let mut objective = PenalizedLikelihood::new(data, space, 0.1).with_noise(noise);
            let theta = Lcg(i as u64).vector(space.dimension());
            let error = check_gradient(&mut objective, &theta, 1e-5);
            assert!(error < 1e-6, "case {i}, {noise:?}: {error}");
        }
    }
}

/// Random data, large enough for several chunks, with a seventh of the sentences unlabeled.
fn sentences(partial: bool) -> (Dataset, RandomData) {
    let shape = RandomData { sentences: 150, longest: 9, ..DATA };
    let mut numbers = Lcg(22);
    let data = shape.build(&mut numbers);
    let mut data = match partial {
        true => with_partial_labels(&data, shape.labels, &mut numbers),
        false => data,
    };
    let labeled = data.sentence(128).end;
    data.labels.truncate(labeled);
    (data, shape)
}

fn evaluate(data: &Dataset, space: &ParameterSpace, noise: Option<NoiseOptions>) -> Vec<f64> {
    let mut objective = PenalizedLikelihood::new(data, space, 0.1);
    if let Some(noise) = noise {
        objective = objective.with_noise(noise);
    }
    let theta = Lcg(23).vector(space.dimension());
    let mut gradient = vec![0.0; theta.len()];
    let (value, _) = objective.evaluate(&theta, &mut gradient);
    gradient.push(value);
    gradient
}

#[test]
fn integer_weights_equal_repeated_sentences() {
    for (i, noise) in noises().into_iter().map(Some).chain([None]).enumerate() {
        let (data, shape) = sentences(i % 2 == 0);
        let weights = [3.0, 1.0, 0.0, 2.0];
        let repeated: Vec<usize> =
            (0..data.len()).flat_map(|i| std::iter::repeat_n(i, weights[i % 4] as usize)).collect();
        let repeated = data.select(&repeated);
        let weighted = with_weights(&data, &weights);
        assert_eq!(weighted.total_weights(), repeated.total_weights());
        for states in [States::All, States::Observed] {
            let options = SpaceOptions { states, ..FIRST_ORDER };
            let space = space(&repeated, &shape, options);
            let found = evaluate(&weighted, &space, noise);
            for (found, expected) in found.iter().zip(evaluate(&repeated, &space, noise)) {
                assert_close(*found, expected, 1e-10);
            }
            let [found, expected] = [&weighted, &repeated].map(|data| {
                PenalizedLikelihood::new(data, &space, 0.1).inverse_curvature().unwrap()
            });
            for (found, expected) in found.into_iter().zip(expected) {
                assert_close(found.into(), expected.into(), 1e-6);
            }
        }
    }
}

#[test]
fn weights_of_1_change_no_bit() {
    let (data, shape) = sentences(false);
    let space = space(&data, &shape, FIRST_ORDER);
    let ones = with_weights(&data, &[1.0]);
    for noise in [None, Some(noises()[0])] {
        assert!(evaluate(&data, &space, noise) == evaluate(&ones, &space, noise));
    }
}

#[test]
fn sentences_without_any_label_have_no_likelihood() {
    let (data, shape) = sentences(false);
    let mut unknown = data.clone();
    unknown.labels.clear();
    for _ in 0..data.labels.len() {
        unknown.push_labels(&[]);
    }
    let space = space(&data, &shape, FIRST_ORDER);
    let theta = Lcg(24).vector(space.dimension());
    let mut gradient = vec![f64::NAN; theta.len()];
    let (value, _) =
        PenalizedLikelihood::new(&unknown, &space, 0.0).evaluate(&theta, &mut gradient);
    assert_eq!(value, 0.0);
    assert!(gradient.iter().all(|&g| g == 0.0));
}

#[test]
fn every_number_of_threads_gives_the_same_bits_with_partial_labels_and_weights() {
    let (data, shape) = sentences(true);
    let data = with_weights(&data, &WEIGHTS);
    let space = space(&data, &shape, FIRST_ORDER);
    let bits = |threads: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let numbers = pool.unwrap().install(|| evaluate(&data, &space, Some(noises()[0])));
        numbers.iter().map(|x| x.to_bits()).collect()
    };
    let one = bits(1);
    assert!(bits(2) == one && bits(8) == one);
}

#[test]
fn every_label_of_a_set_is_observed_and_none_of_a_token_without_labels() {
    let mut data = Dataset::default();
    for column in 0..3 {
        let nodes = Arc::make_mut(&mut data.nodes);
        nodes.push_row(&mut vec![(column, 1.0)]);
        Arc::make_mut(&mut data.edges).push_row(&mut vec![]);
    }
    for labels in [&[LabelId(0), LabelId(2)][..], &[LabelId(1)], &[]] {
        data.push_labels(labels);
    }
    data.end_sentence(3, 1.0);
    let options = SpaceOptions {
        states: States::Observed,
        label_pairs: States::Observed,
        min_frequency: None,
        ..FIRST_ORDER
    };
    let (nodes, edges) = (Classes::singletons(3), Classes::singletons(0));
    let space = ParameterSpace::new(3, &data, &nodes, &edges, options);
    let positions = |column: usize| {
        let mut positions = Vec::new();
        let targets = &space.nodes.targets;
        targets.for_each(column, |position, _| positions.push(position));
        positions
    };
    assert_eq!(positions(0), [0, 2]);
    assert_eq!(positions(1), [1]);
    assert_eq!(positions(2), [0; 0]);
    // 3 of attributes, the pairs (0, 1) and (2, 1), the first labels 0 and 2.
    assert_eq!(space.dimension(), 3 + 2 + 2);
}
