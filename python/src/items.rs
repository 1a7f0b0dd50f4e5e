//! Features of a token in Python as attributes, in the conventions of python-crfsuite:
//!
//! | feature | attribute |
//! |---|---|
//! | `"word=Ada"` in a list, a set, any iterable | `word=Ada`, value 1 |
//! | `"length": 3`, `"capital": True` in a dict | `length`, value 3; `capital`, value 1 |
//! | `"word": "Ada"` in a dict | `word:Ada`, value 1 |
//! | `"shape": {"long": 0.5}` in a dict | `shape:long`, value 0.5 |
//! | `"lists": ["city", "name"]` in a dict | `lists:city`, `lists:name`, value 1 |

use std::borrow::Cow;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyIterator, PyList, PySet, PyString,
    PyTuple,
};

/// Depth of nested dicts beyond which features are refused; recursion takes stack.
const MAX_DEPTH: usize = 32;

/// Joins the keys of nested dicts, and a key with its value.
const SEPARATOR: char = ':';

/// Receives the name and the value of each feature of a token.
pub trait Sink: FnMut(&str, f64) -> PyResult<()> {}

impl<F: FnMut(&str, f64) -> PyResult<()>> Sink for F {}

/// Reads the features of tokens; its buffer is reused from token to token.
#[derive(Debug, Default)]
pub struct ItemReader {
    name: String,
    type_errors: bool,
}

impl ItemReader {
    /// Creates a reader that raises `TypeError` for values of wrong types, as python-crfsuite does.
    pub fn of_crfsuite() -> Self {
        Self { name: String::new(), type_errors: true }
    }

    /// Calls `sink` with the name and the value of each attribute of a token.
    ///
    /// # Errors
    ///
    /// `ValueError` if `item` is not one of the kinds above, naming what was found; those of
    /// `sink`.
    pub fn read(&mut self, item: &Bound<'_, PyAny>, sink: &mut impl Sink) -> PyResult<()> {
        self.name.clear();
        self.read_nested(item, 0, sink)
    }

    /// The exception for something of the wrong type.
    pub fn wrong_type(&self, value: &Bound<'_, PyAny>, what: &str, expected: &str) -> PyErr {
        let fault = found(value, what, expected);
        if self.type_errors { type_error(value.py(), &fault) } else { fault }
    }

    /// Returns the text of a string, or of bytes in UTF-8.
    #[inline]
    fn text<'a>(&self, part: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
        let what = "the name of a feature";
        if let Ok(text) = part.cast::<PyString>() {
            let expected = "a string without lone surrogates";
            text.to_cow().map_err(|_| found(part, what, expected))
        } else if let Ok(bytes) = part.cast::<PyBytes>() {
            match str::from_utf8(bytes.as_bytes()) {
                Ok(text) => Ok(Cow::Borrowed(text)),
                Err(_) => Err(found(part, what, "UTF-8")),
            }
        } else {
            Err(self.wrong_type(part, what, "a string"))
        }
    }

    fn read_nested(
        &mut self,
        item: &Bound<'_, PyAny>,
        depth: usize,
        sink: &mut impl Sink,
    ) -> PyResult<()> {
        if depth > MAX_DEPTH {
            let message = format!("features are nested deeper than {MAX_DEPTH} dicts");
            return Err(PyValueError::new_err(message));
        }
        if let Ok(dict) = item.cast::<PyDict>() {
            let start = self.name.len();
            // Reading other values may run code of their classes, which could change the dict.
            let mut others = Vec::new();
            for (key, value) in dict {
                let text = self.text(&key)?;
                self.name.push_str(&text);
                if !self.read_plain(&value, sink)? {
                    others.push((key, value));
                }
                self.name.truncate(start);
            }
            for (key, value) in others {
                let text = self.text(&key)?;
                self.name.push_str(&text);
                self.read_other(&value, depth, sink)?;
                self.name.truncate(start);
            }
            return Ok(());
        }
        if let Ok(list) = item.cast_exact::<PyList>() {
            return list.iter().try_for_each(|feature| self.read_name(&feature, sink));
        }
        let expected = "a dict or a list of strings";
        if item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>() {
            return Err(found(item, "the features of a token", expected));
        }
        let Ok(features) = item.try_iter() else {
            return Err(self.wrong_type(item, "the features of a token", expected));
        };
        for feature in features {
            self.read_name(&feature?, sink)?;
        }
        Ok(())
    }

    /// Reads a feature without a value.
    #[inline]
    fn read_name(&mut self, feature: &Bound<'_, PyAny>, sink: &mut impl Sink) -> PyResult<()> {
        let text = self.text(feature)?;
        if self.name.is_empty() {
            return sink(&text, 1.0);
        }
        let start = self.name.len();
        self.name.push_str(&text);
        sink(&self.name, 1.0)?;
        self.name.truncate(start);
        Ok(())
    }

    /// Reads the value of a dict's key, which is at the end of `name`, if that runs no code of its
    /// class. Returns whether it did.
    #[inline]
    fn read_plain(&mut self, value: &Bound<'_, PyAny>, sink: &mut impl Sink) -> PyResult<bool> {
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
            self.name.push(SEPARATOR);
            let text = self.text(value)?;
            self.name.push_str(&text);
            sink(&self.name, 1.0)?;
        } else if let Ok(flag) = value.cast_exact::<PyBool>() {
            sink(&self.name, f64::from(u8::from(flag.is_true())))?;
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            sink(&self.name, number.value())?;
        } else if value.is_exact_instance_of::<PyInt>()
            && let Ok(number) = value.extract::<f64>()
        {
            sink(&self.name, number)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads any other value of a dict's key.
    fn read_other(
        &mut self,
        value: &Bound<'_, PyAny>,
        depth: usize,
        sink: &mut impl Sink,
    ) -> PyResult<()> {
        if value.is_instance_of::<PyDict>() || is_collection(value) {
            self.name.push(SEPARATOR);
            self.read_nested(value, depth + 1, sink)
        } else if let Ok(number) = value.extract::<f64>() {
            sink(&self.name, number)
        } else {
            let what = format!("the value of feature '{}'", self.name);
            let expected = "a number, a string, a list or a dict";
            Err(match value.is_instance_of::<PyInt>() {
                true => found(value, &what, expected), // it is too large
                false => self.wrong_type(value, &what, expected),
            })
        }
    }
}

/// Returns whether a value is a list, a tuple or a set.
pub fn is_collection(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyFrozenSet>()
}

/// The `TypeError` with the message of another exception.
pub fn type_error(py: Python<'_>, fault: &PyErr) -> PyErr {
    PyTypeError::new_err(fault.value(py).to_string())
}

/// The `ValueError` for something of the wrong type.
pub fn found(value: &Bound<'_, PyAny>, what: &str, expected: &str) -> PyErr {
    let mut shown = match value.repr() {
        Ok(shown) => shown.to_string_lossy().into_owned(),
        Err(_) => "?".to_owned(),
    };
    if let Some((end, _)) = shown.char_indices().nth(80) {
        shown.truncate(end);
        shown.push('…');
    }
    let kind = value.get_type();
    let kind = kind.name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyValueError::new_err(format!("found {shown} ({kind}) as {what}; expected {expected}"))
}

/// Iterates over something else than text.
///
/// # Errors
///
/// `ValueError` if `value` is a string or no iterable.
pub fn iterate<'py>(
    value: &Bound<'py, PyAny>,
    what: &str,
    expected: &str,
) -> PyResult<Bound<'py, PyIterator>> {
    let is_text = value.is_instance_of::<PyString>();
    let items = value.try_iter().ok().filter(|_| !is_text);
    items.ok_or_else(|| found(value, what, expected))
}

/// The items of an iterable. Unlike those of a `Vec`, they are counted as they come: what `__len__`
/// says is not trusted.
pub struct Items<T>(pub Vec<T>);

impl<'py, T: FromPyObjectOwned<'py>> FromPyObject<'_, 'py> for Items<T> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("found a string; expected a list"));
        }
        let items = value.try_iter()?.map(|item| item?.extract().map_err(Into::into));
        items.collect::<PyResult<_>>().map(Self)
    }
}

/// The names of columns: an iterable, or a string with commas, as on the command line.
pub struct ColumnNames(pub Vec<String>);

impl FromPyObject<'_, '_> for ColumnNames {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(names) = value.cast::<PyString>() {
            let names = names.to_cow()?;
            return Ok(Self(names.split(',').map(|name| name.trim().to_owned()).collect()));
        }
        let items: Items<String> = value.extract()?;
        Ok(Self(items.0))
    }
}

/// Returns the strings of an iterable.
///
/// # Errors
///
/// `ValueError` if `value` is something else; the message names the index.
pub fn strings(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<String>> {
    let expected = "a list of strings";
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        return Err(found(value, what, expected));
    }
    let Ok(items) = value.try_iter() else { return Err(found(value, what, expected)) };
    let string = |(i, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        let item = item?;
        let Ok(text) = item.cast::<PyString>() else {
            return Err(found(&item, &format!("item {i} of {what}"), "a string"));
        };
        Ok(text.to_cow()?.into_owned())
    };
    items.enumerate().map(string).collect()
}
