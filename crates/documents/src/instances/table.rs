//! Documents in tables with named columns: what these are, by their names and the first lines of a
//! file, and reading the rows.

use std::borrow::Cow;
use std::io::{self, Read};

use csv::{ByteRecord, ReaderBuilder};

use super::{Instance, InstanceContent, InstanceReadOptions};
use dropchain::corpus::{LineReader, Repair};
use dropchain::kernel::corpus::InputStream;
use dropchain::sentence::SourceFile;
use dropchain::{Error, Place, Result};

/// Names that data sets have for the columns of texts, of labels, and of numbers of documents.
const TEXTS: &str = "text sentence review content body tweet message document comment question \
                     utterance title";
const LABELS: &str = "label labels class category target sentiment topic intent rating score";
const NUMBERS: &str = "id idx index guid uid";

/// How the lines of a file with tabs are documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TabbedLines {
    /// A class, a tab and a text: nothing says otherwise.
    Labeled,
    /// The first line names the columns.
    Table,
    /// All lines have this number of cells, more than two, and the first has no names.
    Unnamed(usize),
}

impl TabbedLines {
    /// Decides by the first lines of a file.
    pub fn of(lines: &[String], options: &InstanceReadOptions) -> Self {
        let lines = lines.iter().filter(|line| !line.trim().is_empty());
        let cells =
            lines.map(|line| line.trim_start_matches('\u{feff}').split('\t').map(str::trim));
        let rows: Vec<Vec<&str>> = cells.map(Iterator::collect).collect();
        let Some(first) = rows.first() else { return Self::Labeled };
        let has_text = text_column(first, options).is_some();
        let has_label = label_column(first, options).is_some();
        let is_name = |cell: &&str| [TEXTS, LABELS, NUMBERS].iter().any(|n| is_one_of(cell, n));
        if has_text && (has_label || !options.needs_labels)
            || first.len() > 1 && first.iter().all(is_name)
        {
            return Self::Table;
        }
        match first.len() {
            width @ 3.. if rows.len() > 1 && rows.iter().all(|row| row.len() == width) => {
                Self::Unnamed(width)
            }
            _ => Self::Labeled,
        }
    }
}

/// Returns the column of texts: that of the name in the options or, unless one was chosen, the only
/// one with a common name.
fn text_column(names: &[&str], options: &InstanceReadOptions) -> Option<usize> {
    let has_choice = options.text != InstanceReadOptions::TEXT;
    column(names, &options.text, if has_choice { "" } else { TEXTS })
}

/// Returns the column of labels, in the same way.
fn label_column(names: &[&str], options: &InstanceReadOptions) -> Option<usize> {
    column(names, options.label(), if options.label.is_some() { "" } else { LABELS })
}

fn column(names: &[&str], wanted: &str, known: &str) -> Option<usize> {
    let only = || {
        let mut found = (0..names.len()).filter(|&i| is_one_of(names[i], known));
        found.next().filter(|_| found.next().is_none())
    };
    names.iter().position(|name| *name == wanted).or_else(only)
}

fn is_one_of(name: &str, known: &str) -> bool {
    known.split(' ').any(|known| !known.is_empty() && known.eq_ignore_ascii_case(name))
}

/// Returns what separates the cells of a table whose name ends in `.csv`, by its first line: a
/// comma, unless there is none.
pub(super) fn separator(first: &str) -> u8 {
    let others = [b';', b'\t'].into_iter().filter(|_| !first.contains(','));
    others.into_iter().find(|other| first.as_bytes().contains(other)).unwrap_or(b',')
}

/// A table that is being read.
pub(super) struct Table {
    reader: csv::Reader<Bounded>,
    file: SourceFile,
    record: ByteRecord,
    text: usize, // its column
    label: Option<usize>,
}

impl Table {
    /// Reads the names of the columns. Quotes have no meaning where tabs separate.
    pub fn new(lines: LineReader, separator: u8, options: &InstanceReadOptions) -> Result<Self> {
        let file = lines.file().clone();
        let longest = lines.longest();
        let stream = lines.into_decoded().map_err(|error| Error::io(&*file, error))?;
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .quoting(separator != b'\t')
            .from_reader(Bounded { stream, longest, unread: longest });
        let header = reader.byte_headers().map_err(|error| fault(&file, error))?;
        let names: Vec<Cow<'_, str>> = header.iter().map(String::from_utf8_lossy).collect();
        let names: Vec<&str> =
            names.iter().map(|name| name.trim_start_matches('\u{feff}').trim()).collect();
        let missing = |column: &str| {
            let found = names.join(", ");
            let message = format!("there is no column '{column}'; found {}", found.escape_debug());
            Error::input(Place::line(&*file, 1), message)
        };
        let text = text_column(&names, options).ok_or_else(|| missing(&options.text))?;
        let label = label_column(&names, options);
        if label.is_none() && options.needs_labels {
            return Err(missing(options.label()));
        }
        Ok(Self { reader, file, record: ByteRecord::new(), text, label })
    }

    /// Reads the next row.
    pub fn read(&mut self, options: &InstanceReadOptions) -> Result<Option<Instance>> {
        let row = self.reader.get_mut();
        row.unread = row.longest;
        let read = self.reader.read_byte_record(&mut self.record);
        if !read.map_err(|error| fault(&self.file, error))? {
            return Ok(None);
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        let error = |message: &str| Error::input(Place::line(&*self.file, line), message);
        let cell = |column: usize| {
            let bytes = self.record.get(column).unwrap_or_default();
            let text = String::from_utf8_lossy(bytes);
            if let Cow::Owned(text) = &text {
                if !options.read.text.lossy {
                    return Err(error(
                        "the text is not UTF-8; expected UTF-8, or --encoding NAME or utf-8-lossy",
                    ));
                }
                let places = text.matches('\u{fffd}').count();
                options.read.report.add(&Repair::REPLACED, places as u64);
            }
            Ok(text)
        };
        let content = InstanceContent::Text(cell(self.text)?.into_owned());
        let label = self.label.map(cell).transpose()?.map(|label| label.trim().to_owned());
        let label = options.check_label(label, error)?;
        Ok(Some(Instance { label, content, file: self.file.clone(), line }))
    }
}

/// A stream that fails when a row is too long, such as one whose quotes are never closed.
struct Bounded {
    stream: InputStream,
    longest: usize, // of a row, in bytes
    unread: usize,  // bytes that the row may still have
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.unread == 0 {
            return Err(io::Error::other(format!(
                "a row is longer than {} bytes (is a quote missing?)",
                self.longest
            )));
        }
        let end = buffer.len().min(self.unread);
        let read = self.stream.read(&mut buffer[..end])?;
        self.unread -= read;
        Ok(read)
    }
}

/// Converts an error, with its line.
fn fault(file: &SourceFile, error: csv::Error) -> Error {
    let line = error.position().map_or(1, csv::Position::line);
    let message = match error.into_kind() {
        csv::ErrorKind::Io(error) => return Error::io(&**file, error),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("found {len} cells; expected {expected_len}, one for each column")
        }
        kind => format!("the row cannot be read: {kind:?}"),
    };
    Error::input(Place::line(&**file, line), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_tell_names_of_columns_from_documents() {
        use TabbedLines::{Labeled, Table, Unnamed};
        for (text, expected) in [
            ("text\tlabel\nfine\tgood\n", Table),
            ("sentence\tlabel\nfine\t1\n", Table),
            ("label\tsentence\n1\tfine\n", Table),
            ("\u{feff}id\treview\tsentiment\n7\tfine\t1\n", Table),
            ("Index\tTweet\tClass\tUser\n7\tfine\t1\tk\n", Table),
            // Names, but not of a text: an error lists them.
            ("idx\tlabel\n7\t1\n", Table),
            ("good\tfine\nbad\tdull\n", Labeled),
            ("topic\tthe text\nbad\tdull\n", Labeled),
            ("good\tfine\tindeed\nbad\tdull\n", Labeled),
            ("gj04\t1\t\tThey drank.\ngj04\t0\t*\tThey drank the pub.\n", Unnamed(4)),
            ("good\t7\tfine\n\nbad\t9\tdull\n", Unnamed(3)),
            ("", Labeled),
        ] {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let found = TabbedLines::of(&lines, &InstanceReadOptions::default());
            assert_eq!(found, expected, "{text}");
        }
        let chosen = InstanceReadOptions { text: "plot".to_owned(), ..Default::default() };
        assert_eq!(TabbedLines::of(&["plot\tlabel".to_owned()], &chosen), Table);
        assert_eq!(TabbedLines::of(&["good\tlabel".to_owned()], &chosen), Labeled);
    }

    #[test]
    fn a_column_is_found_by_the_name_that_was_chosen_or_by_the_only_common_one() {
        let options = InstanceReadOptions::default();
        assert_eq!(text_column(&["id", "Sentence", "label"], &options), Some(1));
        assert_eq!(text_column(&["review", "text"], &options), Some(1));
        assert_eq!(text_column(&["review", "title"], &options), None);
        assert_eq!(label_column(&["review", "sentiment"], &options), Some(1));
        let options = InstanceReadOptions {
            text: "plot".to_owned(),
            label: Some("genre".to_owned()),
            ..options
        };
        assert_eq!(text_column(&["text", "label"], &options), None);
        assert_eq!(label_column(&["text", "label"], &options), None);
    }

    #[test]
    fn cells_are_separated_by_semicolons_or_tabs_if_no_comma_is_there() {
        for (line, expected) in
            [("text,label;x", b','), ("text;label", b';'), ("text\tlabel", b'\t'), ("text", b',')]
        {
            assert_eq!(separator(line), expected, "{line}");
        }
    }
}
