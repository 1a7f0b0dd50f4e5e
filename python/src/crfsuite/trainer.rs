//! Training data, and training on them.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use dropchain::Trainer;
use dropchain::train::AttributeCorpus;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::events::{Event, EventSender};
use super::instance::{AttributeSink, LabeledSink, labels_of};
use super::item_sequence::read_items;
use super::model::PyCrfModel;
use super::parameters::train_options;
use crate::error::exception;
use crate::items::ItemReader;
use crate::job;

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
        [items_name, labels_name]: [&dyn Fn() -> String; 2],
    ) -> PyResult<()> {
        let labels = labels_of(labels, labels_name)?;
        self.corpus.set_part(group);
        let mut sink = LabeledSink {
            corpus: &mut self.corpus,
            labels: &labels,
            name: labels_name,
        };
        let read = read_items(items, items_name, &mut self.reader, &mut sink);
        let read = read.and_then(|count| {
            if count == labels.len() {
                return self.corpus.end_sentence().map_err(exception);
            }
            Err(PyValueError::new_err(format!(
                "The numbers of items and labels differ: |{}| = {count}, |{}| = {}",
                items_name(),
                labels_name(),
                labels.len()
            )))
        });
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
        let names: [&dyn Fn() -> String; 2] = [&|| "xseq".to_owned(), &|| "yseq".to_owned()];
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
                    let names: [&dyn Fn() -> String; 2] =
                        [&|| name(&names[0]), &|| name(&names[1])];
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
            let name = || format!("{name}[{i}]");
            let read = read_items(&items?, &name, reader, &mut UnlabeledSink(corpus));
            let read = read.and_then(|_| corpus.end_sentence().map_err(exception));
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

    /// Trains a model. `handler(kind, fields)` gets the training events.
    ///
    /// Returns the model and None, or the exception that ended training early: then the model is
    /// that so far, or None.
    #[pyo3(signature = (algorithm, parameters, extensions, holdout, threads, handler))]
    #[expect(clippy::too_many_arguments, reason = "arguments of a Python function")]
    fn _train(
        &self,
        py: Python<'_>,
        algorithm: &str,
        parameters: &Bound<'_, PyDict>,
        extensions: &Bound<'_, PyDict>,
        holdout: i32,
        threads: Option<usize>,
        handler: &Bound<'_, PyAny>,
    ) -> PyResult<(Option<PyCrfModel>, Option<PyErr>)> {
        let options = train_options(algorithm, parameters, extensions)?;
        let trainer = Trainer::new(options).map_err(exception)?;
        if let Ok(mut data) = self.write(py) {
            data.corpus.shrink_to_fit();
        }
        let data = self.read()?;
        let work = |job: &job::Job<'_, Event>| {
            let parts = data.split(holdout);
            let [corpus, dev] = match &parts {
                None => [Some(&data.corpus), None],
                Some([rest, held_out]) => [Some(rest), Some(held_out).filter(|d| !d.is_empty())],
            };
            let trainer = trainer.interrupt(job.interrupt);
            let corpus = corpus.unwrap_or(&data.corpus);
            trainer.train_attributes(corpus, dev, &mut EventSender::new(job))
        };
        let finished = job::run(py, threads, work, |event| event.call(handler))?;
        let Some(raised) = finished.exception else {
            let trained = finished.result.map_err(exception)?;
            return Ok((Some(PyCrfModel::new(py, trained.model)), None));
        };
        let is_interrupt = raised.is_instance_of::<PyKeyboardInterrupt>(py);
        let trained = finished
            .result
            .ok()
            .filter(|trained| trained.end.iterations > 0);
        let model = trained.filter(|_| is_interrupt);
        let model = model.map(|trained| PyCrfModel::new(py, trained.model));
        Ok((model, Some(raised)))
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "cannot pickle a trainer: it has no state but training data; pickle these",
        ))
    }
}

/// An instance without labels.
struct UnlabeledSink<'a>(&'a mut AttributeCorpus);

impl AttributeSink for UnlabeledSink<'_> {
    fn attribute(&mut self, name: &str, value: f64) -> dropchain::Result<()> {
        self.0.attribute(name, value)
    }

    fn end_item(&mut self, _t: usize) -> PyResult<()> {
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
