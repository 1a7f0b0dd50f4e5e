//! Documents in tables with named columns.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use csv::{ByteRecord, ReaderBuilder};
use hashbrown::{HashMap, HashSet};

use super::header;
use super::instance::{
    Instance, InstanceContent, InstanceReadOptions, TableFeatures, checked_label,
};
use dropchain::corpus::{LineReader, Repair};
use dropchain::kernel::corpus::InputStream;
use dropchain::sentence::SourceFile;
use dropchain::{Error, Place, Result};

/// A table that is being read.
pub(super) struct Table {
    reader: csv::Reader<Bounded>,
    longest: usize,           // of a row, in bytes
    unread: Arc<AtomicUsize>, // bytes that the row may still have
    file: SourceFile,
    record: ByteRecord,
    content: Content,
    label: Option<usize>,
}

/// Where a row has its content.
enum Content {
    Text(usize),
    Features(Vec<FeatureColumn>),
}

/// A column that is a feature.
struct FeatureColumn {
    number: usize,
    name: String,
    is_category: bool,
}

impl Table {
    /// Reads the names of the columns. Quotes have no meaning where tabs separate.
    pub fn new(lines: LineReader, separator: u8, options: &InstanceReadOptions) -> Result<Self> {
        let file = lines.file().clone();
        let longest = lines.longest();
        let stream = lines.into_decoded().map_err(|error| Error::io(&*file, error))?;
        let unread = Arc::new(AtomicUsize::new(longest));
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .quoting(separator != b'\t')
            .from_reader(Bounded { stream, longest, unread: Arc::clone(&unread) });
        let header = reader.byte_headers().map_err(|error| fault(&file, error))?;
        let names: Vec<Cow<'_, str>> = header.iter().map(String::from_utf8_lossy).collect();
        let names: Vec<&str> =
            names.iter().map(|name| name.trim_start_matches('\u{feff}').trim()).collect();
        // Where a name is first, and how often it occurs.
        let mut places: HashMap<&str, [usize; 2]> = HashMap::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            places.entry(name).or_insert([place, 0])[1] += 1;
        }
        let position = |column: &str| places.get(column).map(|[place, _]| *place);
        let missing = |columns: &[&str]| missing(&file, columns, &names);
        let content = match &options.table {
            None => {
                let text = header::text_column(&names, options);
                Content::Text(text.ok_or_else(|| missing(&[&options.text]))?)
            }
            Some(features) => {
                let columns = features.columns(&names, options.label());
                let others = columns.iter().map(|(name, _)| *name);
                let others: Vec<&str> = others.filter(|name| position(name).is_none()).collect();
                if !others.is_empty() {
                    return Err(missing(&others));
                }
                let columns = columns.into_iter().map(|(name, is_category)| {
                    let [number, count] = places[name];
                    let fault = if count > 1 {
                        "occurs twice"
                    } else if name == options.label() {
                        "is the label, and cannot be a feature"
                    } else {
                        return Ok(FeatureColumn { number, name: name.to_owned(), is_category });
                    };
                    let message = format!("the column '{name}' {fault}");
                    Err(Error::input(Place::line(&*file, 1), message))
                });
                Content::Features(columns.collect::<Result<_>>()?)
            }
        };
        let label = match &options.table {
            None => header::label_column(&names, options),
            Some(_) => position(options.label()),
        };
        if label.is_none() && options.needs_labels {
            return Err(missing(&[options.label()]));
        }
        drop(places); // which borrows the names from the reader
        Ok(Self { reader, longest, unread, file, record: ByteRecord::new(), content, label })
    }

    /// Reads the next row.
    pub fn read(&mut self, options: &InstanceReadOptions) -> Result<Option<Instance>> {
        self.unread.store(self.longest, Ordering::Relaxed);
        let read = self.reader.read_byte_record(&mut self.record);
        if !read.map_err(|error| fault(&self.file, error))? {
            return Ok(None);
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        let error = |message: &str| Error::input(Place::line(&*self.file, line), message);
        let cell = |column: usize| {
            let bytes = self.record.get(column).unwrap_or_default();
            match (std::str::from_utf8(bytes), options.read.text.lossy) {
                (Ok(text), _) => Ok(Cow::Borrowed(text)),
                (Err(_), true) => {
                    let text = String::from_utf8_lossy(bytes);
                    let places = text.matches('\u{fffd}').count();
                    options.read.report.add(&Repair::REPLACED, places as u64);
                    Ok(text)
                }
                (Err(_), false) => Err(error(
                    "the text is not UTF-8; expected UTF-8, or --encoding NAME or utf-8-lossy",
                )),
            }
        };
        let content = match &self.content {
            Content::Text(column) => InstanceContent::Text(cell(*column)?.into_owned()),
            Content::Features(columns) => {
                let mut features = Vec::with_capacity(columns.len());
                for column in columns {
                    let cell = cell(column.number)?;
                    features.extend(column.feature(cell.trim()).map_err(|m| error(&m))?);
                }
                InstanceContent::Features(features)
            }
        };
        let label = self.label.map(cell).transpose()?;
        let label = checked_label(label.as_deref().map(str::trim), options, error)?;
        Ok(Some(Instance { label, content, file: self.file.clone(), line }))
    }
}

impl TableFeatures {
    /// Returns the columns of a table with these names that are features, and whether they are
    /// categories.
    fn columns<'n>(&'n self, names: &[&'n str], label: &str) -> Vec<(&'n str, bool)> {
        let categories: HashSet<&str> = self.categories.iter().map(String::as_str).collect();
        let is_category = |name: &str| categories.contains(name);
        let mut columns: Vec<(&str, bool)> = match &self.numbers {
            Some(numbers) => numbers.iter().map(|name| (name.as_str(), false)).collect(),
            None => {
                let others = names.iter().filter(|n| **n != label && !is_category(n));
                others.map(|name| (*name, false)).collect()
            }
        };
        columns.extend(self.categories.iter().map(|name| (name.as_str(), true)));
        columns
    }
}

impl FeatureColumn {
    /// Returns the feature that a cell is, if it is any.
    fn feature(&self, cell: &str) -> std::result::Result<Option<(String, f64)>, String> {
        if self.is_category {
            return Ok((!cell.is_empty()).then(|| (format!("{}={cell}", self.name), 1.0)));
        }
        match cell.parse().ok().filter(|value: &f64| value.is_finite()) {
            Some(value) => Ok(Some((self.name.clone(), value))),
            None => {
                Err(format!("the column '{}' has '{cell}'; expected a finite number", self.name))
            }
        }
    }
}

/// A stream that fails when a row is too long, such as one whose quotes are never closed.
struct Bounded {
    stream: InputStream,
    longest: usize,
    unread: Arc<AtomicUsize>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let unread = self.unread.load(Ordering::Relaxed);
        if unread == 0 {
            let message =
                format!("a row is longer than {} bytes (is a quote missing?)", self.longest);
            return Err(io::Error::other(message));
        }
        let end = buffer.len().min(unread);
        let read = self.stream.read(&mut buffer[..end])?;
        self.unread.store(unread - read, Ordering::Relaxed);
        Ok(read)
    }
}

/// The error of a table that lacks columns.
fn missing(file: &SourceFile, columns: &[&str], names: &[&str]) -> Error {
    let what = if columns.len() == 1 { "is no column" } else { "are no columns" };
    let (columns, found) = (columns.join("', '"), names.join(", "));
    let message = format!("there {what} '{columns}'; found {}", found.escape_debug());
    Error::input(Place::line(&**file, 1), message)
}

/// Converts an error, with its line.
fn fault(file: &SourceFile, error: csv::Error) -> Error {
    let line = error.position().map(csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io(&**file, error),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => Error::input(
            Place::line(&**file, line.unwrap_or(1)),
            format!("found {len} cells; expected {expected_len}, one for each column"),
        ),
        kind => Error::input(
            Place::line(&**file, line.unwrap_or(1)),
            format!("the row cannot be read: {kind:?}"),
        ),
    }
}
