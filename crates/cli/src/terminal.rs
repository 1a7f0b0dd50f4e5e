//! Text that fits the terminal.

use std::io;

use terminal_size::{Height, Width, terminal_size_of};
use textwrap::{Options, WordSplitter};

pub use textwrap::core::display_width as width;

/// The width of output that does not go to a terminal.
const DEFAULT: usize = 80;

/// The narrowest terminal that output is made for.
const MINIMUM: usize = 40;

/// Returns the number of columns of the output: those of the terminal, or 80.
pub fn columns() -> usize {
    terminal_size_of(io::stdout()).map_or(DEFAULT, of_terminal)
}

/// Returns the number of columns of the terminal that notices go to, if they do.
pub fn of_notices() -> Option<usize> {
    terminal_size_of(io::stderr()).map(of_terminal)
}

fn of_terminal((width, _): (Width, Height)) -> usize {
    usize::from(width.0).max(MINIMUM)
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
    let mut used = 0;
    let fits = |c: &char| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used <= columns
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
    let indent = " ".repeat(indent);
    let options = options(columns).subsequent_indent(&indent);
    let lines = text.split('\n').map(|line| textwrap::fill(line, &options));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns how text is broken into lines: only at blanks.
pub fn options<'a>(columns: usize) -> Options<'a> {
    let options = Options::new(columns).word_splitter(WordSplitter::NoHyphenation);
    options.break_words(false)
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
