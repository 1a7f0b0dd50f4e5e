//! Training data with ready-made features, in the compact form of the library.

use dropchain::sentence::TokenLabel;
use dropchain::train::AttributeCorpus;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::exception;
use crate::items::ItemReader;
use crate::tokens::{FeatureSink, Place, Tokens};

/// Adds the features of a sentence with what is known about its labels, `[T]`. The places are
/// those of the sentence and of the labels in messages.
///
/// # Errors
///
/// `ValueError` that begins with a place; the corpus then is as before.
pub fn push(
    corpus: &mut AttributeCorpus,
    items: &mut ItemReader,
    tokens: &Tokens<'_>,
    labels: &[TokenLabel],
    [place, label_place]: [Place<'_>; 2],
) -> PyResult<()> {
    let mut sink = SentenceSink { corpus, labels, place: label_place };
    let read = tokens.read(items, &mut sink, place);
    let read = read.and_then(|()| corpus.end_sentence().map_err(exception));
    read.inspect_err(|_| corpus.discard_sentence())
}

/// Receives the features of a sentence.
struct SentenceSink<'a> {
    corpus: &'a mut AttributeCorpus,
    labels: &'a [TokenLabel], // [T]
    place: Place<'a>,
}

impl FeatureSink for SentenceSink<'_> {
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.corpus.attribute(name, value).map_err(exception)
    }

    fn end_token(&mut self, t: usize) -> PyResult<()> {
        let ended = match &self.labels[t] {
            TokenLabel::Known(label) => self.corpus.end_token(Some(label)),
            TokenLabel::OneOf(labels) => {
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                self.corpus.end_token_one_of(&labels)
            }
            TokenLabel::Unknown => self.corpus.end_token(None),
        };
        ended.map_err(|e| PyValueError::new_err(format!("{}[{t}]: {e}", (self.place)())))
    }
}
