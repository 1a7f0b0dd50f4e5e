//! Sentences and labels in Python as those of the library.
//!
//! A token is a word, a value for each of several columns, or its features. Messages name the index
//! of what is wrong, such as `X[3][7]`.

use std::sync::{Arc, LazyLock};

use dropchain::sentence::{Attributes, Schema, SourceFile, TokenLabel};
use dropchain::{MemoryLimit, Sentence};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFrozenSet, PyList, PySet, PyString, PyTuple};

use crate::error::{ROW, SENTENCE, at, exception};
use crate::items::{ItemReader, found, strings};
use crate::tokens::{FeatureSink, Place, Tokens};

static WORDS: LazyLock<Arc<Schema>> = LazyLock::new(|| Arc::new(Schema::words()));
static FEATURES: LazyLock<Arc<Schema>> =
    LazyLock::new(|| Arc::new(Schema::new(Vec::new(), None).expect("no names collide")));
static FILES: LazyLock<[SourceFile; 2]> = LazyLock::new(|| [SENTENCE, ROW].map(SourceFile::from));

/// The largest value that training takes.
const MAX_VALUE: f64 = 1e30;

/// What the numbers of sentences count.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Unit {
    /// Sentences.
    #[default]
    Sentence,
    /// Rows of a table, which are sentences.
    Row,
    /// Rows of a table, which are tokens: those of a sentence have one after another.
    TokenRow,
}

/// Reads sentences as iterables of tokens.
#[derive(Default)]
pub struct SentenceReader {
    columns: Option<Arc<Schema>>,
    items: ItemReader,
    unit: Unit,
}

impl SentenceReader {
    /// Creates a reader of sentences whose tokens have a value for each of these columns, if there
    /// are any, or else features; strings are words in either case.
    ///
    /// # Errors
    ///
    /// `ValueError` if a name occurs twice or is empty.
    pub fn new(columns: Option<Vec<String>>) -> PyResult<Self> {
        let schema =
            columns.map(|names| Schema::new(names, None)).transpose().map_err(exception)?;
        Ok(Self::with_schema(schema.map(Arc::new)))
    }

    /// Creates a reader of sentences with these columns.
    pub fn with_schema(columns: Option<Arc<Schema>>) -> Self {
        Self { columns, ..Self::default() }
    }

    /// Sets what the numbers of sentences count.
    pub fn counting(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// Reads a sentence. `number` identifies it in later messages, from 1; 0 if there is one only.
    ///
    /// # Errors
    ///
    /// `ValueError` that begins with `place` and the index of the token.
    pub fn read(
        &mut self,
        value: &Bound<'_, PyAny>,
        number: u64,
        place: Place<'_>,
    ) -> PyResult<Sentence> {
        let tokens = Tokens::of(value, &self.items).map_err(|e| at(value.py(), place, e))?;
        match &tokens {
            Tokens::List(list) => {
                let is_word = list.is_empty()? || list.get_item(0)?.is_instance_of::<PyString>();
                match (is_word, &self.columns) {
                    (true, _) => self.read_words(list, number, place),
                    (false, Some(columns)) => self.read_cells(list, columns, number, place),
                    (false, None) => self.read_features(&tokens, number, place),
                }
            }
            Tokens::Items(_) | Tokens::Matrix(_) => self.read_features(&tokens, number, place),
        }
    }

    fn read_words(
        &self,
        words: &Bound<'_, PyAny>,
        line: u64,
        place: Place<'_>,
    ) -> PyResult<Sentence> {
        let mut sentence = self.new_sentence(&WORDS);
        for (t, word) in words.try_iter()?.enumerate() {
            let (word, line) = (word?, self.line(line, t));
            let pushed = match word.cast::<PyString>() {
                Ok(text) => sentence.push([text.to_cow()?], line).map_err(exception),
                Err(_) => Err(found(&word, "a token", "a word, like the tokens before")),
            };
            pushed.map_err(|e| at(word.py(), || format!("{}[{t}]", place()), e))?;
        }
        Ok(sentence)
    }

    fn read_cells(
        &self,
        tokens: &Bound<'_, PyAny>,
        columns: &Arc<Schema>,
        line: u64,
        place: Place<'_>,
    ) -> PyResult<Sentence> {
        let mut sentence = self.new_sentence(columns);
        for (t, token) in tokens.try_iter()?.enumerate() {
            let line = self.line(line, t);
            let cells = strings(&token?, "a token").and_then(|cells| {
                if cells.len() == columns.width() {
                    return Ok(cells);
                }
                Err(PyValueError::new_err(format!(
                    "found {} values; expected {}, one for each of the columns {}",
                    cells.len(),
                    columns.width(),
                    columns.list()
                )))
            });
            let pushed = cells.and_then(|cells| sentence.push(cells, line).map_err(exception));
            pushed.map_err(|e| at(tokens.py(), || format!("{}[{t}]", place()), e))?;
        }
        Ok(sentence)
    }

    fn read_features(
        &mut self,
        tokens: &Tokens<'_>,
        line: u64,
        place: Place<'_>,
    ) -> PyResult<Sentence> {
        let mut sink = SentenceSink {
            sentence: self.new_sentence(&FEATURES),
            attributes: Attributes::default(),
            names: 0,
            line,
        };
        tokens.read(&mut self.items, &mut sink, place)?;
        let mut sentence = sink.sentence;
        sentence.attributes = Some(Box::new(sink.attributes));
        Ok(sentence)
    }

    fn new_sentence(&self, schema: &Arc<Schema>) -> Sentence {
        let file = &FILES[usize::from(self.unit != Unit::Sentence)];
        Sentence::new(Arc::clone(schema), file.clone())
    }

    /// Returns the number of token `t` of a sentence.
    fn line(&self, first: u64, t: usize) -> u64 {
        first + if self.unit == Unit::TokenRow { t as u64 } else { 0 }
    }
}

/// Fills a sentence with features.
struct SentenceSink {
    sentence: Sentence,
    attributes: Attributes,
    names: usize, // bytes
    line: u64,
}

impl FeatureSink for SentenceSink {
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        check_feature(name, value)?;
        if value.abs() > MAX_VALUE {
            return Err(PyValueError::new_err(format!(
                "feature '{name}' has the value {value:e}; expected a number of at most 1e30"
            )));
        }
        self.names += name.len();
        if u32::try_from(self.names).is_err() {
            let message = "the sentence has more than 4 GiB of features";
            return Err(PyValueError::new_err(message));
        }
        self.attributes.push(name, value);
        Ok(())
    }

    fn end_token(&mut self, _t: usize) -> PyResult<()> {
        self.attributes.end_token();
        self.sentence.push([""; 0], self.line).map_err(exception)
    }
}

/// Checks the name and the value of a feature.
///
/// # Errors
///
/// `ValueError` if there is no name, or the value is not finite.
pub fn check_feature(name: &str, value: f64) -> PyResult<()> {
    if name.is_empty() {
        return Err(PyValueError::new_err("a feature has no name"));
    }
    if !value.is_finite() {
        return Err(PyValueError::new_err(format!(
            "feature '{name}' has the value {value}; expected a finite number"
        )));
    }
    Ok(())
}

/// Reads the labels of a sentence of `tokens` tokens: strings, None for unknown ones, lists for one
/// of several. `None` instead of a list: all are unknown.
///
/// # Errors
///
/// `ValueError` that begins with `place` if the number or a type is wrong.
pub fn labels(
    value: &Bound<'_, PyAny>,
    tokens: usize,
    place: Place<'_>,
) -> PyResult<Vec<TokenLabel>> {
    let py = value.py();
    if value.is_none() {
        return Ok(vec![TokenLabel::Unknown; tokens]);
    }
    let unexpected = || {
        let expected = "a list of labels, one for each token";
        at(py, place, found(value, "the labels of a sentence", expected))
    };
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        return Err(unexpected());
    }
    let items = value.try_iter().map_err(|_| unexpected())?;
    let mut labels = Vec::with_capacity(tokens);
    for (t, item) in items.enumerate() {
        let label = label(&item?);
        labels.push(label.map_err(|e| at(py, || format!("{}[{t}]", place()), e))?);
    }
    if labels.len() != tokens {
        let error = PyValueError::new_err(format!(
            "found {} labels for a sentence of {tokens} tokens; expected one for each token",
            labels.len()
        ));
        return Err(at(py, place, error));
    }
    Ok(labels)
}

/// Reads what is known about a label.
///
/// # Errors
///
/// `ValueError` if the type is wrong or a label is empty.
pub fn label(value: &Bound<'_, PyAny>) -> PyResult<TokenLabel> {
    let text = |value: &Bound<'_, PyAny>| match value.cast::<PyString>() {
        Ok(text) if !text.is_empty()? => Ok(text.to_cow()?.into_owned()),
        _ => Err(found(value, "a label", "a string that is not empty")),
    };
    if let Ok(name) = value.cast::<PyString>() {
        return text(name).map(TokenLabel::Known);
    }
    if value.is_none() {
        return Ok(TokenLabel::Unknown);
    }
    let is_collection = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>();
    if !is_collection {
        return Err(found(value, "a label", "a string"));
    }
    let mut names: Vec<String> =
        value.try_iter()?.map(|item| text(&item?)).collect::<PyResult<_>>()?;
    names.sort();
    names.dedup();
    match names.len() {
        0 => Err(PyValueError::new_err("found no label; expected one, or None for any")),
        1 => Ok(TokenLabel::Known(names.remove(0))),
        _ => Ok(TokenLabel::OneOf(names)),
    }
}

/// Returns the labels if all are known.
pub fn known(labels: &[TokenLabel]) -> Option<Vec<&str>> {
    let name = |label: &'_ TokenLabel| matches!(label, TokenLabel::Known(_));
    labels.iter().all(name).then(|| labels.iter().map(|label| label.labels()[0].as_str()).collect())
}

/// Converts a count that a caller may omit.
///
/// # Errors
///
/// `ValueError` if it is below `least`.
pub fn count(name: &str, value: Option<i64>, least: usize) -> PyResult<Option<usize>> {
    let Some(value) = value else { return Ok(None) };
    match usize::try_from(value) {
        Ok(count) if count >= least => Ok(Some(count)),
        _ => Err(PyValueError::new_err(format!("{name} {value}; expected {least} or more"))),
    }
}

/// Reads a limit on memory in bytes.
///
/// # Errors
///
/// `ValueError` if it is negative.
pub fn memory_limit(bytes: Option<i64>) -> PyResult<MemoryLimit> {
    let bytes = count("memory", bytes, 1)?;
    Ok(bytes.map_or(MemoryLimit::Available, |bytes| MemoryLimit::Bytes(bytes as u64)))
}
