//! The sentences that a tagger takes, and what is known about them.

use std::sync::Arc;

use dropchain::Sentence;
use dropchain::corpus::TokenLabel;
use dropchain::label::Span;
use dropchain::tag::{Condition, KeyedSentence, TagInput};
use dropchain_analysis::words_to_explain;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{at, exception};
use crate::inputs::{self, SentenceReader};
use crate::items::{ItemReader, found};
use crate::tokens::FeatureSink;

/// Reads the sentences that a model can tag.
pub enum Reader {
    /// Words, or values of columns.
    Words(SentenceReader),
    /// Features.
    Features(ItemReader),
}

/// A sentence that is ready to be tagged.
#[derive(Clone)]
pub enum Prepared {
    /// A sentence of columns.
    Sentence(Arc<Sentence>),
    /// A sentence of features.
    Keyed(Arc<KeyedSentence>),
}

/// A sentence that was read for a tagger, which takes it in place of the original.
#[pyclass(frozen, name = "PreparedSentence", module = "dropchain._dropchain")]
pub struct PyPreparedSentence(pub Prepared);

#[pymethods]
impl PyPreparedSentence {
    fn __len__(&self) -> usize {
        self.0.len()
    }
}

impl Prepared {
    /// Returns it as the library takes it.
    pub fn input(&self) -> TagInput<'_> {
        match self {
            Self::Sentence(sentence) => (&**sentence).into(),
            Self::Keyed(sentence) => (&**sentence).into(),
        }
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        match self {
            Self::Sentence(sentence) => sentence.len(),
            Self::Keyed(sentence) => sentence.len(),
        }
    }

    /// Returns the words; numbers if there are only features.
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Sentence(sentence) => words_to_explain(sentence),
            Self::Keyed(_) => (1..=self.len()).map(|t| format!("token {t}")).collect(),
        }
    }

    /// Returns whether it is a document boundary, which has no labels.
    pub fn is_boundary(&self) -> bool {
        matches!(self, Self::Sentence(sentence) if sentence.layout.document_start)
    }
}

impl FeatureSink for KeyedSentence {
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        inputs::check_feature(name, value)?;
        self.attribute(name, value).map_err(exception)
    }

    fn end_token(&mut self, _t: usize) -> PyResult<()> {
        Self::end_token(self);
        Ok(())
    }
}

/// Reads what is known about the labels of a sentence.
///
/// # Errors
///
/// `ValueError` that names the token or the span.
pub fn condition(
    known: Option<&Bound<'_, PyDict>>,
    spans: Option<&Bound<'_, PyAny>>,
) -> PyResult<Condition> {
    let mut condition = Condition::new();
    for (token, label) in known.iter().flat_map(|known| known.iter()) {
        let Ok(t) = token.extract::<usize>() else {
            return Err(found(&token, "a token of `known`", "its index, from 0"));
        };
        let label = inputs::label(&label);
        let place = || format!("known[{t}]");
        let label: TokenLabel = label.map_err(|e| at(token.py(), place, e))?;
        condition = condition.label(t, label);
    }
    let spans = spans.map(PyAnyMethods::try_iter).transpose()?;
    for (i, span) in spans.into_iter().flatten().enumerate() {
        let span = span?;
        let parts = span.extract::<(usize, usize, String)>();
        let (start, end, kind) =
            parts.map_err(|_| found(&span, &format!("spans[{i}]"), "(first token, end, type)"))?;
        condition = condition.span(&Span { start, end, kind: &kind });
    }
    Ok(condition)
}
