//! The expectation over Gaussian scores, against integration.

use super::*;
use crate::extract::tests::random::{with_partial_labels, with_weights};
use crate::noise::{Engine, Expectation, NoiseTerm};
use crate::ranks::tests::run_ranks;

const ALL: [Expectation; 2] = [Expectation::Best, Expectation::Unscented];

fn noise(expectation: Expectation, masks: NoiseMasks) -> Noise {
    Noise {
        distribution: NoiseDistribution::Dropout,
        node: 0.4,
        edge: 0.2,
        term: NoiseTerm::GaussianScores(expectation),
        masks,
        unlabeled_weight: 0.5,
    }
}

fn best(masks: NoiseMasks) -> Noise {
    noise(Expectation::Best, masks)
}

/// The last sentence without labels.
fn unlabeled(mut data: Dataset) -> Dataset {
    let labeled = data.sentence(data.len() - 1).start;
    data.labels.truncate(labeled);
    data
}

/// Data of order 0 with partial labels, weights and an unlabeled sentence.
fn order_zero(labels: usize, states: States, seed: u64) -> (Dataset, ParameterSpace) {
    let shape = RandomData { sentences: 4, labels, edges: 0, ..DATA };
    let mut numbers = Lcg(seed);
    let data = shape.build(&mut numbers);
    let data = with_weights(&unlabeled(data), &[2.0, 0.25, 1.0, 3.0]);
    let data = if seed.is_multiple_of(2) {
        data
    } else {
        with_partial_labels(&data, labels, &mut numbers)
    };
    let options = SpaceOptions {
        order: Order::Zero,
        boundary: if seed.is_multiple_of(3) { Boundary::On } else { Boundary::Off },
        states,
        ..FIRST_ORDER
    };
    let space = space(&data, &shape, options);
    (data, space)
}

fn all_cases(labels: std::ops::Range<usize>) -> Vec<(Dataset, ParameterSpace)> {
    let mut cases = Vec::new();
    for labels in labels {
        for states in [States::All, States::Observed] {
            cases.extend((0..4).map(|seed| order_zero(labels, states, seed)));
        }
    }
    cases
}

fn evaluate(mut objective: PenalizedLikelihood, theta: &[f64]) -> (Terms, Vec<f64>) {
    let mut gradient = vec![f64::NAN; theta.len()];
    let (_, terms) = objective.evaluate(theta, &mut gradient);
    (terms, gradient)
}

/// The weights of the features of a token for two labels, times their values, and the rate of each.
fn differences(
    data: &Dataset,
    space: &ParameterSpace,
    theta: &[f64],
    [sentence, token]: [usize; 2],
) -> Vec<([f64; 2], f64)> {
    let [node_rate, edge_rate] = best(NoiseMasks::Weights).rates();
    let (block, tokens) = (&space.nodes, data.sentence(sentence));
    let mut terms = Vec::new();
    for (column, x) in data.nodes.entries(token) {
        let (mut pair, c) = ([0.0; 2], x * block.scale[column as usize]);
        let weights = block.weights(theta);
        let set = |position: usize, i: usize| pair[position] = c * weights[i];
        block.targets.for_each(column as usize, set);
        // √m·φ is m members with the weights φ/√m.
        terms.push((pair, node_rate / block.scale[column as usize].powi(2)));
    }
    let mut weights = LabelWeights::default();
    space.label_weights(theta, &mut weights);
    for (is_there, boundary) in
        [(token == tokens.start, &weights.start), (token + 1 == tokens.end, &weights.end)]
    {
        if is_there && !boundary.is_empty() {
            // Masks of boundary weights are never shared: one term for each label.
            terms.push(([boundary[0], 0.0], edge_rate));
            terms.push(([0.0, boundary[1]], edge_rate));
        }
    }
    terms
}

/// The noise term of two labels: softplus integrated over the difference of the scores.
fn term(data: &Dataset, space: &ParameterSpace, theta: &[f64], masks: NoiseMasks) -> f64 {
    let softplus = |d: f64| d.max(0.0) + (-d.abs()).exp().ln_1p();
    let factors = best(masks).factors([
        (0..data.labeled()).map(|i| data.weight(i)).sum(),
        (data.labeled()..data.len()).map(|i| data.weight(i)).sum(),
    ]);
    let mut value = 0.0;
    for i in 0..data.len() {
        let is_unlabeled = matches!(data.target(i), Target::Unlabeled);
        let factor = data.weight(i) * factors[usize::from(is_unlabeled)];
        for token in data.sentence(i) {
            let terms = differences(data, space, theta, [i, token]);
            let mean: f64 = terms.iter().map(|([a, b], _)| b - a).sum();
            let variance: f64 = match masks {
                NoiseMasks::Inputs => {
                    let terms = terms.iter().map(|([a, b], rate)| rate * (b - a).powi(2));
                    terms.sum()
                }
                NoiseMasks::Weights => {
                    let terms = terms.iter().map(|([a, b], rate)| rate * (a * a + b * b));
                    terms.sum()
                }
            };
            for k in -900..=900 {
                let z = 0.01 * f64::from(k);
                let density = 0.01 * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
                let noised = softplus(mean + z * variance.sqrt());
                value += factor * density * (noised - softplus(mean));
            }
        }
    }
    value
}

#[test]
fn of_two_labels_the_noise_term_is_that_of_its_definition() {
    for masks in [NoiseMasks::Weights, NoiseMasks::Inputs] {
        for (i, (data, space)) in all_cases(2..3).iter().enumerate() {
            let theta = Lcg(i as u64).vector(space.dimension());
            let objective = PenalizedLikelihood::new(data, space, 0.1);
            let (terms, _) = evaluate(objective.with_noise(best(masks)), &theta);
            let expected = term(data, space, &theta, masks);
            assert!(expected > 0.0);
            assert_close(terms.noise, expected, 1e-11);
        }
    }
}

#[test]
fn the_gradient_matches_central_differences_with_gaussian_scores() {
    for (i, (data, space)) in all_cases(1..5).iter().enumerate() {
        let theta = Lcg(i as u64).vector(space.dimension());
        for expectation in ALL {
            let noise = noise(expectation, NoiseMasks::Weights);
            let mut objective = PenalizedLikelihood::new(data, space, 0.1).with_noise(noise);
            let error = check_gradient(&mut objective, &theta, 1e-5);
            assert!(error < 1e-8, "case {i}, {expectation:?}: {error}");
        }
    }
}

#[test]
fn the_gradient_matches_central_differences_with_gaussian_scores_and_shared_masks() {
    for (i, (data, space)) in all_cases(1..3).iter().enumerate() {
        let theta = Lcg(i as u64).vector(space.dimension());
        let noise = best(NoiseMasks::Inputs);
        let mut objective = PenalizedLikelihood::new(data, space, 0.1).with_noise(noise);
        let error = check_gradient(&mut objective, &theta, 1e-5);
        assert!(error < 1e-8, "case {i}: {error}");
    }
}

#[test]
fn attributes_may_have_rates_of_their_own() {
    for masks in [NoiseMasks::Weights, NoiseMasks::Inputs] {
        let (data, space) = order_zero(2, States::All, 2);
        let theta = Lcg(1).vector(space.dimension());
        let rates = AttributeNoise {
            nodes: Some((0..space.nodes.columns()).map(|j| 0.1 * (j % 5) as f64).collect()),
            edges: None,
        };
        let objective = PenalizedLikelihood::new(&data, &space, 0.1);
        let mut objective = objective.with_attribute_noise(best(masks), rates);
        assert!(check_gradient(&mut objective, &theta, 1e-5) < 1e-8);
    }
}

#[test]
fn with_weak_noise_it_is_the_quadratic_term() {
    for masks in [NoiseMasks::Weights, NoiseMasks::Inputs] {
        let (data, space) = order_zero(2, States::All, 0);
        let theta = Lcg(2).vector(space.dimension());
        let term = |engine| {
            let noise = Noise { term: engine, node: 1e-6, edge: 1e-6, ..best(masks) };
            let objective = PenalizedLikelihood::new(&data, &space, 0.0);
            evaluate(objective.with_noise(noise), &theta).0.noise
        };
        let [gaussian, quadratic] =
            [NoiseTerm::GaussianScores(Expectation::Best), NoiseTerm::Quadratic(Engine::Exact)]
                .map(term);
        assert!(quadratic > 1e-7);
        assert!((gaussian / quadratic - 1.0).abs() < 1e-5);
    }
}

#[test]
fn every_number_of_threads_and_ranks_gives_the_same_bits_with_gaussian_scores() {
    for (labels, expectation, masks) in [
        (2, Expectation::Best, NoiseMasks::Weights),
        (2, Expectation::Best, NoiseMasks::Inputs),
        (3, Expectation::Unscented, NoiseMasks::Weights),
    ] {
        let shape = RandomData { sentences: 6000, nodes: 100, edges: 0, labels, ..LARGE };
        let data = unlabeled(shape.build(&mut Lcg(13)));
        let options = SpaceOptions { order: Order::Zero, ..FIRST_ORDER };
        let space = space(&data, &shape, options);
        assert!(BlockPartition::new(&data, space.stride()).blocks.len() > 1);
        let theta = Lcg(14).vector(space.dimension());
        let noise = noise(expectation, masks);
        let bits = |objective: PenalizedLikelihood| -> Vec<u64> {
            let (terms, mut gradient) = evaluate(objective.with_noise(noise), &theta);
            gradient.push(terms.noise);
            gradient.iter().map(|x| x.to_bits()).collect()
        };
        let with_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| bits(PenalizedLikelihood::new(&data, &space, 0.1)))
        };
        let one = with_threads(1);
        assert!(one.iter().all(|&x| f64::from_bits(x).is_finite()));
        assert!(with_threads(2) == one && with_threads(3) == one);
        let mut objective = PenalizedLikelihood::new(&data, &space, 0.1).with_noise(noise);
        objective.set_weights(&theta);
        let mut gradient = vec![0.0; theta.len()];
        let sums = objective.add_blocks(Pass::evaluation(&theta), LIMITS[0], &mut gradient);
        assert!(!sums.exceeds_limit);
        let ranks =
            run_ranks(2, |ranks| bits(PenalizedLikelihood::divided(&data, &space, 0.1, &ranks)));
        assert!(ranks.iter().all(|bits| *bits == one));
    }
}

#[test]
fn collapsing_is_an_isometry_with_gaussian_scores() {
    for states in [States::All, States::Observed] {
        let twins = Twins::new(18);
        let spaces = twins.spaces(SpaceOptions { states, order: Order::Zero, ..FIRST_ORDER });
        let phi = Lcg(19).vector(spaces[1].dimension());
        let theta = twins.expanded(&spaces, &phi);
        for expectation in ALL {
            let noise = noise(expectation, NoiseMasks::Weights);
            let evaluate = |data: &Dataset, space: &ParameterSpace, theta: &[f64]| {
                let objective = PenalizedLikelihood::new(data, space, 0.2);
                evaluate(objective.with_noise(noise), theta)
            };
            let (separate, gradient) = evaluate(&twins.separate, &spaces[0], &theta);
            let (collapsed, collapsed_gradient) = evaluate(&twins.collapsed, &spaces[1], &phi);
            assert_close(collapsed.noise, separate.noise, 1e-12);
            let expanded = twins.expanded(&spaces, &collapsed_gradient);
            for (found, expected) in expanded.iter().zip(&gradient) {
                assert_close(*found, *expected, 1e-11);
            }
        }
    }
}
