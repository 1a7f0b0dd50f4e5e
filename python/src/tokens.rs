//! Tokens with features as Python gives them: lists, matrices, and sequences of items whose
//! features have been converted.

use std::ops::Range;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::error::at;
use crate::items::{ItemReader, found};
use crate::matrices::Matrix;

/// Says where in its arguments a sentence or its labels are, such as `X[3]`.
pub type Place<'a> = &'a dyn Fn() -> String;

/// Receives the features of tokens.
pub trait FeatureSink {
    /// Adds a feature to the current token.
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()>;
    /// Ends the token with this index.
    fn end_token(&mut self, t: usize) -> PyResult<()>;
}

/// The tokens of a sentence.
pub enum Tokens<'py> {
    /// A list or a tuple.
    List(Bound<'py, PyAny>),
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
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            return Ok(Self::List(value.clone()));
        }
        if let Ok(items) = value.cast::<PyItemSequence>() {
            return Ok(Self::Items(items.clone()));
        }
        if let Some(matrix) = Matrix::of(value)? {
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
        Ok(Self::List(PyList::new(value.py(), tokens)?.into_any()))
    }

    /// Returns the number of tokens.
    ///
    /// # Errors
    ///
    /// None of a list or tuple.
    pub fn len(&self) -> PyResult<usize> {
        match self {
            Self::List(tokens) => tokens.len(),
            Self::Items(items) => Ok(items.get().len()),
            Self::Matrix(matrix) => Ok(matrix.rows()),
        }
    }

    fn py(&self) -> Python<'py> {
        match self {
            Self::List(tokens) => tokens.py(),
            Self::Items(items) => items.py(),
            Self::Matrix(matrix) => matrix.py(),
        }
    }

    /// Hands over the features of all tokens.
    ///
    /// # Errors
    ///
    /// Errors of `sink`, and `ValueError` if tokens have no features; the message begins with
    /// `place` and the index of the token.
    pub fn read(
        &self,
        items: &mut ItemReader,
        sink: &mut impl FeatureSink,
        place: Place<'_>,
    ) -> PyResult<()> {
        let tokens = match self {
            Self::List(tokens) => Some(tokens.try_iter()?),
            _ => None,
        };
        let mut tokens = tokens.into_iter().flatten();
        for t in 0.. {
            let mut feature = |name: &str, value| sink.feature(name, value);
            let read = match self {
                Self::List(_) => match tokens.next().transpose()? {
                    Some(token) => items.read(&token, &mut feature),
                    None => break,
                },
                _ if t == self.len()? => break,
                Self::Items(items) => items.get().read(t, &mut feature),
                Self::Matrix(matrix) => matrix.row(t, &mut feature),
            };
            read.map_err(|e| at(self.py(), || format!("{}[{t}]", place()), e))?;
            sink.end_token(t)?;
        }
        Ok(())
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
#[derive(Default)]
pub struct PyItemSequence {
    names: String,
    attributes: Vec<(usize, f64)>, // end in `names`, value
    ends: Vec<usize>,              // [T] end in `attributes`
}

impl FeatureSink for PyItemSequence {
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.names.push_str(name);
        self.attributes.push((self.names.len(), value));
        Ok(())
    }

    fn end_token(&mut self, _t: usize) -> PyResult<()> {
        self.ends.push(self.attributes.len());
        Ok(())
    }
}

impl PyItemSequence {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Calls `sink` with the name and the value of each attribute of an item.
    ///
    /// # Errors
    ///
    /// Errors of `sink`.
    pub fn read(&self, t: usize, sink: &mut impl FnMut(&str, f64) -> PyResult<()>) -> PyResult<()> {
        let item = self.range(t);
        let before = item.start.checked_sub(1);
        let mut start = before.map_or(0, |before| self.attributes[before].0);
        for &(end, value) in &self.attributes[item] {
            sink(&self.names[start..end], value)?;
            start = end;
        }
        Ok(())
    }

    /// Returns which of the attributes are those of an item.
    fn range(&self, t: usize) -> Range<usize> {
        t.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[t]
    }
}

#[pymethods]
impl PyItemSequence {
    #[new]
    fn new(pyseq: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut items = Self::default();
        let place = || "pyseq".to_owned();
        let mut reader = ItemReader::default();
        let tokens = Tokens::of(pyseq, &reader).map_err(|e| at(pyseq.py(), place, e))?;
        tokens.read(&mut reader, &mut items, &place)?;
        let is_infinite = |&(_, value): &(usize, f64)| !value.is_finite();
        if let Some(i) = items.attributes.iter().position(is_infinite) {
            let t = items.ends.partition_point(|&end| end <= i);
            return Err(PyValueError::new_err(format!(
                "pyseq[{t}]: a feature has the value NaN or infinity; expected a finite number"
            )));
        }
        items.names.shrink_to_fit();
        items.attributes.shrink_to_fit();
        Ok(items)
    }

    /// Returns the attributes of each item, `{name: value}`.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let item = |t| {
            let dict = PyDict::new(py);
            self.read(t, &mut |name, value| dict.set_item(name, value))?;
            Ok(dict)
        };
        (0..self.len()).map(item).collect()
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    fn __repr__(&self) -> String {
        format!("<ItemSequence of size {}>", self.len())
    }
}
