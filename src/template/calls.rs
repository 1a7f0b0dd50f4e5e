//! Converts function calls, as parsed, to terms.

use super::arguments::{Arguments, FunctionCall};
use super::ast::{Position, Term};
use super::input::{ColumnRef, TextInput};
use super::lexer::LineLocation;
use super::resources::Resources;
use super::syntax::{function_names, is_bare_column_name, is_function, is_keyword};
use super::template_function::{
    OthersCall, SubstringKind, TemplateFunction, TextFunction, VectorLookup,
};
use super::text::did_you_mean;
use super::vectors::VectorSelection;
use crate::error::Result;

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
        _ => function(&mut arguments, resources)?,
    };
    arguments.finish()?;
    if !function.takes_offset() && arguments.offset.is_some() {
        let message = format!("'{name}' takes no position; remove the square brackets");
        return Err(location.error(column, message));
    }
    Ok(Term {
        function,
        position: Position::Relative(arguments.offset.unwrap_or(0)),
        column,
    })
}

fn function(
    arguments: &mut Arguments<'_>,
    resources: &mut Resources<'_>,
) -> Result<TemplateFunction> {
    Ok(match arguments.name {
        "bias" => TemplateFunction::Bias,
        "start" => TemplateFunction::Start,
        "end" => TemplateFunction::End,
        "column" => TemplateFunction::Text(TextFunction::Identity, arguments.column_input()?),
        "lower" => TemplateFunction::Text(TextFunction::Identity, arguments.lower_input()?),
        "shape" => {
            let shape = shape(arguments)?;
            TemplateFunction::Text(shape, arguments.input()?)
        }
        "length" => TemplateFunction::Text(TextFunction::Length, arguments.input()?),
        "capitalization" => {
            TemplateFunction::Text(TextFunction::Capitalization, arguments.input()?)
        }
        "class" => TemplateFunction::Text(TextFunction::Class, arguments.input()?),
        "prefix" => arguments.substrings(SubstringKind::Prefix)?,
        "suffix" => arguments.substrings(SubstringKind::Suffix)?,
        "affixes" => arguments.substrings(SubstringKind::Affixes)?,
        "ngrams" => arguments.substrings(SubstringKind::Ngrams)?,
        "regex" => {
            let expression = arguments.expression(&mut resources.expressions)?;
            TemplateFunction::Regex(expression, arguments.input()?)
        }
        "bag" => TemplateFunction::Bag(arguments.window()?, arguments.input()?),
        "title" => TemplateFunction::Title(arguments.input()?),
        "occurrence" => TemplateFunction::Occurrence(arguments.input()?),
        "lexicon" => {
            if arguments.training() {
                return Ok(TemplateFunction::MinedNames(arguments.input()?));
            }
            let file = arguments.file()?;
            let input = arguments.input()?;
            let lexicon = resources.lexicon(&file, input.lower)?;
            TemplateFunction::Lexicon(file.name, lexicon, input)
        }
        "cluster" => {
            let file = arguments.file()?;
            let lengths = arguments.lengths()?;
            let input = arguments.input()?;
            let clusters = resources.clusters(&file, input.lower)?;
            TemplateFunction::Cluster(file.name, clusters, lengths, input)
        }
        "vector" => vector(arguments, resources)?,
        "value" => arguments.numeric_value()?,
        "others" => TemplateFunction::Others(Box::new(others(arguments, resources)?)),
        "mention" => arguments.mention()?,
        "run" => arguments.run()?,
        name => column_of_name(name),
    })
}

fn others(arguments: &mut Arguments<'_>, resources: &mut Resources<'_>) -> Result<OthersCall> {
    let nearest = arguments.count("nearest", OthersCall::MAX_NEAREST)?;
    let within = arguments.count("within", OthersCall::MAX_WITHIN)?;
    let same = arguments.same()?;
    let call = arguments.call("a function of a word")?;
    let (name, column) = (call.name, call.column);
    let term = term_from_call(call, arguments.location, resources)?;
    if !OthersCall::takes(&term.function) {
        let message = format!(
            "'others' gathers texts that a word or its run has, not '{name}'; expected for example \
             others(word[-1]) or others(shape[+1])"
        );
        return Err(arguments.location.error(column, message));
    }
    let Position::Relative(offset) = term.position else {
        return Err(arguments
            .location
            .error(column, "'others' takes relative positions"));
    };
    Ok(OthersCall {
        function: term.function,
        offset,
        column,
        nearest: nearest.unwrap_or(OthersCall::NEAREST),
        within,
        same,
    })
}

fn column_of_name(name: &str) -> TemplateFunction {
    let input = TextInput::verbatim(ColumnRef::from_name(name));
    TemplateFunction::Text(TextFunction::Identity, input)
}

fn shape(arguments: &mut Arguments<'_>) -> Result<TextFunction> {
    let shape = arguments.shape()?;
    match arguments.known_reading()? {
        None => Ok(TextFunction::Shape(shape)),
        Some(_) if shape.uses_known_words() => Ok(TextFunction::ShapeWhileReading(shape)),
        Some(at) => Err(arguments.location.error(
            at,
            "only the shapes dan2 and chris2 mark known words; expected shape(dan2, \
             known(reading))",
        )),
    }
}

fn vector(
    arguments: &mut Arguments<'_>,
    resources: &mut Resources<'_>,
) -> Result<TemplateFunction> {
    let file = arguments.file()?;
    let (first, scale) = (arguments.first()?, arguments.scale()?);
    let input = arguments.input()?;
    let selection = VectorSelection {
        lower: input.lower,
        first,
    };
    let vectors = resources.vectors(&file, selection)?;
    let lookup = VectorLookup {
        file: file.name,
        vectors,
        first,
        scale,
    };
    Ok(TemplateFunction::Vector(lookup, input))
}
