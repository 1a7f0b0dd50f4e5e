//! The attributes of a sentence for the engine that works on them, and the derivatives it returns.

use std::ops::Range;

use crate::exact_sum::untied;
use crate::extract::Dataset;
use crate::math::largest_magnitude;
use crate::noise::{ActiveCounts, AttributeRows, FeatureGradient, Features};
use crate::score::ParameterSpace;

impl FeatureGradient {
    /// Adds all derivatives to the anchored gradient with respect to θ, and returns the largest
    /// magnitude among them.
    pub(super) fn add_to(&self, space: &ParameterSpace, gradient: &mut [f64]) -> f64 {
        let blocks = [(&self.nodes, &space.nodes), (&self.edges, &space.edges)];
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
