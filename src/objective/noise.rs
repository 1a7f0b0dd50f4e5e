//! The noise term of the objective: whose variance, how much, of which sentences.

use serde::{Deserialize, Serialize};

use crate::chain::LabelWeights;
use crate::noise::Engine;
use crate::score::ParameterSpace;

/// How features are noised (Wang et al. 2013, section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseDistribution {
    /// Dropped at rate δ and otherwise scaled by 1/(1−δ): ρ = δ/(1−δ).
    #[default]
    Dropout,
    /// Multiplied by 1 + ε, ε ~ N(0, σ²): ρ = σ².
    Gaussian,
    /// Added to by ε ~ N(0, σ²), all features, active or not.
    Additive,
}

/// The noise term: λ·( Σ_labeled R(x) + α Σ_unlabeled R(u) ), λ = n/(n + αm) (eq. 11).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// How features are noised.
    pub scheme: NoiseDistribution,
    /// δ or σ² of node attributes.
    pub node: f64,
    /// δ or σ² of transitions, boundary weights and edge attributes.
    pub edge: f64,
    /// How the gradient is computed.
    pub engine: Engine,
    /// Weight α of an unlabeled sentence.
    pub unlabeled_weight: f64,
}

impl Noise {
    /// ρ, or σ² of additive noise, of node attributes and of all else.
    pub(super) fn rates(&self) -> [f64; 2] {
        [self.node, self.edge].map(|rate| match self.scheme {
            NoiseDistribution::Dropout => rate / (1.0 - rate),
            NoiseDistribution::Gaussian | NoiseDistribution::Additive => rate,
        })
    }

    /// The weight of a labeled and of an unlabeled sentence, of which there are `n` and `m`.
    pub(super) fn weights(&self, n: usize, m: usize) -> [f64; 2] {
        sentence_weights(self.unlabeled_weight, n, m)
    }
}

/// The weight of a labeled and of an unlabeled sentence, of which there are `n` and `m`: λ and αλ.
pub(super) fn sentence_weights(alpha: f64, n: usize, m: usize) -> [f64; 2] {
    let (n, m) = (n as f64, m as f64);
    let labeled = n / (n + alpha * m);
    [labeled, alpha * labeled]
}

/// What the weights that do not depend on the text give to variances, one evaluation long.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelVariances {
    pub pairs: Vec<f64>, // [K][stride]
    pub start: Vec<f64>, // [stride]
    pub end: Vec<f64>,   // [stride]
    /// What additive noise gives to every node, `[stride]`; empty under other noise.
    pub node: Vec<f64>,
}

impl LabelVariances {
    /// The variances under `noise` at the parameters θ, whose label weights are `weights`.
    pub fn set(
        &mut self,
        noise: &Noise,
        space: &ParameterSpace,
        theta: &[f64],
        weights: &LabelWeights,
    ) {
        let [node, edge] = noise.rates();
        let (k, stride) = (space.labels(), space.stride());
        self.pairs.clear();
        self.pairs.resize(k * stride, 0.0);
        let rows = self.pairs.chunks_exact_mut(stride);
        for (row, weights) in rows.zip(weights.transitions.chunks_exact(k)) {
            square(weights, edge, row);
        }
        for (out, weights) in [
            (&mut self.start, &weights.start),
            (&mut self.end, &weights.end),
        ] {
            out.clear();
            out.resize(stride, 0.0);
            square(weights, edge, out);
        }
        self.node.clear();
        if noise.scheme == NoiseDistribution::Additive {
            self.node = space.nodes.squares(&theta[space.node_range()]);
            self.node.iter_mut().for_each(|v| *v *= node);
            let squares = space.edges.squares(&theta[space.edge_range()]);
            let pairs = self.pairs.iter_mut().zip(squares);
            pairs.for_each(|(pair, square)| *pair += edge * square);
        }
    }
}

fn square(weights: &[f64], rate: f64, out: &mut [f64]) {
    for (v, &w) in out.iter_mut().zip(weights) {
        *v = rate * w * w;
    }
}
