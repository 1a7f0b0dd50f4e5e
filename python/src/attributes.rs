//! Training data with ready-made features, in the compact form of the library.

use dropchain::corpus::TokenLabel;
use dropchain::train::AttributeCorpus;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::corpus::{PyCorpus, each};
use crate::error::{at, exception};
use crate::inputs;
use crate::items::{ItemReader, Items, found};
use crate::sentence::{PySentence, with_labels};
use crate::tokens::{FeatureSink, Place, Tokens};

/// Sentences with ready-made features.
#[pyclass(name = "AttributeCorpus", module = "dropchain._dropchain", frozen)]
pub struct PyAttributeCorpus(pub AttributeCorpus);

#[pymethods]
impl PyAttributeCorpus {
    /// Reads the features of sentences, `X`, and their labels, `y`.
    #[new]
    #[pyo3(signature = (sentences, labels=None, weights=None))]
    fn new(
        sentences: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        weights: Option<Items<f64>>,
    ) -> PyResult<Self> {
        let weights = weights.map(Vec::from);
        let sentences: Vec<_> = match sentences.is_instance_of::<PyString>() {
            true => return Err(found(sentences, "X", "an iterable of sentences")),
            false => sentences.try_iter()?.collect::<PyResult<_>>()?,
        };
        let labels = labels.map(|labels| each(labels, sentences.len(), "y"));
        let labels = labels.transpose()?;
        if let Some(weights) = &weights
            && weights.len() != sentences.len()
        {
            return Err(PyValueError::new_err(format!(
                "found {} weights for {} sentences; expected one for each",
                weights.len(),
                sentences.len()
            )));
        }
        let (mut corpus, mut items) = (AttributeCorpus::new(), ItemReader::default());
        for (i, sentence) in sentences.iter().enumerate() {
            let labels = labels.as_ref().map(|labels| &labels[i]);
            let weight = weights.as_ref().map_or(1.0, |weights| weights[i]);
            add(&mut corpus, &mut items, i, sentence, labels, weight)?;
        }
        corpus.shrink_to_fit();
        Ok(Self(corpus))
    }

    /// Copies a corpus whose sentences have features.
    #[staticmethod]
    fn of_corpus(corpus: &Bound<'_, PyCorpus>) -> PyResult<Self> {
        let mut attributes = AttributeCorpus::new();
        for sentence in &corpus.get().0 {
            attributes.push(sentence).map_err(exception)?;
        }
        attributes.shrink_to_fit();
        Ok(Self(attributes))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// Adds the sentence `X[i]`. Without labels it is unlabeled.
fn add(
    corpus: &mut AttributeCorpus,
    items: &mut ItemReader,
    i: usize,
    sentence: &Bound<'_, PyAny>,
    labels: Option<&Bound<'_, PyAny>>,
    weight: f64,
) -> PyResult<()> {
    let py = sentence.py();
    let [place, label_place]: [Place<'_>; 2] = [&|| format!("X[{i}]"), &|| format!("y[{i}]")];
    let labels_of = |count| labels.map(|labels| inputs::labels(labels, count, label_place));
    if let Ok(sentence) = sentence.cast::<PySentence>() {
        let sentence = &sentence.get().0;
        let labels = labels_of(sentence.len()).transpose();
        let added = labels.and_then(|labels| match labels {
            None => corpus.push(sentence).map_err(exception),
            Some(labels) => with_labels((**sentence).clone(), labels)
                .and_then(|labeled| corpus.push(&labeled))
                .map_err(exception),
        });
        return added.map_err(|e| at(py, place, e));
    }
    let weighed = corpus.weight(weight).map_err(exception);
    weighed.map_err(|e| at(py, || format!("weights[{i}]"), e))?;
    let tokens = Tokens::of(sentence, items).map_err(|e| at(py, place, e))?;
    let count = tokens.len()?;
    let labels = labels_of(count).unwrap_or_else(|| Ok(vec![TokenLabel::Unknown; count]))?;
    push(corpus, items, &tokens, &labels, [place, label_place])
}

/// Adds the features of a sentence with what is known about its labels, `[T]`. The places are
/// those of the sentence and of the labels in messages.
///
/// # Errors
///
/// `ValueError` that begins with a place; the corpus then is as before.
pub fn push(
    corpus: &mut AttributeCorpus,
    items: &mut ItemReader,
    tokens: &Tokens<'_>,
    labels: &[TokenLabel],
    [place, label_place]: [Place<'_>; 2],
) -> PyResult<()> {
    let mut sink = SentenceSink { corpus, labels, place: label_place };
    let read = tokens.read(items, &mut sink, place);
    let read = read.and_then(|()| corpus.end_sentence().map_err(exception));
    read.inspect_err(|_| corpus.discard_sentence())
}

/// Receives the features of a sentence.
struct SentenceSink<'a> {
    corpus: &'a mut AttributeCorpus,
    labels: &'a [TokenLabel], // [T]
    place: Place<'a>,
}

impl FeatureSink for SentenceSink<'_> {
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.corpus.attribute(name, value).map_err(exception)
    }

    fn end_token(&mut self, t: usize) -> PyResult<()> {
        let ended = match &self.labels[t] {
            TokenLabel::Known(label) => self.corpus.end_token(Some(label)),
            TokenLabel::OneOf(labels) => {
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                self.corpus.end_token_one_of(&labels)
            }
            TokenLabel::Unknown => self.corpus.end_token(None),
        };
        ended.map_err(|e| PyValueError::new_err(format!("{}[{t}]: {e}", (self.place)())))
    }
}
