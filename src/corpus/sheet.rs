//! How the rows of a file of columns are laid out: header rows, and columns of places.

use std::borrow::Cow;
use std::collections::HashSet;

use super::columns::{DOCUMENT_START, row_cells, split_blanks};
use super::lines::{LineReader, is_blank};
use super::parse::ReadOptions;
use crate::csv::csv_cells;
use crate::error::Result;

/// Separators of the cells of CSV.
const CSV_SEPARATORS: [char; 2] = [',', ';'];

/// Number of lines of equally many cells that are taken for CSV.
const CSV_LINES: usize = 3;

/// A quote as a cell of a table that a spreadsheet has written with tabs: others may be quoted.
const QUOTED_QUOTE: &str = "\"\"\"\"";

/// So many equal cells are no words that repeat.
const LONG_RUN: usize = 10;

/// Names of columns of words.
const WORD_NAMES: [&str; 6] = ["token", "tokens", "word", "words", "form", "text"];

/// Names of columns of sentences.
const SENTENCE_NAMES: [&str; 6] =
    ["sentence", "sentence #", "sentence_id", "sentence_idx", "sent_id", "sent"];

/// Names of columns of other places.
const PLACE_NAMES: [&str; 8] =
    ["id", "idx", "index", "#", "token_id", "word_id", "doc_id", "document"];

/// Names of other columns.
const TAG_NAMES: [&str; 24] = [
    "pos", "tag", "tags", "upos", "xpos", "pos_tag", "postag", "label", "labels", "ner", "ner_tag",
    "ner_tags", "ne", "entity", "chunk", "lemma", "feats", "head", "deprel", "deps", "misc", "bio",
    "iob", "gold",
];

/// The first rows of a table whose cells commas or semicolons separate.
pub(super) struct CsvRows {
    pub separator: char,
    pub has_header: bool,
    pub rows: Vec<Vec<String>>,
}

/// Returns the rows of CSV: all have equally many cells, at least two, and as lines of columns they
/// have not.
pub(super) fn csv_rows(lines: &[String]) -> Option<CsvRows> {
    let lines: Vec<&String> = lines.iter().filter(|line| !is_blank(line)).collect();
    let first = lines.first().filter(|_| !lines.iter().any(|line| line.contains('\t')))?;
    let blanks = split_blanks(first).count();
    let are_columns = blanks > 1 && lines.iter().all(|line| split_blanks(line).count() == blanks);
    let is_quoted = |line: &&String| line.starts_with('"') && line.trim_end().ends_with('"');
    CSV_SEPARATORS.into_iter().find_map(|separator| {
        let cells =
            |line: &&String| csv_cells(line, separator).into_iter().map(Cow::into_owned).collect();
        let rows: Vec<Vec<String>> = lines.iter().map(cells).collect();
        let width = rows[0].len();
        let has_header = width > 1 && is_header(&rows[0]);
        let enough = lines.len() >= CSV_LINES || lines.iter().all(is_quoted);
        let are_rows = rows.iter().all(|row| row.len() == width);
        let is_csv = match has_header {
            true => are_rows || !are_columns,
            false => are_rows && enough && !are_columns,
        };
        (width > 1 && is_csv).then_some(CsvRows { separator, has_header, rows })
    })
}

/// What the first lines of a file say about its columns, beside the line of the first token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sheet {
    /// The separator of CSV; otherwise cells are separated by tabs or blanks.
    pub separator: Option<char>,
    /// The first row has the names of columns.
    pub has_header: bool,
    /// These names, once the row has been read.
    pub header: Option<Vec<String>>,
    /// Columns that are the same within a sentence: a change ends it.
    pub places: Vec<usize>,
    /// The column that numbers the tokens of each sentence, and the first number: one begins there.
    pub number: Option<(usize, u64)>,
}

impl Sheet {
    /// Looks at the first lines. Reads none after the first sentence, unless its first cells look
    /// like places and no names of columns are given.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn look_at(lines: &mut LineReader, options: &ReadOptions) -> Result<Self> {
        let content = |lines: &[String]| -> Vec<String> {
            let is_comment = |line: &str| options.lines.comments && line.starts_with('#');
            let is_boundary = |line: &str| split_blanks(line).next() == Some(DOCUMENT_START);
            let is_row = |line: &&String| !is_comment(line) && !is_boundary(line);
            lines.iter().filter(is_row).cloned().collect()
        };
        let names = options.columns.is_none();
        let first = lines.first_lines(|first| {
            let first = content(first);
            let rows = || first.iter().filter(|line| !is_blank(line));
            let cells: Vec<&str> = rows().filter_map(|line| split_blanks(line).next()).collect();
            let may_be_place = |cell: &str| cell.ends_with(|c: char| c.is_ascii_digit());
            let are_runs = 2 * cells.chunk_by(|a, b| a == b).count() <= cells.len();
            let is_csv = || csv_rows(&first).is_some();
            cells.is_empty() || names && (are_runs || may_be_place(cells[0]) || is_csv())
        })?;
        Ok(Self::of(&content(&first), options))
    }

    /// Returns the layout of a file with these lines, none of which are comments.
    pub fn of(lines: &[String], options: &ReadOptions) -> Self {
        let csv = csv_rows(lines);
        let is_quoted = |line: &String| line.split('\t').any(|cell| cell == QUOTED_QUOTE);
        let tab = lines.iter().any(is_quoted).then_some('\t');
        let separator = csv.as_ref().map(|csv| csv.separator).or(tab);
        let cells = |line: &String| match is_blank(line) {
            true => Vec::new(),
            false => row_cells(line, separator).into_iter().map(Cow::into_owned).collect(),
        };
        let mut rows: Vec<Vec<String>> = lines.iter().map(cells).collect();
        let start = rows.iter().take_while(|row| row.is_empty()).count();
        let mut rows = rows.split_off(start);
        let is_csv = csv.is_some_and(|csv| csv.has_header);
        let has_header = options.lines.header || is_csv || has_header(&rows);
        let header = (has_header && !rows.is_empty()).then(|| rows.remove(0));
        let mut sheet = Self { separator, has_header, ..Self::default() };
        // Columns of places have such names, or else are the first and hold such cells.
        let names = options.columns.as_ref().or(header.as_ref());
        let width = rows.iter().map(Vec::len).find(|&width| width > 0).unwrap_or(0);
        let last = width.saturating_sub(1 + usize::from(!options.unlabeled));
        for column in 0..width {
            let name = names.map(|names| names.get(column).map_or("", |name| &**name));
            let is_sentence = name.is_some_and(is_sentence_name);
            if !name.map_or(column < last && column == sheet.count(), is_place_name) {
                continue;
            }
            let cells = cells_of(&rows, column);
            match (&sheet.number, first_number(&cells)) {
                _ if is_sentence || are_constant(&cells) => sheet.places.push(column),
                (None, Some(first)) => sheet.number = Some((column, first)),
                _ => {}
            }
        }
        sheet
    }

    /// The number of columns of places.
    pub fn count(&self) -> usize {
        self.places.len() + usize::from(self.number.is_some())
    }
}

/// The cells of a column in each of the first sentences, which blank rows separate. An empty one is
/// as the one before.
fn cells_of(rows: &[Vec<String>], column: usize) -> Vec<Vec<&str>> {
    let mut before = "";
    let mut sentences = vec![Vec::new()];
    for row in rows {
        match row.get(column) {
            _ if row.iter().all(String::is_empty) => {
                sentences.push(Vec::new());
                continue;
            }
            Some(cell) if !cell.is_empty() => before = cell,
            _ => {}
        }
        sentences.last_mut().into_iter().for_each(|cells| cells.push(before));
    }
    sentences.retain(|cells| !cells.is_empty());
    sentences
}

/// Returns whether cells are the same in each sentence, of which some have several tokens; without
/// blank rows, whether equal cells follow each other.
fn are_constant(cells: &[Vec<&str>]) -> bool {
    let rows: usize = cells.iter().map(Vec::len).sum();
    let runs = cells.iter().flat_map(|cells| cells.chunk_by(|a, b| a == b));
    let runs: Vec<&str> = runs.map(|run| run[0]).collect();
    if cells.len() > 1 {
        return runs.len() == cells.len() && rows >= 2 * runs.len();
    }
    let numbers: Vec<u64> = runs.iter().map_while(|run| run.parse().ok()).collect();
    let are_numbers = numbers.len() == runs.len()
        && numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    let distinct: HashSet<&&str> = runs.iter().collect();
    let are_names = distinct.len() == runs.len() && rows >= 2 * runs.len();
    rows > runs.len() && are_numbers || are_names && (runs.len() > 1 || rows >= LONG_RUN)
}

/// Returns the first number, 0 or 1, if cells number the tokens of each sentence, of which one has
/// several.
fn first_number(cells: &[Vec<&str>]) -> Option<u64> {
    let first: u64 = cells.first()?[0].parse().ok().filter(|&number| number < 2)?;
    let mut last = first;
    for sentence in cells {
        let mut next = first;
        for cell in sentence {
            let number: u64 = cell.parse().ok()?;
            if number != next && number != first {
                return None;
            }
            last = last.max(number);
            next = number.saturating_add(1);
        }
    }
    (last > first).then_some(first)
}

/// Returns whether the first of several rows is a header row: it and its last cell look like names
/// of columns, and that is in no other row.
fn has_header(rows: &[Vec<String>]) -> bool {
    let Some((first, others)) = rows.split_first().filter(|(_, others)| !others.is_empty()) else {
        return false;
    };
    let is_name = first.last().is_some_and(|last| is_header(&[&first[0], last]));
    is_name && is_header(first) && !others.iter().any(|row| row.last() == first.last())
}

/// Returns whether cells look like names of columns: that of words or places, and at least half of
/// the others as well.
fn is_header(cells: &[impl AsRef<str>]) -> bool {
    let names: Vec<String> = cells.iter().map(|cell| cell.as_ref().trim().to_lowercase()).collect();
    let is_word = |name: &str| name.is_empty() || is_word_name(name) || is_place_name(name);
    let is_tag = |name: &str| {
        TAG_NAMES.contains(&name) || name.starts_with("ne-") || name.starts_with("nel-")
    };
    let Some((first, others)) = names.split_first().filter(|(_, others)| !others.is_empty()) else {
        return false;
    };
    let known = others.iter().filter(|name| is_tag(name) || is_word(name)).count();
    !first.is_empty() && is_word(first) && 2 * known >= others.len()
}

/// Returns whether a cell names the column of words.
pub(super) fn is_word_name(cell: &str) -> bool {
    WORD_NAMES.contains(&&*cell.trim().to_lowercase())
}

/// Returns whether a cell names a column of sentences.
fn is_sentence_name(cell: &str) -> bool {
    SENTENCE_NAMES.contains(&&*cell.trim().to_lowercase())
}

/// Returns whether a cell names a column of places: of sentences, or of tokens.
pub(super) fn is_place_name(cell: &str) -> bool {
    is_sentence_name(cell) || PLACE_NAMES.contains(&&*cell.trim().to_lowercase())
}
