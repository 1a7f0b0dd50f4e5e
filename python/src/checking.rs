//! `check`: what is in a corpus, and what is wrong with it.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use dropchain::template::Template;
use dropchain::train::Trainer;
use dropchain_check::{
    Check, CheckOptions, Outcome, Role, Severity, SuspicionOptions, suspicious, variations,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::corpus::{PyCorpus, PyReadOptions};
use crate::error::exception;
use crate::evaluation::detector;
use crate::inputs::{at_least, count};
use crate::items::Items;
use crate::job;
use crate::template::PyTemplate;

/// The columns of the text.
const COLUMNS: usize = 80;

/// Arguments of a check.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Arguments<'py> {
    data: Vec<(String, Data<'py>)>, // with their roles
    reading: Bound<'py, PyReadOptions>,
    inconsistent: Option<i64>,
    suspicious: Option<i64>,
    template: Option<Bound<'py, PyTemplate>>,
    folds: i64,
    examples: i64,
    plain_labels: String,
    outside: Option<String>,
    threads: Option<i64>,
}

/// The data of a role: all files, or all in memory.
#[derive(FromPyObject)]
enum Data<'py> {
    Corpus(Bound<'py, PyCorpus>),
    Files(Items<PathBuf>),
}

/// Checks data. Returns what was found as JSON and as text.
#[pyfunction]
pub fn check(py: Python<'_>, arguments: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
    let arguments: Arguments<'_> = arguments.extract()?;
    let inconsistent = count("inconsistent", arguments.inconsistent, 1)?;
    let limit = count("suspicious", arguments.suspicious, 1)?;
    let folds = at_least("folds", arguments.folds, 2)?;
    let threads = count("threads", arguments.threads, 1)?;
    let options = CheckOptions {
        read: arguments.reading.get().options.clone(),
        labels: detector(&arguments.plain_labels, arguments.outside)?,
        examples: at_least("examples", arguments.examples, 0)?,
    };
    let (mut files, mut corpora) = (Vec::new(), Vec::new());
    for (role, data) in arguments.data {
        let role: Role = role.parse().map_err(exception)?;
        match data {
            Data::Corpus(corpus) => corpora.push((role, corpus.get().to_corpus(role.name()))),
            Data::Files(paths) => files.extend(paths.0.into_iter().map(|path| (role, path))),
        }
    }
    let memory = options.read.limits.memory;
    let template = arguments.template.map(|template| template.get().inner.clone());
    let work = |interrupt: &AtomicBool| {
        let mut check = match corpora.is_empty() {
            true => Check::read(&files, options)?,
            false => Check::of_corpora(corpora, options),
        };
        let report = check.report();
        let mut outcome = Outcome {
            inconsistent: inconsistent
                .map(|limit| variations(check.sentences(Role::Train), &report.labels, limit)),
            suspicious: None,
            report,
        };
        let corpus = check.take_corpus(Role::Train);
        if let Some(limit) = limit
            && outcome.report.kinds(Severity::Error) == 0
        {
            let trainer =
                Trainer::new(outcome.report.train_options())?.interrupt(interrupt).memory(memory);
            let options = SuspicionOptions { folds, limit, ..SuspicionOptions::default() };
            let default = || outcome.report.default_template(&corpus).and_then(Template::shipped);
            let template = template.map(Ok).or_else(default).transpose()?;
            let found = suspicious(&trainer, &corpus, template.as_ref(), options, &mut ())?;
            outcome.suspicious = found;
        }
        Ok((serde_json::to_string(&outcome), outcome.text(COLUMNS)))
    };
    let (json, text) = job::wait(py, threads, work)?;
    Ok((json.map_err(|error| PyValueError::new_err(error.to_string()))?, text))
}
