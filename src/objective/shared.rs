//! Noise on node attributes whose masks all labels share: one mask per input, not per weight.
//!
//! The second-order term of such noise is ½ Σ p·U (`score/shared.rs`), where U depends on the
//! marginals. It takes the place of the terms of node attributes in V, which are 0; what else has
//! noise, label pairs, boundary weights and edge attributes, has a mask per weight in any case.

use super::PenalizedLikelihood;
use super::noise::{Noise, NoiseDistribution, NoiseSharing};
use crate::extract::Target;
use crate::noise::Engine;
use crate::score::{Block, ColumnRates, ForwardProduct, ParameterSpace, SharedMasks};

/// What computes the variances of a sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedNoise<'a> {
    pub product: &'a ForwardProduct,
    pub masks: &'a SharedMasks,
    pub theta: &'a [f64],
    /// The first token of the sentence.
    pub first: usize,
}

impl SharedNoise<'_> {
    /// Writes U of a sentence, given its marginals, both `[T][stride]`.
    pub fn write(&self, marginals: &[f64], out: &mut [f64]) {
        let length = out.len() / self.product.block().width();
        let tokens = self.first..self.first + length;
        let (theta, masks) = (self.theta, self.masks);
        self.product
            .write_shared(theta, masks, tokens, marginals, out);
    }
}

/// Returns the masks of node attributes, if labels share them.
///
/// # Panics
///
/// If labels share the masks of additive noise, or with another engine than the adjoint.
pub(super) fn masks(
    noise: &Noise,
    rates: &[Option<ColumnRates>; 2],
    space: &ParameterSpace,
) -> Option<SharedMasks> {
    if noise.sharing == NoiseSharing::Weights {
        return None;
    }
    assert!(
        noise.engine == Engine::Adjoint && noise.distribution != NoiseDistribution::Additive,
        "noise that labels share is proportional to the values and has one engine"
    );
    let [rate, _] = noise.rates();
    Some(SharedMasks::new(&space.nodes, rate, rates[0].as_ref()))
}

impl PenalizedLikelihood {
    /// Returns the factors of the noise terms of the tokens of a block.
    pub(super) fn token_factors(&self, block: &Block) -> Vec<f64> {
        let mut factors = Vec::with_capacity(block.tokens.len());
        let noise = self.noise.as_ref();
        let kinds = noise.map_or([0.0; 2], |noise| noise.factors(self.totals.weights));
        for sentence in block.chunks.iter().cloned().flatten() {
            let is_unlabeled = matches!(self.data.target(sentence), Target::Unlabeled);
            let factor = self.data.weight(sentence) * kinds[usize::from(is_unlabeled)];
            let tokens = self.data.sentence(sentence).len();
            factors.extend(std::iter::repeat_n(factor, tokens));
        }
        factors
    }
}
