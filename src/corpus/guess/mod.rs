//! What a file is, from its name, its first bytes and its first lines.
//!
//! [`FileKind`] is the only decision, for all that read corpora: a kind has a format that reads it,
//! or a sentence that says what the file is and what to do with it. It is a function of bytes and
//! lines. How the rows of columns are laid out is decided next ([`Sheet`](super::sheet::Sheet)).

mod file_kind;
mod line_marks;
#[cfg(test)]
mod tests;

use std::io::BufReader;
use std::path::Path;

use self::file_kind::open_regular;
use self::line_marks::{Rows, are_words, json_kind, kind_of_first_line};
use super::lines::{LineReader, is_blank};
use super::parse::{Format, ReadOptions};
use super::sheet::{CsvRows, csv_rows};
use crate::error::{Error, Place, Result};

pub use file_kind::FileKind;

impl FileKind {
    /// Returns the kind of a file with this name that begins with these lines of text. Without
    /// lines, it is that of the name.
    pub fn of_lines(name: &str, lines: &[String]) -> Self {
        let kind = Self::of_contents(lines);
        match (Format::of_name(name), kind) {
            (Some(Format::Conllu), _) => Self::Conllu,
            (Some(Format::Crfsuite), _) => Self::Crfsuite,
            (Some(Format::Jsonl), Self::Columns | Self::Csv { .. } | Self::Words | Self::Prose) => {
                Self::Jsonl
            }
            _ => kind,
        }
    }

    /// Returns the kind of a file by what it holds, or else by its name. Of what is no regular
    /// file, nothing is read.
    pub fn of_file(name: impl AsRef<Path>) -> Self {
        let path = name.as_ref();
        let name = path.to_string_lossy();
        if let Some(kind) = Self::of_first_bytes(path) {
            return kind;
        }
        let lines = open_regular(path).and_then(|file| {
            let stream = Box::new(BufReader::new(file));
            look_at(&mut LineReader::new(stream, &name)).ok()
        });
        Self::of_lines(&name, &lines.unwrap_or_default())
    }

    fn of_contents(lines: &[String]) -> Self {
        let content: Vec<&str> = lines.iter().map(|l| l.trim()).filter(|l| !l.is_empty()).collect();
        let Some(first) = content.first() else { return Self::Columns };
        let rows = Rows::new(lines);
        None.or_else(|| kind_of_first_line(first))
            .or_else(|| json_kind(&content))
            .or_else(|| rows.conllu())
            .or_else(|| rows.svmlight())
            .or_else(|| rows.crfsuite())
            .or_else(|| rows.opennlp())
            .or_else(|| Self::of_table(lines))
            .or_else(|| rows.tagged())
            .or_else(|| rows.inline())
            .or_else(|| are_words(lines).then_some(Self::Words))
            .or_else(|| rows.ragged())
            .unwrap_or(Self::Columns)
    }

    /// The kind of cells that commas, semicolons or tabs separate.
    fn of_table(lines: &[String]) -> Option<Self> {
        if let Some(CsvRows { separator, has_header, rows }) = csv_rows(lines) {
            return Rows::documents(&rows).or(Some(Self::Csv { separator, has_header }));
        }
        let rows = lines.iter().filter(|line| !is_blank(line));
        let cells = rows.map(|line| line.split('\t').map(str::to_owned).collect());
        Rows::documents(&cells.collect::<Vec<_>>())
    }

    /// The format that reads such a file, which need not have labels if it is `unlabeled`.
    pub fn format(self, unlabeled: bool) -> Option<Format> {
        match self {
            Self::Columns | Self::Csv { .. } | Self::Words => Some(Format::Conll),
            Self::Conllu => Some(Format::Conllu),
            Self::Crfsuite => Some(Format::Crfsuite),
            Self::Jsonl => Some(Format::Jsonl),
            Self::JsonTexts(..) if unlabeled => Some(Format::Jsonl),
            Self::Prose if unlabeled => Some(Format::Text),
            _ => None,
        }
    }
}

impl Format {
    /// Returns the format of an input, of which nothing has been read, by its name and its first
    /// lines.
    ///
    /// # Errors
    ///
    /// The input cannot be read; no format reads it: the kind of the file, and what to do.
    pub fn of_input(lines: &mut LineReader, options: &ReadOptions) -> Result<Self> {
        let first = look_at(lines)?;
        let kind = FileKind::of_lines(lines.file(), &first);
        kind.format(options.unlabeled).ok_or_else(|| {
            let blank = first.iter().take_while(|line| is_blank(line)).count() as u64;
            Error::input(Place::line(&**lines.file(), lines.number() + blank + 1), kind.to_string())
        })
    }

    /// Guesses the format of a file by its name and, of a regular file, its first lines
    /// ([`FileKind`]): CoNLL if neither tells another.
    pub fn guess(source: &str) -> Self {
        FileKind::of_file(source).format(false).unwrap_or(Self::Conll)
    }

    /// Guesses the format of a file whose labels do not matter: like [`guess`](Self::guess), but
    /// running text, and what may be columns in `.txt` or standard input (`-`), are raw text.
    pub fn guess_unlabeled(source: &str) -> Self {
        let name = source.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match FileKind::of_file(source).format(true).unwrap_or(Self::Conll) {
            Self::Conll if name.ends_with(".txt") || name == "-" => Self::Text,
            format => format,
        }
    }
}

/// The first lines of a file, beyond its first sentence if that is short.
fn look_at(lines: &mut LineReader) -> Result<Vec<String>> {
    lines.first_lines(|sentence| sentence.len() < 3)
}
