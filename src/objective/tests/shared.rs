//! Noise whose masks labels share, against its definition.

use super::*;
use crate::extract::tests::random::{with_partial_labels, with_weights};
use crate::noise::{Engine, NoiseTerm};
use crate::ranks::tests::run_ranks;
use crate::score::ColumnForm;

const NOISE: Noise = Noise {
    distribution: NoiseDistribution::Dropout,
    node: 0.4,
    edge: 0.2,
    term: NoiseTerm::Quadratic(Engine::Exact),
    masks: NoiseMasks::Inputs,
    unlabeled_weight: 0.5,
};

/// Every order without the noise of weights.
const NODES_ALONE: Noise = Noise { edge: 0.0, ..NOISE };

/// The variance of each score of a token if every weight has a mask of its own.
fn variances(rows: &SparseRows, token: usize, block: &FeatureBlock, theta: &[f64]) -> Vec<f64> {
    let (mut variances, weights) = (vec![0.0; block.width()], block.weights(theta));
    for (column, x) in rows.entries(token) {
        let add = |position: usize, i: usize| variances[position] += (x * weights[i]).powi(2);
        block.targets.for_each(column as usize, add);
    }
    variances
}

/// ½ Tr(∇²A·Cov) over the node scores of one token: ∇²A[b][c] = p[b]·(δ[b][c] − p[c]), and a mask
/// of attribute j gives Cov[b][c] = ρ·x²·θ[j][b]·θ[j][c].
fn node_term(
    data: &Dataset,
    space: &ParameterSpace,
    theta: &[f64],
    rate: impl Fn(usize) -> f64,
    (token, p): (usize, &[f64]),
) -> f64 {
    let (block, mut sum) = (&space.nodes, 0.0);
    for (column, x) in data.nodes.entries(token) {
        let column = column as usize;
        let mut row = vec![0.0; block.width()];
        let weights = block.weights(theta);
        let set = |position: usize, i: usize| row[position] = weights[i];
        block.targets.for_each(column, set);
        for (b, p_b) in p.iter().enumerate() {
            for (c, p_c) in p.iter().enumerate() {
                let hessian = p_b * (f64::from(u8::from(b == c)) - p_c);
                sum += 0.5 * hessian * rate(column) * x * x * row[b] * row[c];
            }
        }
    }
    sum
}

/// The noise term by enumeration of all paths; `rates` are ρ of node attributes.
fn term(data: &Dataset, space: &ParameterSpace, theta: &[f64], noise: Noise, rates: &[f64]) -> f64 {
    let (k, stride) = (space.labels(), space.stride());
    let [_, edge_rate] = noise.rates();
    let half = |p: f64, variance: f64| 0.5 * p * (1.0 - p) * variance;
    let mut value = 0.0;
    for i in 0..data.len() {
        let chain = chain(data, space, theta, i);
        let oracle = chain.enumerate();
        let (tokens, nodes) = (data.sentence(i), oracle.node_marginals());
        let last = tokens.len() - 1;
        let mut term = 0.0;
        for (t, token) in tokens.clone().enumerate() {
            let p = &nodes[t * stride..][..k];
            term += node_term(data, space, theta, |j| rates[j], (token, p));
            let end = |b: usize| if t == last { chain.end[b].powi(2) } else { 0.0 };
            if t == 0 || chain.order == Order::Zero {
                for (b, &p) in p.iter().enumerate() {
                    let start = if t == 0 { chain.start[b].powi(2) } else { 0.0 };
                    term += half(p, edge_rate * (start + end(b)));
                }
                continue;
            }
            let pairs = oracle.edge_marginals(t);
            let edges = variances(&data.edges, token, &space.edges, theta);
            for (a, b) in (0..k).flat_map(|a| (0..k).map(move |b| (a, b))) {
                let at = a * stride + b;
                let edge = edges.get(at).copied().unwrap_or(0.0);
                let variance = chain.trans[a][b].powi(2) + edge + end(b);
                term += half(pairs[at], edge_rate * variance);
            }
        }
        let factors = noise.factors(data.total_weights());
        let is_unlabeled = matches!(data.target(i), Target::Unlabeled);
        value += data.weight(i) * factors[usize::from(is_unlabeled)] * term;
    }
    value
}

fn unlabeled(mut data: Dataset) -> Dataset {
    let labeled = data.sentence(data.len() - 1).start;
    data.labels.truncate(labeled);
    data
}

/// Data with and without unlabeled sentences, partial labels and weights, and parameters of every
/// kind.
fn all_cases() -> Vec<(Dataset, ParameterSpace)> {
    let weights = [2.0, 0.25, 1.0, 0.0];
    let mut all = cases();
    all.extend(cases_of(|data, _, _| with_weights(&unlabeled(data), &weights)));
    all.extend(cases_of(|data, labels, numbers| {
        with_weights(&with_partial_labels(&data, labels, numbers), &weights)
    }));
    all
}

fn evaluate(mut objective: PenalizedLikelihood, theta: &[f64]) -> (Terms, Vec<f64>) {
    let mut gradient = vec![f64::NAN; theta.len()];
    let (_, terms) = objective.evaluate(theta, &mut gradient);
    (terms, gradient)
}

#[test]
fn the_noise_term_is_that_of_its_definition() {
    for (i, (data, space)) in all_cases().iter().enumerate() {
        let mut numbers = Lcg(i as u64);
        let theta = numbers.vector(space.dimension());
        let objective = || PenalizedLikelihood::new(data, space, 0.1);
        let uniform = vec![NOISE.rates()[0]; space.nodes.columns()];
        let (terms, _) = evaluate(objective().with_noise(NOISE), &theta);
        let expected = term(data, space, &theta, NOISE, &uniform);
        assert_close(terms.noise, expected, 1e-12);
        let amounts = amounts(space, false, &mut numbers);
        let nodes = amounts.nodes.iter().flatten();
        let rates: Vec<f64> = nodes.map(|d| d / (1.0 - d)).collect();
        let (terms, _) = evaluate(objective().with_attribute_noise(NOISE, amounts), &theta);
        assert_close(terms.noise, term(data, space, &theta, NOISE, &rates), 1e-12);
    }
}

#[test]
fn the_gradient_matches_central_differences() {
    for (i, (data, space)) in all_cases().iter().enumerate() {
        let mut numbers = Lcg(i as u64);
        let amounts = match i % 3 {
            0 => AttributeNoise::default(),
            _ => amounts(space, i % 2 == 0, &mut numbers),
        };
        let noise = Noise {
            distribution: [NoiseDistribution::Dropout, NoiseDistribution::Gaussian][i % 2],
            ..NOISE
        };
        let objective = PenalizedLikelihood::new(data, space, 0.1);
        let mut objective = objective.with_attribute_noise(noise, amounts);
        let theta = numbers.vector(space.dimension());
        let error = check_gradient(&mut objective, &theta, 1e-5);
        assert!(error < 1e-6, "case {i}: {error}");
    }
}

/// Many labels, so that there are columns of every form.
fn many_labels(labels: usize, order: Order, states: States) -> (Dataset, ParameterSpace) {
    let shape =
        RandomData { sentences: 220, longest: 1, labels, nodes: 30, edges: 0, binary: false };
    let mut numbers = Lcg(3);
    let mut data = shape.build(&mut numbers);
    // Half of the tokens have few labels, those with the last columns.
    for token in 0..data.labels.len() {
        let (columns, _) = data.nodes.row(token);
        if columns.iter().any(|&column| column >= 20) {
            data.labels[token] = LabelId((token % 5) as u16);
        }
    }
    let options = SpaceOptions { order, states, ..FIRST_ORDER };
    let space = space(&data, &shape, options);
    (data, space)
}

#[test]
fn many_labels_have_the_same_noise_term() {
    use ColumnForm::{Dense, Listed, Sparse};
    let cases = [
        (20, States::All, vec![Dense]),
        (30, States::All, vec![Dense]),
        (70, States::All, vec![Dense]),
        (20, States::Observed, vec![Dense]),
        (70, States::Observed, vec![Dense, Sparse]),
        (200, States::Observed, vec![Listed, Sparse]),
    ];
    for (labels, states, expected_forms) in cases {
        let (data, space) = many_labels(labels, Order::Zero, states);
        let forms: Vec<ColumnForm> =
            (0..space.nodes.columns()).map(|column| space.nodes.targets.form(column)).collect();
        for form in expected_forms {
            assert!(forms.contains(&form), "{labels} labels: {forms:?}");
        }
        let theta = Lcg(4).vector(space.dimension());
        for is_uniform in [true, false] {
            let mut amounts = amounts(&space, false, &mut Lcg(5));
            let nodes = amounts.nodes.as_mut().unwrap();
            if is_uniform {
                nodes.fill(NOISE.node);
            }
            let rates: Vec<f64> = nodes.iter().map(|d| d / (1.0 - d)).collect();
            let objective = PenalizedLikelihood::new(&data, &space, 0.1);
            let objective = match is_uniform {
                true => objective.with_noise(NOISE),
                false => objective.with_attribute_noise(NOISE, amounts),
            };
            let (terms, _) = evaluate(objective, &theta);
            let expected = term(&data, &space, &theta, NOISE, &rates);
            assert_close(terms.noise, expected, 1e-12);
        }
    }
}

/// An objective along directions that share out all parameters: each has one of every
/// `directions`, by an amount of its own.
struct Along<'a> {
    objective: PenalizedLikelihood,
    origin: &'a [f64],
    amounts: Vec<f64>,
    directions: usize,
}

impl Objective for Along<'_> {
    type Detail = ();

    fn dimension(&self) -> usize {
        self.directions
    }

    fn evaluate(&mut self, steps: &[f64], gradient: &mut [f64]) -> (f64, ()) {
        let mut theta = self.origin.to_vec();
        for (i, (weight, amount)) in theta.iter_mut().zip(&self.amounts).enumerate() {
            *weight += amount * steps[i % self.directions];
        }
        let mut full = vec![0.0; theta.len()];
        let (value, _) = self.objective.evaluate(&theta, &mut full);
        gradient.fill(0.0);
        for (i, (derivative, amount)) in full.iter().zip(&self.amounts).enumerate() {
            gradient[i % self.directions] += amount * derivative;
        }
        (value, ())
    }
}

#[test]
fn the_gradient_of_many_labels_matches_central_differences() {
    let cases = [
        (20, Order::Zero, States::All),
        (70, Order::Zero, States::All),
        (70, Order::One, States::Observed),
        (200, Order::Zero, States::Observed),
    ];
    for (labels, order, states) in cases {
        let (data, space) = many_labels(labels, order, states);
        let theta = Lcg(5).vector(space.dimension());
        let objective = PenalizedLikelihood::new(&data, &space, 0.1);
        let amounts = amounts(&space, false, &mut Lcg(6));
        let mut along = Along {
            objective: objective.with_attribute_noise(NOISE, amounts),
            origin: &theta,
            amounts: Lcg(7).vector(theta.len()),
            directions: 211,
        };
        assert!(check_gradient(&mut along, &[0.0; 211], 1e-5) < 1e-7);
    }
}

/// Two labels at order 0, without boundary weights.
fn two_labels() -> (Dataset, ParameterSpace) {
    let shape = RandomData { labels: 2, edges: 0, ..DATA };
    let data = shape.build(&mut Lcg(6));
    let options = SpaceOptions { order: Order::Zero, boundary: Boundary::Off, ..FIRST_ORDER };
    let space = space(&data, &shape, options);
    (data, space)
}

#[test]
fn with_two_labels_it_is_eq_12_of_wager_et_al() {
    let (data, space) = two_labels();
    let theta = Lcg(7).vector(space.dimension());
    let objective = PenalizedLikelihood::new(&data, &space, 0.1).with_noise(NODES_ALONE);
    let (terms, _) = evaluate(objective, &theta);
    // ½ ρ Σ_j β_j² Σ_i p_i·(1 − p_i)·x_ij², with the weights β of the second label relative to the
    // first
    let weights = space.nodes.weights(&theta);
    let beta = |column: u32| weights[2 * column as usize + 1] - weights[2 * column as usize];
    let mut expected = 0.0;
    for token in 0..data.tokens() {
        let score: f64 = data.nodes.entries(token).map(|(j, x)| x * beta(j)).sum();
        let p = 1.0 / (1.0 + (-score).exp());
        for (j, x) in data.nodes.entries(token) {
            expected += 0.5 * (0.4 / 0.6) * p * (1.0 - p) * (x * beta(j)).powi(2);
        }
    }
    assert_close(terms.noise, expected, 1e-12);
}

#[test]
fn with_opposite_weights_of_two_labels_it_is_twice_eq_8() {
    let (data, space) = two_labels();
    let mut theta = Lcg(8).vector(space.dimension());
    for weights in theta.chunks_exact_mut(2) {
        weights[1] = -weights[0];
    }
    let noise = |masks| {
        let objective = PenalizedLikelihood::new(&data, &space, 0.0);
        let plain = evaluate(PenalizedLikelihood::new(&data, &space, 0.0), &theta);
        let (terms, mut gradient) =
            evaluate(objective.with_noise(Noise { masks, ..NODES_ALONE }), &theta);
        gradient.iter_mut().zip(&plain.1).for_each(|(g, p)| *g -= p);
        (terms.noise, gradient)
    };
    let (inputs, inputs_gradient) = noise(NoiseMasks::Inputs);
    let (weights, weights_gradient) = noise(NoiseMasks::Weights);
    assert!(weights > 0.0);
    assert_close(inputs, 2.0 * weights, 1e-12);
    for (inputs, weights) in inputs_gradient.iter().zip(&weights_gradient) {
        assert_close(*inputs, 2.0 * weights, 1e-10);
    }
}

#[test]
fn collapsing_is_an_isometry_with_shared_masks() {
    for (states, order) in
        [(States::All, Order::One), (States::Observed, Order::One), (States::All, Order::Zero)]
    {
        let twins = Twins::new(18);
        let spaces = twins.spaces(SpaceOptions { states, order, ..FIRST_ORDER });
        let phi = Lcg(19).vector(spaces[1].dimension());
        let theta = twins.expanded(&spaces, &phi);
        let evaluate = |data: &Dataset, space: &ParameterSpace, theta: &[f64]| {
            evaluate(PenalizedLikelihood::new(data, space, 0.2).with_noise(NOISE), theta)
        };
        let (separate, gradient) = evaluate(&twins.separate, &spaces[0], &theta);
        let (collapsed, collapsed_gradient) = evaluate(&twins.collapsed, &spaces[1], &phi);
        assert!(separate.noise > 0.0);
        assert_close(collapsed.noise, separate.noise, 1e-12);
        let expanded = twins.expanded(&spaces, &collapsed_gradient);
        for (found, expected) in expanded.iter().zip(&gradient) {
            assert_close(*found, *expected, 1e-11);
        }
    }
}

/// θ with one weight per attribute whose mean is most of the derivatives of the others.
fn uneven(space: &ParameterSpace, scale: f64) -> Vec<f64> {
    let mut theta = Lcg(20).vector(space.dimension());
    for (i, weight) in space.nodes.weights_mut(&mut theta).iter_mut().enumerate() {
        *weight = scale * if i % 3 == 0 { weight.abs() } else { 1e-3 * *weight };
    }
    theta
}

#[test]
fn every_number_of_threads_and_ranks_gives_the_same_bits() {
    let shape = RandomData { sentences: 6000, nodes: 100, edges: 0, ..LARGE };
    let data = unlabeled(shape.build(&mut Lcg(13)));
    // At so high a rate the derivatives are far above those of scores.
    let high = Noise { node: 1.0 - 1e-6, ..NOISE };
    for (states, noise, scale) in
        [(States::All, NOISE, 1.0), (States::Observed, NOISE, 300.0), (States::All, high, 2e-3)]
    {
        let options = SpaceOptions { states, ..FIRST_ORDER };
        let space = space(&data, &shape, options);
        let theta = uneven(&space, scale);
        let objective = || PenalizedLikelihood::new(&data, &space, 0.1);
        let bits = |objective: PenalizedLikelihood| -> Vec<u64> {
            let (terms, mut gradient) = evaluate(objective.with_noise(noise), &theta);
            gradient.push(terms.noise);
            gradient.iter().map(|x| x.to_bits()).collect()
        };
        let with_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| bits(objective()))
        };
        let one = with_threads(1);
        assert!(one.iter().all(|&x| f64::from_bits(x).is_finite()));
        assert!(with_threads(2) == one && with_threads(3) == one);
        for size in [2, 3] {
            let ranks = run_ranks(size, |ranks| {
                bits(PenalizedLikelihood::divided(&data, &space, 0.1, &ranks))
            });
            assert!(ranks.iter().all(|bits| *bits == one), "{size} ranks");
        }
        // The bound of the first limit counts.
        let mut objective = objective().with_noise(noise);
        objective.set_weights(&theta);
        let mut gradient = vec![0.0; theta.len()];
        let sums = objective.add_blocks(Pass::evaluation(&theta), LIMITS[0], &mut gradient);
        assert!(!sums.exceeds_limit);
    }
}
