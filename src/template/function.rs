//! The functions of the template language: the text they read, and what they compute of it.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use regex::Regex;

use super::clusters::Clusters;
use super::document::{MentionKind, NEAREST, RunKind};
use super::lexicon::Lexicon;
use super::shape::{KnownWords, Shape};
use super::syntax::{is_bare_column_name, quote};
use super::vectors::Vectors;
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
        if name == "word" { Self::Word } else { Self::Name(name.to_owned()) }
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
    /// The words, verbatim.
    pub(super) const WORD: Self = Self::verbatim(ColumnRef::Word);

    /// The cells of `column`, verbatim.
    pub(super) const fn verbatim(column: ColumnRef) -> Self {
        Self { column, lower: false }
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

/// The substrings that [`Operation::Substrings`] yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubstringKind {
    /// The first characters.
    Prefix,
    /// The last characters.
    Suffix,
    /// The first and the last characters of `<text>`.
    Affixes,
    /// All character n-grams of `<text>`.
    Ngrams,
}

/// Length of the longest prefix or suffix of an open range, such as `affixes(2..)`, in characters.
pub(super) const OPEN_LENGTH: usize = 256;

/// Length of the longest prefix or suffix of an open range, in bytes. A character may have any
/// number of accents. All affixes of a word together have at most 256 KiB.
pub(super) const OPEN_BYTES: usize = 1024;

/// Maximum number of characters of `<word>` that `ngrams` looks at.
pub(super) const NGRAM_WINDOW: usize = 100;

/// What a function computes, with zero or more values at a position. What is learned from the
/// training data is empty until a function is bound.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// A flag that is always set.
    Bias,
    /// A flag at the first token.
    Start,
    /// A flag at the last token.
    End,
    /// The text itself. Like shapes, lengths and classes, it has a value outside the sentence.
    Text,
    Lower,
    Shape(Shape, Arc<KnownWords>),
    /// A shape whose known words are, in training, those read up to the token.
    ShapeWhileReading(Shape, Arc<KnownWords>),
    Length,
    Capitalization,
    Class,
    Substrings(SubstringKind, RangeInclusive<usize>),
    /// A flag, or the text of the first group, if the expression matches.
    Regex(Regex),
    /// The set of texts at the offsets.
    Bag(RangeInclusive<i32>),
    /// A flag at `Mr.` and the like.
    Title,
    Occurrence,
    Lexicon(Arc<Lexicon>),
    /// Prefixes of the cluster path with the given lengths; the whole path if there are none.
    Cluster(Arc<Clusters>, Vec<usize>),
    /// The components of the word's vector, times a factor.
    Vector(Arc<Vectors>, f64),
    /// The number in a cell.
    Value,
    /// The length of the text as a number.
    LengthValue,
    /// What the document says about the occurrences of the text.
    Mention(MentionKind),
    /// Where in a run of capitalized words the text is, or its neighbors there.
    Run(RunKind),
    /// The set of values of a term at other occurrences of the text in the document, relative to
    /// them, before it is bound.
    Others(Box<Term>),
    /// The values of a function of a word, at positions relative to other occurrences.
    Gathered {
        offsets: RangeInclusive<i32>,
        /// Which occurrences: an index of [`DocumentPlan::others`](super::document).
        group: usize,
        /// Number of the function among those of this kind.
        number: usize,
    },
    /// What [`Operation::Run`] has at a position relative to other occurrences.
    GatheredRuns {
        kind: RunKind,
        offset: i32,
        group: usize,
    },
    /// Whether the expression matches: `true` or `false`.
    Matches(Regex),
    /// The first match of the expression, in lower case if that is set; empty if there is none.
    Match(Regex, bool),
    /// A flag that is set if a condition holds.
    Test(ConditionTest),
}

impl Operation {
    /// Returns whether the values depend on nothing but those of one other function at the same
    /// position.
    fn is_of_source(&self) -> bool {
        matches!(
            self,
            Self::Lower
                | Self::Shape(..)
                | Self::Length
                | Self::Capitalization
                | Self::Class
                | Self::Substrings(..)
                | Self::Regex(_)
                | Self::Matches(_)
                | Self::Match(..)
                | Self::Title
                | Self::Cluster(..)
                | Self::Vector(..)
                | Self::LengthValue
                | Self::Test(_)
        )
    }
}

/// A function as a template has it.
#[derive(Clone, Debug)]
pub(super) struct TemplateFunction {
    pub operation: Operation,
    /// The text it reads, if any; that of `others` is what occurrences have in common.
    pub input: Option<TextInput>,
    /// Canonical text of the function.
    pub text: String,
}

impl TemplateFunction {
    /// Returns the function whose value is a text itself.
    pub(super) fn of_text(input: TextInput) -> Self {
        Self { operation: Operation::Text, text: input.to_string(), input: Some(input) }
    }

    /// Returns whether the value has no text, so that the attribute is the template's name alone.
    pub(super) fn is_flag(&self) -> bool {
        match &self.operation {
            Operation::Bias
            | Operation::Start
            | Operation::End
            | Operation::Title
            | Operation::Value
            | Operation::LengthValue => true,
            Operation::Regex(expression) => expression.captures_len() == 1,
            Operation::Others(term) => term.function.is_flag(),
            _ => false,
        }
    }

    /// Returns the maximum number of values at one position.
    pub(super) fn max_values(&self) -> usize {
        match &self.operation {
            Operation::Substrings(kind, lengths) => {
                let width = lengths.clone().count();
                match kind {
                    SubstringKind::Prefix | SubstringKind::Suffix => width,
                    SubstringKind::Affixes => 2 * width,
                    SubstringKind::Ngrams => NGRAM_WINDOW * width,
                }
            }
            Operation::Bag(window) => window.clone().count(),
            Operation::Cluster(_, lengths) => lengths.len().max(1),
            Operation::Vector(vectors, _) => vectors.dimensions(),
            Operation::Others(term) => NEAREST.saturating_mul(term.function.max_values()),
            _ => 1,
        }
    }

    /// Returns the column it reads, if any.
    pub(super) fn column(&self) -> Option<&ColumnRef> {
        self.input.as_ref().map(|input| &input.column)
    }

    /// Returns whether it depends on the words known from training.
    pub(super) fn uses_known_words(&self) -> bool {
        match self.operation {
            Operation::Shape(shape, _) | Operation::ShapeWhileReading(shape, _) => {
                shape.uses_known_words()
            }
            _ => false,
        }
    }

    /// Returns whether it depends on other sentences of the document.
    pub(super) fn sees_document(&self) -> bool {
        matches!(self.operation, Operation::Mention(_) | Operation::Others(_))
    }

    /// Returns whether it can be applied at an offset from the current token.
    pub(super) fn takes_offset(&self) -> bool {
        !matches!(self.operation, Operation::Bias | Operation::Bag(_))
    }

    /// Returns whether `others` can gather it: it must depend on a single word or its surroundings,
    /// and have texts as values.
    pub(super) fn can_be_gathered(&self) -> bool {
        match self.operation {
            Operation::Text | Operation::Bag(_) | Operation::Run(_) => true,
            Operation::Vector(..) | Operation::LengthValue => false,
            _ => self.operation.is_of_source(),
        }
    }
}

/// The position that a term refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// An offset from the current token.
    Relative(i32),
    /// An offset from the first token.
    FromStart(i32),
    /// An offset from the end, one past the last token.
    FromEnd(i32),
}

impl Position {
    /// Resolves the position at token `t` of `length`. The result may lie outside the sentence.
    pub(super) fn resolve(self, t: usize, length: usize) -> i64 {
        match self {
            Self::Relative(offset) => t as i64 + i64::from(offset),
            Self::FromStart(offset) => i64::from(offset),
            Self::FromEnd(offset) => length as i64 + i64::from(offset),
        }
    }
}

/// A function at a position.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub function: TemplateFunction,
    pub position: Position,
    /// Column of the term in the template line.
    pub column: u64,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function.text)?;
        match self.position {
            _ if !self.function.takes_offset() => Ok(()),
            Position::Relative(0) => f.write_str("[0]"),
            Position::Relative(offset) => write!(f, "[{offset:+}]"),
            Position::FromStart(offset) | Position::FromEnd(offset) => write!(f, "[@{offset}]"),
        }
    }
}

/// A test of the values of a term.
#[derive(Clone, Debug)]
pub(super) enum ConditionTest {
    /// Compares the length of the text.
    Length(fn(&usize, &usize) -> bool, usize),
    /// Some value equals the string.
    Equal(String),
    /// No value equals the string.
    NotEqual(String),
    /// Some value matches.
    Matches(Regex),
    /// The position lies inside the sentence and the term has a value there.
    Exists,
}

/// A function bound to a column or to the value of an earlier bound function. One that several
/// templates use is bound, and computed, once.
#[derive(Clone, Debug)]
pub(super) struct BoundFunction {
    pub operation: Operation,
    /// The index of that function; for what reads cells, of a column; for
    /// [`Operation::Mention`], the number of an index of documents.
    pub source: usize,
}

impl BoundFunction {
    /// Returns the column that it reads directly, if any.
    pub(super) fn column(&self) -> Option<usize> {
        let reads_cells = matches!(
            self.operation,
            Operation::Text | Operation::Value | Operation::Run(_) | Operation::GatheredRuns { .. }
        );
        reads_cells.then_some(self.source)
    }

    /// Returns the function it is computed from, if it depends on nothing but the value of that
    /// function at the same position.
    pub(super) fn source(&self) -> Option<usize> {
        self.operation.is_of_source().then_some(self.source)
    }
}
