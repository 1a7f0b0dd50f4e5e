//! Brown clusters.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use dropchain::atomic_file;
use dropchain::corpus::{Format, ReadOptions, Reader};
use dropchain::{Error, Sentence};
use dropchain_formats::{InputFormat, SpanOptions};
use dropchain_knowledge::cluster::{Clusters, InternedText};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::corpus::PyCorpus;
use crate::error::exception;
use crate::inputs;
use crate::job::{self, Job};
use crate::training::flow;

/// Words with the clusters that :func:`dropchain.cluster` found for them.
///
/// The path of a cluster is a string of bits; its prefixes are larger clusters.
#[pyclass(name = "Clusters", module = "dropchain", frozen, mapping)]
pub struct PyClusters {
    clusters: Clusters,
    paths: std::collections::HashMap<String, usize>,
}

#[pymethods]
impl PyClusters {
    /// The number of clusters.
    #[getter]
    fn count(&self) -> usize {
        self.clusters.count()
    }

    /// The average mutual information of adjacent clusters, in bits.
    #[getter]
    fn mutual_information(&self) -> f64 {
        self.clusters.mutual_information()
    }

    /// All words: path, word, number of occurrences; those of a cluster together.
    #[getter]
    fn words(&self) -> Vec<(&str, &str, u64)> {
        let words = self.clusters.words().iter();
        words
            .map(|word| (&*word.path, &*word.word, word.count))
            .collect()
    }

    /// Return the path of each word.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for word in self.clusters.words() {
            dict.set_item(&word.word, &word.path)?;
        }
        Ok(dict)
    }

    /// The lines of a cluster file, for ``Template(text, files={"paths.txt": clusters.text})``.
    #[getter]
    fn text(&self) -> PyResult<String> {
        String::from_utf8(self.bytes()?).map_err(|e| exception(Error::parameter(e.to_string())))
    }

    /// Writes the file.
    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let bytes = self.bytes()?;
        py.detach(|| atomic_file::write(path, &bytes))
            .map_err(exception)
    }

    /// Write a file that ``cluster("…")`` in a template reads.
    ///
    /// A file that has no clusters is replaced only with `force`.
    #[pyo3(signature = (path, *, force=false))]
    fn save(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>, force: bool) -> PyResult<()> {
        let files = slf.py().import("dropchain._files")?;
        files.call_method1("save", (slf, path, force)).map(drop)
    }

    fn __getitem__(&self, word: &str) -> PyResult<&str> {
        let found = self
            .paths
            .get(word)
            .map(|&i| &*self.clusters.words()[i].path);
        found.ok_or_else(|| PyKeyError::new_err(word.to_owned()))
    }

    fn __contains__(&self, word: &str) -> bool {
        self.paths.contains_key(word)
    }

    fn __len__(&self) -> usize {
        self.paths.len()
    }

    fn __repr__(&self) -> String {
        format!("<Clusters of {} words: {}>", self.paths.len(), self.count())
    }
}

impl PyClusters {
    fn bytes(&self) -> PyResult<Vec<u8>> {
        let mut bytes = Vec::new();
        let written = self.clusters.write(&mut bytes);
        written.map_err(|e| exception(Error::io("clusters", e)))?;
        Ok(bytes)
    }
}

/// The arguments of clustering.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments<'py> {
    corpus: Option<Bound<'py, PyCorpus>>,
    paths: Vec<PathBuf>,
    clusters: i64,
    min_count: i64,
    format: Option<String>,
    columns: Option<Vec<String>>,
    comments: bool,
    threads: Option<i64>,
    memory: Option<i64>,
    observer: Option<Bound<'py, PyAny>>,
}

/// Clusters the words of sentences in memory and of files.
#[pyfunction]
pub fn cluster(py: Python<'_>, arguments: Arguments<'_>) -> PyResult<PyClusters> {
    let count = inputs::count("clusters", Some(arguments.clusters), 2)?.unwrap_or(2);
    let min_count = inputs::count("min_count", Some(arguments.min_count), 1)?.unwrap_or(1) as u64;
    let memory = inputs::memory_limit(arguments.memory)?;
    let format = arguments.format.as_ref().map(|name| name.parse());
    let format: Option<InputFormat> = format.transpose().map_err(exception)?;
    let options = ReadOptions {
        columns: arguments.columns.clone(),
        comments: arguments.comments,
        unlabeled: true,
        memory,
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
    let paths = &arguments.paths;
    let is_followed = arguments.observer.is_some();
    let work = |job: &Job<'_, (usize, usize)>| {
        let mut text = InternedText::new();
        for sentence in &sentences {
            add(sentence, &mut text)?;
        }
        for path in paths {
            let file = path.to_string_lossy();
            let format = options
                .format
                .unwrap_or_else(|| Format::guess_unlabeled(&file));
            let options = ReadOptions {
                format: Some(format),
                ..options.clone()
            };
            for sentence in Reader::open(&[path], &options)? {
                add(&sentence?, &mut text)?;
            }
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
    let words = clusters.words().iter().enumerate();
    Ok(PyClusters {
        paths: words.map(|(i, word)| (word.word.clone(), i)).collect(),
        clusters,
    })
}

fn add(sentence: &Sentence, text: &mut InternedText) -> dropchain::Result<()> {
    if sentence.layout.document_start {
        return Ok(());
    }
    let words = sentence.words().filter(|_| sentence.attributes.is_none());
    let expected = || Error::input(sentence.place(0), "found features; expected words");
    text.add(words.ok_or_else(expected)?)
}
