//! Sentences to train on, from columns of Arrow arrays.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::ArrayRef;
use dropchain::corpus::{Schema, TokenLabel};
use dropchain::{Corpus, Sentence};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::cells::{Lists, Strings};
use super::import;
use super::input::Tokens;
use crate::error::{at, exception};
use crate::sentence::with_labels;

/// Sentences of a column of tokens, with their labels if there are any. Messages count their rows
/// from `first`.
#[pyclass(name = "ArrowSentences", module = "dropchain._dropchain", frozen)]
pub struct PyArrowSentences {
    sentences: Mutex<Sentences>,
}

struct Sentences {
    all: Vec<Sentence>,
    first: usize,
    schema: Option<Arc<Schema>>, // of the last of them
}

#[pymethods]
impl PyArrowSentences {
    #[new]
    #[pyo3(signature = (first=0))]
    fn new(first: usize) -> Self {
        let sentences = Sentences {
            all: Vec::new(),
            first,
            schema: None,
        };
        Self {
            sentences: Mutex::new(sentences),
        }
    }

    /// Adds the rows of an array of tokens, and of one of labels.
    #[pyo3(signature = (tokens, labels=None))]
    fn push(
        &self,
        py: Python<'_>,
        tokens: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let tokens = import(tokens)?;
        let labels = labels.map(import).transpose()?;
        py.detach(|| self.lock().push(&tokens, labels.as_ref()))
            .map_err(|(row, error)| at(py, || format!("rows[{row}]"), error))
    }

    fn __len__(&self) -> usize {
        self.lock().all.len()
    }
}

impl PyArrowSentences {
    /// Takes the sentences: those of a rank may fill half of the memory.
    pub fn take(&self) -> Corpus {
        std::mem::take(&mut self.lock().all).into()
    }

    fn lock(&self) -> MutexGuard<'_, Sentences> {
        self.sentences
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sentences {
    /// Adds rows; an error has the number of its row.
    fn push(&mut self, tokens: &ArrayRef, labels: Option<&ArrayRef>) -> Result<(), (usize, PyErr)> {
        let next = self.first + self.all.len();
        let rows = Rows::of(tokens, labels).and_then(|rows| self.with_shared_schema(rows));
        let rows = rows.map_err(|message| (next, PyValueError::new_err(message)))?;
        for i in 0..tokens.len() {
            let row = next + i;
            let sentence = rows.sentence(i, row as u64 + 1);
            self.all.push(sentence.map_err(|error| (row, error))?);
        }
        Ok(())
    }

    /// Uses the schema of the rows before where it is the same.
    fn with_shared_schema<'a>(&mut self, rows: Rows<'a>) -> Result<Rows<'a>, String> {
        let mut names = rows.tokens.schema().names().to_vec();
        if rows.labels.is_some() {
            names.push("label".to_owned());
        }
        let schema = match self.schema.take().filter(|schema| schema.names() == names) {
            Some(schema) => schema,
            None => {
                let label = rows.labels.as_ref().map(|_| names.len() - 1);
                let schema = Schema::new(names, label).map_err(|error| error.to_string())?;
                Arc::new(schema)
            }
        };
        self.schema = Some(Arc::clone(&schema));
        Ok(Rows {
            tokens: rows.tokens.with_schema(schema),
            ..rows
        })
    }
}

/// Rows: tokens, and their labels.
struct Rows<'a> {
    lists: Lists<'a>,
    tokens: Tokens<'a>,
    labels: Option<(Lists<'a>, Strings<'a>)>,
}

impl<'a> Rows<'a> {
    /// Reads the arrays; an error says what was expected.
    fn of(tokens: &'a ArrayRef, labels: Option<&'a ArrayRef>) -> Result<Self, String> {
        let unexpected = |what: &str, array: &ArrayRef, expected: &str| {
            let kind = array.data_type();
            format!("{what} have the type {kind}; expected {expected}")
        };
        let of_tokens = "list<string> or list<struct<word: string, …>>";
        let columns = Lists::of(tokens).and_then(|lists| Some((lists, Tokens::of(lists.items())?)));
        let (lists, columns) = columns.ok_or_else(|| unexpected("tokens", tokens, of_tokens))?;
        let names = |labels| {
            let lists = Lists::of(labels)?;
            Some((lists, Strings::of(lists.items())?))
        };
        let labels = labels.map(|labels| {
            names(labels).ok_or_else(|| unexpected("labels", labels, "list<string>"))
        });
        Ok(Self {
            lists,
            tokens: columns?,
            labels: labels.transpose()?,
        })
    }

    /// Returns the sentence of row `i`.
    fn sentence(&self, i: usize, line: u64) -> PyResult<Sentence> {
        let Some(range) = self.lists.get(i) else {
            let message = "the tokens are null; expected an array";
            return Err(PyValueError::new_err(message));
        };
        let sentence = self.tokens.sentence(range, line)?;
        let Some((lists, names)) = &self.labels else {
            return Ok(sentence);
        };
        let label = |t| match names.get(t) {
            Some(name) => TokenLabel::Known(name.to_owned()),
            None => TokenLabel::Unknown,
        };
        let labels = match lists.get(i) {
            Some(range) => range.map(label).collect(),
            None => vec![TokenLabel::Unknown; sentence.len()],
        };
        with_labels(sentence, labels).map_err(exception)
    }
}
