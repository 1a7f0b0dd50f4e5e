//! Extreme scores, long sentences and non-finite scores.

use super::*;
use dropchain_numerics::math::log_sum_exp;

#[test]
fn extreme_scores_agree_with_the_enumeration_in_either_mode() {
    let mut modes = [0, 0];
    for chain in extreme_chains() {
        let actual = infer(&chain, Lattice::forward_backward);
        assert_agrees(&actual, &chain.enumerate(), 1e-10);
        modes[(actual.mode == Mode::Log) as usize] += 1;
        if chain.order == Order::One {
            let actual = infer(&chain, Lattice::forward_backward_in_log_space);
            assert_agrees(&actual, &chain.enumerate(), 1e-10);
        }
    }
    assert!(modes[0] > 20 && modes[1] > 20, "both are tried: {modes:?}");
}

/// Returns a chain of three labels: entering and leaving label 2 scores −800 each, and every inner
/// token scores `score` in any other label.
fn tunnel(inner: usize, score: f64) -> Chain {
    let mut chain = Chain::new(inner + 2, 3, || 0.0);
    for (a, row) in chain.trans.iter_mut().enumerate() {
        for (b, x) in row.iter_mut().enumerate() {
            *x = if (a == 2) == (b == 2) { 0.0 } else { -800.0 };
        }
    }
    for (t, row) in chain.node.iter_mut().enumerate() {
        let is_inner = t > 0 && t <= inner;
        *row = if is_inner { vec![score, score, 0.0] } else { vec![0.0, 0.0, -800.0] };
    }
    chain
}

#[test]
fn a_label_that_underflows_and_wins_later_needs_log_space() {
    // Entering label 1 underflows: exp(−1000) = 0. Staying wins by 2000 at the last token.
    let mut chain = Chain::new(3, 2, || 0.0);
    chain.trans = vec![vec![0.0, -1000.0], vec![-1000.0, 0.0]];
    chain.node = vec![vec![0.0, -1000.0], vec![0.0, 0.0], vec![-5000.0, 0.0]];
    let actual = infer(&chain, Lattice::forward_backward);
    assert_eq!(actual.mode, Mode::Log);
    assert_agrees(&actual, &chain.enumerate(), 1e-12);
}

#[test]
fn a_path_that_underflows_in_both_directions_is_not_missed() {
    // The best path runs through label 2, at a cost of 3200 against 450 per inner token. Without
    // rounding up, no message shows it: it underflows to 0 in the forward and the backward pass.
    let chain = tunnel(8, -450.0);
    let actual = infer(&chain, Lattice::forward_backward);
    assert_eq!(actual.mode, Mode::Log);
    assert_agrees(&actual, &chain.enumerate(), 1e-12);
    assert_close(actual.nodes[2 * padded(8) + 2], 1.0, 1e-12);
}

#[test]
fn a_path_that_underflows_and_does_not_matter_needs_no_log_space() {
    let chain = tunnel(8, -20.0);
    let actual = infer(&chain, Lattice::forward_backward);
    assert_eq!(actual.mode, Mode::Scaled);
    assert_agrees(&actual, &chain.enumerate(), 1e-12);
}

#[test]
fn accepted_results_in_exponentials_agree_with_log_space() {
    // Scores are 0 or large, so that labels vanish and reappear over many tokens.
    let mut numbers = Lcg(16);
    let mut modes = [0, 0];
    for i in 0..2000 {
        let magnitude = [200.0, 400.0, 800.0][i % 3];
        let mut number = || magnitude * (1.6 * numbers.next()).trunc();
        let chain = Chain::new(3 + i % 9, 2 + i % 4, &mut number);
        let actual = infer(&chain, Lattice::forward_backward);
        let expected = infer(&chain, Lattice::forward_backward_in_log_space);
        assert_close(actual.log_partition, expected.log_partition, 1e-12);
        assert_all_close(&actual.nodes, &expected.nodes, 1e-12);
        assert_all_close(&actual.expectations, &expected.expectations, 1e-12);
        modes[(actual.mode == Mode::Log) as usize] += 1;
    }
    assert!(modes[0] > 200 && modes[1] > 200, "{modes:?}");
}

/// Returns A by log-sum-exp over unscaled prefix scores.
fn unscaled_log_partition(chain: &Chain) -> f64 {
    let last = chain.node.len() - 1;
    let mut prefix = vec![0.0; chain.labels];
    for (t, node) in chain.node.iter().enumerate() {
        let next = (0..chain.labels).map(|b| {
            let step = |a: usize| match &chain.edge {
                Some(edge) => chain.trans[a][b] + edge[t][a][b],
                None => chain.trans[a][b],
            };
            let paths = (0..chain.labels).map(|a| prefix[a] + step(a));
            let before =
                if t > 0 { log_sum_exp(&paths.collect::<Vec<_>>()) } else { chain.start[b] };
            before + node[b] + if t == last { chain.end[b] } else { 0.0 }
        });
        prefix = next.collect();
    }
    log_sum_exp(&prefix)
}

#[track_caller]
fn assert_long(chain: &Chain, mode: Mode, tolerance: f64) {
    let actual = infer(chain, Lattice::forward_backward);
    assert_eq!(actual.mode, mode);
    assert_close(actual.log_partition, unscaled_log_partition(chain), 1e-12);
    for row in actual.nodes.chunks_exact(padded(chain.labels)) {
        assert_close(row.iter().sum(), 1.0, tolerance);
    }
    let edges = actual.expectations.iter().sum();
    assert_close(edges, chain.node.len() as f64 - 1.0, tolerance);
}

#[test]
fn ten_thousand_tokens_lose_no_precision() {
    let mut numbers = Lcg(6);
    let chain = Chain::new(10_000, 9, || 10.0 * numbers.next());
    assert_long(&chain, Mode::Scaled, 1e-12);
    assert_long(&chain.with_edges(|| numbers.next()), Mode::Scaled, 1e-12);
}

#[test]
fn ten_thousand_extreme_tokens_lose_little_precision() {
    let mut numbers = Lcg(7);
    let chain = Chain::new(10_000, 3, || numbers.extreme());
    assert_long(&chain, Mode::Log, 1e-8);
}

#[test]
fn every_stride_agrees_with_the_unscaled_recurrence() {
    let mut numbers = Lcg(8);
    for labels in [7, 8, 9, 16, 17, 24, 25, 32, 33, 49, 64] {
        let chain = Chain::new(12, labels, || 3.0 * numbers.next());
        assert_long(&chain, Mode::Scaled, 1e-13);
        assert_long(&chain.with_edges(|| numbers.next()), Mode::Scaled, 1e-13);
    }
}

#[test]
fn non_finite_scores_give_nan_and_no_panic() {
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
                let actual = infer(&chain, Lattice::forward_backward);
                let ignored = order == Order::Zero && place > 1;
                assert_eq!(actual.log_partition.is_nan(), !ignored);
                assert_eq!(actual.nodes[0].is_nan(), !ignored);
                let (transitions, mut path) = (chain.transitions(), Vec::new());
                chain.scores(bad, |scores| {
                    let mut viterbi = Viterbi::default();
                    viterbi.decode(&transitions, scores, None, None, &mut path);
                    assert!(path.len() == 3 || path.is_empty());
                    viterbi.nbest(&transitions, scores, 3, None, None);
                });
            }
        }
    }
}

#[test]
fn a_sum_of_finite_scores_that_overflows_gives_nan() {
    let mut chain = Chain::new(1, 2, || 0.0);
    chain.node[0][0] = f64::MAX;
    chain.start[0] = f64::MAX;
    assert!(infer(&chain, Lattice::forward_backward).log_partition.is_nan());
}
