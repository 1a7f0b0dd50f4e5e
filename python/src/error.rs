//! Errors of the library as Python exceptions.

use dropchain::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

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
    let message = error.to_string();
    match error {
        Error::Io { path, source } => match source.raw_os_error() {
            Some(number) => {
                let reason = source.to_string();
                let suffix = format!(" (os error {number})");
                let reason = reason.strip_suffix(&suffix).unwrap_or(&reason).to_owned();
                PyOSError::new_err((number, reason, path))
            }
            None => PyOSError::new_err(message),
        },
        Error::Model { .. } => ModelError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Says where in its arguments a `ValueError` comes from, such as `X[3][7]`; other exceptions stay
/// as they are.
pub fn at(py: Python<'_>, place: impl FnOnce() -> String, error: PyErr) -> PyErr {
    if !error.get_type(py).is(py.get_type::<PyValueError>()) {
        return error;
    }
    PyValueError::new_err(format!("{}: {}", place(), error.value(py)))
}
