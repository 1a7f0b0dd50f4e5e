//! Training options by name: those of `dropchain_options`.

use dropchain::kernel::train::AnyOptions;
use dropchain::train::TrainOptions;
use dropchain_options::{Kind, parse, table};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::error::exception;
use crate::items::{found, type_error};
use crate::objects::fields;

/// Sets the options that are given and not None; the others are those of `base`.
///
/// # Errors
///
/// Those of [`given_options`]; `ValueError` for a value that an option does not have, or an option
/// of another algorithm.
pub fn train_options(named: &Bound<'_, PyDict>, base: TrainOptions) -> PyResult<AnyOptions> {
    parse(&given_options(named)?).map_err(exception)?.over(base).map_err(exception)
}

/// Returns the options that are given and not None, with their values as on the command line.
///
/// # Errors
///
/// `TypeError` for an unknown option or a value of another type.
pub fn given_options(named: &Bound<'_, PyDict>) -> PyResult<Vec<(String, String)>> {
    let mut given = Vec::new();
    let table = table();
    for (name, value) in named {
        let name: String = name.extract()?;
        let Some(row) = table.iter().find(|row| row.name == name) else {
            return Err(PyTypeError::new_err(format!("unknown option '{name}'")));
        };
        if !value.is_none()
            && let Some(text) = text(&name, &value, row.kind)?
        {
            given.push((name, text));
        }
    }
    Ok(given)
}

/// Returns all options: their names, kinds, values and help.
#[pyfunction]
pub fn option_table(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let rows = table().iter().map(|row| {
        let fields = PyDict::new(py);
        fields!(fields, row, [name, values, help]);
        fields.set_item("kind", format!("{:?}", row.kind).to_lowercase())?;
        Ok(fields)
    });
    rows.collect()
}

/// Converts a value to that of the command line; `None` for the default.
fn text(name: &str, value: &Bound<'_, PyAny>, kind: Kind) -> PyResult<Option<String>> {
    let is_bool = value.is_instance_of::<PyBool>();
    let expected = match kind {
        Kind::Switch => "True or False",
        Kind::Number => "a number",
        Kind::Count => "an integer that is not negative",
        Kind::Text => "a string or a number",
    };
    let wrong = || type_error(value.py(), &found(value, name, expected));
    Ok(match kind {
        Kind::Switch => {
            let is_on: bool = value.extract().map_err(|_| wrong())?;
            Some(if is_on { "on" } else { "off" }.to_owned())
        }
        _ if is_bool => return Err(wrong()),
        Kind::Number => {
            let number: f64 = value.extract().map_err(|_| wrong())?;
            Some(format!("{number:?}"))
        }
        Kind::Count => {
            if !value.hasattr("__index__")? {
                return Err(wrong());
            }
            let count: u64 = value.extract().map_err(|_| {
                PyValueError::new_err(format!("{name} {value}; expected {expected}"))
            })?;
            Some(count.to_string())
        }
        Kind::Text if value.is_instance_of::<PyString>() => {
            Some(value.extract::<String>()?).filter(|text| !text.is_empty())
        }
        Kind::Text if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() => {
            Some(value.str()?.to_string())
        }
        Kind::Text => return Err(wrong()),
    })
}
