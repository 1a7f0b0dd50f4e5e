//! What the objective has to know of all sentences, wherever each is evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::chain::Transitions;
use crate::extract::{Dataset, SparseRows, Target};
use crate::score::ParameterSpace;

/// Counts over all sentences.
#[derive(Clone, Debug)]
pub(super) struct Totals {
    /// The total weights of labeled and of unlabeled sentences.
    pub weights: [f64; 2],
    /// The largest weight of a sentence.
    pub largest_weight: f64,
    pub tokens: f64,
    /// Tokens, each with the weight of its sentence.
    pub weighted_tokens: f64,
    /// Of node and edge attributes.
    pub columns: [ColumnTotals; 2],
    /// Pairs of adjacent gold labels, each with the weight of its sentence. Sentences in which some
    /// token has no single label are left out.
    label_pairs: BTreeMap<(u32, u32), f64>,
}

/// Sums over the entries x of each column, `[columns]`.
#[derive(Clone, Debug)]
pub(super) struct ColumnTotals {
    /// Σ w·x², where w is the weight of the sentence. A class of m attributes counts once.
    pub squares: Arc<[f64]>,
    /// Σ max(1, |x|).
    pub magnitudes: Arc<[f64]>,
    /// Σ max(1, x²).
    pub square_magnitudes: Arc<[f64]>,
}

impl Totals {
    /// Counts in one pass over `data`.
    pub fn new(data: &Dataset, space: &ParameterSpace) -> Self {
        let sentences = 0..data.len();
        let weighted = |i: usize| data.weight(i) * data.sentence(i).len() as f64;
        Self {
            weights: data.total_weights(),
            largest_weight: sentences
                .clone()
                .map(|i| data.weight(i))
                .fold(0.0, f64::max),
            tokens: data.tokens() as f64,
            weighted_tokens: match data.is_weighted() {
                true => sentences.map(weighted).sum(),
                false => data.tokens() as f64,
            },
            columns: [(&data.nodes, &space.nodes), (&data.edges, &space.edges)]
                .map(|(matrix, block)| ColumnTotals::new(data, matrix, block.columns())),
            label_pairs: label_pairs(data),
        }
    }

    /// Returns the counts of label pairs in the shape of [`Transitions::pair_scores`]. Pairs
    /// without a weight are left out.
    pub fn observed_pairs(&self, transitions: &Transitions) -> Vec<f64> {
        let mut counts = vec![0.0; transitions.pair_numbers()];
        for (&(first, second), count) in &self.label_pairs {
            if let Some(index) = transitions.pair_index(first as usize, second as usize) {
                counts[index] += count;
            }
        }
        counts
    }
}

impl ColumnTotals {
    fn new(data: &Dataset, matrix: &SparseRows, columns: usize) -> Self {
        let sum = |term: &dyn Fn(f64, f64) -> f64| -> Arc<[f64]> {
            let mut sums = vec![0.0; columns];
            for i in 0..data.len() {
                let weight = data.weight(i);
                for row in data.sentence(i) {
                    for (column, x) in matrix.entries(row) {
                        sums[column as usize] += term(weight, x);
                    }
                }
            }
            sums.into()
        };
        let magnitudes = sum(&|_, x| x.abs().max(1.0));
        let counts = |is_count: bool, term: &dyn Fn(f64, f64) -> f64| match is_count {
            true => Arc::clone(&magnitudes),
            false => sum(term),
        };
        let is_binary = matrix.is_binary();
        Self {
            squares: counts(is_binary && !data.is_weighted(), &|w, x| w * (x * x)),
            square_magnitudes: counts(is_binary, &|_, x| (x * x).max(1.0)),
            magnitudes,
        }
    }
}

fn label_pairs(data: &Dataset) -> BTreeMap<(u32, u32), f64> {
    let mut counts = BTreeMap::new();
    for i in 0..data.len() {
        if let Target::Gold(labels) = data.target(i) {
            for pair in labels.windows(2) {
                let pair = (pair[0].index() as u32, pair[1].index() as u32);
                *counts.entry(pair).or_insert(0.0) += data.weight(i);
            }
        }
    }
    counts
}
