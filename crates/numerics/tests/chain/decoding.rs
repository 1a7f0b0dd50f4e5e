//! Best path, n-best paths and constraints.

use super::*;

/// Calls `f` with each of `chains`, without and with a constraint.
fn for_each_constrained(chains: Vec<Chain>, mut f: impl FnMut(&Chain, &Transitions, Scores)) {
    let mut numbers = Lcg(12);
    for mut chain in chains {
        let transitions = chain.transitions();
        chain.scores(f64::NAN, |scores| f(&chain, &transitions, scores));
        chain.constraint = Some(numbers.constraint(chain.labels));
        chain.scores(f64::NAN, |scores| f(&chain, &transitions, scores));
    }
}

fn integer_chains() -> Vec<Chain> {
    let mut numbers = Lcg(13);
    chains(|| numbers.integer())
}

#[track_caller]
fn assert_best(chain: &Chain, transitions: &Transitions, scores: Scores, path: &[LabelId]) {
    let expected = chain.enumerate().nbest(1);
    let expected = expected.first().map(|path| &path.0[..]).unwrap_or_default();
    assert_eq!(path, expected);
    if !path.is_empty() {
        assert_close(score(transitions, scores, path), chain.score(path), 1e-13);
    }
}

#[test]
fn decoding_finds_the_best_legal_path() {
    let mut viterbi = Viterbi::default();
    let mut path = Vec::new();
    let chains = [moderate_chains(), extreme_chains()].concat();
    for_each_constrained(chains, |chain, transitions, scores| {
        let best = viterbi.decode(transitions, scores, chain.constraint.as_ref(), None, &mut path);
        assert_best(chain, transitions, scores, &path);
        if path.is_empty() {
            assert_eq!(best, f64::NEG_INFINITY);
        } else {
            assert_eq!(best, score(transitions, scores, &path));
        }
    });
}

#[test]
fn ties_go_to_the_lowest_label_starting_from_the_last_token() {
    let mut viterbi = Viterbi::default();
    let mut path = Vec::new();
    for_each_constrained(integer_chains(), |chain, transitions, scores| {
        viterbi.decode(transitions, scores, chain.constraint.as_ref(), None, &mut path);
        assert_best(chain, transitions, scores, &path);
    });
}

#[test]
fn nbest_finds_the_best_legal_paths_in_order() {
    let mut viterbi = Viterbi::default();
    for_each_constrained(moderate_chains(), |chain, transitions, scores| {
        let oracle = chain.enumerate();
        for n in [1, 2, 10, 300] {
            let actual = viterbi.nbest(transitions, scores, n, chain.constraint.as_ref(), None);
            let expected = oracle.nbest(n);
            assert_eq!(actual.len(), expected.len());
            for (actual, (labels, score)) in actual.iter().zip(&expected) {
                assert_eq!(&actual.labels, labels);
                assert_close(actual.score, *score, 1e-13);
            }
        }
    });
}

#[test]
fn nbest_of_tied_paths_has_the_right_scores_and_no_duplicates() {
    let mut viterbi = Viterbi::default();
    let mut best = Vec::new();
    for_each_constrained(integer_chains(), |chain, transitions, scores| {
        let oracle = chain.enumerate();
        let constraint = chain.constraint.as_ref();
        for n in [1, 7, 40, usize::MAX] {
            let paths = viterbi.nbest(transitions, scores, n, constraint, None);
            let expected: Vec<f64> = oracle.nbest(n).iter().map(|path| path.1).collect();
            let actual: Vec<f64> = paths.iter().map(|path| path.score).collect();
            assert_eq!(actual, expected);
            let mut labels: Vec<_> = paths.iter().map(|path| &path.labels).collect();
            assert!(labels.iter().all(|labels| chain.allows(labels)));
            labels.sort();
            labels.dedup();
            assert_eq!(labels.len(), paths.len());
            let best_score = viterbi.decode(transitions, scores, constraint, None, &mut best);
            if let Some(first) = paths.first() {
                assert_eq!((&first.labels, first.score), (&best, best_score));
            }
        }
    });
}

#[test]
fn nbest_of_a_long_sentence_is_descending_and_distinct() {
    let mut numbers = Lcg(14);
    let chain = Chain::new(10_000, 9, || 3.0 * numbers.next());
    let transitions = chain.transitions();
    chain.scores(0.0, |scores| {
        let mut viterbi = Viterbi::default();
        let paths = viterbi.nbest(&transitions, scores, 10, None, None);
        assert_eq!(paths.len(), 10);
        assert!(paths.is_sorted_by(|x, y| x.score >= y.score && x.labels != y.labels));
        for path in &paths {
            assert_close(path.score, score(&transitions, scores, &path.labels), 1e-13);
        }
        let mut best = Vec::new();
        viterbi.decode(&transitions, scores, None, None, &mut best);
        assert_eq!(paths[0].labels, best);
    });
}

#[test]
fn without_a_legal_path_the_result_is_empty() {
    let chain = Chain::new(2, 2, || 1.0);
    let transitions = chain.transitions();
    let constraint = Constraint::new(&[true; 4], &[false; 2], &[true; 2]);
    chain.scores(0.0, |scores| {
        let mut viterbi = Viterbi::default();
        let mut path = vec![LabelId(0)];
        let best = viterbi.decode(&transitions, scores, Some(&constraint), None, &mut path);
        assert_eq!((best, path.len()), (f64::NEG_INFINITY, 0));
        assert!(viterbi.nbest(&transitions, scores, 5, Some(&constraint), None).is_empty());
    });
}

#[test]
fn probabilities_of_all_paths_sum_to_one() {
    let mut numbers = Lcg(15);
    let chain = Chain::new(5, 4, || numbers.next()).with_edges(|| numbers.next());
    let transitions = chain.transitions();
    chain.scores(0.0, |scores| {
        let total = Lattice::default().forward_backward(&transitions, scores, None);
        let paths = Viterbi::default().nbest(&transitions, scores, usize::MAX, None, None);
        assert_eq!(paths.len(), 1024);
        let sum = paths.iter().map(|path| (path.score - total).exp()).sum();
        assert_close(sum, 1.0, 1e-13);
    });
}
