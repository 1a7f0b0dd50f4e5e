//! Inference where few label pairs have weights, against that with all pairs.

use super::*;

/// A chain in which about every third label pair has a weight, and the positions of these pairs.
/// Every other chain has large negative weights, too.
fn sparse_chain(i: usize, numbers: &mut Lcg) -> (Chain, Vec<u32>) {
    let (labels, tokens) = (1 + i % 19, 1 + i % 41);
    let mut chain = Chain::new(tokens, labels, || 4.0 * numbers.next());
    let mut positions = Vec::new();
    for a in 0..labels {
        for b in 0..labels {
            let has_weight = numbers.below(3) == 0;
            if has_weight {
                positions.push((a * padded(labels) + b) as u32);
            }
            let x = &mut chain.trans[a][b];
            *x = match (has_weight, i % 2) {
                (false, _) => 0.0,
                (true, 0) => *x,
                (true, _) => *x - [0.0, 9.0, 40.0][numbers.below(3)],
            };
        }
    }
    (chain, positions)
}

/// Runs forward-backward by pairs; returns the results, and the sums at `positions`.
fn infer_by_pairs(
    chain: &Chain,
    positions: &[u32],
    in_log_space: bool,
) -> (f64, Vec<f64>, Vec<f64>) {
    let mut transitions = Transitions::with_pairs(chain.labels, positions.to_vec());
    transitions.set(&chain.trans.concat(), &chain.start, &chain.end);
    let mut lattice = Lattice::default();
    let log_partition = chain.scores(f64::NAN, |scores| match in_log_space {
        true => lattice.forward_backward_in_log_space(&transitions, scores, None),
        false => lattice.forward_backward(&transitions, scores, None),
    });
    let mut sums = EdgeSums::new(&transitions);
    // Twice, to see that groups of tokens cross the end of a sentence.
    lattice.add_edge_expectations(&transitions, &mut sums);
    lattice.add_edge_expectations(&transitions, &mut sums);
    let mut expectations = vec![f64::NAN; positions.len()];
    sums.finish(&transitions, &mut expectations);
    (log_partition, lattice.node_marginals().to_vec(), expectations)
}

#[test]
fn results_by_pairs_are_those_with_all_pairs() {
    let mut numbers = Lcg(12);
    for i in 0..200 {
        let (chain, positions) = sparse_chain(i, &mut numbers);
        let expected = infer(&chain, Lattice::forward_backward);
        for in_log_space in [false, true] {
            let (log_partition, nodes, sums) = infer_by_pairs(&chain, &positions, in_log_space);
            let error = (log_partition - expected.log_partition).abs();
            assert!(error <= 1e-12 * (1.0 + log_partition.abs()), "{error}");
            assert_all_close(&nodes, &expected.nodes, 1e-12);
            let at_pairs = positions.iter().map(|&p| 2.0 * expected.expectations[p as usize]);
            assert_all_close(&sums, &at_pairs.collect::<Vec<_>>(), 1e-11);
        }
    }
}

#[test]
fn results_by_pairs_are_those_of_the_enumeration() {
    let mut numbers = Lcg(4);
    for i in 0..60 {
        let (mut chain, mut positions) = sparse_chain(i, &mut numbers);
        chain.node.truncate(4);
        while chain.labels > 5 {
            (chain, positions) = sparse_chain(numbers.below(99), &mut numbers);
            chain.node.truncate(4);
        }
        let expected = chain.enumerate();
        let (log_partition, nodes, _) = infer_by_pairs(&chain, &positions, false);
        assert_all_close(&[log_partition], &[expected.log_partition()], 1e-12);
        assert_all_close(&nodes, &expected.node_marginals(), 1e-12);
    }
}

#[test]
fn paths_by_pairs_are_those_with_all_pairs() {
    let mut numbers = Lcg(21);
    let mut viterbi = Viterbi::default();
    for i in 0..300 {
        let (mut chain, positions) = sparse_chain(i, &mut numbers);
        if i % 3 == 0 {
            // Integers, so that there are ties.
            let rows = chain.node.iter_mut().chain(&mut chain.trans);
            rows.flatten().for_each(|x| *x = x.round());
        }
        let mut transitions = Transitions::with_pairs(chain.labels, positions);
        transitions.set(&chain.trans.concat(), &chain.start, &chain.end);
        let mut mask = LabelMask::default();
        mask.begin(chain.labels);
        chain.node.iter().for_each(|_| match numbers.flag() {
            true => mask.push_any(),
            false => mask.push(&[LabelId(numbers.below(chain.labels) as u16)]),
        });
        for mask in [None, Some(&mask)] {
            let [(found, score), (expected, expected_score)] = [&transitions, &chain.transitions()]
                .map(|transitions| {
                    let mut path = Vec::new();
                    let score = chain.scores(f64::NAN, |scores| {
                        viterbi.decode(transitions, scores, None, mask, &mut path)
                    });
                    (path, score)
                });
            assert_eq!(score.to_bits(), expected_score.to_bits());
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn few_weights_among_many_labels_are_worked_by_pairs() {
    let weights = |labels: usize, pairs: usize| LabelWeights {
        transitions: (0..labels * labels).map(|i| f64::from(i < pairs)).collect(),
        start: vec![0.0; labels],
        end: vec![0.0; labels],
    };
    let form = |labels, pairs, order| {
        Transitions::from_weights(&weights(labels, pairs), order).pairs().map(LabelPairs::len)
    };
    assert_eq!(form(70, 400, Order::One), Some(400));
    assert_eq!(form(70, 420, Order::One), None);
    assert_eq!(form(60, 10, Order::One), None);
    assert_eq!(form(70, 400, Order::Zero), None);
}

#[test]
fn a_label_that_is_left_by_suppressed_pairs_alone_keeps_its_precision() {
    // Label 0 is followed by 1 with e = κ·exp(−30): formed by subtraction, nothing would be left.
    let mut chain = Chain::new(2, 2, || 0.0);
    chain.trans[0][1] = -30.0;
    chain.node = vec![vec![40.0, 0.0], vec![0.0, 40.0]];
    let (log_partition, nodes, sums) = infer_by_pairs(&chain, &[1], false);
    let expected = chain.enumerate();
    assert_all_close(&[log_partition], &[expected.log_partition()], 1e-12);
    assert_all_close(&nodes, &expected.node_marginals(), 1e-12);
    let edge = expected.edge_marginals(1)[1];
    assert!(edge > 0.01, "{edge}");
    assert_all_close(&sums, &[2.0 * edge], 1e-12);
}

#[test]
fn matrices_by_pairs_are_those_with_all_pairs() {
    let mut numbers = Lcg(33);
    for i in 0..60 {
        let (chain, positions) = sparse_chain(i, &mut numbers);
        let mut by_pairs = Transitions::with_pairs(chain.labels, positions.clone());
        let scores: Vec<f64> = positions
            .iter()
            .map(|&p| {
                chain.trans[p as usize / padded(chain.labels)][p as usize % padded(chain.labels)]
            })
            .collect();
        // Matrices of other scores must not remain.
        assert!(by_pairs.scores().iter().all(|&x| x == 0.0));
        by_pairs.set_pairs(&scores, &chain.start, &chain.end);
        let mut dense = Transitions::new(chain.labels, Order::One);
        dense.set(&chain.trans.concat(), &chain.start, &chain.end);
        assert_eq!(by_pairs.scores(), dense.scores());
        for a in 0..chain.labels {
            for b in 0..chain.labels {
                assert_eq!(by_pairs.score(a, b), dense.score(a, b));
            }
        }
        // Pairs without a weight have the score 0.
        let shift = chain.trans.concat().into_iter().reduce(f64::max).unwrap().min(0.0);
        let shifted = |potentials: &[f64]| -> Vec<f64> {
            potentials.iter().map(|e| e * shift.exp()).collect()
        };
        for matrix in [Transitions::potentials, Transitions::transposed_potentials] {
            let expected = shifted(matrix(&dense));
            for (found, expected) in matrix(&by_pairs).iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-14 * expected);
            }
        }
    }
}
