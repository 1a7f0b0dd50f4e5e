//! Texts of results in columns: lines that fit, cells that are cut or padded, tables. Characters
//! are as wide as terminals draw them, and none of them moves the cursor.

mod paint;

pub use paint::{Paint, bar, ground, shade, styled, without_paint};
pub use textwrap::core::display_width as width;

use std::borrow::Cow;

use comfy_table::{CellAlignment, Table, presets};
use textwrap::{Options, WordSplitter};

/// Returns how many things there are in words, such as `1 file` or `2 files`.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Returns a text without characters that would move the cursor or turn the text around it: with
/// escapes instead of them.
pub fn printable(text: &str) -> String {
    escaped(text, is_control, |c| c.escape_default().to_string()).into_owned()
}

/// Returns whether a character controls terminals: one of Unicode's control characters, or of its
/// explicit bidirectional formatting.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the lines of a text as they may go to a terminal, whatever files their words are from:
/// with escapes instead of control characters other than line feeds and tabs.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_control(c) && c != '\n' && c != '\t';
    escaped(text, is_escaped, |c| c.escape_default().to_string())
}

/// Returns JSON as it may go to a terminal: with escapes of JSON instead of the control characters
/// that strings may have unescaped, DEL and those from U+0080.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_control(c) && c != '\n';
    escaped(json, is_escaped, |c| format!("\\u{:04x}", u32::from(c)))
}

/// Replaces some characters, which most texts do not have.
fn escaped(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    escape: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) { out.push_str(&escape(c)) } else { out.push(c) }
    }
    Cow::Owned(out)
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
    text.to_owned() + &" ".repeat(blanks)
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
fn options<'a>(columns: usize) -> Options<'a> {
    Options::new(columns).word_splitter(WordSplitter::NoHyphenation).break_words(false)
}

/// Formats rows of cells as a table: the first column left-aligned, the others right-aligned.
pub fn format_table<R: AsRef<[String]>>(rows: impl Iterator<Item = R>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    for row in rows {
        table.add_row(row.as_ref());
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if i == 0 { 0 } else { 2 }, 0));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Breaks text at blanks into lines of at most `columns` that begin with `indent`, each with a line
/// end. A longer word has a line of its own.
pub fn wrap_indented(text: &str, indent: &str, columns: usize) -> String {
    let options = options(columns);
    textwrap::fill(text, options.initial_indent(indent).subsequent_indent(indent)) + "\n"
}

/// Puts a place and a text about it on one line if they fit, else on several.
pub fn at_place(place: &str, text: &str, indent: &str, columns: usize) -> String {
    if text.is_empty() {
        return format!("{indent}{place}\n");
    }
    let line = format!("{indent}{place}: {text}");
    if width(&line) <= columns {
        line + "\n"
    } else {
        format!("{indent}{place}:\n{}", wrap_indented(text, &format!("{indent}  "), columns))
    }
}

/// Returns some words around tokens `start..end`, which are in brackets and marked.
pub fn snippet(
    words: &[&str],
    (start, end): (usize, usize),
    paint: impl Fn(usize) -> Option<Paint>,
) -> String {
    const CONTEXT: usize = 6;
    const MARKED: usize = 12;
    let (first, last) = (start.saturating_sub(CONTEXT), words.len().min(end + CONTEXT));
    let mut parts = Vec::new();
    if first > 0 {
        parts.push("…".to_owned());
    }
    parts.extend(words[first..start].iter().map(|word| printable(word)));
    let painted = |t: usize| {
        let word = printable(words[t]);
        paint(t).map_or(word.clone(), |paint| paint.mark(&word))
    };
    let mut marked: Vec<String> = (start..end).map(painted).collect();
    if marked.len() > MARKED {
        let rest = marked.split_off(marked.len() - MARKED / 2);
        marked.truncate(MARKED / 2);
        marked.push("…".to_owned());
        marked.extend(rest);
    }
    parts.push(format!("[{}]", marked.join(" ")));
    parts.extend(words[end..last].iter().map(|word| printable(word)));
    if last < words.len() {
        parts.push("…".to_owned());
    }
    parts.join(" ")
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
    fn no_control_character_of_a_file_reaches_a_terminal() {
        let controls = ('\0'..='\u{ff}').filter(|c| c.is_control());
        let turns = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        let controls: String = controls.chain(turns.clone()).collect();
        let reaches = |c: char| c.is_control() || turns.clone().any(|turn| turn == c);
        for text in [printable(&controls).into(), printable_lines(&controls)] {
            assert!(text.chars().all(|c| !reaches(c) || "\n\t".contains(c)), "{text:?}");
        }
        assert_eq!(printable_lines("a\tb\nc\r\u{9b}d"), "a\tb\nc\\r\\u{9b}d");
        let json = serde_json::json!([controls]).to_string();
        let json = printable_json(&json);
        assert!(!json.contains(reaches), "{json:?}");
        assert_eq!(printable("\u{202e}evil\u{2069} שלום"), "\\u{202e}evil\\u{2069} שלום");
        assert_eq!(serde_json::from_str::<[String; 1]>(&json).unwrap(), [controls]);
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 8, 2), "one two\n  three");
        assert_eq!(wrap("one two three", 5, 2), "one\n  two\n  three");
        assert_eq!(wrap("incomprehensible it is", 6, 0), "incomprehensible\nit is");
        assert_eq!(wrap("", 6, 0), "");
    }

    #[test]
    fn the_first_column_is_left_aligned_and_the_others_right_aligned() {
        let rows = [["gradient", "error"], ["local", "–"], ["a", "0.25"]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(
            format_table(rows.into_iter()),
            "gradient  error\nlocal         –\na          0.25\n"
        );
    }

    #[test]
    fn lines_are_broken_at_blanks_and_long_words_kept() {
        let long = "x".repeat(100);
        let text = format!("{} {long} {}", "word ".repeat(20).trim(), "y");
        let wrapped = wrap_indented(&text, "  ", 80);
        let lines: Vec<&str> = wrapped.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.starts_with("  ")));
        assert_eq!(lines[2].trim(), long);
        assert!(lines[0].chars().count() <= 80 && lines[0].ends_with("word"));
    }

    #[test]
    fn text_goes_beside_its_place_or_below() {
        assert_eq!(at_place("x:1", "a b", "  ", 80), "  x:1: a b\n");
        let below = at_place(&"x".repeat(75), "a b", "  ", 80);
        assert!(below.ends_with(":\n    a b\n"), "{below}");
    }

    #[test]
    fn snippets_mark_tokens_among_their_neighbors() {
        let words: Vec<String> = (0..30).map(|i| i.to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let text = snippet(&words, (10, 12), |_| None);
        assert_eq!(text, "… 4 5 6 7 8 9 [10 11] 12 13 14 15 16 17 …");
        let all = snippet(&words, (0, 30), |_| None);
        assert_eq!(all, "[0 1 2 3 4 5 … 24 25 26 27 28 29]");
        let hostile = snippet(&["a\u{1b}[0m"], (0, 1), |_| None);
        assert_eq!(hostile, "[a\\u{1b}[0m]");
        let painted = snippet(&["a", "b"], (0, 1), |_| Some(Paint::Bad));
        assert_eq!(painted, format!("[{}] b", Paint::Bad.mark("a")));
    }
}
