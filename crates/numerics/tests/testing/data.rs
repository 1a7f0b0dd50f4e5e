//! Deterministic random data sets for tests.

use std::sync::Arc;

use crate::data::{Classes, Dataset, SparseRows};
use crate::ids::LabelId;
use crate::score::{ParameterSpace, SpaceOptions};
use crate::testing::Lcg;

/// All parameters of a first-order chain.
pub const FIRST_ORDER: SpaceOptions = SpaceOptions::FIRST_ORDER;

/// Returns the parameters of a random data set without collapsing.
pub fn space(data: &Dataset, shape: &RandomData, options: SpaceOptions) -> ParameterSpace {
    let [nodes, edges] = [shape.nodes, shape.edges].map(Classes::singletons);
    ParameterSpace::new(shape.labels, data, &nodes, &edges, options)
}

/// The shape of a random data set.
#[derive(Clone, Copy, Debug)]
pub struct RandomData {
    /// The number of sentences.
    pub sentences: usize,
    /// The maximum number of tokens in a sentence.
    pub longest: usize,
    /// The number of labels.
    pub labels: usize,
    /// The number of node attributes.
    pub nodes: usize,
    /// The number of edge attributes.
    pub edges: usize,
    /// Whether all values are 1.
    pub binary: bool,
}

impl RandomData {
    /// Builds a labeled data set with up to four node attributes and two edge attributes per token.
    pub fn build(&self, numbers: &mut Lcg) -> Dataset {
        let mut data = Dataset::default();
        for _ in 0..self.sentences {
            for t in 0..=numbers.below(self.longest) {
                let edges = if t == 0 { 0 } else { self.edges };
                self.push_row(numbers, self.nodes, 4, Arc::make_mut(&mut data.nodes));
                self.push_row(numbers, edges, 2, Arc::make_mut(&mut data.edges));
                data.labels.push(LabelId(numbers.below(self.labels) as u16));
            }
            data.end_sentence(data.labels.len(), 1.0);
        }
        data
    }

    /// Appends a row of up to `most` entries in distinct columns.
    fn push_row(&self, numbers: &mut Lcg, columns: usize, most: usize, rows: &mut SparseRows) {
        let count = numbers.below(most + 1).min(columns);
        let mut entries = Vec::new();
        while entries.len() < count {
            let column = numbers.below(columns) as u32;
            if entries.iter().all(|&(other, _)| other != column) {
                let value = if self.binary { 1.0 } else { 2.0 * numbers.next() };
                entries.push((column, value));
            }
        }
        rows.push_row(&mut entries);
    }
}

/// Hides what is known of some labels: about a third of the tokens may have several labels, among
/// them their own, and a third any.
pub fn with_partial_labels(data: &Dataset, labels: usize, numbers: &mut Lcg) -> Dataset {
    let mut partial = data.without_labels();
    for &gold in &data.labels {
        let others = (0..labels as u16).map(LabelId);
        let set: Vec<LabelId> = match numbers.below(3) {
            0 => vec![gold],
            1 => others.filter(|&b| b == gold || numbers.below(3) == 0).collect(),
            _ => Vec::new(),
        };
        partial.push_labels(&set);
    }
    partial
}

/// Gives the sentences these weights, in turn.
pub fn with_weights(data: &Dataset, weights: &[f64]) -> Dataset {
    let mut weighted = data.clone();
    weighted.weights = Some(weights.iter().copied().cycle().take(data.len()).collect());
    weighted
}

/// Replaces each of the `columns` columns by `copies(column)` copies. Returns the matrix and its
/// number of columns.
pub fn copied(
    matrix: &SparseRows,
    columns: usize,
    copies: impl Fn(u32) -> u32,
) -> (Arc<SparseRows>, usize) {
    let mut firsts = vec![0];
    for column in 0..columns as u32 {
        firsts.push(firsts[column as usize] + copies(column));
    }
    let mut rows = SparseRows::default();
    for row in 0..matrix.len() {
        let entries = matrix.entries(row).flat_map(|(column, value)| {
            let column = column as usize;
            (firsts[column]..firsts[column + 1]).map(move |copy| (copy, value))
        });
        rows.push_row(&mut entries.collect());
    }
    (Arc::new(rows), firsts[columns] as usize)
}

/// Builds a data set of one sentence whose tokens have these node attributes and labels 0, 1, …
pub fn one_sentence(rows: &[&[(u32, f64)]]) -> Dataset {
    let mut data = Dataset::default();
    for (label, row) in rows.iter().enumerate() {
        Arc::make_mut(&mut data.nodes).push_row(&mut row.to_vec());
        Arc::make_mut(&mut data.edges).push_row(&mut Vec::new());
        data.labels.push(LabelId(label as u16));
    }
    data.end_sentence(data.labels.len(), 1.0);
    data
}
