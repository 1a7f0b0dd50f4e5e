//! Recognizing files that are not in columns, although they are read as such.

use std::fmt;

use crate::corpus::columns::{split_blanks, split_cells};

/// Separators of a word and its tags in tokens such as `Oslo|NNP|I-LOC`.
const TAG_SEPARATORS: [char; 3] = ['|', '/', '_'];

/// Separators of the cells of CSV.
const CSV_SEPARATORS: [char; 2] = [',', ';'];

/// Number of lines of equally many cells that are taken for CSV.
const CSV_LINES: usize = 3;

/// Number of tokens with equally many tags that are taken for them.
const TAGGED_TOKENS: usize = 3;

/// Names of columns of words.
const WORD_NAMES: [&str; 6] = ["token", "tokens", "word", "words", "form", "text"];

/// Names of columns of places.
const PLACE_NAMES: [&str; 8] =
    ["id", "idx", "index", "#", "sentence", "sentence #", "sentence_id", "sent_id"];

/// Names of other columns.
const TAG_NAMES: [&str; 24] = [
    "pos", "tag", "tags", "upos", "xpos", "pos_tag", "postag", "label", "labels", "ner", "ner_tag",
    "ner_tags", "ne", "entity", "chunk", "lemma", "feats", "head", "deprel", "deps", "misc", "bio",
    "iob", "gold",
];

/// A kind of file that is not in columns. Its [`Display`](fmt::Display) form says what it looks
/// like and what reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherKind {
    /// Lines that end in CR alone.
    CarriageReturns,
    /// JSON.
    Json,
    /// XML.
    Xml,
    /// Cells with this separator.
    Csv(char),
    /// Words with tags: what stands before each tag, and the parts of the first token.
    Tagged(char, usize),
}

impl fmt::Display for OtherKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const COLUMNS: &str = "; expected one token per line, its columns separated by tabs or \
                               blanks, and a blank line after each sentence; docs/formats.md says \
                               how to convert";
        match self {
            Self::CarriageReturns => f.write_str(
                "the lines seem to end in CR alone, as on old Macs; expected LF or CRLF (convert \
                 the file, for example with tr '\\r' '\\n')",
            ),
            Self::Json => f.write_str(
                "the file looks like JSON; `format` jsonl reads lines {\"tokens\": […], \
                 \"labels\": […]}, `format` spans texts with spans of characters; \
                 docs/formats.md says how to convert others",
            ),
            Self::Xml => write!(f, "the file looks like XML{COLUMNS}"),
            Self::Csv(separator) => {
                let name = if *separator == ',' { "commas" } else { "semicolons" };
                write!(f, "the file looks like CSV (cells separated by {name}){COLUMNS}")
            }
            Self::Tagged(separator, parts) => {
                let example =
                    ["word", "tag", "label"][..(*parts).clamp(2, 3)].join(&separator.to_string());
                write!(
                    f,
                    "the file looks like tokens {example}, a sentence on each line (as \
                     WikiNER){COLUMNS}: sed 's/$/ /' FILE | tr ' {separator}' '\\n\\t'"
                )
            }
        }
    }
}

/// Returns whether a file with this first line may be of another kind, so that a look at the lines
/// after it is worth it.
pub(super) fn may_be_other(line: &str) -> bool {
    let line = line.trim_start();
    !line.contains('\t')
        && (line.starts_with(['{', '[', '<', '"'])
            || line.contains(CSV_SEPARATORS)
            || split_blanks(line).all(|cell| cell.contains(TAG_SEPARATORS)))
        || line.contains('\r')
}

/// Returns what a file looks like that begins with these lines, which are not blank; `None` if they
/// may be columns.
pub fn recognize(lines: &[String]) -> Option<OtherKind> {
    let first = lines.first()?.trim();
    if first.contains('\r') {
        return Some(OtherKind::CarriageReturns);
    }
    if is_json(first, lines.get(1).map_or("", |line| line.trim())) {
        return Some(OtherKind::Json);
    }
    if first.starts_with("<?xml") || first.starts_with("<!DOCTYPE") {
        return Some(OtherKind::Xml);
    }
    if let Some(separator) = CSV_SEPARATORS.into_iter().find(|&s| is_csv(lines, s)) {
        return Some(OtherKind::Csv(separator));
    }
    let separator = TAG_SEPARATORS.into_iter().find(|&s| are_tagged(lines, s))?;
    Some(OtherKind::Tagged(separator, split_blanks(first).next()?.split(separator).count()))
}

/// Returns whether JSON begins with these two lines, such as an object, or training data of spaCy.
fn is_json(first: &str, second: &str) -> bool {
    let starts = |line: &str, values: &[&str]| values.iter().any(|value| line.starts_with(value));
    let is_value = second == "{" || starts(second, &["{\"", "[\"", "[["]) || second.contains("\":");
    matches!(first, "[" | "{") && is_value
        || starts(first, &["[{\"", "[[\"", "TRAIN_DATA"])
        || first.starts_with('[') && first.contains("\"entities\"")
        || first.starts_with("{\"") && first.contains("\":")
}

/// Returns whether lines are CSV: all have equally many cells, at least two, and as lines of
/// columns they have not.
fn is_csv(lines: &[String], separator: char) -> bool {
    let cells = csv_cells(&lines[0], separator);
    let width = cells.len();
    if width < 2 || lines.iter().any(|line| line.contains('\t')) {
        return false;
    }
    if is_header(&cells) {
        return true;
    }
    let is_quoted = |line: &String| line.starts_with('"') && line.trim_end().ends_with('"');
    let blanks = split_blanks(&lines[0]).count();
    let are_columns = blanks > 1 && lines.iter().all(|line| split_blanks(line).count() == blanks);
    let enough = lines.len() >= CSV_LINES || lines.iter().all(is_quoted);
    enough && !are_columns && lines.iter().all(|line| csv_cells(line, separator).len() == width)
}

/// Splits a line of CSV into cells, without quotes.
fn csv_cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for c in line.trim_end().chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
    }
    cells
}

/// Returns whether all cells of lines are a word with tags, nearly all with equally many: some word
/// may be the separator.
fn are_tagged(lines: &[String], separator: char) -> bool {
    let parts = |cell: &str| match cell.split(separator).all(|part| !part.is_empty()) {
        true => cell.split(separator).count(),
        false => 0,
    };
    let cells: Vec<&str> = lines.iter().flat_map(|line| split_cells(line)).collect();
    let count = cells.first().map_or(0, |cell| parts(cell));
    let enough = match (separator, count) {
        ('|', 3..) => TAGGED_TOKENS - 1,
        _ => TAGGED_TOKENS,
    };
    let is_long = lines.len() >= enough || split_blanks(&lines[0]).count() >= enough;
    let equal = cells.iter().filter(|cell| parts(cell) == count).count();
    let all = cells.iter().all(|cell| cell.contains(separator));
    count >= 2 && all && is_long && cells.len() >= enough && 10 * equal >= 9 * cells.len()
}

/// Returns whether cells look like names of columns: that of words or places, and at least half of
/// the others as well.
pub(super) fn is_header(cells: &[impl AsRef<str>]) -> bool {
    let names = cells.iter().map(|cell| cell.as_ref().trim().to_lowercase());
    let names: Vec<String> = names.collect();
    let is_word = |name: &str| name.is_empty() || is_word_name(name) || PLACE_NAMES.contains(&name);
    let is_tag = |name: &str| {
        TAG_NAMES.contains(&name) || name.starts_with("ne-") || name.starts_with("nel-")
    };
    let Some((first, others)) = names.split_first().filter(|(_, others)| !others.is_empty()) else {
        return false;
    };
    let known = others.iter().filter(|name| is_tag(name) || is_word(name)).count();
    !cells[0].as_ref().is_empty() && is_word(first) && 2 * known >= others.len()
}

/// Returns whether a cell names the column of words.
pub(super) fn is_word_name(cell: &str) -> bool {
    WORD_NAMES.contains(&&*cell.trim().to_lowercase())
}
