use dropchain_numerics::math::{exp_at_least, log_sum_exp};

#[test]
fn exponentials_agree_with_the_standard_library() {
    for i in -700_000..=700_000 {
        let x = f64::from(i) * 1e-3;
        let mut result = [x];
        exp_at_least(&mut result, -700.0);
        let error = (result[0] / x.exp() - 1.0).abs();
        assert!(error <= 3.0 * f64::EPSILON, "exp({x}) is off by {error}");
    }
}

#[test]
fn zero_and_values_below_the_minimum_have_exact_exponentials() {
    let mut values = [0.0, -0.0, -1.0, -1e300, -INF];
    exp_at_least(&mut values, 0.0);
    assert_eq!(values, [1.0; 5]);
}

const INF: f64 = f64::INFINITY;

#[test]
fn equal_terms_add_the_logarithm_of_their_count() {
    assert_eq!(log_sum_exp(&[0.0; 4]), 4.0_f64.ln());
    assert_eq!(log_sum_exp(&[3.5]), 3.5);
}

#[test]
fn large_terms_neither_overflow_nor_vanish() {
    assert_eq!(log_sum_exp(&[1e4, 1e4]), 1e4 + 2.0_f64.ln());
    assert_eq!(log_sum_exp(&[-1e4, -1e4]), -1e4 + 2.0_f64.ln());
    assert_eq!(log_sum_exp(&[1e4, -1e4]), 1e4);
}

#[test]
fn impossible_terms_contribute_nothing() {
    assert_eq!(log_sum_exp(&[]), -INF);
    assert_eq!(log_sum_exp(&[-INF, -INF]), -INF);
    assert_eq!(log_sum_exp(&[-INF, 2.0]), 2.0);
}

#[test]
fn infinity_and_nan_propagate() {
    assert_eq!(log_sum_exp(&[INF, 1.0]), INF);
    assert!(log_sum_exp(&[f64::NAN, -INF]).is_nan());
    assert!(log_sum_exp(&[f64::NAN, 1.0]).is_nan());
    assert!(log_sum_exp(&[f64::NAN, INF]).is_nan());
}
