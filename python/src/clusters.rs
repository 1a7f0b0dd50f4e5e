//! Brown clusters.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use dropchain::corpus::ReadOptions;
use dropchain::kernel::atomic_file;
use dropchain::sentence::LineRules;
use dropchain::{Error, Sentence};
use dropchain_formats::{InputFormat, SpanOptions};
use dropchain_knowledge::cluster::{Clusters, InternedText};
use dropchain_knowledge::read_cluster_text;
use pyo3::prelude::*;

use crate::corpus::PyCorpus;
use crate::error::exception;
use crate::inputs;
use crate::items::{ColumnNames, Items};
use crate::job::{self, Job};
use crate::tagging::Class;
use crate::training::flow;

/// The arguments of clustering.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments<'py> {
    corpus: Option<Bound<'py, PyCorpus>>,
    paths: Items<PathBuf>,
    clusters: i64,
    min_count: i64,
    format: Option<String>,
    columns: Option<ColumnNames>,
    comments: bool,
    threads: Option<i64>,
    memory: Option<i64>,
    observer: Option<Bound<'py, PyAny>>,
}

/// Clusters the words of sentences in memory and of files.
#[pyfunction]
pub fn cluster<'py>(py: Python<'py>, arguments: Arguments<'py>) -> PyResult<Bound<'py, PyAny>> {
    let count = inputs::count("clusters", Some(arguments.clusters), 2)?.unwrap_or(2);
    let min_count = inputs::count("min_count", Some(arguments.min_count), 1)?.unwrap_or(1) as u64;
    let memory = inputs::memory_limit(arguments.memory)?;
    let format = arguments.format.as_ref().map(|name| name.parse());
    let format: Option<InputFormat> = format.transpose().map_err(exception)?;
    let options = ReadOptions {
        columns: arguments.columns.map(Vec::from),
        lines: LineRules { comments: arguments.comments, header: false },
        unlabeled: true,
        limits: memory.into(),
        ..ReadOptions::default()
    };
    let options = match format {
        None => options,
        Some(format) => format.apply(SpanOptions::default(), options),
    };
    let sentences: Vec<Arc<Sentence>> = match &arguments.corpus {
        Some(corpus) => corpus.get().0.clone(),
        None => Vec::new(),
    };
    let paths = &arguments.paths[..];
    let is_followed = arguments.observer.is_some();
    let work = |job: &Job<'_, (usize, usize)>| {
        let (mut text, _) = read_cluster_text(paths, &options, &mut |_| ())?;
        for sentence in &sentences {
            add(sentence, &mut text)?;
        }
        let (held, needed) = (text.memory() as u64, text.memory_to_cluster(count) as u64);
        memory.check(needed, held).map_err(|over| {
            Error::parameter(format!(
                "clustering: {over}; expected fewer clusters, less text or a larger limit"
            ))
        })?;
        let mut reported = 0;
        let mut observer = |done: usize, total: usize| {
            if is_followed && (done - reported >= total.div_ceil(100) || done == total) {
                reported = done;
                let _ = job.send((done, total));
            }
        };
        Clusters::learn(text, count, min_count, &mut observer)
    };
    let handle = |(done, total)| match &arguments.observer {
        Some(observer) => Ok(flow(&observer.call1((done, total))?)),
        None => Ok(ControlFlow::Continue(())),
    };
    let threads = inputs::count("threads", arguments.threads, 1)?;
    let clusters = job::run(py, threads, work, handle)?.or_raise()?;
    let mut text = Vec::new();
    let written = clusters.write(&mut text);
    written.map_err(|e| exception(Error::io("clusters", e)))?;
    let words = clusters.words().iter();
    let words: Vec<_> = words.map(|word| (&*word.path, &*word.word, word.count)).collect();
    Class::of(py, "Clusters")?.make((
        clusters.count(),
        clusters.mutual_information(),
        words,
        String::from_utf8(text)?,
    ))
}

/// Writes a file, atomically.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, contents: &[u8]) -> PyResult<()> {
    py.detach(|| atomic_file::write(path, contents)).map_err(exception)
}

fn add(sentence: &Sentence, text: &mut InternedText) -> dropchain::Result<()> {
    if sentence.layout.document_start {
        return Ok(());
    }
    let words = sentence.words().filter(|_| sentence.attributes.is_none());
    let expected = || Error::input(sentence.place(0), "found features; expected words");
    text.add(words.ok_or_else(expected)?)
}
