//! A sentence with labels, wherever they are stored.

use crate::error::{Error, Result};
use crate::extract::{Allowed, AttributeCorpus, Target};
use crate::label::SchemeDetector;
use crate::sentence::{JoinedColumns, Sentence};

/// A sentence with labels.
pub(super) trait LabeledSentence {
    /// Returns the label of each token, `[T]`: of partial labels the text, or one of them.
    ///
    /// # Errors
    ///
    /// The sentence has no labels.
    fn labels(&self) -> Result<Vec<&str>>;

    /// Returns the labels that each token may have, none for any, if some labels are partial.
    fn allowed(&self) -> Option<Vec<Vec<&str>>>;

    /// Returns the columns that the labels join, if they join several.
    fn joined(&self) -> Option<&JoinedColumns> {
        None
    }

    /// Shows the labels to a detector.
    ///
    /// # Errors
    ///
    /// The sentence has no labels.
    fn observe(&self, detector: &mut SchemeDetector) -> Result<()> {
        match self.allowed() {
            Some(allowed) => detector.observe_partial(&allowed, |_| None),
            None => detector.observe(&self.labels()?),
        }
        Ok(())
    }

    /// Returns an error at token `t`.
    fn fault(&self, t: usize, message: String) -> Error;
}

/// Returns the labels of development data, `[sentences][T]`.
///
/// # Errors
///
/// At the first token without labels or with a partial one.
pub(super) fn gold_labels<S: LabeledSentence>(sentences: &[S]) -> Result<Vec<Vec<String>>> {
    let gold = sentences.iter().map(|sentence| {
        let labels = sentence.labels()?;
        let Some(allowed) = sentence.allowed() else {
            return Ok(labels.into_iter().map(str::to_owned).collect());
        };
        let t = allowed.iter().position(|set| set.len() != 1).unwrap_or(0);
        let message = format!(
            "found the partial label '{}'; development data need one label for every token",
            labels[t]
        );
        Err(sentence.fault(t, message))
    });
    gold.collect()
}

impl LabeledSentence for Sentence {
    fn labels(&self) -> Result<Vec<&str>> {
        Self::labels(self).ok_or_else(|| {
            self.fault(
                0,
                "found no label column; training needs labels (choose the column with `label`)"
                    .to_owned(),
            )
        })
    }

    fn allowed(&self) -> Option<Vec<Vec<&str>>> {
        self.allowed_labels()
    }

    fn observe(&self, detector: &mut SchemeDetector) -> Result<()> {
        LabeledSentence::labels(self)?;
        detector.observe_sentence(self);
        Ok(())
    }

    fn joined(&self) -> Option<&JoinedColumns> {
        self.schema().joined()
    }

    fn fault(&self, t: usize, message: String) -> Error {
        Error::input(Self::place(self, t), message)
    }
}

/// A labeled sentence of an attribute corpus.
#[derive(Clone, Copy)]
pub(super) struct AttributeSentence<'a> {
    corpus: &'a AttributeCorpus,
    index: usize,
}

impl<'a> AttributeSentence<'a> {
    /// Returns the labeled sentences of a corpus.
    pub fn all(corpus: &'a AttributeCorpus) -> Vec<Self> {
        let sentences = 0..corpus.labeled().len();
        sentences.map(|index| Self { corpus, index }).collect()
    }
}

impl LabeledSentence for AttributeSentence<'_> {
    fn labels(&self) -> Result<Vec<&str>> {
        if let Target::Gold(labels) = self.corpus.labeled().target(self.index) {
            return Ok(labels.iter().map(|&id| self.corpus.label_name(id)).collect());
        }
        let sets = self.allowed().unwrap_or_default().into_iter();
        Ok(sets.map(|set| set.first().copied().unwrap_or("_")).collect())
    }

    fn allowed(&self) -> Option<Vec<Vec<&str>>> {
        let Target::Allowed(allowed) = self.corpus.labeled().target(self.index) else {
            return None;
        };
        let names = |token: Allowed<'_>| {
            let mut names = Vec::new();
            token.for_each(|id| names.push(self.corpus.label_name(id)));
            names
        };
        Some(allowed.iter().map(names).collect())
    }

    fn fault(&self, t: usize, message: String) -> Error {
        let (sentence, token) = (self.index + 1, t + 1);
        Error::parameter(format!("labeled sentence {sentence}, token {token}: {message}"))
    }
}
