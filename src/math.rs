//! Small numerical functions that everything else may use.

/// log Σ_i exp(values[i]), without overflow and without needless loss.
///
/// −∞ stands for an impossible term: the sum of none, or of impossible terms alone, is −∞. A term
/// of +∞ gives +∞, and NaN gives NaN.
#[must_use]
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let peak = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if peak.is_infinite() {
        let nan = values.iter().copied().find(|x| x.is_nan());
        return nan.unwrap_or(peak);
    }
    let sum: f64 = values.iter().map(|x| (x - peak).exp()).sum();
    peak + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn equal_terms_add_the_logarithm_of_their_number() {
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
    fn impossible_terms_count_nothing() {
        assert_eq!(log_sum_exp(&[]), -INF);
        assert_eq!(log_sum_exp(&[-INF, -INF]), -INF);
        assert_eq!(log_sum_exp(&[-INF, 2.0]), 2.0);
    }

    #[test]
    fn what_is_not_finite_stays_visible() {
        assert_eq!(log_sum_exp(&[INF, 1.0]), INF);
        assert!(log_sum_exp(&[f64::NAN, -INF]).is_nan());
        assert!(log_sum_exp(&[f64::NAN, 1.0]).is_nan());
        assert!(log_sum_exp(&[f64::NAN, INF]).is_nan());
    }
}
