//! Input of tagging: a column of texts or of sentences.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::DataType;
use dropchain::Sentence;
use dropchain::corpus::{Schema, TextSplitter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::cells::{Lists, Strings};
use crate::error::{IN_MEMORY, exception};

/// The column, by its type.
pub enum Input<'a> {
    /// `string`: raw text.
    Texts(Strings<'a>, TextSplitter),
    /// `list<…>`: the tokens of a sentence.
    Sentences(Lists<'a>, Tokens<'a>),
}

/// The tokens of all sentences.
pub struct Tokens<'a> {
    columns: Vec<Strings<'a>>, // [C]
    structs: Option<&'a StructArray>,
    schema: Arc<Schema>,
    file: Arc<str>,
}

impl<'a> Input<'a> {
    /// Reads an array.
    ///
    /// # Errors
    ///
    /// The type, if it is another one.
    pub fn of(array: &'a ArrayRef) -> Result<Self, String> {
        if let Some(texts) = Strings::of(array) {
            return Ok(Self::Texts(texts, TextSplitter::default()));
        }
        let unexpected = || {
            format!(
                "the column has the type {}; expected string (text), list<string> (the tokens of \
                 a sentence) or list<struct<word: string, …>> (the columns of its tokens)",
                array.data_type()
            )
        };
        let lists = Lists::of(array).ok_or_else(unexpected)?;
        let tokens = Tokens::of(lists.items()).ok_or_else(unexpected)?;
        Ok(Self::Sentences(lists, tokens?))
    }

    /// Returns the sentences of row `i`; `None` if it is null.
    ///
    /// # Errors
    ///
    /// `ValueError` if a token is null.
    pub fn sentences(&self, i: usize) -> PyResult<Option<Vec<Sentence>>> {
        match self {
            Self::Texts(texts, splitter) => {
                let sentences = texts.get(i).map(|text| splitter.sentences(text));
                sentences.transpose().map_err(exception)
            }
            Self::Sentences(lists, tokens) => {
                let sentence = lists.get(i).map(|range| tokens.sentence(range));
                Ok(sentence.transpose()?.map(|sentence| vec![sentence]))
            }
        }
    }

    /// Returns text `i`, if the rows are texts.
    pub fn text(&self, i: usize) -> Option<&'a str> {
        match self {
            Self::Texts(texts, _) => texts.get(i),
            Self::Sentences(..) => None,
        }
    }

    /// Returns whether the rows are texts.
    pub fn has_texts(&self) -> bool {
        matches!(self, Self::Texts(..))
    }

    /// Returns a sentence of one token with all columns.
    pub fn probe(&self) -> PyResult<Sentence> {
        let words = Arc::new(Schema::words());
        let schema = match self {
            Self::Texts(..) => words,
            Self::Sentences(_, tokens) => Arc::clone(&tokens.schema),
        };
        let cells = vec!["0"; schema.width()];
        let mut sentence = Sentence::new(schema, Arc::from(IN_MEMORY));
        sentence.push(cells, 0).map_err(exception)?;
        Ok(sentence)
    }
}

impl<'a> Tokens<'a> {
    /// Reads the items of lists; `None` if they are neither strings nor structs of strings.
    fn of(items: &'a ArrayRef) -> Option<Result<Self, String>> {
        if let Some(words) = Strings::of(items) {
            return Some(Ok(Self::new(vec![words], None, Schema::words())));
        }
        let DataType::Struct(fields) = items.data_type() else {
            return None;
        };
        let structs = items.as_struct();
        let columns: Option<Vec<_>> = structs.columns().iter().map(Strings::of).collect();
        let names = fields.iter().map(|field| field.name().clone()).collect();
        let schema = Schema::new(names, None).map_err(|error| error.to_string());
        let columns = columns.filter(|columns| !columns.is_empty())?;
        Some(schema.map(|schema| Self::new(columns, Some(structs), schema)))
    }

    fn new(columns: Vec<Strings<'a>>, structs: Option<&'a StructArray>, schema: Schema) -> Self {
        Self { columns, structs, schema: Arc::new(schema), file: Arc::from(IN_MEMORY) }
    }

    /// Returns the sentence of some of the tokens.
    ///
    /// # Errors
    ///
    /// `ValueError` if a token is null.
    fn sentence(&self, range: Range<usize>) -> PyResult<Sentence> {
        let mut sentence = Sentence::new(Arc::clone(&self.schema), Arc::clone(&self.file));
        let mut cells = Vec::with_capacity(self.columns.len());
        for (t, item) in range.enumerate() {
            let is_null = self.structs.is_some_and(|structs| structs.is_null(item));
            cells.clear();
            cells.extend(self.columns.iter().map_while(|column| column.get(item)));
            if is_null || cells.len() < self.columns.len() {
                return Err(self.null(t, (!is_null).then_some(cells.len())));
            }
            sentence.push(&cells, 0).map_err(exception)?;
        }
        Ok(sentence)
    }

    /// The error of a token that is null, or has null in a column.
    fn null(&self, t: usize, column: Option<usize>) -> PyErr {
        let place = match column.filter(|_| self.structs.is_some()) {
            Some(column) => format!("column '{}' of token {t}", self.schema.names()[column]),
            None => format!("token {t}"),
        };
        PyValueError::new_err(format!("{place} is null; expected a string"))
    }
}
