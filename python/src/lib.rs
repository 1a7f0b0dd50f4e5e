//! The extension module `dropchain._dropchain`: what must be fast, or needs the library. The rest
//! of the package is Python, in `lib/dropchain/`.

mod crfsuite;
mod error;
mod items;
mod job;
mod threads;

use pyo3::prelude::*;

/// The core of the package `dropchain`. Import the package instead: names here may change.
#[pymodule]
mod _dropchain {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::crfsuite::{PyCrfModel, PyCrfTagger, PyCrfTrainer, PyItemSequence};
    #[pymodule_export]
    use super::error::{Interrupted, ModelError};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
