//! The functions of the template language: their names, and what arguments they take.

use std::ops::RangeInclusive;

use regex::{Regex, RegexBuilder};

use super::lexer::Spot;
use super::resources::Resources;
use super::shape::{SHAPES, Shape};
use super::syntax::{Column, Expression, Form, Function, Part, Position, Term, Text, quoted};
use super::text::did_you_mean;
use crate::error::Result;

/// Every function, with an example of its arguments.
pub(super) const FUNCTIONS: [(&str, &str); 20] = [
    ("bias", "bias"),
    ("start", "start"),
    ("end", "end"),
    ("column", "column(2) or column(\"name\")"),
    ("lower", "lower or lower(column)"),
    ("shape", "shape(dan2)"),
    ("length", "length"),
    ("capitalization", "capitalization"),
    ("class", "class"),
    ("prefix", "prefix(1..4)"),
    ("suffix", "suffix(3)"),
    ("affixes", "affixes(2..6)"),
    ("ngrams", "ngrams(2..4)"),
    ("regex", "regex(\"^[0-9]+$\")"),
    ("bag", "bag(word, 1..4)"),
    ("title", "title"),
    ("occurrence", "occurrence"),
    ("lexicon", "lexicon(\"names.txt\")"),
    ("cluster", "cluster(\"paths.txt\", 4, 6, 10)"),
    ("value", "value(column)"),
];

/// Words of the grammar, which cannot name a column by themselves.
const KEY_WORDS: [&str; 7] = ["if", "and", "not", "matches", "exists", "node", "edge"];

/// Farthest token that a term may look at, either way.
pub(super) const MAX_OFFSET: i32 = 100;

/// Longest prefix, suffix, n-gram, and path of a cluster, in characters.
const MAX_LENGTH: i32 = 32;

/// Memory for one compiled regular expression, in bytes.
const MAX_EXPRESSION: usize = 1 << 20;

/// A function or a column as written, before its arguments are understood.
#[derive(Clone, Debug)]
pub(super) struct Call<'a> {
    pub name: &'a str,
    pub column: u64,
    /// What stood in round brackets, if there were any.
    pub arguments: Option<Vec<Argument<'a>>>,
    /// What stood in square brackets.
    pub offset: Option<i32>,
}

/// An argument and the column where it stands.
#[derive(Clone, Debug)]
pub(super) struct Argument<'a> {
    pub column: u64,
    pub value: Value<'a>,
}

/// What an argument can be.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Range(i32, i32),
    Quoted(&'a str),
    Call(Call<'a>),
}

/// The names of all functions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// Whether templates can name a column by `name` alone.
pub(super) fn is_plain_column(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !KEY_WORDS.contains(&name)
        && names().all(|function| function != name)
}

/// Understands a call.
///
/// # Errors
///
/// [`crate::Error::Input`] at what cannot be understood, or at a file that cannot be read.
pub(super) fn term(call: Call<'_>, spot: Spot<'_>, resources: &mut Resources<'_>) -> Result<Term> {
    let (name, column) = (call.name, call.column);
    if KEY_WORDS.contains(&name) {
        let message = format!("expected a function or a column, found the key word '{name}'");
        return Err(spot.fault(column, message));
    }
    if call.arguments.is_some() && names().all(|function| function != name) {
        let near = did_you_mean(name, names());
        return Err(spot.fault(column, format!("there is no function '{name}'{near}")));
    }
    let mut arguments = Arguments {
        name,
        column,
        rest: call.arguments.unwrap_or_default(),
        offset: call.offset,
        spot,
    };
    let function = function(&mut arguments, resources)?;
    arguments.finish()?;
    if !function.takes_offset() && arguments.offset.is_some() {
        let message = format!("'{name}' takes no position; leave out the square brackets");
        return Err(spot.fault(column, message));
    }
    Ok(Term {
        function,
        position: Position::Relative(arguments.offset.unwrap_or(0)),
        column,
    })
}

fn function(arguments: &mut Arguments<'_>, resources: &mut Resources<'_>) -> Result<Function> {
    Ok(match arguments.name {
        "bias" => Function::Bias,
        "start" => Function::Start,
        "end" => Function::End,
        "column" => Function::Form(Form::Same, arguments.column_text()?),
        "lower" => Function::Form(Form::Same, arguments.lower_text()?),
        "shape" => Function::Form(Form::Shape(arguments.shape()?), arguments.text()?),
        "length" => Function::Form(Form::Length, arguments.text()?),
        "capitalization" => Function::Form(Form::Capitalization, arguments.text()?),
        "class" => Function::Form(Form::Class, arguments.text()?),
        "prefix" => arguments.parts(Part::Prefix)?,
        "suffix" => arguments.parts(Part::Suffix)?,
        "affixes" => arguments.parts(Part::Affixes)?,
        "ngrams" => arguments.parts(Part::Ngrams)?,
        "regex" => Function::Regex(arguments.expression()?, arguments.text()?),
        "bag" => Function::Bag(arguments.window()?, arguments.text()?),
        "title" => Function::Title(arguments.text()?),
        "occurrence" => Function::Occurrence(arguments.text()?),
        "lexicon" => {
            let (file, column) = arguments.file()?;
            let text = arguments.text()?;
            let lexicon = resources.lexicon(&file, text.lower, arguments.spot, column)?;
            Function::Lexicon(file, lexicon, text)
        }
        "cluster" => {
            let (file, column) = arguments.file()?;
            let lengths = arguments.lengths()?;
            let text = arguments.text()?;
            let clusters = resources.clusters(&file, text.lower, arguments.spot, column)?;
            Function::Cluster(file, clusters, lengths, text)
        }
        "value" => arguments.number()?,
        name => Function::Form(
            Form::Same,
            Text {
                column: column_named(name),
                lower: false,
            },
        ),
    })
}

fn column_named(name: &str) -> Column {
    if name == "word" {
        Column::Word
    } else {
        Column::Name(name.to_owned())
    }
}

/// The arguments of a call, taken one kind after the other.
struct Arguments<'a> {
    name: &'a str,
    column: u64,
    rest: Vec<Argument<'a>>,
    offset: Option<i32>,
    spot: Spot<'a>,
}

impl<'a> Arguments<'a> {
    fn fault<T>(&self, column: u64, message: impl Into<String>) -> Result<T> {
        Err(self.spot.fault(column, message))
    }

    fn example(&self) -> &'static str {
        let found = FUNCTIONS.iter().find(|(name, _)| *name == self.name);
        found.map_or("word", |(_, example)| example)
    }

    /// Takes the first argument that `pick` accepts, with its column.
    fn take<T>(&mut self, pick: impl Fn(&Value<'a>) -> Option<T>) -> Option<(T, u64)> {
        for i in 0..self.rest.len() {
            if let Some(found) = pick(&self.rest[i].value) {
                return Some((found, self.rest.remove(i).column));
            }
        }
        None
    }

    fn need<T>(&mut self, what: &str, pick: impl Fn(&Value<'a>) -> Option<T>) -> Result<(T, u64)> {
        match self.take(pick) {
            Some(found) => Ok(found),
            None => {
                let message = format!("'{}' needs {what}, as in {}", self.name, self.example());
                self.fault(self.column, message)
            }
        }
    }

    fn quoted(&mut self, what: &str) -> Result<(&'a str, u64)> {
        self.need(what, |value| match value {
            Value::Quoted(text) => Some(*text),
            _ => None,
        })
    }

    /// Nothing may be left over.
    fn finish(&self) -> Result<()> {
        let Some(argument) = self.rest.first() else {
            return Ok(());
        };
        let found = match &argument.value {
            Value::Range(first, last) if first == last => first.to_string(),
            Value::Range(first, last) => format!("{first}..{last}"),
            Value::Quoted(text) => format!("\"{text}\""),
            Value::Call(call) => call.name.to_owned(),
        };
        let message = format!(
            "'{}' does not take the argument {found}; expected {}",
            self.name,
            self.example()
        );
        self.fault(argument.column, message)
    }

    /// The text to read: a column, `lower` or `lower(column)`; by default the word.
    fn text(&mut self) -> Result<Text> {
        let call = self.take(|value| match value {
            Value::Call(call) => Some(call.clone()),
            _ => None,
        });
        match call {
            None => Ok(Text {
                column: Column::Word,
                lower: false,
            }),
            Some((call, _)) => self.text_of(call),
        }
    }

    fn text_of(&mut self, call: Call<'a>) -> Result<Text> {
        if let Some(offset) = call.offset {
            if self.offset.is_some() {
                return self.fault(
                    call.column,
                    "a position stands inside and outside the brackets; expected one of them",
                );
            }
            self.offset = Some(offset);
        }
        let mut inner = Arguments {
            name: call.name,
            column: call.column,
            rest: call.arguments.unwrap_or_default(),
            offset: None,
            spot: self.spot,
        };
        let text = match call.name {
            "column" => inner.column_text()?,
            "lower" => inner.lower_text()?,
            name if is_plain_column(name) => Text {
                column: column_named(name),
                lower: false,
            },
            name => {
                let message = format!(
                    "'{}' reads a column, lower or lower(column), not '{name}'",
                    self.name
                );
                return self.fault(call.column, message);
            }
        };
        inner.finish()?;
        self.offset = self.offset.or(inner.offset);
        Ok(text)
    }

    /// The arguments of `lower`.
    fn lower_text(&mut self) -> Result<Text> {
        let text = self.text()?;
        if text.lower {
            return self.fault(self.column, "'lower' reads a column, not 'lower'");
        }
        Ok(Text {
            lower: true,
            ..text
        })
    }

    /// The arguments of `column`.
    fn column_text(&mut self) -> Result<Text> {
        let what = "a number from 0 or a name in quotes";
        let (column, at) = self.need(what, |value| match value {
            Value::Range(first, last) if first == last && *first >= 0 => {
                Some(Ok(Column::Number(*first as usize)))
            }
            Value::Quoted(text) => Some(unescape(text).map(|name| column_named(&name))),
            _ => None,
        })?;
        let column = column.map_err(|message| self.spot.fault(at, message))?;
        if column == Column::Name(String::new()) {
            return self.fault(at, "a column's name cannot be empty");
        }
        Ok(Text {
            column,
            lower: false,
        })
    }

    /// `value` reads a column or the length of a text.
    fn number(&mut self) -> Result<Function> {
        let (call, column) = self.need("a column", |value| match value {
            Value::Call(call) => Some(call.clone()),
            _ => None,
        })?;
        if call.name != "length" {
            let text = self.text_of(call)?;
            if text.lower {
                return self.fault(column, "'value' reads a column or length, not 'lower'");
            }
            return Ok(Function::Value(text, false));
        }
        let mut inner = Arguments {
            name: call.name,
            column: call.column,
            rest: call.arguments.unwrap_or_default(),
            offset: call.offset,
            spot: self.spot,
        };
        let text = inner.text()?;
        inner.finish()?;
        if self.offset.is_some() && inner.offset.is_some() {
            return self.fault(
                column,
                "a position stands inside and outside the brackets; expected one of them",
            );
        }
        self.offset = self.offset.or(inner.offset);
        Ok(Function::Value(text, true))
    }

    fn shape(&mut self) -> Result<Shape> {
        let kind = self.take(|value| match value {
            Value::Call(call) if call.arguments.is_none() && call.offset.is_none() => SHAPES
                .iter()
                .find(|(name, _)| *name == call.name)
                .map(|(_, shape)| *shape),
            _ => None,
        });
        Ok(kind.map_or(Shape::Long, |(shape, _)| shape))
    }

    fn range(&mut self, what: &str) -> Result<(RangeInclusive<i32>, u64)> {
        let ((first, last), column) = self.need(what, |value| match value {
            Value::Range(first, last) => Some((*first, *last)),
            _ => None,
        })?;
        if first > last {
            let message = format!("the range {first}..{last} is empty; expected {last}..{first}");
            return self.fault(column, message);
        }
        Ok((first..=last, column))
    }

    fn parts(&mut self, part: Part) -> Result<Function> {
        let (range, column) = self.range("a length or a range of lengths")?;
        self.check_length(*range.start(), column)?;
        self.check_length(*range.end(), column)?;
        Ok(Function::Parts(part, range, self.text()?))
    }

    fn check_length(&self, length: i32, column: u64) -> Result<()> {
        if (1..=MAX_LENGTH).contains(&length) {
            return Ok(());
        }
        let message = format!("the length {length} is not allowed; expected 1 to {MAX_LENGTH}");
        self.fault(column, message)
    }

    fn window(&mut self) -> Result<RangeInclusive<i32>> {
        let (range, column) = self.range("a range of positions")?;
        for offset in [*range.start(), *range.end()] {
            check_offset(offset, self.spot, column)?;
        }
        Ok(range)
    }

    fn lengths(&mut self) -> Result<Vec<i32>> {
        let mut lengths = Vec::new();
        while let Some((length, column)) = self.take(|value| match value {
            Value::Range(first, last) if first == last => Some(*first),
            _ => None,
        }) {
            self.check_length(length, column)?;
            if lengths.contains(&length) {
                return self.fault(column, format!("the length {length} is given twice"));
            }
            lengths.push(length);
        }
        Ok(lengths)
    }

    fn file(&mut self) -> Result<(String, u64)> {
        let (raw, column) = self.quoted("a file name in quotes")?;
        let name = unescape(raw).map_err(|message| self.spot.fault(column, message))?;
        Ok((name, column))
    }

    fn expression(&mut self) -> Result<Expression> {
        let (source, column) = self.quoted("a regular expression in quotes")?;
        expression(source).map_err(|message| self.spot.fault(column, message))
    }
}

/// Checks that a term does not look too far.
pub(super) fn check_offset(offset: i32, spot: Spot<'_>, column: u64) -> Result<()> {
    if offset.unsigned_abs() <= MAX_OFFSET.unsigned_abs() {
        return Ok(());
    }
    let message =
        format!("the position {offset} is too far; expected -{MAX_OFFSET} to {MAX_OFFSET}");
    Err(spot.fault(column, message))
}

/// Compiles a regular expression as written between quotes.
pub(super) fn expression(source: &str) -> Result<Expression, String> {
    Ok(Expression {
        regex: compile(source, source)?,
        source: source.to_owned(),
    })
}

/// Compiles `translated`; a fault quotes `source`, as the user wrote it.
pub(super) fn compile(translated: &str, source: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(translated)
        .size_limit(MAX_EXPRESSION)
        .build();
    built.map_err(|error| {
        let message = error.to_string();
        let reason = message.lines().last().unwrap_or("").trim();
        let reason = reason.strip_prefix("error: ").unwrap_or(reason);
        format!("the regular expression \"{source}\" is faulty: {reason}")
    })
}

/// A string without its escapes, `\"` and `\\`.
pub(super) fn unescape(raw: &str) -> Result<String, String> {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match characters.next() {
            Some(c @ ('"' | '\\')) => text.push(c),
            other => {
                let escape: String = other.into_iter().collect();
                return Err(format!(
                    "unknown escape '\\{escape}' in {}; expected \\\" or \\\\",
                    quoted(raw)
                ));
            }
        }
    }
    Ok(text)
}
