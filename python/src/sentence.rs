//! The class `Sentence`.

use std::borrow::Cow;
use std::sync::Arc;

use dropchain::Sentence;
use dropchain::sentence::TokenLabel;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyType};

use crate::corpus::{dump, load};
use crate::error::{SENTENCE, exception};
use crate::inputs::{self, SentenceReader};
use crate::items::strings;
use crate::objects::{Reduced, attribute_dicts};
use crate::plot::shown;
use crate::tokens::Place;

/// A sentence: its tokens in named columns (or with ready-made features), and what is known about
/// their labels.
///
/// A label is a string, ``None`` if it is unknown, or a list if it is one of several.
///
/// Parameters
/// ----------
/// words : iterable of str
///     The column ``word``.
/// labels : iterable of str, None or list of str, optional
///     What is known about the label of each token.
/// weight : float
///     How much the sentence counts in training: 2 is like the sentence and a copy of it.
/// **columns : iterable of str
///     More columns, such as ``pos``, for templates that read them.
///
/// Examples
/// --------
/// >>> from dropchain import Sentence
/// >>> sentence = Sentence(["Ada", "left"], ["B-PER", "O"], pos=["PROPN", "VERB"])
/// >>> sentence.words, sentence.labels, sentence.column("pos")
/// (['Ada', 'left'], ['B-PER', 'O'], ['PROPN', 'VERB'])
#[pyclass(name = "Sentence", module = "dropchain", frozen)]
pub struct PySentence(pub Arc<Sentence>);

#[pymethods]
impl PySentence {
    #[new]
    #[pyo3(signature = (words, labels=None, *, weight=1.0, **columns))]
    fn new(
        words: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        weight: f64,
        columns: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut cells = vec![("word".to_owned(), strings(words, "words")?)];
        for (name, column) in columns.iter().flat_map(|columns| columns.iter()) {
            let name: String = name.extract()?;
            let column = strings(&column, &name)?;
            cells.push((name, column));
        }
        let sentence = Sentence::from_columns(cells).map_err(exception)?;
        Self::finish(sentence, labels, weight)
    }

    /// Create a sentence whose tokens have ready-made features: dicts, or iterables of strings.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Sentence
    /// >>> Sentence.from_features([{"word": "Ada", "length": 3}], ["B-PER"]).features
    /// [{'word:Ada': 1.0, 'length': 3.0}]
    #[classmethod]
    #[pyo3(signature = (features, labels=None, *, weight=1.0))]
    fn from_features(
        _class: &Bound<'_, PyType>,
        features: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        weight: f64,
    ) -> PyResult<Self> {
        let place = || "features".to_owned();
        let sentence = Self::read(&mut SentenceReader::default(), features, 0, &place)?;
        Self::finish(Arc::unwrap_or_clone(sentence), labels, weight)
    }

    /// The words: the column ``word`` or ``form``, else the first.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let schema = self.0.schema();
        let first = (0..schema.width()).find(|&column| !schema.is_label(column));
        let column = schema.position("word").or(first).ok_or_else(|| {
            PyValueError::new_err("the sentence has features; expected one with words")
        })?;
        self.cells(py, column)
    }

    /// What is known about the labels: one item per token, or None if there are no labels.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let sentence = &self.0;
        if sentence.schema().label().is_none() {
            return Ok(None);
        }
        let label = |t| match sentence.partial_label(t) {
            None => sentence.label(t).unwrap_or_default().into_bound_py_any(py),
            Some(TokenLabel::Unknown) => Ok(py.None().into_bound(py)),
            Some(label) => label.labels().into_bound_py_any(py),
        };
        (0..sentence.len()).map(label).collect::<PyResult<_>>().map(Some)
    }

    /// The names of the columns, that of the labels excluded.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        let schema = self.0.schema();
        let columns = schema.names().iter().enumerate().filter(|(i, _)| Some(*i) != schema.label());
        columns.map(|(_, name)| name.as_str()).collect()
    }

    /// Return the values of a column.
    ///
    /// Raises KeyError if there is no such column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.0.schema().position(name).ok_or_else(|| {
            let columns = self.0.schema().list();
            PyKeyError::new_err(format!("no column '{name}'; the columns are {columns}"))
        })?;
        self.cells(py, column)
    }

    /// The ready-made features of each token: a dict of values. None if there are columns instead.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyDict>>>> {
        let attributes = self.0.attributes.as_ref();
        attributes.map(|attributes| attribute_dicts(py, attributes)).transpose()
    }

    /// The weight in training.
    #[getter]
    fn weight(&self) -> f64 {
        self.0.weight()
    }

    /// The file that the sentence was read from; None if it was made in memory.
    #[getter]
    fn file(&self) -> Option<&str> {
        Some(&**self.0.file()).filter(|file| !file.contains('\0'))
    }

    /// The line of the file on which the sentence begins; None if it was made in memory.
    #[getter]
    fn line(&self) -> Option<u64> {
        self.file().map(|_| self.0.place(0).line)
    }

    /// Whether this is a document boundary (``-DOCSTART-``), which training and tagging skip.
    #[getter]
    fn is_document_start(&self) -> bool {
        self.0.layout.document_start
    }

    #[staticmethod]
    fn _restore(data: Cow<'_, [u8]>) -> PyResult<Self> {
        let sentence = load(&data)?.pop();
        sentence.map(Self).ok_or_else(|| PyValueError::new_err("a pickled sentence: found none"))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let restore = slf.get_type().getattr("_restore")?;
        let sentence = Arc::clone(&slf.get().0);
        Ok((restore, (PyBytes::new(slf.py(), &dump(&[sentence])?),)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __eq__(&self, other: &Self) -> bool {
        let (a, b) = (&self.0, &other.0);
        let have_equal_labels =
            |t| a.label(t) == b.label(t) && a.partial_label(t) == b.partial_label(t);
        a.schema() == b.schema()
            && a.len() == b.len()
            && a.weight() == b.weight()
            && a.attributes == b.attributes
            && (0..a.len()).all(|t| a.cells(t).eq(b.cells(t)) && have_equal_labels(t))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        shown("sentence", slf.as_any())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        if self.0.attributes.is_some() {
            return Ok(format!("<Sentence of {} tokens with features>", self.0.len()));
        }
        let mut text = format!("Sentence({}", self.words(py)?.repr()?);
        if let Some(labels) = self.labels(py)? {
            text += &format!(", {}", PyList::new(py, labels)?.repr()?);
        }
        Ok(text + ")")
    }
}

impl PySentence {
    /// Reads a sentence: an object of the class, or an iterable of tokens, of which `number` is
    /// that in later messages, from 1; 0 if there is one only.
    ///
    /// # Errors
    ///
    /// The errors of [`SentenceReader::read`].
    pub fn read(
        reader: &mut SentenceReader,
        value: &Bound<'_, PyAny>,
        number: u64,
        place: Place<'_>,
    ) -> PyResult<Arc<Sentence>> {
        match value.cast::<Self>() {
            Ok(sentence) => Ok(Arc::clone(&sentence.get().0)),
            Err(_) => reader.read(value, number, place).map(Arc::new),
        }
    }

    fn finish(
        sentence: Sentence,
        labels: Option<&Bound<'_, PyAny>>,
        weight: f64,
    ) -> PyResult<Self> {
        let sentence = sentence.placed(SENTENCE.into(), Some(0));
        let mut sentence = sentence.with_weight(weight).map_err(exception)?;
        if let Some(labels) = labels {
            let labels = inputs::labels(labels, sentence.len(), &|| "labels".to_owned())?;
            sentence = sentence.with_partial_labels(labels).map_err(exception)?;
        }
        Ok(Self(Arc::new(sentence)))
    }

    fn cells<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, (0..self.0.len()).map(|t| self.0.cell(t, column)))
    }
}
