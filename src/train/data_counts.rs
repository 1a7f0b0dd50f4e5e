//! Counts of training data, for information.

use crate::error::Result;
use crate::extract::Dataset;
use crate::ranks::Ranks;

/// Counts of training data, of all ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataCounts {
    pub labeled: SentenceCounts,
    pub unlabeled: SentenceCounts,
    /// Tokens of labeled sentences without a single label.
    pub partial_tokens: u64,
    /// Of labeled sentences, if some sentence has a weight other than 1.
    pub total_weight: Option<f64>,
}

/// Counts of labeled or of unlabeled sentences.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentenceCounts {
    pub sentences: u64,
    pub tokens: u64,
    attributes: u64, // of all tokens, nodes and edges
    collapsed: u64,  // classes of attributes
}

impl DataCounts {
    /// Counts sentences, given the attributes of labeled and of unlabeled ones before and after
    /// collapsing.
    pub fn new(data: &Dataset, attributes: [u64; 2], collapsed: [u64; 2]) -> Self {
        let [labeled, unlabeled] = attributes;
        Self {
            labeled: SentenceCounts {
                sentences: data.labeled() as u64,
                tokens: data.labeled_tokens() as u64,
                attributes: labeled,
                collapsed: collapsed[0],
            },
            unlabeled: SentenceCounts {
                sentences: data.unlabeled() as u64,
                tokens: (data.tokens() - data.labeled_tokens()) as u64,
                attributes: unlabeled,
                collapsed: collapsed[1],
            },
            partial_tokens: data.partial_tokens() as u64,
            total_weight: data.is_weighted().then(|| data.total_weights()[0]),
        }
    }

    /// Returns the attributes per token, of nodes and of edges, before and after collapsing.
    pub fn active_per_token(&self) -> [f64; 2] {
        let Self {
            labeled, unlabeled, ..
        } = self;
        let tokens = (labeled.tokens + unlabeled.tokens).max(1);
        let attributes = labeled.attributes + unlabeled.attributes;
        let collapsed = labeled.collapsed + unlabeled.collapsed;
        [attributes, collapsed].map(|count| count as f64 / tokens as f64)
    }

    /// Returns the counts of all ranks; `labeled_weight` is the weight of their labeled sentences.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`](crate::Error::Communication).
    pub fn over(mut self, ranks: &Ranks, labeled_weight: f64) -> Result<Self> {
        if ranks.has_own_unlabeled() {
            self.unlabeled = self.unlabeled.over(ranks)?;
            let is_weighted = u64::from(self.total_weight.is_some());
            let is_weighted = ranks.sum_counts([is_weighted])? != [0];
            self.total_weight = is_weighted.then_some(labeled_weight);
        }
        if ranks.has_own_labeled() {
            self.labeled = self.labeled.over(ranks)?;
            [self.partial_tokens] = ranks.sum_counts([self.partial_tokens])?;
        }
        Ok(self)
    }
}

impl SentenceCounts {
    fn over(self, ranks: &Ranks) -> Result<Self> {
        let counts = [self.sentences, self.tokens, self.attributes, self.collapsed];
        let [sentences, tokens, attributes, collapsed] = ranks.sum_counts(counts)?;
        Ok(Self {
            sentences,
            tokens,
            attributes,
            collapsed,
        })
    }
}

/// Counts the attributes of labeled and of unlabeled sentences, of nodes and of edges.
pub(super) fn entries(data: &Dataset) -> [u64; 2] {
    let labeled = data.labeled_tokens();
    [0..labeled, labeled..data.tokens()].map(|rows| {
        let matrices = [&data.nodes, &data.edges].into_iter();
        let entries = matrices.map(|matrix| matrix.row_entries(rows.clone()) as u64);
        entries.sum()
    })
}
