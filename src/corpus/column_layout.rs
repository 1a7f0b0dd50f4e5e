//! How a CoNLL file is laid out: its separator and the names of its columns.

use std::borrow::Cow;
use std::sync::Arc;

use super::columns::{
    JOINED_PARTIAL, find_labels, first_of_last, labeled_schema, no_label_column, row_cells,
    split_blanks,
};
use super::lines::InputLine;
use super::parse::ReadOptions;
use super::sheet::{Sheet, is_place_name, is_word_name};
use crate::csv::csv_cells;
use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, list_names};

/// The properties of a file that its first token line determines.
#[derive(Debug)]
pub(super) struct ColumnLayout {
    pub schema: Arc<Schema>,
    /// Cells are separated by tabs, not by runs of blanks.
    pub tabs: bool,
    /// The separator of CSV, which is none of them.
    pub csv: Option<char>,
    comment: Option<u64>, // the line of the first token if it may be a comment
}

impl ColumnLayout {
    /// Detects the layout of the file whose first token is on `line`.
    pub fn new(line: &InputLine, sheet: &Sheet, options: &ReadOptions) -> Result<Self> {
        let may_be_comment = is_comment(line, options);
        let schema = Self::schema(line, sheet, options).map_err(|error| match sheet.separator {
            _ if may_be_comment => with_hint(error, COMMENT),
            Some(_) => with_quote_hint(line, error),
            None => error,
        })?;
        if schema.joined().is_some() && options.supervision.partial_labels {
            return Err(line.error(JOINED_PARTIAL));
        }
        Ok(Self {
            schema: Arc::new(schema.with_line_rules(options.lines)),
            tabs: sheet.separator.is_none() && line.text.contains('\t'),
            csv: sheet.separator,
            comment: may_be_comment.then_some(line.number),
        })
    }

    fn schema(line: &InputLine, sheet: &Sheet, options: &ReadOptions) -> Result<Schema> {
        let width = row_cells(line.text, sheet.separator).len();
        match (&options.columns, &sheet.header) {
            (Some(names), _) => named_columns(line, width, names, options),
            (None, Some(row)) => {
                let word = usize::from(sheet.number.is_some_and(|(column, _)| column == 0));
                let names = names_of_header(row, word);
                named_columns(line, width, &names, options).map_err(|error| match error {
                    Error::Parameter(fault) => line.error(format!("in the header row: {fault}")),
                    other => other,
                })
            }
            (None, None) => default_columns(line, width, sheet, options),
        }
    }

    /// The layout of a file with these columns, separated by tabs.
    pub fn of_tabs(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), tabs: true, csv: None, comment: None }
    }

    /// Splits a line into cells.
    pub fn cells<'a>(&self, line: &'a str) -> Vec<Cow<'a, str>> {
        match (self.csv, self.tabs) {
            (Some(separator), _) => csv_cells(line, separator),
            (None, true) => line.split('\t').map(Cow::Borrowed).collect(),
            (None, false) => split_blanks(line).map(Cow::Borrowed).collect(),
        }
    }

    /// Explains an error of the number of columns on `line`.
    pub fn explain(&self, line: &InputLine, error: Error, options: &ReadOptions) -> Error {
        let has_tab = line.text.contains('\t');
        let why = if self.cells(line.text).len() == self.schema.input_names().len() {
            return error;
        } else if is_comment(line, options) {
            COMMENT.to_owned()
        } else if let Some(number) = self.comment {
            format!("line {number} begins with '#': {COMMENT}")
        } else if self.csv.is_some() {
            return with_quote_hint(line, error);
        } else if self.tabs && !has_tab && line.text.contains(' ') {
            "the file's columns are separated by tabs, this line has only blanks".to_owned()
        } else if !self.tabs && has_tab {
            "the file's columns are separated by blanks, as its first line has no tab; this line \
             has tabs"
                .to_owned()
        } else {
            return error;
        };
        with_hint(error, &why)
    }
}

/// The hint for a line that cannot be a token, but looks like a comment.
const COMMENT: &str = "is it a comment? `comments` skips lines that begin with '#'";

fn is_comment(line: &InputLine, options: &ReadOptions) -> bool {
    line.text.starts_with('#') && !options.lines.comments
}

/// Appends a hint to an error of a row of CSV if it has a quote without another.
fn with_quote_hint(line: &InputLine, error: Error) -> Error {
    match line.text.matches('"').count() % 2 {
        0 => error,
        _ => with_hint(error, "does a quoted cell end on another line? Cells have no line ends"),
    }
}

/// Appends a hint to an error in an input.
fn with_hint(error: Error, hint: &str) -> Error {
    match error {
        Error::Input { place, message } => Error::input(place, format!("{message} ({hint})")),
        other => other,
    }
}

/// The names of columns in a header row. Templates need a column of words: if none has this name,
/// it is the one whose name means it, or else the column `word`.
fn names_of_header(row: &[String], word: usize) -> Vec<String> {
    let name = |(i, cell): (usize, &String)| match cell.trim() {
        "" => i.to_string(),
        name => name.to_owned(),
    };
    let mut names: Vec<String> = row.iter().enumerate().map(name).collect();
    if !names.iter().any(|name| name == "word" || name == "form") {
        let found = names.iter().position(|name| is_word_name(name));
        if let Some(name) = names.get_mut(found.unwrap_or(word)) {
            "word".clone_into(name);
        }
    }
    names
}

/// The columns of a file of `width` columns with the given names.
fn named_columns(
    line: &InputLine,
    width: usize,
    names: &[String],
    options: &ReadOptions,
) -> Result<Schema> {
    let label = label_columns(line, names, options)?;
    let without = first_of_last(&label, names.len());
    let without = without.filter(|&without| options.unlabeled && without > 0);
    if width == names.len() {
        // In a file to be tagged, the last column is not the label by default, and none is joined.
        let labeled = !options.unlabeled || (options.label.is_some() && label.len() == 1);
        return match labeled {
            true => labeled_schema(names.to_vec(), &label),
            false => Schema::new(names.to_vec(), None),
        };
    }
    if without == Some(width) {
        return Schema::new(names[..width].to_vec(), None);
    }
    let or_fewer = without.map(|without| format!(", or {without} without the label"));
    Err(line.error(format!(
        "expected {} columns ({}){}, found {width}",
        names.len(),
        list_names(names),
        or_fewer.unwrap_or_default()
    )))
}

/// The default columns of a file of `width` columns: `word`, indices and, unless several columns
/// are joined, `label`. Words are in the column after those of places: `sentence`, and `id` for the
/// numbers of tokens.
fn default_columns(
    line: &InputLine,
    width: usize,
    sheet: &Sheet,
    options: &ReadOptions,
) -> Result<Schema> {
    let mut names: Vec<String> = (0..width).map(|column| column.to_string()).collect();
    let labels = usize::from(!options.unlabeled);
    let word = sheet.count();
    let word = if width > word + labels { word } else { 0 };
    if let Some(name) = names.get_mut(word) {
        "word".clone_into(name);
    }
    if word > 0 {
        let place = Place::line(&**line.file, line.number);
        options.report.warn(place, name_places(&mut names, sheet));
    }
    if options.unlabeled {
        return Schema::new(names, None);
    }
    if width < 2 {
        return Err(line
            .error(format!("expected at least 2 columns (a word and its label), found {width}")));
    }
    let label = match options.label.as_deref() {
        None | Some("label") => vec![width - 1],
        Some(_) => label_columns(line, &names, options)?,
    };
    if let [label] = label[..] {
        "label".clone_into(&mut names[label]);
    }
    labeled_schema(names, &label)
}

/// Names the columns of places, and returns what is said of them.
fn name_places(names: &mut [String], sheet: &Sheet) -> String {
    let mut said = Vec::new();
    if let Some(&first) = sheet.places.first() {
        "sentence".clone_into(&mut names[first]);
        said.push(format!("column {} is the same in each sentence", first + 1));
    }
    if let Some((number, _)) = sheet.number {
        "id".clone_into(&mut names[number]);
        said.push(format!("column {} numbers the tokens of each sentence", number + 1));
    }
    let word = sheet.count() + 1;
    format!("{}: words are taken from column {word} (`columns` names the columns)", said.join(", "))
}

/// Where the labels are among the columns `names`: in the selected ones, by default the last
/// that is not one of places.
fn label_columns(line: &InputLine, names: &[String], options: &ReadOptions) -> Result<Vec<usize>> {
    let found = match options.label.as_deref() {
        None => {
            let last = names.iter().rposition(|name| !is_place_name(name)).filter(|&last| last > 0);
            last.or(names.len().checked_sub(1)).map(|last| vec![last])
        }
        Some(name) => find_labels(names, name).map_err(|message| line.error(message))?,
    };
    found.ok_or_else(|| no_label_column(line, options.label.as_deref().unwrap_or_default(), names))
}
