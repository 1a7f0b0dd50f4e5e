//! Expectations of the logistic function of a Gaussian variable, by numerical integration.
//!
//! With d ~ N(m, v), the derivative σ of softplus(d) = log(1 + e^d) and a = |m|:
//!
//! ```text
//! R = E[softplus(d)] − softplus(m)        ∂R/∂m = E[σ(d)] − σ(m)
//! ∂R/∂v = ½ E[σ'(d)]                      ∂²R/∂m∂v = ½ E[σ''(d)]
//! ```
//!
//! (the second line by Stein's lemma: ∂/∂v of an expectation is ½ ∂²/∂m²). R(−m) = R(m), so all
//! are computed for −a.
//!
//! Two schemes, by the standard deviation s = √v:
//!
//! - s ≤ 1: the trapezoidal rule in z = (d − m)/s with the step h = 0.4, |z| ≤ 8.4. For an
//!   integrand that is analytic for |Im z| < c its error falls like e^(−2πc/h + c²/2) (Trefethen
//!   and Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56, 2014). The
//!   singularities of softplus are at ±iπ, so c = π/s, and for s = 1 that is e^(−44.4) = 10⁻¹⁹.
//!   Gauss–Hermite rules have the same singularities to cope with, and with 43 nodes they are less
//!   accurate.
//! - s > 1: softplus turns into a kink at 0 on the scale of s, which no rule in z resolves. It is
//!   split there, softplus(d) = max(d, 0) + softplus(−|d|), likewise σ. What remains decays like
//!   e^(−|d|) and is smooth on either side, and multiplied by a density that is smooth on a scale
//!   above 1: composite Gauss–Legendre on |d| ≤ 40. E\[max(d, 0)\] and P(d > 0) are integrals of
//!   the normal density from a/s on, by the same rules.
//!
//! The tests measure the error of both against fine integration: at most 2·10⁻¹⁴, for a value
//! above 1 relative to it.

use std::sync::LazyLock;

use crate::math::exp_at_least;

/// Up to this standard deviation the trapezoidal rule is used.
const LARGEST_SMOOTH: f64 = 1.0;

/// The step of the trapezoidal rule.
const STEP: f64 = 0.4;

/// Its nodes above 0.
const STEPS: usize = 21;

/// The order of the Gauss–Legendre rules.
const ORDER: usize = 14;

/// The panels of |d|. Beyond, e^(−|d|) is below 10⁻¹⁷.
const PANELS: [f64; 7] = [0.0, 1.5, 4.0, 8.0, 14.0, 24.0, 40.0];

/// The panels of the integrals of the normal density, relative to their start.
const TAIL: [f64; 5] = [0.0, 1.0, 2.5, 5.0, 9.0];

/// Nodes of |d|.
const NODES: usize = (PANELS.len() - 1) * ORDER;

/// Nodes of the integrals of the normal density.
const TAIL_NODES: usize = (TAIL.len() - 1) * ORDER;

/// The expectations, of which the derivatives of R are made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogisticMoments {
    /// R = E\[softplus(d)\] − softplus(m), at least 0 but for rounding.
    pub penalty: f64,
    /// ∂R/∂m = E\[σ(d)\] − σ(m).
    pub slope: f64,
    /// E\[σ'(d)\], twice ∂R/∂v.
    pub curvature: f64,
}

/// The nodes of all rules, with their weights.
struct Rules {
    smooth: [[f64; 2]; STEPS],    // z > 0
    kink: [KinkNode; NODES],      // |d|
    tail: [[f64; 2]; TAIL_NODES], // distance from the start
}

/// A node at d > 0: the functions at −d, times the weight.
#[derive(Clone, Copy, Default)]
struct KinkNode {
    d: f64,
    softplus: f64,
    sigmoid: f64,
    curvature: f64,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules {
        smooth: [[0.0; 2]; STEPS],
        kink: [KinkNode::default(); NODES],
        tail: [[0.0; 2]; TAIL_NODES],
    };
    for (i, node) in rules.smooth.iter_mut().enumerate() {
        let z = STEP * (i + 1) as f64;
        *node = [z, STEP * density(z)];
    }
    for (node, [d, weight]) in rules.kink.iter_mut().zip(composite(&PANELS)) {
        let e = (-d).exp();
        let curvature = e / ((1.0 + e) * (1.0 + e));
        *node = KinkNode {
            d,
            softplus: weight * e.ln_1p(),
            sigmoid: weight * (e / (1.0 + e)),
            curvature: weight * curvature,
        };
    }
    for (node, from) in rules.tail.iter_mut().zip(composite(&TAIL)) {
        *node = from;
    }
    rules
});

/// The standard normal density.
fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

/// Returns the nodes and weights of the composite rule on panels.
fn composite(panels: &[f64]) -> impl Iterator<Item = [f64; 2]> {
    let rule = gauss_legendre();
    panels.windows(2).flat_map(move |ends| {
        let (middle, half) = ((ends[0] + ends[1]) / 2.0, (ends[1] - ends[0]) / 2.0);
        rule.map(|[x, weight]| [middle + half * x, half * weight])
    })
}

/// Returns the nodes and weights of the Gauss–Legendre rule on \[−1, 1\]: Newton's method for the
/// zeros of the Legendre polynomial.
fn gauss_legendre() -> [[f64; 2]; ORDER] {
    std::array::from_fn(|i| {
        let n = ORDER as f64;
        let mut x = -(std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..8 {
            let (mut before, mut value) = (1.0, x);
            for k in 2..=ORDER {
                let k = k as f64;
                (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        [x, 2.0 / ((1.0 - x * x) * slope * slope)]
    })
}

/// Returns the expectations for d ~ N(`mean`, `variance`). All are NaN if a number is NaN or the
/// variance is negative.
pub fn logistic_moments(mean: f64, variance: f64) -> LogisticMoments {
    let (a, s) = (mean.abs(), variance.sqrt());
    if (a + s).is_nan() {
        return LogisticMoments { penalty: f64::NAN, slope: f64::NAN, curvature: f64::NAN };
    }
    let moments = if s <= LARGEST_SMOOTH { smooth(a, s) } else { split(a, s) };
    if mean < 0.0 {
        return moments;
    }
    LogisticMoments { slope: -moments.slope, ..moments }
}

/// softplus, σ and σ' at x, given e = exp(−|x|).
fn functions(x: f64, e: f64) -> [f64; 3] {
    let (small, large) = (e / (1.0 + e), 1.0 / (1.0 + e));
    match x < 0.0 {
        true => [e.ln_1p(), small, small * large],
        false => [x + e.ln_1p(), large, small * large],
    }
}

/// The expectations for the mean −a, by the trapezoidal rule. With s = 0 the differences are 0.
fn smooth(a: f64, s: f64) -> LogisticMoments {
    let nodes = &RULES.smooth;
    let mut e = [0.0; 2 * STEPS + 1];
    e[0] = -a;
    for (e, [z, _]) in e[1..].as_chunks_mut().0.iter_mut().zip(nodes) {
        *e = [-(s * z - a).abs(), -(a + s * z)];
    }
    exp_at_least(&mut e, -700.0);
    let center = functions(-a, e[0]);
    let mut sums = [0.0; 3];
    for ([right, left], [z, weight]) in e[1..].as_chunks().0.iter().zip(nodes) {
        let right = functions(s * z - a, *right);
        let left = functions(-a - s * z, *left);
        for i in 0..3 {
            sums[i] += weight * ((right[i] - center[i]) + (left[i] - center[i]));
        }
    }
    LogisticMoments { penalty: sums[0], slope: sums[1], curvature: center[2] + sums[2] }
}

/// The expectations for the mean −a, split at the kink.
fn split(a: f64, s: f64) -> LogisticMoments {
    let rules = &*RULES;
    let t = a / s;
    let mut tail = [0.0; TAIL_NODES];
    for (x, [u, _]) in tail.iter_mut().zip(&rules.tail) {
        *x = -0.5 * (u + t) * (u + t);
    }
    exp_at_least(&mut tail, -700.0);
    let [mut excess, mut above] = [0.0; 2]; // E[max(d, 0)]/s, P(d > 0)
    for (x, [u, weight]) in tail.iter().zip(&rules.tail) {
        excess += weight * x * u;
        above += weight * x;
    }
    let mut densities = [0.0; 2 * NODES];
    for (x, node) in densities.as_chunks_mut().0.iter_mut().zip(&rules.kink) {
        *x = [node.d + a, node.d - a].map(|distance| -0.5 * (distance / s) * (distance / s));
    }
    exp_at_least(&mut densities, -700.0);
    let mut sums = [0.0; 3];
    for ([right, left], node) in densities.as_chunks().0.iter().zip(&rules.kink) {
        sums[0] += node.softplus * (right + left);
        sums[1] += node.sigmoid * (left - right);
        sums[2] += node.curvature * (right + left);
    }
    let root = std::f64::consts::TAU.sqrt();
    let e = (-a).exp();
    LogisticMoments {
        penalty: s * (excess / root) + sums[0] / (s * root) - e.ln_1p(),
        slope: above / root + sums[1] / (s * root) - e / (1.0 + e),
        curvature: sums[2] / (s * root),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expectations by the trapezoidal rule with a step far below the width of every function,
    /// over all d where density and functions count.
    fn fine(m: f64, s: f64) -> LogisticMoments {
        if s == 0.0 {
            let f = functions(m, (-m.abs()).exp());
            return LogisticMoments { penalty: 0.0, slope: 0.0, curvature: f[2] };
        }
        let step = (0.02 / s).min(0.02); // in z
        let steps = (9.0 / step) as i64;
        // By Kahan's summation: up to 10⁶ terms.
        let (mut sums, mut lost) = ([0.0; 3], [0.0; 3]);
        let center = functions(m, (-m.abs()).exp());
        for k in -steps..=steps {
            let z = step * k as f64;
            let f = functions(m + s * z, (-(m + s * z).abs()).exp());
            let weight = step * density(z);
            for i in 0..3 {
                let base = if i < 2 { center[i] } else { 0.0 };
                let term = weight * (f[i] - base) - lost[i];
                let sum = sums[i] + term;
                lost[i] = (sum - sums[i]) - term;
                sums[i] = sum;
            }
        }
        LogisticMoments { penalty: sums[0], slope: sums[1], curvature: sums[2] }
    }

    fn error(found: LogisticMoments, expected: LogisticMoments) -> f64 {
        let pairs = [
            (found.penalty, expected.penalty),
            (found.slope, expected.slope),
            (found.curvature, expected.curvature),
        ];
        let errors = pairs.map(|(x, y)| (x - y).abs() / y.abs().max(1.0));
        errors.into_iter().fold(0.0, |a: f64, b| if b >= a { b } else { a })
    }

    #[test]
    fn both_schemes_agree_with_fine_integration() {
        let deviations = [
            0.0,
            1e-9,
            1e-4,
            0.01,
            0.1,
            0.3,
            0.6,
            0.8,
            0.9,
            0.95,
            1.0,
            1.0 + 1e-12,
            1.05,
            1.1,
            1.3,
            1.7,
            2.0,
            2.5,
            3.0,
            4.0,
            6.0,
            10.0,
            20.0,
            50.0,
            100.0,
        ];
        let means = [
            0.0, 1e-6, 0.1, 0.5, 1.0, 1.7, 2.5, 4.0, 6.0, 8.0, 10.0, 14.0, 20.0, 24.0, 30.0, 40.0,
            100.0, 500.0,
        ];
        for s in deviations {
            for m in means.into_iter().chain(means.map(|m| -m)) {
                let error = error(logistic_moments(m, s * s), fine(m, s));
                assert!(error < 2e-14, "mean {m}, deviation {s}: {error}");
            }
        }
    }

    #[test]
    fn without_variance_there_is_no_penalty() {
        for m in [-800.0, -3.0, 0.0, 0.7, 40.0] {
            let moments = logistic_moments(m, 0.0);
            assert_eq!((moments.penalty, moments.slope.abs()), (0.0, 0.0));
            let p = 1.0 / (1.0 + (-m).exp());
            assert!((moments.curvature - p * (1.0 - p)).abs() < 1e-16);
        }
    }

    #[test]
    fn large_variances_have_the_limit_of_the_kink() {
        // E[max(d, 0)] − max(m, 0) → s/√2π, E[σ] → ½
        let moments = logistic_moments(3.0, 1e16);
        let expected = 1e8 / std::f64::consts::TAU.sqrt();
        assert!((moments.penalty / expected - 1.0).abs() < 1e-7);
        assert!((moments.slope + 1.0 / (1.0 + (-3.0_f64).exp()) - 0.5).abs() < 1e-7);
    }

    #[test]
    fn nan_in_is_nan_out() {
        for (mean, variance) in [(f64::NAN, 1.0), (0.0, f64::NAN), (0.0, -1.0)] {
            let moments = logistic_moments(mean, variance);
            assert!(moments.penalty.is_nan() && moments.slope.is_nan());
            assert!(moments.curvature.is_nan());
        }
    }
}
