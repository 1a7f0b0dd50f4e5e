//! The exact engines on moderate sentences.

use super::*;

const EXACT: usize = usize::MAX;

/// Returns all sentences, and those without edges once more with edges of score and variance 0.
fn all_sentences() -> Vec<TestSentence> {
    let mut all = Vec::new();
    for sentence in sentences() {
        if sentence.edge.is_none() {
            let mut zero = sentence.clone().with_edges(&mut Lcg(3));
            let edges = [&mut zero.edge, &mut zero.chain.edge];
            for x in edges.into_iter().flatten().flatten().flatten().flatten() {
                *x = 0.0;
            }
            all.push(zero);
        }
        all.push(sentence);
    }
    all
}

/// Returns the central difference of weight·R, by enumeration, along `change`.
fn central_difference(sentence: &TestSentence, change: &dyn Fn(&mut TestSentence, f64)) -> f64 {
    let h = 1e-5;
    let value = |h: f64| {
        let mut sentence = sentence.clone();
        change(&mut sentence, h);
        sentence.weight * Paths::new(&sentence).value()
    };
    (value(h) - value(-h)) / (2.0 * h)
}

#[test]
fn the_enumeration_agrees_with_central_differences() {
    for sentence in sentences() {
        if sentence.chain.enumerate().paths.len() > 100 {
            continue;
        }
        let (labels, stride) = (sentence.chain.labels, padded(sentence.chain.labels));
        let expected = Paths::new(&sentence).derivatives(EXACT);
        let close = |change: &dyn Fn(&mut TestSentence, f64), expected: f64| {
            assert_all_close(&[central_difference(&sentence, change)], &[expected], 1e-9);
        };
        for b in 0..labels {
            for t in 0..sentence.node.len() {
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
            let last = sentence.node.len() - 1;
            for a in 0..labels {
                let at = (last * labels + a) * stride + b;
                close(&|c, h| c.chain.edge.as_mut().unwrap()[last][a][b] += h, edge[at]);
                close(&|c, h| c.edge.as_mut().unwrap()[last][a][b] += h, variance[at]);
            }
        }
    }
}

#[test]
fn adjoint_agrees_with_the_enumeration() {
    for sentence in all_sentences() {
        let expected = Paths::new(&sentence).derivatives(EXACT);
        assert_agrees(&evaluate(&sentence, Engine::Exact), &expected, 1e-13);
    }
}

#[test]
fn all_engines_agree_with_the_enumeration_in_log_space() {
    for sentence in all_sentences() {
        if sentence.chain.order == Order::Zero {
            continue;
        }
        let expected = Paths::new(&sentence).derivatives(EXACT);
        for engine in [Engine::Exact, Engine::Window(7)] {
            let buffers = SentenceBuffers::new(&sentence, true);
            assert_eq!(buffers.lattice.mode(), Mode::Log);
            let mut actual = ValueAndGradient::zeros(&sentence);
            buffers.run(&mut *engine.regularizer(), 1.0, &mut actual);
            assert_agrees(&actual, &expected, 1e-13);
        }
        for collapse in [false, true] {
            assert_message_agrees(&sentence, collapse, true);
        }
    }
}

#[track_caller]
fn assert_message_agrees(sentence: &TestSentence, collapse: bool, in_log_space: bool) {
    let expected = Paths::new(sentence).derivatives(EXACT);
    let mut engine = Message::new(collapse);
    let mut actual = ValueAndGradient::zeros(sentence);
    SentenceBuffers::new(sentence, in_log_space).run(&mut engine, sentence.weight, &mut actual);
    assert_all_close(&[actual.value], &[expected.value], 1e-13);
    assert_all_close(&actual.variances(), &expected.variances(), 1e-13);
    assert_all_close(&actual.trans, &expected.trans, 1e-13);
    let (node, edge) = feature_gradient(sentence, &expected);
    let gradient = engine.feature_gradient().unwrap();
    let mut columns = 0;
    for (column, row) in gradient.nodes.iter() {
        assert_all_close(row, &node[column as usize], 1e-13);
        columns += 1;
    }
    let mut seen: Vec<u32> = sentence.node_attributes.concat().iter().map(|x| x.0).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(columns, seen.len());
    for (column, matrix) in gradient.edges.iter() {
        if let Some(expected) = edge.get(column as usize) {
            assert_all_close(matrix, expected, 1e-13);
        }
    }
}

#[test]
fn message_agrees_with_the_enumeration() {
    for sentence in all_sentences() {
        assert_message_agrees(&sentence, false, false);
    }
}

#[test]
fn collapsing_changes_nothing_but_the_number_of_features() {
    for sentence in all_sentences() {
        assert_message_agrees(&sentence, true, false);
    }
}

#[test]
fn derivatives_are_accumulated_and_padding_is_untouched() {
    for sentence in all_sentences() {
        let stride = padded(sentence.chain.labels);
        for engine in [Engine::Exact, Engine::Message { collapse: true }, Engine::Window(1)] {
            let plain = evaluate(&sentence, engine);
            let mut actual = ValueAndGradient::zeros(&sentence);
            let edges = [&mut actual.edge, &mut actual.edge_variance];
            let arrays = [
                &mut actual.node,
                &mut actual.trans,
                &mut actual.node_variance,
                &mut actual.trans_variance,
            ];
            for array in arrays.into_iter().chain(edges.into_iter().flatten()) {
                array.fill(0.25);
            }
            SentenceBuffers::new(&sentence, false).run(
                &mut *engine.regularizer(),
                sentence.weight,
                &mut actual,
            );
            for (actual, plain) in
                [(actual.gradient(), plain.gradient()), (actual.variances(), plain.variances())]
            {
                let expected: Vec<f64> = plain.iter().map(|x| x + 0.25).collect();
                assert_all_close(&actual, &expected, 1e-15);
                for (row, plain) in actual.chunks_exact(stride).zip(plain.chunks_exact(stride)) {
                    assert!(row[sentence.chain.labels..].iter().all(|&x| x == 0.25));
                    assert!(plain[sentence.chain.labels..].iter().all(|&x| x == 0.0));
                }
            }
        }
    }
}

#[test]
fn the_weight_multiplies_everything() {
    for mut sentence in all_sentences() {
        let expected = Paths::new(&sentence).derivatives(EXACT);
        let factor = -0.7 / sentence.weight;
        sentence.weight = -0.7;
        let actual = evaluate(&sentence, Engine::Exact);
        let scale = |array: Vec<f64>| array.iter().map(|x| x * factor).collect::<Vec<_>>();
        assert_all_close(&[actual.value], &[expected.value * factor], 1e-13);
        assert_all_close(&actual.gradient(), &scale(expected.gradient()), 1e-13);
        assert_all_close(&actual.variances(), &scale(expected.variances()), 1e-13);
        assert_message_agrees(&sentence, true, false);
    }
}

#[test]
fn an_engine_sums_transitions_over_sentences_and_keeps_no_other_state() {
    let mut numbers = Lcg(6);
    for engine in
        [Engine::Exact, Engine::Message { collapse: true }, Engine::Window(2), Engine::Window(0)]
    {
        let mut regularizer = engine.regularizer();
        let mut first = TestSentence::new(6, 3, &mut numbers);
        let all_buffers: Vec<(TestSentence, SentenceBuffers)> = (0..6)
            .map(|i| {
                let mut sentence = TestSentence::new([6, 1, 3, 4, 2, 5][i], 3, &mut numbers);
                (sentence.chain.trans, sentence.trans) =
                    (first.chain.trans.clone(), first.trans.clone());
                if i % 3 == 2 {
                    sentence = sentence.with_edges(&mut numbers);
                }
                let buffers = SentenceBuffers::new(&sentence, i == 4);
                (sentence, buffers)
            })
            .collect();
        std::mem::swap(&mut first.trans, &mut first.chain.trans); // a previous batch
        SentenceBuffers::new(&first, false).run(
            &mut *regularizer,
            1.0,
            &mut ValueAndGradient::zeros(&first),
        );
        let mut actual = ValueAndGradient::zeros(&all_buffers[0].0);
        let mut expected = actual.clone();
        regularizer.begin(all_buffers[0].1.context());
        for (sentence, buffers) in &all_buffers {
            let mut result = ValueAndGradient::zeros(sentence);
            let out = &mut result.derivatives();
            result.value = regularizer.regularize(buffers.input(1.0), out);
            let mut alone = ValueAndGradient::zeros(sentence);
            buffers.run(&mut *engine.regularizer(), 1.0, &mut alone);
            assert_eq!(result.value, alone.value);
            assert_eq!(result.node, alone.node);
            assert_eq!(result.edge, alone.edge);
            assert_eq!(result.node_variance, alone.node_variance);
            add(&mut expected.trans, &alone.trans);
            add(&mut expected.trans_variance, &alone.trans_variance);
        }
        let out =
            ChainDerivatives { scores: &mut actual.trans, variance: &mut actual.trans_variance };
        regularizer.finish(all_buffers[0].1.context(), out);
        assert_all_close(&actual.trans, &expected.trans, 1e-14);
        assert_all_close(&actual.trans_variance, &expected.trans_variance, 1e-14);
    }
}

#[test]
fn a_sentence_without_tokens_has_no_regularizer() {
    let mut numbers = Lcg(7);
    for order in [Order::Zero, Order::One] {
        let mut sentence = TestSentence::new(0, 3, &mut numbers);
        sentence.chain.order = order;
        for engine in [Engine::Exact, Engine::Message { collapse: true }, Engine::Window(2)] {
            let actual = evaluate(&sentence, engine);
            assert_eq!(actual.value, 0.0);
            assert!(actual.trans.iter().all(|&x| x == 0.0));
        }
    }
}
