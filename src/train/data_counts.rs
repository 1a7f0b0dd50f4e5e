//! Counts of training data, for information.

use crate::extract::Dataset;

/// Counts of training data.
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
