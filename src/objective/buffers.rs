//! Arrays over the tokens of a block, and slices of them; and the parameters that do not depend on
//! attributes (transitions, start and end weights): their variances under noise, and sums of their
//! derivatives over sentences.

use super::noise::{NoiseOptions, SentenceNoise};
use crate::aligned::Aligned;
use crate::chain::{ScoreArrays, Transitions};
use crate::exact_sum::add_untied;
use crate::math::{add, largest_magnitude};
use crate::noise::LabelVariances;
use crate::score::ParameterSpace;

/// One number per score of the tokens of a block or a sentence.
#[derive(Debug, Default)]
pub struct BlockArrays {
    /// Numbers of nodes, `[tokens][stride]`.
    pub nodes: Aligned,
    /// Numbers of edges, `[tokens][K][stride]`, or empty without edge attributes.
    pub edges: Aligned,
}

impl BlockArrays {
    /// Creates zeros for `tokens` tokens.
    pub fn new(tokens: usize, space: &ParameterSpace) -> Self {
        let mut arrays = Self::default();
        arrays.reset(tokens, space);
        arrays
    }

    /// Makes these arrays zeros for `tokens` tokens.
    pub fn reset(&mut self, tokens: usize, space: &ParameterSpace) {
        self.nodes.set_zeros(tokens * space.stride());
        self.edges.set_zeros(tokens * space.edges.used_width());
    }

    /// Returns the arrays as those of one sentence.
    pub fn arrays(&mut self) -> ScoreArrays<'_> {
        ScoreArrays { nodes: &mut self.nodes, edges: &mut self.edges }
    }

    /// Splits the arrays into consecutive slices, one for each element of `tokens`, its number of
    /// tokens.
    pub fn split(&mut self, tokens: &[usize], space: &ParameterSpace) -> Vec<ScoreArrays<'_>> {
        let mut rest = self.arrays();
        tokens.iter().map(|&n| rest.take(n, space)).collect()
    }
}

impl<'a> ScoreArrays<'a> {
    /// Returns the largest magnitude among the numbers.
    pub(super) fn largest_magnitude(&self) -> f64 {
        largest_magnitude(self.nodes).max(largest_magnitude(self.edges))
    }

    /// Splits off the first `tokens` tokens. Arrays that are empty stay so.
    pub fn take(&mut self, tokens: usize, space: &ParameterSpace) -> ScoreArrays<'a> {
        ScoreArrays {
            nodes: take(&mut self.nodes, tokens * space.stride()),
            edges: take(&mut self.edges, tokens * space.edges.width()),
        }
    }
}

/// Splits off the first `length` numbers, or none if the slice is empty.
fn take<'a>(numbers: &mut &'a mut [f64], length: usize) -> &'a mut [f64] {
    let length = length.min(numbers.len());
    let (head, tail) = std::mem::take(numbers).split_at_mut(length);
    *numbers = tail;
    head
}

impl LabelVariances {
    /// Computes the variances of label weights, those of `transitions`.
    pub fn set(&mut self, noise: &NoiseOptions, transitions: &Transitions) {
        let [_, edge] = noise.rates();
        let outs = [&mut self.pairs, &mut self.start, &mut self.end];
        for (out, weights) in outs.into_iter().zip(transitions.label_scores()) {
            out.clear();
            out.extend(weights.iter().map(|w| edge * w * w));
        }
        self.node.clear();
    }

    /// Adds the variances of attribute weights at θ under additive noise.
    pub(super) fn add_attributes(
        &mut self,
        noise: &SentenceNoise,
        space: &ParameterSpace,
        theta: &[f64],
    ) {
        let squares = |kind: usize| {
            let block = space.blocks()[kind];
            let columns = noise.columns(kind, block);
            let mut squares = block.targets.squares(columns, block.weights(theta));
            squares.iter_mut().for_each(|v| *v *= noise.options.rates()[kind]);
            squares
        };
        self.node = squares(0);
        if !space.edges.is_empty() {
            add(&mut self.pairs, &squares(1));
        }
    }
}

/// Sums over sentences of the derivatives with respect to the scores and variances that do not
/// depend on the text.
#[derive(Clone, Debug, Default)]
pub struct LabelSums {
    /// With respect to transition scores, `[K][stride]`, or `[P]` if only P pairs have weights.
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
    /// Returns the arrays, those of label pairs first.
    pub(super) fn fields(&mut self) -> [&mut Vec<f64>; 7] {
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

    /// Sets the derivatives with respect to scores to 0.
    pub(super) fn clear_scores(&mut self) {
        for sums in [&mut self.pairs, &mut self.first, &mut self.last] {
            sums.fill(0.0);
        }
    }

    /// Sets all sums to 0, with `pairs` numbers for label pairs.
    pub fn clear(&mut self, pairs: usize, stride: usize) {
        self.start(pairs, stride, 0.0);
    }

    /// Sets all sums to an anchor ([`crate::exact_sum`]), with `pairs` numbers for label pairs.
    pub(super) fn start(&mut self, pairs: usize, stride: usize, anchor: f64) {
        for (i, sums) in self.fields().into_iter().enumerate() {
            sums.clear();
            sums.resize(if i < 2 { pairs } else { stride }, anchor);
        }
    }

    /// Subtracts the anchor that the sums started with.
    pub(super) fn subtract(&mut self, anchor: f64) {
        let fields = self.fields().into_iter().flatten();
        fields.for_each(|sum| *sum -= anchor);
    }

    /// Adds the sums of other sentences, exactly to anchored ones, and returns the
    /// largest magnitude among them.
    pub fn merge(&mut self, other: &mut Self) -> f64 {
        let largest = self.fields().into_iter().zip(other.fields()).map(|(sums, more)| {
            add_untied(sums, more);
            largest_magnitude(more)
        });
        largest.fold(0.0, f64::max)
    }

    /// Converts the derivatives with respect to variances into derivatives with respect to weights,
    /// and adds them to those with respect to scores: with V = ρw², ∂V/∂w = 2ρw. `rate` is ρ of
    /// edges; `weights` are shaped like the sums of pairs, of first and of last labels.
    pub fn add_variances(&mut self, rate: f64, weights: [&[f64]; 3]) {
        let sums = [
            (&mut self.pairs, &self.pair_variances),
            (&mut self.first, &self.first_variances),
            (&mut self.last, &self.last_variances),
        ];
        for ((sums, variances), weights) in sums.into_iter().zip(weights) {
            for ((d, &w), &q) in sums.iter_mut().zip(weights).zip(variances) {
                *d += 2.0 * rate * w * q;
            }
        }
    }
}
