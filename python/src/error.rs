//! Errors of the library as Python exceptions.

use std::ffi::CString;
use std::io;

use dropchain::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;

/// The file of sentences in memory, and of rows of a table, whose data have no name yet.
pub const SENTENCE: &str = "sentence\0";
pub const ROW: &str = "row\0";

/// The file of sentences and texts that the library has made in memory.
pub const IN_MEMORY: &str = "-";

create_exception!(
    dropchain,
    ModelError,
    PyValueError,
    "A file is damaged, has a newer format version or is not a model."
);

create_exception!(
    dropchain,
    Interrupted,
    PyKeyboardInterrupt,
    "Training was interrupted. `result` has the best model so far, or is None."
);

/// Converts an error: those of the system to the subclass of `OSError` for their number, all
/// others to `ValueError` or a subclass.
pub fn exception(error: Error) -> PyErr {
    let message = in_python(&match &error {
        Error::Input { place, message } if place.file == IN_MEMORY && place.line > 0 => {
            format!("line {}: {message}", place.line)
        }
        Error::Input { place, message } if matches!(&*place.to_string(), "" | IN_MEMORY) => {
            message.clone()
        }
        _ => error.to_string(),
    });
    match error {
        Error::Io { path, source } => match source.raw_os_error() {
            Some(number) => {
                let reason = source.to_string();
                let suffix = format!(" (os error {number})");
                let reason = reason.strip_suffix(&suffix).unwrap_or(&reason).to_owned();
                PyOSError::new_err((number, reason, path.display().to_string()))
            }
            // The kind tells the subclass.
            None => io::Error::new(source.kind(), message).into(),
        },
        Error::Model { .. } => ModelError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Gives a UserWarning, of the caller `level` calls up.
pub fn warn(py: Python<'_>, message: &str, level: i32) -> PyResult<()> {
    let text = CString::new(in_python(message).replace('\0', "\\0"))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, level)
}

/// Names the options in a message as in Python, by removing the backticks around single words:
/// `edge_dropout 0` for a field in backticks.
pub fn in_python(message: &str) -> String {
    let mut parts = message.split('`').peekable();
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
        match parts.next_if(|_| !part.is_empty() && part.chars().all(is_name)) {
            Some(after) => text.extend([part, after]),
            None => text.extend(["`", part]),
        }
    }
    text
}

/// Says where in its arguments a `ValueError` or a `TypeError` comes from, such as `X[3][7]`; other
/// exceptions stay as they are.
pub fn at(place: impl FnOnce() -> String, error: PyErr) -> PyErr {
    Python::attach(|py| {
        let kind = error.get_type(py);
        if !kind.is(py.get_type::<PyValueError>()) && !kind.is(py.get_type::<PyTypeError>()) {
            return error;
        }
        PyErr::from_type(kind, format!("{}: {}", place(), error.value(py)))
    })
}
