//! The tagger of `dropchain.pycrfsuite`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use dropchain::chain::Marginals;
use dropchain::label::LabelId;
use dropchain::tag::KeyedSentence;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::batch;
use super::dump::dump;
use super::instance::{label_text, labels_of};
use super::item_sequence::read_items;
use super::model::{OpenModel, PyCrfModel};
use crate::error::exception;

/// Predicts labels with a model. `dropchain.pycrfsuite.Tagger` extends it.
#[pyclass(frozen, subclass, name = "CrfTagger", module = "dropchain._dropchain")]
pub struct PyCrfTagger {
    model: RwLock<Option<Arc<OpenModel>>>,
    current: Mutex<Current>,
}

/// The sequence that was tagged or set last.
#[derive(Default)]
struct Current {
    sentence: Option<KeyedSentence>,
    marginals: Option<Marginals>, // [T][K], once they are asked for
}

impl PyCrfTagger {
    fn open_model(&self) -> Option<Arc<OpenModel>> {
        self.model
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the model.
    ///
    /// # Errors
    ///
    /// `ValueError` if none is open.
    fn opened(&self) -> PyResult<Arc<OpenModel>> {
        let closed = || PyValueError::new_err("The tagger is not opened");
        self.open_model().ok_or_else(closed)
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a sentence the current one; returns that before.
    fn replace(&self, sentence: KeyedSentence) -> Option<KeyedSentence> {
        let mut current = self.current();
        current.marginals = None;
        current.sentence.replace(sentence)
    }

    fn set_model(&self, model: Option<Arc<OpenModel>>) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = model;
        *self.current() = Current::default();
    }
}

#[pymethods]
impl PyCrfTagger {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            model: RwLock::default(),
            current: Mutex::default(),
        }
    }

    fn _open(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let model = py
            .detach(|| dropchain_crfsuite::open(path))
            .map_err(exception)?;
        self.set_model(Some(Arc::new(OpenModel::new(py, model))));
        Ok(())
    }

    fn _open_bytes(&self, py: Python<'_>, contents: &Bound<'_, PyBytes>) -> PyResult<()> {
        let contents = contents.as_bytes().to_vec();
        let model = py
            .detach(|| dropchain_crfsuite::from_bytes(contents))
            .map_err(exception)?;
        self.set_model(Some(Arc::new(OpenModel::new(py, model))));
        Ok(())
    }

    fn _open_model(&self, model: &PyCrfModel) {
        self.set_model(Some(Arc::clone(&model.open)));
    }

    fn _model(&self) -> PyResult<PyCrfModel> {
        Ok(PyCrfModel {
            open: self.opened()?,
        })
    }

    /// Closes the model.
    fn close(&self) {
        self.set_model(None);
    }

    /// Returns the labels of the model.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let open = self.opened()?;
        PyList::new(py, open.labels.iter().map(|label| label.bind(py)))
    }

    /// Predicts the labels of a sequence.
    ///
    /// Parameters
    /// ----------
    /// xseq : list of item features or ItemSequence, optional
    ///     By default the sequence that was set or tagged last.
    ///
    /// Returns
    /// -------
    /// list of str
    ///     The most likely labels. Any sequence of labels is possible.
    #[pyo3(signature = (xseq = None))]
    fn tag<'py>(
        &self,
        py: Python<'py>,
        xseq: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let open = self.opened()?;
        let mut scratch = open.scratch().map_err(exception)?;
        let Some(xseq) = xseq else {
            let tagging = py.detach(|| {
                let current = self.current();
                let sentence = current.sentence.as_ref();
                let workspace = &mut scratch.workspace;
                sentence.map(|sentence| open.tag(sentence, false, workspace))
            });
            open.recycle(scratch);
            let tagging = tagging.transpose().map_err(exception)?.unwrap_or_default();
            return open.names(py, &tagging);
        };
        let (reader, sentence) = (&mut scratch.reader, &mut scratch.sentence);
        read_items(xseq, &|| "xseq".to_owned(), reader, sentence)?;
        let tagging = py.detach(|| open.tag(&scratch.sentence, false, &mut scratch.workspace));
        let labels = tagging
            .map_err(exception)
            .and_then(|tagging| open.names(py, &tagging));
        let empty = open.tagger.keyed_sentence().map_err(exception)?;
        let sentence = std::mem::replace(&mut scratch.sentence, empty);
        if let Some(before) = self.replace(sentence) {
            scratch.sentence = before;
        }
        open.recycle(scratch);
        labels
    }

    /// Sets the sequence for `tag`, `probability` and `marginal`.
    fn set(&self, xseq: &Bound<'_, PyAny>) -> PyResult<()> {
        let open = self.opened()?;
        let mut sentence = open.tagger.keyed_sentence().map_err(exception)?;
        let mut scratch = open.scratch().map_err(exception)?;
        let read = read_items(
            xseq,
            &|| "xseq".to_owned(),
            &mut scratch.reader,
            &mut sentence,
        );
        open.recycle(scratch);
        read?;
        self.replace(sentence);
        Ok(())
    }

    /// Returns the probability of a label sequence for the current sequence of items: the one that
    /// was set or tagged last.
    ///
    /// Parameters
    /// ----------
    /// yseq : list of str
    ///     The label of each item.
    fn probability(&self, py: Python<'_>, yseq: &Bound<'_, PyAny>) -> PyResult<f64> {
        let open = self.opened()?;
        let labels = labels_of(yseq, &|| "yseq".to_owned())?;
        let names = labels.iter().enumerate();
        let names = names.map(|(t, label)| label_text(label, || format!("yseq[{t}]")));
        let names = names.collect::<PyResult<Vec<_>>>()?;
        // Locked only while detached: a thread that waits for the lock may hold the GIL.
        py.detach(|| {
            let current = self.current();
            let Some(sentence) = current.sentence.as_ref().filter(|s| !s.is_empty()) else {
                return Ok(0.0);
            };
            if names.len() != sentence.len() {
                return Err(PyValueError::new_err(format!(
                    "The numbers of items and labels differ: |xseq| = {}, |yseq| = {}",
                    sentence.len(),
                    names.len()
                )));
            }
            for (t, name) in names.iter().enumerate() {
                label_id(&open, name, || format!("yseq[{t}]"))?;
            }
            let distribution = open.tagger.distribution(sentence);
            let probability = distribution.and_then(|found| found.probability(&names));
            probability.map_err(exception)
        })
    }

    /// Returns the probability that an item of the current sequence has a label.
    ///
    /// Parameters
    /// ----------
    /// y : str
    ///     The label.
    /// pos : int
    ///     The position of the item.
    fn marginal(&self, py: Python<'_>, y: &Bound<'_, PyAny>, pos: i64) -> PyResult<f64> {
        let open = self.opened()?;
        let name = label_text(y, || "y".to_owned())?;
        // Locked only while detached, as above.
        py.detach(|| {
            let Current {
                sentence,
                marginals,
            } = &mut *self.current();
            let Some(sentence) = sentence.as_ref().filter(|s| !s.is_empty()) else {
                return Ok(0.0);
            };
            let t = usize::try_from(pos).ok().filter(|&t| t < sentence.len());
            let Some(t) = t else {
                return Err(PyValueError::new_err(format!(
                    "The position, {pos}, is out of range of {} items",
                    sentence.len()
                )));
            };
            let label = label_id(&open, &name, || "y".to_owned())?;
            if marginals.is_none() {
                let mut scratch = open.scratch().map_err(exception)?;
                let tagged = open.tag(sentence, true, &mut scratch.workspace);
                open.recycle(scratch);
                *marginals = tagged.map_err(exception)?.marginals;
            }
            let found = marginals
                .as_ref()
                .and_then(|m| m.rows().nth(t)?.get(label).copied());
            found.ok_or_else(|| PyRuntimeError::new_err("another model was opened meanwhile"))
        })
    }

    /// Returns the contents of the model: dicts of labels, attributes, transitions and state
    /// features.
    fn _dump<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyDict>; 4]> {
        let closed = || PyRuntimeError::new_err("Tagger is closed");
        let open = self.open_model().ok_or_else(closed)?;
        dump(py, &open)
    }

    /// Returns the size of the model file in bytes, and the number of its weights.
    fn _size(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let closed = || PyRuntimeError::new_err("Tagger is closed");
        let open = self.open_model().ok_or_else(closed)?;
        let (weights, _) = py.detach(|| open.counts()).map_err(exception)?;
        Ok((open.tagger.model().as_bytes().len(), weights))
    }

    /// Predicts the labels of many sequences in parallel; `name` is theirs in messages.
    #[pyo3(signature = (x, threads = None, name = "X"))]
    fn _tag_all<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: Option<usize>,
        name: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        batch::tag(py, &*self.opened()?, x, name, threads)
    }

    /// Returns the probabilities of labels, `{label: probability}` for each item of each sequence.
    #[pyo3(signature = (x, threads = None, name = "X"))]
    fn _marginals_all<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: Option<usize>,
        name: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        batch::marginals(py, &*self.opened()?, x, name, threads)
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "cannot pickle a tagger; pickle the contents of its model file",
        ))
    }
}

/// Returns the index of a label.
///
/// # Errors
///
/// `RuntimeError` if the model does not have it, like python-crfsuite.
fn label_id(open: &OpenModel, name: &str, place: impl FnOnce() -> String) -> PyResult<usize> {
    let id = open.tagger.model().header().labels.id(name);
    id.map(LabelId::index).ok_or_else(|| {
        let place = place();
        PyRuntimeError::new_err(format!(
            "{place}: the label '{name}' is unknown to the model"
        ))
    })
}
