//! The Monte-Carlo term against central differences, enumeration of all masks, and R.

use super::masks_oracle::{Exact, occurrences};
use super::*;
use dropchain_numerics::testing::{with_partial_labels, with_weights};

const MONTE_CARLO: NoiseOptions = noise(NoiseKind::MonteCarlo(3), Engine::Exact);

/// The noise with so many samples.
fn with_samples(samples: u32) -> NoiseOptions {
    NoiseOptions { kind: NoiseKind::MonteCarlo(samples), ..MONTE_CARLO }
}

/// The noise with these rates of nodes and edges.
fn with_rates([dropout, edge]: [f64; 2]) -> NoiseOptions {
    NoiseOptions { dropout, edge_dropout: Some(edge), ..MONTE_CARLO }
}

/// The objective with this noise.
fn sampled(
    data: &Dataset,
    space: &ParameterSpace,
    l2: f64,
    monte_carlo: NoiseOptions,
) -> PenalizedLikelihood {
    PenalizedLikelihood::new(data, space, l2).with_noise(monte_carlo)
}

const DATA: RandomData =
    RandomData { sentences: 3, longest: 4, labels: 3, nodes: 6, edges: 3, binary: false };

/// Data collapsed to classes of 1 to 3 attributes, and its parameters; with `apart`, uncollapsed.
fn collapsed(
    shape: RandomData,
    seed: u64,
    options: SpaceOptions,
    apart: bool,
) -> (Dataset, ParameterSpace) {
    let mut data = shape.build(&mut Lcg(seed));
    let (nodes, node_columns) = copied(&data.nodes, shape.nodes, |column| 1 + column % 3);
    let (edges, edge_columns) = copied(&data.edges, shape.edges, |column| 1 + column % 2);
    let classes = if apart {
        [Classes::singletons(node_columns), Classes::singletons(edge_columns)]
    } else {
        [Classes::equal_columns(&nodes, node_columns), Classes::equal_columns(&edges, edge_columns)]
    };
    data.nodes = classes[0].collapsed(&nodes).into();
    data.edges = classes[1].collapsed(&edges).into();
    let space = ParameterSpace::new(shape.labels, &data, &classes[0], &classes[1], options);
    (data, space)
}

/// Small data and parameters of every kind.
fn cases() -> Vec<(Dataset, ParameterSpace)> {
    let mut cases = Vec::new();
    for seed in 0..48_usize {
        let bit = |i: usize| seed >> i & 1 == 1;
        let shape = RandomData {
            labels: [1, 2, 3, 9][seed % 4],
            longest: if seed % 4 == 3 { 2 } else { 4 },
            edges: if bit(3) { DATA.edges } else { 0 },
            binary: bit(4),
            ..DATA
        };
        let options = SpaceOptions {
            order: if seed % 3 == 0 && !bit(3) { Order::Zero } else { Order::One },
            boundary: if bit(2) { Boundary::On } else { Boundary::Off },
            states: if seed % 5 < 3 { States::All } else { States::Observed },
            transitions: seed % 7 != 0,
            label_pairs: if seed % 5 < 3 { States::All } else { States::Observed },
            min_frequency: None,
        };
        cases.push(collapsed(shape, seed as u64, options, bit(5)));
    }
    cases
}

/// A sentence with two tokens, two labels and few enough weights to enumerate all masks.
fn tiny(order: Order, boundary: Boundary, apart: bool) -> (Dataset, ParameterSpace) {
    let shape =
        RandomData { sentences: 1, longest: 2, labels: 2, nodes: 2, edges: 0, binary: true };
    let options = SpaceOptions { order, boundary, ..FIRST_ORDER };
    let seed = (0..).find(|&seed| {
        let (data, space) = collapsed(shape, seed, options, false);
        let columns = [0, 1].map(|t| data.nodes.row(t % data.tokens()).0.len());
        (data.tokens(), columns, space.nodes.scale.len()) == (2, [2, 1], 2)
    });
    collapsed(shape, seed.unwrap(), options, apart)
}

/// The noise term at θ under `noise`.
fn term(objective: PenalizedLikelihood, theta: &[f64]) -> f64 {
    let mut objective = objective;
    objective.evaluate(theta, &mut vec![0.0; theta.len()]).1.noise
}

/// The labels of the only sentence.
fn labels((data, _): &(Dataset, ParameterSpace)) -> Vec<LabelId> {
    data.labels.clone()
}

/// The means of D over the samples of iterations `iterations`.
fn means(mut objective: PenalizedLikelihood, theta: &[f64], iterations: u64) -> Vec<f64> {
    let mut gradient = vec![0.0; theta.len()];
    let mut mean = |iteration| {
        objective.begin_iteration(iteration, false);
        objective.evaluate(theta, &mut gradient).1.noise
    };
    (0..iterations).map(&mut mean).collect()
}

#[test]
fn the_mean_over_samples_converges_to_the_expectation_over_all_masks() {
    for (order, apart) in [(Order::Zero, true), (Order::One, true), (Order::One, false)] {
        let case = tiny(order, Boundary::On, apart);
        let theta: Vec<f64> = Lcg(5).vector(case.1.dimension()).iter().map(|w| 2.0 * w).collect();
        let all = occurrences(&case.0, &case.1, &theta, MONTE_CARLO);
        let exact = Exact::new(2, &labels(&case), &all);
        let samples = 500;
        let monte_carlo = with_samples(samples);
        let means = means(sampled(&case.0, &case.1, 0.0, monte_carlo), &theta, 40);
        let mean = means.iter().sum::<f64>() / 40.0;
        let error = (mean - exact.mean) / (exact.deviation / (40.0 * f64::from(samples)).sqrt());
        assert!(error.abs() < 3.0, "{order:?}: {error} standard errors");
    }
}

#[test]
fn the_error_falls_with_the_square_root_of_the_number_of_samples() {
    let case = tiny(Order::One, Boundary::On, false);
    let theta = Lcg(6).vector(case.1.dimension());
    let all = occurrences(&case.0, &case.1, &theta, MONTE_CARLO);
    let exact = Exact::new(2, &labels(&case), &all);
    for samples in [1, 4, 16, 64] {
        let monte_carlo = with_samples(samples);
        let means = means(sampled(&case.0, &case.1, 0.0, monte_carlo), &theta, 200);
        let squares = means.iter().map(|mean| (mean - exact.mean).powi(2));
        let error = (squares.sum::<f64>() / 200.0).sqrt();
        let expected = exact.deviation / f64::from(samples).sqrt();
        // 200 errors estimate their standard deviation within 5 %.
        assert!((error / expected - 1.0).abs() < 0.15, "{samples}: {error}, {expected}");
    }
}

#[test]
fn collapsing_does_not_change_the_expectation() {
    let exact = [false, true].map(|apart| {
        let (data, space) = tiny(Order::One, Boundary::On, apart);
        let mut theta = vec![0.0; space.dimension()];
        for (column, scale) in space.nodes.scale.iter().enumerate() {
            for i in space.nodes.targets.range(column) {
                theta[i] = scale * [1.5, -0.5][i % 2];
            }
        }
        let all = occurrences(&data, &space, &theta, MONTE_CARLO);
        (all.len(), Exact::new(2, &data.labels, &all).mean)
    });
    assert_eq!(exact[0].0, exact[1].0);
    assert!((exact[0].1 - exact[1].1).abs() < 1e-12);
}

/// R of the same noise.
fn quadratic(
    (data, space): &(Dataset, ParameterSpace),
    monte_carlo: NoiseOptions,
    theta: &[f64],
) -> f64 {
    let noise = NoiseOptions { kind: NoiseKind::Dropout, ..monte_carlo };
    term(PenalizedLikelihood::new(data, space, 0.0).with_noise(noise), theta)
}

/// R, the expectation, its second-order part, and the probability of the best path, at these rates
/// of nodes and edges and with weights of `size`.
fn compared(case: &(Dataset, ParameterSpace), rates: [f64; 2], size: f64) -> ([f64; 3], f64) {
    let monte_carlo = with_rates(rates);
    let theta: Vec<f64> = Lcg(9).vector(case.1.dimension()).iter().map(|w| size * w).collect();
    let all = occurrences(&case.0, &case.1, &theta, monte_carlo);
    let exact = Exact::new(2, &labels(case), &all);
    let r = quadratic(case, monte_carlo, &theta);
    ([r, exact.mean, exact.second], exact.best)
}

#[test]
fn at_order_0_r_is_the_second_order_part() {
    let case = tiny(Order::Zero, Boundary::On, true);
    for (rate, size) in [(0.01, 1.0), (0.3, 0.5), (0.5, 4.0)] {
        let ([r, _, second], _) = compared(&case, [rate; 2], size);
        assert!((r / second - 1.0).abs() < 1e-12, "{r} {second}");
    }
}

#[test]
fn at_order_1_r_is_the_second_order_part_of_edge_noise_and_exceeds_that_of_node_noise() {
    let case = tiny(Order::One, Boundary::Off, true);
    let ([r, _, second], _) = compared(&case, [0.0, 0.3], 2.0);
    assert!((r / second - 1.0).abs() < 1e-12, "{r} {second}");
    for (size, expected) in [(0.5, 1.296), (2.0, 1.653)] {
        let ([r, _, second], _) = compared(&case, [0.3, 0.0], size);
        assert!((r / second - expected).abs() < 5e-4, "{}", r / second);
    }
}

#[test]
fn the_second_order_part_dominates_for_small_weights() {
    for order in [Order::Zero, Order::One] {
        let case = tiny(order, Boundary::On, true);
        let ([_, mean, second], _) = compared(&case, [0.3; 2], 0.01);
        assert!((second / mean - 1.0).abs() < 1e-3, "{order:?}: {}", second / mean);
    }
}

/// What `docs/dropout.md` sums up: order, size of weights, probability of the best labels, and the
/// ratio of R to the expectation at rates 0.01, 0.1, 0.3, 0.5.
const TABLE: [(Order, f64, f64, [f64; 4]); 6] = [
    (Order::Zero, 0.5, 0.423, [0.989, 0.997, 1.020, 1.061]),
    (Order::Zero, 2.0, 0.640, [1.105, 1.161, 1.311, 1.503]),
    (Order::Zero, 6.0, 0.854, [1.148, 1.274, 1.639, 2.063]),
    (Order::One, 0.5, 0.476, [1.323, 1.334, 1.368, 1.427]),
    (Order::One, 2.0, 0.803, [1.777, 1.785, 1.871, 2.051]),
    (Order::One, 6.0, 0.986, [0.649, 0.511, 0.468, 0.507]),
];

#[test]
fn r_approximates_the_expectation_as_documented() {
    for (order, size, best, ratios) in TABLE {
        let case = tiny(order, Boundary::On, true);
        for (rate, expected) in [0.01, 0.1, 0.3, 0.5].into_iter().zip(ratios) {
            let ([r, mean, _], sure) = compared(&case, [rate; 2], size);
            assert!((r / mean - expected).abs() < 6e-4, "{order:?} {size} {rate}");
            assert!((sure - best).abs() < 6e-4, "{order:?} {size}: {sure}");
        }
    }
}

#[test]
fn rates_of_0_add_nothing() {
    let (data, space) = tiny(Order::One, Boundary::On, false);
    let theta = Lcg(7).vector(space.dimension());
    let monte_carlo = with_rates([0.0; 2]);
    let mut gradients = [(); 2].map(|()| vec![0.0; theta.len()]);
    PenalizedLikelihood::new(&data, &space, 0.1).evaluate(&theta, &mut gradients[0]);
    let (_, terms) = sampled(&data, &space, 0.1, monte_carlo).evaluate(&theta, &mut gradients[1]);
    assert!(terms.noise.abs() < 1e-14);
    for (found, expected) in gradients[1].iter().zip(&gradients[0]) {
        assert!((found - expected).abs() < 1e-14);
    }
}

#[test]
fn another_seed_or_iteration_draws_other_masks() {
    let case = tiny(Order::One, Boundary::On, false);
    let theta = Lcg(8).vector(case.1.dimension());
    let run = |seed| {
        let objective = PenalizedLikelihood::new(&case.0, &case.1, 0.0);
        means(objective.with_noise_except(MONTE_CARLO, seed, Default::default()), &theta, 3)
    };
    let (one, other) = (run(1), run(2));
    assert_eq!(one, run(1));
    assert!(one[0] != one[1] && one[1] != one[2] && one[0] != other[0]);
    let mut objective = sampled(&case.0, &case.1, 0.0, MONTE_CARLO);
    let changes = [0, 1, 1].map(|iteration| objective.begin_iteration(iteration, false));
    assert_eq!(changes, [Change::None, Change::Samples, Change::None]);
}

#[test]
fn every_number_of_threads_gives_the_same_bits() {
    let shape =
        RandomData { sentences: 1200, longest: 12, nodes: 700, edges: 40, binary: true, ..DATA };
    let (data, space) = collapsed(shape, 13, FIRST_ORDER, false);
    let theta = Lcg(14).vector(space.dimension());
    let bits = |threads: usize| -> Vec<u64> {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut gradient = vec![0.0; theta.len()];
            let mut objective = sampled(&data, &space, 0.1, MONTE_CARLO);
            let (value, _) = objective.evaluate(&theta, &mut gradient);
            gradient.push(value);
            gradient.iter().map(|x| x.to_bits()).collect()
        })
    };
    let one = bits(1);
    assert!(bits(2) == one && bits(5) == one);
}

#[test]
fn overflow_gives_a_value_that_is_not_finite_and_no_panic() {
    let (data, space) = collapsed(DATA, 17, FIRST_ORDER, false);
    let mut gradient = vec![0.0; space.dimension()];
    let theta = vec![1e308; space.dimension()];
    let mut objective = sampled(&data, &space, 0.1, MONTE_CARLO);
    assert!(!objective.evaluate(&theta, &mut gradient).0.is_finite());
}

#[test]
fn the_gradient_matches_central_differences() {
    for (i, (mut data, space)) in cases().into_iter().enumerate() {
        if i % 2 == 1 {
            let labeled = data.sentence(data.len() - 1).start;
            data.labels.truncate(labeled);
        }
        let rates = [[0.4, 0.2], [0.4, 0.0], [0.0, 0.3], [0.9, 0.9]][i / 4 % 4];
        let monte_carlo = with_rates(rates);
        let l2 = [0.1, 0.0][i % 2];
        let mut objective = sampled(&data, &space, l2, monte_carlo);
        objective.begin_iteration(i as u64, false);
        let theta = Lcg(i as u64).vector(space.dimension());
        let error = check_gradient(&mut objective, &theta, 1e-5);
        assert!(error < 1e-7, "case {i}: {error}");
    }
}

#[test]
fn the_gradient_of_partial_labels_and_weights_matches_central_differences() {
    for (i, (data, space)) in cases().iter().enumerate() {
        let mut numbers = Lcg(i as u64);
        let data = match i % 2 {
            0 => with_partial_labels(data, space.labels(), &mut numbers),
            _ => with_weights(data, &[2.0, 0.25, 1.0, 0.0]),
        };
        let mut objective = sampled(&data, space, 0.1, MONTE_CARLO);
        let theta = numbers.vector(space.dimension());
        let error = check_gradient(&mut objective, &theta, 1e-5);
        assert!(error < 1e-6, "case {i}: {error}");
    }
}
