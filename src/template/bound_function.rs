//! Template functions bound to the columns of a corpus.

use std::ops::RangeInclusive;
use std::sync::Arc;

use regex::Regex;

use super::ast::ConditionTest;
use super::clusters::Clusters;
use super::lexicon::Lexicon;
use super::mention::MentionKind;
use super::mined::MinedNames;
use super::pattern::PatternMacro;
use super::run::RunKind;
use super::shape::{FirstRead, KnownWords, Shape};
use super::template_function::{SubstringKind, TextFunction};
use super::vectors::Vectors;

/// A template function bound to a column or to the value of an earlier bound function.
///
/// The last field of a variant is the index of that function; for [`BoundFunction::Column`],
/// [`BoundFunction::Value`] and [`BoundFunction::Run`] it is the index of a column. A function that
/// several templates use is bound, and computed, once.
#[derive(Clone, Debug)]
pub(super) enum BoundFunction {
    Bias,
    Start,
    End,
    /// The cells of a column; the empty text outside the sentence.
    Column(usize),
    Lower(usize),
    Text(TextFunction, Arc<KnownWords>, usize),
    /// A shape whose known words are, in training, those read up to the token.
    ShapeWhileReading(Shape, Arc<KnownWords>, Arc<FirstRead>, usize),
    Substrings(SubstringKind, RangeInclusive<usize>, usize),
    Regex(Regex, usize),
    Bag(RangeInclusive<i32>, usize),
    Title(usize),
    Occurrence(usize),
    Lexicon(Arc<Lexicon>, usize),
    MinedNames(Arc<MinedNames>, usize),
    Cluster(Arc<Clusters>, Vec<usize>, usize),
    /// Vectors, and the factor applied to their components.
    Vector(Arc<Vectors>, f64, usize),
    /// The numbers in a column.
    Value(usize),
    /// The length of the text as a number.
    LengthValue(usize),
    /// What the document says about a word, given the number of the index in the extractor.
    Mention(MentionKind, usize),
    /// The values of a function of a word, at positions relative to other occurrences.
    Others {
        /// The function.
        source: usize,
        offsets: RangeInclusive<i32>,
        /// Which occurrences: an index of [`DocumentPlan::groups`](super::document_state).
        group: usize,
        /// Its number among the functions of this kind.
        number: usize,
    },
    /// Where in a run of capitalized cells of a column a word is.
    Run(RunKind, usize),
    /// The same at other occurrences, at a position relative to them, for a group of occurrences.
    OthersRun {
        kind: RunKind,
        column: usize,
        offset: i32,
        group: usize,
    },
    Macro(PatternMacro),
    /// A flag that is set if a condition holds.
    Test(ConditionTest, usize),
}

impl BoundFunction {
    /// Returns the column that it reads directly, if any.
    pub(super) fn column(&self) -> Option<usize> {
        match self {
            Self::Column(column)
            | Self::Value(column)
            | Self::Run(_, column)
            | Self::OthersRun { column, .. } => Some(*column),
            Self::Macro(pattern_macro) => Some(pattern_macro.column),
            _ => None,
        }
    }

    /// Returns whether it depends on other sentences of the document.
    pub(super) fn sees_document(&self) -> bool {
        matches!(
            self,
            Self::Mention(..) | Self::Others { .. } | Self::OthersRun { .. }
        )
    }

    /// Returns the number of positions on either side of a sentence with distinct values.
    pub(super) fn padding(&self) -> usize {
        match self {
            Self::Macro(pattern_macro) => pattern_macro.padding(),
            _ => 1,
        }
    }

    /// Returns the function it is computed from, if it depends on nothing but the value of that
    /// function at the same position.
    pub(super) fn source(&self) -> Option<usize> {
        match self {
            Self::Lower(source)
            | Self::Text(_, _, source)
            | Self::Substrings(_, _, source)
            | Self::Regex(_, source)
            | Self::Title(source)
            | Self::Cluster(_, _, source)
            | Self::Vector(_, _, source)
            | Self::LengthValue(source)
            | Self::Test(_, source) => Some(*source),
            _ => None,
        }
    }
}
