//! Features of a token in Python as attributes, in the conventions of python-crfsuite:
//!
//! | feature | attribute |
//! |---|---|
//! | `"word=Ada"` in a list, a set, any iterable | `word=Ada`, value 1 |
//! | `"length": 3`, `"capital": True` in a dict | `length`, value 3; `capital`, value 1 |
//! | `"word": "Ada"` in a dict | `word:Ada`, value 1 |
//! | `"shape": {"long": 0.5}` in a dict | `shape:long`, value 0.5 |
//! | `"lists": ["city", "name"]` in a dict | `lists:city`, `lists:name`, value 1 |

use std::str;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};

/// Depth of nested dicts beyond which features are refused; recursion takes stack.
const MAX_DEPTH: usize = 32;

/// Joins the keys of nested dicts, and a key with its value.
const SEPARATOR: u8 = b':';

/// Reads the features of tokens; its buffer is reused from token to token.
#[derive(Debug, Default)]
pub struct ItemReader {
    name: Vec<u8>,
}

impl ItemReader {
    /// Calls `sink` with the name and the value of each attribute of a token.
    ///
    /// # Errors
    ///
    /// `ValueError` if `item` is not one of the kinds above, naming what was found; those of
    /// `sink`.
    pub fn read(
        &mut self,
        item: &Bound<'_, PyAny>,
        sink: &mut impl FnMut(&str, f64) -> PyResult<()>,
    ) -> PyResult<()> {
        self.name.clear();
        self.read_nested(item, 0, sink)
    }

    fn read_nested(
        &mut self,
        item: &Bound<'_, PyAny>,
        depth: usize,
        sink: &mut impl FnMut(&str, f64) -> PyResult<()>,
    ) -> PyResult<()> {
        if depth > MAX_DEPTH {
            let message = format!("features are nested deeper than {MAX_DEPTH} dicts");
            return Err(PyValueError::new_err(message));
        }
        let start = self.name.len();
        if let Ok(dict) = item.cast::<PyDict>() {
            for (key, value) in dict.iter() {
                self.push(&key)?;
                self.read_value(&value, depth, sink)?;
                self.name.truncate(start);
            }
            return Ok(());
        }
        if item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>() {
            return Err(found(
                item,
                "the features of a token",
                "a dict or a list of strings",
            ));
        }
        let Ok(features) = item.try_iter() else {
            return Err(found(
                item,
                "the features of a token",
                "a dict or a list of strings",
            ));
        };
        for feature in features {
            self.push(&feature?)?;
            self.emit(1.0, sink)?;
            self.name.truncate(start);
        }
        Ok(())
    }

    /// Reads the value of a dict's key, which is at the end of `name`.
    fn read_value(
        &mut self,
        value: &Bound<'_, PyAny>,
        depth: usize,
        sink: &mut impl FnMut(&str, f64) -> PyResult<()>,
    ) -> PyResult<()> {
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
            self.name.push(SEPARATOR);
            self.push(value)?;
            self.emit(1.0, sink)
        } else if value.is_instance_of::<PyDict>() || is_collection(value) {
            self.name.push(SEPARATOR);
            self.read_nested(value, depth + 1, sink)
        } else if let Ok(number) = value.extract::<f64>() {
            self.emit(number, sink)
        } else {
            let name = String::from_utf8_lossy(&self.name);
            let what = format!("the value of feature '{name}'");
            Err(found(value, &what, "a number, a string, a list or a dict"))
        }
    }

    /// Appends a string to `name`.
    fn push(&mut self, part: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(text) = part.cast::<PyString>() {
            self.name.extend_from_slice(text.to_cow()?.as_bytes());
        } else if let Ok(bytes) = part.cast::<PyBytes>() {
            self.name.extend_from_slice(bytes.as_bytes());
        } else {
            return Err(found(part, "the name of a feature", "a string"));
        }
        Ok(())
    }

    fn emit(&self, value: f64, sink: &mut impl FnMut(&str, f64) -> PyResult<()>) -> PyResult<()> {
        let name = str::from_utf8(&self.name).map_err(|_| {
            let name = String::from_utf8_lossy(&self.name);
            PyValueError::new_err(format!("the name of feature '{name}' is not UTF-8"))
        })?;
        sink(name, value)
    }
}

fn is_collection(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyFrozenSet>()
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
    let kind = kind
        .name()
        .map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyValueError::new_err(format!(
        "found {shown} ({kind}) as {what}; expected {expected}"
    ))
}
