//! What the objective has to know of all sentences, wherever each is evaluated.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::chain::Transitions;
use crate::error::Result;
use crate::exact_sum::{FixedPointSum, anchor, untied};
use crate::extract::{Dataset, SparseRows, Target};
use crate::ranks::{Ranks, take};
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
    /// Counts the sentences of one process.
    pub fn new(data: &Dataset, space: &ParameterSpace) -> Self {
        let counts = SentenceCounts::new(data, 0..data.len());
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        let columns = matrices.map(|(matrix, block)| {
            let mut entries = EntryCounts::new(block.columns());
            entries.add(data, matrix, 0..data.len());
            let mut squares = entries.squares(&counts);
            if let Some(squares) = &mut squares {
                squares.add(data, matrix, 0..data.len());
            }
            ColumnTotals::new(entries, squares.map(SquareSums::finish))
        });
        Self::of(&counts, columns, label_pairs(data))
    }

    /// Counts the sentences of all ranks. Unlabeled ones are those of each rank alone; all ranks
    /// have the labeled ones, unless these are their own, too.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`](crate::Error::Communication).
    pub fn over_ranks(data: &Dataset, space: &ParameterSpace, ranks: &Ranks) -> Result<Self> {
        let has_labeled = ranks.rank() == 0 || ranks.has_own_labeled();
        let first = if has_labeled { 0 } else { data.labeled() };
        let own = first..data.len();
        let counts = SentenceCounts::new(data, own.clone()).over(ranks)?;
        let mut columns = Vec::new();
        for (matrix, block) in [(&data.nodes, &space.nodes), (&data.edges, &space.edges)] {
            let mut entries = EntryCounts::new(block.columns());
            entries.add(data, matrix, own.clone());
            let entries = entries.over(ranks)?;
            let mut squares = None;
            if let Some(mut sums) = entries.squares(&counts) {
                sums.add(data, matrix, own.clone());
                let mut sums = sums.finish();
                ranks.sum(&mut sums)?;
                squares = Some(sums);
            }
            columns.push(ColumnTotals::new(entries, squares));
        }
        let Ok(columns) = columns.try_into() else {
            unreachable!("two matrices");
        };
        let mut pairs = label_pairs(data);
        if ranks.has_own_labeled() {
            pairs = label_pairs_over(ranks, &pairs)?;
        }
        Ok(Self::of(&counts, columns, pairs))
    }

    fn of(counts: &SentenceCounts, columns: [ColumnTotals; 2], label_pairs: LabelPairs) -> Self {
        Self {
            weights: counts.weights.map(|sum| sum.value()),
            largest_weight: counts.largest_weight,
            tokens: counts.tokens.value(),
            weighted_tokens: counts.weighted_tokens.value(),
            columns,
            label_pairs,
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
    is_weighted: bool,
}

impl SentenceCounts {
    fn new(data: &Dataset, sentences: Range<usize>) -> Self {
        let mut counts = Self {
            is_weighted: data.is_weighted(),
            ..Self::default()
        };
        let labeled = data.labeled();
        for i in sentences {
            let (weight, tokens) = (data.weight(i), data.sentence(i).len() as f64);
            counts.weights[usize::from(i >= labeled)].add(weight);
            counts.tokens.add(tokens);
            counts.weighted_tokens.add(weight * tokens);
            counts.largest_weight = counts.largest_weight.max(weight);
        }
        counts
    }

    fn over(self, ranks: &Ranks) -> Result<Self> {
        let [labeled, unlabeled] = self.weights;
        let sums = [labeled, unlabeled, self.tokens, self.weighted_tokens];
        let mut words = sums.map(FixedPointSum::to_words).concat();
        words.push(f64::from(u8::from(self.is_weighted)));
        ranks.sum(&mut words)?;
        let (sums, is_weighted) = words.as_chunks();
        let sum = |i: usize| FixedPointSum::from_words(sums[i]);
        let mut largest_weight = [self.largest_weight];
        largest(ranks, &mut largest_weight)?;
        Ok(Self {
            weights: [sum(0), sum(1)],
            tokens: sum(2),
            weighted_tokens: sum(3),
            largest_weight: largest_weight[0],
            is_weighted: is_weighted != [0.0],
        })
    }
}

/// The entries of each column of a matrix.
struct EntryCounts {
    counts: Vec<f64>,          // [columns]
    largest: Option<Vec<f64>>, // [columns] max(1, |x|); `None`: all 1
}

impl EntryCounts {
    fn new(columns: usize) -> Self {
        Self {
            counts: vec![0.0; columns],
            largest: None,
        }
    }

    /// Adds the entries of some sentences.
    fn add(&mut self, data: &Dataset, matrix: &SparseRows, sentences: Range<usize>) {
        if !matrix.is_binary() && self.largest.is_none() {
            self.largest = Some(vec![1.0; self.counts.len()]);
        }
        for (column, x) in sentences.flat_map(|i| entries(data, matrix, i)) {
            self.counts[column as usize] += 1.0;
            if let Some(largest) = &mut self.largest {
                let largest = &mut largest[column as usize];
                *largest = largest.max(x.abs());
            }
        }
    }

    fn over(mut self, ranks: &Ranks) -> Result<Self> {
        ranks.sum(&mut self.counts)?;
        let mut are_values = [f64::from(u8::from(self.largest.is_some()))];
        ranks.sum(&mut are_values)?;
        if are_values != [0.0] {
            let columns = self.counts.len();
            let own = self.largest.get_or_insert_with(|| vec![1.0; columns]);
            largest(ranks, own)?;
        }
        Ok(self)
    }

    /// Begins sums Σ w·x² over the entries that were counted; `None` if these sums are the counts.
    fn squares(&self, all: &SentenceCounts) -> Option<SquareSums> {
        if !all.is_weighted && self.largest.is_none() {
            return None;
        }
        let anchors = (0..self.counts.len()).map(|column| {
            let largest = self.largest.as_ref().map_or(1.0, |largest| largest[column]);
            anchor(self.counts[column] * all.largest_weight * largest * largest)
        });
        let anchors: Vec<f64> = anchors.collect();
        Some(SquareSums {
            sums: anchors.clone(),
            anchors,
        })
    }
}

/// Sums Σ w·x² over entries of each column, with bits that do not depend on their order.
struct SquareSums {
    anchors: Vec<f64>, // [columns]
    sums: Vec<f64>,    // [columns] more than their anchors
}

impl SquareSums {
    /// Adds the entries of some sentences.
    fn add(&mut self, data: &Dataset, matrix: &SparseRows, sentences: Range<usize>) {
        for i in sentences {
            let weight = data.weight(i);
            for (column, x) in entries(data, matrix, i) {
                self.sums[column as usize] += untied(weight * (x * x));
            }
        }
    }

    fn finish(mut self) -> Vec<f64> {
        let pairs = self.sums.iter_mut().zip(self.anchors);
        pairs.for_each(|(sum, anchor)| *sum -= anchor);
        self.sums
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

/// Replaces numbers by the largest of all ranks.
fn largest(ranks: &Ranks, numbers: &mut [f64]) -> Result<()> {
    let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    ranks.for_each_rank(bytes, |_, others| {
        let others = others.as_chunks().0.iter().copied().map(f64::from_le_bytes);
        numbers
            .iter_mut()
            .zip(others)
            .for_each(|(x, other)| *x = x.max(other));
        Ok(())
    })
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

/// Returns the counts of all ranks.
fn label_pairs_over(ranks: &Ranks, own: &LabelPairs) -> Result<LabelPairs> {
    let mut bytes = Vec::new();
    for (&(first, second), count) in own {
        bytes.extend([first, second].map(u32::to_le_bytes).concat());
        bytes.extend(count.to_words().map(f64::to_le_bytes).concat());
    }
    let mut counts = LabelPairs::new();
    ranks.for_each_rank(bytes, |_, mut bytes| {
        while !bytes.is_empty() {
            let [first, second] = [take(&mut bytes)?, take(&mut bytes)?].map(u32::from_le_bytes);
            let mut words = [0.0; FixedPointSum::WORDS];
            for word in &mut words {
                *word = f64::from_le_bytes(take(&mut bytes)?);
            }
            let count = counts.entry((first, second)).or_default();
            *count = count.plus(FixedPointSum::from_words(words));
        }
        Ok(())
    })?;
    Ok(counts)
}
