//! Scores of predictions, and the comparison of two taggers.

use std::fmt::Display;

use dropchain::corpus::JoinedColumns;
use dropchain::eval::{Counts, Evaluation};
use dropchain::label::{PlainLabels, Scheme, SchemeDetector};
use dropchain_analysis::{BootstrapReport, Difference, PairedBootstrap};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::corpus::{PyCorpus, each};
use crate::error::{at, exception};
use crate::fields::fields;
use crate::inputs;
use crate::items::{found, strings};
use crate::tagger::token_spans;
use crate::threads;

/// The labels of a sentence; `None` at a document boundary.
type Labels = Option<Vec<String>>;

/// Precision, recall and F1 of spans of a type, or of tokens with a label.
#[pyclass(name = "Score", module = "dropchain", frozen, get_all, eq)]
#[derive(PartialEq)]
pub struct PyScore {
    /// correct / predicted.
    precision: f64,
    /// correct / gold.
    recall: f64,
    /// The harmonic mean of the two.
    f1: f64,
    /// How many are right.
    correct: u64,
    /// How many there are in the gold labels.
    gold: u64,
    /// How many were predicted.
    predicted: u64,
}

impl From<Counts> for PyScore {
    fn from(counts: Counts) -> Self {
        let metrics = counts.metrics();
        Self {
            precision: metrics.precision,
            recall: metrics.recall,
            f1: metrics.f1,
            correct: counts.correct,
            gold: counts.gold,
            predicted: counts.predicted,
        }
    }
}

#[pymethods]
impl PyScore {
    /// Return the numbers by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        fields!(
            dict,
            self,
            [precision, recall, f1, correct, gold, predicted]
        );
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        format!(
            "Score(precision={:.4}, recall={:.4}, f1={:.4}, gold={})",
            self.precision, self.recall, self.f1, self.gold
        )
    }
}

/// The scores of predicted labels, as fractions. ``str(…)`` is the report of conlleval.
#[pyclass(name = "Evaluation", module = "dropchain", frozen)]
pub struct PyEvaluation(Evaluation);

#[pymethods]
impl PyEvaluation {
    /// The number of sentences.
    #[getter]
    fn sentences(&self) -> u64 {
        self.0.sentences()
    }

    /// The number of tokens, document boundaries included.
    #[getter]
    fn tokens(&self) -> u64 {
        self.0.tokens()
    }

    /// Whether the gold labels encode spans. If not, only the accuracy is of interest.
    #[getter]
    fn has_spans(&self) -> bool {
        self.0.has_spans()
    }

    /// The fraction of tokens with the right label.
    #[getter]
    fn accuracy(&self) -> f64 {
        self.0.accuracy()
    }

    /// The fraction of predicted spans that are right.
    #[getter]
    fn precision(&self) -> f64 {
        self.0.precision()
    }

    /// The fraction of gold spans that were predicted.
    #[getter]
    fn recall(&self) -> f64 {
        self.0.recall()
    }

    /// The harmonic mean of precision and recall, over all types.
    #[getter]
    fn f1(&self) -> f64 {
        self.0.f1()
    }

    /// The scores of the spans of each type.
    #[getter]
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, self.0.types())
    }

    /// The scores of the tokens with each label.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, self.0.labels().into_iter())
    }

    /// The accuracy of each of the columns that the labels join; empty if they are of one.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for column in self.0.report().columns.into_iter().flatten() {
            dict.set_item(column.column, column.accuracy)?;
        }
        Ok(dict)
    }

    /// Return the most frequent confusions: gold label, predicted label, number of tokens.
    #[pyo3(signature = (limit=30))]
    fn confusions(&self, limit: usize) -> Vec<(&str, &str, u64)> {
        let confusions = self.0.confusions(limit).into_iter();
        confusions.map(|c| (c.gold, c.predicted, c.count)).collect()
    }

    /// Return the report of conlleval.
    fn conlleval(&self) -> String {
        self.0.conlleval()
    }

    /// Return a table of the scores of each label, in percent.
    fn label_table(&self) -> String {
        self.0.label_table()
    }

    /// Return all scores by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("tokens", self.tokens())?;
        dict.set_item("sentences", self.sentences())?;
        dict.set_item("accuracy", self.accuracy())?;
        if self.has_spans() {
            dict.set_item("precision", self.precision())?;
            dict.set_item("recall", self.recall())?;
            dict.set_item("f1", self.f1())?;
            dict.set_item("types", dicts(py, self.0.types())?)?;
        }
        let columns = self.columns(py)?;
        if !columns.is_empty() {
            dict.set_item("columns", columns)?;
        }
        dict.set_item("labels", dicts(py, self.0.labels().into_iter())?)?;
        Ok(dict)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        let accuracy = self.accuracy();
        match self.has_spans() {
            true => format!("<Evaluation F1 {:.4}, accuracy {accuracy:.4}>", self.f1()),
            false => format!("<Evaluation accuracy {accuracy:.4}>"),
        }
    }
}

fn by_name<'a, 'py>(
    py: Python<'py>,
    counts: impl Iterator<Item = (&'a str, Counts)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, counts) in counts {
        dict.set_item(name, PyScore::from(counts))?;
    }
    Ok(dict)
}

fn dicts<'a, 'py>(
    py: Python<'py>,
    counts: impl Iterator<Item = (&'a str, Counts)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, counts) in counts {
        dict.set_item(name, PyScore::from(counts).to_dict(py)?)?;
    }
    Ok(dict)
}

/// Scores predicted labels: a corpus, or the labels of each sentence.
#[pyfunction]
#[pyo3(signature = (gold, predicted, plain_labels="auto"))]
pub fn evaluate(
    gold: &Bound<'_, PyAny>,
    predicted: &Bound<'_, PyAny>,
    plain_labels: &str,
) -> PyResult<PyEvaluation> {
    let plain: PlainLabels = plain_labels.parse().map_err(exception)?;
    let joined = joined(gold);
    let gold = gold_labels(gold)?;
    let predicted = predicted_labels(predicted, &gold, "predicted")?;
    let mut evaluation = match joined {
        Some(joined) => Evaluation::with_confusions().with_joined_columns(joined.names()),
        None => {
            let scheme = scheme_of(&gold, plain);
            let predicted = scheme_of(&predicted, plain.of_predictions(scheme));
            Evaluation::with_confusions().with_schemes(scheme, predicted)
        }
    };
    for (gold, predicted) in gold.iter().zip(&predicted) {
        match (gold, predicted) {
            (Some(gold), Some(predicted)) => evaluation.add(gold, predicted).map_err(exception)?,
            _ => evaluation.add_document_start(),
        }
    }
    Ok(PyEvaluation(evaluation))
}

/// Detects the scheme of labels.
fn scheme_of(labels: &[Labels], plain: PlainLabels) -> Scheme {
    let mut detector = SchemeDetector::new().with_plain_labels(plain);
    for labels in labels.iter().flatten() {
        detector.observe(labels);
    }
    detector.prevailing().0
}

/// The comparison of two taggers, A and B, by paired bootstrap: ``str(…)`` is a table.
#[pyclass(name = "Comparison", module = "dropchain", frozen)]
pub struct PyComparison(BootstrapReport);

/// A score of two taggers, A and B, and whether its difference is significant.
#[pyclass(name = "Difference", module = "dropchain", frozen, get_all)]
pub struct PyDifference {
    /// The score of A.
    a: f64,
    /// The score of B.
    b: f64,
    /// B − A.
    difference: f64,
    /// The interval of the difference: the central 95 % of the samples.
    interval: (f64, f64),
    /// The two-sided p-value.
    p_value: f64,
}

impl From<Difference> for PyDifference {
    fn from(difference: Difference) -> Self {
        Self {
            a: difference.a,
            b: difference.b,
            difference: difference.difference,
            interval: (difference.interval[0], difference.interval[1]),
            p_value: difference.p_value,
        }
    }
}

#[pymethods]
impl PyDifference {
    /// Return the numbers by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        fields!(dict, self, [a, b, difference, interval, p_value]);
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        format!(
            "Difference(a={:.4}, b={:.4}, difference={:.4}, p_value={:.4})",
            self.a, self.b, self.difference, self.p_value
        )
    }
}

#[pymethods]
impl PyComparison {
    /// The F1 of spans; None if the gold labels encode no spans.
    #[getter]
    fn f1(&self) -> Option<PyDifference> {
        self.0.f1.map(PyDifference::from)
    }

    /// The fraction of tokens with the right label.
    #[getter]
    fn accuracy(&self) -> PyDifference {
        self.0.accuracy.into()
    }

    /// The number of sentences.
    #[getter]
    fn sentences(&self) -> u64 {
        self.0.sentences
    }

    /// The number of tokens.
    #[getter]
    fn tokens(&self) -> u64 {
        self.0.tokens
    }

    /// The number of samples.
    #[getter]
    fn samples(&self) -> u32 {
        self.0.samples
    }

    /// The seed of the samples.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    /// Return all numbers by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        fields!(dict, self.0, [tokens, sentences, samples, seed]);
        if let Some(f1) = self.f1() {
            dict.set_item("f1", f1.to_dict(py)?)?;
        }
        dict.set_item("accuracy", self.accuracy().to_dict(py)?)?;
        Ok(dict)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        let (name, score) = match self.0.f1 {
            Some(f1) => ("F1", f1),
            None => ("accuracy", self.0.accuracy),
        };
        let (difference, p) = (score.difference, score.p_value);
        format!("<Comparison {name} difference {difference:.4}, p-value {p:.4}>")
    }
}

/// Compares two lists of predictions for the same gold labels.
#[pyfunction]
#[pyo3(signature = (gold, a, b, samples, seed, threads, plain_labels="auto"))]
#[expect(
    clippy::too_many_arguments,
    reason = "they are those of the Python function"
)]
pub fn compare(
    py: Python<'_>,
    gold: &Bound<'_, PyAny>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    samples: i64,
    seed: u64,
    threads: Option<i64>,
    plain_labels: &str,
) -> PyResult<PyComparison> {
    let plain: PlainLabels = plain_labels.parse().map_err(exception)?;
    let samples = inputs::count("samples", Some(samples), 1)?.unwrap_or(1);
    let samples = u32::try_from(samples).ok().filter(|&n| n <= 10_000_000);
    let samples =
        samples.ok_or_else(|| PyValueError::new_err("samples; expected at most 10 million"))?;
    let are_joined = joined(gold).is_some();
    let gold = gold_labels(gold)?;
    let a = predicted_labels(a, &gold, "a")?;
    let b = predicted_labels(b, &gold, "b")?;
    let scheme = scheme_of(&gold, plain);
    let predicted = [&a, &b].map(|labels| scheme_of(labels, plain.of_predictions(scheme)));
    let mut bootstrap = match are_joined {
        true => PairedBootstrap::new().without_spans(),
        false => PairedBootstrap::new().with_schemes(scheme, predicted),
    };
    for ((gold, a), b) in gold.iter().zip(&a).zip(&b) {
        match (gold, a, b) {
            (Some(gold), Some(a), Some(b)) => {
                bootstrap.add(gold, [a, b]).map_err(exception)?;
            }
            _ => bootstrap.add_document_start(),
        }
    }
    let pool = threads::pool(inputs::count("threads", threads, 1)?).map_err(exception)?;
    let report = py.detach(|| pool.install(|| bootstrap.run(samples, seed)));
    report.map(PyComparison).map_err(exception)
}

/// Return the spans that labels encode, as conlleval reads them.
///
/// Examples
/// --------
/// >>> import dropchain
/// >>> dropchain.spans(["B-PER", "I-PER", "O", "B-LOC"])
/// [Span(start=0, end=2, type='PER'), Span(start=3, end=4, type='LOC')]
#[pyfunction]
pub fn spans<'py>(labels: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    token_spans(labels.py(), &strings(labels, "labels")?, Scheme::Raw)
}

/// Returns the columns that the labels of a corpus join, if they join several.
fn joined(gold: &Bound<'_, PyAny>) -> Option<JoinedColumns> {
    let corpus = gold.cast::<PyCorpus>().ok()?;
    corpus.get().0.first()?.schema().joined().cloned()
}

/// Reads the gold labels, one known label for each token.
fn gold_labels(value: &Bound<'_, PyAny>) -> PyResult<Vec<Labels>> {
    if let Ok(corpus) = value.cast::<PyCorpus>() {
        return labels_of_corpus(corpus.get());
    }
    let unexpected = || found(value, "gold", "a corpus, or the labels of each sentence");
    if value.is_instance_of::<pyo3::types::PyString>() {
        return Err(unexpected());
    }
    let items = value.try_iter().map_err(|_| unexpected())?;
    let read = |(i, item): (usize, PyResult<_>)| {
        let labels = strings(&item?, "the labels of a sentence");
        let place = || format!("gold[{i}]");
        labels.map(Some).map_err(|e| at(value.py(), place, e))
    };
    items.enumerate().map(read).collect()
}

fn labels_of_corpus(corpus: &PyCorpus) -> PyResult<Vec<Labels>> {
    let labels = |sentence: &std::sync::Arc<dropchain::Sentence>| {
        let error = |t, message: &dyn Display| {
            let place = sentence.place(t);
            exception(dropchain::Error::input(place, message.to_string()))
        };
        if sentence.layout.document_start {
            return Ok(None);
        }
        if let Some(t) = sentence.first_partial_label() {
            let message = "found a partial label; expected one label for every token";
            return Err(error(t, &message));
        }
        match sentence.labels() {
            Some(labels) => Ok(Some(labels.into_iter().map(str::to_owned).collect())),
            None => Err(error(0, &"found no labels; evaluation needs them")),
        }
    };
    corpus.0.iter().map(labels).collect()
}

/// Reads predicted labels, as many as there are gold labels.
fn predicted_labels(
    value: &Bound<'_, PyAny>,
    gold: &[Labels],
    name: &str,
) -> PyResult<Vec<Labels>> {
    let predicted = match value.cast::<PyCorpus>() {
        Ok(corpus) => {
            let labels = labels_of_corpus(corpus.get())?;
            check_count(labels.len(), gold, name)?;
            labels
        }
        Err(_) => {
            let content = gold.iter().filter(|labels| labels.is_some()).count();
            let all = each(value, gold.len(), name).or_else(|e| match content == gold.len() {
                true => Err(e),
                false => each(value, content, name),
            });
            let all = all.map_err(|e| {
                let message = e.value(value.py()).to_string();
                PyValueError::new_err(message.replace("X has", "gold has"))
            })?;
            let mut items = all.iter().enumerate();
            let has_boundaries = all.len() == gold.len();
            let mut read = Vec::with_capacity(gold.len());
            for labels in gold {
                if labels.is_none() {
                    items
                        .by_ref()
                        .take(usize::from(has_boundaries))
                        .for_each(drop);
                    read.push(None);
                    continue;
                }
                let Some((i, item)) = items.next() else { break };
                let place = || format!("{name}[{i}]");
                let labels = strings(item, "the labels of a sentence");
                read.push(Some(labels.map_err(|e| at(value.py(), place, e))?));
            }
            read
        }
    };
    for (i, (gold, predicted)) in gold.iter().zip(&predicted).enumerate() {
        let [gold, predicted] = [gold, predicted].map(|labels| labels.as_ref().map(Vec::len));
        if gold != predicted {
            return Err(PyValueError::new_err(format!(
                "{name}[{i}]: found {} labels; expected {}, as in the gold labels",
                predicted.unwrap_or(0),
                gold.unwrap_or(0)
            )));
        }
    }
    Ok(predicted)
}

fn check_count(found: usize, gold: &[Labels], name: &str) -> PyResult<()> {
    if found == gold.len() {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "gold has {} sentences, but {name} has {found}; expected as many",
        gold.len()
    )))
}
