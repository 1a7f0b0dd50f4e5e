//! The parsed form of a template line, common to all dialects, and its canonical text.

use std::fmt;

use super::line_options::LineOptions;
use super::source_regex::SourceRegex;
use super::syntax::quote;
use super::template_function::TemplateFunction;

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
        write!(f, "{}", self.function)?;
        match self.position {
            _ if !self.function.takes_offset() => Ok(()),
            Position::Relative(0) => f.write_str("[0]"),
            Position::Relative(offset) => write!(f, "[{offset:+}]"),
            Position::FromStart(offset) | Position::FromEnd(offset) => write!(f, "[@{offset}]"),
        }
    }
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOperator {
    AtMost,
    AtLeast,
    Less,
    Greater,
    Equal,
    NotEqual,
}

impl ComparisonOperator {
    const ALL: [(&'static str, Self); 6] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Less),
        (">", Self::Greater),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
    ];

    /// Parses an operator.
    pub(super) fn from_symbol(symbol: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(written, _)| *written == symbol);
        found.map(|(_, operator)| *operator)
    }

    fn symbol(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, operator)| *operator == self);
        found.map_or("", |(written, _)| written)
    }

    /// Evaluates the comparison.
    pub(super) fn holds(self, left: usize, right: usize) -> bool {
        match self {
            Self::AtMost => left <= right,
            Self::AtLeast => left >= right,
            Self::Less => left < right,
            Self::Greater => left > right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }
}

/// A test of the values of a term.
#[derive(Clone, Debug)]
pub(super) enum ConditionTest {
    /// Compares the length of the text.
    Length(ComparisonOperator, usize),
    /// Some value equals the string.
    Equal(String),
    /// No value equals the string.
    NotEqual(String),
    /// Some value matches.
    Matches(SourceRegex),
    /// The position lies inside the sentence and the term has a value there.
    Exists,
}

impl fmt::Display for ConditionTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(operator, number) => write!(f, "{} {number}", operator.symbol()),
            Self::Equal(text) => write!(f, "== {}", quote(text)),
            Self::NotEqual(text) => write!(f, "!= {}", quote(text)),
            Self::Matches(expression) => write!(f, "matches \"{}\"", expression.source),
            Self::Exists => f.write_str("exists"),
        }
    }
}

/// A condition of a template line.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub negated: bool,
    pub term: Term,
    pub test: ConditionTest,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.negated { "not " } else { "" };
        write!(f, "{not}{} {}", self.term, self.test)
    }
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
    pub options: LineOptions,
}

impl TemplateLine {
    /// Returns the functions of the line, including those of its conditions and those that others
    /// gather.
    pub(super) fn functions(&self) -> impl Iterator<Item = &TemplateFunction> {
        let values = self.parts.iter().map(|part| &part.term.function);
        let all = values.chain(self.conditions.iter().map(|c| &c.term.function));
        all.flat_map(|function| {
            let gathered = match function {
                TemplateFunction::Others(call) => Some(&call.function),
                _ => None,
            };
            [Some(function), gathered].into_iter().flatten()
        })
    }
}
