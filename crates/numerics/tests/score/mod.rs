//! The forward product, its transpose, and the layout of θ.

use std::ops::Range;
use std::sync::Arc;

use dropchain_numerics::chain::{LabelWeights, Order, padded};
use dropchain_numerics::data::{Classes, Dataset, SparseRows};
use dropchain_numerics::math;
use dropchain_numerics::score::*;
use dropchain_numerics::testing::{Lcg, RandomData, copied, space};

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

/// Compares scores, variances, and the gradient without and with noise with their definitions.
fn assert_products(
    matrix: &Arc<SparseRows>,
    data: &Dataset,
    block: &Arc<FeatureBlock>,
    labels: usize,
    numbers: &mut Lcg,
) {
    const RATE: f64 = 0.7;
    let (targets, width) = (&block.targets, block.width());
    let theta = numbers.vector(targets.weights());
    let derivatives = [(); 2].map(|()| numbers.vector(matrix.len() * width));
    let mut expected = [(); 2].map(|()| vec![0.0; matrix.len() * width]);
    let mut gradients = [(); 2].map(|()| vec![0.0; theta.len()]);
    for token in 0..matrix.len() {
        for (column, x) in matrix.entries(token) {
            let c = block.scale[column as usize] * x;
            targets.for_each(column as usize, |position, index| {
                let (cell, w) = (token * width + position, theta[index]);
                expected[0][cell] += c * w;
                expected[1][cell] += RATE * (x * w).powi(2);
                let of_score = c * derivatives[0][cell];
                gradients[0][index] += of_score;
                gradients[1][index] += of_score + 2.0 * RATE * x * x * w * derivatives[1][cell];
            });
        }
    }
    let mut product = ForwardProduct::new(matrix, block);
    product.set_weights(&theta);
    let partition = four_chunks(data);
    let transpose = TransposeProduct::new(matrix, block, &partition);
    for (has_noise, gradient) in gradients.iter().enumerate() {
        let mut found_gradient = vec![0.0; theta.len()];
        for (i, block) in partition.blocks.iter().enumerate() {
            let cells = block.tokens.start * width..block.tokens.end * width;
            let mut found = [(); 2].map(|()| vec![f64::NAN; cells.len()]);
            let [scores, values] = &mut found;
            let variances = (has_noise > 0).then_some(Variances { values, rate: RATE });
            product.write(&theta, block.tokens.clone(), scores, variances);
            for (found, expected) in found.iter().zip(&expected).take(1 + has_noise) {
                let found = found.iter().zip(&expected[cells.clone()]).enumerate();
                let is_label = |cell: usize| cell % padded(labels) < labels;
                found
                    .filter(|(cell, _)| is_label(*cell))
                    .for_each(|(_, (found, expected))| assert_close(*found, *expected));
            }
            let [scores, values] = derivatives.each_ref().map(|all| &all[cells.clone()]);
            let noise = VarianceDerivatives { values, rate: RATE, theta: &theta };
            let noise = (has_noise > 0).then_some(noise);
            transpose.add_gradient(i, scores, noise, &mut found_gradient);
        }
        let pairs = found_gradient.iter().zip(gradient);
        pairs.for_each(|(found, expected)| assert_close(*found, *expected));
    }
}

#[test]
fn products_with_a_row_of_any_width_are_those_of_the_definition() {
    let mut numbers = Lcg(3);
    let mut forms = std::collections::HashSet::new();
    for labels in [1, 2, 8, 9, 17, 26, 33, 42, 50, 57] {
        for (states, binary) in [
            (States::All, true),
            (States::All, false),
            (States::Observed, true),
            (States::Observed, false),
        ] {
            let shape = RandomData { sentences: 40, labels, nodes: 30, binary, ..DATA };
            let data = shape.build(&mut Lcg(labels as u64));
            let space = space(&data, &shape, options(Order::One, Boundary::On, states));
            for (matrix, block) in [(&data.nodes, &space.nodes), (&data.edges, &space.edges)] {
                let targets = &block.targets;
                let columns = 0..block.columns();
                forms.extend(columns.map(|column| format!("{:?}", targets.form(column))));
                let block = alone(block, &mut numbers);
                assert_products(matrix, &data, &block, labels, &mut numbers);
            }
        }
    }
    assert_eq!(forms.len(), 3, "{forms:?}");
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
    let scales = space.scales();
    assert_eq!(scales.len(), space.dimension());
    for class in 0..classes.len() {
        let m = f64::from(classes.size(class as u32));
        assert_eq!(scales[space.nodes.targets.range(class)], [m.sqrt(); 3]);
    }
    assert!(scales[space.edges.range.start..].iter().all(|&scale| scale == 1.0));
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
