//! Noise on node attributes whose masks all labels share: one mask per input, not per weight.
//!
//! The second-order term of such noise is ½ Σ p·U (`score/shared.rs`), where U depends on the
//! marginals. It takes the place of the terms of node attributes in V, which are 0; what else has
//! noise, label pairs, boundary weights and edge attributes, has a mask per weight in any case.
//!
//! If the scores of two labels are Gaussian ([`Expectation`]), the variance of their difference is
//! 4U with marginals p of ½, as (θ_b − u)² = ¼(θ_1 − θ_0)² then. With h = ∂R/∂(4U) of a token, the
//! derivative with respect to the weights is 8h·ρ·x²·p·(θ_b − u): that of the second-order term,
//! ρ·x²·p·(θ_b − u), with a factor of its own for every token. 8h = 4·E[σ'] is at most 1.

use super::noise::{Noise, NoiseDistribution, NoiseMasks};
use crate::noise::{Engine, Expectation, NoiseTerm};
use crate::score::{ForwardProduct, NoiseRates, ParameterSpace, SharedMasks};

/// What computes the variances of a sentence.
#[derive(Clone, Copy, Debug)]
pub struct SharedNoise<'a> {
    pub(super) product: &'a ForwardProduct,
    pub(super) masks: &'a SharedMasks,
    pub(super) theta: &'a [f64],
    /// The first token of the sentence.
    pub(super) first: usize,
    /// Whether the scores of two labels are Gaussian: U is that of marginals of ½ then.
    pub(super) is_gaussian: bool,
}

impl SharedNoise<'_> {
    /// Writes U of a sentence, given its marginals, both `[T][stride]`.
    pub(super) fn write(&self, marginals: &[f64], out: &mut [f64]) {
        let length = out.len() / self.product.block().width();
        let tokens = self.first..self.first + length;
        let (theta, masks) = (self.theta, self.masks);
        self.product.write_shared(theta, masks, tokens, marginals, out);
    }
}

/// Returns marginals of ½ of two labels, 0 in the padding, `length` numbers.
pub(super) fn halves(length: usize, stride: usize) -> impl Iterator<Item = f64> {
    (0..length).map(move |i| if i % stride < 2 { 0.5 } else { 0.0 })
}

/// Returns the masks of node attributes, if labels share them.
///
/// # Panics
///
/// If labels share the masks of additive noise, or with another engine than the adjoint or, of two
/// labels, that of Gaussian scores.
pub(super) fn masks(
    noise: &Noise,
    rates: &[NoiseRates; 2],
    space: &ParameterSpace,
) -> Option<SharedMasks> {
    if noise.masks == NoiseMasks::Weights {
        return None;
    }
    let is_known = match noise.term {
        NoiseTerm::Quadratic(Engine::Exact) => true,
        NoiseTerm::GaussianScores(expectation) => {
            expectation == Expectation::Best && space.labels() <= 2
        }
        _ => false,
    };
    assert!(
        is_known && noise.distribution != NoiseDistribution::Additive,
        "noise that labels share is proportional to the values and has two engines"
    );
    Some(SharedMasks::new(&space.nodes, rates[0].clone()))
}
