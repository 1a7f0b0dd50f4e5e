//! The sentences of a training run.

use crate::corpus::Corpus;
use crate::sentence::Sentence;

/// The corpora of a training run.
///
/// A [`Corpus`] alone is a training corpus without development data; more is added by
/// [`dev`](Self::dev()) and [`unlabeled`](Self::unlabeled()).
#[derive(Clone, Debug, Default)]
pub struct TrainingCorpora {
    /// Labeled sentences.
    pub labeled: Corpus,
    /// Development data, for early stopping.
    pub dev: Option<Corpus>,
    /// Sentences that only the noise term uses; any labels are ignored. Without noise they have no
    /// effect.
    pub unlabeled: Corpus,
}

impl TrainingCorpora {
    /// Creates corpora of labeled sentences only.
    #[must_use]
    pub fn new(labeled: impl Into<Corpus>) -> Self {
        Self {
            labeled: labeled.into(),
            ..Self::default()
        }
    }

    /// Adds development data.
    #[must_use]
    pub fn dev(mut self, dev: impl Into<Corpus>) -> Self {
        self.dev = Some(dev.into());
        self
    }

    /// Adds unlabeled sentences.
    #[must_use]
    pub fn unlabeled(mut self, unlabeled: impl Into<Corpus>) -> Self {
        self.unlabeled = unlabeled.into();
        self
    }
}

impl From<Corpus> for TrainingCorpora {
    fn from(labeled: Corpus) -> Self {
        Self::new(labeled)
    }
}

impl From<Vec<Sentence>> for TrainingCorpora {
    fn from(labeled: Vec<Sentence>) -> Self {
        Self::new(labeled)
    }
}

/// Returns whether a sentence has tokens and is not a document boundary.
pub fn is_content(sentence: &Sentence) -> bool {
    !sentence.is_empty() && !sentence.layout.document_start
}
