//! The objective against path enumeration, central differences, and itself.

mod masks_oracle;
mod monte_carlo;
mod noise;
mod pairs;
mod partial;
mod penalty;
mod ranks;
mod reweighted;
mod sentence;
mod totals;

use dropchain_numerics::chain::{LabelWeights, Order};
use dropchain_numerics::data::{Allowed, Classes, Dataset, SparseRows, Target};
use dropchain_numerics::ids::LabelId;
use dropchain_numerics::math::assert_close;
use dropchain_numerics::noise::Engine;
use dropchain_numerics::objective::*;
use dropchain_numerics::optim::{Change, LbfgsOptions, Objective, check_gradient, minimize};
use dropchain_numerics::ranks::Ranks;
use dropchain_numerics::score::{
    BlockPartition, Boundary, FeatureBlock, ParameterSpace, SpaceOptions, States,
};
use dropchain_numerics::testing::internal::CHUNK;
use dropchain_numerics::testing::{
    Chain, FIRST_ORDER, Lcg, RandomData, assert_same_bits, copied, space,
};

const DATA: RandomData =
    RandomData { sentences: 3, longest: 3, labels: 3, nodes: 6, edges: 3, binary: false };

/// Small data and parameters of every kind.
fn cases() -> Vec<(Dataset, ParameterSpace)> {
    cases_of(|data, _, _| data)
}

/// Small data, changed given their number of labels and random numbers, and parameters of every
/// kind.
fn cases_of(
    change: impl Fn(Dataset, usize, &mut Lcg) -> Dataset,
) -> Vec<(Dataset, ParameterSpace)> {
    let mut cases = Vec::new();
    for seed in 0..80_usize {
        let bit = |i: usize| seed >> i & 1 == 1;
        let labels = 1 + seed / 16;
        let shape = RandomData {
            labels,
            longest: if labels > 3 { 3 } else { 4 },
            edges: if bit(0) { DATA.edges } else { 0 },
            binary: seed % 3 == 0,
            ..DATA
        };
        let mut numbers = Lcg(seed as u64);
        let data = change(shape.build(&mut numbers), labels, &mut numbers);
        let options = SpaceOptions {
            order: if bit(1) && !bit(0) { Order::Zero } else { Order::One },
            boundary: if bit(2) { Boundary::On } else { Boundary::Off },
            states: if bit(3) { States::All } else { States::Observed },
            transitions: seed % 5 != 0,
            label_pairs: if seed % 3 > 0 { States::All } else { States::Observed },
            min_frequency: None,
        };
        let space = space(&data, &shape, options);
        cases.push((data, space));
    }
    cases
}

/// The scores of a token by definition, `[width]`.
fn scores(rows: &SparseRows, token: usize, block: &FeatureBlock, theta: &[f64]) -> Vec<f64> {
    let (mut scores, weights) = (vec![0.0; block.width()], block.weights(theta));
    for (column, value) in rows.entries(token) {
        let (column, c) = (column as usize, value * block.scale[column as usize]);
        let add = |position: usize, i: usize| scores[position] += c * weights[i];
        block.targets.for_each(column, add);
    }
    scores
}

/// The scores of a sentence by definition.
fn chain(data: &Dataset, space: &ParameterSpace, theta: &[f64], sentence: usize) -> Chain {
    let (k, stride) = (space.labels(), space.stride());
    let mut weights = LabelWeights::default();
    space.label_weights(theta, &mut weights);
    let tokens = data.sentence(sentence);
    let mut chain = Chain::new(tokens.len(), k, || 0.0).with_edges(|| 0.0);
    chain.order = space.order();
    chain.trans = weights.transitions.chunks(k).map(<[f64]>::to_vec).collect();
    chain.start.clone_from(&weights.start);
    chain.end.clone_from(&weights.end);
    for (t, token) in tokens.enumerate() {
        let node = scores(&data.nodes, token, &space.nodes, theta);
        chain.node[t].copy_from_slice(&node[..k]);
        let edge = scores(&data.edges, token, &space.edges, theta);
        let lines = edge.chunks(stride).map(|line| line[..k].to_vec());
        chain.edge.as_mut().unwrap()[t] = lines.collect();
    }
    chain
}

/// Whether the labels of a sentence allow a path.
fn allows(target: Target<'_>, path: &[LabelId]) -> bool {
    match target {
        Target::Gold(labels) => path == labels,
        Target::Allowed(labels) => labels.iter().zip(path).all(|(allowed, label)| {
            let mut is_allowed = allowed == Allowed::Any;
            allowed.for_each(|other| is_allowed |= other == *label);
            is_allowed
        }),
        Target::Unlabeled => true,
    }
}

/// Value and gradient by enumeration of all paths.
pub(crate) fn enumerated(
    data: &Dataset,
    space: &ParameterSpace,
    l2: f64,
    theta: &[f64],
) -> (f64, Vec<f64>) {
    let (k, stride) = (space.labels(), space.stride());
    let mut gradient: Vec<f64> = theta.iter().map(|w| 2.0 * l2 * w).collect();
    let mut value = l2 * theta.iter().map(|w| w * w).sum::<f64>();
    for i in 0..data.len() {
        let (tokens, weight) = (data.sentence(i), data.weight(i));
        let oracle = chain(data, space, theta, i).enumerate();
        let allowed = oracle.clone().given(|path| allows(data.target(i), path));
        value += weight * (oracle.log_partition() - allowed.log_partition());
        let difference = |all: Vec<f64>, allowed: Vec<f64>| -> Vec<f64> {
            all.iter().zip(&allowed).map(|(all, allowed)| weight * (all - allowed)).collect()
        };
        let nodes = difference(oracle.node_marginals(), allowed.node_marginals());
        let mut pairs = vec![0.0; k * stride];
        for (t, token) in tokens.clone().enumerate() {
            let mut edges = vec![0.0; k * stride];
            if t > 0 {
                edges = difference(oracle.edge_marginals(t), allowed.edge_marginals(t));
                pairs.iter_mut().zip(&edges).for_each(|(sum, d)| *sum += d);
            }
            for (rows, block, derivatives) in [
                (&data.nodes, &space.nodes, &nodes[t * stride..]),
                (&data.edges, &space.edges, &edges[..]),
            ] {
                for (column, x) in rows.entries(token) {
                    let c = x * block.scale[column as usize];
                    let gradient = block.weights_mut(&mut gradient);
                    block.targets.for_each(column as usize, |position, i| {
                        gradient[i] += c * derivatives[position];
                    });
                }
            }
        }
        let last = &nodes[(tokens.len() - 1) * stride..];
        space.add_label_gradient([&pairs, &nodes[..stride], last], &mut gradient);
    }
    (value, gradient)
}

#[test]
fn value_and_gradient_match_the_enumeration_of_all_paths() {
    let mut numbers = Lcg(11);
    for (i, (data, space)) in cases().iter().enumerate() {
        let l2 = [0.0, 0.3][i % 2];
        let theta = numbers.vector(space.dimension());
        let (expected, expected_gradient) = enumerated(data, space, l2, &theta);
        let mut gradient = vec![f64::NAN; theta.len()];
        let (value, terms) =
            PenalizedLikelihood::new(data, space, l2).evaluate(&theta, &mut gradient);
        assert_close(value, expected, 1e-12);
        assert_eq!(value, terms.l2 - terms.log_likelihood);
        for (found, expected) in gradient.iter().zip(&expected_gradient) {
            assert_close(*found, *expected, 1e-12);
        }
    }
}

/// Data of several blocks, with a gradient of several chunks.
const LARGE: RandomData =
    RandomData { sentences: 1500, longest: 12, labels: 3, nodes: 7000, edges: 40, binary: true };

#[test]
fn every_number_of_threads_gives_the_same_bits() {
    let data = LARGE.build(&mut Lcg(13));
    let space = space(&data, &LARGE, FIRST_ORDER);
    let theta = Lcg(14).vector(space.dimension());
    assert!(theta.len() > CHUNK);
    assert!(BlockPartition::new(&data, space.edges.width()).blocks.len() > 1);
    let bits = |threads: usize| -> Vec<u64> {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut gradient = vec![0.0; theta.len()];
            let mut objective = PenalizedLikelihood::new(&data, &space, 0.1);
            let (value, _) = objective.evaluate(&theta, &mut gradient);
            gradient.push(value);
            gradient.iter().map(|x| x.to_bits()).collect()
        })
    };
    let one = bits(1);
    assert!(bits(2) == one && bits(8) == one);
}

#[test]
fn a_second_evaluation_gives_the_same_bits() {
    let data = DATA.build(&mut Lcg(15));
    let space = space(&data, &DATA, FIRST_ORDER);
    let mut objective = PenalizedLikelihood::new(&data, &space, 0.1);
    let mut evaluate = |theta: &[f64]| {
        let mut gradient = vec![0.0; theta.len()];
        let (value, _) = objective.evaluate(theta, &mut gradient);
        (value.to_bits(), gradient)
    };
    let (one, other) = (Lcg(16).vector(space.dimension()), vec![0.5; space.dimension()]);
    let first = evaluate(&one);
    evaluate(&other);
    assert!(evaluate(&one) == first);
}

/// Scores, chain, noise term and gradient of data with whole rows of weights and without, with edge
/// attributes and without, and the optimizer on top.
#[test]
fn every_instruction_set_gives_the_same_bits() {
    let noise = NoiseOptions::dropout(0.4);
    for (data, space) in cases().into_iter().step_by(7) {
        for noise in [NoiseOptions::none(), noise] {
            assert_same_bits(|| {
                let mut objective = PenalizedLikelihood::new(&data, &space, 0.1).with_noise(noise);
                let options = LbfgsOptions { max_iterations: Some(5), ..LbfgsOptions::default() };
                let start = Lcg(18).vector(space.dimension());
                minimize(&mut objective, start, None, &options, None, &mut |_| {
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap()
                .x
            });
        }
    }
}

#[test]
fn many_labels_have_the_same_bits_with_every_instruction_set() {
    for labels in [5, 9, 17, 26, 34, 45, 50, 60, 110] {
        let shape = RandomData { labels, nodes: 20, edges: 0, longest: 6, ..DATA };
        let data = shape.build(&mut Lcg(19));
        let space = space(&data, &shape, FIRST_ORDER);
        let theta = Lcg(20).vector(space.dimension());
        assert_same_bits(|| {
            let mut objective =
                PenalizedLikelihood::new(&data, &space, 0.1).with_noise(NoiseOptions::dropout(0.3));
            let mut gradient = vec![0.0; theta.len()];
            let (value, _) = objective.evaluate(&theta, &mut gradient);
            gradient.push(value);
            gradient
        });
    }
}

#[test]
fn overflow_gives_a_value_that_is_not_finite_and_no_panic() {
    let data = DATA.build(&mut Lcg(17));
    let space = space(&data, &DATA, FIRST_ORDER);
    let mut gradient = vec![0.0; space.dimension()];
    let theta = vec![1e308; space.dimension()];
    let (value, _) = PenalizedLikelihood::new(&data, &space, 0.1).evaluate(&theta, &mut gradient);
    assert!(!value.is_finite());
}

/// Data whose columns form classes of 1 to 3 identical ones.
struct Twins {
    separate: Dataset,
    collapsed: Dataset,
    classes: [Classes; 2],
    sizes: [usize; 2],
}

impl Twins {
    fn new(seed: u64) -> Self {
        let shape = RandomData { sentences: 20, longest: 8, ..DATA };
        let mut separate = shape.build(&mut Lcg(seed));
        let mut sizes = [0; 2];
        (separate.nodes, sizes[0]) = copied(&separate.nodes, shape.nodes, |column| 1 + column % 3);
        (separate.edges, sizes[1]) = copied(&separate.edges, shape.edges, |column| 1 + column % 2);
        let classes = [
            Classes::equal_columns(&separate.nodes, sizes[0]),
            Classes::equal_columns(&separate.edges, sizes[1]),
        ];
        let mut collapsed = separate.clone();
        collapsed.nodes = classes[0].collapsed(&separate.nodes).into();
        collapsed.edges = classes[1].collapsed(&separate.edges).into();
        Self { separate, collapsed, classes, sizes }
    }

    /// The parameters of the columns and of the classes.
    fn spaces(&self, options: SpaceOptions) -> [ParameterSpace; 2] {
        let separate = self.sizes.map(Classes::singletons);
        [(&self.separate, &separate), (&self.collapsed, &self.classes)].map(
            |(data, [nodes, edges])| ParameterSpace::new(DATA.labels, data, nodes, edges, options),
        )
    }

    /// θ of the columns for φ of the classes: each member has φ/√m.
    fn expanded(&self, spaces: &[ParameterSpace; 2], phi: &[f64]) -> Vec<f64> {
        let [separate, collapsed] = spaces;
        let mut theta = Vec::new();
        for (classes, one, other) in [
            (&self.classes[0], &separate.nodes, &collapsed.nodes),
            (&self.classes[1], &separate.edges, &collapsed.edges),
        ] {
            for column in 0..one.columns() {
                let class = classes.class(column as u32);
                let share = f64::from(classes.size(class)).sqrt();
                let weights = &other.weights(phi)[other.targets.range(class as usize)];
                theta.extend(weights.iter().map(|w| w / share));
            }
        }
        theta.extend_from_slice(&phi[collapsed.edges.range.end..]);
        assert_eq!(theta.len(), separate.dimension());
        theta
    }
}

#[test]
fn collapsing_is_an_isometry() {
    for states in [States::All, States::Observed] {
        let twins = Twins::new(18);
        let spaces = twins.spaces(SpaceOptions { states, ..FIRST_ORDER });
        assert!(spaces[1].dimension() < spaces[0].dimension());
        let phi = Lcg(19).vector(spaces[1].dimension());
        let theta = twins.expanded(&spaces, &phi);
        let mut gradients = [vec![0.0; theta.len()], vec![0.0; phi.len()]];
        let (separate, _) = PenalizedLikelihood::new(&twins.separate, &spaces[0], 0.2)
            .evaluate(&theta, &mut gradients[0]);
        let (collapsed, _) = PenalizedLikelihood::new(&twins.collapsed, &spaces[1], 0.2)
            .evaluate(&phi, &mut gradients[1]);
        assert_close(collapsed, separate, 1e-13);
        for (found, expected) in twins.expanded(&spaces, &gradients[1]).iter().zip(&gradients[0]) {
            assert_close(*found, *expected, 1e-12);
        }
    }
}

#[test]
fn with_and_without_collapsing_the_optimizer_visits_the_same_points() {
    for (l2, l1) in [(0.1, 0.0), (0.0, 0.3), (0.05, 0.1)] {
        let twins = Twins::new(20);
        let spaces = twins.spaces(FIRST_ORDER);
        let run = |data: &Dataset, space: &ParameterSpace| {
            let mut points = Vec::new();
            let strengths = space.scales().iter().map(|scale| l1 * scale).collect::<Vec<_>>();
            let mut objective = PenalizedLikelihood::new(data, space, l2);
            let start = vec![0.0; space.dimension()];
            let (strengths, options) = (Some(&strengths[..]), LbfgsOptions::default());
            minimize(&mut objective, start, strengths, &options, None, &mut |iteration| {
                points.push((iteration.value, iteration.x.to_vec()));
                if iteration.number == 12 {
                    return std::ops::ControlFlow::Break(());
                }
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
            points
        };
        let separate = run(&twins.separate, &spaces[0]);
        let collapsed = run(&twins.collapsed, &spaces[1]);
        assert_eq!(separate.len(), 13);
        assert_eq!(collapsed.len(), 13);
        for ((value, theta), (other_value, phi)) in separate.iter().zip(&collapsed) {
            // Up to the precision of the optimizer's stored steps.
            assert_close(*other_value, *value, 1e-7);
            for (found, expected) in twins.expanded(&spaces, phi).iter().zip(theta) {
                assert_close(*found, *expected, 1e-5);
            }
        }
    }
}

/// Every distribution and exact engine, with different rates of nodes and edges.
fn noises() -> Vec<NoiseOptions> {
    let collapsed = Engine::Message { collapse: true };
    let kinds = [
        (NoiseKind::Dropout, Engine::Exact),
        (NoiseKind::Gaussian, collapsed),
        (NoiseKind::Dropout, Engine::Message { collapse: false }),
        (NoiseKind::Dropout, Engine::Window(5)),
        (NoiseKind::Additive, Engine::Exact),
        (NoiseKind::Additive, collapsed),
    ];
    kinds.map(|(kind, gradient)| noise(kind, gradient)).to_vec()
}

/// Noise with different rates of nodes and edges.
const fn noise(kind: NoiseKind, gradient: Engine) -> NoiseOptions {
    NoiseOptions { kind, gradient, dropout: 0.4, edge_dropout: Some(0.2), unlabeled_weight: 0.5 }
}

#[test]
fn the_gradient_with_noise_matches_central_differences() {
    for (i, (data, space)) in cases().iter().enumerate() {
        for noise in noises() {
            let mut objective = PenalizedLikelihood::new(data, space, 0.1).with_noise(noise);
            let theta = Lcg(i as u64).vector(space.dimension());
            let error = check_gradient(&mut objective, &theta, 1e-5);
            assert!(error < 1e-6, "case {i}, {noise:?}: {error}");
        }
    }
}

#[test]
fn the_gradient_with_unlabeled_sentences_matches_central_differences() {
    for (i, (mut data, space)) in cases().into_iter().enumerate() {
        let labeled = data.sentence(data.len() - 1).start;
        data.labels.truncate(labeled);
        assert_eq!(data.labeled(), data.len() - 1);
        for noise in noises() {
            let mut objective = PenalizedLikelihood::new(&data, &space, 0.1).with_noise(noise);
            let theta = Lcg(i as u64).vector(space.dimension());
            let error = check_gradient(&mut objective, &theta, 1e-5);
            assert!(error < 1e-6, "case {i}, {noise:?}: {error}");
        }
    }
}

#[test]
fn the_gradient_with_centers_and_fixed_attributes_matches_central_differences() {
    for (i, (mut data, space)) in cases().into_iter().enumerate() {
        let mut numbers = Lcg(i as u64);
        if i % 3 == 0 {
            let labeled = data.sentence(data.len() - 1).start;
            data.labels.truncate(labeled);
        }
        for noise in noises() {
            let is_fixed = space
                .blocks()
                .map(|block| numbers.vector(block.columns()).iter().map(|x| *x > 0.0).collect());
            let penalty = Penalty::from(0.1).with_centers(numbers.vector(space.dimension()));
            let objective = PenalizedLikelihood::new(&data, &space, penalty);
            let mut objective = objective.with_noise_except(noise, 1, is_fixed);
            let theta = numbers.vector(space.dimension());
            let error = check_gradient(&mut objective, &theta, 1e-5);
            assert!(error < 1e-6, "case {i}, {noise:?}: {error}");
        }
    }
}

#[test]
fn fixed_attributes_have_no_additive_noise() {
    for (i, (data, space)) in cases().iter().enumerate() {
        for noise in noises() {
            let theta = Lcg(i as u64).vector(space.dimension());
            let term = |noise, is_fixed| {
                let objective = PenalizedLikelihood::new(data, space, 0.1);
                let mut objective = objective.with_noise_except(noise, 1, is_fixed);
                objective.evaluate(&theta, &mut vec![0.0; theta.len()]).1.noise
            };
            let all = || vec![true; space.nodes.columns()];
            let dropout = if noise.is_additive() { 0.0 } else { noise.dropout };
            let found = term(noise, [all(), Vec::new()]);
            assert_close(found, term(NoiseOptions { dropout, ..noise }, Default::default()), 1e-12);
        }
    }
}
