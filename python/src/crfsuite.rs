//! The core of `dropchain.pycrfsuite` and `dropchain.sklearn`: training data, and training on
//! them in the semantics of CRFsuite.

use std::ops::ControlFlow;

use dropchain::train::{AttributeCorpus, BaseModels, Trainer};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::error::{at, exception};
use crate::items::{ItemReader, found, type_error};
use crate::job::{self, Job};
use crate::options::train_options;
use crate::tagger::PyTagger;
use crate::tokens::Tokens;
use crate::training::{Event, checked, follow, outcome, record};

/// Collects training data and trains on them. `dropchain.pycrfsuite.BaseTrainer` extends it, where
/// threads that append wait for one another.
///
/// Features are converted as they come, to 4 bytes for each (12 if some value is not 1).
#[pyclass(subclass, name = "CrfTrainer", module = "dropchain._dropchain")]
pub struct PyCrfTrainer {
    corpus: AttributeCorpus, // its parts are the groups
    unlabeled: usize,        // instances without labels
    reader: ItemReader,
}

#[pymethods]
impl PyCrfTrainer {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::empty()
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
    fn append(
        slf: &Bound<'_, Self>,
        xseq: &Bound<'_, PyAny>,
        yseq: &Bound<'_, PyAny>,
        group: i32,
    ) -> PyResult<()> {
        write(slf)?.push(xseq, yseq, group, ["xseq", "yseq"].map(str::to_owned))
    }

    /// Removes all training data.
    fn clear(slf: &Bound<'_, Self>) -> PyResult<()> {
        *write(slf)? = Self::empty();
        Ok(())
    }

    /// Appends instances; messages name them as elements of `X` and `y`.
    fn _append_all(
        slf: &Bound<'_, Self>,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        group: i32,
        mut names: [String; 2],
    ) -> PyResult<()> {
        let mut data = write(slf)?;
        let (mut x, mut y) = (x.try_iter()?, y.try_iter()?);
        for i in 0.. {
            match (x.next().transpose()?, y.next().transpose()?) {
                (Some(items), Some(labels)) => {
                    let places = names.each_ref().map(|name| format!("{name}[{i}]"));
                    data.push(&items, &labels, group, places)?;
                }
                (None, None) => break,
                (more_items, _) => {
                    if more_items.is_none() {
                        names.reverse();
                    }
                    let message = format!("has more sequences than {}, which has {i}", names[1]);
                    return Err(PyValueError::new_err(format!("{} {message}", names[0])));
                }
            }
        }
        Ok(())
    }

    /// Appends sequences of items without labels, for the noise term.
    fn _append_unlabeled(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
        let mut data = write(slf)?;
        for (i, items) in x.try_iter()?.enumerate() {
            let place = format!("{name}[{i}]");
            let tokens = Tokens::of(&items?, &data.reader).map_err(|e| at(|| place.clone(), e))?;
            let before = data.corpus.len();
            data.push_tokens(&tokens, &vec![None; tokens.len()], &place, &place)?;
            data.unlabeled += data.corpus.len() - before;
        }
        Ok(())
    }

    /// Returns how many instances there are.
    #[getter]
    fn _instances(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(read(slf)?.corpus.len())
    }

    /// Returns how many instances a training run would train on.
    fn _training_instances(slf: &Bound<'_, Self>, holdout: i32) -> PyResult<usize> {
        let data = read(slf)?;
        let held_out = match holdout {
            0.. => data.corpus.part_len(holdout),
            _ => 0,
        };
        Ok(data.corpus.len() - data.unlabeled - held_out)
    }

    /// Trains a model with options of [`crate::training::train`], and returns a dict like it.
    /// `handler(kind, fields)` gets the training events; training starts at the weights of `init`.
    fn _train<'py>(
        slf: &Bound<'py, Self>,
        options: &Bound<'py, PyDict>,
        holdout: i32,
        threads: Option<usize>,
        handler: &Bound<'py, PyAny>,
        init: Option<Bound<'py, PyTagger>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let init = init.as_ref().map(|tagger| tagger.get().inner.model());
        let models = BaseModels { init, towards: None };
        let mut base = models.default_options();
        if let Some(plain) = options.get_item("plain")? {
            base.method.optimizer.plain = plain.extract()?;
            options.del_item("plain")?;
        }
        let settings = checked(train_options(options, base)?, &models)?;
        if let Ok(mut data) = write(slf) {
            data.corpus.shrink_to_fit();
        }
        let data = read(slf)?;
        let corpus = &data.corpus;
        let work = |job: &Job<'_, Event>| {
            let parts = (holdout >= 0).then(|| corpus.split(|group| group == holdout));
            let (corpus, dev) = match &parts {
                None => (corpus, None),
                Some([rest, held_out]) => (rest, Some(held_out).filter(|dev| !dev.is_empty())),
            };
            let trainer = Trainer::with_settings(settings.clone()).models(models);
            record(job, true, trainer, |t, recorder| t.train_attributes(corpus, dev, recorder))
        };
        let handle = |event: Event| match event.kind {
            "warning" => Ok(ControlFlow::Continue(())), // CRFsuite gives none
            _ => follow(slf.py(), Some(handler), event),
        };
        let (trained, raised) = job::run(slf.py(), threads, work, handle)?;
        outcome(slf.py(), trained, raised, &settings)
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "cannot pickle a trainer: it has no state but training data; pickle these",
        ))
    }
}

impl PyCrfTrainer {
    fn empty() -> Self {
        let mut corpus = AttributeCorpus::new();
        corpus.observe_zeros();
        Self { corpus, unlabeled: 0, reader: ItemReader::of_crfsuite() }
    }

    /// Appends an instance. The places are those of items and labels in messages.
    fn push(
        &mut self,
        items: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        group: i32,
        [place, label_place]: [String; 2],
    ) -> PyResult<()> {
        let tokens = Tokens::of(items, &self.reader).map_err(|e| at(|| place.clone(), e))?;
        let unexpected = |_| no_labels(labels, label_place.clone(), "labels", "a list of strings");
        let labels = labels.try_iter().map_err(unexpected)?.enumerate();
        let label = |(t, label): (usize, PyResult<_>)| {
            let label = label?;
            let unexpected =
                || no_labels(&label, format!("{label_place}[{t}]"), "a label", "a string");
            text(&label)?.ok_or_else(unexpected).map(Some)
        };
        let labels = labels.map(label).collect::<PyResult<Vec<_>>>()?;
        let count = tokens.len();
        if count != labels.len() {
            return Err(PyValueError::new_err(format!(
                "The numbers of items and labels differ: |{place}| = {count}, |{label_place}| = {}",
                labels.len()
            )));
        }
        self.corpus.set_part(group);
        self.push_tokens(&tokens, &labels, &place, &label_place)
    }

    /// Appends tokens with their labels, `[T]`, of which some may be unknown; if that fails, the
    /// data are as before.
    fn push_tokens(
        &mut self,
        tokens: &Tokens<'_>,
        labels: &[Option<String>],
        place: &str,
        label_place: &str,
    ) -> PyResult<()> {
        let (corpus, reader) = (&mut self.corpus, &mut self.reader);
        let mut add = || {
            for (t, label) in labels.iter().enumerate() {
                let mut sink = |name: &str, value| corpus.attribute(name, value).map_err(exception);
                let read = tokens.read(t, reader, &mut sink);
                read.map_err(|e| at(|| format!("{place}[{t}]"), e))?;
                let ended = corpus.end_token(label.as_deref()).map_err(exception);
                ended.map_err(|e| at(|| format!("{label_place}[{t}]"), e))?;
            }
            corpus.end_sentence().map_err(exception)
        };
        add().inspect_err(|_| self.corpus.discard_sentence())
    }
}

/// Returns a label, which is a string or bytes in UTF-8.
fn text(label: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(match (label.cast::<PyString>(), label.cast::<PyBytes>()) {
        (Ok(text), _) => Some(text.to_cow()?.into_owned()),
        (_, Ok(bytes)) => str::from_utf8(bytes.as_bytes()).ok().map(str::to_owned),
        _ => None,
    })
}

/// Returns the `TypeError` for something else than labels, like python-crfsuite.
fn no_labels(value: &Bound<'_, PyAny>, place: String, what: &str, expected: &str) -> PyErr {
    let fault = found(value, what, expected);
    at(|| place, type_error(value.py(), &fault))
}

/// Returns the data to change them.
///
/// # Errors
///
/// `RuntimeError` while training, or if features that are being read call back.
fn write<'py>(trainer: &Bound<'py, PyCrfTrainer>) -> PyResult<PyRefMut<'py, PyCrfTrainer>> {
    trainer.try_borrow_mut().map_err(|_| in_use())
}

fn read<'py>(trainer: &Bound<'py, PyCrfTrainer>) -> PyResult<PyRef<'py, PyCrfTrainer>> {
    trainer.try_borrow().map_err(|_| in_use())
}

fn in_use() -> PyErr {
    PyRuntimeError::new_err(
        "the trainer is in use: it is training, or another thread appends to it",
    )
}
