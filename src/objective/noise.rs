//! The noise term of the objective: its distribution, its rates, and the weights of sentences.

use serde::{Deserialize, Serialize};

use crate::noise::NoiseTerm;
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

/// What shares a noise mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseMasks {
    /// Every weight: the noise of an attribute at a token is independent between labels, as in
    /// eqs. 8 and 14 of Wang et al. 2013.
    #[default]
    Weights,
    /// Every input: a node attribute at a token is dropped or scaled for all labels at once, as in
    /// eq. 12 of Wager et al. 2013, which for two labels with opposite weights is twice eq. 8. The
    /// noise of edge attributes, transitions and boundary weights remains that of each weight.
    Inputs,
}

crate::named!(NoiseMasks, "masks": Weights = "weights", Inputs = "inputs");

/// The noise term λ·( Σ_labeled R(x) + α Σ_unlabeled R(u) ), λ = n/(n + αm) (eq. 11), with the
/// quadratic approximation R of eq. 14, or another term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The distribution.
    pub distribution: NoiseDistribution,
    /// δ or σ² of node attributes.
    pub node: f64,
    /// δ or σ² of transitions, boundary weights and edge attributes.
    pub edge: f64,
    /// The term of a sentence, and the algorithm for its gradient.
    pub term: NoiseTerm,
    /// What has a mask of its own; other than weights only with noise that is proportional to the
    /// values and [`Engine::Exact`](crate::noise::Engine), or of two labels
    /// [`Expectation::Best`](crate::noise::Expectation).
    pub masks: NoiseMasks,
    /// The weight α of an unlabeled sentence.
    pub unlabeled_weight: f64,
}

/// The Monte-Carlo noise term λ·( Σ_labeled D(x) + α Σ_unlabeled D(u) ), λ as in eq. 11, where D is
/// an estimate by sampling of what R approximates. A [`Sampler`](super::Sampler) computes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonteCarlo {
    /// Rate δ < 1 at which node attributes are dropped.
    pub node: f64,
    /// The rate of transitions, boundary weights and edge attributes.
    pub edge: f64,
    /// Samples per sentence and iteration, at least 1.
    pub samples: u32,
    /// Seed of the random numbers.
    pub seed: u64,
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
    /// Returns ρ (σ² for additive noise) of node attributes, and of all other features.
    pub fn rates(&self) -> [f64; 2] {
        [self.node, self.edge].map(|amount| self.distribution.rate(amount))
    }

    /// Returns the factors of the terms of a labeled and of an unlabeled sentence, given the total
    /// weights of each kind.
    pub fn factors(&self, total_weights: [f64; 2]) -> [f64; 2] {
        noise_factors(self.unlabeled_weight, total_weights)
    }
}

/// Returns the factors λ = n/(n + αm) and αλ of the terms of a labeled and of an unlabeled sentence
/// (eq. 11), given the total weights n of labeled and m of unlabeled sentences: their numbers, if
/// all weigh 1. If n is 0, so is λ.
pub fn noise_factors(alpha: f64, [n, m]: [f64; 2]) -> [f64; 2] {
    let labeled = if n > 0.0 { n / (n + alpha * m) } else { 0.0 };
    [labeled, alpha * labeled]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlabeled_sentences_dilute_the_noise_term_as_in_eq_11() {
        // n = 3, m = 2, α = ½: λ = 3/(3 + ½·2)
        assert_eq!(noise_factors(0.5, [3.0, 2.0]), [0.75, 0.375]);
        assert_eq!(noise_factors(0.5, [3.0, 0.0])[0], 1.0);
        assert_eq!(noise_factors(0.5, [0.0, 0.0]), [0.0, 0.0]);
    }
}
