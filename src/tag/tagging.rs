//! The options and the result of tagging a sentence.

use crate::chain::Marginals;
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

impl Default for TagOptions {
    fn default() -> Self {
        Self {
            constrain: true,
            marginals: false,
            nbest: 1,
            probability: false,
        }
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
    /// The n best sequences, best first, if more than one was requested.
    pub nbest: Vec<LabelPath>,
}
