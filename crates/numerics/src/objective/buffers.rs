//! Arrays over the tokens of a block, and slices of them; the attributes of a sentence, for the
//! engine that works on them; and the parameters that do not depend on attributes (transitions,
//! start and end weights): their variances under noise, and sums of their derivatives over
//! sentences.

use std::ops::Range;

use super::noise::SentenceNoise;
use crate::aligned::Aligned;
use crate::chain::ScoreArrays;
use crate::data::Dataset;
use crate::exact_sum::{add_untied, untied};
use crate::math::{add, largest_magnitude};
use crate::noise::{ActiveCounts, AttributeRows, FeatureGradient, Features, LabelVariances};
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
        tokens.iter().map(|&n| take(&mut rest, n, space)).collect()
    }
}

/// Splits off the numbers of the first `tokens` tokens. Arrays that are empty stay so.
pub(super) fn take<'a>(
    arrays: &mut ScoreArrays<'a>,
    tokens: usize,
    space: &ParameterSpace,
) -> ScoreArrays<'a> {
    arrays.take(tokens * space.stride(), tokens * space.edges.width())
}

/// Sets the variances of node and edge scores under additive noise to those of attribute weights at
/// θ, beside those of label weights.
pub(super) fn add_attribute_variances(
    variances: &mut LabelVariances,
    noise: &SentenceNoise,
    space: &ParameterSpace,
    theta: &[f64],
) {
    let squares = |kind: usize| {
        let block = space.blocks()[kind];
        let weights = block.weights(theta);
        let mut squares = vec![0.0; block.width()];
        for column in noise.columns(kind, block) {
            block.targets.for_each(column, |position, index| {
                squares[position] += weights[index] * weights[index];
            });
        }
        squares.iter_mut().for_each(|v| *v *= noise.options.rates()[kind]);
        squares
    };
    variances.node = squares(0);
    if !space.edges.is_empty() {
        add(&mut variances.pairs, &squares(1));
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
        let Self { pairs, pair_variances, node_variances, .. } = self;
        let Self { first, last, first_variances, last_variances, .. } = self;
        [pairs, pair_variances, first, last, first_variances, last_variances, node_variances]
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

/// Adds derivatives with respect to the weights of attributes to the anchored gradient with respect
/// to θ, and returns the largest magnitude among them.
pub(super) fn add_attributes(
    derivatives: &FeatureGradient,
    space: &ParameterSpace,
    gradient: &mut [f64],
) -> f64 {
    let blocks = [(&derivatives.nodes, &space.nodes), (&derivatives.edges, &space.edges)];
    let largest = blocks.map(|(derivatives, block)| {
        let gradient = block.weights_mut(gradient);
        for (column, row) in derivatives.iter() {
            block.targets.for_each(column as usize, |position, index| {
                gradient[index] += untied(row[position]);
            });
        }
        largest_magnitude(&derivatives.rows)
    });
    largest[0].max(largest[1])
}

/// Buffers for the attributes of a sentence.
#[derive(Debug, Default)]
pub(super) struct AttributeBuffer {
    ends: [Vec<usize>; 2],
    entries: [Vec<(u32, f64)>; 2],
}

impl AttributeBuffer {
    /// Fills the buffers with the attributes of the sentence `tokens`, their values multiplied by
    /// √m, and returns them. The start and the end of the sentence are two more attributes, after
    /// all others.
    pub fn fill(
        &mut self,
        data: &Dataset,
        space: &ParameterSpace,
        tokens: Range<usize>,
    ) -> Features<'_> {
        let boundary = space.nodes.columns() as u32;
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        for (i, (matrix, block)) in matrices.into_iter().enumerate() {
            let (ends, entries) = (&mut self.ends[i], &mut self.entries[i]);
            ends.clear();
            entries.clear();
            for token in tokens.clone() {
                let scaled = |(column, value)| (column, block.scale[column as usize] * value);
                entries.extend(matrix.entries(token).map(scaled));
                if i == 0 && token == tokens.start {
                    entries.push((boundary, 1.0));
                }
                if i == 0 && token + 1 == tokens.end {
                    entries.push((boundary + 1, 1.0));
                }
                ends.push(entries.len());
            }
        }
        let rows = |i: usize| AttributeRows { ends: &self.ends[i], entries: &self.entries[i] };
        Features { node: rows(0), edge: rows(1), boundary }
    }
}

/// Counts the distinct attributes per sentence before and after the paper's collapsing (section
/// 4.1), as the `message` engine sees them: start and end of a sentence are two of them. O(n log n)
/// for n entries of a sentence.
pub fn active_counts(data: &Dataset, space: &ParameterSpace) -> ActiveCounts {
    let mut counts = ActiveCounts::default();
    let mut buffer = AttributeBuffer::default();
    for i in 0..data.len() {
        let tokens = data.sentence(i);
        let length = tokens.len();
        counts.add(buffer.fill(data, space, tokens), length);
    }
    counts
}
