//! The attributes of a sentence for the engine that works on them, and the derivatives that it gives.

use std::ops::Range;

use super::worker::Shared;
use super::{LabelSums, add};
use crate::extract::Dataset;
use crate::noise::{self, ActiveCounts, AttributeRows, Engine, FeatureGradient};
use crate::score::{ParameterSpace, Targets};

/// Derivatives by the weights of attributes, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct AttributeSums {
    columns: Vec<u32>,
    rows: Vec<f64>, // [columns][width]
}

impl AttributeSums {
    pub fn clear(&mut self) {
        self.columns.clear();
        self.rows.clear();
    }

    pub fn push(&mut self, column: u32, row: &[f64]) {
        self.columns.push(column);
        self.rows.extend_from_slice(row);
    }

    /// Adds everything to the gradient of the weights.
    pub fn add_to(&self, targets: &Targets, gradient: &mut [f64]) {
        let rows = self.rows.chunks_exact(targets.width());
        for (&column, row) in self.columns.iter().zip(rows) {
            targets.for_each(column as usize, |place, index| {
                gradient[index] += row[place];
            });
        }
    }
}

/// Takes over what an engine says of the attributes of a sentence; from column `boundary` on, these
/// are its start and its end.
pub(super) fn take_feature_gradient(
    gradient: &FeatureGradient,
    boundary: u32,
    [nodes, edges]: &mut [AttributeSums; 2],
    sums: &mut LabelSums,
) {
    for (column, row) in gradient.node() {
        match column.checked_sub(boundary) {
            None => nodes.push(column, row),
            Some(0) => add(&mut sums.first, row),
            Some(_) => add(&mut sums.last, row),
        }
    }
    for (column, matrix) in gradient.edge() {
        edges.push(column, matrix);
    }
}

/// The attributes of a sentence, as the engine that works on them wants them.
#[derive(Debug, Default)]
pub(super) struct Features {
    ends: [Vec<usize>; 2],
    entries: [Vec<(u32, f64)>; 2],
}

impl Features {
    /// The attributes of a sentence, with √m times their values; start and end of the sentence are
    /// two more attributes, behind the others. Nothing for engines that do not look at them.
    pub fn of(
        &mut self,
        shared: &Shared<'_>,
        engine: Engine,
        tokens: Range<usize>,
    ) -> noise::Features<'_> {
        if !matches!(engine, Engine::Message { .. }) {
            return noise::Features::default();
        }
        self.fill(shared.data, shared.space, tokens)
    }

    fn fill(
        &mut self,
        data: &Dataset,
        space: &ParameterSpace,
        tokens: Range<usize>,
    ) -> noise::Features<'_> {
        let parts = [
            (&data.nodes, &space.node_scale),
            (&data.edges, &space.edge_scale),
        ];
        for (i, (rows, scale)) in parts.into_iter().enumerate() {
            let (ends, entries) = (&mut self.ends[i], &mut self.entries[i]);
            ends.clear();
            entries.clear();
            for token in tokens.clone() {
                let scaled = |(column, value)| (column, scale[column as usize] * value);
                entries.extend(rows.entries(token).map(scaled));
                if i == 0 && token == tokens.start {
                    entries.push((space.nodes.columns() as u32, 1.0));
                }
                if i == 0 && token + 1 == tokens.end {
                    entries.push((space.nodes.columns() as u32 + 1, 1.0));
                }
                ends.push(entries.len());
            }
        }
        let [node_ends, edge_ends] = &self.ends;
        let [node_entries, edge_entries] = &self.entries;
        noise::Features {
            node: AttributeRows {
                ends: node_ends,
                entries: node_entries,
            },
            edge: AttributeRows {
                ends: edge_ends,
                entries: edge_entries,
            },
        }
    }
}

/// How many different attributes the sentences of the data have, before and after the paper's
/// collapsing (section 4.1), as the engine that works on attributes sees them: start and end of a
/// sentence are two of them. O(n log n) for n entries of a sentence.
#[must_use]
pub fn active_counts(data: &Dataset, space: &ParameterSpace) -> ActiveCounts {
    let mut counts = ActiveCounts::default();
    let mut features = Features::default();
    for i in 0..data.len() {
        let tokens = data.sentence(i);
        let length = tokens.len();
        counts.add(features.fill(data, space, tokens), length);
    }
    counts
}
