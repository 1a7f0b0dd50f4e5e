//! The arguments of a function, taken one kind after the other, in any order.

use std::ops::RangeInclusive;

use super::functions::{
    FUNCTIONS, check_offset, column_named, expression, is_plain_column, unescape,
};
use super::lexer::Spot;
use super::shape::{SHAPES, Shape};
use super::syntax::{ColumnRef, Expression, Function, Part, Text};
use crate::error::Result;

/// Longest prefix, suffix, n-gram, and path of a cluster, in characters.
const MAX_LENGTH: i32 = 32;

/// Largest factor of numbers.
const MAX_SCALE: f64 = 1e6;

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
    /// A number with a fraction, as written.
    Decimal(&'a str),
    Quoted(&'a str),
    Call(Call<'a>),
}

/// The arguments of a call that are not taken yet.
pub(super) struct Arguments<'a> {
    pub name: &'a str,
    column: u64,
    rest: Vec<Argument<'a>>,
    /// The position that stood outside, or inside with the text.
    pub offset: Option<i32>,
    pub spot: Spot<'a>,
}

impl<'a> Arguments<'a> {
    /// All arguments of `call`.
    pub(super) fn of(call: Call<'a>, spot: Spot<'a>) -> Self {
        Self {
            name: call.name,
            column: call.column,
            rest: call.arguments.unwrap_or_default(),
            offset: call.offset,
            spot,
        }
    }

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
    pub(super) fn finish(&self) -> Result<()> {
        let Some(argument) = self.rest.first() else {
            return Ok(());
        };
        let found = match &argument.value {
            Value::Range(first, last) if first == last => first.to_string(),
            Value::Range(first, last) => format!("{first}..{last}"),
            Value::Decimal(text) => (*text).to_owned(),
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
    pub(super) fn text(&mut self) -> Result<Text> {
        let call = self.take(|value| match value {
            Value::Call(call) => Some(call.clone()),
            _ => None,
        });
        match call {
            None => Ok(Text::plain(ColumnRef::Word)),
            Some((call, _)) => self.text_of(call),
        }
    }

    fn text_of(&mut self, call: Call<'a>) -> Result<Text> {
        let (name, column) = (call.name, call.column);
        let mut inner = Arguments::of(call, self.spot);
        let text = match name {
            "column" => inner.column_text()?,
            "lower" => inner.lower_text()?,
            name if is_plain_column(name) => Text::plain(column_named(name)),
            name => {
                let message = format!(
                    "'{}' reads a column, lower or lower(column), not '{name}'",
                    self.name
                );
                return self.fault(column, message);
            }
        };
        self.close(&inner)?;
        Ok(text)
    }

    /// Ends the arguments of an argument; a position there is the position of the whole.
    fn close(&mut self, inner: &Arguments<'a>) -> Result<()> {
        inner.finish()?;
        if self.offset.is_some() && inner.offset.is_some() {
            return self.fault(
                inner.column,
                "a position stands inside and outside the brackets; expected one of them",
            );
        }
        self.offset = self.offset.or(inner.offset);
        Ok(())
    }

    /// The arguments of `lower`.
    pub(super) fn lower_text(&mut self) -> Result<Text> {
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
    pub(super) fn column_text(&mut self) -> Result<Text> {
        let what = "a number from 0 or a name in quotes";
        let (column, at) = self.need(what, |value| match value {
            Value::Range(first, last) if first == last && *first >= 0 => {
                Some(Ok(ColumnRef::Number(*first as usize)))
            }
            Value::Quoted(text) => Some(unescape(text).map(|name| column_named(&name))),
            _ => None,
        })?;
        let column = column.map_err(|message| self.spot.fault(at, message))?;
        if column == ColumnRef::Name(String::new()) {
            return self.fault(at, "a column's name cannot be empty");
        }
        Ok(Text::plain(column))
    }

    /// `value` reads a column or the length of a text.
    pub(super) fn number(&mut self) -> Result<Function> {
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
        let mut inner = Arguments::of(call, self.spot);
        let text = inner.text()?;
        self.close(&inner)?;
        Ok(Function::Value(text, true))
    }

    /// The kind of shape, if one is named.
    pub(super) fn shape(&mut self) -> Result<Shape> {
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

    /// Lengths, then the text.
    pub(super) fn parts(&mut self, part: Part) -> Result<Function> {
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

    /// The positions of a bag.
    pub(super) fn window(&mut self) -> Result<RangeInclusive<i32>> {
        let (range, column) = self.range("a range of positions")?;
        for offset in [*range.start(), *range.end()] {
            check_offset(offset, self.spot, column)?;
        }
        Ok(range)
    }

    /// Any number of lengths, none twice.
    pub(super) fn lengths(&mut self) -> Result<Vec<i32>> {
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

    /// What stands in an argument such as `first(1000)`, and where.
    fn setting(&mut self, name: &str) -> Result<Option<(Value<'a>, u64)>> {
        let setting = self.take(|value| match value {
            Value::Call(call) if call.name == name && call.offset.is_none() => {
                call.arguments.clone()
            }
            _ => None,
        });
        match setting {
            None => Ok(None),
            Some((arguments, column)) => match &arguments[..] {
                [argument] => Ok(Some((argument.value.clone(), argument.column))),
                _ => self.fault(column, format!("'{name}' takes one number")),
            },
        }
    }

    /// How many lines of a file to read.
    pub(super) fn first(&mut self) -> Result<Option<usize>> {
        match self.setting("first")? {
            None => Ok(None),
            Some((Value::Range(lines, last), _)) if lines == last && lines > 0 => {
                Ok(Some(lines as usize))
            }
            Some((_, column)) => self.fault(column, "'first' takes a whole number from 1"),
        }
    }

    /// What to multiply numbers by.
    pub(super) fn scale(&mut self) -> Result<Option<f64>> {
        let Some((value, column)) = self.setting("scale")? else {
            return Ok(None);
        };
        let factor = match value {
            Value::Range(first, last) if first == last => Some(f64::from(first)),
            Value::Decimal(text) => text.parse().ok(),
            _ => None,
        };
        match factor.filter(|factor| (1e-6..=MAX_SCALE).contains(factor)) {
            Some(factor) => Ok(Some(factor)),
            None => self.fault(column, "'scale' takes a number from 0.000001 to 1000000"),
        }
    }

    /// A file name and where it stands.
    pub(super) fn file(&mut self) -> Result<(String, u64)> {
        let (raw, column) = self.quoted("a file name in quotes")?;
        let name = unescape(raw).map_err(|message| self.spot.fault(column, message))?;
        Ok((name, column))
    }

    /// A regular expression.
    pub(super) fn expression(&mut self) -> Result<Expression> {
        let (source, column) = self.quoted("a regular expression in quotes")?;
        expression(source).map_err(|message| self.spot.fault(column, message))
    }
}
