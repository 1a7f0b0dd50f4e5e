//! The class `Template`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dropchain::corpus::ReadOptions;
use dropchain::sentence::DocumentOptions;
use dropchain::template::{Attribute, AttributeSink, ColumnRef, Template, Workspace};
use dropchain::{Error, Place};
use dropchain_knowledge::{Knowledge, KnowledgeFiles, KnowledgeOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyType};

use crate::error::exception;
use crate::inputs::{self, SentenceReader};
use crate::items::{ColumnNames, Items};
use crate::plot::shown;
use crate::sentence::PySentence;

/// A feature template: which properties of the context of a token are its features.
///
/// Parameters
/// ----------
/// text : str
///     The lines of the template, in dropchain's language or that of CRF++ or Wapiti.
/// files : dict of str to str, optional
///     The contents of the files that the template refers to (lexica, clusters, vectors), by name.
///
/// Examples
/// --------
/// >>> from dropchain import Template
/// >>> template = Template("word\nword[-1]\nsuffix(2)\n")
/// >>> template.features(["in", "London"])[1]
/// {'word[0]=London': 1.0, 'word[-1]=in': 1.0, 'suffix(2)[0]=on': 1.0}
#[pyclass(name = "Template", module = "dropchain", frozen)]
pub struct PyTemplate {
    pub inner: Template,
    /// The files that were read for it.
    pub paths: Vec<PathBuf>,
    name: String,
}

#[pymethods]
impl PyTemplate {
    #[new]
    #[pyo3(signature = (text, *, files=None))]
    fn new(text: &str, files: Option<HashMap<String, String>>) -> PyResult<Self> {
        let mut load = |name: &str| {
            let file = files.as_ref().and_then(|files| files.get(name));
            file.cloned().ok_or_else(|| {
                let message = "the template refers to this file; expected its contents in `files`";
                Error::input(Place::file(name), message)
            })
        };
        let template = Template::parse(text, "template", &mut load).map_err(exception)?;
        Ok(Self { inner: template, paths: Vec::new(), name: "template".to_owned() })
    }

    /// Read a template from a file.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file. Names of files in it are relative to its directory.
    /// files : bool
    ///     Whether it may refer to other files. Their contents become part of the model, so say no
    ///     to templates from others.
    #[classmethod]
    #[pyo3(signature = (path, *, files=true))]
    fn read(_class: &Bound<'_, PyType>, path: PathBuf, files: bool) -> PyResult<Self> {
        let template = match files {
            true => Template::read(&path),
            false => Template::read_without_files(&path),
        };
        let inner = template.map_err(exception)?;
        let directory = path.parent().map(PathBuf::from).unwrap_or_default();
        let others = inner.file_names().map(|name| directory.join(name));
        Ok(Self {
            paths: [path.clone()].into_iter().chain(others).collect(),
            name: path.display().to_string(),
            inner,
        })
    }

    /// Return a template that comes with dropchain: see :meth:`shipped_names`.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Template
    /// >>> Template.shipped("minimal")
    /// <Template 'minimal'>
    #[classmethod]
    fn shipped(_class: &Bound<'_, PyType>, name: &str) -> PyResult<Self> {
        let template = Template::shipped(name).ok_or_else(|| {
            let names = Self::shipped_names().join(", ");
            PyValueError::new_err(format!("there is no template '{name}'; expected one of {names}"))
        })?;
        Ok(Self { inner: template.map_err(exception)?, paths: Vec::new(), name: name.to_owned() })
    }

    /// Return the names of the templates that come with dropchain.
    #[staticmethod]
    fn shipped_names() -> Vec<&'static str> {
        Template::shipped_names().collect()
    }

    /// The text of the template.
    #[getter]
    fn text(&self) -> &str {
        self.inner.source()
    }

    /// The names of the files that the template refers to.
    #[getter]
    fn file_names(&self) -> Vec<&str> {
        self.inner.file_names().collect()
    }

    /// What a document is to the template, ``(rule, window)``; None if it does not look at any.
    #[getter]
    fn documents(&self) -> Option<(&'static str, u32)> {
        let documents = self.inner.documents()?;
        Some((documents.rule.name(), documents.window))
    }

    /// Return the template with another notion of a document, which must be one that looks at it.
    ///
    /// Parameters
    /// ----------
    /// rule : str, optional
    ///     What separates documents: see :meth:`Corpus.documents`.
    /// window : int, optional
    ///     The number of tokens before and after a token that it sees.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Template
    /// >>> Template("word\nothers(word[-1])").with_documents(window=500).documents
    /// ('auto', 500)
    #[pyo3(signature = (rule=None, window=None))]
    fn with_documents(&self, rule: Option<&str>, window: Option<i64>) -> PyResult<Self> {
        let mut documents = self.inner.documents().unwrap_or_default();
        if let Some(rule) = rule {
            documents.rule = rule.parse().map_err(exception)?;
        }
        if let Some(window) = inputs::count("window", window, 1)? {
            let largest = DocumentOptions::MAX_WINDOW;
            let fitting = u32::try_from(window).ok().filter(|window| *window <= largest);
            let message = || format!("found the window {window}; expected at most {largest}");
            documents.window = fitting.ok_or_else(|| PyValueError::new_err(message()))?;
        }
        Ok(Self {
            inner: self.inner.clone().with_documents(documents).map_err(exception)?,
            paths: self.paths.clone(),
            name: self.name.clone(),
        })
    }

    /// The columns that the template reads: names, or indices.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let names = self.inner.columns().into_iter().map(|column| match column {
            ColumnRef::Word => "word".to_owned(),
            ColumnRef::Name(name) => name,
            ColumnRef::Number(number) => number.to_string(),
        });
        names.collect()
    }

    /// The files that were read for the template.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    /// Return the features of each token of a sentence, with their values.
    ///
    /// Those of pairs of tokens (lines with ``edge``) are not among them.
    #[pyo3(signature = (sentence, *, columns=None))]
    fn features<'py>(
        &self,
        sentence: &Bound<'py, PyAny>,
        columns: Option<ColumnNames>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut reader = SentenceReader::new(columns.map(|columns| columns.0))?;
        let py = sentence.py();
        let sentence = PySentence::read(&mut reader, sentence, 0, &|| "sentence".to_owned())?;
        if sentence.attributes.is_some() {
            return Err(PyValueError::new_err("the sentence has features; expected words"));
        }
        let extractor = self.inner.bind(sentence.schema()).map_err(exception)?;
        let mut workspace = Workspace::default();
        let prepared = extractor.prepare(&*sentence, &mut workspace);
        prepared.map_err(exception)?;
        let tokens = (0..sentence.len()).map(|t| {
            let mut features = Features::default();
            extractor.extract(&sentence, t, &mut workspace, &mut features);
            features.0.into_py_dict(py)
        });
        tokens.collect()
    }

    /// Returns the template with lines for clusters, vectors and gazetteers.
    fn _with_knowledge(&self, py: Python<'_>, arguments: KnowledgeArguments) -> PyResult<Self> {
        let files = KnowledgeFiles {
            clusters: arguments.clusters.0,
            vectors: arguments.vectors.0,
            gazetteers: arguments.gazetteers.0,
        };
        let options = KnowledgeOptions {
            clusters: inputs::at_least("cluster_count", arguments.cluster_count, 2)?,
            vectors: inputs::at_least("vector_count", arguments.vector_count, 1)?,
            read: ReadOptions {
                columns: arguments.columns.map(|columns| columns.0),
                limits: inputs::memory_limit(arguments.memory)?.into(),
                ..ReadOptions::default()
            },
        };
        let mut paths = self.paths.clone();
        paths.extend(files.iter().map(Path::to_owned));
        let attached =
            py.detach(|| Knowledge::read(&files, &options, &mut |_| ())?.attach(&self.inner));
        Ok(Self { inner: attached.map_err(exception)?, paths, name: self.name.clone() })
    }

    /// Returns the template that was pickled as this JSON.
    #[staticmethod]
    fn _restore(json: &str, name: String, paths: Items<PathBuf>) -> PyResult<Self> {
        let inner = serde_json::from_str(json);
        let inner = inner.map_err(|error| PyValueError::new_err(format!("template: {error}")))?;
        Ok(Self { inner, paths: paths.0, name })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Restoring<'py>> {
        let Self { inner, paths, name } = slf.get();
        let json = serde_json::to_string(inner);
        let json = json.map_err(|error| PyValueError::new_err(format!("template: {error}")))?;
        let restore = slf.get_type().getattr("_restore")?;
        Ok((restore, (json, name.clone(), paths.clone())))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        shown("template", slf.as_any())
    }

    fn __repr__(&self) -> String {
        format!("<Template '{}'>", self.name)
    }
}

/// The reduced form for pickle: a function and its arguments.
type Restoring<'py> = (Bound<'py, PyAny>, (String, String, Vec<PathBuf>));

/// Files of external resources, and how to use them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct KnowledgeArguments {
    clusters: Items<PathBuf>,
    vectors: Items<PathBuf>,
    gazetteers: Items<PathBuf>,
    cluster_count: i64,
    vector_count: i64,
    columns: Option<ColumnNames>,
    memory: Option<i64>,
}

impl PyTemplate {
    /// Wraps a template that is stored in a model.
    pub fn stored(inner: Template) -> Self {
        Self { inner, paths: Vec::new(), name: "of a model".to_owned() }
    }
}

/// Collects the features of a token.
#[derive(Default)]
struct Features(Vec<(String, f64)>);

impl AttributeSink for Features {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        let mut name = Vec::new();
        attribute.write(&mut name);
        self.0.push((String::from_utf8_lossy(&name).into_owned(), value));
    }

    fn edge(&mut self, _attribute: &Attribute<'_>, _value: f64) {}
}
