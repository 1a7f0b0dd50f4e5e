//! The extension module `dropchain._dropchain`: what must be fast, or needs the library. The rest
//! of the package is Python, in `lib/dropchain/`.
#![allow(clippy::needless_pass_by_value)] // arguments of Python functions are values

mod checking;
mod corpus;
mod crfsuite;
mod documents;
mod error;
mod evaluation;
mod inputs;
mod items;
mod job;
mod matrices;
mod objects;
mod options;
mod plot;
mod report;
mod sentence;
mod tagger;
mod template;
mod threads;
mod tokens;
mod training;
mod tuning;

use pyo3::prelude::*;

/// The core of the package `dropchain`. Import the package instead: names here may change.
#[pymodule]
mod _dropchain {
    use std::ffi::OsString;
    use std::io::{self, Write};
    use std::path::PathBuf;

    use dropchain::kernel::atomic_file;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        checking::check,
        corpus::{PyCorpus, PyReadOptions, label_column, label_names, sample_text},
        crfsuite::PyCrfTrainer,
        documents::{PyDocumentModel, load, train_classifier},
        error::{Interrupted, ModelError},
        evaluation::{calibration, compare, evaluate, spans},
        options::option_table,
        plot::{draw, explanation_html, hue, style},
        report::report,
        sentence::PySentence,
        tagger::PyTagger,
        template::PyTemplate,
        tokens::PyItemSequence,
        training::train,
        tuning::tune,
    };
    use crate::error::exception;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs the program with these arguments, its name first, and returns the exit code. A signal
    /// may end the process.
    #[pyfunction]
    fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        let code = py.detach(|| dropchain_cli::run(&arguments));
        // Rust flushes it at the end of its own programs. A pipe that is closed is no error there.
        io::stdout().flush().ok();
        code
    }

    /// Writes a file, atomically.
    #[pyfunction]
    fn write_file(py: Python<'_>, path: PathBuf, contents: &[u8]) -> PyResult<()> {
        py.detach(|| atomic_file::write(path, contents)).map_err(exception)
    }
}
