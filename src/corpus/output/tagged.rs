//! Sentences with predicted labels.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::label::Scheme;
use crate::sentence::Sentence;

/// The word written for a token without one (CRFsuite's format).
const NO_WORD: &str = "_";

/// A sentence with the labels predicted for it.
#[derive(Clone, Debug)]
pub struct Tagged<'a> {
    /// The sentence, as it was read.
    pub sentence: &'a Sentence,
    /// The predicted labels, `[T]`; ignored for a document boundary.
    pub labels: Vec<&'a str>,
    /// The scheme of the labels. Only the plain scheme makes a difference; the spans of the others
    /// are decoded alike.
    pub scheme: Scheme,
    /// The marginal probability of each label at each token, best first, `[T][K]`.
    pub marginals: Option<Vec<Vec<(&'a str, f64)>>>,
    /// The probability of the label sequence.
    pub probability: Option<f64>,
    /// The probability of each span that the labels encode, in order; if they encode none, of each
    /// label, `[T]`. For formats that mark spans in texts.
    pub mark_probabilities: Option<Vec<f64>>,
    /// The n best label sequences, best first; empty if not requested.
    pub nbest: Vec<Candidate<'a>>,
}

/// One of the n best label sequences of a sentence.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate<'a> {
    /// Its labels, `[T]`.
    pub labels: Vec<&'a str>,
    /// Its unnormalized log-probability.
    pub score: f64,
    /// Its probability.
    pub probability: f64,
}

impl<'a> Tagged<'a> {
    /// A sentence with labels, without marginals or candidates.
    #[must_use]
    pub fn new(sentence: &'a Sentence, labels: Vec<&'a str>) -> Self {
        Self {
            sentence,
            labels,
            scheme: Scheme::Raw,
            marginals: None,
            probability: None,
            mark_probabilities: None,
            nbest: Vec::new(),
        }
    }

    /// The marginal probability of `label` at token `t`, if there are marginals.
    #[must_use]
    pub fn marginal(&self, t: usize, label: &str) -> Option<f64> {
        let token = self.marginals.as_ref()?.get(t)?;
        let found = token.iter().find(|(name, _)| *name == label);
        found.map(|(_, probability)| *probability)
    }

    /// The word of token `t`; `_` if the input has no words.
    #[must_use]
    pub fn word(&self, t: usize) -> &'a str {
        let schema = self.sentence.schema();
        let first = (schema.width() > 0 && schema.label() != Some(0)).then_some(0);
        let column = schema.position("word").or(first);
        column.map_or(NO_WORD, |column| self.sentence.cell(t, column))
    }

    /// The text that the offsets of the tokens refer to, if there are both.
    #[must_use]
    pub fn source_text(&self) -> Option<&'a str> {
        let source = self.sentence.layout.source.as_deref();
        source.filter(|_| !self.sentence.offsets.is_empty())
    }

    /// Checks that labels, marginals and candidates have one entry per token.
    pub(super) fn check(&self) -> Result<()> {
        let tokens = self.sentence.len();
        let error = |what: &str, found: usize| {
            let place = self.sentence.place(0);
            Err(Error::parameter(format!(
                "{place}: {found} {what} for a sentence of {tokens} tokens"
            )))
        };
        if self.labels.len() != tokens {
            return error("labels", self.labels.len());
        }
        if let Some(marginals) = &self.marginals
            && marginals.len() != tokens
        {
            return error("marginals", marginals.len());
        }
        match self.nbest.iter().find(|path| path.labels.len() != tokens) {
            Some(path) => error("labels in a candidate", path.labels.len()),
            None => Ok(()),
        }
    }
}
