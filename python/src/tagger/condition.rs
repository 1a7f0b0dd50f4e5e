//! What is known about the labels of a sentence.

use dropchain::label::Span;
use dropchain::sentence::TokenLabel;
use dropchain::tag::Condition;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::at;
use crate::inputs;
use crate::items::found;

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
        let parts = span.try_iter().and_then(Iterator::collect::<PyResult<Vec<_>>>);
        let parts = parts.and_then(|parts| PyTuple::new(span.py(), parts)?.extract());
        let (start, end, kind): (usize, usize, String) =
            parts.map_err(|_| found(&span, &format!("spans[{i}]"), "(first token, end, type)"))?;
        condition = condition.span(&Span { start, end, kind: &kind });
    }
    Ok(condition)
}
