//! Features as matrices: a row for each token, a column for each feature.

use std::sync::Arc;

use numpy::{PyArrayDyn, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::items::{found, strings};

static FEATURES: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The features of consecutive tokens.
pub struct Matrix<'py> {
    py: Python<'py>,
    rows: usize,
    names: Arc<[String]>,
    entries: Entries<'py>,
}

/// The values of a matrix.
enum Entries<'py> {
    /// numpy, two-dimensional.
    Dense(PyReadonlyArray2<'py, f64>),
    /// scipy, compressed rows.
    Sparse {
        starts: Vec<usize>, // [rows + 1]
        columns: PyReadonlyArray1<'py, i64>,
        values: PyReadonlyArray1<'py, f64>,
    },
}

impl<'py> Matrix<'py> {
    /// Prefix of the name of an unnamed column; its number follows, from 0.
    pub const COLUMN: &'static str = "f";

    /// Reads a numpy array of two dimensions, a sparse matrix of scipy, or an object of the class
    /// `Features`; `None` if `value` is none of them.
    ///
    /// # Errors
    ///
    /// `ValueError` if the values are no numbers or the number of names is not that of columns.
    pub fn of(value: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let py = value.py();
        let features = FEATURES.get_or_try_init(py, || {
            let module = py.import("dropchain._features")?;
            PyResult::Ok(module.getattr("Features")?.cast_into::<PyType>()?.unbind())
        })?;
        if value.is_instance(features.bind(py))? {
            let names = value.getattr("names")?;
            let names = (!names.is_none()).then_some(&names);
            return Self::with_names(&value.getattr("values")?, names);
        }
        Self::with_names(value, None)
    }

    fn with_names(
        value: &Bound<'py, PyAny>,
        names: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Self>> {
        let Some((rows, width, entries)) = Entries::of(value)? else {
            return Ok(None);
        };
        let names: Vec<String> = match names {
            None => (0..width).map(|i| format!("{}{i}", Self::COLUMN)).collect(),
            Some(names) => strings(names, "the names of features")?,
        };
        if names.len() != width {
            return Err(PyValueError::new_err(format!(
                "found {} names for {width} columns of features; expected one for each",
                names.len()
            )));
        }
        Ok(Some(Self { py: value.py(), rows, names: names.into(), entries }))
    }

    /// Returns the token that shows that the GIL is held.
    pub fn py(&self) -> Python<'py> {
        self.py
    }

    /// Returns the number of tokens.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Calls `sink` with the name and the value of each feature of a token whose value is not 0.
    ///
    /// # Errors
    ///
    /// Errors of `sink`.
    pub fn row(
        &self,
        row: usize,
        sink: &mut impl FnMut(&str, f64) -> PyResult<()>,
    ) -> PyResult<()> {
        match &self.entries {
            Entries::Dense(values) => {
                let values = values.as_array();
                for (name, &value) in self.names.iter().zip(values.row(row)) {
                    if value != 0.0 {
                        sink(name, value)?;
                    }
                }
            }
            Entries::Sparse { starts, columns, values } => {
                let (columns, values) = (columns.as_array(), values.as_array());
                for i in starts[row]..starts[row + 1] {
                    let column = usize::try_from(columns[i]).ok();
                    let name = column.and_then(|column| self.names.get(column));
                    let name = name.ok_or_else(|| {
                        PyValueError::new_err(format!(
                            "the matrix has a value in column {}; it has {} columns",
                            columns[i],
                            self.names.len()
                        ))
                    })?;
                    if values[i] != 0.0 {
                        sink(name, values[i])?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl<'py> Entries<'py> {
    /// Returns the number of rows and columns, and the values.
    fn of(value: &Bound<'py, PyAny>) -> PyResult<Option<(usize, usize, Self)>> {
        if let Ok(array) = value.cast::<PyArrayDyn<f64>>() {
            return Self::dense(array.as_any(), array.ndim()).map(Some);
        }
        if let Ok(array) = value.cast::<numpy::PyUntypedArray>() {
            let kind: String = array.dtype().getattr("kind")?.extract()?;
            if array.ndim() == 1 && !"biuf".contains(&kind) {
                return Ok(None); // words, or features of tokens
            }
            let number = check_numbers(value, &kind)?;
            return Self::dense(&number, array.ndim()).map(Some);
        }
        if value.hasattr("tocsr")? {
            return Self::sparse(value).map(Some);
        }
        Ok(None)
    }

    fn dense(array: &Bound<'py, PyAny>, dimensions: usize) -> PyResult<(usize, usize, Self)> {
        if dimensions != 2 {
            return Err(PyValueError::new_err(format!(
                "found an array of {dimensions} dimensions; expected 2: tokens and features"
            )));
        }
        let values: PyReadonlyArray2<'py, f64> = array.extract()?;
        let (rows, columns) = (values.shape()[0], values.shape()[1]);
        Ok((rows, columns, Self::Dense(values)))
    }

    fn sparse(value: &Bound<'py, PyAny>) -> PyResult<(usize, usize, Self)> {
        let kind: String = value.getattr("dtype")?.getattr("kind")?.extract()?;
        let value = check_numbers(value, &kind)?.call_method0("tocsr")?;
        let (rows, width): (usize, usize) = value.getattr("shape")?.extract()?;
        let integers = |name: &str| -> PyResult<PyReadonlyArray1<'py, i64>> {
            let array = value.getattr(name)?.call_method1("astype", ("int64",))?;
            array.extract()
        };
        let (starts, columns) = (integers("indptr")?, integers("indices")?);
        let values: PyReadonlyArray1<'py, f64> = value.getattr("data")?.extract()?;
        let stored = columns.as_array().len().min(values.as_array().len());
        let starts: Vec<usize> = starts
            .as_array()
            .iter()
            .map(|&start| usize::try_from(start).unwrap_or(usize::MAX))
            .collect();
        if starts.len() != rows + 1 || !starts.is_sorted() || starts[rows] > stored {
            return Err(PyValueError::new_err("the sparse matrix is inconsistent"));
        }
        let entries = Self::Sparse { starts, columns, values };
        Ok((rows, width, entries))
    }
}

/// Converts the values of a matrix to numbers in double precision.
fn check_numbers<'py>(value: &Bound<'py, PyAny>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
    if !"biuf".contains(kind) {
        let what = "a matrix of features";
        return Err(found(value, what, "numbers"));
    }
    value.call_method1("astype", ("float64",))
}
