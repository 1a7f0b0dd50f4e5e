//! The noise of the objective: its distribution, its rates, its term, and the weights of sentences.

use serde::{Deserialize, Serialize};

use crate::noise::Engine;
use crate::score::{NoiseRates, ParameterSpace};

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

/// The amounts of noise on single attributes, where they differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeNoise {
    /// δ or σ² of each class of node attributes; `None`: that of [`Noise::node`].
    pub nodes: Option<Vec<f64>>,
    /// δ or σ² of each class of edge attributes; `None`: that of [`Noise::edge`].
    pub edges: Option<Vec<f64>>,
}

/// The noise of a pass over sentences.
#[derive(Clone, Debug)]
pub(super) struct SentenceNoise {
    pub noise: Noise,
    pub engine: Engine,
    /// ρ of node and edge attributes.
    pub rates: [NoiseRates; 2],
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

impl AttributeNoise {
    /// Returns the amounts of nodes and of edges.
    pub fn each(&self) -> [Option<&[f64]>; 2] {
        [self.nodes.as_deref(), self.edges.as_deref()]
    }

    /// Returns the rates of the attributes of both blocks, where those that have no amounts of
    /// their own have `uniform`. `rate` converts amounts.
    pub fn rates(
        self,
        uniform: [f64; 2],
        rate: impl Fn(f64) -> f64,
        space: &ParameterSpace,
    ) -> [NoiseRates; 2] {
        let ([node, edge], [nodes, edges]) = (uniform, space.blocks());
        let amounts = [(node, self.nodes, nodes), (edge, self.edges, edges)];
        amounts.map(|(uniform, amounts, block)| {
            let rates = amounts.map(|amounts| amounts.into_iter().map(&rate).collect());
            NoiseRates::new(rate(uniform), rates, &block.targets)
        })
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
    /// Creates the noise on the attributes of `space` with these amounts.
    pub fn new(
        noise: Noise,
        engine: Engine,
        amounts: AttributeNoise,
        space: &ParameterSpace,
    ) -> Self {
        let rate = |amount| noise.distribution.rate(amount);
        Self { noise, engine, rates: amounts.rates(noise.amounts(), rate, space) }
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
}
