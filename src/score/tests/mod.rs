//! The forward product, its transpose, and the layout of θ.

use std::ops::Range;
use std::sync::Arc;

use super::*;
use crate::chain::{LabelWeights, Order};
use crate::extract::tests::random::{RandomData, copied};
use crate::extract::{Classes, Dataset, SparseRows};
use crate::math;
use crate::random::Lcg;

const DATA: RandomData =
    RandomData { sentences: 12, longest: 6, labels: 3, nodes: 9, edges: 4, binary: false };

fn options(order: Order, boundary: Boundary, states: States) -> SpaceOptions {
    SpaceOptions {
        order,
        boundary,
        states,
        transitions: true,
        label_pairs: states,
        min_frequency: None,
    }
}

/// All parameters of a first-order chain.
pub(crate) const FIRST_ORDER: SpaceOptions = SpaceOptions {
    order: Order::One,
    boundary: Boundary::On,
    states: States::All,
    transitions: true,
    label_pairs: States::All,
    min_frequency: None,
};

/// The parameters without collapsing.
pub(crate) fn space(data: &Dataset, shape: &RandomData, options: SpaceOptions) -> ParameterSpace {
    let [nodes, edges] = [shape.nodes, shape.edges].map(Classes::singletons);
    ParameterSpace::new(shape.labels, data, &nodes, &edges, options)
}

/// Parameter spaces of every kind over random data.
fn spaces() -> Vec<(RandomData, Dataset, ParameterSpace)> {
    let mut spaces = Vec::new();
    for seed in 0..24 {
        let order = [Order::One, Order::Zero][seed % 2];
        let shape = RandomData {
            labels: 1 + seed % 5,
            edges: if order == Order::One { DATA.edges } else { 0 },
            binary: seed % 3 == 0,
            ..DATA
        };
        let data = shape.build(&mut Lcg(seed as u64));
        let boundary = [Boundary::On, Boundary::Off][seed / 2 % 2];
        for states in [States::All, States::Observed] {
            let mut options = options(order, boundary, states);
            options.transitions = seed % 7 != 0;
            let space = space(&data, &shape, options);
            spaces.push((shape, data.clone(), space));
        }
    }
    spaces
}

/// Two blocks of two chunks each.
fn four_chunks(data: &Dataset) -> BlockPartition {
    let cut = |i: usize| data.len() * i / 4;
    let block = |chunks: Range<usize>| Block {
        tokens: data.sentence(cut(chunks.start)).start..data.sentence(cut(chunks.end) - 1).end,
        chunks: chunks.map(|i| cut(i)..cut(i + 1)).collect(),
    };
    BlockPartition { blocks: vec![block(0..2), block(2..4)] }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    math::assert_close(found, expected, 1e-12);
}

/// The same block with random scales, alone in θ.
fn alone(block: &FeatureBlock, numbers: &mut Lcg) -> Arc<FeatureBlock> {
    Arc::new(FeatureBlock {
        targets: block.targets.clone(),
        scale: numbers.vector(block.columns()),
        range: 0..block.targets.weights(),
    })
}

/// ⟨X·Θ, D⟩ = ⟨Θ, Xᵀ·D⟩
fn assert_adjoint(
    matrix: &Arc<SparseRows>,
    data: &Dataset,
    block: &FeatureBlock,
    numbers: &mut Lcg,
) {
    let (block, width) = (alone(block, numbers), block.width());
    let theta = numbers.vector(block.targets.weights());
    let mut derivatives = numbers.vector(matrix.len() * width);
    for line in derivatives.chunks_exact_mut(block.targets.stride) {
        line[block.targets.labels..].fill(0.0);
    }
    let mut scores = vec![0.0; matrix.len() * width];
    let mut product = ForwardProduct::new(matrix, &block);
    product.set_weights(&theta);
    product.write(&theta, 0..matrix.len(), &mut scores, None);
    let partition = four_chunks(data);
    let transpose = TransposeProduct::new(matrix, &block, &partition);
    let mut gradient = vec![0.0; theta.len()];
    for (i, block) in partition.blocks.iter().enumerate() {
        let derivatives = &derivatives[block.tokens.start * width..block.tokens.end * width];
        transpose.add_gradient(i, derivatives, None, &mut gradient);
    }
    assert_close(dot(&scores, &derivatives), dot(&theta, &gradient));
}

#[test]
fn the_gradient_map_is_the_adjoint_of_the_score_map() {
    let mut numbers = Lcg(1);
    for (_, data, space) in spaces() {
        assert_adjoint(&data.nodes, &data, &space.nodes, &mut numbers);
        assert_adjoint(&data.edges, &data, &space.edges, &mut numbers);
    }
    for binary in [true, false] {
        let (data, space) = many_labels(binary);
        assert_adjoint(&data.nodes, &data, &space.nodes, &mut numbers);
        assert_adjoint(&data.edges, &data, &space.edges, &mut numbers);
    }
}

/// The number of labels of [`many_labels`].
const MANY: usize = 88;

/// Data with many labels, for all forms of columns and rows that are summed in several parts.
fn many_labels(binary: bool) -> (Dataset, ParameterSpace) {
    let shape = RandomData { sentences: 40, labels: MANY, nodes: 30, edges: 5, binary, ..DATA };
    let data = shape.build(&mut Lcg(9));
    let options = options(Order::One, Boundary::On, States::Observed);
    let space = space(&data, &shape, options);
    for form in [ColumnForm::Dense, ColumnForm::Listed, ColumnForm::Sparse] {
        let is_tried = (0..30).any(|column| space.nodes.targets.form(column) == form);
        assert!(is_tried, "{form:?}");
    }
    (data, space)
}

#[test]
fn scores_and_variances_are_those_of_the_definition() {
    for binary in [true, false] {
        let (data, space) = many_labels(binary);
        let mut numbers = Lcg(3);
        let block = alone(&space.nodes, &mut numbers);
        let (targets, width) = (&block.targets, block.width());
        let theta = numbers.vector(targets.weights());
        let [mut scores, mut variances] = [vec![0.0; 3 * width], vec![0.0; 3 * width]];
        let mut product = ForwardProduct::new(&data.nodes, &block);
        product.set_weights(&theta);
        let wanted = Variances { values: &mut variances, rate: 0.5 };
        product.write(&theta, 2..5, &mut scores, Some(wanted));
        for (i, token) in (2..5).enumerate() {
            let [mut score, mut variance] = [vec![0.0; width], vec![0.0; width]];
            for (column, x) in data.nodes.entries(token) {
                targets.for_each(column as usize, |position, index| {
                    score[position] += block.scale[column as usize] * x * theta[index];
                    variance[position] += 0.5 * (x * theta[index]).powi(2);
                });
            }
            for position in 0..MANY {
                assert_close(scores[i * width + position], score[position]);
                assert_close(variances[i * width + position], variance[position]);
            }
        }
    }
}

#[test]
fn the_gradient_under_noise_is_that_of_the_definition() {
    for binary in [true, false] {
        let (data, space) = many_labels(binary);
        let mut numbers = Lcg(4);
        let block = alone(&space.nodes, &mut numbers);
        let (targets, width) = (&block.targets, block.width());
        let theta = numbers.vector(targets.weights());
        let [score_derivative, variance_derivative] =
            [(); 2].map(|()| numbers.vector(data.tokens() * width));
        let [mut found, mut expected] = [(); 2].map(|()| vec![0.0; theta.len()]);
        let partition = BlockPartition::new(&data, width);
        assert_eq!(partition.blocks.len(), 1);
        let variance_derivatives =
            VarianceDerivatives { values: &variance_derivative, rate: 0.5, theta: &theta };
        let transpose = TransposeProduct::new(&data.nodes, &block, &partition);
        transpose.add_gradient(0, &score_derivative, Some(variance_derivatives), &mut found);
        for token in 0..data.tokens() {
            for (column, x) in data.nodes.entries(token) {
                targets.for_each(column as usize, |position, index| {
                    let cell = token * width + position;
                    expected[index] += block.scale[column as usize] * x * score_derivative[cell]
                        + 2.0 * 0.5 * x * x * theta[index] * variance_derivative[cell];
                });
            }
        }
        for (found, expected) in found.iter().zip(expected) {
            assert_close(*found, expected);
        }
    }
}

#[test]
fn a_pair_of_labels_has_its_score_in_the_line_of_the_first() {
    let all = Targets::all(1, 2, 8, 2);
    let mut positions = Vec::new();
    all.for_each(0, |position, index| positions.push((position, index)));
    assert_eq!(positions, [(0, 0), (1, 1), (8, 2), (9, 3)]);
}

/// How often each parameter is used.
fn uses(space: &ParameterSpace) -> Vec<usize> {
    let mut uses = vec![0; space.dimension()];
    for block in space.blocks() {
        for column in 0..block.columns() {
            let uses = block.weights_mut(&mut uses);
            block.targets.for_each(column, |_, index| uses[index] += 1);
        }
    }
    let mut weights = LabelWeights::default();
    for (i, uses) in uses.iter_mut().enumerate() {
        let mut theta = vec![0.0; space.dimension()];
        theta[i] = 1.0;
        space.label_weights(&theta, &mut weights);
        let all = [&weights.transitions, &weights.start, &weights.end];
        *uses += all.into_iter().flatten().filter(|&&w| w != 0.0).count();
    }
    uses
}

#[test]
fn every_parameter_is_the_weight_of_one_thing() {
    for (shape, _, space) in spaces() {
        assert!(uses(&space).iter().all(|&uses| uses == 1), "{shape:?}");
    }
}

#[test]
fn all_states_have_a_weight_for_every_pair() {
    let data = DATA.build(&mut Lcg(3));
    let all = options(Order::One, Boundary::On, States::All);
    assert_eq!(space(&data, &DATA, all).dimension(), 9 * 3 + 4 * 9 + 9 + 3 + 3);
    let none = SpaceOptions { boundary: Boundary::Off, transitions: false, ..all };
    assert_eq!(space(&data, &DATA, none).dimension(), 9 * 3 + 4 * 9);
}

#[test]
fn observed_states_have_a_weight_for_what_occurs_together() {
    let data = DATA.build(&mut Lcg(4));
    let observed = options(Order::One, Boundary::On, States::Observed);
    let space = space(&data, &DATA, observed);
    let mut pairs = std::collections::BTreeSet::new();
    for token in 0..data.tokens() {
        let label = data.labels[token].index();
        pairs.extend(data.nodes.row(token).0.iter().map(|&c| (c as usize, label)));
    }
    let mut found = Vec::new();
    for column in 0..DATA.nodes {
        space.nodes.targets.for_each(column, |position, _| found.push((column, position)));
    }
    assert_eq!(found, Vec::from_iter(pairs));
    let mut triples = std::collections::BTreeSet::new();
    for i in 0..data.len() {
        for t in data.sentence(i).skip(1) {
            let position = data.labels[t - 1].index() * space.stride() + data.labels[t].index();
            triples.extend(data.edges.row(t).0.iter().map(|&c| (c as usize, position)));
        }
    }
    let mut found = Vec::new();
    for column in 0..DATA.edges {
        space.edges.targets.for_each(column, |position, _| found.push((column, position)));
    }
    assert_eq!(found, Vec::from_iter(triples));
}

#[test]
fn label_weights_and_their_gradient_are_transposes() {
    let mut numbers = Lcg(5);
    for (_, _, space) in spaces() {
        let (k, stride) = (space.labels(), space.stride());
        let theta = numbers.vector(space.dimension());
        let mut weights = LabelWeights::default();
        space.label_weights(&theta, &mut weights);
        let [pairs, first, last] = [k * stride, stride, stride].map(|n| numbers.vector(n));
        let mut gradient = vec![0.0; space.dimension()];
        space.add_label_gradient([&pairs, &first, &last], &mut gradient);
        let line = |a: usize| &pairs[a * stride..a * stride + k];
        let transitions: f64 =
            (0..k).map(|a| dot(&weights.transitions[a * k..(a + 1) * k], line(a))).sum();
        let boundary = dot(&weights.start, &first[..k]) + dot(&weights.end, &last[..k]);
        assert_close(dot(&theta, &gradient), transitions + boundary);
    }
}

#[test]
fn a_row_of_transitions_has_the_weights_from_a_label() {
    let weights = LabelWeights {
        transitions: vec![1.0, 2.0, 3.0, 4.0],
        start: vec![0.0; 2],
        end: vec![0.0; 2],
    };
    let rows: Vec<_> = weights.transition_rows().collect();
    assert_eq!(rows, [[1.0, 2.0], [3.0, 4.0]]);
}

#[test]
fn the_l1_strength_of_a_class_of_m_is_that_of_one_times_the_root_of_m() {
    let mut data = DATA.build(&mut Lcg(6));
    let (nodes, columns) = copied(&data.nodes, DATA.nodes, |column| 1 + column % 4);
    let classes = Classes::equal_columns(&nodes, columns);
    data.nodes = Arc::new(classes.collapsed(&nodes));
    let edges = Classes::singletons(DATA.edges);
    let all = options(Order::One, Boundary::On, States::All);
    let space = ParameterSpace::new(3, &data, &classes, &edges, all);
    let strengths = space.l1_strengths(0.5);
    assert_eq!(strengths.len(), space.dimension());
    for class in 0..classes.len() {
        let m = f64::from(classes.size(class as u32));
        assert_eq!(strengths[space.nodes.targets.range(class)], [0.5 * m.sqrt(); 3]);
    }
    assert!(strengths[space.edges.range.start..].iter().all(|&c| c == 0.5));
}

#[test]
fn a_partition_covers_all_sentences_in_order() {
    let shape = RandomData { sentences: 3000, longest: 40, ..DATA };
    let data = shape.build(&mut Lcg(7));
    for width in [8, 20_000] {
        let partition = BlockPartition::new(&data, width);
        let (mut sentence, mut token) = (0, 0);
        for block in &partition.blocks {
            assert_eq!(block.tokens.start, token);
            for chunk in &block.chunks {
                assert_eq!(chunk.start, sentence);
                sentence = chunk.end;
            }
            token = data.sentence(sentence - 1).end;
            assert_eq!(block.tokens.end, token);
        }
        assert_eq!((sentence, token), (data.len(), data.tokens()));
        assert!(partition.blocks.len() > 2);
    }
}

#[test]
fn wide_scores_make_small_blocks() {
    let shape = RandomData { sentences: 200, longest: 40, ..DATA };
    let data = shape.build(&mut Lcg(8));
    assert_eq!(BlockPartition::new(&data, 8).blocks.len(), 1);
    assert_eq!(BlockPartition::new(&data, 20_000).max_block_chunks(), 1);
}

#[test]
fn an_empty_corpus_has_no_blocks() {
    let partition = BlockPartition::new(&Dataset::default(), 8);
    assert_eq!(
        (partition.blocks.len(), partition.max_block_tokens(), partition.max_block_chunks()),
        (0, 0, 0)
    );
}
