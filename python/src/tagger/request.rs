//! What is asked for of the sentences of a call, and what is known about their labels.

use dropchain::label::Span;
use dropchain::model::Header;
use dropchain::tag::{Condition, TagOptions, Threshold};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::error::{at, exception};
use crate::inputs;
use crate::items::found;

/// What is computed of each sentence.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub options: TagOptions,
    /// What is known about the labels.
    pub condition: Condition,
    /// Spans below it are left out; with it, the probabilities of spans are computed.
    pub threshold: Option<Threshold>,
}

impl Request {
    /// The best labels alone.
    pub fn labels(constrain: bool) -> Self {
        let options = TagOptions { constrain, ..TagOptions::default() };
        Self { options, ..Self::default() }
    }

    /// Adds the probabilities of spans.
    pub fn with_probabilities(mut self, wanted: bool) -> Self {
        if wanted {
            self.threshold.get_or_insert_default();
        }
        self
    }

    /// Sets the lowest probability of spans: a number, a dict by type, or the text of either.
    ///
    /// # Errors
    ///
    /// `ValueError` if it is none of these, or does not fit the labels of the model.
    pub fn with_threshold(
        mut self,
        header: &Header,
        value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if let Some(value) = value {
            let threshold = threshold(value)?;
            threshold.check(header).map_err(exception)?;
            self.threshold = Some(threshold);
        }
        Ok(self)
    }
}

fn threshold(value: &Bound<'_, PyAny>) -> PyResult<Threshold> {
    let threshold = if let Ok(text) = value.cast::<PyString>() {
        text.to_cow()?.parse()
    } else if let Ok(types) = value.cast::<PyDict>() {
        let types = types.iter().map(|(kind, least)| Ok((kind.extract()?, least.extract()?)));
        Threshold::new(0.0, types.collect::<PyResult<_>>()?)
    } else if let Ok(least) = value.extract::<f64>() {
        Threshold::new(least, Vec::new())
    } else {
        let expected = "a probability such as 0.8, or one by type such as {'PER': 0.9}";
        return Err(found(value, "threshold", expected));
    };
    threshold.map_err(exception)
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
        let label = inputs::label(&label).map_err(|e| at(|| format!("known[{t}]"), e))?;
        condition = condition.label(t, label);
    }
    let spans = spans.map(PyAnyMethods::try_iter).transpose()?;
    for (i, span) in spans.into_iter().flatten().enumerate() {
        let span = span?;
        let parts = span.try_iter().and_then(Iterator::collect::<PyResult<Vec<_>>>);
        let parts = parts.and_then(|parts| PyTuple::new(span.py(), parts)?.extract());
        let (start, end, kind): (usize, usize, String) =
            parts.map_err(|_| found(&span, &format!("spans[{i}]"), "(first token, end, type)"))?;
        condition = condition.span(&Span { start, end, kind: &kind });
    }
    Ok(condition)
}
