//! The lines of a template as parsed, common to all dialects.

use super::function::{ConditionTest, Operation, TemplateFunction, Term};
use crate::sentence::DocumentOptions;

/// A condition of a template line.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub negated: bool,
    pub term: Term,
    pub test: ConditionTest,
    /// The canonical text of the test.
    pub text: String,
}

/// A part of an attribute name: the value of a term and the literal text after it.
#[derive(Clone, Debug)]
pub(super) struct NamePart {
    pub term: Term,
    pub literal: String,
}

/// A template line. The name of an attribute is `head` followed by `parts`.
#[derive(Clone, Debug)]
pub(super) struct TemplateLine {
    /// The line number in the template file, from 1.
    pub number: u64,
    /// Whether attributes are crossed with the label.
    pub node: bool,
    /// Whether attributes are crossed with the label pair.
    pub edge: bool,
    pub head: String,
    pub parts: Vec<NamePart>,
    /// Whether `|` and `\` are escaped in values.
    pub escape: bool,
    /// The line applies at tokens where all conditions hold.
    pub conditions: Vec<Condition>,
}

impl TemplateLine {
    /// Returns the functions of the line, including those of its conditions and those that others
    /// gather.
    pub(super) fn functions(&self) -> impl Iterator<Item = &TemplateFunction> {
        let values = self.parts.iter().map(|part| &part.term.function);
        values.chain(self.conditions.iter().map(|c| &c.term.function)).flat_map(|function| {
            let gathered = match &function.operation {
                Operation::Others(term) => Some(&term.function),
                _ => None,
            };
            [Some(function), gathered].into_iter().flatten()
        })
    }
}

/// The program whose template syntax a file uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    CrfPlusPlus,
    Wapiti,
}

impl Dialect {
    /// Returns the number of positions on either side of a sentence with distinct values.
    pub(super) fn padding(self) -> usize {
        match self {
            Self::CrfPlusPlus => 8,
            Self::Wapiti => 5,
        }
    }

    /// Returns the pseudo-token before or after the sentence, at a distance from 1 to the padding.
    pub(super) fn boundary(self, before: bool, distance: usize) -> String {
        let name = match self {
            Self::CrfPlusPlus => "_B",
            Self::Wapiti => "_x",
        };
        let sign = if before { '-' } else { '+' };
        match (self, distance) {
            (Self::Wapiti, 5..) => format!("{name}{sign}#"),
            _ => format!("{name}{sign}{distance}"),
        }
    }
}

/// The lines of a template file.
#[derive(Clone, Debug)]
pub(super) struct TemplateLines {
    pub lines: Vec<TemplateLine>,
    /// Whether bare transitions (label pairs) have weights.
    pub transitions: bool,
    /// The rule that separates documents.
    pub documents: DocumentOptions,
    /// The dialect of a CRF++ or Wapiti file.
    pub dialect: Option<Dialect>,
}
