//! How a CoNLL file is laid out: its separator and the names of its columns, by its first lines.

use std::sync::Arc;

use super::kind::{is_word_name, may_be_other, recognize};
use crate::corpus::columns::{
    CONLLU_COLUMNS, DOCUMENT_START, JOINED_PARTIAL, find_labels, first_of_last, labeled_schema,
    no_label_column, split_blanks, split_cells,
};
use crate::corpus::lines::{InputLine, LineReader, is_blank};
use crate::corpus::parse::ReadOptions;
use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, list_names};

/// Maximum number of lines that are looked at before the first sentence is read, and of their
/// bytes.
const MAX_LINES: usize = 100;
const MAX_BYTES: usize = 1 << 20;

/// What the first lines of a file say about its columns, beside the line of the first token.
#[derive(Debug, Default)]
pub(in crate::corpus) struct FirstLines {
    /// The first column numbers the tokens of each sentence.
    pub are_numbered: bool,
    /// The names of the columns in the header row, if there is one.
    pub header: Option<Vec<String>>,
}

/// The properties of a file that its first token line determines.
#[derive(Debug)]
pub(in crate::corpus) struct ColumnLayout {
    pub schema: Arc<Schema>,
    /// Cells are separated by tabs, not by runs of blanks.
    pub tabs: bool,
    comment: Option<u64>, // the line of the first token if it may be a comment
}

impl FirstLines {
    /// Looks at the first lines. Reads no line after the first sentence, unless its first cell
    /// looks like the number of a token.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it looks like one of another kind.
    pub fn look_at(lines: &mut LineReader, options: &ReadOptions) -> Result<Self> {
        let is_comment = |text: &str| options.lines.comments && text.starts_with('#');
        let is_boundary = |text: &str| split_blanks(text).next() == Some(DOCUMENT_START);
        let is_content = |text: &str| !(is_blank(text) || is_comment(text) || is_boundary(text));
        let Some(start) = find(lines, 0, is_content)? else {
            return Ok(Self::default());
        };
        if let Some(kind) = recognize(&window(lines, start, may_be_other, is_blank)?) {
            let place = Place::line(&**lines.file(), lines.number() + start as u64 + 1);
            return Err(Error::input(place, kind.to_string()));
        }
        let first = match options.lines.header {
            true => find(lines, start + 1, is_content)?,
            false => Some(start),
        };
        let Some(first) = first.filter(|_| options.columns.is_none()) else {
            return Ok(Self::default());
        };
        let may_be_number = |text: &str| number(text).is_some_and(|number| number < 2);
        let mut window = window(lines, first, may_be_number, |_| false)?;
        window.retain(|text| !is_comment(text));
        Ok(Self { are_numbered: are_numbered(&window), header: None })
    }
}

/// Returns the number of the first line from `start` on that fits, if one of the next does.
fn find(
    lines: &mut LineReader,
    start: usize,
    fits: impl Fn(&str) -> bool,
) -> Result<Option<usize>> {
    for i in start..start + MAX_LINES {
        match lines.peek(i)? {
            Some(text) if fits(&text) => return Ok(Some(i)),
            Some(_) => {}
            None => break,
        }
    }
    Ok(None)
}

/// Returns line `start` and, if this is `suspicious`, the lines after it up to an `end`.
fn window(
    lines: &mut LineReader,
    start: usize,
    suspicious: impl Fn(&str) -> bool,
    end: impl Fn(&str) -> bool,
) -> Result<Vec<String>> {
    let (mut window, mut bytes) = (Vec::new(), 0);
    while let Some(text) = lines.peek(start + window.len())? {
        bytes += text.len();
        let is_last = window.is_empty() && !suspicious(&text) || window.len() + 1 == MAX_LINES;
        if !window.is_empty() && end(&text) {
            break;
        }
        window.push(text);
        if is_last || bytes > MAX_BYTES {
            break;
        }
    }
    Ok(window)
}

/// The number in the first cell of a line, if it is one.
fn number(line: &str) -> Option<u64> {
    let cell = split_cells(line).first().copied()?.parse().ok()?;
    Some(cell).filter(|_| line.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether the first column numbers the tokens of each sentence, from 0 or 1, and there is
/// a sentence of several.
fn are_numbered(lines: &[String]) -> bool {
    let start = lines.first().and_then(|line| number(line));
    let (mut next, mut longest) = (start, 0);
    for line in lines {
        if is_blank(line) {
            next = start;
            continue;
        }
        if next.is_none() || number(line) != next {
            return false;
        }
        longest = longest.max(next.unwrap_or(0) - start.unwrap_or(0));
        next = next.map(|next| next + 1);
    }
    start.is_some_and(|start| start < 2) && longest > 0
}

impl ColumnLayout {
    /// Detects the layout of the file whose first token is on `line`.
    pub fn new(line: &InputLine, first: &FirstLines, options: &ReadOptions) -> Result<Self> {
        let may_be_comment = is_comment(line, options);
        let schema = Self::schema(line, first, options).map_err(|error| match may_be_comment {
            true => with_hint(error, COMMENT),
            false => error,
        })?;
        if schema.joined().is_some() && options.supervision.partial_labels {
            return Err(line.error(JOINED_PARTIAL));
        }
        Ok(Self {
            schema: Arc::new(schema.with_line_rules(options.lines)),
            tabs: line.text.contains('\t'),
            comment: may_be_comment.then_some(line.number),
        })
    }

    fn schema(line: &InputLine, first: &FirstLines, options: &ReadOptions) -> Result<Schema> {
        let width = split_cells(line.text).len();
        match (&options.columns, &first.header) {
            (Some(names), _) => named_columns(line, width, names, options),
            (None, Some(row)) => {
                let names = names_of_header(row, usize::from(first.are_numbered));
                named_columns(line, width, &names, options).map_err(|error| match error {
                    Error::Parameter(fault) => line.error(format!("in the header row: {fault}")),
                    other => other,
                })
            }
            (None, None) => default_columns(line, width, first.are_numbered, options),
        }
    }

    /// The layout of a file with these columns, separated by tabs.
    pub fn of_tabs(schema: Schema) -> Self {
        Self { schema: Arc::new(schema), tabs: true, comment: None }
    }

    /// Splits a line into cells.
    pub fn cells<'a>(&self, line: &'a str) -> Vec<&'a str> {
        match self.tabs {
            true => line.split('\t').collect(),
            false => split_blanks(line).collect(),
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
    let without = first_of_last(&label, names.len()).filter(|_| options.unlabeled);
    if width == names.len() {
        // In a file to be tagged, the last column is not the label by default, and none is joined.
        let labeled = !options.unlabeled || (options.label.is_some() && label.len() == 1);
        return match labeled {
            true => labeled_schema(names.to_vec(), &label),
            false => Schema::new(names.to_vec(), None),
        };
    }
    if let Some(without) = without.filter(|&without| width == without && width > 0) {
        return Schema::new(names[..without].to_vec(), None);
    }
    let or_fewer = match without {
        Some(without) if without > 0 => format!(", or {without} without the label"),
        _ => String::new(),
    };
    Err(line.error(format!(
        "expected {} columns ({}){or_fewer}, found {width}",
        names.len(),
        list_names(names),
    )))
}

/// The default columns of a file of `width` columns: `word`, indices and, unless several columns
/// are joined, `label`. If the first column numbers tokens, it is `id`, and the words are in the
/// second.
fn default_columns(
    line: &InputLine,
    width: usize,
    are_numbered: bool,
    options: &ReadOptions,
) -> Result<Schema> {
    let mut names: Vec<String> = (0..width).map(|column| column.to_string()).collect();
    let labels = usize::from(!options.unlabeled);
    let word = usize::from(are_numbered && width > 1 + labels);
    if let Some(name) = names.get_mut(word) {
        "word".clone_into(name);
    }
    if word > 0 {
        "id".clone_into(&mut names[0]);
        let conllu = match width == CONLLU_COLUMNS.len() {
            true => "; `format` conllu reads CoNLL-U",
            false => "",
        };
        let place = Place::line(&**line.file, line.number);
        let decided = format!(
            "column 1 numbers the tokens of each sentence: words are taken from column 2 \
             (`columns` names the columns{conllu})"
        );
        options.report.warn(place, decided);
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

/// Where the labels are among the columns `names`: in the selected ones, by default the last.
fn label_columns(line: &InputLine, names: &[String], options: &ReadOptions) -> Result<Vec<usize>> {
    let found = match options.label.as_deref() {
        None => names.len().checked_sub(1).map(|last| vec![last]),
        Some(name) => find_labels(names, name).map_err(|message| line.error(message))?,
    };
    found.ok_or_else(|| no_label_column(line, options.label.as_deref().unwrap_or_default(), names))
}
