//! Hyperparameter search.

use std::collections::HashMap;
use std::ops::ControlFlow;
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
use serde_json::{Value, json};

use crate::error::{exception, warn};
use crate::evaluation::scores;
use crate::inputs;
use crate::items::Items;
use crate::job::{self, Job};
use crate::json::object;
use crate::options::given_options;
use crate::tagger::PyTagger;
use crate::template::PyTemplate;
use crate::threads;
use crate::training::{self, Bases, check_unlabeled, corpora, flow, warnings};

/// The arguments of a search.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments<'py> {
    /// The arguments of every run.
    run: training::Arguments<'py>,
    folds: Option<i64>,
    templates: Items<Bound<'py, PyTemplate>>,
    names: Vec<String>, // of several templates
    space: Space,
}

/// The search space.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Space {
    values: HashMap<String, String>, // as on the command line
    trials: Option<i64>,
    only_defaults: bool,
    seed: u64,
}

/// An event of a search: its kind, and its content in JSON.
type Event = (&'static str, Value);

/// Sends the events of a search to Python.
struct Follower<'a, 'j> {
    job: &'a Job<'j, Event>,
    is_followed: bool,
}

impl Follower<'_, '_> {
    fn send(&self, kind: &'static str, content: impl Serialize) {
        let is_sent = self.is_followed || kind == "warning";
        if is_sent && self.job.send((kind, json!(content))).is_break() {
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
pub fn tune<'py>(py: Python<'py>, arguments: Arguments<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (given, seed) = (&arguments.run, arguments.space.seed);
    let bases = Bases::new(given.init.as_ref(), given.towards.as_ref());
    let mut fixed = given_options(&given.options)?;
    fixed.push(("seed".to_owned(), seed.to_string()));
    let settings_of = |searched: &[(String, String)]| {
        let options = parse(&[&fixed, searched].concat())?.over(bases.defaults())?;
        TrainSettings::new(options)
    };
    let settings = settings_of(&[]).map_err(exception)?;
    bases.models().check(&settings).map_err(exception)?;
    let configurations = configurations(&arguments, &settings_of)?;
    let checkpoint = given.checkpoint.as_ref().map(|path| Checkpoint::open(path, given.resume));
    let threads = inputs::count("threads", given.threads, 1)?;
    let pool = threads::pool(threads).map_err(exception)?;
    let templates = match arguments.templates.is_empty() {
        true => vec![bases.models().template().cloned()],
        false => arguments.templates.iter().map(|t| Some(t.get().inner.clone())).collect(),
    };
    let folds = inputs::count("folds", arguments.folds, 2)?;
    let checkpoint = checkpoint.transpose().map_err(exception)?;
    let is_followed = given.observer.is_some();
    let search = Search {
        settings,
        configurations,
        threads: pool.current_num_threads(),
        memory: inputs::memory_limit(given.memory)?,
        checkpoint: checkpoint.as_ref(),
        interrupt: None,
    };
    let (labeled, dev) = (&given.labeled, given.dev.as_ref());
    let corpora = corpora(labeled, dev, given.unlabeled.as_ref(), seed)?;
    let handle = |(kind, content): Event| match (kind, &content, &given.observer) {
        ("warning", Value::String(text), _) => {
            warn(py, text, 2).map(|()| ControlFlow::Continue(()))
        }
        (_, _, None) => Ok(ControlFlow::Continue(())),
        (_, _, Some(observer)) => Ok(flow(&observer.call1((kind, object(py, &content)?))?)),
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
    let is_complete = !result.interrupted && finished.exception.is_none();
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
    fields.set_item("exception", finished.exception)?;
    Ok(fields)
}

/// Returns the configurations to try.
fn configurations(
    arguments: &Arguments<'_>,
    settings_of: &SettingsOf<'_>,
) -> PyResult<Vec<Configuration>> {
    let Space { values, trials, only_defaults, seed } = &arguments.space;
    let axes = values.iter().map(|(name, text)| {
        let axis =
            text.parse::<Axis>().map_err(|e| PyValueError::new_err(format!("{name}: {e}")))?;
        Ok((name.as_str(), axis))
    });
    let axes = axes.collect::<PyResult<Vec<_>>>()?;
    let space = SearchSpace::new(&arguments.names, axes, *only_defaults, settings_of);
    let space = space.map_err(exception)?;
    let configurations = match inputs::count("trials", *trials, 1)? {
        None => space.grid(),
        Some(count) => space.random(count, *seed),
    };
    let configurations = configurations.map_err(exception)?;
    let noisiest = configurations.iter().max_by_key(|configuration| configuration.has_noise());
    if let (Some(unlabeled), Some(noisiest)) = (&arguments.run.unlabeled, noisiest) {
        let options = noisiest.settings.all_options();
        check_unlabeled(&options, !unlabeled.get().0.is_empty())?;
    }
    Ok(configurations)
}
