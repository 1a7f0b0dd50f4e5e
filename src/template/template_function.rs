//! The functions of the template language and their canonical text.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::clusters::Clusters;
use super::input::{ColumnRef, TextInput};
use super::lexicon::Lexicon;
use super::mention::MentionKind;
use super::mined::MAX_TYPES;
use super::pattern::PatternMacro;
use super::run::RunKind;
use super::shape::Shape;
use super::source_regex::SourceRegex;
use super::syntax::quote;
use super::vectors::Vectors;
use crate::sentence::DocumentOptions;

/// Functions with exactly one value per text, including the empty text outside the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFunction {
    Identity,
    Shape(Shape),
    /// A shape whose known words are, in training, those read up to the token.
    ShapeWhileReading(Shape),
    Length,
    Capitalization,
    Class,
}

/// The substrings that [`TemplateFunction::Substrings`] yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubstringKind {
    /// Its first characters.
    Prefix,
    /// Its last characters.
    Suffix,
    /// The first and the last characters of `<text>`.
    Affixes,
    /// All character n-grams of `<text>`.
    Ngrams,
}

impl SubstringKind {
    fn name(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::Suffix => "suffix",
            Self::Affixes => "affixes",
            Self::Ngrams => "ngrams",
        }
    }
}

/// A function of a position in a sentence, with zero or more values there.
#[derive(Clone, Debug)]
pub(super) enum TemplateFunction {
    /// A flag that is always set.
    Bias,
    /// A flag at the first token.
    Start,
    /// A flag at the last token.
    End,
    Text(TextFunction, TextInput),
    Substrings(SubstringKind, RangeInclusive<i32>, TextInput),
    /// A flag, or the text of the first group, if the expression matches.
    Regex(SourceRegex, TextInput),
    /// The set of texts at the offsets.
    Bag(RangeInclusive<i32>, TextInput),
    /// A flag at `Mr.` and the like.
    Title(TextInput),
    Occurrence(TextInput),
    Lexicon(String, Arc<Lexicon>, TextInput),
    /// The names in the training data, with their types.
    MinedNames(TextInput),
    /// Prefixes of the cluster path with the given lengths; the whole path if there are none.
    Cluster(String, Arc<Clusters>, Vec<i32>, TextInput),
    /// The components of the word's vector.
    Vector(VectorLookup, TextInput),
    /// The number in a cell.
    Value(TextInput),
    /// The length of the text as a number.
    LengthValue(TextInput),
    /// What the document says about the occurrences of the text.
    Mention(MentionKind, TextInput),
    /// The set of values at other occurrences of the text in the document.
    Others(Box<OthersCall>),
    /// Where in a run of capitalized words the text is, or its neighbors there.
    Run(RunKind, TextInput),
    /// A macro of a CRF++ or Wapiti template.
    Macro(PatternMacro),
}

/// Word vectors and the arguments they were requested with.
#[derive(Clone, Debug)]
pub(super) struct VectorLookup {
    pub file: String,
    pub vectors: Arc<Vectors>,
    /// Number of vectors to read from the file.
    pub first: Option<usize>,
    /// Factor applied to the components.
    pub scale: Option<f64>,
}

/// Length of the longest prefix or suffix of an open range, such as `affixes(2..)`, in characters.
pub(super) const OPEN_LENGTH: i32 = 256;

/// Length of the longest prefix or suffix of an open range, in bytes. A character may have any
/// number of accents. All affixes of a word together have at most 256 KiB.
pub(super) const OPEN_BYTES: usize = 1024;

/// Maximum number of characters of `<word>` that `ngrams` looks at.
pub(super) const NGRAM_WINDOW: usize = 100;

impl TemplateFunction {
    /// Returns whether the value has no text, so that the attribute is the template's name alone.
    pub(super) fn is_flag(&self) -> bool {
        match self {
            Self::Bias
            | Self::Start
            | Self::End
            | Self::Title(_)
            | Self::Value(_)
            | Self::LengthValue(_) => true,
            Self::Regex(expression, _) => expression.regex.captures_len() == 1,
            Self::Others(call) => call.function.is_flag(),
            _ => false,
        }
    }

    /// Returns the maximum number of values at one position.
    pub(super) fn max_values(&self) -> usize {
        let width = |range: &RangeInclusive<i32>| range.clone().count();
        match self {
            Self::Substrings(SubstringKind::Prefix | SubstringKind::Suffix, range, _)
            | Self::Bag(range, _) => width(range),
            Self::Substrings(SubstringKind::Affixes, range, _) => 2 * width(range),
            Self::Substrings(SubstringKind::Ngrams, range, _) => NGRAM_WINDOW * width(range),
            Self::Cluster(_, _, lengths, _) => lengths.len().max(1),
            Self::MinedNames(_) => MAX_TYPES,
            Self::Vector(lookup, _) => lookup.vectors.dimensions(),
            Self::Others(call) => {
                (call.nearest as usize).saturating_mul(call.function.max_values())
            }
            _ => 1,
        }
    }

    /// Returns the text it reads, if any.
    pub(super) fn input(&self) -> Option<&TextInput> {
        match self {
            Self::Bias | Self::Start | Self::End | Self::Macro(_) => None,
            Self::Text(_, input)
            | Self::Substrings(_, _, input)
            | Self::Regex(_, input)
            | Self::Bag(_, input)
            | Self::Title(input)
            | Self::Occurrence(input)
            | Self::Lexicon(_, _, input)
            | Self::MinedNames(input)
            | Self::Cluster(_, _, _, input)
            | Self::Vector(_, input)
            | Self::Value(input)
            | Self::LengthValue(input)
            | Self::Mention(_, input)
            | Self::Run(_, input) => Some(input),
            Self::Others(call) => Some(&call.same),
        }
    }

    /// Returns the column it reads, if any.
    pub(super) fn column(&self) -> Option<ColumnRef> {
        match self {
            Self::Macro(pattern_macro) => Some(ColumnRef::Number(pattern_macro.column)),
            _ => self.input().map(|input| input.column.clone()),
        }
    }

    /// Returns whether it depends on other sentences of the document.
    pub(super) fn sees_document(&self) -> bool {
        matches!(self, Self::Mention(..) | Self::Others(_))
    }

    /// Returns whether it can be applied at an offset from the current token.
    pub(super) fn takes_offset(&self) -> bool {
        !matches!(self, Self::Bias | Self::Bag(..))
    }
}

impl fmt::Display for TemplateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bias => f.write_str("bias"),
            Self::Start => f.write_str("start"),
            Self::End => f.write_str("end"),
            Self::Text(function, input) => write_text_function(f, *function, input),
            Self::Substrings(kind, range, input) => {
                write_call(f, kind.name(), &[&format_range(range)], input)
            }
            Self::Regex(expression, input) => {
                let expression = format!("\"{}\"", expression.source);
                write_call(f, "regex", &[&expression], input)
            }
            Self::Bag(range, input) => write!(f, "bag({input}, {})", format_range(range)),
            Self::Title(input) => write_call(f, "title", &[], input),
            Self::Occurrence(input) => write_call(f, "occurrence", &[], input),
            Self::Lexicon(file, _, input) => write_call(f, "lexicon", &[&quote(file)], input),
            Self::MinedNames(input) => write_call(f, "lexicon", &["training"], input),
            Self::Cluster(file, _, lengths, input) => {
                let mut arguments = vec![quote(file)];
                arguments.extend(lengths.iter().map(ToString::to_string));
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                write_call(f, "cluster", &arguments, input)
            }
            Self::Vector(lookup, input) => {
                let mut arguments = vec![quote(&lookup.file)];
                arguments.extend(lookup.first.map(|lines| format!("first({lines})")));
                arguments.extend(lookup.scale.map(|factor| format!("scale({factor})")));
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                write_call(f, "vector", &arguments, input)
            }
            Self::Value(input) => write!(f, "value({input})"),
            Self::LengthValue(input) => {
                let length = Self::Text(TextFunction::Length, input.clone());
                write!(f, "value({length})")
            }
            Self::Mention(kind, input) => write_call(f, "mention", &[kind.name()], input),
            Self::Others(call) => write!(f, "{call}"),
            Self::Run(kind, input) => write_call(f, "run", &[kind.name()], input),
            Self::Macro(pattern_macro) => write!(f, "{pattern_macro}"),
        }
    }
}

/// A call of `others`.
#[derive(Clone, Debug)]
pub(super) struct OthersCall {
    /// What is gathered at the other occurrences.
    pub function: TemplateFunction,
    /// Its position relative to them.
    pub offset: i32,
    /// Column of the function in the template line.
    pub column: u64,
    /// Maximum number of occurrences that are looked at.
    pub nearest: u32,
    /// Maximum distance of these occurrences, if that is less than the window of the document.
    pub within: Option<u32>,
    /// The text that occurrences have in common.
    pub same: TextInput,
}

impl OthersCall {
    /// The default of `nearest`.
    pub(super) const NEAREST: u32 = 8;

    /// Maximum of `nearest`.
    pub(super) const MAX_NEAREST: u32 = 64;

    /// Maximum of `within`.
    pub(super) const MAX_WITHIN: u32 = DocumentOptions::MAX_WINDOW;

    /// Returns whether `function` can be gathered: it must depend on a single word or its
    /// surroundings, and have texts as values.
    pub(super) fn takes(function: &TemplateFunction) -> bool {
        match function {
            TemplateFunction::Text(TextFunction::ShapeWhileReading(_), _) => false,
            TemplateFunction::Text(..)
            | TemplateFunction::Substrings(..)
            | TemplateFunction::Regex(..)
            | TemplateFunction::Bag(..)
            | TemplateFunction::Title(_)
            | TemplateFunction::Cluster(..)
            | TemplateFunction::Run(..) => true,
            _ => false,
        }
    }
}

impl fmt::Display for OthersCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "others({}", self.function)?;
        match self.offset {
            _ if !self.function.takes_offset() => {}
            0 => f.write_str("[0]")?,
            offset => write!(f, "[{offset:+}]")?,
        }
        if self.nearest != Self::NEAREST {
            write!(f, ", nearest({})", self.nearest)?;
        }
        if let Some(within) = self.within {
            write!(f, ", within({within})")?;
        }
        if !self.same.is_default() {
            write!(f, ", same({})", self.same)?;
        }
        f.write_str(")")
    }
}

fn write_text_function(
    f: &mut fmt::Formatter<'_>,
    function: TextFunction,
    input: &TextInput,
) -> fmt::Result {
    match function {
        TextFunction::Identity => write!(f, "{input}"),
        TextFunction::Shape(Shape::Long) => write_call(f, "shape", &[], input),
        TextFunction::Shape(shape) => write_call(f, "shape", &[shape.name()], input),
        TextFunction::ShapeWhileReading(shape) => {
            write_call(f, "shape", &[shape.name(), "known(reading)"], input)
        }
        TextFunction::Length => write_call(f, "length", &[], input),
        TextFunction::Capitalization => write_call(f, "capitalization", &[], input),
        TextFunction::Class => write_call(f, "class", &[], input),
    }
}

/// Writes a call, omitting the default input.
fn write_call(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    arguments: &[&str],
    input: &TextInput,
) -> fmt::Result {
    let input_text = input.to_string();
    let mut arguments = arguments.to_vec();
    if !input.is_default() {
        arguments.push(&input_text);
    }
    f.write_str(name)?;
    if !arguments.is_empty() {
        write!(f, "({})", arguments.join(", "))?;
    }
    Ok(())
}

fn format_range(range: &RangeInclusive<i32>) -> String {
    if range.start() == range.end() {
        range.start().to_string()
    } else if *range.end() == OPEN_LENGTH {
        format!("{}..", range.start())
    } else {
        format!("{}..{}", range.start(), range.end())
    }
}
