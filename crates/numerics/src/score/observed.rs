//! The labels and label pairs that occur in training data.
//!
//! # Weights that are left out since they are too rare
//!
//! The frequency of an (attribute, label) pair is the sum of the values of the attribute at tokens
//! with the label, that of a label pair the number of its occurrences, both times the weights of
//! sentences. So says CRFsuite (`feature.minfreq`): attributes with values below 0 may have
//! frequencies below 0.

use super::targets::Targets;
use crate::data::{Dataset, SparseRows};

/// Label pairs, first labels and last labels that occur in the training data, as positions in rows
/// of scores.
///
/// If a token may have several labels, each of them counts as observed; if it may have any label,
/// none does.
pub(super) struct ObservedLabels {
    /// Labels of each token, and pairs of the previous label and its own; empty unless requested.
    pub at: [TokenPositions; 2],
    /// Pairs, first labels and last labels, ascending.
    pub labels: [Vec<u32>; 3],
}

/// Any number of positions for each token.
#[derive(Default)]
pub(super) struct TokenPositions {
    ends: Vec<u64>, // [M]
    positions: Vec<u32>,
}

impl TokenPositions {
    /// Returns the positions of a token; none if it is unlabeled.
    pub fn of(&self, token: usize) -> &[u32] {
        let Some(&end) = self.ends.get(token) else { return &[] };
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.positions[start as usize..end as usize]
    }

    /// Appends a token with these positions.
    fn push(&mut self, positions: &[u32]) {
        self.positions.extend_from_slice(positions);
        self.ends.push(self.positions.len() as u64);
    }
}

/// Sets the flags at these positions.
fn mark(seen: &mut [bool], positions: &[u32]) {
    positions.iter().for_each(|&position| seen[position as usize] = true);
}

impl ObservedLabels {
    /// Collects the labels and pairs of `data`, those of each token only if `by_token` is set.
    pub fn new(data: &Dataset, labels: usize, stride: usize, by_token: bool) -> Self {
        let mut seen = [labels * stride, stride, stride].map(|length| vec![false; length]);
        let mut at = <[TokenPositions; 2]>::default();
        let [mut before, mut current, mut pairs] = [(); 3].map(|()| Vec::new());
        for i in 0..data.labeled() {
            let last = data.sentence(i).len().saturating_sub(1);
            for (t, allowed) in data.target(i).tokens().enumerate() {
                current.clear();
                allowed.for_each(|label| current.push(label.index() as u32));
                pairs.clear();
                if t > 0 {
                    let pairs_with = |a| current.iter().map(move |b| a * stride as u32 + b);
                    pairs.extend(before.iter().flat_map(pairs_with));
                }
                let [seen_pairs, seen_first, seen_last] = &mut seen;
                mark(seen_pairs, &pairs);
                if t == 0 {
                    mark(seen_first, &current);
                }
                if t == last {
                    mark(seen_last, &current);
                }
                if by_token {
                    at[0].push(&current);
                    at[1].push(&pairs);
                }
                std::mem::swap(&mut before, &mut current);
            }
        }
        let labels = seen.map(|seen| {
            let positions = 0..seen.len() as u32;
            positions.filter(|&i| seen[i as usize]).collect()
        });
        Self { at, labels }
    }
}

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
            (0..rows.len()).flat_map(|row| rows.row(row).1).flatten().any(|&value| value < 0.0)
        };
        if min <= 0.0 && !is_negative(&data.nodes) && !is_negative(&data.edges) {
            return None;
        }
        let sentences = (0..data.len())
            .flat_map(|i| std::iter::repeat_n(data.weight(i), data.sentence(i).len()));
        Some(Self { data, labels, stride, min, weights: sentences.collect() })
    }

    /// Keeps the weights of attributes that are frequent enough. `at` are the positions of the
    /// scores of each token's labels.
    pub fn retain(&self, targets: Targets, rows: &SparseRows, at: &TokenPositions) -> Targets {
        let mut frequencies = vec![0.0; targets.weights()];
        for (token, weight) in self.weights.iter().enumerate() {
            for &position in at.of(token) {
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
    /// enough, among all of them or only those that occur.
    pub fn label_positions(&self, observed: &ObservedLabels, all: bool) -> [Vec<u32>; 3] {
        let [labels_at, pairs_at] = &observed.at;
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
                add(pairs, pairs_at.of(token));
            }
            if !tokens.is_empty() {
                add(first, labels_at.of(tokens.start));
                add(last, labels_at.of(tokens.end - 1));
            }
        }
        [0, 1, 2].map(|i| {
            let (frequencies, occurring) = (&frequencies[i], observed.labels[i].iter().copied());
            let is_frequent = |&position: &u32| frequencies[position as usize] >= self.min;
            let is_label = |&position: &u32| (position as usize) % self.stride < self.labels;
            let positions = 0..frequencies.len() as u32;
            match all {
                false => occurring.filter(is_frequent).collect(),
                true => positions.filter(is_label).filter(is_frequent).collect(),
            }
        })
    }
}
