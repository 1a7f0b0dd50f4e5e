//! Function calls, as parsed, and the functions that they mean. Arguments are consumed by type, so
//! their order does not matter; a function's canonical text lists them in the order of consumption.

use std::fmt;
use std::sync::Arc;

use super::ast::{ColumnRef, Operation, Position, TemplateFunction, Term, TextInput};
use super::document::{MENTION_KINDS, MentionKind, RUN_KINDS};
use super::resources::{FileReference, Resource, Resources, Selection};
use super::shape::{SHAPES, Shape, capitalization, is_title, push_character_classes};
use super::syntax::{
    KEYWORDS, Location, function_example, function_names, is_bare_column_name, is_function,
    unescape,
};
use super::text::did_you_mean;
use super::text_function::{OPEN_LENGTH, SubstringKind, TextFunction};
use crate::error::Result;

/// Maximum length of a prefix, suffix, n-gram or cluster path prefix, in characters.
const MAX_LENGTH: i32 = 32;

/// Largest distance between the current token and the position of a term.
const MAX_OFFSET: i32 = 100;

/// A parsed function call or column, before its arguments are interpreted.
#[derive(Clone, Debug)]
pub(super) struct FunctionCall<'a> {
    pub name: &'a str,
    pub at: Location<'a>,
    /// The contents of the parentheses, if there are any.
    pub arguments: Option<Vec<Argument<'a>>>,
    /// The offset in square brackets.
    pub offset: Option<i32>,
}

/// An argument and its location.
#[derive(Clone, Debug)]
pub(super) struct Argument<'a> {
    pub at: Location<'a>,
    pub value: ArgumentValue<'a>,
}

/// The value of an argument.
#[derive(Clone, Debug)]
pub(super) enum ArgumentValue<'a> {
    /// A range of integers: of one integer if both ends are equal, open if it has no end.
    Range(i32, Option<i32>),
    /// A number with a fractional part.
    Decimal(f64),
    /// The raw text of a string in quotes.
    Quoted(&'a str),
    Call(FunctionCall<'a>),
}

impl<'a> ArgumentValue<'a> {
    fn call(&self) -> Option<FunctionCall<'a>> {
        match self {
            Self::Call(call) => Some(call.clone()),
            _ => None,
        }
    }

    fn integer(&self) -> Option<i32> {
        match self {
            Self::Range(first, last) => last.filter(|last| last == first),
            _ => None,
        }
    }

    fn quoted(&self) -> Option<&'a str> {
        match self {
            Self::Quoted(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the argument, if it is a name of `table`, and what it stands for.
    fn one_of<T: Copy>(&self, table: &[(&str, T)]) -> Option<(&'a str, T)> {
        let call = self.call()?;
        let is_bare = call.arguments.is_none() && call.offset.is_none();
        let found = table.iter().find(|(name, _)| is_bare && *name == call.name);
        found.map(|(_, found)| (call.name, *found))
    }
}

/// Writes the value in the template language, of a call the name alone.
impl fmt::Display for ArgumentValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(first, None) => write!(f, "{first}.."),
            Self::Range(first, Some(last)) if first == last => write!(f, "{first}"),
            Self::Range(first, Some(last)) => write!(f, "{first}..{last}"),
            Self::Decimal(number) => write!(f, "{number}"),
            Self::Quoted(text) => write!(f, "\"{text}\""),
            Self::Call(call) => f.write_str(call.name),
        }
    }
}

/// Checks that the position of a term is in range.
pub(super) fn check_offset(offset: i32, at: Location<'_>) -> Result<()> {
    at.ensure((-MAX_OFFSET..=MAX_OFFSET).contains(&offset), || {
        let range = format!("-{MAX_OFFSET} to {MAX_OFFSET}");
        format!("the position {offset} is out of range; expected {range}")
    })
}

/// Converts a call to a term.
///
/// # Errors
///
/// [`crate::Error::Input`] at an unknown function, at an invalid argument and at a file that
/// cannot be read.
pub(super) fn term_from_call(
    call: FunctionCall<'_>,
    resources: &mut Resources<'_>,
) -> Result<Term> {
    let (name, at) = (call.name, call.at);
    let (function, offset) = function_from_call(call, resources)?;
    at.ensure(function.takes_offset() || offset.is_none(), || {
        format!("'{name}' takes no position; remove the square brackets")
    })?;
    Ok(Term { function, position: Position::Relative(offset.unwrap_or(0)), column: at.column })
}

/// Returns the function that a call means, and the offset of the call or of its text argument.
fn function_from_call(
    call: FunctionCall<'_>,
    resources: &mut Resources<'_>,
) -> Result<(TemplateFunction, Option<i32>)> {
    let (name, at, is_called) = (call.name, call.at, call.arguments.is_some());
    at.ensure(!KEYWORDS.contains(&name), || {
        format!("expected a function or a column, found the keyword '{name}'")
    })?;
    at.ensure(!is_called || is_function(name), || {
        format!("there is no function '{name}'{}", did_you_mean(name, function_names()))
    })?;
    let mut arguments =
        Arguments { call, consumed: Vec::new(), input: None, is_input_consumed: false, resources };
    let function = match name {
        name if !is_called && is_bare_column_name(name) => {
            TemplateFunction::of_text(TextInput::verbatim(ColumnRef::from_name(name)))
        }
        "column" => TemplateFunction::of_text(TextInput::verbatim(arguments.column()?)),
        "lower" => {
            arguments.reads_a_column()?;
            TemplateFunction::of_text(TextInput { lower: true, ..arguments.input()? })
        }
        _ => arguments.function()?,
    };
    let call = arguments.call;
    if let Some(argument) = call.arguments.unwrap_or_default().first() {
        let (value, example) = (&argument.value, function_example(name));
        let message = format!("'{name}' does not take the argument {value}; expected {example}");
        return Err(argument.at.error(message));
    }
    Ok((function, call.offset))
}

/// The arguments of a call.
struct Arguments<'a, 'r, 'f> {
    /// The call, with the arguments that have not been consumed yet, and with its offset or that of
    /// its text argument.
    call: FunctionCall<'a>,
    /// The canonical text of the arguments that have been consumed.
    consumed: Vec<String>,
    /// The text that the function reads, once it is known.
    input: Option<TextInput>,
    /// Whether the canonical text has the input already.
    is_input_consumed: bool,
    resources: &'r mut Resources<'f>,
}

impl<'a> Arguments<'a, '_, '_> {
    /// Consumes the arguments and returns the function that the call means.
    fn function(&mut self) -> Result<TemplateFunction> {
        let operation = self.operation()?;
        let input = match operation {
            Operation::Bias | Operation::Start | Operation::End => None,
            _ => Some(self.input()?),
        };
        let shown = input.iter().filter(|input| **input != TextInput::WORD);
        self.consumed.extend(shown.filter(|_| !self.is_input_consumed).map(ToString::to_string));
        let text = match self.consumed.is_empty() {
            true => self.call.name.to_owned(),
            false => format!("{}({})", self.call.name, self.consumed.join(", ")),
        };
        Ok(TemplateFunction { operation, input, text })
    }

    /// Consumes the arguments of a function, and returns what it computes.
    fn operation(&mut self) -> Result<Operation> {
        let function = match self.call.name {
            "bias" => return Ok(Operation::Bias),
            "start" => return Ok(Operation::Start),
            "end" => return Ok(Operation::End),
            "length" => return Ok(Operation::Length),
            "occurrence" => return Ok(Operation::Occurrence),
            "bag" => return self.bag(),
            "value" => return self.value(),
            "others" => return self.others(),
            "lexicon" => {
                let file = self.file()?;
                return Ok(Operation::Lexicon(self.load(&file, None)?));
            }
            "mention" => {
                let kind = self.one_of(&MENTION_KINDS)?;
                if kind == MentionKind::Forms {
                    self.reads_a_column()?;
                }
                return Ok(Operation::Mention(kind));
            }
            "run" => {
                let kind = self.one_of(&RUN_KINDS)?;
                self.reads_a_column()?;
                return Ok(Operation::Run(kind));
            }
            "shape" => self.shape(),
            "capitalization" => TextFunction::derived(|text, out| *out += capitalization(text)),
            "class" => TextFunction::derived(push_character_classes),
            "title" => TextFunction::flag(is_title),
            "prefix" => self.substrings(SubstringKind::Prefix)?,
            "suffix" => self.substrings(SubstringKind::Suffix)?,
            "affixes" => self.substrings(SubstringKind::Affixes)?,
            "ngrams" => self.substrings(SubstringKind::Ngrams)?,
            "regex" => {
                let (source, at) = self.quoted("a regular expression in quotes")?;
                let compiled = self.resources.expressions.compile(source, source);
                TextFunction::regex(compiled.map_err(|message| at.error(message))?)
            }
            "cluster" => {
                let (file, lengths) = (self.file()?, self.lengths()?);
                TextFunction::cluster(self.load(&file, None)?, lengths)
            }
            _ => self.vector()?,
        };
        Ok(Operation::OfText(function))
    }

    /// Consumes the first argument that `pick` accepts. Returns it with its location.
    fn take<T>(
        &mut self,
        pick: impl Fn(&ArgumentValue<'a>) -> Option<T>,
    ) -> Option<(T, Location<'a>)> {
        let arguments = self.call.arguments.as_mut()?;
        let mut found = arguments.iter().enumerate();
        let (i, value) = found.find_map(|(i, argument)| Some((i, pick(&argument.value)?)))?;
        Some((value, arguments.remove(i).at))
    }

    /// Like [`Arguments::take`], for a required argument.
    fn require<T>(
        &mut self,
        what: &str,
        pick: impl Fn(&ArgumentValue<'a>) -> Option<T>,
    ) -> Result<(T, Location<'a>)> {
        self.take(pick).ok_or_else(|| {
            let example = function_example(self.call.name);
            self.call.at.error(format!("'{}' needs {what}, as in {example}", self.call.name))
        })
    }

    /// Consumes a string in quotes. Returns its raw text.
    fn quoted(&mut self, what: &str) -> Result<(&'a str, Location<'a>)> {
        let (raw, at) = self.require(what, ArgumentValue::quoted)?;
        self.consumed.push(format!("\"{raw}\""));
        Ok((raw, at))
    }

    /// Consumes one of some names without parentheses.
    fn one_of<T: Copy>(&mut self, names: &[(&str, T)]) -> Result<T> {
        let listed: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let what = format!("one of {}", listed.join(", "));
        let ((name, found), _) = self.require(&what, |value| value.one_of(names))?;
        self.consumed.push(name.to_owned());
        Ok(found)
    }

    /// Consumes a named argument such as `first(1000)`, which `read` reads; it takes what is
    /// `expected`.
    fn named<T: fmt::Display>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl Fn(&ArgumentValue<'a>) -> Option<T>,
    ) -> Result<Option<T>> {
        let is_named = |call: &FunctionCall<'_>| call.name == name && call.offset.is_none();
        let named = self.take(|value| value.call().filter(is_named)?.arguments);
        let Some((arguments, at)) = named else { return Ok(None) };
        let found = match &arguments[..] {
            [argument] => read(&argument.value).ok_or(argument.at),
            _ => Err(at),
        };
        let found = found.map_err(|at| at.error(format!("'{name}' takes {expected}")))?;
        self.consumed.push(format!("{name}({found})"));
        Ok(Some(found))
    }

    /// Returns the function of a nested call, whose offset becomes that of the whole call.
    fn nested(&mut self, call: FunctionCall<'a>) -> Result<TemplateFunction> {
        let at = call.at;
        let (function, offset) = function_from_call(call, self.resources)?;
        at.ensure(self.call.offset.is_none() || offset.is_none(), || {
            "found a position both inside and outside the parentheses; expected only one".to_owned()
        })?;
        self.call.offset = self.call.offset.or(offset);
        Ok(function)
    }

    /// Returns the text that the function reads: a column, `lower` or `lower(column)`, by default
    /// the word. It is consumed after all other arguments that are calls or names.
    fn input(&mut self) -> Result<TextInput> {
        if let Some(input) = &self.input {
            return Ok(input.clone());
        }
        let input = match self.take(ArgumentValue::call) {
            None => TextInput::WORD,
            Some((call, at)) => {
                let name = call.name;
                let function = self.nested(call)?;
                let is_text = matches!(function.operation, Operation::Text);
                at.ensure(is_text, || {
                    let function = self.call.name;
                    format!("'{function}' reads a column, lower or lower(column), not '{name}'")
                })?;
                function.input.unwrap_or(TextInput::WORD)
            }
        };
        Ok(self.input.insert(input).clone())
    }

    /// Checks that the input is a column as it is.
    fn reads_a_column(&mut self) -> Result<()> {
        let (at, is_lower) = (self.call.at, self.input()?.lower);
        at.ensure(!is_lower, || format!("'{}' reads a column, not 'lower'", self.call.name))
    }

    /// Consumes the arguments of `column`.
    fn column(&mut self) -> Result<ColumnRef> {
        let what = "a number from 0 or a name in quotes";
        let (column, at) = self.require(what, |value| match value.quoted() {
            Some(text) => Some(unescape(text).map(|name| ColumnRef::from_name(&name))),
            None => value.integer()?.try_into().ok().map(|number| Ok(ColumnRef::Number(number))),
        })?;
        let column = column.map_err(|message| at.error(message))?;
        at.ensure(column != ColumnRef::Name(String::new()), || {
            "a column's name cannot be empty".to_owned()
        })?;
        Ok(column)
    }

    /// Consumes the argument of `value`: a column or the length of a text.
    fn value(&mut self) -> Result<Operation> {
        let (call, at) = self.require("a column", ArgumentValue::call)?;
        let function = self.nested(call)?;
        let operation = match (&function.operation, &function.input) {
            (Operation::Length, _) => Operation::OfText(TextFunction::length_value()),
            (Operation::Text, Some(input)) if !input.lower => Operation::Value,
            _ => {
                let text = function.text;
                return Err(at.error(format!("'value' reads a column or length, not '{text}'")));
            }
        };
        self.consumed.push(function.text);
        (self.input, self.is_input_consumed) = (function.input, true);
        Ok(operation)
    }

    /// Consumes the arguments of `others`.
    fn others(&mut self) -> Result<Operation> {
        let (call, at) = self.require("a function of a word", ArgumentValue::call)?;
        let name = call.name;
        let term = term_from_call(call, self.resources)?;
        at.ensure(term.function.can_be_gathered(), || {
            let example = "expected for example others(word[-1]) or others(shape[+1])";
            format!("'others' gathers texts that a word or its run has, not '{name}'; {example}")
        })?;
        self.consumed.push(term.to_string());
        self.input = Some(TextInput::WORD);
        Ok(Operation::Others(Box::new(term)))
    }

    /// Consumes the name of a shape, [`Shape::Long`] by default.
    fn shape(&mut self) -> TextFunction {
        let shape = self.take(|value| value.one_of(&SHAPES));
        let (name, shape) = shape.map_or(("long", Shape::Long), |(shape, _)| shape);
        if shape != Shape::Long {
            self.consumed.push(name.to_owned());
        }
        TextFunction::shape(shape)
    }

    /// Consumes a range, which may be open if that `can_be_open`.
    fn range(&mut self, what: &str, can_be_open: bool) -> Result<(i32, Option<i32>, Location<'a>)> {
        let ((first, last), at) = self.require(what, |value| match value {
            ArgumentValue::Range(first, last) => {
                (can_be_open || last.is_some()).then_some((*first, *last))
            }
            _ => None,
        })?;
        let end = last.unwrap_or(first);
        at.ensure(first <= end, || {
            format!("the range {first}..{end} is empty; expected {end}..{first}")
        })?;
        Ok((first, last, at))
    }

    /// Consumes the lengths of a substring function.
    fn substrings(&mut self, kind: SubstringKind) -> Result<TextFunction> {
        let what = "a length or a range of lengths";
        let (first, last, at) = self.range(what, kind != SubstringKind::Ngrams)?;
        self.consumed.push(ArgumentValue::Range(first, last).to_string());
        let last = last.map_or(Ok(OPEN_LENGTH), |last| length(last, at));
        Ok(TextFunction::substrings(kind, length(first, at)?..=last?))
    }

    /// Consumes any number of distinct lengths.
    fn lengths(&mut self) -> Result<Vec<usize>> {
        let mut lengths = Vec::new();
        while let Some((number, at)) = self.take(ArgumentValue::integer) {
            let length = length(number, at)?;
            at.ensure(!lengths.contains(&length), || format!("the length {length} occurs twice"))?;
            self.consumed.push(length.to_string());
            lengths.push(length);
        }
        Ok(lengths)
    }

    /// Consumes the arguments of `bag`.
    fn bag(&mut self) -> Result<Operation> {
        let (first, last, at) = self.range("a range of positions", false)?;
        let last = last.unwrap_or(first);
        check_offset(first, at)?;
        check_offset(last, at)?;
        let window = ArgumentValue::Range(first, Some(last));
        self.consumed = vec![self.input()?.to_string(), window.to_string()];
        self.is_input_consumed = true;
        Ok(Operation::Bag(first..=last))
    }

    /// Consumes the arguments of `vector`.
    fn vector(&mut self) -> Result<TextFunction> {
        let file = self.file()?;
        let first = self.named("first", "a positive integer", |value| {
            usize::try_from(value.integer()?).ok().filter(|number| *number > 0)
        })?;
        let scale = self.named("scale", "a number from 0.000001 to 1000000", |value| {
            let factor = match value {
                ArgumentValue::Decimal(factor) => Some(*factor),
                value => value.integer().map(f64::from),
            };
            factor.filter(|factor| (1e-6..=1e6).contains(factor))
        })?;
        Ok(TextFunction::vector(self.load(&file, first)?, scale.unwrap_or(1.0)))
    }

    /// Consumes a file name. Returns it with its place.
    fn file(&mut self) -> Result<FileReference<'a>> {
        let (raw, at) = self.quoted("a file name in quotes")?;
        let name = unescape(raw).map_err(|message| at.error(message))?;
        Ok(FileReference { name, at })
    }

    /// Loads a file with words, of which `first` are read, for the input.
    fn load<T: Resource>(
        &mut self,
        file: &FileReference<'a>,
        first: Option<usize>,
    ) -> Result<Arc<T>> {
        let selection = Selection { lower: self.input()?.lower, first };
        self.resources.load(file, selection)
    }
}

/// Returns a length that is in range.
fn length(length: i32, at: Location<'_>) -> Result<usize> {
    at.ensure((1..=MAX_LENGTH).contains(&length), || {
        format!("the length {length} is not allowed; expected 1 to {MAX_LENGTH}")
    })?;
    Ok(length as usize)
}
