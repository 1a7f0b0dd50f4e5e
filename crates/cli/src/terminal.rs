//! Text that fits the terminal.

use std::io::{self, IsTerminal};

use terminal_size::{Height, Width, terminal_size, terminal_size_of};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width of output that does not go to a terminal.
const DEFAULT: usize = 80;

/// The narrowest terminal that output is made for.
const MINIMUM: usize = 40;

/// Returns the number of columns of the output: those of the terminal, or 80.
pub fn columns() -> usize {
    of_output().unwrap_or(DEFAULT)
}

/// Returns the number of columns of the terminal that the output goes to, if it does.
pub fn of_output() -> Option<usize> {
    let is_terminal = io::stdout().is_terminal();
    of_terminal(is_terminal.then(|| terminal_size_of(io::stdout())))
}

/// Returns the number of columns of the terminal that notices go to, if they do.
pub fn of_notices() -> Option<usize> {
    let is_terminal = io::stderr().is_terminal();
    of_terminal(is_terminal.then(|| terminal_size_of(io::stderr())))
}

/// Returns the number of columns for help, which has the width of any terminal there is.
pub fn of_help() -> Option<usize> {
    let variable = std::env::var("COLUMNS").ok();
    let given = variable.and_then(|columns| columns.parse().ok());
    given.or_else(|| of_terminal(Some(terminal_size())))
}

fn of_terminal(size: Option<Option<(Width, Height)>>) -> Option<usize> {
    let (width, _) = size.flatten()?;
    Some(usize::from(width.0).max(MINIMUM))
}

/// Returns the number of columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns a text without characters that would move the cursor: with escapes instead of them.
pub fn printable(text: &str) -> String {
    let escape = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Cuts a text that takes more than `columns` in the middle, which `…` stands for: both ends of
/// the name of an attribute matter.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let rest = columns.saturating_sub(1);
    let tail = rest / 3;
    let head = beginning(text.chars(), rest - tail);
    let tail: String = beginning(text.chars().rev(), tail).chars().rev().collect();
    format!("{head}…{tail}")
}

/// Returns the first characters, as many as fit.
fn beginning(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut rest = columns;
    let fits = |c: &char| match rest.checked_sub(c.width().unwrap_or(0)) {
        Some(left) => {
            rest = left;
            true
        }
        None => false,
    };
    characters.take_while(fits).collect()
}

/// Adds blanks up to a number of columns.
pub fn pad(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{:blanks$}", "")
}

/// Breaks a text at blanks into lines of at most `columns`, of which all but the first begin with
/// `indent` blanks. Only a word that is longer than a line makes a longer one.
pub fn wrap(text: &str, columns: usize, indent: usize) -> String {
    let mut wrapped = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let needed = width(word);
        if used > 0 && used + 1 + needed > columns {
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(indent));
            used = indent;
        } else if !wrapped.is_empty() {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += needed;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_measured_in_columns() {
        assert_eq!(cut("word[0]=東京都庁", 14), "word[0]=…都庁");
        assert_eq!(cut("word[0]=東京都庁", 12), "word[0]=…庁");
        assert_eq!(cut("short", 5), "short");
        assert_eq!(pad("東", 4), "東  ");
        assert_eq!(printable("a\u{1b}[31m\tß"), "a\\u{1b}[31m\\tß");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 8, 2), "one two\n  three");
        assert_eq!(wrap("one two three", 5, 2), "one\n  two\n  three");
        assert_eq!(
            wrap("incomprehensible it is", 6, 0),
            "incomprehensible\nit is"
        );
        assert_eq!(wrap("", 6, 0), "");
    }
}
