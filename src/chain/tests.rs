//! Inference held against the enumeration of all paths, and beyond where that reaches.

use super::oracle::{Chain, Oracle};
use super::*;
use crate::math::log_sum_exp;

/// Numbers in [−1, 1), the same in every run (Knuth's MMIX linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Mostly moderate, now and then ±50, now and then ±10,000.
    fn extreme(&mut self) -> f64 {
        let magnitude = match (self.next() * 5.0) as i32 {
            -4 | 4 => 1e4,
            -3 | 3 | 2 => 50.0,
            _ => 2.0,
        };
        magnitude * self.next()
    }

    /// A whole number from −2 to 2, so that sums are exact and ties are many.
    fn whole(&mut self) -> f64 {
        (self.next() * 3.0).trunc()
    }

    fn flag(&mut self) -> bool {
        self.next() < 0.3
    }

    fn constraint(&mut self, labels: usize) -> Constraint {
        let mut flags = |n: usize| (0..n).map(|_| self.flag()).collect::<Vec<_>>();
        Constraint::new(&flags(labels * labels), &flags(labels), &flags(labels))
    }
}

/// Chains of all sizes that can be enumerated, both orders, with and without edges.
fn chains(mut number: impl FnMut() -> f64) -> Vec<Chain> {
    let mut chains = Vec::new();
    for labels in 1..=9_usize {
        for tokens in (1..=6).filter(|&tokens| labels.pow(tokens) <= 5000) {
            for order in [Order::Zero, Order::One] {
                let mut chain = Chain::new(tokens as usize, labels, &mut number);
                chain.order = order;
                chains.push(chain.clone());
                chains.push(chain.with_edges(&mut number));
            }
        }
    }
    chains
}

fn moderate_chains() -> Vec<Chain> {
    let mut numbers = Numbers(1);
    chains(|| 2.0 * numbers.next())
}

fn extreme_chains() -> Vec<Chain> {
    let mut numbers = Numbers(2);
    chains(|| numbers.extreme())
}

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= tolerance * expected.abs().max(1.0),
        "found {found}, expected {expected}"
    );
}

#[track_caller]
fn assert_all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_close(*found, *expected, tolerance);
    }
}

/// Everything that forward-backward says about a sentence.
struct Inference {
    log_partition: f64,
    nodes: Vec<f64>,
    edges: Vec<Vec<f64>>,
    expectations: Vec<f64>,
    mode: Mode,
}

/// Reads off what `run` leaves in a lattice; the padding of the scores is poisoned.
fn infer(chain: &Chain, run: impl FnOnce(&mut Lattice, &Transitions, Scores) -> f64) -> Inference {
    let transitions = chain.transitions();
    let mut lattice = Lattice::default();
    let log_partition = chain.scores(f64::NAN, |scores| run(&mut lattice, &transitions, scores));
    let edges = (1..lattice.tokens()).map(|t| {
        let mut edge = vec![f64::NAN; transitions.labels() * transitions.stride()];
        lattice.edge_marginals(&transitions, t, &mut edge);
        edge
    });
    let edges = edges.collect();
    let mut sums = EdgeSums::new(&transitions);
    lattice.add_edge_expectations(&transitions, &mut sums);
    let mut expectations = vec![f64::NAN; transitions.scores().len()];
    sums.finish(&transitions, &mut expectations);
    Inference {
        log_partition,
        nodes: lattice.node_marginals().to_vec(),
        edges,
        expectations,
        mode: lattice.mode(),
    }
}

fn sum_of(matrices: &[Vec<f64>], size: usize) -> Vec<f64> {
    let mut sum = vec![0.0; size];
    for matrix in matrices {
        add(&mut sum, matrix);
    }
    sum
}

#[track_caller]
fn assert_agrees(found: &Inference, expected: &Oracle, tolerance: f64) {
    assert_close(found.log_partition, expected.log_partition(), tolerance);
    assert_all_close(&found.nodes, &expected.node_marginals(), tolerance);
    let edges = (1..=found.edges.len()).map(|t| expected.edge_marginals(t));
    let edges: Vec<_> = edges.collect();
    for (found, expected) in found.edges.iter().zip(&edges) {
        assert_all_close(found, expected, tolerance);
    }
    let sums = sum_of(&edges, found.expectations.len());
    assert_all_close(&found.expectations, &sums, tolerance);
}

#[test]
fn forward_backward_agrees_with_the_enumeration() {
    for chain in moderate_chains() {
        let found = infer(&chain, Lattice::forward_backward);
        assert_eq!(found.mode, Mode::Scaled);
        assert_agrees(&found, &chain.enumerate(), 1e-13);
    }
}

#[test]
fn log_space_agrees_with_the_enumeration() {
    for chain in moderate_chains() {
        if chain.order == Order::One {
            let found = infer(&chain, Lattice::forward_backward_in_log_space);
            assert_eq!(found.mode, Mode::Log);
            assert_agrees(&found, &chain.enumerate(), 1e-13);
        }
    }
}

#[test]
fn extreme_scores_agree_with_the_enumeration_in_either_mode() {
    let mut modes = [0, 0];
    for chain in extreme_chains() {
        let found = infer(&chain, Lattice::forward_backward);
        assert_agrees(&found, &chain.enumerate(), 1e-10);
        modes[(found.mode == Mode::Log) as usize] += 1;
        if chain.order == Order::One {
            let found = infer(&chain, Lattice::forward_backward_in_log_space);
            assert_agrees(&found, &chain.enumerate(), 1e-10);
        }
    }
    assert!(modes[0] > 20 && modes[1] > 20, "both are tried: {modes:?}");
}

#[test]
fn padding_of_the_results_is_exactly_zero() {
    for chain in moderate_chains().into_iter().chain(extreme_chains()) {
        let found = infer(&chain, Lattice::forward_backward);
        let edges = found.edges.iter().flatten();
        let rows: Vec<f64> = edges
            .chain(&found.expectations)
            .chain(&found.nodes)
            .copied()
            .collect();
        for row in rows.chunks_exact(padded(chain.labels)) {
            assert!(row[chain.labels..].iter().all(|&x| x == 0.0));
        }
    }
}

/// Three labels; label 2 costs 800 to enter and 800 to leave, and all tokens but the first and the
/// last cost 450 in any other label.
fn tunnel(inner: usize, cost: f64) -> Chain {
    let mut chain = Chain::new(inner + 2, 3, || 0.0);
    for (a, row) in chain.trans.iter_mut().enumerate() {
        for (b, x) in row.iter_mut().enumerate() {
            *x = if (a == 2) == (b == 2) { 0.0 } else { -800.0 };
        }
    }
    for (t, row) in chain.node.iter_mut().enumerate() {
        let is_inner = t > 0 && t <= inner;
        *row = if is_inner {
            vec![cost, cost, 0.0]
        } else {
            vec![0.0, 0.0, -800.0]
        };
    }
    chain
}

#[test]
fn a_label_that_underflows_and_wins_later_is_done_in_log_space() {
    // Entering label 1 underflows: exp(−1000) = 0. Staying wins by 2000 at the last token.
    let mut chain = Chain::new(3, 2, || 0.0);
    chain.trans = vec![vec![0.0, -1000.0], vec![-1000.0, 0.0]];
    chain.node = vec![vec![0.0, -1000.0], vec![0.0, 0.0], vec![-5000.0, 0.0]];
    let found = infer(&chain, Lattice::forward_backward);
    assert_eq!(found.mode, Mode::Log);
    assert_agrees(&found, &chain.enumerate(), 1e-12);
}

#[test]
fn a_path_that_underflows_in_both_directions_is_not_missed() {
    // The best path runs through label 2, at a cost of 3200 against 450 per inner token, yet no
    // message without rounding up ever sees it: it is 0 on the way in, and 0 on the way back.
    let chain = tunnel(8, -450.0);
    let found = infer(&chain, Lattice::forward_backward);
    assert_eq!(found.mode, Mode::Log);
    assert_agrees(&found, &chain.enumerate(), 1e-12);
    assert_close(found.nodes[2 * LANES + 2], 1.0, 1e-12);
}

#[test]
fn a_path_that_underflows_and_does_not_matter_costs_no_log_space() {
    let chain = tunnel(8, -20.0);
    let found = infer(&chain, Lattice::forward_backward);
    assert_eq!(found.mode, Mode::Scaled);
    assert_agrees(&found, &chain.enumerate(), 1e-12);
}

#[test]
fn the_modes_hold_the_same_messages() {
    for chain in moderate_chains() {
        let transitions = chain.transitions();
        if chain.order == Order::Zero {
            continue;
        }
        chain.scores(0.0, |scores| {
            let (mut scaled, mut log) = (Lattice::default(), Lattice::default());
            scaled.forward_backward(&transitions, scores);
            log.forward_backward_in_log_space(&transitions, scores);
            let first = if chain.edge.is_some() {
                chain.labels * padded(chain.labels)
            } else {
                0
            };
            for (scaled, log) in [
                (scaled.alpha(), log.alpha()),
                (scaled.beta(), log.beta()),
                (scaled.suffix(), log.suffix()),
                (scaled.node_potentials(), log.node_potentials()),
                (scaled.scale(), log.scale()),
                (
                    &scaled.edge_potentials()[first..],
                    &log.edge_potentials()[first..],
                ),
            ] {
                let log: Vec<f64> = log.iter().map(|x| x.exp()).collect();
                assert_all_close(scaled, &log, 1e-13);
            }
        });
    }
}

#[test]
fn an_edge_marginal_is_the_product_of_its_messages() {
    let mut numbers = Numbers(3);
    let chain = Chain::new(4, 5, || numbers.next());
    let transitions = chain.transitions();
    chain.scores(0.0, |scores| {
        let mut lattice = Lattice::default();
        lattice.forward_backward(&transitions, scores);
        let mut edge = vec![0.0; 5 * LANES];
        lattice.edge_marginals(&transitions, 2, &mut edge);
        let product = lattice.alpha()[LANES + 3]
            * transitions.potentials()[3 * LANES + 4]
            * lattice.suffix()[2 * LANES + 4];
        assert_eq!(edge[3 * LANES + 4], product);
        assert_close(
            product,
            chain.enumerate().edge_marginals(2)[3 * LANES + 4],
            1e-14,
        );
    });
}

#[test]
fn boundary_weights_may_be_left_out() {
    let mut numbers = Numbers(4);
    let mut chain = Chain::new(3, 4, || numbers.next());
    chain.start.fill(0.0);
    chain.end.fill(0.0);
    let mut transitions = chain.transitions();
    transitions.set(&chain.trans.concat(), &[], &[]);
    let found = chain.scores(0.0, |scores| {
        Lattice::default().forward_backward(&transitions, scores)
    });
    assert_close(found, chain.enumerate().log_partition(), 1e-14);
}

#[test]
fn one_label_leaves_no_doubt() {
    let mut numbers = Numbers(5);
    let chain = Chain::new(40, 1, || 100.0 * numbers.next());
    let found = infer(&chain, Lattice::forward_backward);
    assert_close(found.log_partition, chain.score(&[LabelId(0); 40]), 1e-14);
    for t in 0..40 {
        assert_close(found.nodes[t * LANES], 1.0, 1e-14);
    }
}

#[test]
fn a_sentence_without_tokens_has_one_path() {
    let transitions = Transitions::new(3, Order::One);
    let scores = Scores {
        node: &[],
        edge: None,
    };
    let mut lattice = Lattice::default();
    assert_eq!(lattice.forward_backward(&transitions, scores), 0.0);
    assert!(lattice.node_marginals().is_empty());
    lattice.add_edge_expectations(&transitions, &mut EdgeSums::new(&transitions));
    let mut path = vec![LabelId(1)];
    let mut viterbi = Viterbi::default();
    assert_eq!(viterbi.decode(&transitions, scores, None, &mut path), 0.0);
    assert!(path.is_empty());
    let (labels, score) = (vec![], 0.0);
    assert_eq!(
        viterbi.nbest(&transitions, scores, 9, None),
        [Path { labels, score }]
    );
    assert_eq!(super::score(&transitions, scores, &[]), 0.0);
}

/// A by log-sum-exp over whole prefix scores.
fn log_partition_of(chain: &Chain) -> f64 {
    let last = chain.node.len() - 1;
    let mut prefix = vec![0.0; chain.labels];
    for (t, node) in chain.node.iter().enumerate() {
        let next = (0..chain.labels).map(|b| {
            let step = |a: usize| match &chain.edge {
                Some(edge) => chain.trans[a][b] + edge[t][a][b],
                None => chain.trans[a][b],
            };
            let paths = (0..chain.labels).map(|a| prefix[a] + step(a));
            let before = if t > 0 {
                log_sum_exp(&paths.collect::<Vec<_>>())
            } else {
                chain.start[b]
            };
            before + node[b] + if t == last { chain.end[b] } else { 0.0 }
        });
        prefix = next.collect();
    }
    log_sum_exp(&prefix)
}

#[track_caller]
fn assert_long(chain: &Chain, mode: Mode, tolerance: f64) {
    let found = infer(chain, Lattice::forward_backward);
    assert_eq!(found.mode, mode);
    assert_close(found.log_partition, log_partition_of(chain), 1e-12);
    for row in found.nodes.chunks_exact(padded(chain.labels)) {
        assert_close(row.iter().sum(), 1.0, tolerance);
    }
    let edges = found.expectations.iter().sum();
    assert_close(edges, chain.node.len() as f64 - 1.0, tolerance);
}

#[test]
fn ten_thousand_tokens_lose_no_precision() {
    let mut numbers = Numbers(6);
    let chain = Chain::new(10_000, 9, || 10.0 * numbers.next());
    assert_long(&chain, Mode::Scaled, 1e-12);
    assert_long(&chain.with_edges(|| numbers.next()), Mode::Scaled, 1e-12);
}

#[test]
fn ten_thousand_extreme_tokens_lose_little_precision() {
    let mut numbers = Numbers(7);
    let chain = Chain::new(10_000, 3, || numbers.extreme());
    assert_long(&chain, Mode::Log, 1e-8);
}

#[test]
fn every_stride_agrees_with_the_recursion_by_definition() {
    let mut numbers = Numbers(8);
    for labels in [7, 8, 9, 16, 17, 24, 25, 32, 33, 49, 64] {
        let chain = Chain::new(12, labels, || 3.0 * numbers.next());
        assert_long(&chain, Mode::Scaled, 1e-13);
        assert_long(&chain.with_edges(|| numbers.next()), Mode::Scaled, 1e-13);
    }
}

#[test]
fn expectations_of_many_sentences_add_up_in_any_mixture_of_modes() {
    let mut numbers = Numbers(9);
    let mut chain = Chain::new(6, 3, || numbers.next());
    let transitions = chain.transitions();
    let mut lattice = Lattice::default();
    let mut sums = [EdgeSums::new(&transitions), EdgeSums::new(&transitions)];
    let mut expected = vec![0.0; 3 * LANES];
    for i in 0..8 {
        let tokens = 1 + i % 6;
        chain.node = (0..tokens)
            .map(|_| (0..3).map(|_| numbers.next()).collect())
            .collect();
        chain.edge = None;
        if i % 3 == 1 {
            chain = chain.with_edges(|| numbers.next());
        }
        chain.scores(0.0, |scores| match i % 3 {
            2 => lattice.forward_backward_in_log_space(&transitions, scores),
            _ => lattice.forward_backward(&transitions, scores),
        });
        lattice.add_edge_expectations(&transitions, &mut sums[i % 2]);
        let oracle = chain.enumerate();
        (1..tokens).for_each(|t| add(&mut expected, &oracle.edge_marginals(t)));
    }
    let [mut first, second] = sums;
    first.merge(&second);
    let mut found = vec![0.0; 3 * LANES];
    first.finish(&transitions, &mut found);
    assert_all_close(&found, &expected, 1e-13);
    first.clear();
    first.finish(&transitions, &mut found);
    assert_eq!(found, [0.0; 3 * LANES]);
}

#[test]
fn a_lattice_remembers_nothing_of_the_sentence_before() {
    let mut numbers = Numbers(10);
    let mut lattice = Lattice::default();
    for chain in extreme_chains().into_iter().rev() {
        let transitions = chain.transitions();
        let mut junk = Chain::new(7, 5, || numbers.extreme());
        junk = junk.with_edges(|| numbers.extreme());
        junk.scores(1.0, |scores| {
            lattice.forward_backward(&junk.transitions(), scores)
        });
        chain.scores(0.0, |scores| {
            let mut fresh = Lattice::default();
            let expected = fresh.forward_backward(&transitions, scores);
            assert_eq!(lattice.forward_backward(&transitions, scores), expected);
        });
        let fresh = infer(&chain, Lattice::forward_backward);
        assert_eq!(lattice.node_marginals(), fresh.nodes);
    }
}

#[test]
fn a_lattice_that_has_seen_the_longest_sentence_allocates_no_more() {
    let mut numbers = Numbers(11);
    let mut chain = Chain::new(30, 3, || numbers.next()).with_edges(|| numbers.extreme());
    chain.node[20] = vec![0.0, 1e4, -1e4];
    let transitions = chain.transitions();
    let mut lattice = Lattice::default();
    chain.scores(0.0, |scores| lattice.forward_backward(&transitions, scores));
    let places = |lattice: &Lattice| {
        [
            &lattice.alpha,
            &lattice.beta,
            &lattice.edge,
            &lattice.scratch,
            &lattice.scale,
        ]
        .map(|array| (array.as_ptr(), array.capacity()))
    };
    assert_eq!(lattice.mode(), Mode::Log);
    let before = places(&lattice);
    let short = Chain::new(3, 3, || numbers.next());
    short.scores(0.0, |scores| lattice.forward_backward(&transitions, scores));
    assert_eq!(lattice.mode(), Mode::Scaled);
    chain.scores(0.0, |scores| lattice.forward_backward(&transitions, scores));
    assert_eq!(places(&lattice), before);
}

#[test]
fn scores_that_are_not_finite_give_no_number_and_no_panic() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for order in [Order::Zero, Order::One] {
            for place in 0..4 {
                let mut chain = Chain::new(3, 2, || 0.5).with_edges(|| 0.5);
                chain.order = order;
                match place {
                    0 => chain.node[1][1] = bad,
                    1 => chain.start[1] = bad,
                    2 => chain.trans[1][1] = bad,
                    _ => chain.edge.as_mut().unwrap()[2][1][1] = bad,
                }
                let found = infer(&chain, Lattice::forward_backward);
                let ignored = order == Order::Zero && place > 1;
                assert_eq!(found.log_partition.is_nan(), !ignored);
                assert_eq!(found.nodes[0].is_nan(), !ignored);
                let (transitions, mut path) = (chain.transitions(), Vec::new());
                chain.scores(bad, |scores| {
                    let mut viterbi = Viterbi::default();
                    viterbi.decode(&transitions, scores, None, &mut path);
                    assert!(path.len() == 3 || path.is_empty());
                    viterbi.nbest(&transitions, scores, 3, None);
                });
            }
        }
    }
}

#[test]
fn a_sum_of_finite_scores_that_overflows_gives_no_number() {
    let mut chain = Chain::new(1, 2, || 0.0);
    chain.node[0][0] = f64::MAX;
    chain.start[0] = f64::MAX;
    assert!(
        infer(&chain, Lattice::forward_backward)
            .log_partition
            .is_nan()
    );
}

/// Calls `f` with all of `chains`, without constraint and with.
fn for_each_constrained(chains: Vec<Chain>, mut f: impl FnMut(&Chain, &Transitions, Scores)) {
    let mut numbers = Numbers(12);
    for mut chain in chains {
        let transitions = chain.transitions();
        chain.scores(f64::NAN, |scores| f(&chain, &transitions, scores));
        chain.constraint = Some(numbers.constraint(chain.labels));
        chain.scores(f64::NAN, |scores| f(&chain, &transitions, scores));
    }
}

fn whole_chains() -> Vec<Chain> {
    let mut numbers = Numbers(13);
    chains(|| numbers.whole())
}

#[track_caller]
fn assert_best(chain: &Chain, transitions: &Transitions, scores: Scores, path: &[LabelId]) {
    let expected = chain.enumerate().nbest(1);
    let expected = expected.first().map(|path| &path.0[..]).unwrap_or_default();
    assert_eq!(path, expected);
    if !path.is_empty() {
        assert_close(
            super::score(transitions, scores, path),
            chain.score(path),
            1e-13,
        );
    }
}

#[test]
fn decoding_finds_the_best_legal_path() {
    let mut viterbi = Viterbi::default();
    let mut path = Vec::new();
    let chains = [moderate_chains(), extreme_chains()].concat();
    for_each_constrained(chains, |chain, transitions, scores| {
        let best = viterbi.decode(transitions, scores, chain.constraint.as_ref(), &mut path);
        assert_best(chain, transitions, scores, &path);
        if path.is_empty() {
            assert_eq!(best, f64::NEG_INFINITY);
        } else {
            assert_eq!(best, super::score(transitions, scores, &path));
        }
    });
}

#[test]
fn ties_go_to_the_lowest_label_from_the_last_token_on() {
    let mut viterbi = Viterbi::default();
    let mut path = Vec::new();
    for_each_constrained(whole_chains(), |chain, transitions, scores| {
        viterbi.decode(transitions, scores, chain.constraint.as_ref(), &mut path);
        assert_best(chain, transitions, scores, &path);
    });
}

#[test]
fn nbest_finds_the_best_legal_paths_in_order() {
    let mut viterbi = Viterbi::default();
    for_each_constrained(moderate_chains(), |chain, transitions, scores| {
        let oracle = chain.enumerate();
        for n in [1, 2, 10, 300] {
            let found = viterbi.nbest(transitions, scores, n, chain.constraint.as_ref());
            let expected = oracle.nbest(n);
            assert_eq!(found.len(), expected.len());
            for (found, (labels, score)) in found.iter().zip(&expected) {
                assert_eq!(&found.labels, labels);
                assert_close(found.score, *score, 1e-13);
            }
        }
    });
}

#[test]
fn nbest_of_tied_paths_has_the_right_scores_and_no_path_twice() {
    let mut viterbi = Viterbi::default();
    let mut best = Vec::new();
    for_each_constrained(whole_chains(), |chain, transitions, scores| {
        let oracle = chain.enumerate();
        let constraint = chain.constraint.as_ref();
        for n in [1, 7, 40, usize::MAX] {
            let found = viterbi.nbest(transitions, scores, n, constraint);
            let of_oracle: Vec<f64> = oracle.nbest(n).iter().map(|path| path.1).collect();
            let of_found: Vec<f64> = found.iter().map(|path| path.score).collect();
            assert_eq!(of_found, of_oracle);
            let mut labels: Vec<_> = found.iter().map(|path| &path.labels).collect();
            assert!(labels.iter().all(|labels| chain.allows(labels)));
            labels.sort();
            labels.dedup();
            assert_eq!(labels.len(), found.len());
            let score = viterbi.decode(transitions, scores, constraint, &mut best);
            if let Some(first) = found.first() {
                assert_eq!((&first.labels, first.score), (&best, score));
            }
        }
    });
}

#[test]
fn nbest_of_a_long_sentence_is_descending_and_distinct() {
    let mut numbers = Numbers(14);
    let chain = Chain::new(10_000, 9, || 3.0 * numbers.next());
    let transitions = chain.transitions();
    chain.scores(0.0, |scores| {
        let mut viterbi = Viterbi::default();
        let paths = viterbi.nbest(&transitions, scores, 10, None);
        assert_eq!(paths.len(), 10);
        assert!(paths.is_sorted_by(|x, y| x.score >= y.score && x.labels != y.labels));
        for path in &paths {
            assert_close(
                path.score,
                super::score(&transitions, scores, &path.labels),
                1e-13,
            );
        }
        let mut best = Vec::new();
        viterbi.decode(&transitions, scores, None, &mut best);
        assert_eq!(paths[0].labels, best);
    });
}

#[test]
fn no_legal_path_is_no_path() {
    let chain = Chain::new(2, 2, || 1.0);
    let transitions = chain.transitions();
    let constraint = Constraint::new(&[true; 4], &[false; 2], &[true; 2]);
    chain.scores(0.0, |scores| {
        let mut viterbi = Viterbi::default();
        let mut path = vec![LabelId(0)];
        let score = viterbi.decode(&transitions, scores, Some(&constraint), &mut path);
        assert_eq!((score, path.len()), (f64::NEG_INFINITY, 0));
        assert!(
            viterbi
                .nbest(&transitions, scores, 5, Some(&constraint))
                .is_empty()
        );
    });
}

#[test]
fn probabilities_of_all_paths_sum_to_one() {
    let mut numbers = Numbers(15);
    let chain = Chain::new(5, 4, || numbers.next()).with_edges(|| numbers.next());
    let transitions = chain.transitions();
    chain.scores(0.0, |scores| {
        let total = Lattice::default().forward_backward(&transitions, scores);
        let paths = Viterbi::default().nbest(&transitions, scores, usize::MAX, None);
        assert_eq!(paths.len(), 1024);
        let sum = paths.iter().map(|path| (path.score - total).exp()).sum();
        assert_close(sum, 1.0, 1e-13);
    });
}
