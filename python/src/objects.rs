//! Objects of Python: of its classes, which are made of their fields in order, and of JSON.

use dropchain::label::{Labeling, Span};
use dropchain::sentence::{Attributes, OffsetUnit, Offsets};
use dropchain::tag::TaggedSentence;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};
use serde::Serialize;
use serde_json::json;

/// The reduced form for pickle of what bytes restore: a function and its arguments.
pub type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// Sets items of a dict to the fields of an object under their names: `fields!(dict, object,
/// [number, score])`.
macro_rules! fields {
    ($dict:expr, $object:expr, [$($name:ident),+ $(,)?]) => {
        $( $dict.set_item(stringify!($name), &$object.$name)?; )+
    };
}

pub(crate) use fields;

/// Returns what serializes to JSON as an object of Python.
///
/// # Errors
///
/// None of what serializes.
pub fn object<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json!(value).to_string(),))
}

/// Returns the attributes of each token with their values.
///
/// # Errors
///
/// None of attributes.
pub fn attribute_dicts<'py>(
    py: Python<'py>,
    attributes: &Attributes,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    (0..attributes.len()).map(|t| attributes.token(t).into_py_dict(py)).collect()
}

/// Returns the class of this name.
///
/// # Errors
///
/// None of the classes there are.
pub fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("dropchain")?.getattr(name)
}

/// Returns the spans that labels encode, of these words and with a probability for each, if they
/// are known.
///
/// # Errors
///
/// None of labels.
pub fn token_spans<'py>(
    py: Python<'py>,
    labels: &[String],
    labeling: &Labeling,
    words: Option<&[String]>,
    probabilities: Option<&[f64]>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let class = class(py, "Span")?;
    let spans = labeling.spans(labels).into_iter().enumerate();
    let span = |(i, span): (usize, Span<'_>)| {
        let text = words.map(|words| words[span.start..span.end].join(" "));
        let probability = probabilities.and_then(|all| all.get(i));
        class.call1((span.start, span.end, span.kind, text, probability))
    };
    spans.map(span).collect()
}

/// Converts the sentences of `text`, with positions in a unit, to a list that shows itself in
/// notebooks.
///
/// # Errors
///
/// None of tagged text.
pub fn sentences<'py>(
    py: Python<'py>,
    text: &str,
    tagged: &[TaggedSentence],
    unit: OffsetUnit,
) -> PyResult<Bound<'py, PyAny>> {
    let token_class = class(py, "TextToken")?;
    let span_class = class(py, "TextSpan")?;
    let sentence_class = class(py, "TaggedSentence")?;
    let text_class = class(py, "TaggedText")?;
    let part = |offsets: &Offsets| &text[offsets.bytes.clone()];
    let sentence = |sentence: &TaggedSentence| {
        let tokens = sentence.tokens.iter().map(|token| {
            let (place, text) = (token.offsets.in_unit(unit), part(&token.offsets));
            token_class.call1((place.start, place.end, text, &token.label, token.probability))
        });
        let spans = sentence.spans.iter().map(|span| {
            let place = span.offsets.in_unit(unit);
            span_class.call1((
                place.start,
                place.end,
                &span.kind,
                part(&span.offsets),
                span.tokens.start,
                span.tokens.end,
                span.probability,
            ))
        });
        let place = sentence.offsets.in_unit(unit);
        let tokens = tokens.collect::<PyResult<Vec<_>>>()?;
        let spans = spans.collect::<PyResult<Vec<_>>>()?;
        sentence_class.call1((place.start, place.end, tokens, spans))
    };
    let sentences = tagged.iter().map(sentence).collect::<PyResult<Vec<_>>>()?;
    text_class.call1((sentences,))
}
