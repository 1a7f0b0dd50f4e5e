//! A model, opened for tagging.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dropchain::tag::{KeyedSentence, TagOptions, Tagging, Workspace};
use dropchain::{Model, Result, Tagger};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::error::exception;
use crate::items::ItemReader;

/// The most scratch memory that is kept idle, in taggers that ran at the same time.
const IDLE: usize = 64;

/// A model, shared by taggers and threads.
pub struct OpenModel {
    pub tagger: Tagger,
    /// The labels as Python strings, in the order of their ids.
    pub labels: Vec<Py<PyString>>,
    scratch: Mutex<Vec<Scratch>>,
}

/// What tagging a sentence reuses.
pub struct Scratch {
    pub reader: ItemReader,
    pub sentence: KeyedSentence,
    pub workspace: Workspace,
}

impl OpenModel {
    pub fn new(py: Python<'_>, model: Model) -> Self {
        let labels = model.header().labels.names().iter();
        let labels = labels
            .map(|name| PyString::new(py, name).unbind())
            .collect();
        Self {
            labels,
            tagger: Tagger::new(model),
            scratch: Mutex::default(),
        }
    }

    /// Returns scratch memory with an empty sentence.
    ///
    /// # Errors
    ///
    /// The model has a template.
    pub fn scratch(&self) -> Result<Scratch> {
        let idle = self.idle().pop();
        if let Some(mut scratch) = idle {
            scratch.sentence.clear();
            return Ok(scratch);
        }
        Ok(Scratch {
            reader: ItemReader::default(),
            sentence: self.tagger.keyed_sentence()?,
            workspace: Workspace::default(),
        })
    }

    /// Keeps scratch memory for later.
    pub fn recycle(&self, scratch: Scratch) {
        let mut idle = self.idle();
        if idle.len() < IDLE {
            idle.push(scratch);
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tags a sentence, without constraints on the labels.
    pub fn tag(
        &self,
        sentence: &KeyedSentence,
        marginals: bool,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        let options = TagOptions {
            constrain: false,
            marginals,
            ..TagOptions::default()
        };
        self.tagger.tag_with(sentence, options, workspace)
    }

    /// Counts the nonzero weights, of attributes and of label pairs, and the attributes that have
    /// some.
    pub fn counts(&self) -> Result<(usize, usize)> {
        let model = self.tagger.model();
        let transitions = &model.header().label_weights.transitions;
        let mut weights = transitions.iter().filter(|&&weight| weight != 0.0).count();
        let mut attributes = 0;
        for row in model.node_weights() {
            let (_, row) = row?;
            weights += row.len();
            attributes += usize::from(!row.is_empty());
        }
        Ok((weights, attributes))
    }

    /// Returns the names of labels.
    pub fn names<'py>(&self, py: Python<'py>, tagging: &Tagging) -> PyResult<Bound<'py, PyList>> {
        let labels = tagging.labels.iter();
        PyList::new(py, labels.map(|&label| self.labels[label.index()].bind(py)))
    }
}

/// A trained model in memory.
#[pyclass(frozen, name = "CrfModel", module = "dropchain._dropchain")]
pub struct PyCrfModel {
    pub open: Arc<OpenModel>,
}

impl PyCrfModel {
    pub fn new(py: Python<'_>, model: Model) -> Self {
        Self {
            open: Arc::new(OpenModel::new(py, model)),
        }
    }

    fn model(&self) -> &Model {
        self.open.tagger.model()
    }
}

#[pymethods]
impl PyCrfModel {
    /// Reads a model from the contents of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, contents: Vec<u8>) -> PyResult<Self> {
        let model = py
            .detach(|| dropchain_crfsuite::from_bytes(contents))
            .map_err(exception)?;
        Ok(Self::new(py, model))
    }

    /// Opens a model file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = py
            .detach(|| dropchain_crfsuite::open(path))
            .map_err(exception)?;
        Ok(Self::new(py, model))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = slf.get_type().getattr("from_bytes")?;
        Ok((make, (slf.get().to_bytes(slf.py()),)))
    }

    /// Writes the model file, atomically.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.model().save(path)).map_err(exception)
    }

    /// Returns the contents of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.model().as_bytes())
    }

    /// Returns the numbers of nonzero weights, attributes and labels.
    fn counts(&self, py: Python<'_>) -> PyResult<(usize, usize, usize)> {
        let (weights, attributes) = py.detach(|| self.open.counts()).map_err(exception)?;
        Ok((weights, attributes, self.open.labels.len()))
    }
}
