//! Hyperparameter search.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use dropchain::train::TrainSettings;
use dropchain_options::parse;
use dropchain_tune::{
    Axis, Checkpoint, Configuration, Folds, Plan, Search, SearchSpace, SettingsOf, Trial,
    TuneObserver, TuningData,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::error::exception;
use crate::evaluation::scores;
use crate::inputs;
use crate::items::Items;
use crate::job::{self, Job};
use crate::objects::object;
use crate::options::given_options;
use crate::tagger::PyTagger;
use crate::template::PyTemplate;
use crate::threads;
use crate::training::{self, Event, follow, warnings};

/// The arguments of a search, besides those of every run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Arguments<'py> {
    folds: Option<i64>,
    templates: Items<Bound<'py, PyTemplate>>,
    names: Vec<String>,              // of several templates
    values: HashMap<String, String>, // of the search space, as on the command line
    trials: Option<i64>,
    only_defaults: bool,
    seed: u64,
}

/// Sends the events of a search to Python.
struct Follower<'a, 'j> {
    job: &'a Job<'j, Event>,
    is_followed: bool,
}

impl Follower<'_, '_> {
    fn send(&self, kind: &'static str, content: impl Serialize) {
        if !self.is_followed && kind != "warning" {
            return;
        }
        let content = json!(content);
        let content = Box::new(move |py: Python<'_>| object(py, &content).map(Bound::unbind));
        if self.job.send(Event { kind, content }).is_break() {
            self.job.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

impl TuneObserver for Follower<'_, '_> {
    fn start(&self, plan: &Plan) {
        warnings(&plan.reading).for_each(|warning| self.send("warning", warning));
        if let Some(runs) = plan.resumed {
            self.send("message", format!("resumed: {runs} training runs were done"));
        }
    }

    fn trial(&self, trial: &Trial, _is_best: bool) {
        self.send("trial", trial);
    }

    fn progress(&self, done: usize, total: usize, _best: Option<&Trial>) {
        self.send("progress", ("configurations", done, total));
    }

    fn refit(&self, _iterations: usize) {
        self.send("progress", ("training on all data", 0, 1));
    }

    fn predicted(&self, number: usize, of: usize) {
        self.send("progress", ("predicting folds", number, of));
    }
}

/// Searches hyperparameters. Returns a dict: the tagger, the results of all configurations, and
/// the exception that ended the search early, if any. Without a model, raises the exception.
#[pyfunction]
pub fn tune<'py>(py: Python<'py>, arguments: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given: training::Arguments<'_> = arguments.extract()?;
    let arguments: Arguments<'_> = arguments.extract()?;
    let seed = arguments.seed;
    let models = given.models();
    let mut fixed = given_options(&given.options)?;
    fixed.push(("seed".to_owned(), seed.to_string()));
    let settings_of = |searched: &[(String, String)]| {
        let options = parse(&[&fixed, searched].concat())?.over(models.default_options())?;
        TrainSettings::new(options)
    };
    let settings = settings_of(&[]).map_err(exception)?;
    models.check(&settings).map_err(exception)?;
    let configurations = configurations(&given, &arguments, &settings_of)?;
    let checkpoint = given.checkpoint.as_ref().map(|path| Checkpoint::open(path, given.resume));
    let threads = inputs::count("threads", given.threads, 1)?;
    let pool = threads::pool(threads).map_err(exception)?;
    let templates = arguments.templates.0.iter().map(|t| Some(t.get().inner.clone()));
    let mut templates: Vec<_> = templates.collect();
    if templates.is_empty() {
        templates.push(models.template().cloned());
    }
    let folds = inputs::count("folds", arguments.folds, 2)?;
    let checkpoint = checkpoint.transpose().map_err(exception)?;
    let observer = given.observer.as_ref();
    let is_followed = observer.is_some();
    let memory = inputs::memory_limit(given.memory)?;
    let corpora = given.corpora(seed)?;
    let work = |job: &Job<'_, Event>| {
        let folds = folds.map(|count| Folds::new(corpora.labeled.sentences(), count, seed));
        let data = TuningData { corpora, templates, folds: folds.transpose()?, models };
        let search = Search {
            settings,
            configurations,
            threads: pool.current_num_threads(),
            memory,
            checkpoint: checkpoint.as_ref(),
            interrupt: Some(job.interrupt),
        };
        search.run(&data, &Follower { job, is_followed })
    };
    let (result, raised) = job::run(py, threads, work, |event| follow(py, observer, event))?;
    let is_complete = !result.interrupted && raised.is_none();
    if let Some(checkpoint) = checkpoint.filter(|_| is_complete) {
        checkpoint.remove().map_err(exception)?;
    }
    let fields = object(py, &result)?;
    fields.set_item("table", result.table())?;
    fields.set_item("notes", result.notes())?;
    let predicted = result.out_of_fold.as_ref().map(|found| {
        let content = found.labels().filter(|labels| !labels.is_empty());
        content.map(<[String]>::to_vec).collect::<Vec<_>>()
    });
    fields.set_item("predictions", predicted)?;
    let scores = result.out_of_fold.as_ref().map(|found| scores(py, found.evaluation()));
    fields.set_item("evaluation", scores.transpose()?)?;
    fields.set_item("pruned", result.pruned.map(|pruned| (pruned.before, pruned.after)))?;
    fields.set_item("has_learned", result.has_learned())?;
    fields.set_item("tagger", PyTagger::of(py, result.model))?;
    fields.set_item("exception", raised)?;
    Ok(fields)
}

/// Returns the configurations to try.
fn configurations(
    given: &training::Arguments<'_>,
    arguments: &Arguments<'_>,
    settings_of: &SettingsOf<'_>,
) -> PyResult<Vec<Configuration>> {
    let axes = arguments.values.iter().map(|(name, text)| {
        let axis =
            text.parse::<Axis>().map_err(|e| PyValueError::new_err(format!("{name}: {e}")))?;
        Ok((name.as_str(), axis))
    });
    let axes = axes.collect::<PyResult<Vec<_>>>()?;
    let Arguments { names, only_defaults, seed, .. } = arguments;
    let space = SearchSpace::new(names, axes, *only_defaults, settings_of).map_err(exception)?;
    let configurations = match inputs::count("trials", arguments.trials, 1)? {
        None => space.grid(),
        Some(count) => space.random(count, *seed),
    };
    let configurations = configurations.map_err(exception)?;
    let noisiest = configurations.iter().max_by_key(|configuration| configuration.has_noise());
    if let Some(noisiest) = noisiest {
        given.check_unlabeled(&noisiest.settings.all_options())?;
    }
    Ok(configurations)
}
