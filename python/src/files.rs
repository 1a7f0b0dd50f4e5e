//! Files that Python writes.

use std::path::PathBuf;

use dropchain::kernel::atomic_file;
use pyo3::prelude::*;

use crate::error::exception;

/// Writes a file, atomically.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, contents: &[u8]) -> PyResult<()> {
    py.detach(|| atomic_file::write(path, contents)).map_err(exception)
}
