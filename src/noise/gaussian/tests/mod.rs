//! The methods against integration over all scores, against their definitions, and against central
//! differences.

use super::*;
use crate::chain::{Lattice, ScoreArrays, Scores, Transitions, padded};
use crate::math::{assert_close, log_sum_exp};
use crate::noise::{Adjoint, Features};
use crate::random::Lcg;

const ALL: [Expectation; 2] = [Expectation::Best, Expectation::Unscented];

/// Scores μ and variances V of one token, `[K]`.
#[derive(Clone, Debug)]
struct Token {
    scores: Vec<f64>,
    variances: Vec<f64>,
}

/// R and its derivatives, `[K]`.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    value: f64,
    scores: Vec<f64>,
    variances: Vec<f64>,
}

impl Token {
    fn new(scores: &[f64], variances: &[f64]) -> Self {
        Self { scores: scores.to_vec(), variances: variances.to_vec() }
    }

    fn random(labels: usize, [spread, variance]: [f64; 2], numbers: &mut Lcg) -> Self {
        let scores = numbers.vector(labels).iter().map(|x| spread * x).collect();
        let variances = numbers.vector(labels).into_iter();
        Self { scores, variances: variances.map(|x| variance * (1.0 + x) / 2.0).collect() }
    }
}

fn arrays(nodes: &mut [f64]) -> ScoreArrays<'_> {
    let edges = &mut [];
    ScoreArrays { nodes, edges }
}

/// Evaluates one token.
fn evaluate(engine: &mut dyn Regularizer, token: &Token, weight: f64) -> Term {
    let (labels, stride) = (token.scores.len(), padded(token.scores.len()));
    let pad = |values: &[f64], padding: f64| {
        let mut row = values.to_vec();
        row.resize(stride, padding);
        row
    };
    let transitions = Transitions::new(labels, Order::Zero);
    let mut lattice = Lattice::default();
    let node = pad(&token.scores, f64::NAN);
    let scores = Scores { node: &node, edge: None };
    lattice.forward_backward(&transitions, scores);
    let pairs = vec![0.0; labels * stride];
    let context = ChainContext { transitions: &transitions, variance: &pairs };
    let input = SentenceInput {
        lattice: &lattice,
        node_variance: &pad(&token.variances, 1e30),
        linear_variance: None,
        edge_variance: None,
        weight,
        features: Features::default(),
    };
    let [mut node, mut variances] = [(); 2].map(|()| vec![0.0; stride]);
    engine.begin(context);
    let mut out = Derivatives { scores: arrays(&mut node), variances: arrays(&mut variances) };
    let value = engine.regularize(context, input, &mut out);
    node.truncate(labels);
    variances.truncate(labels);
    Term { value, scores: node, variances }
}

fn gaussian(expectation: Expectation, token: &Token) -> Term {
    evaluate(&mut Gaussian::new(expectation), token, 1.0)
}

/// E over all K scores by a product of trapezoidal rules, and the derivatives by Stein's lemma:
/// ∂/∂μ_b is E[p_b(s)] − p_b and ∂/∂V_b is ½ E[p_b·(1 − p_b)].
fn integrated(token: &Token) -> Term {
    let labels = token.scores.len();
    let step = if labels == 2 { 0.25 } else { 0.5 };
    let steps = (7.5 / step) as i32;
    let side = (2 * steps + 1) as usize;
    let clean = log_sum_exp(&token.scores);
    let softmax =
        |scores: &[f64], a: f64| -> Vec<f64> { scores.iter().map(|s| (s - a).exp()).collect() };
    let p = softmax(&token.scores, clean);
    let mut term = Term { value: 0.0, scores: vec![0.0; labels], variances: vec![0.0; labels] };
    for cell in 0..side.pow(labels as u32) {
        let (mut rest, mut weight, mut scores) = (cell, 1.0, token.scores.clone());
        for (score, v) in scores.iter_mut().zip(&token.variances) {
            let z = step * f64::from((rest % side) as i32 - steps);
            rest /= side;
            *score += z * v.sqrt();
            weight *= step * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        }
        let a = log_sum_exp(&scores);
        term.value += weight * (a - clean);
        for (b, noised) in softmax(&scores, a).into_iter().enumerate() {
            term.scores[b] += weight * (noised - p[b]);
            term.variances[b] += weight * (0.5 * noised * (1.0 - noised));
        }
    }
    term
}

fn numbers_of(term: &Term) -> impl Iterator<Item = f64> {
    let derivatives = term.scores.iter().chain(&term.variances);
    std::iter::once(term.value).chain(derivatives.copied())
}

#[test]
fn of_two_labels_the_expectation_is_the_integral_over_both_scores() {
    for (scores, variances) in [
        ([0.3, -0.4], [0.5, 0.2]),
        ([1.0, 1.0], [2.0, 0.0]),
        ([-2.0, 3.0], [1.0, 1.5]),
        ([0.0, 0.7], [1e-4, 3e-4]),
        ([5.0, -4.0], [2.0, 2.0]),
    ] {
        let token = Token::new(&scores, &variances);
        let (found, expected) = (gaussian(Expectation::Best, &token), integrated(&token));
        // ∂R/∂V is that of the difference of the scores for either label.
        for (found, expected) in numbers_of(&found).zip(numbers_of(&expected)) {
            assert_close(found, expected, 1e-11);
        }
    }
}

#[test]
fn derivatives_match_central_differences() {
    let mut numbers = Lcg(1);
    let h = 1e-5;
    for labels in 2..=6 {
        for [spread, variance] in [[1.0, 1.0], [4.0, 0.01], [3.0, 20.0], [12.0, 4.0]] {
            let token = Token::random(labels, [spread, 2.0 * variance], &mut numbers);
            for expectation in ALL {
                let term = gaussian(expectation, &token);
                let difference = |change: &dyn Fn(&mut Token, f64)| {
                    let [plus, minus] = [h, -h].map(|h| {
                        let mut other = token.clone();
                        change(&mut other, h);
                        gaussian(expectation, &other).value
                    });
                    (plus - minus) / (2.0 * h)
                };
                for b in 0..labels {
                    let score = difference(&|token, h| token.scores[b] += h);
                    assert_close(term.scores[b], score, 2e-9);
                    if token.variances[b] > 100.0 * h {
                        let variance = difference(&|token, h| token.variances[b] += h);
                        let tolerance = 2e-9 + h * h / token.variances[b].powi(2);
                        assert_close(term.variances[b], variance, tolerance);
                    }
                }
            }
        }
    }
}

#[test]
fn without_variance_there_is_no_term() {
    let mut numbers = Lcg(2);
    for labels in 1..=5 {
        let token = Token::random(labels, [3.0, 0.0], &mut numbers);
        let a = log_sum_exp(&token.scores);
        for expectation in ALL {
            let term = gaussian(expectation, &token);
            // But for rounding: probabilities add up to 1 about.
            assert!(term.value.abs() < 1e-15, "{expectation:?}: {}", term.value);
            for b in 0..labels {
                assert!(term.scores[b].abs() < 1e-15);
                let p = (token.scores[b] - a).exp();
                let expected = if labels == 1 { 0.0 } else { 0.5 * p * (1.0 - p) };
                assert_close(term.variances[b], expected, 1e-15);
            }
        }
    }
}

#[test]
fn small_variances_have_the_quadratic_term() {
    let mut numbers = Lcg(3);
    for labels in 2..=5 {
        for scale in [1e-3, 1e-5] {
            let token = Token::random(labels, [2.0, scale], &mut numbers);
            let quadratic = evaluate(&mut Adjoint::default(), &token, 1.0);
            for expectation in [Expectation::Best, Expectation::Unscented] {
                let term = gaussian(expectation, &token);
                // The next term is of second order in V.
                assert_close(term.value, quadratic.value, scale * scale);
                let pairs = term.scores.iter().zip(&quadratic.scores);
                for (found, expected) in pairs {
                    assert_close(*found, *expected, scale * scale);
                }
                for (found, expected) in term.variances.iter().zip(&quadratic.variances) {
                    assert_close(*found, *expected, scale);
                }
            }
        }
    }
}

/// R by the sigma points themselves.
fn sigma_points(token: &Token) -> f64 {
    let labels = token.scores.len() as f64;
    let kappa = 3.0 - labels;
    let at = |b: usize, sign: f64| {
        let mut scores = token.scores.clone();
        scores[b] += sign * ((labels + kappa) * token.variances[b]).sqrt();
        log_sum_exp(&scores)
    };
    let center = log_sum_exp(&token.scores);
    let points = (0..token.scores.len()).map(|b| at(b, 1.0) + at(b, -1.0));
    let weight = 1.0 / (2.0 * (labels + kappa));
    kappa / (labels + kappa) * center + weight * points.sum::<f64>() - center
}

#[test]
fn the_unscented_transform_is_the_mean_over_its_sigma_points() {
    let mut numbers = Lcg(4);
    for labels in 2..=9 {
        for shape in [[1.0, 1.0], [5.0, 3.0], [10.0, 100.0], [30.0, 10.0]] {
            let token = Token::random(labels, shape, &mut numbers);
            let term = gaussian(Expectation::Unscented, &token);
            assert_close(term.value, sigma_points(&token), 1e-12);
            assert!(term.value >= 0.0);
        }
    }
}

#[test]
fn labels_may_be_permuted() {
    let mut numbers = Lcg(5);
    let token = Token::random(4, [3.0, 5.0], &mut numbers);
    let reversed = |values: &[f64]| -> Vec<f64> { values.iter().rev().copied().collect() };
    let other = Token { scores: reversed(&token.scores), variances: reversed(&token.variances) };
    for expectation in [Expectation::Best, Expectation::Unscented] {
        let (one, other) = (gaussian(expectation, &token), gaussian(expectation, &other));
        let other = Term {
            value: other.value,
            scores: reversed(&other.scores),
            variances: reversed(&other.variances),
        };
        for (one, other) in numbers_of(&one).zip(numbers_of(&other)) {
            assert_close(one, other, 1e-14);
        }
    }
    let sum: f64 = gaussian(Expectation::Unscented, &token).scores.iter().sum();
    assert!(sum.abs() < 1e-15); // adding a constant to all scores changes nothing
}

/// The largest error of a method over random tokens of three labels, relative to the value and to
/// the largest derivative of each kind, with variances up to `variance`.
fn error_of_three(expectation: Expectation, variance: f64) -> f64 {
    let mut numbers = Lcg(6);
    let mut worst: f64 = 0.0;
    for _ in 0..10 {
        let token = Token::random(3, [2.0, variance], &mut numbers);
        let (found, expected) = (gaussian(expectation, &token), integrated(&token));
        let largest = |values: &[f64]| values.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        worst = worst.max((found.value - expected.value).abs() / expected.value);
        for (found, expected) in
            [(&found.scores, &expected.scores), (&found.variances, &expected.variances)]
        {
            let scale = largest(expected);
            for (found, expected) in found.iter().zip(expected) {
                worst = worst.max((found - expected).abs() / scale);
            }
        }
    }
    worst
}

#[test]
fn the_error_of_the_unscented_transform_grows_with_the_variance() {
    let unscented = |variance| error_of_three(Expectation::Unscented, variance);
    let [small, middle, large] = [0.1, 1.0, 4.0].map(unscented);
    assert!(small < 0.05 && middle < 0.4 && large < 1.0);
    assert!(small < middle && middle < large);
}

#[test]
fn the_weight_multiplies_everything() {
    let token = Token::new(&[0.1, -0.3, 0.5], &[1.0, 2.0, 0.5]);
    for expectation in ALL {
        let one = gaussian(expectation, &token);
        let other = evaluate(&mut Gaussian::new(expectation), &token, 0.25);
        for (one, other) in numbers_of(&one).zip(numbers_of(&other)) {
            assert_close(other, 0.25 * one, 1e-15);
        }
    }
}

#[test]
fn extreme_scores_and_variances_give_finite_numbers_and_nan_gives_nan() {
    for labels in [2, 3] {
        for (gap, variance) in [(0.0, 1e12), (600.0, 1e-3), (600.0, 1e6), (1e5, 1.0)] {
            let mut scores = vec![0.0; labels];
            scores[0] = gap;
            let token = Token::new(&scores, &vec![variance; labels]);
            for expectation in ALL {
                let term = gaussian(expectation, &token);
                assert!(numbers_of(&term).all(f64::is_finite), "{term:?}");
                assert!(term.value >= -1e-15, "{expectation:?} {gap} {variance}: {term:?}");
            }
        }
        let mut token = Token::new(&vec![0.0; labels], &vec![1.0; labels]);
        token.variances[1] = f64::NAN;
        for expectation in ALL {
            assert!(gaussian(expectation, &token).value.is_nan());
        }
    }
}
