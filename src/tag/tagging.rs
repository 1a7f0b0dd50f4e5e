//! The options and the result of tagging a sentence, and the memory that it takes.

use crate::chain::{Marginals, padded};
use crate::ids::LabelId;

/// What to compute for a sentence besides its best label sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagOptions {
    /// Whether only label sequences that are legal in the label scheme may be predicted.
    pub constrain: bool,
    /// Whether to compute the marginal p(label | sentence) of every token and label.
    pub marginals: bool,
    /// Number of label sequences to return, best first. With 0 or 1, [`Tagging::nbest`] stays
    /// empty: the best sequence is in [`Tagging::labels`].
    pub nbest: usize,
    /// Whether to compute the probability of the predicted sequence.
    pub probability: bool,
}

impl TagOptions {
    /// Returns the default options with marginals.
    pub(super) fn with_marginals() -> Self {
        Self { marginals: true, ..Self::default() }
    }

    /// Returns whether they take forward-backward.
    pub(super) fn has_probabilities(self) -> bool {
        self.marginals || self.probability || self.nbest > 1
    }

    /// Returns the size in bytes of all arrays for a sentence, and of the result, given the numbers
    /// of tokens T and of labels K, and whether label pairs have scores of their own at each token.
    pub(super) fn memory(self, tokens: usize, labels: usize, has_edges: bool) -> u64 {
        let row = padded(labels) as u64;
        // Short sentences have fewer paths: K to the power T.
        let exponent = u32::try_from(tokens).unwrap_or(u32::MAX);
        let [tokens, labels] = [tokens, labels].map(|n| n as u64);
        let edges = if has_edges { labels.saturating_mul(row) } else { 0 };
        // Node scores and Viterbi scores; in the lattice, potentials, messages and marginals.
        let mut numbers = edges + 2 * row;
        if self.has_probabilities() {
            numbers += edges + 5 * row + 2;
        }
        if self.marginals {
            numbers += labels;
        }
        let arrays = numbers.saturating_mul(8).saturating_mul(tokens);
        let paths = match self.nbest as u64 {
            0 | 1 => 0,
            nbest => nbest.min(labels.saturating_pow(exponent)),
        };
        // A queued partial path; for each token, an expanded one and the label of two results.
        let path = tokens.saturating_mul(24 + 4).saturating_add(64);
        arrays.saturating_add(paths.saturating_mul(path))
    }
}

impl Default for TagOptions {
    fn default() -> Self {
        Self { constrain: true, marginals: false, nbest: 1, probability: false }
    }
}

/// A label sequence with its score and probability.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelPath {
    /// Labels, `[T]`.
    pub labels: Vec<LabelId>,
    /// Sum of the weights along the sequence.
    pub score: f64,
    /// p(labels | sentence), normalized over all sequences, legal or not.
    pub probability: f64,
}

/// The predictions for a sentence.
///
/// [`Tagger::label_names`](super::Tagger::label_names) turns labels into strings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tagging {
    /// The best label sequence, `[T]`.
    pub labels: Vec<LabelId>,
    /// p(label | sentence), `[T][K]`, if requested.
    pub marginals: Option<Marginals>,
    /// p(best label sequence | sentence), if requested.
    pub probability: Option<f64>,
    /// The probability of each span that the labels encode, in order; if they encode none, of each
    /// label; if [`Tagger::mark`](super::Tagger::mark) has computed them.
    pub mark_probabilities: Option<Vec<f64>>,
    /// The n best sequences, best first, if more than one was requested.
    pub nbest: Vec<LabelPath>,
}

impl Tagging {
    /// The memory usage in bytes.
    pub fn memory(&self) -> usize {
        let paths = self.nbest.iter().map(|path| &path.labels).chain([&self.labels]);
        let labels: usize = paths.map(|labels| size_of_val(&labels[..])).sum();
        let marginals = self.marginals.as_ref().map_or(0, |m| size_of_val(m.values()));
        let marks = self.mark_probabilities.as_ref().map_or(0, |p| size_of_val(&p[..]));
        size_of::<Self>() + self.nbest.len() * size_of::<LabelPath>() + marginals + marks + labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(tokens: usize, labels: usize, has_edges: bool, options: TagOptions) -> u64 {
        options.memory(tokens, labels, has_edges)
    }

    #[test]
    fn edge_scores_take_most_of_the_memory() {
        let options = TagOptions::default();
        let square = 4096_u64 * 4096 * 8;
        assert_eq!(bytes(10, 4096, true, options), 10 * (square + 2 * 4096 * 8));
        assert_eq!(bytes(10, 4096, false, options), 10 * 2 * 4096 * 8);
        let marginals = TagOptions { marginals: true, ..options };
        assert!(bytes(10, 4096, true, marginals) > 20 * square);
    }

    #[test]
    fn paths_are_counted_up_to_their_number() {
        let options = |nbest| TagOptions { nbest, ..TagOptions::default() };
        let paths = |tokens, nbest| {
            bytes(tokens, 3, false, options(nbest)) - bytes(tokens, 3, false, options(2))
        };
        assert_eq!(paths(1, 100_000), paths(1, 3));
        assert!(paths(1000, 100_000) > 2_000_000_000);
    }

    #[test]
    fn sizes_beyond_64_bits_do_not_wrap() {
        let options = TagOptions { marginals: true, nbest: usize::MAX, ..TagOptions::default() };
        assert_eq!(bytes(usize::MAX, 4096, true, options), u64::MAX);
    }
}
