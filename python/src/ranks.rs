//! Training by ranks that are connected by TCP: what each of them calls.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dropchain::corpus::Schema;
use dropchain::train::{
    BaseModels, Ranks, Reduce, SocketListener, SocketRanks, TrainSettings, TrainingCorpora,
    check_own_sentences, check_ranks,
};
use dropchain::{Corpus, Error, Result};
use pyo3::exceptions::{PyConnectionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow::PyArrowSentences;
use crate::corpus::memory_limit;
use crate::error::exception;
use crate::inputs;
use crate::job::{self, Finished, Job};
use crate::template::PyTemplate;
use crate::training::{Bases, Corpora, Event, Run, check_unlabeled, outcome};

/// A rank: a process of a distributed run. It waits at a port of `address`, until it is connected
/// with the others.
#[pyclass(name = "Rank", module = "dropchain._dropchain", frozen)]
pub struct PyRank {
    port: u16,
    listener: Mutex<Option<SocketListener>>,
    ranks: Mutex<Option<Ranks>>,
    is_lost: Arc<AtomicBool>,
}

#[pymethods]
impl PyRank {
    #[new]
    fn new(address: &str) -> PyResult<Self> {
        let listener = SocketListener::bind(address).map_err(lost)?;
        Ok(Self {
            port: listener.address().map_err(lost)?.port(),
            listener: Mutex::new(Some(listener)),
            ranks: Mutex::default(),
            is_lost: Arc::default(),
        })
    }

    /// The port at which it waits.
    #[getter]
    fn port(&self) -> u16 {
        self.port
    }

    /// Connects it, as the rank with this number, with all ranks, of which these are the addresses.
    fn connect(
        &self,
        py: Python<'_>,
        rank: usize,
        addresses: Vec<String>,
        secret: [u8; 16],
        seconds: f64,
    ) -> PyResult<()> {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(listener) = listener.take() else {
            return Err(PyRuntimeError::new_err("the rank was connected before"));
        };
        let timeout = Duration::try_from_secs_f64(seconds);
        let timeout = timeout.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let connected = py.detach(|| listener.connect(rank, &addresses, secret, timeout));
        let watched = Watched {
            ranks: connected.map_err(lost)?,
            is_lost: Arc::clone(&self.is_lost),
        };
        let mut ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        *ranks = Some(Ranks::new(watched));
        Ok(())
    }

    /// Raises ValueError with the errors of all ranks, if any has one.
    fn agree(&self, py: Python<'_>, error: Option<String>) -> PyResult<()> {
        let outcome = error.map_or(Ok(()), |message| Err(Error::parameter(message)));
        let ranks = self.ranks()?;
        py.detach(|| ranks.agree(outcome))
            .map_err(|error| self.exception(error))
    }
}

impl PyRank {
    fn ranks(&self) -> PyResult<Ranks> {
        let ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = || PyRuntimeError::new_err("the rank is not connected");
        ranks.clone().ok_or_else(missing)
    }

    /// Converts an error: `ConnectionError` if another rank was lost.
    fn exception(&self, error: Error) -> PyErr {
        match self.is_lost.load(Ordering::Relaxed) {
            true => lost(error),
            false => exception(error),
        }
    }
}

fn lost(error: Error) -> PyErr {
    PyConnectionError::new_err(error.to_string())
}

/// Ranks, and whether one was lost.
struct Watched {
    ranks: SocketRanks,
    is_lost: Arc<AtomicBool>,
}

impl Watched {
    fn watch<T>(&self, outcome: Result<T>) -> Result<T> {
        if outcome.is_err() {
            self.is_lost.store(true, Ordering::Relaxed);
        }
        outcome
    }
}

impl Reduce for Watched {
    fn rank(&self) -> usize {
        self.ranks.rank()
    }

    fn size(&self) -> usize {
        self.ranks.size()
    }

    fn sum(&mut self, numbers: &mut [f64]) -> Result<()> {
        let outcome = self.ranks.sum(numbers);
        self.watch(outcome)
    }

    fn broadcast(&mut self, root: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let outcome = self.ranks.broadcast(root, bytes);
        self.watch(outcome)
    }
}

/// The arguments of training by ranks. The unlabeled sentences are those of the rank, and so are
/// the labeled ones with `own_labeled`; all others are the same for all. They are taken out.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments<'py> {
    labeled: Bound<'py, PyArrowSentences>,
    own_labeled: bool,
    dev: Option<Bound<'py, PyArrowSentences>>,
    unlabeled: Option<Bound<'py, PyArrowSentences>>,
    template: Bound<'py, PyTemplate>,
    options: Bound<'py, PyDict>,
    threads: Option<i64>,
    memory: Option<i64>,
}

/// Trains a model as one of several ranks, and returns it like `train`.
#[pyfunction]
pub fn train_rank<'py>(
    py: Python<'py>,
    rank: &Bound<'py, PyRank>,
    arguments: Arguments<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let bases = Bases::new(None, None);
    let options = bases.options(&arguments.options)?;
    let settings = TrainSettings::new(options.clone()).map_err(exception)?;
    let take = |sentences: &Bound<'_, PyArrowSentences>| sentences.get().take();
    let corpora = Corpora::Text(TrainingCorpora {
        labeled: take(&arguments.labeled),
        dev: arguments.dev.as_ref().map(take),
        unlabeled: arguments.unlabeled.as_ref().map_or_else(Corpus::new, take),
    });
    let ranks = rank.get().ranks()?;
    let ranks = match (arguments.own_labeled, &arguments.unlabeled) {
        (true, _) => ranks.with_own_labeled(),
        (false, Some(_)) => ranks.with_own_unlabeled(),
        (false, None) => ranks,
    };
    let run = Run {
        bases: &bases,
        options,
        memory: memory_limit(arguments.memory)?,
        checkpoints: None,
        template: Some(arguments.template.get().inner.clone()),
        ranks: Some(ranks),
        is_followed: false,
    };
    let threads = inputs::count("threads", arguments.threads, 1)?;
    let work = |job: &Job<'_, Event>| run.train(corpora, job);
    let finished = job::run(py, threads, work, |_| Ok(ControlFlow::Continue(())))?;
    match finished {
        Finished {
            result: Err(error),
            exception,
        } => Err(exception.unwrap_or_else(|| rank.get().exception(error))),
        finished => outcome(py, finished, &settings),
    }
}

/// Checks what can be checked of the arguments of training by ranks without its data: the options,
/// and that the template reads columns that there are. Returns whether a rank may have labeled
/// sentences of its own.
#[pyfunction]
#[pyo3(signature = (options, template, columns, has_unlabeled, threads, memory))]
pub fn check_rank_training(
    options: &Bound<'_, PyDict>,
    template: &Bound<'_, PyTemplate>,
    columns: Vec<String>,
    has_unlabeled: bool,
    threads: Option<i64>,
    memory: Option<i64>,
) -> PyResult<bool> {
    let options = Bases::new(None, None).options(options)?;
    TrainSettings::new(options.clone()).map_err(exception)?;
    check_ranks(&options).map_err(exception)?;
    check_unlabeled(&options, has_unlabeled)?;
    inputs::count("threads", threads, 1)?;
    memory_limit(memory)?;
    let schema = Schema::new(columns, None).map_err(exception)?;
    let template = &template.get().inner;
    template.bind(&schema).map_err(exception)?;
    let ranks = || Ranks::new(SocketRanks::alone());
    let check =
        |ranks| check_own_sentences(&ranks, &options, &BaseModels::default(), Some(template));
    let has_own_labeled = check(ranks().with_own_labeled()).is_ok();
    if has_unlabeled && !has_own_labeled {
        check(ranks().with_own_unlabeled()).map_err(exception)?;
    }
    Ok(has_own_labeled)
}
