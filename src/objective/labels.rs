//! The parameters that do not depend on attributes (transitions, start and end weights): their
//! variances under noise, and sums of their derivatives over sentences.

use super::noise::{Noise, NoiseDistribution};
use crate::chain::{LabelPairs, LabelWeights, Transitions};
use crate::extract::{Dataset, Target};
use crate::math::add;
use crate::noise::Engine;
use crate::score::{ColumnRates, ParameterSpace};

/// The variances of scores that do not depend on the text, for one evaluation.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelVariances {
    /// Of transitions, `[K][stride]`.
    pub pairs: Vec<f64>,
    /// Of start weights, `[stride]`.
    pub start: Vec<f64>,
    /// Of end weights, `[stride]`.
    pub end: Vec<f64>,
    /// Of every node score under additive noise, `[stride]`; empty under other noise.
    pub node: Vec<f64>,
}

impl LabelVariances {
    /// Computes the variances under `noise` at θ, whose label weights are `weights`.
    pub fn set(
        &mut self,
        noise: &Noise,
        rates: &[Option<ColumnRates>; 2],
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
            write_squares(weights, edge, row);
        }
        for (out, weights) in [
            (&mut self.start, &weights.start),
            (&mut self.end, &weights.end),
        ] {
            out.clear();
            out.resize(stride, 0.0);
            write_squares(weights, edge, out);
        }
        self.node.clear();
        if noise.distribution == NoiseDistribution::Additive {
            let [nodes, edges] = [0, 1].map(|i| {
                let (block, rates) = (space.blocks()[i], &rates[i]);
                let rate = |column| rates.as_ref().map_or(1.0, |rates| rates.column(column));
                let mut squares = block.targets.squares(block.weights(theta), rate);
                if rates.is_none() {
                    squares.iter_mut().for_each(|v| *v *= [node, edge][i]);
                }
                squares
            });
            self.node = nodes;
            let pairs = self.pairs.iter_mut().zip(edges);
            pairs.for_each(|(pair, square)| *pair += square);
        }
    }
}

fn write_squares(weights: &[f64], rate: f64, out: &mut [f64]) {
    for (v, &w) in out.iter_mut().zip(weights) {
        *v = rate * w * w;
    }
}

/// Sums over sentences of the derivatives with respect to the scores and variances that do not
/// depend on the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelSums {
    /// With respect to transition scores, `[K][stride]`; of sentences whose transitions have
    /// weights for P pairs only, `[P]`.
    pub pairs: Vec<f64>,
    /// With respect to start scores, `[stride]`.
    pub first: Vec<f64>,
    /// With respect to end scores, `[stride]`.
    pub last: Vec<f64>,
    /// With respect to transition variances, shaped like `pairs`.
    pub pair_variances: Vec<f64>,
    /// With respect to start variances, `[stride]`.
    pub first_variances: Vec<f64>,
    /// With respect to end variances, `[stride]`.
    pub last_variances: Vec<f64>,
    /// With respect to node variances, over all tokens, `[stride]`.
    pub node_variances: Vec<f64>,
}

impl LabelSums {
    fn fields(&mut self) -> [&mut Vec<f64>; 7] {
        [
            &mut self.pairs,
            &mut self.pair_variances,
            &mut self.first,
            &mut self.last,
            &mut self.first_variances,
            &mut self.last_variances,
            &mut self.node_variances,
        ]
    }

    /// Resets all sums to 0, with `pairs` numbers for label pairs.
    pub fn clear(&mut self, pairs: usize, stride: usize) {
        for (i, sums) in self.fields().into_iter().enumerate() {
            sums.clear();
            sums.resize(if i < 2 { pairs } else { stride }, 0.0);
        }
    }

    /// Adds the sums of other sentences to these, which have `[K][stride]` numbers for label
    /// pairs; those of `other` are for `pairs`, if there are any.
    pub fn merge(&mut self, other: &mut Self, pairs: Option<&LabelPairs>) {
        let fields = self.fields().into_iter().zip(other.fields());
        for (i, (sums, more)) in fields.enumerate() {
            match pairs.filter(|_| i < 2) {
                None => add(sums, more),
                Some(pairs) => pairs.add_to_matrix(more, sums),
            }
        }
    }

    /// Converts the derivatives with respect to variances into derivatives with respect to weights,
    /// and adds them to those with respect to scores: with V = ρw², ∂V/∂w = 2ρw. `rate` is ρ of
    /// edges.
    pub fn add_variances(&mut self, rate: f64, weights: &LabelWeights) {
        let (k, stride) = (weights.start.len(), self.first.len());
        let rows = self.pairs.chunks_exact_mut(stride);
        let variances = self.pair_variances.chunks_exact(stride);
        for ((row, q), w) in rows.zip(variances).zip(weights.transitions.chunks_exact(k)) {
            add_scaled(row, 2.0 * rate, w, q);
        }
        let (first, last) = (&mut self.first, &mut self.last);
        add_scaled(first, 2.0 * rate, &weights.start, &self.first_variances);
        add_scaled(last, 2.0 * rate, &weights.end, &self.last_variances);
    }
}

/// Adds `factor · w · q` to derivatives.
fn add_scaled(derivatives: &mut [f64], factor: f64, weights: &[f64], variances: &[f64]) {
    for ((d, &w), &q) in derivatives.iter_mut().zip(weights).zip(variances) {
        *d += factor * w * q;
    }
}

/// Creates the transitions of an objective.
pub(super) fn transitions(space: &ParameterSpace) -> Transitions {
    Transitions::for_pairs(space.labels(), space.order(), candidate_pairs(space))
}

/// Returns the number of label pairs that have weights, if sentences without noise are evaluated by
/// pairs.
pub(super) fn sparse_pairs(space: &ParameterSpace) -> Option<usize> {
    let pairs = candidate_pairs(space)?.len();
    Transitions::is_sparse(space.labels(), space.order(), pairs).then_some(pairs)
}

/// Returns the label pairs that have weights, if not all do and there are no edge attributes.
fn candidate_pairs(space: &ParameterSpace) -> Option<&[u32]> {
    space.label_pairs().filter(|_| space.edges.is_empty())
}

/// Returns whether the noise term can be computed by label pairs.
pub(super) fn works_by_pairs(noise: Noise) -> bool {
    matches!(noise.engine, Engine::Adjoint | Engine::Reweighted(_))
}

/// Counts pairs of adjacent gold labels, each with the weight of its sentence, `[K][stride]`.
/// Sentences in which some token has no single label are left out.
pub(super) fn observed_pairs(data: &Dataset, space: &ParameterSpace) -> Vec<f64> {
    let mut counts = vec![0.0; space.labels() * space.stride()];
    for i in 0..data.len() {
        if let Target::Gold(labels) = data.target(i) {
            for pair in labels.windows(2) {
                let position = pair[0].index() * space.stride() + pair[1].index();
                counts[position] += data.weight(i);
            }
        }
    }
    counts
}
