//! The attributes of a sentence for the engine that works on them, and the derivatives it returns.

use std::ops::Range;

use super::LabelSums;
use crate::exact_sum::untied;
use crate::extract::Dataset;
use crate::math::{add, largest_magnitude};
use crate::noise::{self, ActiveCounts, AttributeRows, Engine, FeatureGradient, NoiseTerm};
use crate::score::{FeatureBlock, ParameterSpace};

/// The attributes of a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentenceAttributes<'a> {
    /// Empty for engines that do not read them.
    pub features: noise::Features<'a>,
    /// The column of the attribute "start of the sentence"; the next column is its end.
    pub boundary: u32,
}

/// Derivatives with respect to attribute weights, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct AttributeGradient {
    nodes: AttributeSums,
    edges: AttributeSums,
}

#[derive(Debug, Default)]
struct AttributeSums {
    columns: Vec<u32>,
    rows: Vec<f64>, // [columns][width]
}

impl AttributeGradient {
    pub fn clear(&mut self) {
        for sums in [&mut self.nodes, &mut self.edges] {
            sums.columns.clear();
            sums.rows.clear();
        }
    }

    /// Appends the derivatives of a sentence; those of its start and end go to `sums`.
    pub fn add(&mut self, gradient: &FeatureGradient, boundary: u32, sums: &mut LabelSums) {
        for (column, row) in gradient.node() {
            match column.checked_sub(boundary) {
                None => self.nodes.push(column, row),
                Some(0) => add(&mut sums.first, row),
                Some(_) => add(&mut sums.last, row),
            }
        }
        for (column, matrix) in gradient.edge() {
            self.edges.push(column, matrix);
        }
    }

    /// Adds all derivatives to the anchored gradient with respect to θ, and returns the largest
    /// magnitude among them.
    pub fn add_to(&self, space: &ParameterSpace, gradient: &mut [f64]) -> f64 {
        self.nodes.add_to(&space.nodes, gradient);
        self.edges.add_to(&space.edges, gradient);
        largest_magnitude(&self.nodes.rows).max(largest_magnitude(&self.edges.rows))
    }
}

impl AttributeSums {
    fn push(&mut self, column: u32, row: &[f64]) {
        self.columns.push(column);
        self.rows.extend_from_slice(row);
    }

    fn add_to(&self, block: &FeatureBlock, gradient: &mut [f64]) {
        let gradient = block.weights_mut(gradient);
        let rows = self.rows.chunks_exact(block.width());
        for (&column, row) in self.columns.iter().zip(rows) {
            block.targets.for_each(column as usize, |position, index| {
                gradient[index] += untied(row[position]);
            });
        }
    }
}

/// Buffers for the attributes of a sentence.
#[derive(Debug, Default)]
pub(super) struct AttributeBuffer {
    ends: [Vec<usize>; 2],
    entries: [Vec<(u32, f64)>; 2],
}

impl AttributeBuffer {
    /// Fills the buffers with the attributes of the sentence `tokens` and returns them if the
    /// noise `term` needs them.
    pub fn fill_for(
        &mut self,
        term: Option<NoiseTerm>,
        data: &Dataset,
        space: &ParameterSpace,
        tokens: Range<usize>,
    ) -> SentenceAttributes<'_> {
        if !matches!(term, Some(NoiseTerm::Quadratic(Engine::Message { .. }))) {
            return SentenceAttributes::default();
        }
        self.fill(data, space, tokens)
    }

    /// Fills the buffers with the attributes of the sentence `tokens`, their values multiplied by
    /// √m, and returns them. The start and the end of the sentence are two more attributes, after
    /// all others.
    fn fill(
        &mut self,
        data: &Dataset,
        space: &ParameterSpace,
        tokens: Range<usize>,
    ) -> SentenceAttributes<'_> {
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
        let [node_ends, edge_ends] = &self.ends;
        let [node_entries, edge_entries] = &self.entries;
        let features = noise::Features {
            node: AttributeRows { ends: node_ends, entries: node_entries },
            edge: AttributeRows { ends: edge_ends, entries: edge_entries },
        };
        SentenceAttributes { features, boundary }
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
        counts.add(buffer.fill(data, space, tokens).features, length);
    }
    counts
}
