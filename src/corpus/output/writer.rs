//! The writer of tagged sentences.

use std::io::Write;

use super::format::{OutputFormat, SentenceWriter, Tagged, WriteFormat, WriteOptions};
use super::{conll, conllu, jsonl};
use crate::error::{Error, Result};

/// Writes tagged sentences to a stream, each with a single `write_all`.
///
/// Nothing is buffered across sentences, except in the formats of texts
/// ([`WriteFormat::has_texts`](super::WriteFormat::has_texts)), and a text is written with its last
/// sentence. Wrap `out` in a
/// [`std::io::BufWriter`] if more is wanted. [`Writer::finish`] ends the output.
pub struct Writer<W: Write> {
    out: W,
    name: String,
    writer: Box<dyn SentenceWriter>,
    buffer: String,
}

impl<W: Write> Writer<W> {
    /// A writer to `out`; `name` identifies it in error messages.
    ///
    /// # Errors
    ///
    /// The errors of the format: [`Error::Parameter`] if the separator is neither a tab nor a
    /// space, or the label cannot be a key in `MISC`.
    pub fn new(out: W, name: &str, options: &WriteOptions) -> Result<Self> {
        Ok(Self::with(out, name, options.format.writer(options)?))
    }

    /// A writer to `out` with a writer of a format.
    pub fn with(out: W, name: &str, writer: Box<dyn SentenceWriter>) -> Self {
        Self { out, name: name.to_owned(), writer, buffer: String::new() }
    }

    /// Writes a sentence.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the format cannot represent a cell (a tab or line break in a token);
    /// [`Error::Parameter`] if the numbers of labels and tokens differ; [`Error::Io`] if writing
    /// fails.
    pub fn write(&mut self, tagged: &Tagged) -> Result<()> {
        self.buffer.clear();
        if tagged.sentence.layout.document_start {
            self.writer.boundary(&mut self.buffer, tagged)?;
        } else {
            tagged.check()?;
            self.writer.sentence(&mut self.buffer, tagged)?;
        }
        self.write_buffer()
    }

    /// Writes what is left after the last sentence, such as the end of a page, and flushes the
    /// stream. The formats of sentences need no end.
    ///
    /// # Errors
    ///
    /// Same as [`Writer::write`].
    pub fn finish(&mut self) -> Result<()> {
        self.buffer.clear();
        self.writer.finish(&mut self.buffer)?;
        self.write_buffer()?;
        self.flush()
    }

    fn write_buffer(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.out.write_all(self.buffer.as_bytes()).map_err(|error| Error::io(&self.name, error))
    }

    /// Flushes the stream.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if flushing fails.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|error| Error::io(&self.name, error))
    }

    /// Borrows the stream.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Returns the stream.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl WriteFormat for OutputFormat {
    fn writer(&self, options: &WriteOptions) -> Result<Box<dyn SentenceWriter>> {
        if !matches!(options.separator, '\t' | ' ') {
            return Err(Error::parameter(format!(
                "columns cannot be separated by {:?}: expected a tab or a space",
                options.separator
            )));
        }
        if *self == Self::Conllu {
            conllu::check_labels(options)?;
        }
        Ok(Box::new(FormatWriter {
            format: *self,
            new_document: options.new_document,
            options: options.clone(),
        }))
    }
}

/// Writes a format whose sentences do not depend on each other.
struct FormatWriter {
    format: OutputFormat,
    options: WriteOptions,
    new_document: bool, // the next sentence starts a document
}

impl SentenceWriter for FormatWriter {
    fn sentence(&mut self, buffer: &mut String, tagged: &Tagged) -> Result<()> {
        let first = std::mem::take(&mut self.new_document);
        match self.format {
            OutputFormat::Conll => conll::sentence(buffer, tagged, &self.options),
            OutputFormat::Conllu => conllu::sentence(buffer, tagged, &self.options, first),
            OutputFormat::Jsonl => jsonl::sentence(buffer, tagged, &self.options),
        }
    }

    fn boundary(&mut self, buffer: &mut String, tagged: &Tagged) -> Result<()> {
        self.new_document = true;
        match self.format {
            OutputFormat::Conll => conll::boundary(buffer, tagged, &self.options),
            OutputFormat::Conllu | OutputFormat::Jsonl => Ok(()),
        }
    }
}
