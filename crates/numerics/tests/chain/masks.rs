//! Inference over the paths of a mask.

use super::*;

/// Calls `f` with each of `chains` and a mask with at least one label per token.
fn for_each_masked(chains: Vec<Chain>, mut f: impl FnMut(&Chain, &LabelMask)) {
    let mut numbers = Lcg(31);
    for mut chain in chains {
        let mut mask = LabelMask::default();
        mask.begin(chain.labels);
        for _ in 0..chain.node.len() {
            if numbers.flag() {
                mask.push_any();
                continue;
            }
            let one = numbers.below(chain.labels);
            let labels = (0..chain.labels).filter(|&b| b == one || numbers.flag());
            let labels: Vec<LabelId> = labels.map(|b| LabelId(b as u16)).collect();
            mask.push(&labels);
        }
        f(&chain, &mask);
        chain.constraint = Some(numbers.constraint(chain.labels));
        f(&chain, &mask);
    }
}

fn allows(mask: &LabelMask, path: &[LabelId]) -> bool {
    path.iter().enumerate().all(|(t, &label)| mask.allows(t, label))
}

fn infer_within(chain: &Chain, mask: &LabelMask) -> Inference {
    infer(chain, |lattice, transitions, scores, _| {
        lattice.forward_backward(transitions, scores, Some(mask))
    })
}

#[test]
fn forward_backward_agrees_with_the_enumeration_of_allowed_paths() {
    for (chains, tolerance) in [(moderate_chains(), 1e-13), (extreme_chains(), 1e-10)] {
        for_each_masked(chains, |chain, mask| {
            if chain.constraint.is_none() {
                let expected = chain.enumerate().given(|path| allows(mask, path));
                assert_agrees(&infer_within(chain, mask), &expected, tolerance);
            }
        });
    }
}

#[test]
fn a_mask_that_allows_everything_changes_no_bit() {
    for chain in moderate_chains().into_iter().chain(extreme_chains()) {
        let mut mask = LabelMask::default();
        mask.begin(chain.labels);
        chain.node.iter().for_each(|_| mask.push_any());
        let (masked, all) = (infer_within(&chain, &mask), infer(&chain, Lattice::forward_backward));
        assert_eq!(masked.log_partition.to_bits(), all.log_partition.to_bits());
        assert_eq!(masked.nodes, all.nodes);
        assert_eq!(masked.expectations, all.expectations);
    }
}

#[test]
fn decoding_finds_the_best_paths_that_are_allowed_and_legal() {
    let mut viterbi = Viterbi::default();
    let mut path = Vec::new();
    for_each_masked(moderate_chains(), |chain, mask| {
        let (transitions, constraint) = (chain.transitions(), chain.constraint.as_ref());
        let expected = chain.enumerate().given(|path| allows(mask, path)).nbest(3);
        chain.scores(f64::NAN, |scores| {
            let mask = Some(mask);
            let best = viterbi.decode(&transitions, scores, constraint, mask, &mut path);
            match expected.first() {
                Some((labels, score)) => {
                    assert_eq!(&path, labels);
                    assert_close(best, *score, 1e-13);
                }
                None => assert!(path.is_empty() && best == f64::NEG_INFINITY),
            }
            let found = viterbi.nbest(&transitions, scores, 3, constraint, mask);
            assert_eq!(found.len(), expected.len());
            for (found, (labels, score)) in found.iter().zip(&expected) {
                assert_eq!(&found.labels, labels);
                assert_close(found.score, *score, 1e-13);
            }
        });
    });
}

#[test]
fn pairs_of_score_minus_infinity_are_forbidden_within_a_mask() {
    let mut numbers = Lcg(32);
    for chain in moderate_chains() {
        let Some(edge) = &chain.edge else { continue };
        if chain.order == Order::Zero || edge.len() < 2 || chain.labels < 2 {
            continue;
        }
        // One pair per token, so that a path remains.
        let forbidden: Vec<[usize; 2]> =
            (0..edge.len()).map(|_| [(); 2].map(|()| numbers.below(chain.labels))).collect();
        let mut restricted = chain.clone();
        for (matrix, [a, b]) in restricted.edge.iter_mut().flatten().zip(&forbidden).skip(1) {
            matrix[*a][*b] = f64::NEG_INFINITY;
        }
        let expected = chain.enumerate().given(|path| {
            let mut pairs = path.windows(2).zip(&forbidden[1..]);
            pairs.all(|(pair, [a, b])| pair[0].index() != *a || pair[1].index() != *b)
        });
        let mut mask = LabelMask::default();
        mask.begin(chain.labels);
        chain.node.iter().for_each(|_| mask.push_any());
        assert_agrees(&infer_within(&restricted, &mask), &expected, 1e-13);
        let transitions = chain.transitions();
        let found = restricted.scores(f64::NAN, |scores| {
            Viterbi::default().nbest(&transitions, scores, 2, None, Some(&mask))
        });
        let expected = expected.nbest(2);
        let labels = |i: usize| (&found[i].labels, &expected[i].0);
        (0..found.len()).for_each(|i| assert_eq!(labels(i).0, labels(i).1));
    }
}
