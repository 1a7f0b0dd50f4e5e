//! Tables of Arrow as columns of Python values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3_arrow::input::AnyRecordBatch;

use super::cells::{Lists, Strings};
use super::{checked, guarded};

/// Returns the value of a row, `None` if it is null.
type Cell<'a> = Box<dyn for<'py> Fn(Python<'py>, usize) -> PyResult<Bound<'py, PyAny>> + 'a>;

/// Returns the columns of a table: lists of strings, numbers, and lists of these, or the name of
/// the type if it is another one.
#[pyfunction]
pub fn arrow_columns<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = data.py();
    let (schema, batches) = guarded(|| read(data))?;
    let columns = PyDict::new(py);
    for (i, field) in schema.fields().iter().enumerate() {
        let name = field.name();
        if columns.contains(name)? {
            return Err(PyValueError::new_err(format!(
                "two columns have the name '{name}'; expected different names"
            )));
        }
        let values = PyList::empty(py);
        let mut is_known = true;
        for batch in &batches {
            let array = batch.column(i);
            checked(array)?;
            let Some(cell) = cells(array) else {
                is_known = false;
                break;
            };
            for row in 0..array.len() {
                values.append(cell(py, row)?)?;
            }
        }
        match is_known {
            true => columns.set_item(name, values)?,
            false => columns.set_item(name, field.data_type().to_string())?,
        }
    }
    Ok(columns)
}

fn read(data: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let error = |error: ArrowError| PyValueError::new_err(error.to_string());
    let reader = data.extract::<AnyRecordBatch>()?.into_reader()?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<_, _>>().map_err(error)?;
    Ok((schema, batches))
}

/// Returns what has the values of an array; `None` if its type is of another kind.
fn cells(array: &ArrayRef) -> Option<Cell<'_>> {
    if let Some(strings) = Strings::of(array) {
        return Some(Box::new(move |py, i| Ok(strings.get(i).into_pyobject(py)?.into_any())));
    }
    if let Some(lists) = Lists::of(array) {
        let items = cells(lists.items())?;
        return Some(Box::new(move |py, i| {
            let Some(range) = lists.get(i) else {
                return Ok(py.None().into_bound(py));
            };
            let values = range.map(|item| items(py, item));
            Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }));
    }
    Some(match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = cells(dictionary.values())?;
            let keys = match dictionary.values().is_empty() {
                true => Vec::new(),
                false => dictionary.normalized_keys(),
            };
            Box::new(move |py, i| match keys.get(i) {
                Some(&key) if array.is_valid(i) => values(py, key),
                _ => Ok(py.None().into_bound(py)),
            })
        }
        DataType::Boolean => {
            let flags = array.as_boolean();
            Box::new(move |py, i| {
                let flag = flags.is_valid(i).then(|| i64::from(flags.value(i)));
                Ok(flag.into_pyobject(py)?.into_any())
            })
        }
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Float32 => floats::<Float32Type>(array),
        DataType::Float64 => floats::<Float64Type>(array),
        _ => return None,
    })
}

fn integers<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &ArrayRef) -> Cell<'_> {
    let array = array.as_primitive::<T>();
    Box::new(move |py, i| {
        let value = array.is_valid(i).then(|| array.value(i).into());
        Ok(value.into_pyobject(py)?.into_any())
    })
}

fn floats<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &ArrayRef) -> Cell<'_> {
    let array = array.as_primitive::<T>();
    Box::new(move |py, i| {
        let value = array.is_valid(i).then(|| array.value(i).into());
        Ok(value.into_pyobject(py)?.into_any())
    })
}
