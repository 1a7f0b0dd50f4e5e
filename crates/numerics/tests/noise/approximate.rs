//! The approximate engines: windows.

use super::*;

#[test]
fn a_window_keeps_covariances_within_its_radius() {
    for sentence in sentences() {
        for radius in 0..sentence.node.len() {
            let expected = Paths::new(&sentence).derivatives(radius);
            assert_agrees(&evaluate(&sentence, Engine::Window(radius)), &expected, 1e-13);
        }
    }
}

#[test]
fn a_window_over_the_sentence_is_exact() {
    for sentence in sentences() {
        let exact = evaluate(&sentence, Engine::Exact);
        for radius in [sentence.node.len() - 1, sentence.node.len(), usize::MAX] {
            assert_agrees(&evaluate(&sentence, Engine::Window(radius)), &exact, 1e-13);
        }
    }
}

#[test]
fn a_window_of_radius_0_has_each_token_on_its_own() {
    for sentence in sentences() {
        let expected = Paths::new(&sentence).derivatives(0);
        assert_agrees(&evaluate(&sentence, Engine::Window(0)), &expected, 1e-13);
    }
}

#[test]
fn the_value_of_an_approximate_engine_is_exact() {
    for sentence in sentences() {
        let exact = evaluate(&sentence, Engine::Exact);
        let local = evaluate(&sentence, Engine::Window(0));
        assert_all_close(&[local.value], &[exact.value], 1e-13);
        assert_all_close(&local.variances(), &exact.variances(), 1e-13);
    }
}

#[test]
fn the_error_decreases_with_the_radius() {
    // Relative L2 norm of the error over 20 sentences of 12 tokens and 5 labels.
    let mut numbers = Lcg(8);
    let sentences: Vec<TestSentence> =
        (0..20).map(|_| TestSentence::new(12, 5, &mut numbers)).collect();
    let square = |x: f64| x * x;
    let error = |radius: usize| {
        let (mut error, mut size) = (0.0, 0.0);
        for sentence in &sentences {
            let exact = evaluate(sentence, Engine::Exact).gradient();
            let actual = evaluate(sentence, Engine::Window(radius)).gradient();
            error += actual.iter().zip(&exact).map(|(x, y)| square(x - y)).sum::<f64>();
            size += exact.iter().map(|&x| square(x)).sum::<f64>();
        }
        (error / size).sqrt()
    };
    let errors: Vec<f64> = (0..12).map(error).collect();
    assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
    let rounded: Vec<f64> = errors.iter().map(|e| (e * 1e3).round() / 1e3).collect();
    assert_eq!(rounded[..5], [0.57, 0.178, 0.059, 0.02, 0.007]);
    assert!(errors[11] < 1e-14);
}
