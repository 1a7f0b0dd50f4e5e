//! The confusion matrix.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::metrics::Counts;

/// A gold label and the wrong label predicted for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion<'a> {
    /// The gold label.
    pub gold: &'a str,
    /// The predicted label.
    pub predicted: &'a str,
    /// Number of tokens.
    pub count: u64,
}

/// Token counts by gold and predicted label.
///
/// Ordered maps make the order of all lists deterministic.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfusionMatrix {
    counts: BTreeMap<String, BTreeMap<String, u64>>, // gold, then predicted
}

impl ConfusionMatrix {
    /// Counts a token; allocates only for a new pair of labels.
    pub fn add(&mut self, gold: &str, predicted: &str) {
        let known = self
            .counts
            .get_mut(gold)
            .and_then(|row| row.get_mut(predicted));
        if let Some(count) = known {
            *count += 1;
        } else {
            let row = self.counts.entry(gold.to_owned()).or_default();
            row.insert(predicted.to_owned(), 1);
        }
    }

    fn iter(&self) -> impl Iterator<Item = Confusion<'_>> {
        self.counts.iter().flat_map(|(gold, row)| {
            row.iter().map(|(predicted, &count)| Confusion {
                gold,
                predicted,
                count,
            })
        })
    }

    /// Token counts per label, labels in bytewise order.
    pub fn labels(&self) -> Vec<(&str, Counts)> {
        let mut labels: BTreeMap<&str, Counts> = BTreeMap::new();
        for pair in self.iter() {
            labels.entry(pair.gold).or_default().gold += pair.count;
            let counts = labels.entry(pair.predicted).or_default();
            counts.predicted += pair.count;
            if pair.gold == pair.predicted {
                counts.correct += pair.count;
            }
        }
        labels.into_iter().collect()
    }

    /// The `limit` most frequent pairs of different labels.
    pub fn most_frequent(&self, limit: usize) -> Vec<Confusion<'_>> {
        let mut pairs: Vec<_> = self.iter().filter(|c| c.gold != c.predicted).collect();
        pairs.sort_by_key(|c| Reverse(c.count)); // stable: ties keep bytewise order
        pairs.truncate(limit);
        pairs
    }
}
