//! The gradient of one document under dropout of its features, by eqs. 2 and 6 of Wang and Manning
//! 2013, to compare the methods: what trains is in the other files.
//!
//! Logistic regression with a mask per feature: d = Σ z_i·x_i·w_i/(1 − δ), where z_i is 0 at rate δ
//! and otherwise 1 (the paper does not scale, which is x/(1 − δ) for x), the class is y ∈ {0, 1},
//! and with ρ = δ/(1 − δ)
//!
//! ```text
//! d ≈ N(m, v)      m = Σ x_i·w_i      v = ρ Σ x_i²·w_i²
//! ∂(−log p)/∂w_i ≈ −x_i·( α + ρ·x_i·w_i·β − ρ·x_i²·w_i²·γ )                              (eq. 6)
//! α = y − E[σ(d)]      β = ∂α/∂m = −E[σ'(d)]      γ = ∂α/∂v = −½ E[σ''(d)]
//! ```
//!
//! Two errors of the paper's text: the second term of eq. 3 should have log(1 − σ), not 1 − log σ;
//! and γ of eq. 9 is that derivative.
//!
//! Without γ it is the exact gradient of E\[−log p\] over the Gaussian, since ∂m/∂w_i = x_i and
//! ∂v/∂w_i = 2ρ·x_i²·w_i. The term with γ is cubic in x_i·w_i. To train with it would take a
//! product with the third powers of all values, for the gradient of no objective.
//!
//! Given that a feature is kept, m rises by ρ·x·w and v falls by ρ·x²·w². Eq. 6 is linear in both.
//! As ∂²α/∂m² = 2γ, the second-order term of m is ρ²·x²·w²·γ: it takes back the term with γ where ρ
//! is 1. So γ makes the gradient better at low rates and worse at δ = ½.

use super::logistic::logistic_moments;

/// A method for the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskGradient {
    /// The features as they are, as if nothing were dropped: α = y − σ(m) alone.
    Plain,
    /// α alone, as if the score were independent of the mask of the feature: the paper's "naive".
    Naive,
    /// α and β: the exact gradient of the Gaussian objective.
    Gaussian,
    /// α, β and γ: all of eq. 6.
    Linearized,
}

/// Returns the gradient of −log p(y) of a document with respect to the weights of its features,
/// given the terms x_i and w_i of each, the rate δ < 1 and whether y is 1.
#[must_use]
pub fn mask_gradient(
    method: MaskGradient,
    features: &[[f64; 2]],
    rate: f64,
    is_positive: bool,
) -> Vec<f64> {
    let rho = rate / (1.0 - rate);
    let products = features.iter().map(|[x, w]| x * w);
    let mean: f64 = products.clone().sum();
    let variance: f64 = rho * products.map(|s| s * s).sum::<f64>();
    let moments = match method {
        MaskGradient::Plain => logistic_moments(mean, 0.0),
        _ => logistic_moments(mean, variance),
    };
    let sigma = 1.0 / (1.0 + (-mean).exp());
    let alpha = f64::from(u8::from(is_positive)) - (sigma + moments.slope);
    let [beta, gamma] = match method {
        MaskGradient::Plain | MaskGradient::Naive => [0.0; 2],
        MaskGradient::Gaussian => [-moments.curvature, 0.0],
        MaskGradient::Linearized => [-moments.curvature, -0.5 * moments.skewness],
    };
    let term = |[x, w]: &[f64; 2]| {
        let score = x * w;
        -x * (alpha + rho * score * beta - rho * score * score * gamma)
    };
    features.iter().map(term).collect()
}
