//! The methods of the class `Tagger`.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use dropchain::corpus::{Format, ReadOptions};
use dropchain::model::AttributeKind;
use dropchain::sentence::Document;
use dropchain::tag::{LabelPath, TagDocuments, TagOptions, Tagging, WordFit};
use dropchain::{Corpus, Sentence};
use dropchain_analysis::{
    ExplainedSentence, ExplainedTokens, Explanation, ModelSummary, labels_against, words_to_explain,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyList, PyString, PyType};
use serde_json::json;

use super::facts;
use super::model::{PyTagger, in_batches, with_workspace};
use super::request::{Request, condition};
use super::rows::ROWS;
use crate::corpus::PyCorpus;
use crate::error::{at, exception, warn};
use crate::inputs;
use crate::items::{found, iterate, strings};
use crate::objects::{Reduced, class, object, sentences};
use crate::plot::shown;
use crate::sentence::PySentence;
use crate::template::PyTemplate;

/// Number of words of raw text that are compared with those of the training data.
const SAMPLED_WORDS: usize = 200;

/// The columns of texts.
const COLUMNS: usize = 80;

/// Reads which tokens of a sentence are explained: by default the notable ones.
fn explained_tokens(tokens: Option<&Bound<'_, PyAny>>) -> PyResult<ExplainedTokens> {
    let Some(tokens) = tokens else {
        return Ok(ExplainedTokens::Notable);
    };
    if tokens.extract::<&str>().is_ok_and(|name| name == "all") {
        return Ok(ExplainedTokens::All);
    }
    let expected = "\"all\", or a list of words or indices";
    if tokens.is_instance_of::<PyString>() {
        return Err(found(tokens, "tokens", expected));
    }
    let name = |token: PyResult<Bound<'_, PyAny>>| {
        let token = token?;
        match (token.extract::<usize>(), token.extract::<String>()) {
            (Ok(index), _) => Ok((index + 1).to_string()), // they count from 1 there
            (_, Ok(word)) => Ok(word),
            _ => Err(found(&token, "tokens", expected)),
        }
    };
    let names = tokens.try_iter()?.map(name);
    names.collect::<PyResult<_>>().map(ExplainedTokens::Named)
}

/// Splits the text of one sentence.
fn only_sentence(text: &str) -> PyResult<Arc<Sentence>> {
    let options =
        ReadOptions { format: Some(Format::Text), unlabeled: true, ..ReadOptions::default() };
    let sentences = Corpus::parse(text, "text", &options).map_err(exception)?.into_sentences();
    let count = sentences.len();
    let [sentence] = <[Sentence; 1]>::try_from(sentences).map_err(|_| {
        PyValueError::new_err(format!("found a text of {count} sentences; expected one"))
    })?;
    Ok(Arc::new(sentence))
}

#[pymethods]
impl PyTagger {
    #[new]
    fn new(_model: &Bound<'_, PyAny>) -> PyResult<Self> {
        Err(PyTypeError::new_err("Tagger() opens nothing; expected Tagger.open(path)"))
    }

    /// Open the file of a model.
    ///
    /// Raises OSError if it cannot be read, :class:`ModelError` if it is damaged or not a model.
    #[classmethod]
    fn open(_class: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = py.detach(|| dropchain_crfsuite::open(path)).map_err(exception)?;
        Ok(Self::of(py, model))
    }

    /// Return a tagger for the contents of a model file, such as those of :meth:`to_bytes`.
    #[classmethod]
    fn from_bytes(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        data: Cow<'_, [u8]>,
    ) -> PyResult<Self> {
        let data = data.into_owned();
        let model = py.detach(|| dropchain_crfsuite::from_bytes(data)).map_err(exception)?;
        Ok(Self::of(py, model))
    }

    /// Return the contents of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.model().as_bytes())
    }

    /// Writes the model.
    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.model().save(path)).map_err(exception)
    }

    /// Save the model to a file, atomically: if anything fails, an old file stays as it is.
    ///
    /// A file that is not a model is replaced only with `force`.
    #[pyo3(signature = (path, *, force=false))]
    fn save(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>, force: bool) -> PyResult<()> {
        let files = slf.py().import("dropchain._files")?;
        files.call_method1("save", (slf, path, force)).map(drop)
    }

    /// The labels of the model, in the order of the columns of marginals.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.names)
    }

    /// The template of the model; None if it was trained on ready-made features.
    #[getter]
    fn template(&self) -> Option<PyTemplate> {
        let template = self.header().template.clone()?;
        Some(PyTemplate::stored(template))
    }

    /// The columns that sentences need, besides labels; None if it was trained on features.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        self.columns.clone()
    }

    /// Return the best label of each token.
    ///
    /// Parameters
    /// ----------
    /// sentence : sentence
    ///     Words, or features: see :class:`Tagger`.
    /// threshold : float, str or dict, optional
    ///     Leave out spans below this probability: 0.8, or by type {"PER": 0.9}, "PER=0.9,LOC=0.6".
    /// constrain : bool
    ///     Predict only sequences that are legal in the label scheme.
    ///
    /// Examples
    /// --------
    /// >>> import dropchain
    /// >>> sample = dropchain.sample_corpus()
    /// >>> tagger = dropchain.train(sample, template="ner", max_iterations=30).tagger
    /// >>> tagger.tag(["She", "lives", "in", "London", "."])
    /// ['O', 'O', 'O', 'B-LOC', 'O']
    #[pyo3(signature = (sentence, *, threshold=None, constrain=true))]
    fn tag<'py>(
        &self,
        py: Python<'py>,
        sentence: &Bound<'py, PyAny>,
        threshold: Option<&Bound<'py, PyAny>>,
        constrain: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let sentence = self.read_one(sentence)?;
        let request = Request::labels(constrain).with_threshold(self.header(), threshold)?;
        let tagging = py.detach(|| self.tagging_of(&*sentence, &request));
        self.label_list(py, &tagging.map_err(exception)?.labels)
    }

    /// Return the best labels of each sentence of one document.
    ///
    /// A template may look at the document (see ``docs/documents.md``): the labels of a sentence
    /// then depend on the others. Document boundaries have no labels.
    ///
    /// Parameters
    /// ----------
    /// sentences : iterable of sentences
    ///     See :class:`Tagger`.
    /// threshold : float, str or dict, optional
    ///     As in :meth:`tag`.
    /// constrain : bool
    ///     Predict only sequences that are legal in the label scheme.
    ///
    /// Examples
    /// --------
    /// >>> import dropchain
    /// >>> sample = dropchain.sample_corpus()
    /// >>> template = dropchain.Template("word\nothers(word[-1])")
    /// >>> tagger = dropchain.train(sample, template=template).tagger
    /// >>> tagger.tag_document([["She", "left", "London"], ["London", "is", "in", "England"]])
    /// [['O', 'O', 'B-LOC'], ['B-LOC', 'O', 'O', 'B-LOC']]
    #[pyo3(signature = (sentences, *, threshold=None, constrain=true))]
    fn tag_document<'py>(
        &self,
        py: Python<'py>,
        sentences: &Bound<'py, PyAny>,
        threshold: Option<&Bound<'py, PyAny>>,
        constrain: bool,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let mut reader = self.reader();
        let mut read = Vec::new();
        for (i, item) in iterate(sentences, "sentences", "an iterable of sentences")?.enumerate() {
            let place = || format!("sentences[{i}]");
            read.push(self.read(&mut reader, &item?, i as u64 + 1, &place)?);
        }
        let document = Document::new(read.iter().map(|sentence| &**sentence));
        let request = Request::labels(constrain).with_threshold(self.header(), threshold)?;
        let mut numbers = 0..;
        let tag = |sentence: &Arc<Sentence>| match sentence.layout.document_start {
            true => Ok(Tagging::default()),
            false => self.tagging_of((&document, numbers.next().unwrap_or(0)), &request),
        };
        let taggings = py.detach(|| read.iter().map(tag).collect::<Vec<_>>());
        let labels = |(i, tagging): (usize, dropchain::Result<Tagging>)| {
            let tagging = tagging.map_err(exception);
            let tagging = tagging.map_err(|e| at(|| format!("sentences[{i}]"), e))?;
            self.label_list(py, &tagging.labels)
        };
        taggings.into_iter().enumerate().map(labels).collect()
    }

    /// Return the best labels of each sentence, tagged in parallel.
    ///
    /// If the template looks at documents, the sentences of a :class:`Corpus` are tagged in their
    /// documents, and others alone: see :meth:`tag_document`. Document boundaries of a corpus have
    /// no labels.
    ///
    /// Parameters
    /// ----------
    /// sentences : iterable of sentences
    ///     See :class:`Tagger`; or a table, or documents of spaCy: see :class:`Corpus`.
    /// threads : int, optional
    ///     By default one for each processor.
    /// threshold : float, str or dict, optional
    ///     As in :meth:`tag`.
    /// constrain : bool
    ///     Predict only sequences that are legal in the label scheme.
    #[pyo3(signature = (sentences, *, threads=None, threshold=None, constrain=true))]
    fn tag_batch<'py>(
        &self,
        py: Python<'py>,
        sentences: &Bound<'py, PyAny>,
        threads: Option<i64>,
        threshold: Option<&Bound<'py, PyAny>>,
        constrain: bool,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let threads = inputs::count("threads", threads, 1)?;
        let data = py.import("dropchain._data")?;
        let sentences = &data.call_method1("sentences", (sentences,))?;
        let request = Request::labels(constrain).with_threshold(self.header(), threshold)?;
        let labels = |tagging: Tagging| self.label_list(py, &tagging.labels);
        let corpus = sentences.cast::<PyCorpus>().ok();
        let Some(corpus) = corpus.filter(|_| self.inner.documents().is_some()) else {
            return self.tag_each(sentences, "sentences", threads, &request, labels);
        };
        let corpus = &corpus.get().0;
        let documents = TagDocuments::new(&self.inner, corpus);
        // A batch is of many documents: threads that share one wait for its first pass.
        let read = |i: usize, _: &Bound<'_, PyAny>| Ok((i, 1));
        let tag = |&i: &usize| match corpus[i].layout.document_start {
            true => Ok(Tagging::default()),
            false => self.tagging_of(documents.input(i), &request),
        };
        in_batches(sentences, "sentences", threads, read, tag, labels)
    }

    /// Reads the features of a sentence for several calls of the other methods; `name` is that of
    /// the sentence in messages.
    fn _prepare(&self, sentence: &Bound<'_, PyAny>, name: &str) -> PyResult<PySentence> {
        let read = self.read(&mut self.reader(), sentence, 0, &|| name.to_owned())?;
        Ok(PySentence(read))
    }

    /// Returns the lines of ``dropchain tag --output jsonl`` for each row: a text, a sentence, or
    /// None, which stays.
    fn _tag_rows(
        &self,
        rows: &Bound<'_, PyAny>,
        threads: Option<i64>,
        probability: bool,
        threshold: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Option<String>>> {
        self.check_template()?;
        let request = Request::labels(true).with_threshold(self.header(), threshold)?;
        let request = request.with_probabilities(probability);
        let threads = inputs::count("threads", threads, 1)?;
        let mut reader = self.reader();
        let read = |i: usize, row: &Bound<'_, PyAny>| self.read_row(&mut reader, row, i);
        in_batches(rows, ROWS, threads, read, |row| row.lines(self, &request), Ok)
    }

    /// Returns the spans of each sentence, of its best labels without constraints. Messages call
    /// the sentences `X`.
    fn _spans_of_all<'py>(
        &self,
        py: Python<'py>,
        sentences: &Bound<'py, PyAny>,
        threads: Option<usize>,
        probability: bool,
        threshold: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Vec<Bound<'py, PyAny>>>> {
        let request = Request::labels(false).with_threshold(self.header(), threshold)?;
        let request = request.with_probabilities(probability);
        let spans = |tagging: Tagging| self.spans_of(py, &tagging, None);
        self.tag_each(sentences, "X", threads, &request, spans)
    }

    /// Returns the best labels of each sentence, of :attr:`labels` and without constraints; or the
    /// probabilities of labels, ``{label: probability}`` for each token. `name` is that of the
    /// sentences in messages.
    #[pyo3(signature = (sentences, threads=None, name="X", marginals=false))]
    fn _tag_all<'py>(
        &self,
        py: Python<'py>,
        sentences: &Bound<'py, PyAny>,
        threads: Option<usize>,
        name: &str,
        marginals: bool,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let mut request = Request::labels(false);
        request.options.marginals = marginals;
        self.tag_each(sentences, name, threads, &request, |tagging| {
            if !marginals {
                let labels = tagging.labels.iter();
                return PyList::new(py, labels.map(|id| &self.names[id.index()]));
            }
            let rows = tagging.marginals.iter().flat_map(|m| m.rows());
            let rows = rows.map(|row| self.names.iter().zip(row).into_py_dict(py));
            PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
        })
    }

    /// Returns the numbers of nonzero weights, of attributes that have some, and of labels.
    fn _counts(&self, py: Python<'_>) -> PyResult<(usize, usize, usize)> {
        let count = || {
            let transitions = &self.header().label_weights.transitions;
            let mut weights = transitions.iter().filter(|&&weight| weight != 0.0).count();
            let mut attributes = 0;
            for row in self.inner.model().node_weights() {
                let (_, row) = row?;
                weights += row.len();
                attributes += usize::from(!row.is_empty());
            }
            dropchain::Result::Ok((weights, attributes, self.names.len()))
        };
        py.detach(count).map_err(exception)
    }

    /// Tag a sentence and return more than the best labels: spans have probabilities.
    ///
    /// Probabilities are normalized over all label sequences that keep what is known, whether they
    /// are legal in the label scheme or not.
    ///
    /// Parameters
    /// ----------
    /// sentence : sentence
    ///     Words, or features: see :class:`Tagger`.
    /// marginals : bool
    ///     Compute the probability of every label of every token.
    /// nbest : int
    ///     How many of the best label sequences to return.
    /// probability : bool
    ///     Compute the probability of the best label sequence.
    /// known : dict of int to str or list of str, optional
    ///     The labels of some tokens, or several of which one is right.
    /// spans : iterable of (int, int, str), optional
    ///     Spans that the labels must encode: first token, one past the last, type.
    /// threshold : float, str or dict, optional
    ///     As in :meth:`tag`.
    /// constrain : bool
    ///     Predict only sequences that are legal in the label scheme.
    ///
    /// Examples
    /// --------
    /// >>> import dropchain
    /// >>> sample = dropchain.sample_corpus()
    /// >>> tagger = dropchain.train(sample, template="ner", max_iterations=30).tagger
    /// >>> tagging = tagger.analyze(["Paris", "left", "London"], spans=[(0, 1, "PER")])
    /// >>> tagging.labels
    /// ['B-PER', 'O', 'B-LOC']
    /// >>> [(span.text, span.type, round(span.probability, 1)) for span in tagging.spans]
    /// [('Paris', 'PER', 1.0), ('London', 'LOC', 0.7)]
    #[pyo3(signature = (
        sentence, *, marginals=false, nbest=1, probability=false, known=None, spans=None,
        threshold=None, constrain=true
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn analyze<'py>(
        &self,
        py: Python<'py>,
        sentence: &Bound<'py, PyAny>,
        marginals: bool,
        nbest: i64,
        probability: bool,
        known: Option<&Bound<'py, PyDict>>,
        spans: Option<&Bound<'py, PyAny>>,
        threshold: Option<&Bound<'py, PyAny>>,
        constrain: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sentence = self.read_one(sentence)?;
        let condition = condition(known, spans)?;
        let nbest = inputs::at_least("nbest", nbest, 1)?;
        let options = TagOptions { constrain, marginals, nbest, probability };
        let request = Request { options, condition, threshold: None };
        let request = request.with_threshold(self.header(), threshold)?;
        let request = request.with_probabilities(self.header().encodes_spans());
        let tagging = py.detach(|| self.tagging_of(&*sentence, &request));
        let mut tagging = tagging.map_err(exception)?;
        let path_class = class(py, "Path")?;
        let path = |path: &LabelPath| {
            let labels = self.label_list(py, &path.labels)?;
            path_class.call1((labels, path.score, path.probability))
        };
        let paths = tagging.nbest.iter().map(path).collect::<PyResult<Vec<_>>>()?;
        let marginals = tagging.marginals.take();
        let shape = [sentence.len(), self.names.len()];
        let marginals = marginals.map(|m| PyArray1::from_vec(py, m.into_values()).reshape(shape));
        let words = words_to_explain(&sentence);
        class(py, "Tagging")?.call1((
            self.label_list(py, &tagging.labels)?,
            self.spans_of(py, &tagging, Some(&words))?,
            tagging.probability,
            marginals.transpose()?,
            paths,
            words,
            self.labels(py)?,
        ))
    }

    /// Tag a sentence and return, for each token, why it has its label.
    ///
    /// The `margin` of a token is the score of the best label sequence minus that of the best one
    /// with another label there, the `runner_up`; its `parts` are what weights contribute to it,
    /// the largest first. Their contributions and `others` sum to it. Labels are those of
    /// :attr:`labels`. ``docs/explain.md`` has the definitions.
    ///
    /// Parameters
    /// ----------
    /// sentence : sentence or str
    ///     Words, or features: see :class:`Tagger`; or the text of a sentence, which is split.
    /// top : int
    ///     How many parts to return for each token; `others` is the sum of the rest.
    /// known : dict of int to str or list of str, optional
    ///     As in :meth:`analyze`; the runner-up keeps what is known.
    /// spans : iterable of (int, int, str), optional
    ///     As in :meth:`analyze`.
    /// constrain : bool
    ///     Compare only sequences that are legal in the label scheme.
    /// tokens : iterable of str or int, or "all", optional
    ///     Which tokens ``str(…)`` explains: words, or indices from 0; by default spans and the
    ///     tokens that are not clear.
    /// against : str, optional
    ///     What ``str(…)`` compares with instead of the runner-up: a label, or a type of spans.
    ///
    /// Returns
    /// -------
    /// Explanation
    ///     A list with a dict for each token, as in the JSON of `dropchain explain`: `token`,
    ///     `text`, `label`, `probability`; if another label is possible `margin`, `runner_up`
    ///     (`label`, and `labels` of the tokens `start` to `end`, which differ), `parts` (`kind`,
    ///     `token`, `words`, `attribute`, `value`, and in pairs of the best sequence and the
    ///     runner-up `labels`, `previous_labels`, `weights`; `contribution`) and `others` (`parts`,
    ///     how many, and their `contribution`). Notebooks show its ``blocks``: spans and tokens.
    ///     ``str(…)`` is the text of `dropchain explain`.
    ///
    /// Examples
    /// --------
    /// >>> import dropchain
    /// >>> sample = dropchain.sample_corpus()
    /// >>> tagger = dropchain.train(sample, template="ner", max_iterations=30).tagger
    /// >>> explanation = tagger.explain("She lives in London.")
    /// >>> str(explanation).splitlines()[0]
    /// 'She lives in [LOC London] .'
    /// >>> london = explanation[3]
    /// >>> london["label"], london["margin"] > 0, len(london["parts"])
    /// ('B-LOC', True, 10)
    #[pyo3(signature = (
        sentence, *, top=10, known=None, spans=None, constrain=true, tokens=None, against=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        sentence: &Bound<'py, PyAny>,
        top: usize,
        known: Option<&Bound<'py, PyDict>>,
        spans: Option<&Bound<'py, PyAny>>,
        constrain: bool,
        tokens: Option<&Bound<'py, PyAny>>,
        against: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sentence = match sentence.cast::<PyString>() {
            Ok(text) => only_sentence(&text.to_cow()?)?,
            Err(_) => self.read_one(sentence)?,
        };
        let condition = condition(known, spans)?;
        let tokens = explained_tokens(tokens)?;
        let against = against.map(|wanted| labels_against(&self.inner, wanted));
        let against = against.transpose().map_err(exception)?;
        let explained = py.detach(|| {
            let options = Request::labels(constrain).options;
            let given = |workspace: &mut _| {
                Explanation::given(&self.inner, &*sentence, &condition, options, workspace)
            };
            let given = with_workspace(given)?;
            let mut explained = ExplainedSentence {
                words: words_to_explain(&sentence),
                explanation: &given,
                against: against.as_deref(),
                tokens: &tokens,
                top,
            };
            let text = explained.text(COLUMNS)?;
            (explained.against, explained.tokens) = (None, &ExplainedTokens::All);
            let mut json = Vec::new();
            explained.write_json(false, &mut json)?;
            Ok((json, explained.words, text))
        });
        let (json, words, text) = explained.map_err(exception)?;
        let record = py.import("json")?.call_method1("loads", (json,))?;
        let [tokens, blocks] = ["explanations", "blocks"].map(|key| record.get_item(key));
        class(py, "Explanation")?.call1((tokens?, words, text, blocks?))
    }

    /// Return the probability of given labels of a sentence.
    ///
    /// Labels are those of :attr:`labels`.
    fn probability(
        &self,
        py: Python<'_>,
        sentence: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
    ) -> PyResult<f64> {
        let sentence = self.read_one(sentence)?;
        let labels = strings(labels, "labels")?;
        let probability = py.detach(|| self.inner.distribution(&*sentence)?.probability(&labels));
        probability.map_err(exception)
    }

    /// Split raw text into sentences and tokens, and tag them. Every line is on its own.
    ///
    /// Text whose words the model hardly knows is tagged with a warning: it may be cut in another
    /// way than the training data.
    ///
    /// Parameters
    /// ----------
    /// text : str
    ///     The text.
    /// probability : bool
    ///     Compute the probabilities of the labels of tokens, and those of spans.
    /// threshold : float, str or dict, optional
    ///     As in :meth:`tag`; the probabilities are computed, too.
    /// offsets : {"chars", "bytes", "utf16"}
    ///     What positions in the text count: characters, as Python does; bytes of UTF-8; or
    ///     UTF-16 code units, as JavaScript does.
    ///
    /// Examples
    /// --------
    /// >>> import dropchain
    /// >>> sample = dropchain.sample_corpus()
    /// >>> tagger = dropchain.train(sample, template="ner", max_iterations=30).tagger
    /// >>> [sentence] = tagger.tag_text("She lives in London.")
    /// >>> sentence.spans
    /// [TextSpan(start=13, end=19, type='LOC', text='London', token_start=3, token_end=4)]
    #[pyo3(signature = (text, *, probability=false, threshold=None, offsets="chars"))]
    fn tag_text<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        probability: bool,
        threshold: Option<&Bound<'py, PyAny>>,
        offsets: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let unit = offsets.parse().map_err(exception)?;
        self.check_template()?;
        let request = Request::default().with_threshold(self.header(), threshold)?;
        let tagged = py.detach(|| match &request.with_probabilities(probability).threshold {
            Some(threshold) => self.inner.tag_text_with_probabilities(text, threshold),
            None => self.inner.tag_text(text),
        });
        let tagged = tagged.map_err(exception)?;
        let tokens = tagged.iter().flat_map(|sentence| &sentence.tokens).take(SAMPLED_WORDS);
        let words = tokens.map(|token| &text[token.offsets.bytes.clone()]);
        if let Some(warning) = self.inner.word_fit(words).and_then(WordFit::warning) {
            warn(py, &warning, 1)?;
        }
        sentences(py, text, &tagged, unit)
    }

    /// Tag raw text and return its spans as `displacy.render(…, style="ent", manual=True)` of
    /// spaCy expects them.
    #[pyo3(signature = (text, *, title=None))]
    fn displacy<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        title: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tagged = py.detach(|| self.inner.tag_text(text)).map_err(exception)?;
        let spans = tagged.iter().flat_map(|sentence| &sentence.spans);
        let entities = spans.map(|span| {
            let chars = &span.offsets.chars;
            json!({"start": chars.start, "end": chars.end, "label": span.kind})
        });
        let entities: Vec<_> = entities.collect();
        object(py, &json!({"text": text, "ents": entities, "title": title}))
    }

    /// Tag labeled sentences and score the result: see :func:`dropchain.evaluate`.
    #[pyo3(signature = (data, **arguments))]
    fn evaluate<'py>(
        slf: &Bound<'py, Self>,
        data: &Bound<'py, PyAny>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let evaluation = slf.py().import("dropchain._evaluation")?;
        evaluation.getattr("evaluate")?.call((data, slf), arguments)
    }

    /// What the model is and how it was trained.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        facts::info(py, self.inner.model())
    }

    /// What the model is and has learned, of at most this many labels and attributes of each.
    fn _summary<'py>(
        &self,
        py: Python<'py>,
        labels: usize,
        attributes: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let summary = ModelSummary::of(self.inner.model(), labels, attributes);
        object(py, &json!(summary.map_err(exception)?))
    }

    /// The weights of the attributes of tokens: ``{(attribute, label): weight}``.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let weights = PyDict::new(py);
        for item in self.inner.model().node_weights() {
            let (name, row) = item.map_err(exception)?;
            let name = PyString::new(py, &String::from_utf8_lossy(name));
            for (label, weight) in row {
                weights.set_item((&name, &self.names[label.index()]), weight)?;
            }
        }
        Ok(weights)
    }

    /// The weights of the attributes of pairs of adjacent tokens: ``{(attribute, label, next
    /// label): weight}``.
    fn edge_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let weights = PyDict::new(py);
        for item in self.inner.model().edge_weights() {
            let (name, row) = item.map_err(exception)?;
            let name = PyString::new(py, &String::from_utf8_lossy(name));
            for (labels, weight) in row {
                let [a, b] = labels.map(|label| &self.names[label.index()]);
                weights.set_item((&name, a, b), weight)?;
            }
        }
        Ok(weights)
    }

    /// The weights of pairs of labels, those that are not 0: ``{(label, next label): weight}``.
    fn transitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (k, transitions) = (self.names.len(), &self.header().label_weights.transitions);
        let weights = transitions.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let labels = |i: usize| (&self.names[i / k], &self.names[i % k]);
        weights.map(|(i, weight)| (labels(i), weight)).into_py_dict(py)
    }

    /// The weights of the first label of a sentence: ``{label: weight}``.
    fn start_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.names.iter().zip(&self.header().label_weights.start).into_py_dict(py)
    }

    /// The weights of the last label of a sentence: ``{label: weight}``.
    fn end_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.names.iter().zip(&self.header().label_weights.end).into_py_dict(py)
    }

    /// A tagger never changes.
    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let restore = slf.get_type().getattr("from_bytes")?;
        Ok((restore, (slf.get().to_bytes(slf.py()),)))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        shown("tagger", slf.as_any())
    }

    fn __repr__(&self) -> String {
        let labels = self.names.len();
        let attributes = self.inner.model().attributes(AttributeKind::Node);
        format!("<Tagger with {labels} labels and {attributes} attributes>")
    }
}
