//! The extension module `dropchain._dropchain`: what must be fast, or needs the library. The rest
//! of the package is Python, in `lib/dropchain/`.
#![allow(clippy::needless_pass_by_value)] // arguments of Python functions are values

mod attributes;
mod checking;
mod corpus;
mod crfsuite;
mod documents;
mod error;
mod evaluation;
mod fields;
mod files;
mod inputs;
mod items;
mod job;
mod json;
mod matrices;
mod options;
mod plot;
mod program;
mod report;
mod sentence;
mod tagger;
mod tagging;
mod template;
mod threads;
mod tokens;
mod training;
mod tuning;

use pyo3::prelude::*;

/// The core of the package `dropchain`. Import the package instead: names here may change.
#[pymodule]
mod _dropchain {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::checking::check;
    #[pymodule_export]
    use super::corpus::{PyCorpus, PyReadOptions, label_column, label_names, sample_text};
    #[pymodule_export]
    use super::crfsuite::PyCrfTrainer;
    #[pymodule_export]
    use super::documents::{PyDocumentModel, load, train_classifier};
    #[pymodule_export]
    use super::error::{Interrupted, ModelError};
    #[pymodule_export]
    use super::evaluation::{calibration, compare, evaluate, spans};
    #[pymodule_export]
    use super::files::write_file;
    #[pymodule_export]
    use super::options::option_table;
    #[pymodule_export]
    use super::plot::{draw, explanation_html, hue, plot_style};
    #[pymodule_export]
    use super::program::run_program;
    #[pymodule_export]
    use super::report::report;
    #[pymodule_export]
    use super::sentence::PySentence;
    #[pymodule_export]
    use super::tagger::PyTagger;
    #[pymodule_export]
    use super::template::PyTemplate;
    #[pymodule_export]
    use super::tokens::PyItemSequence;
    #[pymodule_export]
    use super::training::train;
    #[pymodule_export]
    use super::tuning::tune;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
