//! Max-marginals and detours against the enumeration of all paths.

use super::*;
use dropchain_numerics::interrupt::Interrupt;

/// Asserts that every detour of a chain is a best path through its label, and that it differs from
/// the best path everywhere.
fn assert_detours(chain: &Chain, mask: Option<&LabelMask>, tolerance: f64) -> usize {
    let transitions = chain.transitions();
    let oracle = chain.enumerate().given(|path| {
        let mut labels = path.iter().enumerate();
        mask.is_none_or(|mask| labels.all(|(t, &label)| mask.allows(t, label)))
    });
    chain.scores(f64::NAN, |scores| {
        let constraint = chain.constraint.as_ref();
        let interrupt = &Interrupt::default();
        let marginals = MaxMarginals::new(&transitions, scores, constraint, mask, interrupt);
        let mut path = Vec::new();
        let viterbi = &mut Viterbi::default();
        let best = viterbi.decode(&transitions, scores, constraint, mask, &mut path);
        assert_eq!(marginals.path, path);
        assert_eq!(marginals.score().to_bits(), best.to_bits());
        let edge = scores.edge.filter(|_| chain.order == Order::One);
        let mut found = 0;
        for t in 0..path.len() {
            for wanted in 0..=chain.labels {
                // The last round: any other label.
                let is_wanted = |label: LabelId| match wanted == chain.labels {
                    true => label != path[t],
                    false => label.index() == wanted,
                };
                let through = oracle.paths.iter().filter(|(path, _)| is_wanted(path[t]));
                let expected = through.map(|(_, score)| *score).max_by(f64::total_cmp);
                let detour = marginals.detour(edge, t, is_wanted);
                if is_wanted(path[t]) {
                    assert_eq!(detour, None);
                    continue;
                }
                let Some(Detour { start, labels }) = detour else {
                    assert_eq!(expected, None, "label {wanted} at {t}");
                    continue;
                };
                found += 1;
                let mut other = path.clone();
                other[start..start + labels.len()].copy_from_slice(&labels);
                assert!(is_wanted(other[t]) && chain.allows(&other));
                assert_close(chain.score(&other), expected.unwrap(), tolerance);
                let differs = |t: usize| other[t] != path[t];
                assert!((start..start + labels.len()).all(differs), "{path:?} {other:?}");
            }
        }
        found
    })
}

#[test]
fn detours_are_the_best_paths_through_other_labels() {
    let mut numbers = Lcg(3);
    for chain in moderate_chains() {
        assert_detours(&chain, None, 1e-12);
    }
    for mut chain in chains(|| numbers.integer()) {
        assert_detours(&chain, None, 0.0);
        chain.constraint = Some(numbers.constraint(chain.labels));
        assert_detours(&chain, None, 0.0);
    }
}

#[test]
fn detours_keep_to_the_mask() {
    let mut numbers = Lcg(4);
    let mut found = 0;
    for mut chain in moderate_chains() {
        let mut mask = LabelMask::default();
        mask.begin(chain.labels);
        for _ in 0..chain.node.len() {
            let labels = (0..chain.labels as u16).map(LabelId);
            mask.push(&labels.filter(|_| numbers.flag()).collect::<Vec<_>>());
        }
        found += assert_detours(&chain, Some(&mask), 1e-12);
        chain.constraint = Some(numbers.constraint(chain.labels));
        found += assert_detours(&chain, Some(&mask), 1e-12);
    }
    assert!(found > 100, "{found}");
}

#[test]
fn without_a_path_there_are_no_detours() {
    let mut chain = Chain::new(2, 2, || 0.0);
    chain.constraint = Some(Constraint::new(&[false; 4], &[true; 2], &[true; 2]));
    assert_eq!(assert_detours(&chain, None, 0.0), 0);
    chain.scores(0.0, |scores| {
        let constraint = chain.constraint.as_ref();
        let interrupt = &Interrupt::default();
        let transitions = chain.transitions();
        let marginals = MaxMarginals::new(&transitions, scores, constraint, None, interrupt);
        assert_eq!(marginals.score(), f64::NEG_INFINITY);
        assert_eq!(marginals.detour(None, 0, |_| true), None);
    });
}
