//! Documents in tables with named columns.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use csv::{ByteRecord, ReaderBuilder};

use super::header;
use super::instance::{Instance, InstanceContent, InstanceReadOptions, checked_label};
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
    text: usize, // its column
    label: Option<usize>,
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
        let missing = |column: &str| {
            let found = names.join(", ");
            let message = format!("there is no column '{column}'; found {}", found.escape_debug());
            Error::input(Place::line(&*file, 1), message)
        };
        let text = header::text_column(&names, options).ok_or_else(|| missing(&options.text))?;
        let label = header::label_column(&names, options);
        if label.is_none() && options.needs_labels {
            return Err(missing(options.label()));
        }
        Ok(Self { reader, longest, unread, file, record: ByteRecord::new(), text, label })
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
        let content = InstanceContent::Text(cell(self.text)?.into_owned());
        let label = self.label.map(cell).transpose()?;
        let label = checked_label(label.as_deref().map(str::trim), options, error)?;
        Ok(Some(Instance { label, content, file: self.file.clone(), line }))
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
