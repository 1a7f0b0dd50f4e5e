//! The labels and label pairs that occur in training data.

use crate::extract::{Allowed, Dataset, Target};

/// Label pairs, first labels and last labels that occur in the training data, as positions in rows
/// of scores.
///
/// Of a token that may have several labels, each of them occurs; of one that may have any, none
/// does.
pub(super) struct ObservedLabels {
    /// Labels of each token; empty unless requested.
    pub labels_at: TokenPositions,
    /// Pairs of the previous label and the label of each token; empty unless requested.
    pub pairs_at: TokenPositions,
    /// Ascending.
    pub pairs: Vec<u32>,
    /// Ascending.
    pub first: Vec<u32>,
    /// Ascending.
    pub last: Vec<u32>,
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
        let Some(&end) = self.ends.get(token) else {
            return &[];
        };
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.positions[start as usize..end as usize]
    }

    /// Appends a token with these positions.
    fn push(&mut self, positions: &[u32]) {
        self.positions.extend_from_slice(positions);
        self.ends.push(self.positions.len() as u64);
    }
}

impl ObservedLabels {
    /// Collects the labels and pairs of `data`, those of each token only if `by_token` is set.
    pub fn new(data: &Dataset, labels: usize, stride: usize, by_token: bool) -> Self {
        let mut occurring = Occurring {
            pairs: vec![false; labels * stride],
            first: vec![false; stride],
            last: vec![false; stride],
            stride,
        };
        let [mut labels_at, mut pairs_at] = [(); 2].map(|()| TokenPositions::default());
        let [mut before, mut current, mut pairs] = [(); 3].map(|()| Vec::new());
        for i in 0..data.labeled() {
            let last = data.sentence(i).len().saturating_sub(1);
            let mut visit = |t: usize, allowed: Allowed<'_>| {
                current.clear();
                allowed.for_each(|label| current.push(label.index() as u32));
                occurring.add(t, last, [&before, &current], &mut pairs);
                if by_token {
                    labels_at.push(&current);
                    pairs_at.push(&pairs);
                }
                std::mem::swap(&mut before, &mut current);
            };
            match data.target(i) {
                Target::Gold(labels) => {
                    let labels = labels.iter().enumerate();
                    labels.for_each(|(t, &label)| visit(t, Allowed::One(label)));
                }
                Target::Allowed(labels) => {
                    let labels = labels.iter().enumerate();
                    labels.for_each(|(t, allowed)| visit(t, allowed));
                }
                Target::Unlabeled => {}
            }
        }
        Self {
            labels_at,
            pairs_at,
            pairs: positions(&occurring.pairs),
            first: positions(&occurring.first),
            last: positions(&occurring.last),
        }
    }
}

/// Flags of what occurs.
struct Occurring {
    pairs: Vec<bool>, // [K][S]
    first: Vec<bool>, // [S]
    last: Vec<bool>,  // [S]
    stride: usize,
}

impl Occurring {
    /// Adds token `t` of a sentence, given the labels of the previous token and its own. Writes the
    /// positions of their pairs to `pairs`.
    fn add(&mut self, t: usize, last: usize, labels: [&[u32]; 2], pairs: &mut Vec<u32>) {
        let [before, current] = labels;
        pairs.clear();
        if t == 0 {
            current.iter().for_each(|&b| self.first[b as usize] = true);
        } else {
            let stride = self.stride as u32;
            for a in before {
                pairs.extend(current.iter().map(|b| a * stride + b));
            }
        }
        if t == last {
            current.iter().for_each(|&b| self.last[b as usize] = true);
        }
        pairs
            .iter()
            .for_each(|&pair| self.pairs[pair as usize] = true);
    }
}

/// Returns the positions of the flags that are set.
fn positions(seen: &[bool]) -> Vec<u32> {
    let positions = 0..seen.len() as u32;
    positions.filter(|&i| seen[i as usize]).collect()
}
