//! Tokens with features as Python gives them: lists, matrices, and sequences of items whose
//! features have been converted.

use dropchain::sentence::Attributes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::error::at;
use crate::items::{ItemReader, Sink, found};
use crate::matrices::Matrix;
use crate::objects::attribute_dicts;

/// Says where in its arguments a sentence or its labels are, such as `X[3]`.
pub type Place<'a> = &'a dyn Fn() -> String;

/// The tokens of a sentence.
pub enum Tokens<'py> {
    /// A list.
    List(Bound<'py, PyList>),
    /// Items whose features have been converted.
    Items(Bound<'py, PyItemSequence>),
    /// A row for each token.
    Matrix(Matrix<'py>),
}

impl<'py> Tokens<'py> {
    /// Finds the tokens of a sentence whose features `items` reads.
    ///
    /// # Errors
    ///
    /// `ValueError` if `value` is a string, or a matrix of something else than numbers; what
    /// `items` raises if it is no sequence at all.
    pub fn of(value: &Bound<'py, PyAny>, items: &ItemReader) -> PyResult<Self> {
        if let Ok(list) = value.cast_exact::<PyList>() {
            return Ok(Self::List(list.clone()));
        }
        if let Ok(items) = value.cast::<PyItemSequence>() {
            return Ok(Self::Items(items.clone()));
        }
        let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
        if !is_list && let Some(matrix) = Matrix::of(value)? {
            return Ok(Self::Matrix(matrix));
        }
        let is_sentence = !value.is_instance_of::<PyString>()
            && !value.is_instance_of::<PyBytes>()
            && !value.is_instance_of::<PyDict>();
        let (what, expected) = ("a sentence", "a list of tokens");
        let tokens = match value.try_iter() {
            Ok(tokens) if is_sentence => tokens.collect::<PyResult<Vec<_>>>()?,
            Ok(_) => return Err(found(value, what, expected)),
            Err(_) => return Err(items.wrong_type(value, what, expected)),
        };
        PyList::new(value.py(), tokens).map(Self::List)
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        match self {
            Self::List(tokens) => tokens.len(),
            Self::Items(items) => items.get().0.len(),
            Self::Matrix(matrix) => matrix.rows(),
        }
    }

    /// Calls `sink` with the name and the value of each feature of token `t`.
    ///
    /// # Errors
    ///
    /// Errors of `sink`, and `ValueError` if the token has no features.
    pub fn read(&self, t: usize, items: &mut ItemReader, sink: &mut impl Sink) -> PyResult<()> {
        match self {
            // Features that are being read may change the list.
            Self::List(tokens) => items.read(&tokens.get_item(t)?, sink),
            Self::Items(items) => {
                items.get().0.token(t).try_for_each(|(name, value)| sink(name, value))
            }
            Self::Matrix(matrix) => matrix.row(t, sink),
        }
    }
}

/// Checks that the names of a sentence's features have positions.
///
/// # Errors
///
/// `ValueError` if they are longer than 4 GiB.
pub fn check_size(attributes: &Attributes) -> PyResult<()> {
    match attributes.is_full() {
        true => Err(PyValueError::new_err("the sentence has more than 4 GiB of features")),
        false => Ok(()),
    }
}

/// A sequence of items whose features have been converted to attributes.
///
/// Trainers and taggers accept one in place of a list. It saves time if the same items are used
/// more than once, and shows what attributes features become.
///
/// >>> from dropchain.pycrfsuite import ItemSequence
/// >>> ItemSequence([["capital"], {"word": "Ada", "length": 3}]).items()
/// [{'capital': 1.0}, {'word:Ada': 1.0, 'length': 3.0}]
///
/// Parameters
/// ----------
/// pyseq : iterable
///     The features of each item, in one of these forms:
///
///     - an iterable of strings: attributes with the value 1;
///     - a dict: a number or a bool is the value of the attribute; with a string `s` under the key
///       `k`, the attribute is `k:s`; the keys of nested dicts, lists and sets are prefixed with
///       `k:`.
#[pyclass(frozen, subclass, name = "ItemSequence", module = "dropchain.pycrfsuite")]
pub struct PyItemSequence(Attributes);

#[pymethods]
impl PyItemSequence {
    #[new]
    fn new(pyseq: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut attributes = Attributes::default();
        let mut reader = ItemReader::default();
        let tokens = Tokens::of(pyseq, &reader).map_err(|e| at(|| "pyseq".to_owned(), e))?;
        for t in 0..tokens.len() {
            let mut push = |name: &str, value: f64| {
                if !value.is_finite() {
                    return Err(PyValueError::new_err(
                        "a feature has the value NaN or infinity; expected a finite number",
                    ));
                }
                attributes.push(name, value);
                check_size(&attributes)
            };
            let read = tokens.read(t, &mut reader, &mut push);
            read.map_err(|e| at(|| format!("pyseq[{t}]"), e))?;
            attributes.end_token();
        }
        attributes.shrink();
        Ok(Self(attributes))
    }

    /// Returns the attributes of each item, `{name: value}`.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        attribute_dicts(py, &self.0)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<ItemSequence of size {}>", self.0.len())
    }
}
