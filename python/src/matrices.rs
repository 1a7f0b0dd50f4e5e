//! Features as matrices: a row for each token, a column for each feature.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::items::Sink;

/// The features of consecutive tokens, in compressed rows.
pub struct Matrix<'py> {
    names: Vec<String>,
    ends: Vec<usize>, // [rows]
    columns: PyReadonlyArray1<'py, i64>,
    values: PyReadonlyArray1<'py, f64>,
}

impl<'py> Matrix<'py> {
    /// Prefix of the name of an unnamed column; its number follows, from 0.
    pub const COLUMN: &'static str = "f";

    /// Reads a numpy array of two dimensions, a sparse matrix of scipy, or an object of the class
    /// `Features`; `None` if `value` is none of them.
    ///
    /// # Errors
    ///
    /// `ValueError` if the values are no numbers.
    pub fn of(value: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let rows = value.py().import("dropchain._features")?.call_method1("rows", (value,))?;
        if rows.is_none() {
            return Ok(None);
        }
        let (names, ends, columns, values) = rows.extract()?;
        let matrix = Self { names, ends, columns, values };
        let stored = matrix.columns.as_array().len().min(matrix.values.as_array().len());
        if !matrix.ends.is_sorted() || matrix.ends.last().is_some_and(|&end| end > stored) {
            return Err(PyValueError::new_err("the sparse matrix is inconsistent"));
        }
        Ok(Some(matrix))
    }

    /// Returns the number of tokens.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Calls `sink` with the name and the value of each feature of a token whose value is not 0.
    ///
    /// # Errors
    ///
    /// Errors of `sink`; `ValueError` for a value in a column that the matrix does not have.
    pub fn row(&self, row: usize, sink: &mut impl Sink) -> PyResult<()> {
        let (columns, values) = (self.columns.as_array(), self.values.as_array());
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        for i in (start..self.ends[row]).filter(|&i| values[i] != 0.0) {
            let name = usize::try_from(columns[i]).ok().and_then(|column| self.names.get(column));
            let name = name.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "the matrix has a value in column {}; it has {} columns",
                    columns[i],
                    self.names.len()
                ))
            })?;
            sink(name, values[i])?;
        }
        Ok(())
    }
}
