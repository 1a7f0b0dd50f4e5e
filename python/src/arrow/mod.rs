//! Columns of Arrow arrays: text or tokens in, labels, spans or JSON lines out.
//!
//! Arrays come and go by the PyCapsule interface of Arrow, without a copy, so that any library
//! that has it can be used; this package depends on none.

mod cells;
mod input;
mod output;
mod rows;
mod table;

pub use table::arrow_columns;

use std::panic::{self, AssertUnwindSafe};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use dropchain::tag::Header;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::PyArray;

use crate::error::at;
use crate::items::found;
use crate::tagger::PyTagger;
use input::Input;
use output::Output;
use rows::RowTagger;

/// Rows that are tagged at a time, so that Ctrl-C works.
const BATCH: usize = 1024;

/// A column: an Arrow array, which ``pyarrow.array(…)`` and others take without a copy.
///
/// It has the methods ``__arrow_c_array__`` and ``__arrow_c_schema__``.
#[pyclass(name = "ArrowArray", module = "dropchain.arrow", frozen)]
pub struct PyArrowArray {
    array: ArrayRef,
    field: Field,
}

#[pymethods]
impl PyArrowArray {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema; // a wish, which need not be fulfilled
        let array = FFI_ArrowArray::new(&self.array.to_data());
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&self.field);
        let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __repr__(&self) -> String {
        format!("<ArrowArray of {} rows: {}>", self.array.len(), self.field.data_type())
    }
}

/// Tags each row of an Arrow array. `first` is the number of its first row in messages.
#[pyfunction]
#[pyo3(signature = (tagger, array, output, first=0))]
pub fn tag_arrow(
    py: Python<'_>,
    tagger: &Bound<'_, PyTagger>,
    array: &Bound<'_, PyAny>,
    output: &str,
    first: usize,
) -> PyResult<PyArrowArray> {
    let tagger = &tagger.get().inner;
    let header = tagger.model().header();
    let output = Output::of(output, header).map_err(PyValueError::new_err)?;
    check_template(header)?;
    let array = import(array)?;
    let input = Input::of(&array).map_err(PyValueError::new_err)?;
    let mut rows = RowTagger::new(tagger, &input, output)?;
    py.detach(|| rows.check_columns())?;
    for start in (0..array.len()).step_by(BATCH) {
        let end = array.len().min(start + BATCH);
        let tagged = py.detach(|| (start..end).try_for_each(|i| rows.row(i).map_err(|e| (i, e))));
        tagged.map_err(|(i, error)| at(py, || format!("rows[{}]", first + i), error))?;
        py.check_signals()?;
    }
    let array = rows.finish()?;
    let field = Field::new("", array.data_type().clone(), true);
    Ok(PyArrowArray { array, field })
}

/// Takes over an Arrow array, and checks its contents: producers may have offsets that are wrong,
/// or bytes that are not UTF-8.
fn import(array: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if !array.hasattr("__arrow_c_array__")? {
        let expected = "an Arrow array: an object with the method __arrow_c_array__";
        return Err(found(array, "the column", expected));
    }
    let (array, _) = guarded(|| array.extract::<PyArray>())?.into_inner();
    checked(&array)?;
    Ok(array)
}

/// Imports from another library. Arrays are made of its offsets before these are checked.
fn guarded<T>(import: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let imported = panic::catch_unwind(AssertUnwindSafe(import));
    let damaged = || PyValueError::new_err("the array is damaged: its offsets make no sense");
    imported.map_err(|_| damaged())?
}

/// Checks the contents of an array.
fn checked(array: &ArrayRef) -> PyResult<()> {
    let checked = array.to_data().validate_full();
    checked.map_err(|error| PyValueError::new_err(format!("the array is damaged: {error}")))
}

/// Rejects a model that was trained without a template.
fn check_template(header: &Header) -> PyResult<()> {
    if header.template.is_some() {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "the model was trained on features, which text and columns do not have; expected a model \
         with a template",
    ))
}
