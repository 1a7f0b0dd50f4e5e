//! Hyperparameter search.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use dropchain::Error;
use dropchain::train::{DevScore, EndReason, Engine, Lbfgs, TrainSettings};
use dropchain_online::Sgd;
use dropchain_tune::{
    Axis, Checkpoint, Configuration, Folds, NoiseGain, Phase, ResourcePlan, Resumed, Rung,
    Schedule, Search, SearchSpace, TrialResult, TuneObserver, TuneResult, TuningData, Validation,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::corpus::PyCorpus;
use crate::error::{exception, warn};
use crate::fields::fields;
use crate::inputs;
use crate::items::Items;
use crate::job::{self, Job};
use crate::tagger::PyTagger;
use crate::template::PyTemplate;
use crate::threads;
use crate::training::{
    Bases, Data, check_unlabeled, flow, metric, serde_text, text_corpora, warnings,
};

/// The arguments of a search.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments<'py> {
    labeled: Bound<'py, PyCorpus>,
    dev: Option<Data<'py>>,
    folds: Option<i64>,
    unlabeled: Option<Bound<'py, PyCorpus>>,
    templates: Items<Bound<'py, PyTemplate>>,
    options: Bound<'py, PyDict>,
    space: Bound<'py, PyDict>,
    trials: Option<i64>,
    seed: u64,
    halving: Option<i64>,
    first_rung: i64,
    warm_start: bool,
    init: Option<Bound<'py, PyTagger>>,
    towards: Option<Bound<'py, PyTagger>>,
    threads: Option<i64>,
    memory: Option<i64>,
    checkpoint: Option<PathBuf>,
    resume: bool,
    observer: Option<Bound<'py, PyAny>>,
}

/// What happens in a search.
enum Event {
    Start(Vec<Rung>, usize),
    Warning(String),
    Message(String),
    Trial(usize, Box<TrialResult>),
    Progress(String, usize, usize),
}

/// Sends the events of a search to Python.
struct Follower<'a, 'j> {
    job: &'a Job<'j, Event>,
    is_followed: bool,
}

impl Follower<'_, '_> {
    fn send(&self, event: Event) {
        if self.is_followed && self.job.send(event).is_break() {
            self.job.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

impl TuneObserver for Follower<'_, '_> {
    fn start(&self, plan: &ResourcePlan, rungs: &[Rung]) {
        self.send(Event::Start(rungs.to_vec(), plan.concurrency));
    }

    fn resumed(&self, resumed: &Resumed) {
        let segments = resumed.segments;
        self.send(Event::Message(format!("resumed: {segments} segments of training were done")));
    }

    fn trial(&self, rung: usize, result: &TrialResult) {
        self.send(Event::Trial(rung, Box::new(result.clone())));
    }

    fn progress(&self, phase: Phase, done: usize, total: usize) {
        let phase = match phase {
            Phase::WarmStart => "warm-up".to_owned(),
            Phase::Rung(number) => format!("rung {}", number + 1),
            Phase::Refit(_) => "training on all data".to_owned(),
        };
        self.send(Event::Progress(phase, done, total));
    }
}

/// Searches hyperparameters. Returns a dict: the tagger, the results of all configurations, and
/// the exception that ended the search early, if any. Without a model, raises the exception.
#[pyfunction]
pub fn tune<'py>(py: Python<'py>, arguments: Arguments<'py>) -> PyResult<Bound<'py, PyDict>> {
    let bases = Bases::new(arguments.init.as_ref(), arguments.towards.as_ref());
    let mut options = bases.options(&arguments.options)?;
    options.seed = arguments.seed;
    let settings = TrainSettings::new(options).map_err(exception)?;
    let configurations = configurations(&arguments, &settings)?;
    let halving = inputs::count("halving", arguments.halving, 2)?;
    let first_rung = inputs::count("first_rung", Some(arguments.first_rung), 1)?.unwrap_or(1);
    let checkpoint = arguments.checkpoint.as_ref();
    let checkpoint = checkpoint.map(|path| Checkpoint::open(path, arguments.resume));
    let threads = inputs::count("threads", arguments.threads, 1)?;
    let pool = threads::pool(threads).map_err(exception)?;
    let templates = arguments.templates.iter();
    let templates = match arguments.templates.is_empty() {
        true => vec![bases.models().template().cloned()],
        false => templates.map(|t| Some(t.get().inner.clone())).collect(),
    };
    let folds = inputs::count("folds", arguments.folds, 2)?;
    let checkpoint = checkpoint.transpose().map_err(exception)?;
    let (seed, is_followed) = (arguments.seed, arguments.observer.is_some());
    let search = Search {
        settings,
        configurations,
        schedule: Schedule::new(halving, first_rung).map_err(exception)?,
        warm_start: arguments.warm_start,
        threads: pool.current_num_threads(),
        memory: inputs::memory_limit(arguments.memory)?,
        checkpoint: checkpoint.as_ref(),
        interrupt: None,
    };
    let (labeled, dev) = (&arguments.labeled, arguments.dev.as_ref());
    let corpora = text_corpora(labeled, dev, arguments.unlabeled.as_ref(), seed)?;
    let handle = |event| match (event, &arguments.observer) {
        (Event::Warning(text), _) => warn(py, &text, 2).map(|()| ControlFlow::Continue(())),
        (event, Some(observer)) => observe(observer, event),
        _ => Ok(ControlFlow::Continue(())),
    };
    let work = |job: &Job<'_, Event>| {
        let validation = match folds {
            None => Validation::Dev,
            Some(count) => {
                let sentences = corpora.labeled.sentences();
                Validation::Folds(Folds::new(sentences, count, seed)?)
            }
        };
        let models = bases.models();
        let settings = match models.is_empty() {
            true => search.settings.clone(),
            false => search.settings.clone().continuing(),
        };
        let data = TuningData::from_models(&corpora, templates, validation, &settings, &models)?;
        for warning in warnings(data.reading()) {
            if job.send(Event::Warning(warning)).is_break() {
                job.interrupt.store(true, Ordering::Relaxed);
            }
        }
        let search = Search { interrupt: Some(job.interrupt), ..search };
        search.run(data, &Follower { job, is_followed })
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
    let fields = result_fields(py, result)?;
    fields.set_item("exception", exception)?;
    Ok(fields)
}

/// Returns the configurations to try.
fn configurations(
    arguments: &Arguments<'_>,
    settings: &TrainSettings,
) -> PyResult<Vec<Configuration>> {
    let space = space(arguments, settings)?;
    let trials = inputs::count("trials", arguments.trials, 1)?;
    let configurations = match trials {
        None => space.grid(settings),
        Some(count) => space.random(count, arguments.seed, settings),
    };
    let configurations = configurations.map_err(exception)?;
    if let Some(unlabeled) = &arguments.unlabeled {
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
    let axis = |name: &str| -> PyResult<Option<Axis>> {
        let Some(text) = arguments.space.get_item(name)? else {
            return Ok(None);
        };
        let text: String = text.extract()?;
        let axis =
            text.parse().map_err(|e: Error| PyValueError::new_err(format!("{name}: {e}")))?;
        Ok(Some(axis))
    };
    let mut default = SearchSpace::default();
    if ![Lbfgs::NAME, Sgd::NAME].contains(&settings.learner().name()) {
        let zero = || Axis::from_values(&[0.0]);
        (default.dropout, default.l2) = (zero(), zero());
    }
    Ok(SearchSpace {
        templates: arguments.templates.len().max(1),
        dropout: axis("dropout")?.unwrap_or(default.dropout),
        edge_dropout: axis("edge_dropout")?.or(default.edge_dropout),
        l2: axis("l2")?.unwrap_or(default.l2),
        l1: axis("l1")?.unwrap_or(default.l1),
        unlabeled_weight: axis("unlabeled_weight")?.unwrap_or(default.unlabeled_weight),
        warm_up: axis("warm_up")?,
        gradients: engines(arguments)?,
    })
}

/// Reads the engines to search.
fn engines(arguments: &Arguments<'_>) -> PyResult<Vec<Engine>> {
    let Some(text) = arguments.space.get_item("gradient")? else {
        return Ok(Vec::new());
    };
    let text: String = text.extract()?;
    let mut engines: Vec<Engine> = Vec::new();
    for name in text.split(',') {
        let engine = name.parse().map_err(exception)?;
        if !engines.contains(&engine) {
            engines.push(engine);
        }
    }
    Ok(engines)
}

/// Calls the observer with the kind of an event and its content. It returns False to end the
/// search.
fn observe(observer: &Bound<'_, PyAny>, event: Event) -> PyResult<ControlFlow<()>> {
    let py = observer.py();
    let reply = match event {
        Event::Start(rungs, concurrency) => {
            let configurations: Vec<usize> = rungs.iter().map(|r| r.configurations).collect();
            observer.call1(("start", (configurations, concurrency)))?
        }
        Event::Message(message) | Event::Warning(message) => {
            observer.call1(("message", message))?
        }
        Event::Trial(rung, result) => {
            let fields = trial_fields(py, &result)?;
            fields.set_item("rung", rung + 1)?;
            observer.call1(("trial", fields))?
        }
        Event::Progress(phase, done, total) => {
            observer.call1(("progress", (phase, done, total)))?
        }
    };
    Ok(flow(&reply))
}

fn trial_fields<'py>(py: Python<'py>, trial: &TrialResult) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let configuration = &trial.configuration;
    fields!(fields, configuration, [template, dropout, edge_dropout, l2, l1]);
    fields!(fields, configuration, [unlabeled_weight, warm_up]);
    fields!(fields, trial, [number, standard_error, standard_deviation, fold_scores]);
    fields!(fields, trial, [best_iteration, iterations, recall_bias]);
    fields!(fields, trial, [active_attributes, objective]);
    fields.set_item("gradient", configuration.gradient.map(|engine| engine.to_string()))?;
    fields.set_item("score", trial.score.map(DevScore::value))?;
    fields.set_item("metric", trial.score.map(metric))?;
    fields.set_item("end_reason", trial.reason.map(EndReason::name))?;
    fields.set_item("rung", trial.rungs)?;
    Ok(fields)
}

fn gain_fields<'py>(py: Python<'py>, gain: &NoiseGain) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields!(fields, gain, [with_noise, without_noise, fold_differences, mean]);
    fields!(fields, gain, [standard_deviation, ahead, p_value]);
    Ok(fields)
}

fn result_fields(py: Python<'_>, result: TuneResult) -> PyResult<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    let trials = result.trials.iter().map(|trial| {
        let fields = trial_fields(py, trial)?;
        let reason = match trial.reason {
            Some(reason) => reason.name(),
            None if result.interrupted => "interrupted",
            None if trial.rungs < result.rungs.len() => "halving",
            None => "max_iterations",
        };
        fields.set_item("end_reason", reason)?;
        Ok(fields)
    });
    fields.set_item("trials", trials.collect::<PyResult<Vec<_>>>()?)?;
    fields.set_item("options", serde_text(&result.settings))?;
    let gain = result.noise_gain();
    fields.set_item("noise_gain", gain.map(|gain| gain_fields(py, &gain)).transpose()?)?;
    fields.set_item("refit_iterations", result.refit_iterations)?;
    fields.set_item("interrupted", result.interrupted)?;
    fields.set_item("has_learned", result.refit_iterations != Some(0))?;
    let pruned = result.pruned.map(|pruned| (pruned.before, pruned.after));
    fields.set_item("pruned", pruned)?;
    fields.set_item("tagger", PyTagger::of(py, result.model().map_err(exception)?))?;
    Ok(fields)
}
