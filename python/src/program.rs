//! The program `dropchain`.

use std::ffi::OsString;
use std::io::{self, Write};

use pyo3::prelude::*;

/// Runs the program with these arguments, its name first, and returns the exit code. A signal may
/// end the process.
#[pyfunction]
pub fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| dropchain_cli::run(&arguments));
    // Rust flushes it at the end of its own programs. A pipe that is closed is no error there.
    io::stdout().flush().ok();
    code
}
