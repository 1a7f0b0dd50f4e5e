//! Small numerical functions that everything else may use.

/// `log Σ_i exp(values[i])`, without overflow and without needless loss.
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

/// Replaces every x in `values` by exp(max(x, `lowest`)), for −700 ≤ `lowest` and x ≤ 700.
///
/// Differs from [`f64::exp`] by a few units in the last place, and is built for loops: no call, no
/// branch and no table, so the compiler makes vector code of it, twice as fast or more. Nor does
/// it depend on the mathematical library of the platform: it gives the same bits everywhere.
///
/// With n the whole number nearest to x / log 2 and r = x − n·log 2, exp(x) = 2ⁿ·exp(r), where
/// |r| ≤ ½ log 2 and the power series of exp(r) is cut after r¹³, 4·10⁻¹⁸ from its limit.
#[inline(always)]
pub fn exp_at_least(values: &mut [f64], lowest: f64) {
    debug_assert!(lowest >= -700.0, "2ⁿ would not be normal");
    for x in values {
        *x = exp_in_range(if *x > lowest { *x } else { lowest });
    }
}

/// exp(x) for |x| ≤ 700.
#[inline(always)]
fn exp_in_range(x: f64) -> f64 {
    /// Added to a number of modest size, leaves its whole part in the last bits: 1.5·2⁵².
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// log 2, of which the first part times any n is exact.
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    // Pairs of terms are summed independently of one another (Estrin), which saves waiting.
    let (r2, c) = (r * r, &INVERSE_FACTORIALS);
    let r4 = r2 * r2;
    let low = (c[2] + c[3] * r) + (c[4] + c[5] * r) * r2;
    let middle = (c[6] + c[7] * r) + (c[8] + c[9] * r) * r2;
    let high = (c[10] + c[11] * r) + (c[12] + c[13] * r) * r2;
    let series = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)));
    series * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// 1/i!
const INVERSE_FACTORIALS: [f64; 14] = {
    let mut c = [1.0; 14];
    let mut factorial = 1.0;
    let mut i = 1;
    while i < c.len() {
        factorial *= i as f64;
        c[i] = 1.0 / factorial;
        i += 1;
    }
    c
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_those_of_the_standard_library() {
        for i in -700_000..=700_000 {
            let x = f64::from(i) * 1e-3;
            let mut found = [x];
            exp_at_least(&mut found, -700.0);
            let error = (found[0] / x.exp() - 1.0).abs();
            assert!(error <= 3.0 * f64::EPSILON, "exp({x}) is off by {error}");
        }
    }

    #[test]
    fn exponentials_of_zero_and_of_what_is_too_low_are_exact() {
        let mut found = [0.0, -0.0, -1.0, -1e300, -INF];
        exp_at_least(&mut found, 0.0);
        assert_eq!(found, [1.0; 5]);
    }

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
