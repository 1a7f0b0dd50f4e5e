//! Weights that are left out since their attribute and label, or label pair, is too rare.
//!
//! The frequency of an (attribute, label) pair is the sum of the values of the attribute at tokens
//! with the label, that of a label pair the number of its occurrences, both times the weights of
//! sentences. So says CRFsuite (`feature.minfreq`): attributes with values below 0 may have
//! frequencies below 0.

use super::observed::{ObservedLabels, TokenPositions};
use super::targets::Targets;
use crate::extract::{Dataset, SparseRows};

/// Frequencies in training data, of which some may be too low.
pub(super) struct Frequencies<'a> {
    data: &'a Dataset,
    labels: usize, // K
    stride: usize, // K padded
    min: f64,
    weights: Vec<f64>, // [M] of the sentence of each token
}

impl<'a> Frequencies<'a> {
    /// Returns `None` if no frequency can be below `min`.
    pub fn new(data: &'a Dataset, [labels, stride]: [usize; 2], min: f64) -> Option<Self> {
        let is_negative = |rows: &SparseRows| {
            let mut rows = (0..rows.len()).flat_map(|row| rows.row(row).1).flatten();
            rows.any(|&value| value < 0.0)
        };
        if min <= 0.0 && !is_negative(&data.nodes) && !is_negative(&data.edges) {
            return None;
        }
        let sentences = (0..data.len())
            .flat_map(|i| std::iter::repeat_n(data.weight(i), data.sentence(i).len()));
        Some(Self {
            data,
            labels,
            stride,
            min,
            weights: sentences.collect(),
        })
    }

    /// Keeps the weights of attributes that are frequent enough. `positions` are those of the
    /// scores of each token's labels.
    pub fn retain(
        &self,
        targets: Targets,
        rows: &SparseRows,
        positions: &TokenPositions,
    ) -> Targets {
        let mut frequencies = vec![0.0; targets.weights()];
        for (token, weight) in self.weights.iter().enumerate() {
            for &position in positions.of(token) {
                for (column, value) in rows.entries(token) {
                    if let Some(index) = targets.index(column as usize, position) {
                        frequencies[index] += weight * value;
                    }
                }
            }
        }
        targets.retain(|index| frequencies[index] >= self.min)
    }

    /// Returns the positions of the label pairs, first labels and last labels that are frequent
    /// enough, among all of them or only those that
    /// occur.
    pub fn label_positions(&self, observed: &ObservedLabels, all: bool) -> [Vec<u32>; 3] {
        let mut frequencies =
            [self.labels * self.stride, self.stride, self.stride].map(|length| vec![0.0; length]);
        let [pairs, first, last] = &mut frequencies;
        for i in 0..self.data.labeled() {
            let (tokens, weight) = (self.data.sentence(i), self.data.weight(i));
            let add = |frequencies: &mut [f64], positions: &[u32]| {
                let positions = positions.iter();
                positions.for_each(|&position| frequencies[position as usize] += weight);
            };
            for token in tokens.clone() {
                add(pairs, observed.pairs_at.of(token));
            }
            if !tokens.is_empty() {
                add(first, observed.labels_at.of(tokens.start));
                add(last, observed.labels_at.of(tokens.end - 1));
            }
        }
        let observed = [&observed.pairs, &observed.first, &observed.last];
        let mut observed = observed.into_iter();
        frequencies.map(|frequencies| {
            let occurring = observed.next().into_iter().flatten().copied();
            let is_frequent = |&position: &u32| frequencies[position as usize] >= self.min;
            match all {
                false => occurring.filter(is_frequent).collect(),
                true => (0..frequencies.len() as u32)
                    .filter(|position| (*position as usize) % self.stride < self.labels)
                    .filter(is_frequent)
                    .collect(),
            }
        })
    }
}
