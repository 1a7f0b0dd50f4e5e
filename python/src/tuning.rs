//! Hyperparameter search.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use dropchain::Error;
use dropchain::train::TrainSettings;
use dropchain_tune::{
    Checkpoint, Configuration, Folds, Parameter, Phase, Plan, Search, SearchSpace, Trial,
    TuneObserver, TuneResult, TuningData,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::corpus::PyCorpus;
use crate::error::{exception, warn};
use crate::inputs;
use crate::items::Items;
use crate::job::{self, Job};
use crate::tagger::PyTagger;
use crate::template::PyTemplate;
use crate::threads;
use crate::training::{Bases, DevData, check_unlabeled, corpora, flow, metric, warnings};

/// The arguments of a search.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments<'py> {
    corpora: Corpora<'py>,
    templates: Items<Bound<'py, PyTemplate>>,
    names: Vec<String>, // of the templates
    options: Bound<'py, PyDict>,
    space: Space<'py>,
    init: Option<Bound<'py, PyTagger>>,
    towards: Option<Bound<'py, PyTagger>>,
    process: Process,
    observer: Option<Bound<'py, PyAny>>,
}

/// What configurations are trained and scored on.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Corpora<'py> {
    labeled: Bound<'py, PyCorpus>,
    dev: Option<DevData<'py>>,
    folds: Option<i64>,
    unlabeled: Option<Bound<'py, PyCorpus>>,
}

/// What is tried.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Space<'py> {
    values: Bound<'py, PyDict>,
    trials: Option<i64>,
    seed: u64,
}

/// How the search runs.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Process {
    threads: Option<i64>,
    memory: Option<i64>,
    checkpoint: Option<PathBuf>,
    resume: bool,
}

/// What happens in a search.
enum Event {
    Warning(String),
    Resumed(usize),
    Trial(Box<Trial>),
    Progress(&'static str, usize, usize),
}

/// Sends the events of a search to Python.
struct Follower<'a, 'j> {
    job: &'a Job<'j, Event>,
    is_followed: bool,
}

impl Follower<'_, '_> {
    fn send(&self, event: Event) {
        let is_sent = self.is_followed || matches!(event, Event::Warning(_));
        if is_sent && self.job.send(event).is_break() {
            self.job.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

impl TuneObserver for Follower<'_, '_> {
    fn start(&self, plan: &Plan) {
        warnings(&plan.reading).for_each(|warning| self.send(Event::Warning(warning)));
        if let Some(resumed) = plan.resumed {
            self.send(Event::Resumed(resumed.runs));
        }
    }

    fn trial(&self, trial: &Trial) {
        self.send(Event::Trial(Box::new(trial.clone())));
    }

    fn progress(&self, phase: Phase, done: usize, total: usize) {
        let phase = match phase {
            Phase::Runs => "configurations",
            Phase::Refit(_) => "training on all data",
        };
        self.send(Event::Progress(phase, done, total));
    }
}

/// Searches hyperparameters. Returns a dict: the tagger, the results of all configurations, and
/// the exception that ended the search early, if any. Without a model, raises the exception.
#[pyfunction]
pub fn tune<'py>(py: Python<'py>, arguments: Arguments<'py>) -> PyResult<Bound<'py, PyAny>> {
    let bases = Bases::new(arguments.init.as_ref(), arguments.towards.as_ref());
    let mut options = bases.options(&arguments.options)?;
    options.seed = arguments.space.seed;
    let settings = TrainSettings::new(options).map_err(exception)?;
    let configurations = configurations(&arguments, &settings)?;
    let (given, process, names) = (&arguments.corpora, &arguments.process, &arguments.names);
    let checkpoint = process.checkpoint.as_ref();
    let checkpoint = checkpoint.map(|path| Checkpoint::open(path, process.resume));
    let threads = inputs::count("threads", process.threads, 1)?;
    let pool = threads::pool(threads).map_err(exception)?;
    let templates = match arguments.templates.is_empty() {
        true => vec![bases.models().template().cloned()],
        false => arguments.templates.iter().map(|t| Some(t.get().inner.clone())).collect(),
    };
    let folds = inputs::count("folds", given.folds, 2)?;
    let checkpoint = checkpoint.transpose().map_err(exception)?;
    let (seed, is_followed) = (arguments.space.seed, arguments.observer.is_some());
    let search = Search {
        settings,
        configurations,
        threads: pool.current_num_threads(),
        memory: inputs::memory_limit(process.memory)?,
        checkpoint: checkpoint.as_ref(),
        interrupt: None,
    };
    let (labeled, dev) = (&given.labeled, given.dev.as_ref());
    let corpora = corpora(labeled, dev, given.unlabeled.as_ref(), seed)?;
    let handle = |event| match (event, &arguments.observer) {
        (Event::Warning(text), _) => warn(py, &text, 2).map(|()| ControlFlow::Continue(())),
        (event, Some(observer)) => observe(observer, event, names),
        _ => Ok(ControlFlow::Continue(())),
    };
    let work = |job: &Job<'_, Event>| {
        let folds = folds.map(|count| Folds::new(corpora.labeled.sentences(), count, seed));
        let (folds, models) = (folds.transpose()?, bases.models());
        let data = TuningData { corpora, templates, folds, models };
        let search = Search { interrupt: Some(job.interrupt), ..search };
        search.run(&data, &Follower { job, is_followed })
    };
    let finished = job::run(py, threads, work, handle)?;
    let result = match finished.result {
        Ok(result) => result,
        Err(error) => return Err(finished.exception.unwrap_or_else(|| exception(error))),
    };
    let exception = finished.exception;
    let is_complete = !result.interrupted && exception.is_none();
    if let Some(checkpoint) = checkpoint.filter(|_| is_complete) {
        checkpoint.remove().map_err(crate::error::exception)?;
    }
    let fields = object(py, &result_fields(&result, names))?;
    fields
        .set_item("tagger", PyTagger::of(py, result.model().map_err(crate::error::exception)?))?;
    fields.set_item("exception", exception)?;
    Ok(fields)
}

/// Returns the configurations to try.
fn configurations(
    arguments: &Arguments<'_>,
    settings: &TrainSettings,
) -> PyResult<Vec<Configuration>> {
    let space = space(arguments, settings)?;
    let trials = inputs::count("trials", arguments.space.trials, 1)?;
    let configurations = match trials {
        None => space.grid(settings),
        Some(count) => space.random(count, arguments.space.seed, settings),
    };
    let configurations = configurations.map_err(exception)?;
    if let Some(unlabeled) = &arguments.corpora.unlabeled {
        let has_noise = configurations.iter().any(Configuration::has_noise);
        let mut regularization = settings.regularization().clone();
        regularization.noise.dropout = if has_noise { 0.5 } else { 0.0 };
        let settings = (settings.clone()).with_regularization(regularization).map_err(exception)?;
        check_unlabeled(&settings.all_options(), !unlabeled.get().0.is_empty())?;
    }
    Ok(configurations)
}

/// Reads the values to search.
fn space(arguments: &Arguments<'_>, settings: &TrainSettings) -> PyResult<SearchSpace> {
    let mut space = SearchSpace::new(arguments.templates.len().max(1), settings);
    for parameter in Parameter::ALL {
        let name = parameter.option().replace('-', "_");
        let Some(text) = arguments.space.values.get_item(&name)? else {
            continue;
        };
        let text = text.extract::<String>()?;
        space = match parameter {
            Parameter::Gradient => {
                let engines = text.split(',').map(|name| name.parse().map_err(exception));
                space.with_gradients(&engines.collect::<PyResult<Vec<_>>>()?)
            }
            _ => {
                let axis = text.parse();
                let named = |e: Error| PyValueError::new_err(format!("{name}: {e}"));
                space.with(parameter, axis.map_err(named)?)
            }
        };
    }
    Ok(space)
}

/// Calls the observer with the kind of an event and its content. It returns False to end the
/// search.
fn observe(
    observer: &Bound<'_, PyAny>,
    event: Event,
    names: &[String],
) -> PyResult<ControlFlow<()>> {
    let py = observer.py();
    let reply = match event {
        Event::Warning(message) => observer.call1(("message", message))?,
        Event::Resumed(runs) => {
            observer.call1(("message", format!("resumed: {runs} training runs were done")))?
        }
        Event::Trial(trial) => {
            observer.call1(("trial", object(py, &trial_fields(&trial, names))?))?
        }
        Event::Progress(phase, done, total) => {
            observer.call1(("progress", (phase, done, total)))?
        }
    };
    Ok(flow(&reply))
}

/// Returns the result of a configuration.
fn trial_fields(trial: &Trial, names: &[String]) -> Value {
    let mut fields = trial.fields(names);
    let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    set("score", json!(trial.value()));
    set("metric", json!(trial.score.as_ref().map(|score| metric(score.score))));
    set("end_reason", json!(trial.stop_reason()));
    Value::Object(fields)
}

/// Returns the result of a search.
fn result_fields(result: &TuneResult, names: &[String]) -> Value {
    let mut fields = result.outcome();
    let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    set("trials", result.trials.iter().map(|trial| trial_fields(trial, names)).collect());
    set("table", json!(result.table(names)));
    set("pruned", json!(result.pruned.map(|pruned| (pruned.before, pruned.after))));
    set("has_learned", json!(result.has_learned()));
    Value::Object(fields)
}

/// Returns a value as an object of Python.
fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
