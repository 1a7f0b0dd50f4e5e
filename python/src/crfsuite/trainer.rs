//! Training data, and training on them.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use dropchain::train::{AttributeCorpus, TrainSettings};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::error::{at, exception};
use crate::inputs::{self, FeatureSink, Place, Tokens};
use crate::items::{ItemReader, found};
use crate::job::{self, Job};
use crate::training::{Bases, Corpora, Event, Run, observe, outcome};

/// Collects training data and trains on them. `dropchain.pycrfsuite.BaseTrainer` extends it.
///
/// Features are converted as they come, to 4 bytes for each (12 if some value is not 1).
#[pyclass(frozen, subclass, name = "CrfTrainer", module = "dropchain._dropchain")]
pub struct PyCrfTrainer {
    data: RwLock<TrainingData>,
    writer: Mutex<Option<ThreadId>>, // the thread that changes the data
}

struct TrainingData {
    corpus: AttributeCorpus, // its parts are the groups
    unlabeled: usize,        // instances without labels
    reader: ItemReader,
}

impl Default for TrainingData {
    fn default() -> Self {
        let mut corpus = AttributeCorpus::new();
        corpus.observe_zeros();
        Self {
            corpus,
            unlabeled: 0,
            reader: ItemReader::default(),
        }
    }
}

impl TrainingData {
    /// Appends an instance. `names` are those of items and labels in messages.
    fn append(
        &mut self,
        items: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        group: i32,
        [items_name, labels_name]: [Place<'_>; 2],
    ) -> PyResult<()> {
        let py = items.py();
        let labels = match labels.try_iter() {
            Ok(labels) => labels.collect::<PyResult<Vec<_>>>()?,
            Err(_) => {
                return Err(no_labels(
                    labels,
                    labels_name,
                    "labels",
                    "a list of strings",
                ));
            }
        };
        let tokens = Tokens::of(items).map_err(|e| at(py, items_name, e))?;
        let count = tokens.len()?;
        if count != labels.len() {
            return Err(PyValueError::new_err(format!(
                "The numbers of items and labels differ: |{}| = {count}, |{}| = {}",
                items_name(),
                labels_name(),
                labels.len()
            )));
        }
        self.corpus.set_part(group);
        let mut sink = LabeledSink {
            corpus: &mut self.corpus,
            labels: &labels,
            name: labels_name,
        };
        let read = tokens.read(&mut self.reader, &mut sink, items_name);
        let read = read.and_then(|()| self.corpus.end_sentence().map_err(exception));
        read.inspect_err(|_| self.corpus.discard_sentence())
    }

    /// Returns the training data, and the sentences of a group that is held out.
    fn split(&self, holdout: i32) -> Option<[AttributeCorpus; 2]> {
        (holdout >= 0).then(|| self.corpus.split(|group| group == holdout))
    }
}

#[pymethods]
impl PyCrfTrainer {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            data: RwLock::default(),
            writer: Mutex::default(),
        }
    }

    /// Appends an instance to the training data.
    ///
    /// Parameters
    /// ----------
    /// xseq : list of item features or ItemSequence
    ///     The features of each item; see `ItemSequence`.
    /// yseq : list of str
    ///     The label of each item.
    /// group : int, optional
    ///     The group of the instance; `train` can hold out a group.
    #[pyo3(signature = (xseq, yseq, group = 0))]
    fn append(&self, xseq: &Bound<'_, PyAny>, yseq: &Bound<'_, PyAny>, group: i32) -> PyResult<()> {
        let names: [Place<'_>; 2] = [&|| "xseq".to_owned(), &|| "yseq".to_owned()];
        self.write(xseq.py())?.append(xseq, yseq, group, names)
    }

    /// Removes all training data.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        *self.write(py)? = TrainingData::default();
        Ok(())
    }

    /// Appends instances; messages name them as elements of `X` and `y`.
    #[pyo3(signature = (x, y, group, names))]
    fn _append_all(
        &self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        group: i32,
        names: [String; 2],
    ) -> PyResult<()> {
        let mut data = self.write(x.py())?;
        let (mut x, mut y) = (x.try_iter()?, y.try_iter()?);
        for i in 0.. {
            let name = |name: &str| format!("{name}[{i}]");
            match (x.next().transpose()?, y.next().transpose()?) {
                (Some(items), Some(labels)) => {
                    let names: [Place<'_>; 2] = [&|| name(&names[0]), &|| name(&names[1])];
                    data.append(&items, &labels, group, names)?;
                }
                (None, None) => break,
                (more_items, _) => {
                    let (x, y) = match more_items {
                        Some(_) => (&names[0], &names[1]),
                        None => (&names[1], &names[0]),
                    };
                    return Err(PyValueError::new_err(format!(
                        "{x} has more sequences than {y}, which has {i}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Appends sequences of items without labels, for the noise term.
    fn _append_unlabeled(&self, x: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
        let mut data = self.write(x.py())?;
        let TrainingData {
            corpus,
            unlabeled,
            reader,
        } = &mut *data;
        let before = corpus.len();
        for (i, items) in x.try_iter()?.enumerate() {
            let place = || format!("{name}[{i}]");
            let tokens = Tokens::of(&items?).map_err(|e| at(x.py(), place, e))?;
            let read = tokens.read(reader, &mut UnlabeledSink(corpus), &place);
            let read = read.and_then(|()| corpus.end_sentence().map_err(exception));
            read.inspect_err(|_| corpus.discard_sentence())?;
        }
        *unlabeled += corpus.len() - before;
        Ok(())
    }

    /// Returns how many instances there are.
    #[getter]
    fn _instances(&self) -> PyResult<usize> {
        Ok(self.read()?.corpus.len())
    }

    /// Returns how many instances a training run would train on.
    fn _training_instances(&self, holdout: i32) -> PyResult<usize> {
        let data = self.read()?;
        let corpus = &data.corpus;
        let held_out = if holdout < 0 {
            0
        } else {
            corpus.part_len(holdout)
        };
        Ok(corpus.len() - data.unlabeled - held_out)
    }

    /// Trains a model with options of [`crate::training::train`], and returns a dict like it.
    /// `handler(kind, fields)` gets the training events.
    fn _train<'py>(
        &self,
        py: Python<'py>,
        options: &Bound<'py, PyDict>,
        holdout: i32,
        threads: Option<usize>,
        handler: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let bases = Bases::new(None, None);
        let options = bases.options(options)?;
        let settings = TrainSettings::new(options.clone()).map_err(exception)?;
        let run = Run {
            bases: &bases,
            options,
            memory: inputs::memory_limit(None)?,
            checkpoints: None,
            template: None,
            is_followed: true,
        };
        if let Ok(mut data) = self.write(py) {
            data.corpus.shrink_to_fit();
        }
        let data = self.read()?;
        let work = |job: &Job<'_, Event>| {
            let parts = data.split(holdout);
            let [corpus, dev] = match &parts {
                None => [&data.corpus, &AttributeCorpus::new()],
                Some([rest, held_out]) => [rest, held_out],
            };
            let dev = Some(dev).filter(|dev| !dev.is_empty());
            run.train(Corpora::Attributes(corpus, dev), job)
        };
        let finished = job::run(py, threads, work, |event| observe(handler, event))?;
        outcome(py, finished, &settings)
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "cannot pickle a trainer: it has no state but training data; pickle these",
        ))
    }
}

/// An instance with labels.
struct LabeledSink<'a, 'py> {
    corpus: &'a mut AttributeCorpus,
    labels: &'a [Bound<'py, PyAny>], // [T]
    name: Place<'a>,
}

impl FeatureSink for LabeledSink<'_, '_> {
    #[inline]
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.corpus.attribute(name, value).map_err(exception)
    }

    fn end_token(&mut self, t: usize) -> PyResult<()> {
        let label = &self.labels[t];
        let place = || format!("{}[{t}]", (self.name)());
        let text = match (label.cast::<PyString>(), label.cast::<PyBytes>()) {
            (Ok(text), _) => Some(text.to_cow()?),
            (_, Ok(bytes)) => str::from_utf8(bytes.as_bytes()).ok().map(Cow::from),
            _ => None,
        };
        let text = text.ok_or_else(|| no_labels(label, &place, "a label", "a string"))?;
        let ended = self.corpus.end_token(Some(&text)).map_err(exception);
        ended.map_err(|error| at(label.py(), place, error))
    }
}

/// Returns the `TypeError` for something else than labels, like python-crfsuite.
fn no_labels(value: &Bound<'_, PyAny>, place: Place<'_>, what: &str, expected: &str) -> PyErr {
    let fault = found(value, what, expected);
    let message = fault.value(value.py());
    PyTypeError::new_err(format!("{}: {message}", place()))
}

/// An instance without labels.
struct UnlabeledSink<'a>(&'a mut AttributeCorpus);

impl FeatureSink for UnlabeledSink<'_> {
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.0.attribute(name, value).map_err(exception)
    }

    fn end_token(&mut self, _t: usize) -> PyResult<()> {
        self.0.end_token(None).map_err(exception)
    }
}

/// How often the data are tried again while another thread changes them.
const RETRY: Duration = Duration::from_micros(100);

/// The data, to be changed by this thread.
struct Writing<'a> {
    data: RwLockWriteGuard<'a, TrainingData>,
    writer: &'a Mutex<Option<ThreadId>>,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Deref for Writing<'_> {
    type Target = TrainingData;

    fn deref(&self) -> &TrainingData {
        &self.data
    }
}

impl DerefMut for Writing<'_> {
    fn deref_mut(&mut self) -> &mut TrainingData {
        &mut self.data
    }
}

impl PyCrfTrainer {
    /// Returns the data to change them; waits for other threads that do.
    ///
    /// # Errors
    ///
    /// `RuntimeError` while training, or if features that are being read call back.
    fn write(&self, py: Python<'_>) -> PyResult<Writing<'_>> {
        let this_thread = thread::current().id();
        loop {
            let data = match self.data.try_write() {
                Ok(data) => data,
                Err(TryLockError::Poisoned(error)) => error.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    let writer = *self.writer.lock().unwrap_or_else(PoisonError::into_inner);
                    if writer.is_none_or(|writer| writer == this_thread) {
                        return Err(in_use());
                    }
                    py.detach(|| thread::sleep(RETRY));
                    continue;
                }
            };
            *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(this_thread);
            return Ok(Writing {
                data,
                writer: &self.writer,
            });
        }
    }

    fn read(&self) -> PyResult<RwLockReadGuard<'_, TrainingData>> {
        match self.data.try_read() {
            Ok(data) => Ok(data),
            Err(TryLockError::Poisoned(error)) => Ok(error.into_inner()),
            Err(TryLockError::WouldBlock) => Err(in_use()),
        }
    }
}

fn in_use() -> PyErr {
    PyRuntimeError::new_err(
        "the trainer is in use: it is training, or another thread appends to it",
    )
}
