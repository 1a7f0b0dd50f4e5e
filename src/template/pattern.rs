//! Macros of CRF++ and Wapiti template files, such as `%x[-1,0]`, and their values.
//!
//! In both programs a template is text with macros in it: `U05:%x[-1,0]/%x[0,0]` refers to tokens
//! at relative positions, and to columns. CRF++ (0.58, `feature_index.cpp`) has `U` and `B` lines
//! and `%x`; positions outside the sentence are `_B-1` … `_B-8` and `_B+1` … `_B+8`. Wapiti (1.5,
//! `src/pattern.c`, `src/reader.c`) adds `*` lines, which are both `u` and `b`; lower-case line
//! types; `%t` (whether a regular expression matches: `true` or `false`); `%m` (the match);
//! upper-case macros that lower-case their result; and absolute positions `@1` … `@-1`. Outside the
//! sentence it has `_x-1` … `_x-4`, `_x-#` and `_x+1` … `_x+4`, `_x+#`.
//!
//! Where Wapiti works on bytes, this works on characters: `.` is a character, letters are Unicode
//! letters.

use regex::Regex;

use super::text::push_lower;

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

/// The operation of a macro.
#[derive(Clone, Debug)]
pub(super) enum MacroOperation {
    /// `%x`: the cell.
    Cell,
    /// `%t`: whether the expression matches.
    Test(Regex),
    /// `%m`: the first match of the expression.
    Match(Regex),
}

/// A macro of a CRF++ or Wapiti template, such as `%x[0,1]`, without its position.
#[derive(Clone, Debug)]
pub(super) struct PatternMacro {
    pub dialect: Dialect,
    pub operation: MacroOperation,
    /// Whether the result is lower-cased.
    pub lower: bool,
}

impl PatternMacro {
    /// Appends the value for a cell.
    pub(super) fn write(&self, cell: &str, out: &mut String) {
        let value = match &self.operation {
            MacroOperation::Cell => cell,
            MacroOperation::Test(expression) if expression.is_match(cell) => "true",
            MacroOperation::Test(_) => "false",
            MacroOperation::Match(expression) => {
                expression.find(cell).map_or("", |found| found.as_str())
            }
        };
        if self.lower {
            push_lower(value, out);
        } else {
            out.push_str(value);
        }
    }
}
