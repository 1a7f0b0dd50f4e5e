//! What tagging returns.

use std::ops::Range;

use dropchain::tag::{Offsets, TaggedSentence};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// A span of tokens, such as a name.
#[pyclass(name = "Span", module = "dropchain", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PySpan {
    /// The first token.
    #[pyo3(get)]
    pub start: usize,
    /// One past the last token.
    #[pyo3(get)]
    pub end: usize,
    /// The type, such as ``PER``.
    #[pyo3(get, name = "type")]
    pub kind: String,
}

#[pymethods]
impl PySpan {
    #[new]
    fn new(start: usize, end: usize, r#type: String) -> Self {
        Self {
            start,
            end,
            kind: r#type,
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let parts = (self.start, self.end, &self.kind).into_pyobject(py)?;
        parts.as_any().try_iter().map(Bound::into_any)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, pyo3::types::PyType>, (usize, usize, String)) {
        let span = slf.get();
        (slf.get_type(), (span.start, span.end, span.kind.clone()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let kind = PyString::new(py, &self.kind).repr()?;
        Ok(format!(
            "Span(start={}, end={}, type={kind})",
            self.start, self.end
        ))
    }
}

/// A label sequence with its probability.
#[pyclass(name = "Path", module = "dropchain", frozen, get_all)]
pub struct PyPath {
    /// The label of each token.
    pub labels: Py<PyList>,
    /// The sum of the weights along the sequence.
    pub score: f64,
    /// Its probability.
    pub probability: f64,
}

#[pymethods]
impl PyPath {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let labels = self.labels.bind(py).repr()?;
        Ok(format!("Path({labels}, probability={})", self.probability))
    }
}

/// What :meth:`Tagger.analyze` returns.
#[pyclass(name = "Tagging", module = "dropchain", frozen, get_all)]
pub struct PyTagging {
    /// The best label of each token.
    pub labels: Py<PyList>,
    /// The spans that these labels encode.
    pub spans: Py<PyList>,
    /// The probability of these labels, if it was asked for.
    pub probability: Option<f64>,
    /// The probability of each label, ``[tokens, labels]``, if it was asked for: a numpy array.
    pub marginals: Option<Py<PyArray2<f64>>>,
    /// The best label sequences, best first, if more than one was asked for.
    pub nbest: Py<PyList>,
}

#[pymethods]
impl PyTagging {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Tagging {}>", self.labels.bind(py).repr()?))
    }
}

/// A tagged sentence of a text. Offsets count the characters of the text.
#[pyclass(name = "TaggedSentence", module = "dropchain", frozen, get_all)]
pub struct PyTaggedSentence {
    /// Where the first token begins.
    start: usize,
    /// Where the last token ends.
    end: usize,
    /// The tokens.
    tokens: Py<PyList>,
    /// The spans that the labels encode.
    spans: Py<PyList>,
}

/// A token of a text, with its label.
#[pyclass(name = "TextToken", module = "dropchain", frozen, get_all)]
pub struct PyTextToken {
    /// Where it begins, in characters of the text.
    start: usize,
    /// Where it ends.
    end: usize,
    /// Its text.
    text: String,
    /// Its label.
    label: String,
}

/// A span of a text, such as a name.
#[pyclass(name = "TextSpan", module = "dropchain", frozen)]
pub struct PyTextSpan {
    /// Where it begins, in characters of the text.
    #[pyo3(get)]
    start: usize,
    /// Where it ends.
    #[pyo3(get)]
    end: usize,
    /// The type, such as ``PER``.
    #[pyo3(get, name = "type")]
    kind: String,
    /// Its text.
    #[pyo3(get)]
    text: String,
    tokens: Range<usize>,
}

impl PyTaggedSentence {
    /// Converts a sentence of `text`.
    pub fn new<'py>(
        py: Python<'py>,
        text: &str,
        sentence: &TaggedSentence,
    ) -> PyResult<Bound<'py, Self>> {
        let part = |offsets: &Offsets| text[offsets.bytes.clone()].to_owned();
        let tokens = sentence.tokens.iter().map(|token| {
            let new = PyTextToken {
                start: token.offsets.chars.start,
                end: token.offsets.chars.end,
                text: part(&token.offsets),
                label: token.label.clone(),
            };
            Bound::new(py, new)
        });
        let spans = sentence.spans.iter().map(|span| {
            let new = PyTextSpan {
                start: span.offsets.chars.start,
                end: span.offsets.chars.end,
                kind: span.kind.clone(),
                text: part(&span.offsets),
                tokens: span.tokens.clone(),
            };
            Bound::new(py, new)
        });
        let new = Self {
            start: sentence.offsets.chars.start,
            end: sentence.offsets.chars.end,
            tokens: PyList::new(py, tokens.collect::<PyResult<Vec<_>>>()?)?.unbind(),
            spans: PyList::new(py, spans.collect::<PyResult<Vec<_>>>()?)?.unbind(),
        };
        Bound::new(py, new)
    }
}

#[pymethods]
impl PyTaggedSentence {
    /// The words of the tokens.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let tokens = self.tokens.bind(py).iter();
        tokens.map(|token| token.getattr("text")).collect()
    }

    /// The labels of the tokens.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let tokens = self.tokens.bind(py).iter();
        tokens.map(|token| token.getattr("label")).collect()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.tokens.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let tokens = self.tokens.bind(py).len();
        let spans = self.spans.bind(py).len();
        let Self { start, end, .. } = self;
        format!("<TaggedSentence {start}:{end}, {tokens} tokens, {spans} spans>")
    }
}

#[pymethods]
impl PyTextToken {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let [text, label] = [&self.text, &self.label].map(|text| PyString::new(py, text));
        Ok(format!(
            "TextToken(start={}, end={}, text={}, label={})",
            self.start,
            self.end,
            text.repr()?,
            label.repr()?
        ))
    }
}

#[pymethods]
impl PyTextSpan {
    /// Its tokens in the sentence: the first, and one past the last.
    #[getter]
    fn tokens(&self) -> (usize, usize) {
        (self.tokens.start, self.tokens.end)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let [kind, text] = [&self.kind, &self.text].map(|text| PyString::new(py, text));
        Ok(format!(
            "TextSpan(start={}, end={}, type={}, text={})",
            self.start,
            self.end,
            kind.repr()?,
            text.repr()?
        ))
    }
}
