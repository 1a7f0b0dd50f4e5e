//! How to read files: the options of `Corpus.read`.

use std::str::FromStr;

use dropchain::corpus::{ReadLimits, ReadOptions, Supervision, TextOptions};
use dropchain::sentence::LineRules;
use dropchain::{Error, corpus};
use dropchain_formats::{InputFormat, SpanOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::exception;
use crate::inputs::{self, memory_limit};
use crate::items::ColumnNames;

/// The format of files of spaCy, which are no text.
pub const SPACY: &str = "spacy";

/// How to read files: see `Corpus.read`.
#[pyclass(frozen, name = "ReadOptions", module = "dropchain._dropchain")]
pub struct PyReadOptions {
    pub options: ReadOptions,
    /// The format, if it is given.
    pub format: Option<String>,
}

#[pymethods]
impl PyReadOptions {
    #[new]
    #[pyo3(signature = (
        *, format=None, columns=None, label=None, unlabeled=false, comments=false, header=false,
        partial_labels=false, weights=true, max_sentence=None, memory=None, encoding=None,
        paragraphs=false, offsets=None, misaligned=None, overlaps=None, label_names=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn new(
        format: Option<String>,
        columns: Option<ColumnNames>,
        label: Option<&Bound<'_, PyAny>>,
        unlabeled: bool,
        comments: bool,
        header: bool,
        partial_labels: bool,
        weights: bool,
        max_sentence: Option<i64>,
        memory: Option<i64>,
        encoding: Option<&str>,
        paragraphs: bool,
        offsets: Option<&str>,
        misaligned: Option<&str>,
        overlaps: Option<&str>,
        label_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let encoding = encoding.map(TextOptions::of_encoding).transpose().map_err(exception)?;
        let max_sentence = inputs::count("max_sentence", max_sentence, 1)?;
        let options = ReadOptions {
            columns: columns.map(|columns| columns.0),
            label: label.map(column).transpose()?,
            unlabeled,
            lines: LineRules { comments, header },
            supervision: Supervision {
                partial_labels,
                weights,
                label_names: label_names.unwrap_or_default(),
            },
            text: TextOptions { paragraphs, ..encoding.unwrap_or_default() },
            limits: ReadLimits {
                max_sentence: max_sentence.unwrap_or(ReadLimits::MAX_SENTENCE),
                memory: memory_limit(memory)?,
            },
            ..ReadOptions::default()
        };
        let spans = SpanOptions {
            offsets: named(offsets)?,
            misaligned: named(misaligned)?.unwrap_or_default(),
            overlaps: named(overlaps)?.unwrap_or_default(),
        };
        let known = format.as_deref().filter(|&format| format != SPACY);
        let known: Option<InputFormat> = known.map(str::parse).transpose().map_err(exception)?;
        let options = match known {
            None => InputFormat::guess(spans, options),
            Some(format) => format.apply(spans, options),
        };
        Ok(Self { options, format })
    }
}

impl PyReadOptions {
    /// Reads keyword arguments.
    ///
    /// # Errors
    ///
    /// `TypeError` for an unknown one, `ValueError` for an unknown name or a number out of range.
    pub fn of<'py>(
        py: Python<'py>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        Ok(py.get_type::<Self>().call((), arguments)?.cast_into()?)
    }

    /// Returns the options for text in a format that is given.
    ///
    /// # Errors
    ///
    /// `ValueError` if it is not given, or is none of text.
    pub fn of_text(&self) -> PyResult<&ReadOptions> {
        match self.format.as_deref() {
            None | Some(SPACY) => {
                Err(PyValueError::new_err("expected the format of the text, such as 'conll'"))
            }
            Some(_) => Ok(&self.options),
        }
    }
}

/// Reads a label column, which may be an index.
fn column(label: &Bound<'_, PyAny>) -> PyResult<String> {
    match label.extract::<i64>() {
        Ok(index) => Ok(index.to_string()),
        Err(_) => label.extract::<String>(),
    }
}

/// Reads one of several names.
fn named<T: FromStr<Err = Error>>(name: Option<&str>) -> PyResult<Option<T>> {
    name.map(str::parse).transpose().map_err(exception)
}

/// Returns the only column that can have the labels, if there is one.
#[pyfunction]
pub fn label_column(names: Vec<String>) -> Option<String> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    corpus::label_column(&names).map(str::to_owned)
}

/// Returns the names of labels that are numbers: those of the data set, or others that are given.
#[pyfunction]
pub fn label_names(own: Vec<String>, given: Vec<String>) -> Vec<String> {
    corpus::label_names(&own, &given).to_vec()
}
