//! The class `Tagger`: its model, reading the sentences for it, and naming labels.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use dropchain::label::LabelId;
use dropchain::model::Header;
use dropchain::sentence::Schema;
use dropchain::tag::{TagInput, Tagging, Workspace};
use dropchain::{Model, Result, Sentence, Tagger};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use rayon::prelude::*;

use super::request::Request;
use crate::error::{at, exception};
use crate::inputs::SentenceReader;
use crate::items::{found, iterate};
use crate::objects::token_spans;
use crate::sentence::PySentence;
use crate::threads;
use crate::tokens::Place;

/// Tokens that are converted and tagged at a time: enough work for all threads, in about a
/// megabyte; and Ctrl-C works.
const BATCH: usize = 4096;

/// Tags sentences with a model.
///
/// A tagger never changes, is shared by any number of threads, and is pickled with its model. The
/// GIL is released while it works.
///
/// A sentence is an iterable of words, or a :class:`Sentence` with more columns, or a list of
/// tuples, each with a value for each of :attr:`columns`; for a model that was trained without a
/// template, an iterable of the features of each token (dicts, or iterables of strings), a
/// two-dimensional array, a sparse matrix, or :class:`Features`.
#[pyclass(name = "Tagger", module = "dropchain", frozen)]
pub struct PyTagger {
    pub inner: Arc<Tagger>,
    /// The names of the labels, `[K]`.
    pub names: Vec<Py<PyString>>,
    /// The columns that the model was trained on, without that of the labels; `None`: features.
    pub columns: Option<Vec<String>>,
    /// Schema of the columns, if there are several.
    pub schema: Option<Arc<Schema>>,
}

impl PyTagger {
    /// Creates a tagger for a model.
    pub fn of(py: Python<'_>, model: Model) -> Self {
        let header = model.header();
        let names = header.labels.names().iter();
        let columns = header.template.as_ref().map(|_| {
            let all = header.columns.names.iter().enumerate();
            let columns = all.filter(|(i, _)| !header.columns.is_label(*i));
            let columns: Vec<String> = columns.map(|(_, name)| name.clone()).collect();
            if columns.is_empty() { vec!["word".to_owned()] } else { columns }
        });
        // Files have unique names of columns.
        let several = columns.clone().filter(|columns| columns.len() > 1);
        let schema = several.and_then(|columns| Schema::new(columns, None).ok());
        Self {
            names: names.map(|name| PyString::new(py, name).unbind()).collect(),
            columns,
            schema: schema.map(Arc::new),
            inner: Arc::new(Tagger::new(model)),
        }
    }

    /// Returns the header of the model.
    pub fn header(&self) -> &Header {
        self.inner.model().header()
    }

    /// Reads a sentence. `number` is that of a batch, from 1; 0 if there is one only.
    pub fn read(
        &self,
        reader: &mut SentenceReader,
        sentence: &Bound<'_, PyAny>,
        number: u64,
        place: Place<'_>,
    ) -> PyResult<Arc<Sentence>> {
        let read = PySentence::read(reader, sentence, number, place)?;
        if read.is_empty() || self.columns.is_some() == read.attributes.is_none() {
            return Ok(read);
        }
        let fault = match &self.columns {
            Some(_) => "found features; expected words, since the model has a template",
            None => {
                "found words; expected features, since the model was trained without a template"
            }
        };
        Err(at(place, PyValueError::new_err(fault)))
    }

    /// Reads the only sentence of a call. A list in its place of a token is most likely a sentence
    /// among several.
    pub fn read_one(&self, sentence: &Bound<'_, PyAny>) -> PyResult<Arc<Sentence>> {
        if let (Some(schema), Ok(tokens)) = (&self.schema, sentence.cast::<PyList>())
            && let Some(first) = tokens.iter().next().filter(PyAnyMethods::is_instance_of::<PyList>)
        {
            let expected = format!(
                "a tuple of the columns {}; tag_batch takes several sentences",
                schema.list()
            );
            return Err(at(|| "sentence[0]".to_owned(), found(&first, "a token", &expected)));
        }
        self.read(&mut self.reader(), sentence, 0, &|| "sentence".to_owned())
    }

    /// Returns a reader of the sentences that the model can tag.
    pub fn reader(&self) -> SentenceReader {
        SentenceReader::of(self.schema.clone())
    }

    /// Rejects a model that was trained without a template, for text.
    pub fn check_template(&self) -> PyResult<()> {
        if self.columns.is_some() {
            return Ok(());
        }
        Err(PyValueError::new_err(
            "the model was trained on features, which text does not have; expected a model with a \
             template",
        ))
    }

    /// Returns the names of labels, in the scheme of the training corpus.
    pub fn label_list<'py>(
        &self,
        py: Python<'py>,
        ids: &[LabelId],
    ) -> PyResult<Bound<'py, PyList>> {
        let header = self.header();
        if header.labeling == header.corpus_labeling {
            return PyList::new(py, ids.iter().map(|id| self.names[id.index()].bind(py)));
        }
        PyList::new(py, self.converted(ids))
    }

    /// Returns the names of labels, in the scheme of the training corpus.
    pub fn converted(&self, ids: &[LabelId]) -> Vec<String> {
        let names = self.inner.label_names_in(&self.header().corpus_labeling, ids);
        names.into_iter().map(Cow::into_owned).collect()
    }

    /// Tags a sentence in the workspace of this thread.
    pub fn tagging_of<'s>(
        &self,
        input: impl Into<TagInput<'s>>,
        request: &Request,
    ) -> Result<Tagging> {
        let input = input.into();
        let Request { options, condition, threshold } = request;
        let tag = |workspace: &mut _| self.inner.tag_given(input, condition, *options, workspace);
        let mut tagging = with_workspace(tag)?;
        if let Some(threshold) = threshold {
            self.inner.mark(input, condition, threshold, &mut tagging)?;
        }
        Ok(tagging)
    }

    /// Reads and tags sentences, in parallel, and makes something of each result, in order. `name`
    /// is that of the sentences in messages.
    pub fn tag_each<R>(
        &self,
        sentences: &Bound<'_, PyAny>,
        name: &str,
        threads: Option<usize>,
        request: &Request,
        make: impl FnMut(Tagging) -> PyResult<R>,
    ) -> PyResult<Vec<R>> {
        let mut reader = self.reader();
        let read = |i: usize, item: &Bound<'_, PyAny>| {
            let sentence =
                self.read(&mut reader, item, i as u64 + 1, &|| format!("{name}[{i}]"))?;
            let size = 1 + sentence.len();
            Ok((sentence, size))
        };
        let tag = |sentence: &Arc<Sentence>| match sentence.layout.document_start {
            true => Ok(Tagging::default()),
            false => self.tagging_of(&**sentence, request),
        };
        in_batches(sentences, name, threads, read, tag, make)
    }

    /// Returns the spans that the labels of a sentence encode.
    pub fn spans_of<'py>(
        &self,
        py: Python<'py>,
        tagging: &Tagging,
        words: Option<&[String]>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let header = self.header();
        if !header.encodes_spans() {
            return Ok(Vec::new());
        }
        let (labels, labeling) = (self.converted(&tagging.labels), &header.corpus_labeling);
        let probabilities = self.inner.mark_probabilities_in(labeling, tagging);
        token_spans(py, &labels, labeling, words, probabilities.as_deref())
    }
}

/// Reads the items of an iterable of this name with their sizes in tokens, works on them with all
/// threads and without the GIL, a batch at a time, and makes something of each result, in order.
pub fn in_batches<'py, T: Send + Sync, R: Send, M>(
    items: &Bound<'py, PyAny>,
    name: &str,
    threads: Option<usize>,
    mut read: impl FnMut(usize, &Bound<'py, PyAny>) -> PyResult<(T, usize)>,
    work: impl Fn(&T) -> Result<R> + Send + Sync,
    mut make: impl FnMut(R) -> PyResult<M>,
) -> PyResult<Vec<M>> {
    let mut made = Vec::new();
    let py = items.py();
    let mut items = iterate(items, name, "an iterable of sentences")?.enumerate();
    let mut first = 0;
    loop {
        let (mut batch, mut tokens) = (Vec::new(), 0);
        while tokens < BATCH
            && let Some((i, item)) = items.next()
        {
            let (item, size) = read(i, &item?)?;
            tokens += size;
            batch.push(item);
        }
        if batch.is_empty() {
            return Ok(made);
        }
        let pool = match batch.len() {
            1 => None,
            _ => Some(threads::pool(threads).map_err(exception)?),
        };
        let results: Vec<_> = py.detach(|| match pool {
            Some(pool) if pool.current_num_threads() > 1 => {
                pool.install(|| batch.par_iter().map(&work).collect())
            }
            _ => batch.iter().map(&work).collect(),
        });
        py.check_signals()?;
        for (result, i) in results.into_iter().zip(first..) {
            let result = result.map_err(exception);
            made.push(make(result.map_err(|error| at(|| format!("{name}[{i}]"), error))?)?);
        }
        first += batch.len();
    }
}

/// Calls `f` with the workspace of this thread.
pub fn with_workspace<R>(f: impl FnOnce(&mut Workspace) -> R) -> R {
    thread_local! {
        static WORKSPACE: RefCell<Workspace> = RefCell::default();
    }
    WORKSPACE.with_borrow_mut(f)
}
