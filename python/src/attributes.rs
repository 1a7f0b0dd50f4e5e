//! Training data with ready-made features, in the compact form of the library.

use dropchain::corpus::TokenLabel;
use dropchain::train::AttributeCorpus;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::corpus::{PyCorpus, each};
use crate::documents;
use crate::error::{at, exception};
use crate::inputs::{self, FeatureSink, Tokens};
use crate::items::{ItemReader, found};
use crate::sentence::{PySentence, with_labels};

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
        weights: Option<Vec<f64>>,
    ) -> PyResult<Self> {
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
        let mut builder = Builder::default();
        for (i, sentence) in sentences.iter().enumerate() {
            let labels = labels.as_ref().map(|labels| &labels[i]);
            let weight = weights.as_ref().map_or(1.0, |weights| weights[i]);
            builder.add(i, sentence, labels, weight)?;
        }
        builder.corpus.shrink_to_fit();
        Ok(Self(builder.corpus))
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

    /// Reads documents: each row of `matrix` is a sentence of one token, whose features are the
    /// numbers of the columns. A label is None if it is unknown.
    #[staticmethod]
    fn of_rows(
        matrix: &Bound<'_, PyAny>,
        labels: Vec<Option<String>>,
        weights: Vec<f64>,
    ) -> PyResult<Self> {
        documents::read(matrix, &labels, &weights).map(Self)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// Fills a corpus.
#[derive(Default)]
struct Builder {
    corpus: AttributeCorpus,
    items: ItemReader,
}

/// Receives the features of the sentence `X[number]`.
struct SentenceSink<'a> {
    corpus: &'a mut AttributeCorpus,
    labels: Vec<TokenLabel>, // [T]
    number: usize,
}

impl FeatureSink for SentenceSink<'_> {
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.corpus.attribute(name, value).map_err(exception)
    }

    fn end_token(&mut self, t: usize) -> PyResult<()> {
        let ended = match self.labels.get(t) {
            Some(TokenLabel::Known(label)) => self.corpus.end_token(Some(label)),
            Some(TokenLabel::OneOf(labels)) => {
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                self.corpus.end_token_one_of(&labels)
            }
            Some(TokenLabel::Unknown) | None => self.corpus.end_token(None),
        };
        let error = |e| PyValueError::new_err(format!("y[{}][{t}]: {e}", self.number));
        ended.map_err(error)
    }
}

impl Builder {
    /// Adds the sentence `X[i]`. Without labels it is unlabeled.
    fn add(
        &mut self,
        i: usize,
        sentence: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        weight: f64,
    ) -> PyResult<()> {
        let py = sentence.py();
        let place = || format!("X[{i}]");
        if let Ok(sentence) = sentence.cast::<PySentence>() {
            let added = self.add_sentence(&sentence.get().0, labels, i);
            return added.map_err(|e| at(py, place, e));
        }
        let weighed = self.corpus.weight(weight).map_err(exception);
        weighed.map_err(|e| at(py, || format!("weights[{i}]"), e))?;
        let tokens = Tokens::of(sentence).map_err(|e| at(py, place, e))?;
        let count = tokens.len()?;
        let mut sink = SentenceSink {
            labels: match labels {
                None => vec![TokenLabel::Unknown; count],
                Some(labels) => inputs::labels(labels, count, &|| format!("y[{i}]"))?,
            },
            corpus: &mut self.corpus,
            number: i,
        };
        tokens.read(&mut self.items, &mut sink, &place)?;
        self.corpus.end_sentence().map_err(exception)
    }

    /// Adds a sentence of the class, with other labels if they are given.
    fn add_sentence(
        &mut self,
        sentence: &dropchain::Sentence,
        labels: Option<&Bound<'_, PyAny>>,
        i: usize,
    ) -> PyResult<()> {
        let Some(labels) = labels else {
            return self.corpus.push(sentence).map_err(exception);
        };
        let labels = inputs::labels(labels, sentence.len(), &|| format!("y[{i}]"))?;
        let labeled = with_labels(sentence.clone(), labels).map_err(exception)?;
        self.corpus.push(&labeled).map_err(exception)
    }
}
