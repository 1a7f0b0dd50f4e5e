//! JSON as objects of Python.

use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;

/// Returns what serializes to JSON as an object of Python.
///
/// # Errors
///
/// None of what serializes.
pub fn object<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json!(value).to_string(),))
}
