//! What the objective has to know of all sentences, wherever each is evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::chain::Transitions;
use crate::exact_sum::{FixedPointSum, anchor, untied};
use crate::extract::{Dataset, SparseRows, Target};
use crate::score::ParameterSpace;

/// Counts over all sentences. All of them have the same bits for any number of ranks.
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
    label_pairs: LabelPairs,
}

type LabelPairs = BTreeMap<(u32, u32), FixedPointSum>;

/// Sums over the entries x of each column, `[columns]`, or bounds on them.
#[derive(Clone, Debug)]
pub(super) struct ColumnTotals {
    /// Σ w·x², where w is the weight of the sentence. A class of m attributes counts once.
    pub squares: Arc<[f64]>,
    /// At least Σ max(1, |x|): the number of entries times the largest of them.
    pub magnitudes: Arc<[f64]>,
    /// At least Σ max(1, x²), likewise.
    pub square_magnitudes: Arc<[f64]>,
}

impl Totals {
    /// Counts all sentences.
    pub fn new(data: &Dataset, space: &ParameterSpace) -> Self {
        let counts = SentenceCounts::new(data);
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        Self {
            weights: counts.weights.map(|sum| sum.value()),
            largest_weight: counts.largest_weight,
            tokens: counts.tokens.value(),
            weighted_tokens: counts.weighted_tokens.value(),
            columns: matrices.map(|(matrix, block)| {
                let entries = EntryCounts::new(data, matrix, block.columns());
                let squares = entries.squares(data, matrix, counts.largest_weight);
                ColumnTotals::new(entries, squares)
            }),
            label_pairs: label_pairs(data),
        }
    }

    /// Returns the counts of label pairs in the shape of [`Transitions::pair_scores`]. Pairs
    /// without a weight are left out.
    pub fn observed_pairs(&self, transitions: &Transitions) -> Vec<f64> {
        let mut counts = vec![0.0; transitions.pair_numbers()];
        for (&(first, second), count) in &self.label_pairs {
            if let Some(index) = transitions.pair_index(first as usize, second as usize) {
                counts[index] += count.value();
            }
        }
        counts
    }
}

/// Counts of sentences and tokens.
#[derive(Default)]
struct SentenceCounts {
    weights: [FixedPointSum; 2], // of labeled and of unlabeled sentences
    tokens: FixedPointSum,
    weighted_tokens: FixedPointSum,
    largest_weight: f64,
}

impl SentenceCounts {
    fn new(data: &Dataset) -> Self {
        let mut counts = Self::default();
        let labeled = data.labeled();
        for i in 0..data.len() {
            let (weight, tokens) = (data.weight(i), data.sentence(i).len() as f64);
            counts.weights[usize::from(i >= labeled)].add(weight);
            counts.tokens.add(tokens);
            counts.weighted_tokens.add(weight * tokens);
            counts.largest_weight = counts.largest_weight.max(weight);
        }
        counts
    }
}

/// The entries of each column of a matrix.
struct EntryCounts {
    counts: Vec<f64>,          // [columns]
    largest: Option<Vec<f64>>, // [columns] max(1, |x|); `None`: all 1
}

impl EntryCounts {
    fn new(data: &Dataset, matrix: &SparseRows, columns: usize) -> Self {
        let mut counts = vec![0.0; columns];
        let mut largest = (!matrix.is_binary()).then(|| vec![1.0; columns]);
        for (column, x) in (0..data.len()).flat_map(|i| entries(data, matrix, i)) {
            counts[column as usize] += 1.0;
            if let Some(largest) = &mut largest {
                let largest: &mut f64 = &mut largest[column as usize];
                *largest = largest.max(x.abs());
            }
        }
        Self { counts, largest }
    }

    /// Returns the sums Σ w·x² over the entries that were counted, with bits that do not depend on
    /// their order; `None` if these sums are the counts.
    fn squares(
        &self,
        data: &Dataset,
        matrix: &SparseRows,
        largest_weight: f64,
    ) -> Option<Vec<f64>> {
        if !data.is_weighted() && self.largest.is_none() {
            return None;
        }
        let anchors = (0..self.counts.len()).map(|column| {
            let largest = self.largest.as_ref().map_or(1.0, |largest| largest[column]);
            anchor(self.counts[column] * largest_weight * largest * largest)
        });
        let anchors: Vec<f64> = anchors.collect();
        let mut sums = anchors.clone();
        for i in 0..data.len() {
            let weight = data.weight(i);
            for (column, x) in entries(data, matrix, i) {
                sums[column as usize] += untied(weight * (x * x));
            }
        }
        let pairs = sums.iter_mut().zip(anchors);
        pairs.for_each(|(sum, anchor)| *sum -= anchor);
        Some(sums)
    }
}

impl ColumnTotals {
    /// `squares` are the counts unless they are given.
    fn new(entries: EntryCounts, squares: Option<Vec<f64>>) -> Self {
        let counts: Arc<[f64]> = entries.counts.into();
        let bounds = |power: i32| match &entries.largest {
            None => Arc::clone(&counts),
            Some(largest) => {
                let pairs = counts.iter().zip(largest);
                pairs.map(|(n, x)| n * x.powi(power)).collect()
            }
        };
        Self {
            squares: squares.map_or_else(|| Arc::clone(&counts), Arc::from),
            magnitudes: bounds(1),
            square_magnitudes: bounds(2),
        }
    }
}

/// Returns the entries of the tokens of a sentence.
fn entries<'a>(
    data: &'a Dataset,
    matrix: &'a SparseRows,
    sentence: usize,
) -> impl Iterator<Item = (u32, f64)> + 'a {
    let rows = data.sentence(sentence);
    rows.flat_map(|row| matrix.entries(row))
}

fn label_pairs(data: &Dataset) -> LabelPairs {
    let mut counts = LabelPairs::new();
    for i in 0..data.len() {
        if let Target::Gold(labels) = data.target(i) {
            for pair in labels.windows(2) {
                let pair = (pair[0].index() as u32, pair[1].index() as u32);
                counts.entry(pair).or_default().add(data.weight(i));
            }
        }
    }
    counts
}
