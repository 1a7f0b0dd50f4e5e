//! The methods of the class `Corpus`.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use dropchain::corpus::{
    Corpus, DocumentRule, Format, ReadOptions, ReadReport, SAMPLE_DEV, SAMPLE_TEST, SAMPLE_TRAIN,
};
use dropchain::{Sentence, Tagger};
use dropchain_formats::SpanOptions;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PySlice, PyType};

use super::pickled::{dump, load};
use super::reading::{ReadArguments, read_options};
use super::sentences::PyCorpus;
use crate::error::{exception, warn};
use crate::items::Items;
use crate::job::{self, Job};
use crate::sentence::PySentence;
use crate::tagger::PyTagger;

/// Reads the names of files: one, or several.
///
/// # Errors
///
/// `TypeError` for something else, `ValueError` for standard input, of which Python has its own.
fn paths_of(value: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    let paths = match value.extract::<PathBuf>() {
        Ok(path) => vec![path],
        Err(_) => {
            let path = |item: PyResult<Bound<'_, PyAny>>| item?.extract::<PathBuf>();
            let items = value.try_iter()?;
            items.map(path).collect::<PyResult<_>>()?
        }
    };
    if paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(PyValueError::new_err(
            "found the file name '-'; expected a file, or Corpus.parse(sys.stdin.read(), …)",
        ));
    }
    Ok(paths)
}

/// Sets how to read to what it was for the corpus that a model was trained on, as far as it is not
/// given and the format has not its own.
fn read_like(tagger: &Tagger, file: &str, options: ReadOptions) -> ReadOptions {
    if options.reader.is_some() {
        return options;
    }
    let format = options.format.unwrap_or_else(|| Format::guess(file));
    tagger.model().header().read_options(format, options)
}

/// Gives what was unexpected in files as warnings.
fn warn_of(py: Python<'_>, report: &ReadReport) -> PyResult<()> {
    let mut texts = report.unexpected().into_iter();
    texts.try_for_each(|text| warn(py, &text, 1))
}

#[pymethods]
impl PyCorpus {
    #[new]
    #[pyo3(signature = (sentences, labels=None, *, columns=None, weights=None))]
    fn new(
        sentences: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        columns: Option<Items<String>>,
        weights: Option<Items<f64>>,
    ) -> PyResult<Self> {
        Self::of(sentences, labels, columns, weights)
    }

    /// Read files.
    ///
    /// Parameters
    /// ----------
    /// paths : path or iterable of paths
    ///     The files; those compressed by gzip are recognized.
    /// format : str, optional
    ///     conll, conllu, jsonl, crfsuite or text; by default by the extension of each file.
    /// columns : iterable of str, optional
    ///     CoNLL: the names of the columns; JSON lines: the keys to use as columns.
    /// label : str, optional
    ///     The column of the labels, by name or index; by default the last column of CoNLL, upos of
    ///     CoNLL-U, labels of JSON lines.
    /// unlabeled : bool
    ///     There need not be labels.
    /// comments : bool
    ///     CoNLL: lines that begin with ``#`` are comments.
    /// header : bool
    ///     CoNLL: the first line of each file is a header row, which names the columns.
    /// partial_labels : bool
    ///     ``_`` is an unknown label, ``A|B`` one of two.
    /// weights : bool
    ///     Read the weights of sentences, such as ``# weight = 0.5``.
    /// max_sentence : int, optional
    ///     A longer sentence is an error: most likely blank lines are missing.
    /// memory : int, optional
    ///     Limit in bytes.
    /// like : Tagger, optional
    ///     Read as the corpus that its model was trained on: its columns, comments, header rows.
    /// encoding : str, optional
    ///     The encoding of the text, such as latin1; by default UTF-8.
    /// lossy : bool
    ///     Bytes that are no text become U+FFFD.
    /// paragraphs : bool
    ///     Raw text has hard line breaks: a blank line ends a paragraph.
    /// offsets : {'chars', 'bytes', 'utf16'}, optional
    ///     What offsets of spans count.
    /// misaligned : {'error', 'expand', 'drop'}, optional
    ///     What becomes of spans that cut a token.
    /// text_key : str, optional
    ///     The key of the text in JSON with spans.
    /// several_labels : {'drop', 'first'}, optional
    ///     What becomes of spans with several labels.
    ///
    /// What is decided about a file that does not say it, or most likely is a mistake in it, is a
    /// UserWarning with file and line. Raises OSError if a file cannot be read, ValueError with
    /// file and line if it is malformed.
    #[classmethod]
    #[pyo3(signature = (
        paths, *, format=None, columns=None, label=None, unlabeled=false, comments=false,
        header=false, partial_labels=false, weights=true, max_sentence=None, memory=None,
        like=None, encoding=None, lossy=false, paragraphs=false, offsets=None, misaligned=None,
        text_key=None, several_labels=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn read(
        class: &Bound<'_, PyType>,
        paths: &Bound<'_, PyAny>,
        format: Option<&str>,
        columns: Option<Items<String>>,
        label: Option<&Bound<'_, PyAny>>,
        unlabeled: bool,
        comments: bool,
        header: bool,
        partial_labels: bool,
        weights: bool,
        max_sentence: Option<i64>,
        memory: Option<i64>,
        like: Option<&Bound<'_, PyTagger>>,
        encoding: Option<&str>,
        lossy: bool,
        paragraphs: bool,
        offsets: Option<&str>,
        misaligned: Option<&str>,
        text_key: Option<String>,
        several_labels: Option<&str>,
    ) -> PyResult<Self> {
        let arguments = ReadArguments {
            format: format.map(str::to_owned),
            columns,
            label: label.cloned(),
            unlabeled,
            comments,
            header,
            partial_labels,
            weights,
            max_sentence,
            memory,
            encoding: encoding.map(str::to_owned),
            lossy,
            paragraphs,
            offsets: offsets.map(str::to_owned),
            misaligned: misaligned.map(str::to_owned),
            text_key,
            several_labels: several_labels.map(str::to_owned),
        };
        let mut options = arguments.options()?;
        let paths = paths_of(paths)?;
        if let (Some(tagger), Some(first)) = (like, paths.first()) {
            options = read_like(&tagger.get().inner, &first.to_string_lossy(), options);
        }
        let work = |_: &Job<'_, ()>| Corpus::read(&paths, &options);
        let no_events = |()| Ok(ControlFlow::Continue(()));
        let corpus = job::run(class.py(), Some(1), work, no_events)?.or_raise()?;
        warn_of(class.py(), &options.report)?;
        Ok(Self::from(corpus))
    }

    /// Parse text: see :meth:`read`.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Corpus
    /// >>> Corpus.parse("Ada B-PER\nleft O\n", format="conll").labels
    /// [['B-PER', 'O']]
    #[classmethod]
    #[pyo3(signature = (
        text, *, format, columns=None, label=None, unlabeled=false, comments=false,
        header=false, partial_labels=false, name="text"
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn parse(
        class: &Bound<'_, PyType>,
        text: String,
        format: &str,
        columns: Option<Items<String>>,
        label: Option<&Bound<'_, PyAny>>,
        unlabeled: bool,
        comments: bool,
        header: bool,
        partial_labels: bool,
        name: &str,
    ) -> PyResult<Self> {
        let options = ReadOptions {
            unlabeled,
            comments,
            header,
            partial_labels,
            ..read_options(Some(format), columns, label, SpanOptions::default())?
        };
        let corpus = class.py().detach(|| Corpus::parse(text, name, &options));
        let corpus = corpus.map_err(exception)?;
        warn_of(class.py(), &options.report)?;
        Ok(Self::from(corpus))
    }

    /// Convert a data set in the form of HuggingFace's `datasets`: lists of tokens and of tag ids
    /// or tags.
    ///
    /// Parameters
    /// ----------
    /// data : Dataset, dict of columns, or iterable of rows (dicts)
    ///     With several splits, choose one: ``data["train"]``.
    /// tokens : str
    ///     The column of the tokens.
    /// label : str, optional
    ///     The column of the tags; by default the only one whose tags have names.
    /// names : iterable of str, optional
    ///     The names of the tags; by default those of ``data.features[label].feature.names``.
    /// columns : iterable of str, optional
    ///     More columns of strings, for templates that read them.
    /// unlabeled : bool
    ///     Ignore tags.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Corpus
    /// >>> data = {"tokens": [["Ada", "left"]], "ner_tags": [[1, 0]]}
    /// >>> Corpus.from_dataset(data, label="ner_tags", names=["O", "B-PER"]).labels
    /// [['B-PER', 'O']]
    #[classmethod]
    #[pyo3(signature = (
        data, *, tokens="tokens", label=None, names=None, columns=None, unlabeled=false
    ))]
    fn from_dataset<'py>(
        class: &Bound<'py, PyType>,
        data: &Bound<'py, PyAny>,
        tokens: &str,
        label: Option<&str>,
        names: Option<Bound<'py, PyAny>>,
        columns: Option<Bound<'py, PyAny>>,
        unlabeled: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = class.py().import("dropchain._datasets")?;
        let arguments = (data, tokens, label, names, columns, unlabeled);
        module.call_method1("corpus", arguments)
    }

    /// The sentences without document boundaries.
    fn without_boundaries(&self) -> Self {
        let content = self.0.iter().filter(|s| !s.layout.document_start);
        Self(content.cloned().collect())
    }

    /// The words of each sentence.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_each(py, "words")
    }

    /// What is known about the labels of each sentence: see :attr:`Sentence.labels`.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_each(py, "labels")
    }

    /// The number of tokens, document boundaries excluded.
    #[getter]
    fn tokens(&self) -> usize {
        let content = self.0.iter().filter(|s| !s.layout.document_start);
        content.map(|sentence| sentence.len()).sum()
    }

    /// The names of the columns of the first sentence, that of the labels excluded.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.first() {
            None => Ok(PyList::empty(py).into_any()),
            Some(first) => Bound::new(py, PySentence(Arc::clone(first)))?.getattr("columns"),
        }
    }

    /// Whether the sentences have ready-made features instead of columns.
    #[getter]
    fn has_features(&self) -> bool {
        self.0.iter().any(|sentence| sentence.attributes.is_some())
    }

    /// Return the documents, without their boundaries.
    ///
    /// Parameters
    /// ----------
    /// rule : str
    ///     What separates documents: ``auto`` (the marks of the format, and the end of each file),
    ///     ``sentence``, ``file``, ``marks``, ``blank-line``, ``form-feed`` or ``line``.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Corpus
    /// >>> text = "-DOCSTART- O\n\nAda B-PER\n\n-DOCSTART- O\n\nleft O\n\nagain O\n"
    /// >>> [document.words for document in Corpus.parse(text, format="conll").documents()]
    /// [[['Ada']], [['left'], ['again']]]
    #[pyo3(signature = (rule="auto"))]
    fn documents(&self, rule: &str) -> PyResult<Vec<Self>> {
        let rule: DocumentRule = rule.parse().map_err(exception)?;
        let documents = rule.documents(self.0.iter().map(|sentence| &**sentence));
        let mut sentences = (self.0.iter()).filter(|sentence| !sentence.layout.document_start);
        let take = |document: Vec<&Sentence>| {
            let own = sentences.by_ref().take(document.len());
            Self(own.map(Arc::clone).collect())
        };
        Ok(documents.into_iter().map(take).collect())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf // it cannot change
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    #[staticmethod]
    fn _restore(data: Cow<'_, [u8]>) -> PyResult<Self> {
        load(&data).map(Self)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let restore = slf.get_type().getattr("_restore")?;
        Ok((restore, (PyBytes::new(slf.py(), &dump(&slf.get().0)?),)))
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            let indices = slice.indices(self.0.len() as isize)?;
            let mut sentences = Vec::with_capacity(indices.slicelength);
            let mut i = indices.start;
            for _ in 0..indices.slicelength {
                sentences.push(Arc::clone(&self.0[i as usize]));
                i += indices.step;
            }
            return Ok(Bound::new(py, Self(sentences))?.into_any());
        }
        let Ok(index) = index.extract::<isize>() else {
            let message = "a corpus is indexed by an integer or a slice";
            return Err(PyTypeError::new_err(message));
        };
        let from_end = if index < 0 { self.0.len() as isize } else { 0 };
        let sentence = usize::try_from(index + from_end)
            .ok()
            .and_then(|i| self.0.get(i))
            .ok_or_else(|| {
                PyIndexError::new_err(format!("sentence {index} of {}", self.0.len()))
            })?;
        Ok(Bound::new(py, PySentence(Arc::clone(sentence)))?.into_any())
    }

    fn __add__(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.0.iter().cloned().map(PySentence))?.try_iter()
    }

    fn __repr__(&self) -> String {
        let sentences = self.0.iter().filter(|s| !s.layout.document_start).count();
        format!(
            "<Corpus of {sentences} sentences, {} tokens>",
            self.tokens()
        )
    }
}

impl PyCorpus {
    fn of_each<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let content = self.0.iter().filter(|s| !s.layout.document_start);
        let items = content
            .map(|sentence| Bound::new(py, PySentence(Arc::clone(sentence)))?.getattr(name))
            .collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, items)
    }
}

/// Returns a part of the sample corpus: train, dev or test.
#[pyfunction]
pub fn sample_text(part: &str) -> PyResult<&'static str> {
    match part {
        "train" => Ok(SAMPLE_TRAIN),
        "dev" => Ok(SAMPLE_DEV),
        "test" => Ok(SAMPLE_TEST),
        _ => Err(PyValueError::new_err(format!(
            "part '{part}'; expected 'train', 'dev' or 'test'"
        ))),
    }
}
