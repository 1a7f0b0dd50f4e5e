//! Scores of predictions, and the comparison of two taggers.

use dropchain::eval::{Counts, Evaluation, Metrics};
use dropchain::label::{Labeling, PlainLabels, SchemeDetector};
use dropchain::sentence::JoinedColumns;
use dropchain::tag::TagOptions;
use dropchain_analysis::{Calibration, Difference, PairedBootstrap, gold_labels, tag_gold};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

use crate::corpus::PyCorpus;
use crate::error::{at, exception, warn};
use crate::inputs;
use crate::items::{iterate, strings};
use crate::objects::{class, token_spans};
use crate::tagger::PyTagger;
use crate::threads;

/// The labels of a sentence; `None` at a document boundary.
pub type Labels = Option<Vec<String>>;

/// Scores predicted labels: a corpus, or the labels of each sentence.
#[pyfunction]
pub fn evaluate<'py>(
    gold: &Bound<'py, PyAny>,
    predicted: &Bound<'py, PyAny>,
    plain_labels: &str,
    outside: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = gold.py();
    let detector = column_detector(gold, plain_labels, outside)?;
    let joined = joined(gold);
    let gold = labels_of(gold, "gold")?;
    let predicted = predicted_labels(predicted, &gold, "predicted")?;
    let own = gold_labeling(py, &gold, &detector)?;
    let read = detector.after(predicted.iter().flatten()).detected_for(&own).labeling;
    let mut evaluation = Evaluation::with_confusions().with_labelings(&own, &read);
    if let Some(joined) = joined {
        evaluation = evaluation.with_joined_columns(joined.names());
    }
    for (gold, predicted) in gold.iter().zip(&predicted) {
        match (gold, predicted) {
            (Some(gold), Some(predicted)) => evaluation.add(gold, predicted).map_err(exception)?,
            _ => evaluation.add_document_start(),
        }
    }
    scores(py, &evaluation)
}

/// Returns scores as an `Evaluation` of Python.
pub fn scores<'py>(py: Python<'py>, evaluation: &Evaluation) -> PyResult<Bound<'py, PyAny>> {
    let score = class(py, "Score")?;
    let scores = |(name, counts): (&str, Counts)| {
        let Metrics { precision, recall, f1 } = counts.metrics();
        let Counts { correct, gold, predicted } = counts;
        let made = score.call1((precision, recall, f1, correct, gold, predicted))?;
        Ok((name.to_owned(), made))
    };
    let by_name = |counts: Vec<(&str, Counts)>| {
        let scores = counts.into_iter().map(scores).collect::<PyResult<Vec<_>>>();
        scores?.into_py_dict(py)
    };
    let columns = evaluation.columns().into_iter().flatten();
    let columns: Vec<_> = columns.map(|column| (column.column, column.accuracy)).collect();
    let confusions = evaluation.confusions(usize::MAX).into_iter();
    let confusions: Vec<_> = confusions.map(|c| (c.gold, c.predicted, c.count)).collect();
    class(py, "Evaluation")?.call1((
        evaluation.sentences(),
        evaluation.tokens(),
        evaluation.has_spans(),
        evaluation.accuracy(),
        evaluation.precision(),
        evaluation.recall(),
        evaluation.f1(),
        by_name(evaluation.types().collect())?,
        by_name(evaluation.labels())?,
        columns.into_py_dict(py)?,
        confusions,
        (evaluation.to_string(), evaluation.conlleval()),
    ))
}

/// Returns a detector that has seen no labels.
///
/// # Errors
///
/// `ValueError` for an unknown name.
pub fn detector(plain_labels: &str, outside: Option<String>) -> PyResult<SchemeDetector> {
    let plain: PlainLabels = plain_labels.parse().map_err(exception)?;
    Ok(SchemeDetector::new().with_plain_labels(plain).with_outside(outside))
}

/// Returns a detector that knows the column of gold labels.
fn column_detector(
    gold: &Bound<'_, PyAny>,
    plain_labels: &str,
    outside: Option<String>,
) -> PyResult<SchemeDetector> {
    let mut detector = detector(plain_labels, outside)?;
    if let Some(first) = gold.cast::<PyCorpus>().ok().and_then(|corpus| corpus.get().0.first()) {
        detector.observe_column(first.schema());
    }
    Ok(detector)
}

/// Detects how gold labels encode spans, and warns of what does not fit.
fn gold_labeling(py: Python<'_>, gold: &[Labels], detector: &SchemeDetector) -> PyResult<Labeling> {
    let detected = detector.after(gold.iter().flatten()).detected();
    for warning in detected.warnings() {
        warn(py, warning.trim_start_matches("warning: "), 2)?;
    }
    Ok(detected.labeling)
}

/// The mean probability and the accuracy of each bin, and the calibration error.
type Bins = (Vec<(f64, f64)>, f64);

/// Returns how the probabilities of predicted labels agree with how often they are right: of all
/// tokens, and of those with a label that is not `O`.
#[pyfunction]
pub fn calibration(
    py: Python<'_>,
    tagger: &Bound<'_, PyTagger>,
    gold: &Bound<'_, PyCorpus>,
) -> PyResult<[Bins; 2]> {
    let (tagger, gold) = (&tagger.get().inner, gold.get().to_corpus("gold"));
    let mut found = [Calibration::default(), Calibration::default()];
    let options = TagOptions { marginals: true, ..TagOptions::default() };
    let pool = threads::pool(None).map_err(exception)?;
    let tag = || {
        tag_gold(tagger, &gold, options, None, &mut |gold, tagged| {
            for (t, (gold, label)) in gold.iter().zip(&tagged.labels).enumerate() {
                let probability = tagged.marginal(t, label).unwrap_or(0.0);
                found[0].add(probability, gold == label);
                if label != "O" {
                    found[1].add(probability, gold == label);
                }
            }
            Ok(())
        })
    };
    py.detach(|| pool.install(tag)).map_err(exception)?;
    Ok(found.map(|calibration| {
        let bins = calibration.bins().into_iter().filter(|bin| bin.count > 0);
        (bins.map(|bin| (bin.confidence, bin.accuracy)).collect(), calibration.expected_error())
    }))
}

/// Compares two lists of predictions for the same gold labels.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of the Python function")]
pub fn compare<'py>(
    py: Python<'py>,
    gold: &Bound<'py, PyAny>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    samples: i64,
    seed: u64,
    threads: Option<i64>,
    plain_labels: &str,
    outside: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let detector = column_detector(gold, plain_labels, outside)?;
    let samples = inputs::at_least("samples", samples, 1)?;
    let samples = u32::try_from(samples).ok().filter(|&n| n <= 10_000_000);
    let samples =
        samples.ok_or_else(|| PyValueError::new_err("samples; expected at most 10 million"))?;
    let gold = labels_of(gold, "gold")?;
    let a = predicted_labels(a, &gold, "a")?;
    let b = predicted_labels(b, &gold, "b")?;
    let own = gold_labeling(py, &gold, &detector)?;
    let read = [&a, &b].map(|labels| {
        let labels = detector.after(labels.iter().flatten());
        labels.detected_for(&own).labeling
    });
    let mut bootstrap = PairedBootstrap::default().with_labelings(&own, read.each_ref());
    for ((gold, a), b) in gold.iter().zip(&a).zip(&b) {
        match (gold, a, b) {
            (Some(gold), Some(a), Some(b)) => {
                bootstrap.add(gold, [a, b]).map_err(exception)?;
            }
            _ => bootstrap.add_document_start(),
        }
    }
    let pool = threads::pool(inputs::count("threads", threads, 1)?).map_err(exception)?;
    let report = py.detach(|| pool.install(|| bootstrap.run(samples, seed))).map_err(exception)?;
    let difference_class = class(py, "Difference")?;
    let difference = |found: Difference| {
        let Difference { scores: [a, b], difference, interval, p_value } = found;
        difference_class.call1((a, b, difference, (interval[0], interval[1]), p_value))
    };
    class(py, "Comparison")?.call1((
        report.tokens,
        report.sentences,
        report.samples,
        report.seed,
        report.f1.map(difference).transpose()?,
        difference(report.accuracy)?,
        report.to_string(),
    ))
}

/// Return the spans that labels encode, as conlleval reads them.
///
/// Examples
/// --------
/// >>> import dropchain
/// >>> dropchain.spans(["B-PER", "I-PER", "O", "B-LOC"])
/// [Span(token_start=0, token_end=2, type='PER'), Span(token_start=3, token_end=4, type='LOC')]
#[pyfunction]
pub fn spans<'py>(labels: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    token_spans(labels.py(), &strings(labels, "labels")?, Labeling::RAW, None, None)
}

/// Returns the columns that the labels of a corpus join, if they join several.
fn joined(gold: &Bound<'_, PyAny>) -> Option<JoinedColumns> {
    gold.cast::<PyCorpus>().ok()?.get().0.first()?.schema().joined().cloned()
}

/// Reads the labels of a corpus, or of each sentence: one known label for each token.
fn labels_of(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Labels>> {
    if let Ok(corpus) = value.cast::<PyCorpus>() {
        return labels_of_corpus(corpus.get());
    }
    let items = iterate(value, name, "a corpus, or the labels of each sentence")?;
    let read = |(i, item): (usize, PyResult<_>)| {
        let labels = strings(&item?, "the labels of a sentence");
        let place = || format!("{name}[{i}]");
        labels.map(Some).map_err(|e| at(place, e))
    };
    items.enumerate().map(read).collect()
}

/// Returns the gold labels of a corpus.
///
/// # Errors
///
/// A sentence has no labels, or they are not known.
pub fn labels_of_corpus(corpus: &PyCorpus) -> PyResult<Vec<Labels>> {
    let labels = |sentence: &std::sync::Arc<dropchain::Sentence>| {
        if sentence.layout.document_start {
            return Ok(None);
        }
        let labels = gold_labels(sentence).map_err(exception)?;
        Ok(Some(labels.into_iter().map(str::to_owned).collect()))
    };
    corpus.0.iter().map(labels).collect()
}

/// Reads predicted labels, as many as there are gold labels; document boundaries may be left out.
///
/// # Errors
///
/// `ValueError` if there are fewer or more, or a label is unknown.
pub fn predicted_labels(
    value: &Bound<'_, PyAny>,
    gold: &[Labels],
    name: &str,
) -> PyResult<Vec<Labels>> {
    let read = labels_of(value, name)?;
    let content = gold.iter().flatten().count();
    if read.len() != gold.len() && read.len() != content {
        return Err(PyValueError::new_err(format!(
            "gold has {} sentences, but {name} has {}; expected as many",
            gold.len(),
            read.len()
        )));
    }
    let has_boundaries = read.len() == gold.len();
    let mut read = read.into_iter().enumerate().peekable();
    let mut predicted = Vec::with_capacity(gold.len());
    for gold in gold {
        let own = read.next_if(|_| gold.is_some() || has_boundaries);
        let Some((gold, (i, labels))) = gold.as_ref().zip(own) else {
            predicted.push(None);
            continue;
        };
        let labels = labels.unwrap_or_default();
        if gold.len() != labels.len() {
            return Err(PyValueError::new_err(format!(
                "{name}[{i}]: found {} labels; expected {}, as in the gold labels",
                labels.len(),
                gold.len()
            )));
        }
        predicted.push(Some(labels));
    }
    Ok(predicted)
}
