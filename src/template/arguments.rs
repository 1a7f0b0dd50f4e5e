//! The arguments of a function call. They are consumed by type, so their order does not matter.

use std::ops::RangeInclusive;

use super::input::{ColumnRef, TextInput};
use super::lexer::LineLocation;
use super::mention::{MENTION_KINDS, MentionKind};
use super::resources::FileReference;
use super::run::RUN_KINDS;
use super::shape::{SHAPES, Shape};
use super::source_regex::{Expressions, SourceRegex};
use super::syntax::{function_example, is_bare_column_name, unescape};
use super::template_function::{OPEN_LENGTH, SubstringKind, TemplateFunction};
use crate::error::Result;

/// Maximum length of a prefix, suffix, n-gram or cluster path prefix, in characters.
const MAX_LENGTH: i32 = 32;

/// Largest factor that numbers can be scaled by.
const MAX_SCALE: f64 = 1e6;

/// Largest distance between the current token and the position of a term.
const MAX_OFFSET: i32 = 100;

/// A parsed function call or column, before its arguments are interpreted.
#[derive(Clone, Debug)]
pub(super) struct FunctionCall<'a> {
    pub name: &'a str,
    pub column: u64,
    /// The contents of the parentheses, if there are any.
    pub arguments: Option<Vec<Argument<'a>>>,
    /// The offset in square brackets.
    pub offset: Option<i32>,
}

/// An argument and its column in the line.
#[derive(Clone, Debug)]
pub(super) struct Argument<'a> {
    pub column: u64,
    pub value: ArgumentValue<'a>,
}

/// The value of an argument.
#[derive(Clone, Debug)]
pub(super) enum ArgumentValue<'a> {
    /// A range of integers; of one integer if both ends are equal.
    Range(i32, i32),
    /// A range of integers without an end.
    OpenRange(i32),
    /// A number with a fractional part, as written.
    Decimal(&'a str),
    Quoted(&'a str),
    Call(FunctionCall<'a>),
}

impl<'a> ArgumentValue<'a> {
    /// Returns the call, if it is one.
    fn call(&self) -> Option<FunctionCall<'a>> {
        match self {
            Self::Call(call) => Some(call.clone()),
            _ => None,
        }
    }

    /// Returns the name, if it is one without parentheses and position.
    fn bare_name(&self) -> Option<&'a str> {
        let call = self.call()?;
        (call.arguments.is_none() && call.offset.is_none()).then_some(call.name)
    }

    /// Returns the integer, if it is one.
    fn integer(&self) -> Option<i32> {
        match self {
            Self::Range(first, last) if first == last => Some(*first),
            _ => None,
        }
    }

    /// Returns the raw text of a string in quotes.
    fn quoted(&self) -> Option<&'a str> {
        match self {
            Self::Quoted(text) => Some(text),
            _ => None,
        }
    }
}

/// Returns what a name stands for in a table.
fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    let found = table.iter().find(|(other, _)| *other == name);
    found.map(|(_, value)| *value)
}

/// The arguments of a call that have not been consumed yet.
pub(super) struct Arguments<'a> {
    pub name: &'a str,
    column: u64,
    rest: Vec<Argument<'a>>,
    /// The offset of the call or of its text argument.
    pub offset: Option<i32>,
    pub location: LineLocation<'a>,
}

impl<'a> Arguments<'a> {
    /// Returns all arguments of `call`.
    pub(super) fn new(call: FunctionCall<'a>, location: LineLocation<'a>) -> Self {
        Self {
            name: call.name,
            column: call.column,
            rest: call.arguments.unwrap_or_default(),
            offset: call.offset,
            location,
        }
    }

    fn error<T>(&self, column: u64, message: impl Into<String>) -> Result<T> {
        Err(self.location.error(column, message))
    }

    fn example(&self) -> &'static str {
        function_example(self.name)
    }

    /// Consumes the first argument that `pick` accepts. Returns it with its column.
    fn take<T>(&mut self, pick: impl Fn(&ArgumentValue<'a>) -> Option<T>) -> Option<(T, u64)> {
        for i in 0..self.rest.len() {
            if let Some(found) = pick(&self.rest[i].value) {
                return Some((found, self.rest.remove(i).column));
            }
        }
        None
    }

    /// Like [`Arguments::take`], for a required argument.
    fn require<T>(
        &mut self,
        what: &str,
        pick: impl Fn(&ArgumentValue<'a>) -> Option<T>,
    ) -> Result<(T, u64)> {
        match self.take(pick) {
            Some(found) => Ok(found),
            None => {
                let message = format!("'{}' needs {what}, as in {}", self.name, self.example());
                self.error(self.column, message)
            }
        }
    }

    fn quoted(&mut self, what: &str) -> Result<(&'a str, u64)> {
        self.require(what, ArgumentValue::quoted)
    }

    /// Checks that all arguments have been consumed.
    pub(super) fn finish(&self) -> Result<()> {
        let Some(argument) = self.rest.first() else {
            return Ok(());
        };
        let found = match &argument.value {
            ArgumentValue::Range(first, last) if first == last => first.to_string(),
            ArgumentValue::Range(first, last) => format!("{first}..{last}"),
            ArgumentValue::OpenRange(first) => format!("{first}.."),
            ArgumentValue::Decimal(text) => (*text).to_owned(),
            ArgumentValue::Quoted(text) => format!("\"{text}\""),
            ArgumentValue::Call(call) => call.name.to_owned(),
        };
        let message = format!(
            "'{}' does not take the argument {found}; expected {}",
            self.name,
            self.example()
        );
        self.error(argument.column, message)
    }

    /// Consumes the input: a column, `lower` or `lower(column)`. The default is the word.
    pub(super) fn input(&mut self) -> Result<TextInput> {
        match self.take(ArgumentValue::call) {
            None => Ok(TextInput::verbatim(ColumnRef::Word)),
            Some((call, _)) => self.input_from_call(call),
        }
    }

    fn input_from_call(&mut self, call: FunctionCall<'a>) -> Result<TextInput> {
        let (name, column) = (call.name, call.column);
        let mut inner = Arguments::new(call, self.location);
        let input = match name {
            "column" => inner.column_input()?,
            "lower" => inner.lower_input()?,
            name if is_bare_column_name(name) => TextInput::verbatim(ColumnRef::from_name(name)),
            name => {
                let message = format!(
                    "'{}' reads a column, lower or lower(column), not '{name}'",
                    self.name
                );
                return self.error(column, message);
            }
        };
        self.finish_inner(&inner)?;
        Ok(input)
    }

    /// Finishes the arguments of a nested call; its offset becomes that of the whole call.
    fn finish_inner(&mut self, inner: &Arguments<'a>) -> Result<()> {
        inner.finish()?;
        if self.offset.is_some() && inner.offset.is_some() {
            return self.error(
                inner.column,
                "found a position both inside and outside the parentheses; expected only one",
            );
        }
        self.offset = self.offset.or(inner.offset);
        Ok(())
    }

    /// Consumes the arguments of `lower`.
    pub(super) fn lower_input(&mut self) -> Result<TextInput> {
        let input = self.input()?;
        if input.lower {
            return self.error(self.column, "'lower' reads a column, not 'lower'");
        }
        Ok(TextInput {
            lower: true,
            ..input
        })
    }

    /// Consumes the arguments of `column`.
    pub(super) fn column_input(&mut self) -> Result<TextInput> {
        let what = "a number from 0 or a name in quotes";
        let (column, at) = self.require(what, |value| {
            let number = value.integer().filter(|number| *number >= 0);
            let number = number.map(|number| Ok(ColumnRef::Number(number as usize)));
            let name = |text| unescape(text).map(|name| ColumnRef::from_name(&name));
            number.or_else(|| value.quoted().map(name))
        })?;
        let column = column.map_err(|message| self.location.error(at, message))?;
        if column == ColumnRef::Name(String::new()) {
            return self.error(at, "a column's name cannot be empty");
        }
        Ok(TextInput::verbatim(column))
    }

    /// Consumes the argument of `value`: a column or the length of a text.
    pub(super) fn numeric_value(&mut self) -> Result<TemplateFunction> {
        let (call, column) = self.require("a column", ArgumentValue::call)?;
        if call.name != "length" {
            let input = self.input_from_call(call)?;
            if input.lower {
                return self.error(column, "'value' reads a column or length, not 'lower'");
            }
            return Ok(TemplateFunction::Value(input));
        }
        let mut inner = Arguments::new(call, self.location);
        let input = inner.input()?;
        self.finish_inner(&inner)?;
        Ok(TemplateFunction::LengthValue(input))
    }

    /// Consumes one of some names without parentheses.
    fn one_of<T: Copy>(&mut self, names: &[(&str, T)]) -> Result<T> {
        let listed: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let what = format!("one of {}", listed.join(", "));
        let found = self.require(&what, |value| find(names, value.bare_name()?))?;
        Ok(found.0)
    }

    /// Consumes the arguments of `mention`.
    pub(super) fn mention(&mut self) -> Result<TemplateFunction> {
        let kind = self.one_of(&MENTION_KINDS)?;
        let input = self.input()?;
        if kind == MentionKind::Forms && input.lower {
            return self.error(
                self.column,
                "'mention(forms)' compares words in lower case by itself; expected a column",
            );
        }
        Ok(TemplateFunction::Mention(kind, input))
    }

    /// Consumes the arguments of `run`.
    pub(super) fn run(&mut self) -> Result<TemplateFunction> {
        let kind = self.one_of(&RUN_KINDS)?;
        let input = self.input()?;
        if input.lower {
            return self.error(
                self.column,
                "'run' reads a column, not 'lower', for its capitals",
            );
        }
        Ok(TemplateFunction::Run(kind, input))
    }

    /// Consumes a call.
    pub(super) fn call(&mut self, what: &str) -> Result<FunctionCall<'a>> {
        Ok(self.require(what, ArgumentValue::call)?.0)
    }

    /// Consumes a named number such as `nearest(3)`, from 1 to `largest`.
    pub(super) fn count(&mut self, name: &str, largest: u32) -> Result<Option<u32>> {
        let Some((value, column)) = self.named(name)? else {
            return Ok(None);
        };
        let number = value
            .integer()
            .and_then(|number| u32::try_from(number).ok());
        match number.filter(|number| (1..=largest).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => self.error(
                column,
                format!("'{name}' takes a number from 1 to {largest}"),
            ),
        }
    }

    /// Consumes `same(lower)`, the text that occurrences have in common; by default it is the word.
    pub(super) fn same(&mut self) -> Result<TextInput> {
        match self.named("same")? {
            None => Ok(TextInput::verbatim(ColumnRef::Word)),
            Some((ArgumentValue::Call(call), column)) => {
                if call.offset.is_some() {
                    return self.error(column, "'same' takes no position; remove the brackets");
                }
                self.input_from_call(call)
            }
            Some((_, column)) => self.error(column, "'same' takes a column or lower"),
        }
    }

    /// Consumes `training`, which stands where a file name could. Returns whether it is there.
    pub(super) fn training(&mut self) -> bool {
        let has_file = self.rest.iter().any(|a| a.value.quoted().is_some());
        let training = |value: &ArgumentValue<'a>| (value.bare_name()? == "training").then_some(());
        !has_file && self.take(training).is_some()
    }

    /// Consumes `known(reading)`. Returns its column if it is there.
    pub(super) fn known_reading(&mut self) -> Result<Option<u64>> {
        let known = |call: &FunctionCall<'_>| call.name == "known" && call.arguments.is_some();
        let Some((call, column)) = self.take(|value| value.call().filter(known)) else {
            return Ok(None);
        };
        match call.arguments.as_deref() {
            Some([argument])
                if argument.value.bare_name() == Some("reading") && call.offset.is_none() =>
            {
                Ok(Some(column))
            }
            _ => self.error(
                column,
                "'known' takes one argument, as in known(reading): known are the words read so far",
            ),
        }
    }

    /// Consumes the name of a shape, [`Shape::Long`] by default.
    pub(super) fn shape(&mut self) -> Result<Shape> {
        let shape = self.take(|value| find(&SHAPES, value.bare_name()?));
        Ok(shape.map_or(Shape::Long, |(shape, _)| shape))
    }

    fn range(&mut self, what: &str) -> Result<(RangeInclusive<i32>, u64)> {
        let ((first, last), column) = self.require(what, |value| match value {
            ArgumentValue::Range(first, last) => Some((*first, *last)),
            _ => None,
        })?;
        if first > last {
            let message = format!("the range {first}..{last} is empty; expected {last}..{first}");
            return self.error(column, message);
        }
        Ok((first..=last, column))
    }

    /// Consumes the lengths and the input of a substring function.
    pub(super) fn substrings(&mut self, kind: SubstringKind) -> Result<TemplateFunction> {
        if kind != SubstringKind::Ngrams
            && let Some((first, column)) = self.take(|value| match value {
                ArgumentValue::OpenRange(first) => Some(*first),
                _ => None,
            })
        {
            self.check_length(first, column)?;
            let range = first..=OPEN_LENGTH;
            return Ok(TemplateFunction::Substrings(kind, range, self.input()?));
        }
        let (range, column) = self.range("a length or a range of lengths")?;
        self.check_length(*range.start(), column)?;
        self.check_length(*range.end(), column)?;
        Ok(TemplateFunction::Substrings(kind, range, self.input()?))
    }

    fn check_length(&self, length: i32, column: u64) -> Result<()> {
        if (1..=MAX_LENGTH).contains(&length) {
            return Ok(());
        }
        let message = format!("the length {length} is not allowed; expected 1 to {MAX_LENGTH}");
        self.error(column, message)
    }

    /// Consumes the window of a bag.
    pub(super) fn window(&mut self) -> Result<RangeInclusive<i32>> {
        let (range, column) = self.range("a range of positions")?;
        for offset in [*range.start(), *range.end()] {
            check_offset(offset, self.location, column)?;
        }
        Ok(range)
    }

    /// Consumes any number of distinct lengths.
    pub(super) fn lengths(&mut self) -> Result<Vec<i32>> {
        let mut lengths = Vec::new();
        while let Some((length, column)) = self.take(ArgumentValue::integer) {
            self.check_length(length, column)?;
            if lengths.contains(&length) {
                return self.error(column, format!("the length {length} occurs twice"));
            }
            lengths.push(length);
        }
        Ok(lengths)
    }

    /// Consumes a named argument such as `first(1000)`. Returns its value and column.
    fn named(&mut self, name: &str) -> Result<Option<(ArgumentValue<'a>, u64)>> {
        let is_named = |call: &FunctionCall<'_>| call.name == name && call.offset.is_none();
        let named = self.take(|value| value.call().filter(is_named)?.arguments);
        match named {
            None => Ok(None),
            Some((arguments, column)) => match &arguments[..] {
                [argument] => Ok(Some((argument.value.clone(), argument.column))),
                _ => {
                    let what = if name == "same" { "text" } else { "number" };
                    self.error(column, format!("'{name}' takes one {what}"))
                }
            },
        }
    }

    /// Consumes `first(N)`, the number of vectors to read.
    pub(super) fn first(&mut self) -> Result<Option<usize>> {
        let Some((value, column)) = self.named("first")? else {
            return Ok(None);
        };
        match value.integer().filter(|number| *number > 0) {
            Some(number) => Ok(Some(number as usize)),
            None => self.error(column, "'first' takes a positive integer"),
        }
    }

    /// Consumes `scale(X)`, a factor.
    pub(super) fn scale(&mut self) -> Result<Option<f64>> {
        let Some((value, column)) = self.named("scale")? else {
            return Ok(None);
        };
        let factor = match value {
            ArgumentValue::Decimal(text) => text.parse().ok(),
            value => value.integer().map(f64::from),
        };
        match factor.filter(|factor| (1e-6..=MAX_SCALE).contains(factor)) {
            Some(factor) => Ok(Some(factor)),
            None => self.error(column, "'scale' takes a number from 0.000001 to 1000000"),
        }
    }

    /// Consumes a file name. Returns it with its place.
    pub(super) fn file(&mut self) -> Result<FileReference<'a>> {
        let (raw, column) = self.quoted("a file name in quotes")?;
        let name = unescape(raw).map_err(|message| self.location.error(column, message))?;
        Ok(FileReference {
            name,
            location: self.location,
            column,
        })
    }

    /// Consumes a regular expression.
    pub(super) fn expression(&mut self, expressions: &mut Expressions) -> Result<SourceRegex> {
        let (source, column) = self.quoted("a regular expression in quotes")?;
        let compiled = expressions.compile(source);
        compiled.map_err(|message| self.location.error(column, message))
    }
}

/// Checks that the position of a term is in range.
pub(super) fn check_offset(offset: i32, location: LineLocation<'_>, column: u64) -> Result<()> {
    if offset.unsigned_abs() <= MAX_OFFSET.unsigned_abs() {
        return Ok(());
    }
    let message =
        format!("the position {offset} is out of range; expected -{MAX_OFFSET} to {MAX_OFFSET}");
    Err(location.error(column, message))
}
