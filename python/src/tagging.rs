//! Results of tagging and evaluation: objects of classes in Python, which are made of their
//! fields in order.

use dropchain::label::{Labeling, Span};
use dropchain::sentence::{OffsetUnit, Offsets};
use dropchain::tag::TaggedSentence;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// A class of the package `dropchain`.
pub struct Class<'py>(Bound<'py, PyAny>);

impl<'py> Class<'py> {
    /// Returns the class of this name.
    ///
    /// # Errors
    ///
    /// None of the classes there are.
    pub fn of(py: Python<'py>, name: &str) -> PyResult<Self> {
        py.import("dropchain")?.getattr(name).map(Self)
    }

    /// Makes an object.
    ///
    /// # Errors
    ///
    /// Errors of converting the fields.
    pub fn make(&self, fields: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.call1(fields)
    }
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
    let class = Class::of(py, "Span")?;
    let spans = labeling.spans(labels).into_iter().enumerate();
    let span = |(i, span): (usize, Span<'_>)| {
        let text = words.map(|words| words[span.start..span.end].join(" "));
        let probability = probabilities.and_then(|all| all.get(i));
        class.make((span.start, span.end, span.kind, text, probability))
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
    let [class, token, span] =
        ["TaggedSentence", "TextToken", "TextSpan"].map(|n| Class::of(py, n));
    let (class, token_class, span_class) = (class?, token?, span?);
    let part = |offsets: &Offsets| &text[offsets.bytes.clone()];
    let sentence = |sentence: &TaggedSentence| {
        let tokens = sentence.tokens.iter().map(|token| {
            let (place, text) = (token.offsets.in_unit(unit), part(&token.offsets));
            token_class.make((place.start, place.end, text, &token.label, token.probability))
        });
        let spans = sentence.spans.iter().map(|span| {
            let (place, tokens) = (span.offsets.in_unit(unit), &span.tokens);
            span_class.make((
                place.start,
                place.end,
                &span.kind,
                part(&span.offsets),
                tokens.start,
                tokens.end,
                span.probability,
            ))
        });
        let place = sentence.offsets.in_unit(unit);
        let (tokens, spans) =
            (tokens.collect::<PyResult<Vec<_>>>()?, spans.collect::<PyResult<Vec<_>>>()?);
        class.make((place.start, place.end, tokens, spans))
    };
    let sentences = tagged.iter().map(sentence);
    Class::of(py, "TaggedText")?.make((sentences.collect::<PyResult<Vec<_>>>()?,))
}
