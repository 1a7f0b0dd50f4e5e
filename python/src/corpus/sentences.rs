//! The class `Corpus`: its sentences, and reading them from Python.

use std::sync::Arc;

use dropchain::sentence::SourceFile;
use dropchain::{Corpus, Sentence};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{ROW, SENTENCE, at, exception};
use crate::inputs::{self, SentenceReader};
use crate::items::{ColumnNames, Items, iterate};
use crate::sentence::PySentence;
use crate::tokens::Place;

/// Sentences in memory.
///
/// Parameters
/// ----------
/// sentences : sentences in any form
///     - lists of tokens: words, features (dicts, or lists of strings), or with `columns` a value
///       for each of them; labels are in `labels`;
///     - lists of ``(word, tag)``, as NLTK has them; pairs ``(tokens, labels)``;
///     - a frame of pandas or polars, a table of pyarrow, a dict of columns or a data set of
///       HuggingFace: a row for each token, or for each sentence with lists;
///     - documents of spaCy (`Doc`, `DocBin`), or ``(text, {"entities": [(start, end, label)]})``;
///     - objects of the class :class:`Sentence`.
///
///     Files: see :meth:`Corpus.read`.
/// labels : iterable, optional
///     The labels of each sentence: strings, None for unknown ones, lists for one of several.
/// sentence, word, label : str, optional
///     Tables: the columns of sentences (several in a list), words and labels; by default those
///     with a usual name. Of documents of spaCy, `label` is ent, tag or pos.
/// columns : iterable of str, or str with commas, optional
///     The names of the columns of tokens; of tables, which others to take, by default those of
///     strings.
/// names : iterable of str, optional
///     Tables: the names of tags that are numbers; by default those of the data set, whose order
///     is kept if they are given in another one.
/// unlabeled : bool
///     Labels, if there are any, are ignored.
/// weights : iterable of float, optional
///     The weight of each sentence in training.
/// misaligned : {"error", "expand", "drop"}, optional
///     What becomes of spans that cut a token.
/// overlaps : {"error", "longest", "first"}, optional
///     Which of spans that overlap is read.
///
/// Examples
/// --------
/// >>> from dropchain import Corpus
/// >>> corpus = Corpus([["Ada", "left"], ["in", "London"]], [["B-PER", "O"], ["O", "B-LOC"]])
/// >>> corpus
/// <Corpus of 2 sentences, 4 tokens>
/// >>> corpus[1].words
/// ['in', 'London']
#[pyclass(name = "Corpus", module = "dropchain", frozen, sequence)]
pub struct PyCorpus(pub Vec<Arc<Sentence>>);

impl From<Corpus> for PyCorpus {
    fn from(corpus: Corpus) -> Self {
        Self(corpus.into_sentences().into_iter().map(Arc::new).collect())
    }
}

impl PyCorpus {
    /// Reads sentences with their labels and weights. Messages call the sentences `X`, the labels
    /// `y`; `rows` of a table are those that they begin with, and whether each token is one.
    ///
    /// # Errors
    ///
    /// `ValueError` that names the index of what is wrong.
    pub fn of(
        sentences: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        columns: Option<ColumnNames>,
        weights: Option<Items<f64>>,
        rows: Option<(Vec<u64>, bool)>,
    ) -> PyResult<Self> {
        let mut reader = SentenceReader::new(columns.map(|columns| columns.0))?;
        reader.rows = rows.as_ref().map(|(_, are_tokens)| *are_tokens);
        let rows = rows.map(|(rows, _)| rows).unwrap_or_default();
        let mut read = Vec::new();
        for (i, sentence) in sentences.try_iter()?.enumerate() {
            let number = 1 + rows.get(i).copied().unwrap_or(i as u64);
            let place = || format!("X[{i}]");
            read.push(PySentence::read(&mut reader, &sentence?, number, &place)?);
        }
        if let Some(labels) = labels {
            for (i, labels) in each(labels, read.len(), "y")?.into_iter().enumerate() {
                let place = || format!("y[{i}]");
                let labels = inputs::labels(&labels, read[i].len(), &place)?;
                change(&mut read[i], &place, |sentence| sentence.with_partial_labels(labels))?;
            }
        }
        if let Some(Items(weights)) = weights {
            if weights.len() != read.len() {
                return Err(PyValueError::new_err(format!(
                    "found {} weights for {} sentences; expected one for each",
                    weights.len(),
                    read.len()
                )));
            }
            for (i, (sentence, weight)) in read.iter_mut().zip(weights).enumerate() {
                let place = || format!("weights[{i}]");
                change(sentence, &place, |sentence| sentence.with_weight(weight))?;
            }
        }
        Ok(Self(read))
    }

    /// Copies the sentences for the library. Messages call those in memory by the name of the data
    /// and their number, or their row.
    pub fn to_corpus(&self, name: &str) -> Corpus {
        let files = [SENTENCE, ROW].map(|file| (file, SourceFile::from(format!("{file}{name}"))));
        let place = |(i, sentence): (usize, &Arc<Sentence>)| {
            let copy = (**sentence).clone();
            match files.iter().find(|(file, _)| **copy.file() == **file) {
                None => copy,
                Some((SENTENCE, named)) => copy.placed(named.clone(), Some(i as u64 + 1)),
                Some((_, named)) => copy.placed(named.clone(), None),
            }
        };
        self.0.iter().enumerate().map(place).collect()
    }
}

/// Returns the items of an iterable that must have `expected` of them.
///
/// # Errors
///
/// `ValueError` if it has fewer or more, or is not an iterable.
fn each<'py>(
    value: &Bound<'py, PyAny>,
    expected: usize,
    name: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let items = iterate(value, name, "an iterable with an item per sentence")?;
    let items = items.collect::<PyResult<Vec<_>>>()?;
    if items.len() != expected {
        return Err(PyValueError::new_err(format!(
            "X has {expected} sentences, but {name} has {}; expected as many",
            items.len()
        )));
    }
    Ok(items)
}

/// Changes a sentence, of which others may have copies.
fn change(
    sentence: &mut Arc<Sentence>,
    place: Place<'_>,
    change: impl FnOnce(Sentence) -> dropchain::Result<Sentence>,
) -> PyResult<()> {
    let own = std::mem::replace(sentence, Arc::new(Sentence::from_words([""; 0])));
    let changed = change(Arc::unwrap_or_clone(own)).map_err(exception);
    *sentence = Arc::new(changed.map_err(|e| at(place, e))?);
    Ok(())
}
