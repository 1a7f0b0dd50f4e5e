//! Forward-backward, marginals and expectations.

use super::*;

#[test]
fn forward_backward_agrees_with_the_enumeration() {
    for chain in moderate_chains() {
        let actual = infer(&chain, Lattice::forward_backward);
        assert_eq!(actual.mode, Mode::Scaled);
        assert_agrees(&actual, &chain.enumerate(), 1e-13);
    }
}

#[test]
fn log_space_agrees_with_the_enumeration() {
    for chain in moderate_chains() {
        if chain.order == Order::One {
            let actual = infer(&chain, Lattice::forward_backward_in_log_space);
            assert_eq!(actual.mode, Mode::Log);
            assert_agrees(&actual, &chain.enumerate(), 1e-13);
        }
    }
}

#[test]
fn padding_of_the_results_is_exactly_zero() {
    for chain in moderate_chains().into_iter().chain(extreme_chains()) {
        let actual = infer(&chain, Lattice::forward_backward);
        let edges = actual.edges.iter().flatten();
        let rows: Vec<f64> =
            edges.chain(&actual.expectations).chain(&actual.nodes).copied().collect();
        for row in rows.chunks_exact(padded(chain.labels)) {
            assert!(row[chain.labels..].iter().all(|&x| x == 0.0));
        }
    }
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
            scaled.forward_backward(&transitions, scores, None);
            log.forward_backward_in_log_space(&transitions, scores, None);
            let first = if chain.edge.is_some() { chain.labels * padded(chain.labels) } else { 0 };
            let [scaled, log] = [&scaled, &log].map(|lattice| {
                let [messages @ .., edge] = lattice.arrays();
                [&messages[..], &[&edge[first..]]].concat()
            });
            for (scaled, log) in scaled.into_iter().zip(log) {
                let log: Vec<f64> = log.iter().map(|x| x.exp()).collect();
                assert_all_close(scaled, &log, 1e-13);
            }
        });
    }
}

#[test]
fn an_edge_marginal_is_the_product_of_its_messages() {
    let mut numbers = Lcg(3);
    const STRIDE: usize = padded(5);
    let chain = Chain::new(4, 5, || numbers.next());
    let transitions = chain.transitions();
    chain.scores(0.0, |scores| {
        let mut lattice = Lattice::default();
        lattice.forward_backward(&transitions, scores, None);
        let mut edge = vec![0.0; 5 * STRIDE];
        lattice.edge_marginals(&transitions, 2, &mut edge);
        let [alpha, _, suffix, ..] = lattice.arrays();
        let product =
            alpha[STRIDE + 3] * transitions.potentials()[3 * STRIDE + 4] * suffix[2 * STRIDE + 4];
        assert_eq!(edge[3 * STRIDE + 4], product);
        assert_close(product, chain.enumerate().edge_marginals(2)[3 * STRIDE + 4], 1e-14);
    });
}

#[test]
fn boundary_weights_may_be_omitted() {
    let mut numbers = Lcg(4);
    let mut chain = Chain::new(3, 4, || numbers.next());
    chain.start.fill(0.0);
    chain.end.fill(0.0);
    let mut transitions = chain.transitions();
    transitions.set(&chain.trans.concat(), &[], &[]);
    let actual =
        chain.scores(0.0, |scores| Lattice::default().forward_backward(&transitions, scores, None));
    assert_close(actual, chain.enumerate().log_partition(), 1e-14);
}

#[test]
fn a_single_label_has_probability_one() {
    let mut numbers = Lcg(5);
    let chain = Chain::new(40, 1, || 100.0 * numbers.next());
    let actual = infer(&chain, Lattice::forward_backward);
    assert_close(actual.log_partition, chain.score(&[LabelId(0); 40]), 1e-14);
    for t in 0..40 {
        assert_close(actual.nodes[t * padded(1)], 1.0, 1e-14);
    }
}

#[test]
fn a_sentence_without_tokens_has_one_path() {
    let transitions = Transitions::new(3, Order::One);
    let scores = Scores { node: &[], edge: None };
    let mut lattice = Lattice::default();
    assert_eq!(lattice.forward_backward(&transitions, scores, None), 0.0);
    assert!(lattice.node_marginals().is_empty());
    lattice.add_edge_expectations(&transitions, &mut EdgeSums::new(&transitions));
    let mut path = vec![LabelId(1)];
    let mut viterbi = Viterbi::default();
    assert_eq!(viterbi.decode(&transitions, scores, None, None, &mut path), 0.0);
    assert!(path.is_empty());
    let paths = viterbi.nbest(&transitions, scores, 9, None, None);
    assert_eq!((paths.len(), paths[0].labels.len(), paths[0].score), (1, 0, 0.0));
    assert_eq!(score(&transitions, scores, &[]), 0.0);
}

#[test]
fn expectations_add_up_over_sentences_in_any_mix_of_modes() {
    const STRIDE: usize = padded(3);
    let mut numbers = Lcg(9);
    let mut chain = Chain::new(6, 3, || numbers.next());
    let transitions = chain.transitions();
    let mut lattice = Lattice::default();
    let mut sums = [EdgeSums::new(&transitions), EdgeSums::new(&transitions)];
    let mut expected = vec![0.0; 3 * STRIDE];
    for i in 0..8 {
        let tokens = 1 + i % 6;
        chain.node = (0..tokens).map(|_| (0..3).map(|_| numbers.next()).collect()).collect();
        chain.edge = None;
        if i % 3 == 1 {
            chain = chain.with_edges(|| numbers.next());
        }
        chain.scores(0.0, |scores| match i % 3 {
            2 => lattice.forward_backward_in_log_space(&transitions, scores, None),
            _ => lattice.forward_backward(&transitions, scores, None),
        });
        lattice.add_edge_expectations(&transitions, &mut sums[i % 2]);
        let oracle = chain.enumerate();
        (1..tokens).for_each(|t| add(&mut expected, &oracle.edge_marginals(t)));
    }
    let [mut first, mut second] = sums;
    first.merge_scaled(1.0, &mut second, &transitions);
    let mut actual = vec![0.0; 3 * STRIDE];
    first.finish(&transitions, &mut actual);
    assert_all_close(&actual, &expected, 1e-13);
    first.clear();
    first.finish(&transitions, &mut actual);
    assert_eq!(actual, [0.0; 3 * STRIDE]);
}

#[test]
fn a_lattice_keeps_no_state_between_sentences() {
    let mut numbers = Lcg(10);
    let mut lattice = Lattice::default();
    for chain in extreme_chains().into_iter().rev() {
        let transitions = chain.transitions();
        let mut junk = Chain::new(7, 5, || numbers.extreme());
        junk = junk.with_edges(|| numbers.extreme());
        junk.scores(1.0, |scores| lattice.forward_backward(&junk.transitions(), scores, None));
        chain.scores(0.0, |scores| {
            let mut fresh = Lattice::default();
            let expected = fresh.forward_backward(&transitions, scores, None);
            assert_eq!(lattice.forward_backward(&transitions, scores, None), expected);
        });
        let fresh = infer(&chain, Lattice::forward_backward);
        assert_eq!(lattice.node_marginals(), fresh.nodes);
    }
}

#[test]
fn a_lattice_does_not_allocate_after_the_longest_sentence() {
    let mut numbers = Lcg(11);
    let mut chain = Chain::new(30, 3, || numbers.next()).with_edges(|| numbers.extreme());
    chain.node[20] = vec![0.0, 1e4, -1e4];
    let transitions = chain.transitions();
    let mut lattice = Lattice::default();
    chain.scores(0.0, |scores| lattice.forward_backward(&transitions, scores, None));
    let buffers = |lattice: &Lattice| lattice.arrays().map(<[f64]>::as_ptr);
    assert_eq!(lattice.mode(), Mode::Log);
    let before = buffers(&lattice);
    let short = Chain::new(3, 3, || numbers.next());
    short.scores(0.0, |scores| lattice.forward_backward(&transitions, scores, None));
    assert_eq!(lattice.mode(), Mode::Scaled);
    chain.scores(0.0, |scores| lattice.forward_backward(&transitions, scores, None));
    assert_eq!(buffers(&lattice), before);
}
