//! The noise of the objective: its distribution, its rates, its term, and the weights of sentences.

use serde::{Deserialize, Serialize};

use crate::noise::Engine;
use crate::score::FeatureBlock;

/// The distribution of feature noise (Wang et al. 2013, section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseDistribution {
    /// Each feature is dropped at rate δ and otherwise scaled by 1/(1−δ): ρ = δ/(1−δ).
    #[default]
    Dropout,
    /// Each feature is multiplied by 1 + ε, ε ~ N(0, σ²): ρ = σ².
    Gaussian,
    /// ε ~ N(0, σ²) is added to every feature, active or not.
    Additive,
}

/// The term that stands for the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoiseTerm {
    /// The quadratic regularizer R of eq. 14, with the gradient of an engine.
    Quadratic(Engine),
    /// The quadratic regularizer with marginals that are held fixed for this number of iterations,
    /// at least 1: a weighted L2 penalty meanwhile.
    Reweighted(usize),
    /// Dropout by sampling, in the quantity that R approximates.
    MonteCarlo {
        /// Samples per sentence and iteration, at least 1.
        samples: u32,
        /// Seed of the random numbers.
        seed: u64,
    },
}

/// The default number of iterations for which [`NoiseTerm::Reweighted`] holds the marginals fixed.
pub const ROUND: usize = 20;

/// The noise term λ·( Σ_labeled R(x) + α Σ_unlabeled R(u) ), λ = n/(n + αm) (eq. 11), with the
/// quadratic approximation R of eq. 14, or another term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The distribution; dropout if the term is sampled.
    pub distribution: NoiseDistribution,
    /// δ or σ² of node attributes.
    pub node: f64,
    /// δ or σ² of transitions, boundary weights and edge attributes.
    pub edge: f64,
    /// The term of a sentence, and the algorithm for its gradient.
    pub term: NoiseTerm,
    /// The weight α of an unlabeled sentence.
    pub unlabeled_weight: f64,
}

/// The noise of a pass over sentences.
#[derive(Clone, Debug)]
pub(super) struct SentenceNoise {
    pub noise: Noise,
    pub engine: Engine,
    /// Whether each class of node and of edge attributes is free of additive noise; empty: none
    /// is.
    pub is_fixed: [Vec<bool>; 2],
}

impl NoiseDistribution {
    /// Converts δ or σ² to ρ (σ² for additive noise).
    pub fn rate(self, amount: f64) -> f64 {
        match self {
            Self::Dropout => amount / (1.0 - amount),
            Self::Gaussian | Self::Additive => amount,
        }
    }
}

impl Noise {
    /// Returns whether every attribute has noise at every token, active or not.
    pub fn is_additive(&self) -> bool {
        self.distribution == NoiseDistribution::Additive
    }

    /// Returns whether amounts are dropout rates, not variances.
    pub fn is_dropout(&self) -> bool {
        self.distribution == NoiseDistribution::Dropout
    }

    /// Returns whether the term is computed, not sampled.
    pub fn is_analytic(&self) -> bool {
        !matches!(self.term, NoiseTerm::MonteCarlo { .. })
    }

    /// Returns the amounts of noise on node attributes and on all other features.
    pub fn amounts(&self) -> [f64; 2] {
        [self.node, self.edge]
    }

    /// Returns ρ (σ² for additive noise) of node attributes, and of all other features.
    pub fn rates(&self) -> [f64; 2] {
        self.amounts().map(|amount| self.distribution.rate(amount))
    }

    /// Returns the factors λ = n/(n + αm) and αλ of the terms of a labeled and of an unlabeled
    /// sentence (eq. 11), given the total weights n of labeled and m of unlabeled sentences: their
    /// numbers, if all weigh 1. If n is 0, so is λ.
    pub fn factors(&self, [n, m]: [f64; 2]) -> [f64; 2] {
        let alpha = self.unlabeled_weight;
        let labeled = if n > 0.0 { n / (n + alpha * m) } else { 0.0 };
        [labeled, alpha * labeled]
    }
}

impl SentenceNoise {
    /// Returns the columns of a block of node (0) or of edge attributes (1) that additive noise is
    /// on.
    pub fn columns(&self, kind: usize, block: &FeatureBlock) -> impl Iterator<Item = usize> {
        let is_fixed = &self.is_fixed[kind];
        (0..block.columns()).filter(|&column| is_fixed.get(column) != Some(&true))
    }

    /// Returns whether the noise has the same variance at every token.
    pub fn is_additive(&self) -> bool {
        self.noise.is_additive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlabeled_sentences_dilute_the_noise_term_as_in_eq_11() {
        let noise = Noise {
            distribution: NoiseDistribution::Dropout,
            node: 0.5,
            edge: 0.5,
            term: NoiseTerm::Quadratic(Engine::Exact),
            unlabeled_weight: 0.5,
        };
        // n = 3, m = 2, α = ½: λ = 3/(3 + ½·2)
        assert_eq!(noise.factors([3.0, 2.0]), [0.75, 0.375]);
        assert_eq!(noise.factors([3.0, 0.0])[0], 1.0);
        assert_eq!(noise.factors([0.0, 0.0]), [0.0, 0.0]);
    }
    #[test]
    fn dropout_is_multiplicative_noise_of_a_variance() {
        assert_eq!(NoiseDistribution::Dropout.rate(0.5), NoiseDistribution::Gaussian.rate(1.0));
        assert_eq!(NoiseDistribution::Dropout.rate(0.0), 0.0);
    }
}
