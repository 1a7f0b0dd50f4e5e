//! Sentences and labels in Python as those of the library.
//!
//! A token is a word, a value for each of several columns, or its features. Messages name the index
//! of what is wrong, such as `X[3][7]`.

use std::sync::{Arc, LazyLock};

use dropchain::sentence::{Attributes, Schema, SourceFile, TokenLabel};
use dropchain::{MemoryLimit, Sentence};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::error::{ROW, SENTENCE, at, exception};
use crate::items::{ItemReader, found, is_collection, strings};
use crate::tokens::{Place, Tokens, check_size};

static WORDS: LazyLock<Arc<Schema>> = LazyLock::new(|| Arc::new(Schema::words()));
static FEATURES: LazyLock<Arc<Schema>> =
    LazyLock::new(|| Arc::new(Schema::new(Vec::new(), None).expect("no names collide")));
static FILES: LazyLock<[SourceFile; 2]> = LazyLock::new(|| [SENTENCE, ROW].map(SourceFile::from));

/// The largest value that training takes.
const MAX_VALUE: f64 = 1e30;

/// Reads sentences as iterables of tokens, which are words; or a value for each of the columns, if
/// there are any, or else features.
#[derive(Default)]
pub struct SentenceReader {
    columns: Option<Arc<Schema>>,
    /// Of a table, whose rows the numbers of sentences count: whether a row is a token.
    pub rows: Option<bool>,
    items: ItemReader,
}

impl SentenceReader {
    /// Creates a reader of sentences with columns of these names.
    ///
    /// # Errors
    ///
    /// `ValueError` if a name occurs twice or is empty.
    pub fn new(columns: Option<Vec<String>>) -> PyResult<Self> {
        let schema =
            columns.map(|names| Schema::new(names, None)).transpose().map_err(exception)?;
        Ok(Self::of(schema.map(Arc::new)))
    }

    /// Creates a reader of sentences with these columns.
    pub fn of(columns: Option<Arc<Schema>>) -> Self {
        Self { columns, ..Self::default() }
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
        let tokens = Tokens::of(value, &self.items).map_err(|e| at(place, e))?;
        let (are_words, columns) = match &tokens {
            Tokens::List(list) if list.is_empty() => (true, None),
            Tokens::List(list) if list.get_item(0)?.is_instance_of::<PyString>() => (true, None),
            Tokens::List(_) => (false, self.columns.as_ref()),
            _ => (false, None),
        };
        let has_features = !are_words && columns.is_none();
        let schema = if are_words { &WORDS } else { columns.unwrap_or(&FEATURES) };
        let file = FILES[usize::from(self.rows.is_some())].clone();
        let mut sentence = Sentence::new(Arc::clone(schema), file);
        let mut attributes = Attributes::default();
        for t in 0..tokens.len() {
            let line = number + if self.rows == Some(true) { t as u64 } else { 0 };
            let pushed = match &tokens {
                Tokens::List(words) if are_words => {
                    push_word(&mut sentence, &words.get_item(t)?, line)
                }
                Tokens::List(tokens) if columns.is_some() => {
                    push_cells(&mut sentence, &tokens.get_item(t)?, line)
                }
                _ => tokens
                    .read(t, &mut self.items, &mut |name, value| {
                        check_feature(name, value)?;
                        attributes.push(name, value);
                        check_size(&attributes)
                    })
                    .and_then(|()| sentence.push([""; 0], line).map_err(exception)),
            };
            pushed.map_err(|e| at(|| format!("{}[{t}]", place()), e))?;
            if has_features {
                attributes.end_token();
            }
        }
        if has_features {
            sentence.attributes = Some(Box::new(attributes));
        }
        Ok(sentence)
    }
}

fn push_word(sentence: &mut Sentence, word: &Bound<'_, PyAny>, line: u64) -> PyResult<()> {
    match word.cast::<PyString>() {
        Ok(text) => sentence.push([text.to_cow()?], line).map_err(exception),
        Err(_) => Err(found(word, "a token", "a word, like the tokens before")),
    }
}

fn push_cells(sentence: &mut Sentence, token: &Bound<'_, PyAny>, line: u64) -> PyResult<()> {
    let cells = strings(token, "a token")?;
    let columns = sentence.schema();
    if cells.len() != columns.width() {
        return Err(PyValueError::new_err(format!(
            "found {} values; expected {}, one for each of the columns {}",
            cells.len(),
            columns.width(),
            columns.list()
        )));
    }
    sentence.push(cells, line).map_err(exception)
}

/// Checks the name and the value of a feature.
///
/// # Errors
///
/// `ValueError` if there is no name, or the value is not finite or too large.
fn check_feature(name: &str, value: f64) -> PyResult<()> {
    if name.is_empty() {
        return Err(PyValueError::new_err("a feature has no name"));
    }
    if !value.is_finite() {
        return Err(PyValueError::new_err(format!(
            "feature '{name}' has the value {value}; expected a finite number"
        )));
    }
    if value.abs() > MAX_VALUE {
        return Err(PyValueError::new_err(format!(
            "feature '{name}' has the value {value:e}; expected a number of at most 1e30"
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
    if value.is_none() {
        return Ok(vec![TokenLabel::Unknown; tokens]);
    }
    let unexpected = || {
        let expected = "a list of labels, one for each token";
        at(place, found(value, "the labels of a sentence", expected))
    };
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        return Err(unexpected());
    }
    let items = value.try_iter().map_err(|_| unexpected())?;
    let mut labels = Vec::with_capacity(tokens);
    for (t, item) in items.enumerate() {
        let label = label(&item?);
        labels.push(label.map_err(|e| at(|| format!("{}[{t}]", place()), e))?);
    }
    if labels.len() != tokens {
        let error = PyValueError::new_err(format!(
            "found {} labels for a sentence of {tokens} tokens; expected one for each token",
            labels.len()
        ));
        return Err(at(place, error));
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
    if !is_collection(value) {
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

/// Converts a count that a caller may omit.
///
/// # Errors
///
/// `ValueError` if it is below `least`.
pub fn count(name: &str, value: Option<i64>, least: usize) -> PyResult<Option<usize>> {
    value.map(|value| at_least(name, value, least)).transpose()
}

/// Converts a count.
///
/// # Errors
///
/// `ValueError` if it is below `least`.
pub fn at_least(name: &str, value: i64, least: usize) -> PyResult<usize> {
    match usize::try_from(value) {
        Ok(count) if count >= least => Ok(count),
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
