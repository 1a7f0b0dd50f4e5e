//! Near-certain marginals, scores that exponentials cannot hold, and what is not finite.

use super::*;

/// Cases whose scores reach `magnitude`, of which many are 0.
fn extreme_cases(magnitude: f64) -> Vec<Case> {
    let mut numbers = Numbers(9);
    let mut cases = cases();
    for case in &mut cases {
        let mut change = |row: &mut Vec<f64>| {
            for x in row {
                *x += magnitude * (1.7 * numbers.next()).trunc();
            }
        };
        let edge = case.chain.edge.iter_mut().flatten().flatten();
        let rows = case.chain.node.iter_mut().chain(&mut case.chain.trans);
        rows.chain(edge).for_each(&mut change);
    }
    cases
}

fn assert_exact(case: &Case, tolerance: f64) {
    let expected = Paths::new(case).derivatives(usize::MAX);
    let size = case.size();
    for engine in [Engine::Adjoint, Engine::Window(7)] {
        assert_agrees(&find(case, engine), &expected, tolerance * size);
    }
    let mut engine = Message::new(true);
    let mut found = Found::zeros(case);
    Lent::new(case, false).run(&mut engine, case.weight, &mut found);
    let (node, _) = through_features(case, &expected);
    for (column, row) in engine.feature_gradient().unwrap().node() {
        assert_all_close(row, &node[column as usize], 8.0 * tolerance * size);
    }
    assert_all_close(&found.trans, &expected.trans, tolerance * size);
}

#[test]
fn near_certain_marginals_agree_with_the_enumeration() {
    for case in extreme_cases(50.0) {
        assert_exact(&case, 1e-12);
    }
}

#[test]
fn scores_that_exponentials_can_hardly_hold_agree_with_the_enumeration() {
    let mut cases = extreme_cases(300.0);
    cases.extend(extreme_cases(600.0));
    let lents = cases.iter().map(|case| Lent::new(case, false));
    let scaled = lents.filter(|lent| lent.lattice.mode() == Mode::Scaled);
    let highest = scaled.map(|lent| lent.lattice.suffix().iter().copied().fold(0.0, f64::max));
    assert!(
        highest.filter(|&v| v > 2e120).count() > 5,
        "none has a large v"
    );
    for case in cases {
        assert_exact(&case, 1e-11);
    }
}

#[test]
fn scores_of_ten_thousand_agree_with_the_enumeration() {
    let cases = extreme_cases(1e4);
    let lents = cases.iter().map(|case| Lent::new(case, false));
    let logs = lents.filter(|lent| lent.lattice.mode() == Mode::Log);
    assert!(logs.count() > 20, "none is in log space");
    for case in cases {
        assert_exact(&case, 1e-10);
    }
}

#[test]
fn large_variances_agree_with_the_enumeration() {
    for mut case in cases() {
        let edge = case.edge.iter_mut().flatten().flatten();
        let rows = case.node.iter_mut().chain(&mut case.trans).chain(edge);
        rows.flatten().for_each(|x| *x *= 1e8);
        assert_exact(&case, 1e-13);
    }
}

#[test]
fn long_sentences_agree_between_the_engines_and_the_forms() {
    let mut numbers = Numbers(10);
    for labels in [5, 8, 9, 17, 24, 33] {
        let case = Case::new(40, labels, &mut numbers);
        let factored = find(&case, Engine::Adjoint);
        let window = find(&case, Engine::Window(39));
        assert_agrees(&factored, &window, 1e-12);
        let mut found = Found::zeros(&case);
        Lent::new(&case, true).run(&mut Adjoint::default(), 1.0, &mut found);
        assert_agrees(&factored, &found, 1e-12);
    }
}

#[test]
fn one_label_leaves_nothing_to_regularize() {
    let mut numbers = Numbers(11);
    let case = Case::new(30, 1, &mut numbers);
    for engine in [Engine::Adjoint, Engine::Window(3), Engine::Local] {
        let found = find(&case, engine);
        assert_all_close(&[found.value], &[0.0], 1e-12);
        assert!(found.gradient().iter().all(|x| x.abs() < 1e-12));
    }
}

#[test]
fn scores_that_are_not_finite_give_no_number_and_no_panic() {
    let mut numbers = Numbers(12);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut case = Case::new(3, 2, &mut numbers);
        case.chain.node[1][1] = bad;
        for order in [Order::Zero, Order::One] {
            case.chain.order = order;
            for case in [case.clone(), case.clone().with_edges(&mut numbers)] {
                for engine in [
                    Engine::Adjoint,
                    Engine::Message { collapse: true },
                    Engine::Window(1),
                ] {
                    assert!(find(&case, engine).value.is_nan());
                }
            }
        }
    }
}
