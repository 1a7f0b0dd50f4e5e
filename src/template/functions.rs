//! The functions of the template language: their names, and what arguments they take.

use regex::{Regex, RegexBuilder};

use super::arguments::{Arguments, Call};
use super::lexer::Spot;
use super::resources::Resources;
use super::syntax::{
    ColumnRef, Embedding, Expression, Form, Function, Part, Position, Term, Text, quoted,
};
use super::text::did_you_mean;
use super::vectors::Extent;
use crate::error::Result;

/// Every function, with an example of its arguments.
pub(super) const FUNCTIONS: [(&str, &str); 21] = [
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
    (
        "vector",
        "vector(\"vectors.txt\", first(50000), scale(0.5))",
    ),
    ("value", "value(column)"),
];

/// Words of the grammar, which cannot name a column by themselves.
const KEY_WORDS: [&str; 7] = ["if", "and", "not", "matches", "exists", "node", "edge"];

/// Farthest token that a term may look at, either way.
pub(super) const MAX_OFFSET: i32 = 100;

/// Memory for one compiled regular expression, in bytes.
const MAX_EXPRESSION: usize = 1 << 20;

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
    let mut arguments = Arguments::of(call, spot);
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
        "vector" => {
            let (file, column) = arguments.file()?;
            let (first, scale) = (arguments.first()?, arguments.scale()?);
            let text = arguments.text()?;
            let extent = Extent {
                lower: text.lower,
                first,
            };
            let vectors = resources.vectors(&file, extent, arguments.spot, column)?;
            let embedding = Embedding {
                file,
                vectors,
                first,
                scale,
            };
            Function::Vector(embedding, text)
        }
        "value" => arguments.number()?,
        name => Function::Form(Form::Same, Text::plain(column_named(name))),
    })
}

/// The column that `name` alone, or `column("name")`, means.
pub(super) fn column_named(name: &str) -> ColumnRef {
    if name == "word" {
        ColumnRef::Word
    } else {
        ColumnRef::Name(name.to_owned())
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
