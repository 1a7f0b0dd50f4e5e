//! Sentences as numbers: the input of training and of dev scoring.

use std::sync::Arc;

use super::matrix::SparseRows;
use crate::ids::LabelId;

/// N sentences of M tokens in all, as sparse matrices and labels.
///
/// Clones share the matrices.
#[derive(Clone, Debug, Default, Hash)]
pub struct Dataset {
    pub(super) ends: Vec<u64>, // [N] end of each sentence, in tokens
    /// Node attributes, M rows.
    pub nodes: Arc<SparseRows>,
    /// Edge attributes, M rows. The row of a token belongs to the edge into it, so the row of the
    /// first token of a sentence is empty.
    pub edges: Arc<SparseRows>,
    /// Labels of the first sentences, concatenated. The sentences after them are unlabeled.
    pub labels: Vec<LabelId>,
}

impl Dataset {
    /// Returns the number of sentences N.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of tokens M.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Returns the tokens of sentence `i`.
    #[must_use]
    pub fn sentence(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        start..self.ends[i] as usize
    }

    /// Returns the number of labeled sentences, which come first.
    #[must_use]
    pub fn labeled(&self) -> usize {
        self.ends
            .partition_point(|&end| end <= self.labels.len() as u64)
    }

    /// Returns the number of unlabeled sentences.
    #[must_use]
    pub fn unlabeled(&self) -> usize {
        self.len() - self.labeled()
    }

    /// Copies some of the sentences, labeled ones first, omitting the entries of columns that are
    /// not retained. `retained` has a flag for each column of nodes and of edges; columns keep
    /// their numbers.
    pub(crate) fn select(&self, sentences: &[usize], retained: &[Vec<bool>; 2]) -> Self {
        let mut selected = Self::default();
        let [mut nodes, mut edges] = [(); 2].map(|()| SparseRows::default());
        for &i in sentences {
            let tokens = self.sentence(i);
            let labels = self.labels.get(tokens.clone()).unwrap_or_default();
            selected.labels.extend_from_slice(labels);
            for row in tokens {
                nodes.push_row_from(&self.nodes, row, &retained[0]);
                edges.push_row_from(&self.edges, row, &retained[1]);
            }
            selected.ends.push(nodes.len() as u64);
        }
        selected.nodes = Arc::new(nodes);
        selected.edges = Arc::new(edges);
        selected
    }

    /// Returns the memory usage in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        8 * self.ends.capacity()
            + 2 * self.labels.capacity()
            + self.nodes.memory()
            + self.edges.memory()
    }
}
