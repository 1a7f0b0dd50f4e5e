//! Function calls, as parsed, and the functions that they mean. Arguments are consumed by type, so
//! their order does not matter.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::document::{MENTION_KINDS, MentionKind, RUN_KINDS};
use super::function::{
    ColumnRef, OPEN_LENGTH, Operation, OthersCall, Position, SubstringKind, TemplateFunction, Term,
    TextInput,
};
use super::resources::{FileReference, Resources, Selection};
use super::shape::{SHAPES, Shape};
use super::syntax::{
    LineLocation, function_example, function_names, is_bare_column_name, is_function, is_keyword,
    unescape,
};
use super::text::did_you_mean;
use crate::error::Result;
use crate::sentence::DocumentOptions;

/// Maximum length of a prefix, suffix, n-gram or cluster path prefix, in characters.
const MAX_LENGTH: i32 = 32;

/// Largest distance between the current token and the position of a term.
const MAX_OFFSET: i32 = 100;

/// The number of occurrences that `others` looks at, by default and at most.
const NEAREST: u32 = 8;
const MAX_NEAREST: u32 = 64;

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

    /// Returns its text in the template language, of a call the name alone.
    fn text(&self) -> String {
        match self {
            Self::Range(first, last) if first == last => first.to_string(),
            Self::Range(first, last) => format!("{first}..{last}"),
            Self::OpenRange(first) => format!("{first}.."),
            Self::Decimal(text) => (*text).to_owned(),
            Self::Quoted(text) => format!("\"{text}\""),
            Self::Call(call) => call.name.to_owned(),
        }
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

/// Converts a call to a term.
///
/// # Errors
///
/// [`crate::Error::Input`] at an unknown function, at an invalid argument and at a file that
/// cannot be read.
pub(super) fn term_from_call(
    call: FunctionCall<'_>,
    location: LineLocation<'_>,
    resources: &mut Resources<'_>,
) -> Result<Term> {
    let (name, column, is_called) = (call.name, call.column, call.arguments.is_some());
    if is_keyword(name) {
        let message = format!("expected a function or a column, found the keyword '{name}'");
        return Err(location.error(column, message));
    }
    if is_called && !is_function(name) {
        let suggestion = did_you_mean(name, function_names());
        let message = format!("there is no function '{name}'{suggestion}");
        return Err(location.error(column, message));
    }
    let mut arguments = Arguments::new(call, location);
    let function = match is_called {
        false if is_bare_column_name(name) => column_of_name(name),
        _ => arguments.function(resources)?,
    };
    arguments.finish()?;
    if !function.takes_offset() && arguments.offset.is_some() {
        let message = format!("'{name}' takes no position; remove the square brackets");
        return Err(location.error(column, message));
    }
    Ok(Term { function, position: Position::Relative(arguments.offset.unwrap_or(0)), column })
}

/// Returns how a file with words is read for an input, of which `first` are read.
fn selection(input: &TextInput, first: Option<i32>) -> Selection {
    Selection { lower: input.lower, first: first.map(|number| number as usize) }
}

fn column_of_name(name: &str) -> TemplateFunction {
    TemplateFunction::of_text(TextInput::verbatim(ColumnRef::from_name(name)))
}

/// Returns an argument that is one of the names in a table, and what it stands for.
fn find<'a, T: Copy>(table: &[(&str, T)], value: &ArgumentValue<'a>) -> Option<(&'a str, T)> {
    let name = value.bare_name()?;
    let (_, found) = table.iter().find(|(other, _)| *other == name)?;
    Some((name, *found))
}

/// The arguments of a call.
struct Arguments<'a> {
    name: &'a str,
    column: u64,
    /// Those that have not been consumed yet.
    rest: Vec<Argument<'a>>,
    /// The canonical text of those that have been, without the input.
    consumed: Vec<String>,
    /// The offset of the call or of its text argument.
    offset: Option<i32>,
    location: LineLocation<'a>,
}

impl<'a> Arguments<'a> {
    /// Returns all arguments of `call`.
    fn new(call: FunctionCall<'a>, location: LineLocation<'a>) -> Self {
        Self {
            name: call.name,
            column: call.column,
            rest: call.arguments.unwrap_or_default(),
            consumed: Vec::new(),
            offset: call.offset,
            location,
        }
    }

    /// Consumes the arguments and returns the function that the call means.
    fn function(&mut self, resources: &mut Resources<'_>) -> Result<TemplateFunction> {
        let operation = match self.name {
            "bias" => return Ok(self.without_input(Operation::Bias)),
            "start" => return Ok(self.without_input(Operation::Start)),
            "end" => return Ok(self.without_input(Operation::End)),
            "column" => return Ok(TemplateFunction::of_text(self.column_input()?)),
            "lower" => return Ok(TemplateFunction::of_text(self.lower_input()?)),
            "shape" => self.shape()?,
            "length" => Operation::Length,
            "capitalization" => Operation::Capitalization,
            "class" => Operation::Class,
            "prefix" => self.substrings(SubstringKind::Prefix)?,
            "suffix" => self.substrings(SubstringKind::Suffix)?,
            "affixes" => self.substrings(SubstringKind::Affixes)?,
            "ngrams" => self.substrings(SubstringKind::Ngrams)?,
            "regex" => {
                let (source, column) = self.quoted("a regular expression in quotes")?;
                let compiled = resources.expressions.compile(source);
                Operation::Regex(compiled.map_err(|message| self.location.error(column, message))?)
            }
            "bag" => return self.bag(),
            "title" => Operation::Title,
            "occurrence" => Operation::Occurrence,
            "lexicon" => {
                if self.training() {
                    let input = self.input()?;
                    return Ok(self.of_input(Operation::MinedNames(Arc::default()), input));
                }
                let (file, input) = (self.file()?, self.input()?);
                let lexicon = resources.load(&file, selection(&input, None))?;
                return Ok(self.of_input(Operation::Lexicon(lexicon), input));
            }
            "cluster" => {
                let (file, lengths, input) = (self.file()?, self.lengths()?, self.input()?);
                let clusters = resources.load(&file, selection(&input, None))?;
                return Ok(self.of_input(Operation::Cluster(clusters, lengths), input));
            }
            "vector" => {
                let file = self.file()?;
                let first = self.named("first", "a positive integer", |value| {
                    value.integer().filter(|number| *number > 0)
                })?;
                self.consumed.extend(first.map(|n| format!("first({n})")));
                let scale = self.scale()?;
                self.consumed.extend(scale.map(|x| format!("scale({x})")));
                let input = self.input()?;
                let vectors = resources.load(&file, selection(&input, first))?;
                let operation = Operation::Vector(vectors, scale.unwrap_or(1.0));
                return Ok(self.of_input(operation, input));
            }
            "value" => return self.value(),
            "others" => return self.others(resources),
            "mention" => Operation::Mention(self.one_of(&MENTION_KINDS)?),
            "run" => Operation::Run(self.one_of(&RUN_KINDS)?),
            name => return Ok(column_of_name(name)),
        };
        let input = self.input()?;
        let message = match operation {
            Operation::Mention(MentionKind::Forms) if input.lower => {
                "'mention(forms)' compares words in lower case by itself; expected a column"
            }
            Operation::Run(_) if input.lower => {
                "'run' reads a column, not 'lower', for its capitals"
            }
            _ => return Ok(self.of_input(operation, input)),
        };
        self.error(self.column, message)
    }

    fn without_input(&self, operation: Operation) -> TemplateFunction {
        TemplateFunction { operation, input: None, text: self.name.to_owned() }
    }

    /// Returns a function with its canonical text, which omits the default input.
    fn of_input(&mut self, operation: Operation, input: TextInput) -> TemplateFunction {
        let mut arguments = std::mem::take(&mut self.consumed);
        if input != TextInput::WORD {
            arguments.push(input.to_string());
        }
        TemplateFunction {
            operation,
            input: Some(input),
            text: match arguments.is_empty() {
                true => self.name.to_owned(),
                false => format!("{}({})", self.name, arguments.join(", ")),
            },
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

    /// Consumes a string in quotes. Returns its raw text.
    fn quoted(&mut self, what: &str) -> Result<(&'a str, u64)> {
        let (raw, column) = self.require(what, ArgumentValue::quoted)?;
        self.consumed.push(format!("\"{raw}\""));
        Ok((raw, column))
    }

    /// Checks that all arguments have been consumed.
    fn finish(&self) -> Result<()> {
        let Some(argument) = self.rest.first() else {
            return Ok(());
        };
        let message = format!(
            "'{}' does not take the argument {}; expected {}",
            self.name,
            argument.value.text(),
            self.example()
        );
        self.error(argument.column, message)
    }

    /// Consumes the input: a column, `lower` or `lower(column)`. The default is the word.
    fn input(&mut self) -> Result<TextInput> {
        match self.take(ArgumentValue::call) {
            None => Ok(TextInput::WORD),
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
                let message =
                    format!("'{}' reads a column, lower or lower(column), not '{name}'", self.name);
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
    fn lower_input(&mut self) -> Result<TextInput> {
        let input = self.input()?;
        if input.lower {
            return self.error(self.column, "'lower' reads a column, not 'lower'");
        }
        Ok(TextInput { lower: true, ..input })
    }

    /// Consumes the arguments of `column`.
    fn column_input(&mut self) -> Result<TextInput> {
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
    fn value(&mut self) -> Result<TemplateFunction> {
        let (call, column) = self.require("a column", ArgumentValue::call)?;
        let (operation, input, text) = if call.name == "length" {
            let mut inner = Arguments::new(call, self.location);
            let input = inner.input()?;
            self.finish_inner(&inner)?;
            let length = inner.of_input(Operation::Length, input.clone());
            (Operation::LengthValue, input, length.text)
        } else {
            let input = self.input_from_call(call)?;
            if input.lower {
                return self.error(column, "'value' reads a column or length, not 'lower'");
            }
            let text = input.to_string();
            (Operation::Value, input, text)
        };
        Ok(TemplateFunction { operation, input: Some(input), text: format!("value({text})") })
    }

    /// Consumes one of some names without parentheses.
    fn one_of<T: Copy>(&mut self, names: &[(&str, T)]) -> Result<T> {
        let listed: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let what = format!("one of {}", listed.join(", "));
        let ((name, found), _) = self.require(&what, |value| find(names, value))?;
        self.consumed.push(name.to_owned());
        Ok(found)
    }

    /// Consumes the arguments of `others`.
    fn others(&mut self, resources: &mut Resources<'_>) -> Result<TemplateFunction> {
        let nearest = self.count("nearest", MAX_NEAREST)?.unwrap_or(NEAREST);
        let within = self.count("within", DocumentOptions::MAX_WINDOW)?;
        let same = self.same()?;
        let (call, column) = self.require("a function of a word", ArgumentValue::call)?;
        let name = call.name;
        let term = term_from_call(call, self.location, resources)?;
        if !term.function.can_be_gathered() {
            let message = format!(
                "'others' gathers texts that a word or its run has, not '{name}'; expected for \
                 example others(word[-1]) or others(shape[+1])"
            );
            return self.error(column, message);
        }
        let mut text = format!("others({term}");
        if nearest != NEAREST {
            text += &format!(", nearest({nearest})");
        }
        if let Some(within) = within {
            text += &format!(", within({within})");
        }
        if same != TextInput::WORD {
            text += &format!(", same({same})");
        }
        Ok(TemplateFunction {
            operation: Operation::Others(Box::new(OthersCall { term, nearest, within })),
            input: Some(same),
            text: text + ")",
        })
    }

    /// Consumes a named number such as `nearest(3)`, from 1 to `largest`.
    fn count(&mut self, name: &str, largest: u32) -> Result<Option<u32>> {
        let expected = format!("a number from 1 to {largest}");
        self.named(name, &expected, |value| {
            let number = u32::try_from(value.integer()?).ok();
            number.filter(|number| (1..=largest).contains(number))
        })
    }

    /// Consumes `same(lower)`, the text that occurrences have in common; by default it is the word.
    fn same(&mut self) -> Result<TextInput> {
        match self.named("same", "a column or lower", ArgumentValue::call)? {
            None => Ok(TextInput::WORD),
            Some(call) if call.offset.is_some() => {
                self.error(call.column, "'same' takes no position; remove the brackets")
            }
            Some(call) => self.input_from_call(call),
        }
    }

    /// Consumes `training`, which stands where a file name could. Returns whether it is there.
    fn training(&mut self) -> bool {
        let has_file = self.rest.iter().any(|a| a.value.quoted().is_some());
        let training = |value: &ArgumentValue<'a>| (value.bare_name()? == "training").then_some(());
        let found = !has_file && self.take(training).is_some();
        self.consumed.extend(found.then(|| "training".to_owned()));
        found
    }

    /// Consumes the name of a shape, [`Shape::Long`] by default, and `known(reading)`.
    fn shape(&mut self) -> Result<Operation> {
        let shape = self.take(|value| find(&SHAPES, value));
        let (name, shape) = shape.map_or(("long", Shape::Long), |(shape, _)| shape);
        if shape != Shape::Long {
            self.consumed.push(name.to_owned());
        }
        let known = |call: &FunctionCall<'_>| call.name == "known" && call.arguments.is_some();
        let Some((call, column)) = self.take(|value| value.call().filter(known)) else {
            return Ok(Operation::Shape(shape, Arc::default()));
        };
        let reading = call.arguments.as_deref().is_some_and(|arguments| {
            matches!(arguments, [argument] if argument.value.bare_name() == Some("reading"))
        });
        if !reading || call.offset.is_some() {
            return self.error(
                column,
                "'known' takes one argument, as in known(reading): known are the words read so far",
            );
        }
        if !shape.uses_known_words() {
            return self.error(
                column,
                "only the shapes dan2 and chris2 mark known words; expected shape(dan2, \
                 known(reading))",
            );
        }
        self.consumed.push("known(reading)".to_owned());
        let (known, first_read) = Default::default();
        Ok(Operation::ShapeWhileReading(shape, known, first_read))
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

    /// Consumes the lengths of a substring function.
    fn substrings(&mut self, kind: SubstringKind) -> Result<Operation> {
        let open = |value: &ArgumentValue<'_>| match value {
            ArgumentValue::OpenRange(first) if kind != SubstringKind::Ngrams => Some(*first),
            _ => None,
        };
        if let Some((first, column)) = self.take(open) {
            let first = self.length(first, column)?;
            self.consumed.push(ArgumentValue::OpenRange(first as i32).text());
            return Ok(Operation::Substrings(kind, first..=OPEN_LENGTH));
        }
        let (range, column) = self.range("a length or a range of lengths")?;
        let (first, last) = range.into_inner();
        self.consumed.push(ArgumentValue::Range(first, last).text());
        let lengths = self.length(first, column)?..=self.length(last, column)?;
        Ok(Operation::Substrings(kind, lengths))
    }

    /// Returns a length that is in range.
    fn length(&self, length: i32, column: u64) -> Result<usize> {
        if (1..=MAX_LENGTH).contains(&length) {
            return Ok(length as usize);
        }
        let message = format!("the length {length} is not allowed; expected 1 to {MAX_LENGTH}");
        self.error(column, message)
    }

    /// Consumes the arguments of `bag`.
    fn bag(&mut self) -> Result<TemplateFunction> {
        let (range, column) = self.range("a range of positions")?;
        for offset in [*range.start(), *range.end()] {
            check_offset(offset, self.location, column)?;
        }
        let input = self.input()?;
        let window = ArgumentValue::Range(*range.start(), *range.end()).text();
        Ok(TemplateFunction {
            operation: Operation::Bag(range),
            text: format!("bag({input}, {window})"),
            input: Some(input),
        })
    }

    /// Consumes any number of distinct lengths.
    fn lengths(&mut self) -> Result<Vec<usize>> {
        let mut lengths = Vec::new();
        while let Some((number, column)) = self.take(ArgumentValue::integer) {
            let length = self.length(number, column)?;
            if lengths.contains(&length) {
                return self.error(column, format!("the length {length} occurs twice"));
            }
            self.consumed.push(length.to_string());
            lengths.push(length);
        }
        Ok(lengths)
    }

    /// Consumes a named argument such as `first(1000)`, which `read` reads; it takes what is
    /// `expected`.
    fn named<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl Fn(&ArgumentValue<'a>) -> Option<T>,
    ) -> Result<Option<T>> {
        let is_named = |call: &FunctionCall<'_>| call.name == name && call.offset.is_none();
        let named = self.take(|value| value.call().filter(is_named)?.arguments);
        let Some((arguments, column)) = named else {
            return Ok(None);
        };
        let [argument] = &arguments[..] else {
            let what = if name == "same" { "text" } else { "number" };
            return self.error(column, format!("'{name}' takes one {what}"));
        };
        match read(&argument.value) {
            None => self.error(argument.column, format!("'{name}' takes {expected}")),
            found => Ok(found),
        }
    }

    /// Consumes `scale(X)`, a factor.
    fn scale(&mut self) -> Result<Option<f64>> {
        self.named("scale", "a number from 0.000001 to 1000000", |value| {
            let factor: Option<f64> = match value {
                ArgumentValue::Decimal(text) => text.parse().ok(),
                value => value.integer().map(f64::from),
            };
            factor.filter(|factor| (1e-6..=1e6).contains(factor))
        })
    }

    /// Consumes a file name. Returns it with its place.
    fn file(&mut self) -> Result<FileReference<'a>> {
        let (raw, column) = self.quoted("a file name in quotes")?;
        let name = unescape(raw).map_err(|message| self.location.error(column, message))?;
        Ok(FileReference { name, location: self.location, column })
    }
}
