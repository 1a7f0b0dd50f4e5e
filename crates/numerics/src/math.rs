//! Numerical helpers: log-sum-exp and a vectorizable exponential.

use crate::simd::{self, Kernel};

/// Computes log Σ_i exp(`values[i]`), shifted by the maximum so that it does not overflow.
///
/// −∞ is the logarithm of 0: the result for no values, or only −∞, is −∞. The result is +∞ if a
/// value is +∞, and NaN if a value is NaN.
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let peak = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if peak.is_infinite() {
        return values.iter().copied().find(|x| x.is_nan()).unwrap_or(peak);
    }
    let sum: f64 = values.iter().map(|x| (x - peak).exp()).sum();
    peak + sum.ln()
}

/// Computes the logistic function 1/(1 + exp(−x)).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Replaces every x in `values` by exp(max(x, `lowest`)), for −700 ≤ `lowest` and x ≤ 700.
///
/// The result is within a few units in the last place of [`f64::exp`]. There are no calls, branches
/// or tables, so that the compiler can vectorize the loop, which makes it at least twice as fast.
/// That is so in a [`Kernel`]; elsewhere its multiply-adds are calls, and it is slow. It does not
/// depend on the platform's math library and has the same bits everywhere.
///
/// With n the integer nearest to x / log 2 and r = x − n·log 2, exp(x) = 2ⁿ·exp(r), where
/// |r| ≤ ½ log 2 and the power series of exp(r) is truncated after r¹³, an error of 4·10⁻¹⁸.
#[inline(always)]
pub fn exp_at_least(values: &mut [f64], lowest: f64) {
    debug_assert!(lowest >= -700.0, "2ⁿ would not be normal");
    for x in values {
        *x = exp_in_range(if *x > lowest { *x } else { lowest });
    }
}

/// Computes exp(x) for |x| ≤ 700.
#[inline(always)]
fn exp_in_range(x: f64) -> f64 {
    /// 1.5·2⁵²: adding it rounds to an integer, which ends up in the low bits of the sum.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// log 2 in two parts. The first has few enough bits that its product with any n is exact.
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN_2[1], n.mul_add(-LN_2[0], x));
    // Estrin's scheme: pairs of terms are summed independently, for a shorter dependency chain.
    let (r2, c) = (r * r, &INVERSE_FACTORIALS);
    let r4 = r2 * r2;
    let low = r2.mul_add(r.mul_add(c[5], c[4]), r.mul_add(c[3], c[2]));
    let middle = r2.mul_add(r.mul_add(c[9], c[8]), r.mul_add(c[7], c[6]));
    let high = r2.mul_add(r.mul_add(c[13], c[12]), r.mul_add(c[11], c[10]));
    let series = 1.0 + r2.mul_add(r4.mul_add(r4.mul_add(high, middle), low), r);
    series * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// Returns the largest magnitude; 0 if there are no numbers. NaN is left out.
pub fn largest_magnitude(values: &[f64]) -> f64 {
    let larger = |largest: f64, x: f64| if x.abs() > largest { x.abs() } else { largest };
    let (chunks, rest) = values.as_chunks::<8>();
    // Independent maxima, so that the loop can be vectorized.
    let mut maxima = [0.0; 8];
    for chunk in chunks {
        for (largest, &x) in maxima.iter_mut().zip(chunk) {
            *largest = larger(*largest, x);
        }
    }
    rest.iter().chain(&maxima).copied().fold(0.0, larger)
}

/// 1/i!, `[14]`.
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

/// Makes `numbers` this many zeros.
#[inline]
pub fn set_zeros(numbers: &mut Vec<f64>, length: usize) {
    numbers.clear();
    numbers.resize(length, 0.0);
}

/// Adds `terms` to `sums`, elementwise.
#[inline]
pub fn add(sums: &mut [f64], terms: &[f64]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

/// Adds a multiple of `terms` to `sums`, elementwise.
#[inline]
pub fn add_scaled(sums: &mut [f64], factor: f64, terms: &[f64]) {
    simd::dispatch(AddScaled { sums, factor, terms });
}

struct AddScaled<'a> {
    sums: &'a mut [f64],
    factor: f64,
    terms: &'a [f64],
}

impl Kernel for AddScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        for (sum, term) in self.sums.iter_mut().zip(self.terms) {
            *sum = self.factor.mul_add(*term, *sum);
        }
    }
}

/// Returns the inner product of `x` and `y`.
#[inline]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Asserts that the error of `found` is at most `tolerance`, relative to `expected` or to 1. For
/// tests.
///
/// # Panics
///
/// It is not.
#[track_caller]
pub fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(error <= tolerance * expected.abs().max(1.0), "found {found}, expected {expected}");
}
