//! What a template line says, whichever dialect it was written in, and its canonical text.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use regex::Regex;

use super::lexicon::{Clusters, Lexicon};
use super::pattern::Pattern;
use super::shape::Shape;
use super::vectors::Vectors;

/// A column of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnRef {
    /// The words: the column named `word` or `form`, else the first one.
    Word,
    /// A column by its name.
    Name(String),
    /// A column by its position, from 0.
    Number(usize),
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word => f.write_str("word"),
            Self::Name(name) if super::functions::is_plain_column(name) => f.write_str(name),
            Self::Name(name) => {
                let escaped = name.replace('\\', r"\\").replace('"', r#"\""#);
                write!(f, "column(\"{escaped}\")")
            }
            Self::Number(number) => write!(f, "column({number})"),
        }
    }
}

/// What a function reads: the cells of a column, as they are or in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub column: ColumnRef,
    pub lower: bool,
}

impl Text {
    /// The cells of `column` as they are.
    pub(super) fn plain(column: ColumnRef) -> Self {
        Self {
            column,
            lower: false,
        }
    }

    /// Whether this is what functions read when they are not told: the words as they are.
    pub(super) fn is_default(&self) -> bool {
        self.column == ColumnRef::Word && !self.lower
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lower, &self.column) {
            (false, column) => write!(f, "{column}"),
            (true, ColumnRef::Word) => f.write_str("lower"),
            (true, column) => write!(f, "lower({column})"),
        }
    }
}

/// A regular expression and how it was written.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub source: String,
    pub regex: Regex,
}

/// Functions that make one value of a text, and say something of the empty text too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Same,
    Shape(Shape),
    Length,
    Capitalization,
    Class,
}

/// Which parts of a text [`Function::Parts`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Its first characters.
    Prefix,
    /// Its last characters.
    Suffix,
    /// The first and the last characters of `<text>`.
    Affixes,
    /// All runs of characters of `<text>`.
    Ngrams,
}

/// A function of a position in a sentence: it has one value, several or none there.
#[derive(Clone, Debug)]
pub(super) enum Function {
    /// A flag that is always up.
    Bias,
    /// A flag at the first token.
    Start,
    /// A flag at the last token.
    End,
    Form(Form, Text),
    Parts(Part, RangeInclusive<i32>, Text),
    /// A flag, or the text of the first group, where the expression matches.
    Regex(Expression, Text),
    /// The set of texts at the offsets.
    Bag(RangeInclusive<i32>, Text),
    /// A flag at `Mr.` and the like.
    Title(Text),
    Occurrence(Text),
    Lexicon(String, Arc<Lexicon>, Text),
    /// Prefixes of the given lengths of the path of a cluster; no lengths: the whole path.
    Cluster(String, Arc<Clusters>, Vec<i32>, Text),
    /// The numbers of the word's vector.
    Vector(Embedding, Text),
    /// A number: that of a cell, or with `true` the length of the text.
    Value(Text, bool),
    /// A command of a CRF++ or Wapiti pattern.
    Pattern(Pattern),
}

/// Word vectors, and how they were asked for.
#[derive(Clone, Debug)]
pub(super) struct Embedding {
    pub file: String,
    pub vectors: Arc<Vectors>,
    /// How many lines of the file count.
    pub first: Option<usize>,
    /// What the numbers are multiplied by.
    pub scale: Option<f64>,
}

/// Characters of a word that `ngrams` looks at, brackets included.
pub(super) const NGRAM_WINDOW: usize = 100;

impl Function {
    /// Whether the value has no text: the attribute says all by its name.
    pub(super) fn is_flag(&self) -> bool {
        match self {
            Self::Bias | Self::Start | Self::End | Self::Title(_) | Self::Value(..) => true,
            Self::Regex(expression, _) => expression.regex.captures_len() == 1,
            _ => false,
        }
    }

    /// The largest number of values at one position.
    pub(super) fn max_values(&self) -> usize {
        let width = |range: &RangeInclusive<i32>| range.clone().count();
        match self {
            Self::Parts(Part::Prefix | Part::Suffix, range, _) | Self::Bag(range, _) => {
                width(range)
            }
            Self::Parts(Part::Affixes, range, _) => 2 * width(range),
            Self::Parts(Part::Ngrams, range, _) => NGRAM_WINDOW * width(range),
            Self::Cluster(_, _, lengths, _) => lengths.len().max(1),
            Self::Vector(embedding, _) => embedding.vectors.dimensions(),
            _ => 1,
        }
    }

    /// The text it reads, if it reads one.
    pub(super) fn text(&self) -> Option<&Text> {
        match self {
            Self::Bias | Self::Start | Self::End | Self::Pattern(_) => None,
            Self::Form(_, text)
            | Self::Parts(_, _, text)
            | Self::Regex(_, text)
            | Self::Bag(_, text)
            | Self::Title(text)
            | Self::Occurrence(text)
            | Self::Lexicon(_, _, text)
            | Self::Cluster(_, _, _, text)
            | Self::Vector(_, text)
            | Self::Value(text, _) => Some(text),
        }
    }

    /// The column it reads, if it reads one.
    pub(super) fn column(&self) -> Option<ColumnRef> {
        match self {
            Self::Pattern(pattern) => Some(ColumnRef::Number(pattern.column)),
            _ => self.text().map(|text| text.column.clone()),
        }
    }

    /// Whether it can stand at another position than the current one.
    pub(super) fn takes_offset(&self) -> bool {
        !matches!(self, Self::Bias | Self::Bag(..))
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bias => f.write_str("bias"),
            Self::Start => f.write_str("start"),
            Self::End => f.write_str("end"),
            Self::Form(Form::Same, text) => write!(f, "{text}"),
            Self::Form(Form::Shape(Shape::Long), text) => call(f, "shape", &[], text),
            Self::Form(Form::Shape(shape), text) => call(f, "shape", &[shape.name()], text),
            Self::Form(Form::Length, text) => call(f, "length", &[], text),
            Self::Form(Form::Capitalization, text) => call(f, "capitalization", &[], text),
            Self::Form(Form::Class, text) => call(f, "class", &[], text),
            Self::Parts(part, range, text) => {
                let name = match part {
                    Part::Prefix => "prefix",
                    Part::Suffix => "suffix",
                    Part::Affixes => "affixes",
                    Part::Ngrams => "ngrams",
                };
                call(f, name, &[&span(range)], text)
            }
            Self::Regex(expression, text) => {
                call(f, "regex", &[&format!("\"{}\"", expression.source)], text)
            }
            Self::Bag(range, text) => write!(f, "bag({text}, {})", span(range)),
            Self::Title(text) => call(f, "title", &[], text),
            Self::Occurrence(text) => call(f, "occurrence", &[], text),
            Self::Lexicon(file, _, text) => call(f, "lexicon", &[&quoted(file)], text),
            Self::Cluster(file, _, lengths, text) => {
                let mut arguments = vec![quoted(file)];
                arguments.extend(lengths.iter().map(ToString::to_string));
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                call(f, "cluster", &arguments, text)
            }
            Self::Vector(embedding, text) => {
                let mut arguments = vec![quoted(&embedding.file)];
                arguments.extend(embedding.first.map(|lines| format!("first({lines})")));
                arguments.extend(embedding.scale.map(|factor| format!("scale({factor})")));
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                call(f, "vector", &arguments, text)
            }
            Self::Value(text, false) => write!(f, "value({text})"),
            Self::Value(text, true) => {
                let length = Self::Form(Form::Length, text.clone());
                write!(f, "value({length})")
            }
            Self::Pattern(pattern) => write!(f, "{pattern}"),
        }
    }
}

fn call(f: &mut fmt::Formatter<'_>, name: &str, arguments: &[&str], text: &Text) -> fmt::Result {
    let own = text.to_string();
    let mut arguments = arguments.to_vec();
    if !text.is_default() {
        arguments.push(&own);
    }
    f.write_str(name)?;
    if !arguments.is_empty() {
        write!(f, "({})", arguments.join(", "))?;
    }
    Ok(())
}

fn span(range: &RangeInclusive<i32>) -> String {
    if range.start() == range.end() {
        range.start().to_string()
    } else {
        format!("{}..{}", range.start(), range.end())
    }
}

/// A string as templates write it.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', r#"\""#))
}

/// Where a term looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Tokens from the current one.
    Relative(i32),
    /// Tokens from the first one.
    FromStart(i32),
    /// Tokens from the one past the last.
    FromEnd(i32),
}

impl Position {
    /// The position meant at token `t` of `length`; may lie outside the sentence.
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
    pub function: Function,
    pub position: Position,
    /// Column of the template line where it stands.
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

/// A comparison of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    AtMost,
    AtLeast,
    Less,
    Greater,
    Equal,
    Unequal,
}

impl Comparison {
    const ALL: [(&'static str, Self); 6] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Less),
        (">", Self::Greater),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
    ];

    /// The comparison that `symbol` writes.
    pub(super) fn of(symbol: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(written, _)| *written == symbol);
        found.map(|(_, comparison)| *comparison)
    }

    fn symbol(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, comparison)| *comparison == self);
        found.map_or("", |(written, _)| written)
    }

    /// Whether the comparison holds.
    pub(super) fn holds(self, left: usize, right: usize) -> bool {
        match self {
            Self::AtMost => left <= right,
            Self::AtLeast => left >= right,
            Self::Less => left < right,
            Self::Greater => left > right,
            Self::Equal => left == right,
            Self::Unequal => left != right,
        }
    }
}

/// What a condition asks of the values of its term.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// The length of the text compares so.
    Length(Comparison, usize),
    /// Some value is this string.
    Equal(String),
    /// No value is this string.
    Unequal(String),
    /// Some value matches.
    Matches(Expression),
    /// The position lies inside the sentence and there is a value.
    Exists,
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(comparison, number) => write!(f, "{} {number}", comparison.symbol()),
            Self::Equal(text) => write!(f, "== {}", quoted(text)),
            Self::Unequal(text) => write!(f, "!= {}", quoted(text)),
            Self::Matches(expression) => write!(f, "matches \"{}\"", expression.source),
            Self::Exists => f.write_str("exists"),
        }
    }
}

/// A line applies where its conditions hold.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub negated: bool,
    pub term: Term,
    pub test: Test,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.negated { "not " } else { "" };
        write!(f, "{not}{} {}", self.term, self.test)
    }
}

/// A part of an attribute: a value, and what is written after it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub term: Term,
    pub after: String,
}

/// A template line: an attribute is `head`, then the pieces.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Line of the template file, from 1.
    pub number: u64,
    /// Crossed with the label.
    pub node: bool,
    /// Crossed with the label pair.
    pub edge: bool,
    pub head: String,
    pub pieces: Vec<Piece>,
    /// Whether `|` and `\` are escaped in values.
    pub escape: bool,
    pub conditions: Vec<Condition>,
}
