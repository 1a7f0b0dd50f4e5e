//! The methods of the class `Corpus`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropchain::corpus::{Corpus, Format, OutputFormat, ReadOptions, ReadReport};
use dropchain::kernel::corpus::{SAMPLE_DEV, SAMPLE_TEST, SAMPLE_TRAIN};
use dropchain::sentence::{DocumentRule, Separation};
use dropchain::train::TrainingCorpora;
use dropchain::{Sentence, Template};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PySlice, PyType};

use super::pickled::{dump, load};
use super::reading::{PyReadOptions, SPACY};
use super::sentences::PyCorpus;
use super::write::write;
use crate::error::{exception, warn};
use crate::evaluation::detector;
use crate::items::{ColumnNames, Items};
use crate::job;
use crate::objects::Reduced;
use crate::plot::shown;
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
        Err(_) => value.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()?,
    };
    if paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(PyValueError::new_err(
            "found the file name '-'; expected a file, or Corpus.parse(sys.stdin.read(), …)",
        ));
    }
    Ok(paths)
}

/// Whether a file is of spaCy's `DocBin`, by its name.
fn is_spacy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "spacy")
}

/// Whether two paths are those of one file that exists.
fn is_same_file(a: &str, b: &Path) -> bool {
    let [a, b] = [Path::new(a), b].map(|path| path.canonicalize().ok());
    a.is_some() && a == b
}

/// Gives what was unexpected in files as warnings.
fn warn_of(py: Python<'_>, report: &ReadReport) -> PyResult<()> {
    report.unexpected().into_iter().try_for_each(|text| warn(py, &text, 1))
}

#[pymethods]
impl PyCorpus {
    #[new]
    #[pyo3(signature = (sentences, labels=None, **options))]
    fn new<'py>(
        sentences: &Bound<'py, PyAny>,
        labels: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let data = sentences.py().import("dropchain._data")?;
        Ok(data.getattr("corpus")?.call((sentences, labels), options)?.cast_into()?)
    }

    /// Creates a corpus of sentences: iterables of tokens. `starts`: the sentences with which
    /// documents begin; `rows` of a table: those with which sentences do, and whether each token is
    /// one.
    #[classmethod]
    #[pyo3(signature = (
        sentences, labels=None, columns=None, weights=None, starts=None, rows=None
    ))]
    fn _of(
        _class: &Bound<'_, PyType>,
        sentences: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        columns: Option<ColumnNames>,
        weights: Option<Items<f64>>,
        starts: Option<Items<usize>>,
        rows: Option<(Vec<u64>, bool)>,
    ) -> PyResult<Self> {
        let mut corpus = Self::of(sentences, labels, columns, weights, rows)?;
        for start in starts.map_or_else(Vec::new, |starts| starts.0) {
            if let Some(sentence) = corpus.0.get_mut(start) {
                Arc::make_mut(sentence).layout.separation.add(Separation::MARK);
            }
        }
        Ok(corpus)
    }

    /// Read files.
    ///
    /// Parameters
    /// ----------
    /// paths : path or iterable of paths
    ///     The files; those compressed by gzip are recognized.
    /// format : str, optional
    ///     conll, conllu, jsonl, crfsuite, text, spans, brat or spacy; by default by the name and
    ///     the first lines of each file.
    /// columns : iterable of str, or str with commas, optional
    ///     CoNLL: the names of the columns; JSON lines: the keys to use as columns;
    ///     of JSON with spans, the key of the text.
    /// label : str, optional
    ///     The column of the labels, by name or index; by default the last column of CoNLL, upos of
    ///     CoNLL-U, labels of JSON lines. Of spaCy ent, tag or pos.
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
    /// paragraphs : bool
    ///     Raw text has hard line breaks: a blank line ends a paragraph.
    /// offsets : {'chars', 'utf16', 'lines', 'utf16-lines', 'bytes'}, optional
    ///     What offsets of spans count (lines: code points, CRLF is one); by default code points,
    ///     or what the texts of the spans show.
    /// misaligned : {'error', 'expand', 'drop'}, optional
    ///     What becomes of spans that cut a token.
    /// overlaps : {'error', 'longest', 'first'}, optional
    ///     Which of spans that overlap is read.
    /// label_names : iterable of str, optional
    ///     JSON lines: the names of labels that are numbers, from 0.
    ///
    /// What is decided about a file that does not say it, or most likely is a mistake in it, is a
    /// UserWarning with file and line. Raises OSError if a file cannot be read, ValueError with
    /// file and line if it is malformed.
    #[classmethod]
    #[pyo3(
        signature = (paths, *, like=None, **options),
        text_signature = "($cls, paths, *, format=None, columns=None, label=None, unlabeled=False, \
            comments=False, header=False, partial_labels=False, weights=True, max_sentence=None, \
            memory=None, like=None, encoding=None, paragraphs=False, offsets=None, \
            misaligned=None, overlaps=None, label_names=None)"
    )]
    fn read(
        class: &Bound<'_, PyType>,
        paths: &Bound<'_, PyAny>,
        like: Option<&Bound<'_, PyTagger>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let paths = paths_of(paths)?;
        let reading = PyReadOptions::of(class.py(), options)?;
        let PyReadOptions { options, format } = reading.get();
        let format = format.as_deref();
        if format == Some(SPACY) || format.is_none() && paths.iter().any(|path| is_spacy(path)) {
            let read = class.py().import("dropchain._docs")?.getattr("read")?;
            let ReadOptions { label, columns, unlabeled, .. } = options;
            let corpus = read.call1((paths, label, columns, unlabeled))?;
            return Ok(Self(corpus.cast::<Self>()?.get().0.clone()));
        }
        let mut options = options.clone();
        if let (Some(tagger), Some(first)) = (like, paths.first())
            && (format.is_none() || options.format.is_some())
        {
            // As far as it is not given; formats of annotation tools have their own.
            let guessed = || Format::guess(&first.to_string_lossy());
            let format = options.format.unwrap_or_else(guessed);
            options = tagger.get().header().read_options(format, options);
        }
        let corpus = job::wait(class.py(), Some(1), |_| Corpus::read(&paths, &options))?;
        warn_of(class.py(), &options.report)?;
        Ok(Self::from(corpus))
    }

    /// Write the sentences into a file, which is replaced as a whole.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file; none of those that the sentences were read from.
    /// format : str, optional
    ///     conll, conllu, jsonl or spacy; by default by the extension.
    /// label : str, optional
    ///     CoNLL-U: the column of the labels, or a key in MISC; spaCy: ent, tag or pos. By default
    ///     what they were read from.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Corpus
    /// >>> Corpus([["Ada", "left"]], [["B-PER", "O"]]).write("names.jsonl")
    /// >>> Corpus.read("names.jsonl").write("names.conll")
    /// >>> print(open("names.conll").read().rstrip())
    /// Ada	B-PER
    /// left	O
    #[pyo3(signature = (path, *, format=None, label=None))]
    fn write(
        slf: &Bound<'_, Self>,
        path: PathBuf,
        format: Option<&str>,
        label: Option<&str>,
    ) -> PyResult<()> {
        let py = slf.py();
        let sentences = &slf.get().0;
        let fault =
            |fault: &str| Err(PyValueError::new_err(format!("path '{}': {fault}", path.display())));
        if sentences.iter().any(|sentence| is_same_file(sentence.file(), &path)) {
            return fault("sentences were read from this file; expected another one");
        }
        if format == Some(SPACY) || format.is_none() && is_spacy(&path) {
            let write = py.import("dropchain._docs")?.getattr("write")?;
            return write.call1((slf, path, label)).map(drop);
        }
        if path.extension().is_some_and(|extension| extension == "gz") {
            return fault("files are not compressed; expected a name without .gz");
        }
        let format = match format {
            Some("conll") => OutputFormat::Conll,
            Some("conllu") => OutputFormat::Conllu,
            Some("jsonl") => OutputFormat::Jsonl,
            Some(name) => {
                return Err(PyValueError::new_err(format!(
                    "unknown format '{name}' to write; expected conll, conllu, jsonl or spacy"
                )));
            }
            None => match Format::of_name(&path.to_string_lossy()) {
                Some(Format::Conllu) => OutputFormat::Conllu,
                Some(Format::Jsonl) => OutputFormat::Jsonl,
                _ => OutputFormat::Conll,
            },
        };
        py.detach(|| write(sentences, &path, format, label)).map_err(exception)
    }

    /// Return a row for each token, as columns: the number of its sentence (`sentence`), the other
    /// columns, and the label.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Corpus
    /// >>> Corpus([["Ada", "left"]], [["B-PER", "O"]]).to_dict()
    /// {'sentence': [0, 0], 'word': ['Ada', 'left'], 'label': ['B-PER', 'O']}
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("dropchain._tables")?.call_method1("to_dict", (slf,))
    }

    /// Return the columns of :meth:`to_dict` as a `pandas.DataFrame`, or as they are if pandas is
    /// not installed.
    fn to_frame<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("dropchain._tables")?.call_method1("to_frame", (slf,))
    }

    /// Return the documents as `Doc` of spaCy; if the corpus has no marks of documents, each
    /// sentence is one.
    ///
    /// Parameters
    /// ----------
    /// nlp : Language, optional
    ///     The pipeline whose vocabulary the documents share; by default a blank one.
    /// label : {"ent", "tag", "pos"}, optional
    ///     What the labels become; by default what they were read from, else entities.
    #[pyo3(signature = (nlp=None, *, label=None))]
    fn to_docs<'py>(
        slf: &Bound<'py, Self>,
        nlp: Option<&Bound<'py, PyAny>>,
        label: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("dropchain._docs")?.call_method1("to_docs", (slf, nlp, label))
    }

    /// Parse text: see :meth:`read`.
    ///
    /// Examples
    /// --------
    /// >>> from dropchain import Corpus
    /// >>> Corpus.parse("Ada B-PER\nleft O\n", format="conll").labels
    /// [['B-PER', 'O']]
    #[classmethod]
    #[pyo3(
        signature = (text, *, name="text", **options),
        text_signature = "($cls, text, *, format, columns=None, label=None, unlabeled=False, \
            comments=False, header=False, partial_labels=False, misaligned=None, overlaps=None, \
            name='text')"
    )]
    fn parse(
        class: &Bound<'_, PyType>,
        text: String,
        name: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let reading = PyReadOptions::of(class.py(), options)?;
        let options = reading.get().of_text()?;
        let corpus = class.py().detach(|| Corpus::parse(text, name, options));
        let corpus = corpus.map_err(exception)?;
        warn_of(class.py(), &options.report)?;
        Ok(Self::from(corpus))
    }

    /// The sentences without document boundaries.
    fn without_boundaries(&self) -> Self {
        let content = self.0.iter().filter(|s| !s.layout.document_start);
        Self(content.cloned().collect())
    }

    /// Returns a part of the labeled sentences: see `TrainingCorpora::keep`.
    fn _part(&self, fraction: f64, seed: u64) -> PyResult<Self> {
        let all = TrainingCorpora { labeled: self.to_corpus("data"), ..TrainingCorpora::default() };
        Ok(all.keep(fraction, seed).map_err(exception)?.labeled.into())
    }

    /// The words of each sentence.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.of_each(py, "words")
    }

    /// What is known about the labels of each sentence: see :attr:`Sentence.labels`.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.of_each(py, "labels")
    }

    /// The number of tokens, document boundaries excluded.
    #[getter]
    fn tokens(&self) -> usize {
        self.0.iter().filter(|s| !s.layout.document_start).map(|sentence| sentence.len()).sum()
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

    /// Return the name of the built-in template for the labels: ``ner`` for spans, ``chunk`` for
    /// phrases with parts of speech, ``pos`` for tags; None if sentences have features.
    ///
    /// `plain_labels` and `outside` are options of :func:`train`.
    #[pyo3(signature = (*, plain_labels = "auto", outside = None))]
    fn default_template(
        &self,
        plain_labels: &str,
        outside: Option<String>,
    ) -> PyResult<Option<&'static str>> {
        let sentences = self.0.iter().map(|sentence| &**sentence);
        let detector = detector(plain_labels, outside)?.of(sentences.clone());
        Ok(Template::shipped_for(sentences, detector.detected().labeling.scheme.has_spans()))
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

    #[staticmethod]
    fn _restore(data: Cow<'_, [u8]>) -> PyResult<Self> {
        load(&data).map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
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
            let places =
                (0..indices.slicelength as isize).map(|i| indices.start + i * indices.step);
            let sentences = places.map(|i| Arc::clone(&self.0[i as usize])).collect();
            return Self(sentences).into_bound_py_any(py);
        }
        let Ok(index) = index.extract::<isize>() else {
            let message = "a corpus is indexed by an integer or a slice";
            return Err(PyTypeError::new_err(message));
        };
        let from_end = if index < 0 { self.0.len() as isize } else { 0 };
        let sentence = usize::try_from(index + from_end).ok().and_then(|i| self.0.get(i));
        let missing = || PyIndexError::new_err(format!("sentence {index} of {}", self.0.len()));
        PySentence(Arc::clone(sentence.ok_or_else(missing)?)).into_bound_py_any(py)
    }

    fn __add__(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.0.iter().cloned().map(PySentence))?.try_iter()
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        shown("corpus", slf.as_any())
    }

    fn __repr__(&self) -> String {
        let sentences = self.0.iter().filter(|s| !s.layout.document_start).count();
        format!("<Corpus of {sentences} sentences, {} tokens>", self.tokens())
    }
}

impl PyCorpus {
    fn of_each<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let content = self.0.iter().filter(|s| !s.layout.document_start);
        let get = |s: &Arc<_>| Bound::new(py, PySentence(Arc::clone(s)))?.getattr(name);
        content.map(get).collect()
    }
}

/// Returns a part of the sample corpus: train, dev or test.
#[pyfunction]
pub fn sample_text(part: &str) -> PyResult<&'static str> {
    match part {
        "train" => Ok(SAMPLE_TRAIN),
        "dev" => Ok(SAMPLE_DEV),
        "test" => Ok(SAMPLE_TEST),
        _ => {
            Err(PyValueError::new_err(format!("part '{part}'; expected 'train', 'dev' or 'test'")))
        }
    }
}
