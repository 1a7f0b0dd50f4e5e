//! Deterministic random data sets.

use std::sync::Arc;

use dropchain::kernel::extract::{Classes, Dataset, SparseRows};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::score::{ParameterSpace, SpaceOptions};

/// Knuth's MMIX linear congruential generator. The field is its state, which starts as the seed.
pub(crate) struct Lcg(pub u64);

impl Lcg {
    /// Returns the next number, in [−1, 1).
    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Returns the next integer in 0..`n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * n as f64) as usize
    }

    /// Returns the next `n` numbers.
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// The shape of a random data set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomData {
    pub sentences: usize,
    pub longest: usize, // maximum number of tokens in a sentence
    pub labels: usize,
    pub nodes: usize,
    pub edges: usize,
    pub binary: bool,
}

impl RandomData {
    /// Builds a labeled data set with up to four node attributes and two edge attributes per token.
    pub fn build(&self, numbers: &mut Lcg) -> Dataset {
        let mut data = Dataset::default();
        for _ in 0..self.sentences {
            let last = numbers.below(self.longest);
            for t in 0..=last {
                let edges = if t == 0 { 0 } else { self.edges };
                self.push_row(numbers, self.nodes, 4, Arc::make_mut(&mut data.nodes));
                self.push_row(numbers, edges, 2, Arc::make_mut(&mut data.edges));
                data.push_labels(&[LabelId(numbers.below(self.labels) as u16)]);
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

    /// Returns the parameters without collapsing.
    pub fn space(&self, data: &Dataset, options: SpaceOptions) -> ParameterSpace {
        let [nodes, edges] = [self.nodes, self.edges].map(Classes::singletons);
        ParameterSpace::new(self.labels, data, &nodes, &edges, options)
    }
}

/// Hides what is known of some labels: about a third of the tokens may have several labels, among
/// them their own, and a third any.
pub(crate) fn with_partial_labels(data: &Dataset, labels: usize, numbers: &mut Lcg) -> Dataset {
    let weight = |_| 1.0;
    with_targets(data, weight, |gold| {
        let others = (0..labels as u16).map(LabelId);
        match numbers.below(3) {
            0 => vec![gold],
            1 => others.filter(|&b| b == gold || numbers.below(3) == 0).collect(),
            _ => Vec::new(),
        }
    })
}

/// Gives the sentences these weights, in turn.
pub(crate) fn with_weights(data: &Dataset, weights: &[f64]) -> Dataset {
    with_targets(data, |i| weights[i % weights.len()], |gold| vec![gold])
}

/// Gives the sentences other weights, and the tokens other labels.
fn with_targets(
    data: &Dataset,
    weight: impl Fn(usize) -> f64,
    mut labels: impl FnMut(LabelId) -> Vec<LabelId>,
) -> Dataset {
    let mut changed = Dataset::default();
    changed.nodes = Arc::clone(&data.nodes);
    changed.edges = Arc::clone(&data.edges);
    for i in 0..data.len() {
        for token in data.sentence(i) {
            changed.push_labels(&labels(data.labels[token]));
        }
        changed.end_sentence(changed.labels.len(), weight(i));
    }
    changed
}

/// Replaces each of the `columns` columns by `copies(column)` copies. Returns the matrix and its
/// number of columns.
pub(crate) fn copied(
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
