//! Near-certain marginals, scores out of the range of exponentials, and non-finite scores.

use super::*;

/// Returns sentences whose scores reach `magnitude`; many are moderate.
fn extreme_sentences(magnitude: f64) -> Vec<TestSentence> {
    let mut numbers = Lcg(9);
    let mut sentences = sentences();
    for sentence in &mut sentences {
        let mut change = |row: &mut Vec<f64>| {
            for x in row {
                *x += magnitude * (1.7 * numbers.next()).trunc();
            }
        };
        let edge = sentence.chain.edge.iter_mut().flatten().flatten();
        let rows = sentence.chain.node.iter_mut().chain(&mut sentence.chain.trans);
        rows.chain(edge).for_each(&mut change);
    }
    sentences
}

fn assert_exact(sentence: &TestSentence, tolerance: f64) {
    let expected = Paths::new(sentence).derivatives(usize::MAX);
    let size = sentence.error_scale();
    for engine in [Engine::Exact, Engine::Window(7)] {
        assert_agrees(&evaluate(sentence, engine), &expected, tolerance * size);
    }
    let mut engine = Message::new(true);
    let mut actual = ValueAndGradient::zeros(sentence);
    SentenceBuffers::new(sentence, false).run(&mut engine, sentence.weight, &mut actual);
    let (node, _) = feature_gradient(sentence, &expected);
    for (column, row) in engine.feature_gradient().unwrap().nodes.iter() {
        assert_all_close(row, &node[column as usize], 8.0 * tolerance * size);
    }
    assert_all_close(&actual.trans, &expected.trans, tolerance * size);
}

#[test]
fn near_certain_marginals_agree_with_the_enumeration() {
    for sentence in extreme_sentences(50.0) {
        assert_exact(&sentence, 1e-12);
    }
}

#[test]
fn scores_at_the_limit_of_exponentials_agree_with_the_enumeration() {
    let mut sentences = extreme_sentences(300.0);
    sentences.extend(extreme_sentences(600.0));
    let all_buffers = sentences.iter().map(|sentence| SentenceBuffers::new(sentence, false));
    let scaled = all_buffers.filter(|buffers| buffers.lattice.mode() == Mode::Scaled);
    let highest = scaled.map(|buffers| {
        let [_, _, suffix, ..] = buffers.lattice.arrays();
        suffix.iter().copied().fold(0.0, f64::max)
    });
    assert!(highest.filter(|&v| v > 2e120).count() > 5, "none has a large v");
    for sentence in sentences {
        assert_exact(&sentence, 1e-11);
    }
}

#[test]
fn scores_of_ten_thousand_agree_with_the_enumeration() {
    let sentences = extreme_sentences(1e4);
    let all_buffers = sentences.iter().map(|sentence| SentenceBuffers::new(sentence, false));
    let logs = all_buffers.filter(|buffers| buffers.lattice.mode() == Mode::Log);
    assert!(logs.count() > 20, "none is in log space");
    for sentence in sentences {
        assert_exact(&sentence, 1e-10);
    }
}

#[test]
fn large_variances_agree_with_the_enumeration() {
    for mut sentence in sentences() {
        let edge = sentence.edge.iter_mut().flatten().flatten();
        let rows = sentence.node.iter_mut().chain(&mut sentence.trans).chain(edge);
        rows.flatten().for_each(|x| *x *= 1e8);
        assert_exact(&sentence, 1e-13);
    }
}

#[test]
fn long_sentences_agree_between_engines_and_modes() {
    let mut numbers = Lcg(10);
    for labels in [5, 8, 9, 17, 24, 33] {
        let sentence = TestSentence::new(40, labels, &mut numbers);
        let kernel = evaluate(&sentence, Engine::Exact);
        let window = evaluate(&sentence, Engine::Window(39));
        assert_agrees(&kernel, &window, 1e-12);
        let mut actual = ValueAndGradient::zeros(&sentence);
        SentenceBuffers::new(&sentence, true).run(&mut Adjoint::default(), 1.0, &mut actual);
        assert_agrees(&kernel, &actual, 1e-12);
    }
}

#[test]
fn one_label_leaves_nothing_to_regularize() {
    let mut numbers = Lcg(11);
    let sentence = TestSentence::new(30, 1, &mut numbers);
    for engine in [Engine::Exact, Engine::Window(3), Engine::Window(0)] {
        let actual = evaluate(&sentence, engine);
        assert_all_close(&[actual.value], &[0.0], 1e-12);
        assert!(actual.gradient().iter().all(|x| x.abs() < 1e-12));
    }
}

#[test]
fn non_finite_scores_give_nan_and_no_panic() {
    let mut numbers = Lcg(12);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut sentence = TestSentence::new(3, 2, &mut numbers);
        sentence.chain.node[1][1] = bad;
        for order in [Order::Zero, Order::One] {
            sentence.chain.order = order;
            for sentence in [sentence.clone(), sentence.clone().with_edges(&mut numbers)] {
                for engine in [Engine::Exact, Engine::Message { collapse: true }, Engine::Window(1)]
                {
                    assert!(evaluate(&sentence, engine).value.is_nan());
                }
            }
        }
    }
}
