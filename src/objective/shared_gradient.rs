//! What the gradient of noise whose masks labels share needs of each token (`shared.rs`).

use std::borrow::Cow;

use super::PenalizedLikelihood;
use super::shared::halves;
use crate::extract::Target;
use crate::noise::NoiseTerm;
use crate::score::Block;

impl PenalizedLikelihood {
    /// Returns the marginals of the tokens of a block, and the factors of their noise terms, given
    /// what the sentence kernel has written for variances.
    pub(super) fn shared_factors<'a>(
        &self,
        block: &Block,
        variances: &'a [f64],
    ) -> (Cow<'a, [f64]>, Vec<f64>) {
        let term = self.noise.as_ref().map(|noise| noise.term);
        if term.and_then(NoiseTerm::expectation).is_none() {
            return (Cow::Borrowed(variances), self.token_factors(block));
        }
        let stride = self.space.stride();
        let rows = variances.chunks_exact(stride).take(block.tokens.len());
        let factors = rows.map(|row| 8.0 * row[0]).collect();
        (
            Cow::Owned(halves(variances.len(), stride).collect()),
            factors,
        )
    }

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
