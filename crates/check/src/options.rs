//! How to check a corpus.

use dropchain::corpus::ReadOptions;
use dropchain::label::PlainLabels;

/// How to check a corpus.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// How to read files: as for training.
    pub read: ReadOptions,
    /// What labels without a prefix are.
    pub plain_labels: PlainLabels,
    /// The number of examples of each kind of problem that are kept.
    pub examples: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            plain_labels: PlainLabels::Auto,
            examples: 5,
        }
    }
}
