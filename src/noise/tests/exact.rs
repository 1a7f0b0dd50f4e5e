//! The exact engines on moderate cases.

use super::*;

const EXACT: usize = usize::MAX;

/// All cases, also those in which edges lead nowhere but are asked for.
fn all_cases() -> Vec<Case> {
    let mut all = Vec::new();
    for case in cases() {
        if case.edge.is_none() {
            let mut zero = case.clone().with_edges(&mut Numbers(3));
            let edges = [&mut zero.edge, &mut zero.chain.edge];
            for x in edges.into_iter().flatten().flatten().flatten().flatten() {
                *x = 0.0;
            }
            all.push(zero);
        }
        all.push(case);
    }
    all
}

/// R by the oracle after `change` has moved the case by h, against −h.
fn difference(case: &Case, change: &dyn Fn(&mut Case, f64)) -> f64 {
    let h = 1e-5;
    let value = |h: f64| {
        let mut case = case.clone();
        change(&mut case, h);
        case.weight * Paths::new(&case).value()
    };
    (value(h) - value(-h)) / (2.0 * h)
}

#[test]
fn the_enumeration_agrees_with_central_differences() {
    for case in cases() {
        if case.chain.enumerate().paths.len() > 100 {
            continue;
        }
        let (labels, stride) = (case.chain.labels, padded(case.chain.labels));
        let expected = Paths::new(&case).derivatives(EXACT);
        let close = |change: &dyn Fn(&mut Case, f64), expected: f64| {
            assert_all_close(&[difference(&case, change)], &[expected], 1e-9);
        };
        for b in 0..labels {
            for t in 0..case.node.len() {
                let at = t * stride + b;
                close(&|c, h| c.chain.node[t][b] += h, expected.node[at]);
                close(&|c, h| c.node[t][b] += h, expected.node_variance[at]);
            }
            for a in 0..labels {
                let at = a * stride + b;
                close(&|c, h| c.chain.trans[a][b] += h, expected.trans[at]);
                close(&|c, h| c.trans[a][b] += h, expected.trans_variance[at]);
            }
            let (Some(edge), Some(variance)) = (&expected.edge, &expected.edge_variance) else {
                continue;
            };
            let last = case.node.len() - 1;
            for a in 0..labels {
                let at = (last * labels + a) * stride + b;
                close(
                    &|c, h| c.chain.edge.as_mut().unwrap()[last][a][b] += h,
                    edge[at],
                );
                close(
                    &|c, h| c.edge.as_mut().unwrap()[last][a][b] += h,
                    variance[at],
                );
            }
        }
    }
}

#[test]
fn adjoint_agrees_with_the_enumeration() {
    for case in all_cases() {
        let expected = Paths::new(&case).derivatives(EXACT);
        assert_agrees(&find(&case, Engine::Adjoint), &expected, 1e-13);
    }
}

#[test]
fn all_engines_agree_with_the_enumeration_in_log_space() {
    for case in all_cases() {
        if case.chain.order == Order::Zero {
            continue;
        }
        let expected = Paths::new(&case).derivatives(EXACT);
        for engine in [Engine::Adjoint, Engine::Window(7)] {
            let lent = Lent::new(&case, true);
            assert_eq!(lent.lattice.mode(), Mode::Log);
            let mut found = Found::zeros(&case);
            lent.run(&mut *engine.regularizer(), 1.0, &mut found);
            assert_agrees(&found, &expected, 1e-13);
        }
        for collapse in [false, true] {
            assert_message_agrees(&case, collapse, true);
        }
    }
}

#[track_caller]
fn assert_message_agrees(case: &Case, collapse: bool, in_log_space: bool) {
    let expected = Paths::new(case).derivatives(EXACT);
    let mut engine = Message::new(collapse);
    let mut found = Found::zeros(case);
    Lent::new(case, in_log_space).run(&mut engine, case.weight, &mut found);
    assert_all_close(&[found.value], &[expected.value], 1e-13);
    assert_all_close(&found.variances(), &expected.variances(), 1e-13);
    assert_all_close(&found.trans, &expected.trans, 1e-13);
    let (node, edge) = through_features(case, &expected);
    let gradient = engine.feature_gradient().unwrap();
    let mut columns = 0;
    for (column, row) in gradient.node() {
        assert_all_close(row, &node[column as usize], 1e-13);
        columns += 1;
    }
    let mut seen: Vec<u32> = case.node_attributes.concat().iter().map(|x| x.0).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(columns, seen.len());
    for (column, matrix) in gradient.edge() {
        if let Some(expected) = edge.get(column as usize) {
            assert_all_close(matrix, expected, 1e-13);
        }
    }
}

#[test]
fn message_agrees_with_the_enumeration() {
    for case in all_cases() {
        assert_message_agrees(&case, false, false);
    }
}

#[test]
fn collapsing_changes_nothing_but_the_number_of_features() {
    for case in all_cases() {
        assert_message_agrees(&case, true, false);
    }
}

#[test]
fn message_counts_active_attributes_before_and_after_collapsing() {
    let mut numbers = Numbers(5);
    let mut case = Case::new(3, 2, &mut numbers);
    case.node_attributes = vec![
        vec![(0, 1.0), (1, 1.0), (2, 1.0)],
        vec![(0, 1.0), (3, 1.0)],
        vec![(4, 1.0), (5, 1.0), (6, 2.0)],
    ];
    case.edge_attributes = vec![vec![(9, 1.0)], vec![(7, 1.0), (8, 1.0)], vec![]];
    let lent = Lent::new(&case, false);
    for (collapse, collapsed) in [(false, 9), (true, 5)] {
        let mut engine = Message::new(collapse);
        lent.run(&mut engine, 1.0, &mut Found::zeros(&case));
        let expected = ActiveCounts {
            tokens: 3,
            attributes: 9,
            collapsed,
        };
        assert_eq!(engine.active_counts(), Some(expected));
    }
}

#[test]
fn derivatives_are_added_to_what_is_there_and_padding_stays() {
    for case in all_cases() {
        let stride = padded(case.chain.labels);
        for engine in [
            Engine::Adjoint,
            Engine::Message { collapse: true },
            Engine::Window(1),
        ] {
            let plain = find(&case, engine);
            let mut found = Found::zeros(&case);
            let edges = [&mut found.edge, &mut found.edge_variance];
            let arrays = [
                &mut found.node,
                &mut found.trans,
                &mut found.node_variance,
                &mut found.trans_variance,
            ];
            for array in arrays.into_iter().chain(edges.into_iter().flatten()) {
                array.fill(0.25);
            }
            Lent::new(&case, false).run(&mut *engine.regularizer(), case.weight, &mut found);
            for (found, plain) in [
                (found.gradient(), plain.gradient()),
                (found.variances(), plain.variances()),
            ] {
                let expected: Vec<f64> = plain.iter().map(|x| x + 0.25).collect();
                assert_all_close(&found, &expected, 1e-15);
                for (row, plain) in found.chunks_exact(stride).zip(plain.chunks_exact(stride)) {
                    assert!(row[case.chain.labels..].iter().all(|&x| x == 0.25));
                    assert!(plain[case.chain.labels..].iter().all(|&x| x == 0.0));
                }
            }
        }
    }
}

#[test]
fn the_weight_multiplies_everything() {
    for mut case in all_cases() {
        let expected = Paths::new(&case).derivatives(EXACT);
        let factor = -0.7 / case.weight;
        case.weight = -0.7;
        let found = find(&case, Engine::Adjoint);
        let scale = |array: Vec<f64>| array.iter().map(|x| x * factor).collect::<Vec<_>>();
        assert_all_close(&[found.value], &[expected.value * factor], 1e-13);
        assert_all_close(&found.gradient(), &scale(expected.gradient()), 1e-13);
        assert_all_close(&found.variances(), &scale(expected.variances()), 1e-13);
        assert_message_agrees(&case, true, false);
    }
}

#[test]
fn an_engine_sums_transitions_over_sentences_and_remembers_nothing_else() {
    let mut numbers = Numbers(6);
    for engine in [
        Engine::Adjoint,
        Engine::Message { collapse: true },
        Engine::Window(2),
        Engine::Local,
    ] {
        let mut regularizer = engine.regularizer();
        let mut first = Case::new(6, 3, &mut numbers);
        let lents: Vec<(Case, Lent)> = (0..6)
            .map(|i| {
                let mut case = Case::new([6, 1, 3, 4, 2, 5][i], 3, &mut numbers);
                (case.chain.trans, case.trans) = (first.chain.trans.clone(), first.trans.clone());
                if i % 3 == 2 {
                    case = case.with_edges(&mut numbers);
                }
                let lent = Lent::new(&case, i == 4);
                (case, lent)
            })
            .collect();
        std::mem::swap(&mut first.trans, &mut first.chain.trans); // another chunk, before
        Lent::new(&first, false).run(&mut *regularizer, 1.0, &mut Found::zeros(&first));
        let mut found = Found::zeros(&lents[0].0);
        let mut expected = found.clone();
        regularizer.begin(lents[0].1.shared());
        for (case, lent) in &lents {
            let mut sentence = Found::zeros(case);
            let out = Derivatives {
                node: &mut sentence.node,
                edge: sentence.edge.as_deref_mut(),
                node_variance: &mut sentence.node_variance,
                edge_variance: sentence.edge_variance.as_deref_mut(),
            };
            sentence.value = regularizer.regularize(lent.shared(), lent.sentence(1.0), out);
            let mut alone = Found::zeros(case);
            lent.run(&mut *engine.regularizer(), 1.0, &mut alone);
            assert_eq!(sentence.value, alone.value);
            assert_eq!(sentence.node, alone.node);
            assert_eq!(sentence.edge, alone.edge);
            assert_eq!(sentence.node_variance, alone.node_variance);
            pairs::add(&mut expected.trans, &alone.trans, 1.0);
            pairs::add(&mut expected.trans_variance, &alone.trans_variance, 1.0);
        }
        let out = ChainDerivatives {
            scores: &mut found.trans,
            variance: &mut found.trans_variance,
        };
        regularizer.finish(lents[0].1.shared(), out);
        assert_all_close(&found.trans, &expected.trans, 1e-14);
        assert_all_close(&found.trans_variance, &expected.trans_variance, 1e-14);
    }
}

#[test]
fn a_sentence_without_tokens_has_no_regularizer() {
    let mut numbers = Numbers(7);
    for order in [Order::Zero, Order::One] {
        let mut case = Case::new(0, 3, &mut numbers);
        case.chain.order = order;
        for engine in [
            Engine::Adjoint,
            Engine::Message { collapse: true },
            Engine::Window(2),
        ] {
            let found = find(&case, engine);
            assert_eq!(found.value, 0.0);
            assert!(found.trans.iter().all(|&x| x == 0.0));
        }
    }
}
