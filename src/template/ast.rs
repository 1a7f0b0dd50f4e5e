//! The lines of a template as parsed, common to all dialects, and their functions: the text that
//! these read, and what they compute of it.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use regex::Regex;

use super::document::{MentionKind, NEAREST, RunKind};
use super::lexicon::Lexicon;
use super::syntax::{is_bare_column_name, quote};
use super::text_function::TextFunction;
use crate::sentence::{DocumentOptions, Schema};

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

/// The computation of a function, with zero or more values at a position.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// A flag that is always set.
    Bias,
    /// A flag at the first token.
    Start,
    /// A flag at the last token.
    End,
    /// The text itself, which is empty outside the sentence.
    Text,
    /// The number of characters of the text.
    Length,
    /// A function of the text alone.
    OfText(TextFunction),
    /// The set of texts at the offsets.
    Bag(RangeInclusive<i32>),
    Occurrence,
    Lexicon(Arc<Lexicon>),
    /// The number in a cell.
    Value,
    /// What the document says about the occurrences of the text.
    Mention(MentionKind),
    /// Where in a run of capitalized words the text is, or its neighbors there.
    Run(RunKind),
    /// The set of values of a term at other occurrences of the word in the document, relative to
    /// them, before it is bound.
    Others(Box<Term>),
    /// The values of a function of a word, at an offset from other occurrences; `number` counts the
    /// functions of this kind.
    Gathered {
        offset: i32,
        number: usize,
    },
    /// What [`Operation::Run`] has at an offset from other occurrences.
    GatheredRuns {
        kind: RunKind,
        offset: i32,
    },
    /// A flag that is set if a condition holds.
    Test(ConditionTest),
}

/// A function as a template has it.
#[derive(Clone, Debug)]
pub(super) struct TemplateFunction {
    pub operation: Operation,
    /// The text it reads, if any.
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
            Operation::Bias | Operation::Start | Operation::End | Operation::Value => true,
            Operation::OfText(function) => function.is_flag,
            Operation::Others(term) => term.function.is_flag(),
            _ => false,
        }
    }

    /// Returns the maximum number of values at one position.
    pub(super) fn max_values(&self) -> usize {
        match &self.operation {
            Operation::OfText(function) => function.max_values,
            Operation::Bag(window) => window.clone().count(),
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
        matches!(&self.operation, Operation::OfText(function) if function.uses_known_words)
    }

    /// Returns whether it depends on other sentences of the document.
    pub(super) fn sees_document(&self) -> bool {
        matches!(self.operation, Operation::Mention(_) | Operation::Others(_))
    }

    /// Returns whether it can be applied at an offset from the current token.
    pub(super) fn takes_offset(&self) -> bool {
        !matches!(self.operation, Operation::Bias | Operation::Bag(_))
    }

    /// Returns whether `others` can gather it: it must depend on a single word or its run, and
    /// have texts as values.
    pub(super) fn can_be_gathered(&self) -> bool {
        match &self.operation {
            Operation::Text | Operation::Length | Operation::Run(_) => true,
            Operation::OfText(function) => !function.is_number,
            _ => false,
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
    /// Compares a length.
    Length(fn(&usize, &usize) -> bool, usize),
    /// Some value equals the string.
    Equal(String),
    /// Some value matches.
    Matches(Regex),
    /// The position lies inside the sentence and the term has a value there.
    Exists,
}

/// A condition of a template line.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub negated: bool,
    pub term: Term,
    pub test: ConditionTest,
    /// The canonical text of the test.
    pub text: String,
}

/// A part of an attribute name: the value of a term and the literal text after it.
#[derive(Clone, Debug)]
pub(super) struct NamePart {
    pub term: Term,
    pub literal: String,
}

/// A template line. The name of an attribute is `head` followed by `parts`.
#[derive(Clone, Debug)]
pub(super) struct TemplateLine {
    /// The line number in the template file, from 1.
    pub number: u64,
    /// Whether attributes are crossed with the label.
    pub node: bool,
    /// Whether attributes are crossed with the label pair.
    pub edge: bool,
    pub head: String,
    pub parts: Vec<NamePart>,
    /// Whether `|` and `\` are escaped in values.
    pub escape: bool,
    /// The line applies at tokens where all conditions hold.
    pub conditions: Vec<Condition>,
}

impl TemplateLine {
    /// Returns the functions of the line, including those of its conditions and those that others
    /// gather.
    pub(super) fn functions(&self) -> impl Iterator<Item = &TemplateFunction> {
        let values = self.parts.iter().map(|part| &part.term.function);
        values.chain(self.conditions.iter().map(|c| &c.term.function)).flat_map(|function| {
            let gathered = match &function.operation {
                Operation::Others(term) => Some(&term.function),
                _ => None,
            };
            [Some(function), gathered].into_iter().flatten()
        })
    }
}

/// The program whose template syntax a file uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    CrfPlusPlus,
    Wapiti,
}

impl Dialect {
    /// Returns the pseudo-tokens at the positions before a sentence, and then after it, that have
    /// distinct ones.
    pub(super) fn boundaries(self) -> Vec<String> {
        let (name, padding) = match self {
            Self::CrfPlusPlus => ("_B", 8),
            Self::Wapiti => ("_x", 5),
        };
        let boundary = |sign, distance| match (self, distance) {
            (Self::Wapiti, 5..) => format!("{name}{sign}#"),
            _ => format!("{name}{sign}{distance}"),
        };
        let before = (1..=padding).rev().map(|distance| boundary('-', distance));
        before.chain((1..=padding).map(|distance| boundary('+', distance))).collect()
    }
}

/// The lines of a template file.
#[derive(Clone, Debug)]
pub(super) struct TemplateLines {
    pub lines: Vec<TemplateLine>,
    /// Whether bare transitions (label pairs) have weights.
    pub transitions: bool,
    /// The rule that separates documents.
    pub documents: DocumentOptions,
    /// The dialect of a CRF++ or Wapiti file.
    pub dialect: Option<Dialect>,
}
