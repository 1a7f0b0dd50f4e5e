//! Documents with a class: files of one document per line, of ready-made features, of one document
//! each.

mod folder;
mod json;
mod line;
mod svmlight;
mod table;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use super::lines::LineReader;
use super::parse::ReadOptions;
use super::reader::{check_sources, open_stream};
use crate::error::{Error, Place, Result};
use table::Table;

/// A document: a text, or features that were made elsewhere, perhaps with its class.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The name of its class, if it is known.
    pub label: Option<String>,
    /// What it consists of.
    pub content: InstanceContent,
    /// The name of its file; `-` is standard input.
    pub file: Arc<str>,
    /// Its first line in the file, from 1; 0 if it is the whole file.
    pub line: u64,
}

/// What a document consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum InstanceContent {
    /// Text.
    Text(String),
    /// Names of features with their values.
    Features(Vec<(String, f64)>),
}

/// How files store documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstanceFormat {
    /// Lines with the class, a tab, and the text.
    Labeled,
    /// Lines of text, without classes.
    Text,
    /// Comma-separated values (RFC 4180); the first row has the names of the columns.
    Csv,
    /// Values separated by tabs; the first row has the names of the columns.
    Tsv,
    /// JSON lines: objects with a text and a class.
    Jsonl,
    /// Lines of ready-made features as in SVMlight and LIBSVM: the class, then `index:value` with
    /// ascending indices from 1, then perhaps a comment after `#`.
    Svmlight,
    /// A folder with a folder of files for each class, or with files without classes.
    Folder,
}

/// What to read documents from, and how.
#[derive(Clone, Debug)]
pub struct InstanceReadOptions {
    /// The format; `None`: by name, and of `.tsv` by whether the first line names the columns.
    pub format: Option<InstanceFormat>,
    /// The format of files whose name does not tell.
    pub default_format: InstanceFormat,
    /// The column or key of texts.
    pub text: String,
    /// The column or key of classes.
    pub label: String,
    /// Whether a document without a class is an error.
    pub needs_labels: bool,
    /// The encoding, the report of what was replaced, and the limit on memory; the rest is unused.
    pub read: ReadOptions,
}

impl Default for InstanceReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            default_format: InstanceFormat::Labeled,
            text: "text".to_owned(),
            label: "label".to_owned(),
            needs_labels: true,
            read: ReadOptions::default(),
        }
    }
}

impl Instance {
    /// Creates a document in memory from a text.
    #[must_use]
    pub fn from_text(text: impl Into<String>) -> Self {
        Self {
            label: None,
            content: InstanceContent::Text(text.into()),
            file: "-".into(),
            line: 1,
        }
    }

    /// Creates a document in memory from names of features with their values.
    #[must_use]
    pub fn from_features<S: Into<String>>(features: impl IntoIterator<Item = (S, f64)>) -> Self {
        let features = features.into_iter();
        let features = features.map(|(name, value)| (name.into(), value));
        Self {
            content: InstanceContent::Features(features.collect()),
            ..Self::from_text("")
        }
    }

    /// Returns the document with its class.
    #[must_use]
    pub fn with_label(self, label: impl Into<String>) -> Self {
        Self {
            label: Some(label.into()),
            ..self
        }
    }

    /// Returns the document without its class.
    #[must_use]
    pub fn without_label(self) -> Self {
        Self {
            label: None,
            ..self
        }
    }

    /// Returns where the document begins.
    #[must_use]
    pub fn place(&self) -> Place {
        match self.line {
            0 => Place::file(&*self.file),
            line => Place::line(&*self.file, line),
        }
    }
}

impl InstanceFormat {
    /// Returns the format that the name of a file tells, after an ending `.gz`; `None` for other
    /// names.
    #[must_use]
    pub fn of_name(name: &OsStr) -> Option<Self> {
        let path = Path::new(name);
        if path.is_dir() {
            return Some(Self::Folder);
        }
        let path = match path.extension() {
            Some(extension) if extension == "gz" => Path::new(path.file_stem()?),
            _ => path,
        };
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "jsonl" | "json" | "ndjson" => Some(Self::Jsonl),
            "svm" | "svmlight" | "libsvm" => Some(Self::Svmlight),
            _ => None,
        }
    }
}

/// An iterator over the documents of some inputs. It ends after an error.
pub struct InstanceReader {
    options: InstanceReadOptions,
    pending: VecDeque<Input>,
    current: Option<Open>,
}

/// An input that has not been opened.
struct Input {
    path: OsString,
    /// If the input is one document: its class, if it is known.
    whole: Option<Option<String>>,
}

/// The input that is being read.
enum Open {
    Lines(LineReader, InstanceFormat),
    Table(Box<Table>),
}

impl InstanceReader {
    /// Reads files or folders in order; `-` is standard input. gzip is recognized by its magic
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file does not exist, or a folder cannot be read; [`Error::Parameter`] if
    /// there are no sources, or standard input twice, or a folder has another format or no files.
    pub fn open<S: AsRef<OsStr>>(sources: &[S], options: &InstanceReadOptions) -> Result<Self> {
        check_sources(sources)?;
        let mut pending = VecDeque::new();
        for source in sources {
            let source = source.as_ref();
            let is_folder = Path::new(source).is_dir();
            match options.format {
                Some(InstanceFormat::Folder) | None if is_folder => {
                    pending.extend(folder::inputs(Path::new(source), options)?);
                }
                Some(InstanceFormat::Folder) => {
                    let message = "expected a folder of documents";
                    return Err(Error::input(Place::file(source.to_string_lossy()), message));
                }
                _ if is_folder => {
                    let message = "found a folder; expected a file in the format that was given";
                    return Err(Error::input(Place::file(source.to_string_lossy()), message));
                }
                _ => pending.push_back(Input {
                    path: source.to_owned(),
                    whole: None,
                }),
            }
        }
        Ok(Self {
            options: options.clone(),
            pending,
            current: None,
        })
    }

    fn read(&mut self) -> Result<Option<Instance>> {
        loop {
            let document = match &mut self.current {
                None => None,
                Some(Open::Table(table)) => table.read(&self.options)?,
                Some(Open::Lines(lines, format)) => line::read(lines, *format, &self.options)?,
            };
            if document.is_some() {
                return Ok(document);
            }
            let Some(input) = self.pending.pop_front() else {
                return Ok(None);
            };
            let lines = self.lines(&input.path)?;
            if let Some(label) = input.whole {
                self.current = None;
                return folder::read_whole(lines, label, self.options.read.memory).map(Some);
            }
            self.current = Some(self.start(lines)?);
        }
    }

    fn lines(&self, path: &OsStr) -> Result<LineReader> {
        let mut lines = LineReader::new(open_stream(path)?, Arc::from(path.to_string_lossy()));
        self.options.read.decode(&mut lines);
        Ok(lines)
    }

    /// Finds out the format of an input.
    fn start(&self, mut lines: LineReader) -> Result<Open> {
        let name = OsString::from(&**lines.file());
        let given = self.options.format;
        let format = match given.or_else(|| InstanceFormat::of_name(&name)) {
            Some(format) => format,
            None if self.has_column_names(&name, &mut lines)? => InstanceFormat::Tsv,
            None => self.options.default_format,
        };
        Ok(match format {
            InstanceFormat::Csv => Open::Table(Box::new(Table::new(lines, b',', &self.options)?)),
            InstanceFormat::Tsv => Open::Table(Box::new(Table::new(lines, b'\t', &self.options)?)),
            _ => Open::Lines(lines, format),
        })
    }

    /// Returns whether a file whose name ends in `.tsv` begins with the names of its columns.
    fn has_column_names(&self, name: &OsStr, lines: &mut LineReader) -> Result<bool> {
        let name = name.to_string_lossy();
        if !name.ends_with(".tsv") && !name.ends_with(".tsv.gz") {
            return Ok(false);
        }
        let first = lines.peek(0)?.unwrap_or_default();
        let has = |column: &str| first.split('\t').any(|cell| cell == column);
        Ok(has(&self.options.text) && (has(&self.options.label) || !self.options.needs_labels))
    }
}

impl Iterator for InstanceReader {
    type Item = Result<Instance>;

    fn next(&mut self) -> Option<Result<Instance>> {
        let document = self.read();
        if document.is_err() {
            (self.current, self.pending) = (None, VecDeque::new());
        }
        document.transpose()
    }
}

/// Checks the class of a document; `fault` makes an error with its place.
fn checked_label(
    label: Option<&str>,
    options: &InstanceReadOptions,
    fault: impl Fn(&str) -> Error,
) -> Result<Option<String>> {
    match label {
        Some("") if options.needs_labels => Err(fault("the label is empty; expected a class")),
        None if options.needs_labels => Err(fault("found no label; expected a class")),
        Some("") | None => Ok(None),
        Some(label) => Ok(Some(label.to_owned())),
    }
}
