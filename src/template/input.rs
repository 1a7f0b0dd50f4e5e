//! The input of a template function: a column, optionally lower-cased.

use std::fmt;

use super::syntax::{is_bare_column_name, quote};
use crate::sentence::Schema;

/// A reference to an input column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ColumnRef {
    /// The words: the column named `word` or `form`, else the first one.
    Word,
    /// A column by name.
    Name(String),
    /// A column by index, from 0.
    Number(usize),
}

impl ColumnRef {
    /// Returns the column that `name` refers to in a template.
    pub(super) fn from_name(name: &str) -> Self {
        if name == "word" {
            Self::Word
        } else {
            Self::Name(name.to_owned())
        }
    }

    /// Returns the index of the column in `schema`, if it has that column.
    pub(super) fn index(&self, schema: &Schema) -> Option<usize> {
        match self {
            Self::Word => {
                let first = (schema.width() > 0).then_some(0);
                schema.position("word").or(first)
            }
            Self::Name(name) => schema.position(name),
            Self::Number(number) => (*number < schema.width()).then_some(*number),
        }
    }
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word => f.write_str("word"),
            Self::Name(name) if is_bare_column_name(name) => f.write_str(name),
            Self::Name(name) => write!(f, "column({})", quote(name)),
            Self::Number(number) => write!(f, "column({number})"),
        }
    }
}

/// The text that a function reads: the cells of a column, verbatim or lower-cased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextInput {
    pub column: ColumnRef,
    pub lower: bool,
}

impl TextInput {
    /// The cells of `column`, verbatim.
    pub(super) fn verbatim(column: ColumnRef) -> Self {
        Self {
            column,
            lower: false,
        }
    }

    /// Returns whether this is the default input: the words, verbatim.
    pub(super) fn is_default(&self) -> bool {
        self.column == ColumnRef::Word && !self.lower
    }
}

impl fmt::Display for TextInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lower, &self.column) {
            (false, column) => write!(f, "{column}"),
            (true, ColumnRef::Word) => f.write_str("lower"),
            (true, column) => write!(f, "lower({column})"),
        }
    }
}
