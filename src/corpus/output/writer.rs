//! The writer of tagged sentences.

use std::io::Write;

use super::format::OutputFormat;
use super::tagged::Tagged;
use super::text_writer::TextWriter;
use super::write_options::WriteOptions;
use super::{conll, conllu, inline, jsonl, slash_tags};
use crate::error::{Error, Result};

/// Writes tagged sentences to a stream, each with a single `write_all`.
///
/// Nothing is buffered across sentences, except in the formats of texts
/// ([`OutputFormat::has_texts`]), and a text is written with its last sentence. Wrap `out` in a
/// [`std::io::BufWriter`] if more is wanted. [`Writer::finish`] ends the output.
pub struct Writer<W: Write> {
    out: W,
    name: String,
    options: WriteOptions,
    buffer: String,
    new_document: bool, // CoNLL-U: the next sentence starts a document
    texts: TextWriter,
}

impl<W: Write> Writer<W> {
    /// A writer to `out`; `name` identifies it in error messages.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the separator is neither a tab nor a space, or the label cannot be a
    /// key in `MISC`.
    pub fn new(out: W, name: &str, options: WriteOptions) -> Result<Self> {
        if !matches!(options.separator, '\t' | ' ') {
            return Err(Error::parameter(format!(
                "columns cannot be separated by {:?}: expected a tab or a space",
                options.separator
            )));
        }
        if options.format == OutputFormat::Conllu {
            conllu::check_labels(&options)?;
        }
        Ok(Self {
            out,
            name: name.to_owned(),
            options,
            buffer: String::new(),
            new_document: false,
            texts: TextWriter::default(),
        })
    }

    /// BRAT: writes the text that the annotations refer to to `out`, if there is no such file: the
    /// texts of the input, or the words of its sentences joined by spaces, each with a line feed.
    /// (If the input is a file of raw text, the annotations refer to that file.)
    #[must_use]
    pub fn with_text(mut self, out: Box<dyn Write + Send>) -> Self {
        self.texts.set_text_output(out);
        self
    }

    /// Sets whether the next sentence is the first of a document, for when several writers
    /// share the sentences of an input.
    pub fn begin_document(&mut self, begin: bool) {
        self.new_document = begin;
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
        if self.options.format.has_texts() {
            self.texts.write(&mut self.buffer, tagged, &self.options)?;
        } else if tagged.sentence.layout.document_start {
            self.new_document = true;
            if self.options.format == OutputFormat::Conll {
                conll::boundary(&mut self.buffer, tagged, &self.options)?;
            }
        } else {
            tagged.check()?;
            self.sentence(tagged)?;
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
        self.texts.finish(&mut self.buffer, &self.options)?;
        self.write_buffer()?;
        self.flush()
    }

    fn write_buffer(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = self.out.write_all(self.buffer.as_bytes());
        written.map_err(|error| Error::io(&self.name, error))
    }

    /// Flushes the stream.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if flushing fails.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = self.out.flush();
        flushed.map_err(|error| Error::io(&self.name, error))
    }

    /// Borrows the stream.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Returns the stream.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Formats a sentence into the buffer.
    fn sentence(&mut self, tagged: &Tagged) -> Result<()> {
        let Self {
            buffer, options, ..
        } = self;
        match options.format {
            OutputFormat::Conll => conll::sentence(buffer, tagged, options),
            OutputFormat::Conllu => {
                let first = std::mem::take(&mut self.new_document);
                conllu::sentence(buffer, tagged, options, first)
            }
            OutputFormat::Jsonl => jsonl::sentence(buffer, tagged, options),
            OutputFormat::Inline => {
                inline::sentence(buffer, tagged, options);
                Ok(())
            }
            OutputFormat::SlashTags => {
                slash_tags::sentence(buffer, tagged);
                Ok(())
            }
            // These have texts.
            OutputFormat::InlineXml
            | OutputFormat::Html
            | OutputFormat::Displacy
            | OutputFormat::Spans
            | OutputFormat::Doccano
            | OutputFormat::LabelStudio
            | OutputFormat::Brat => Ok(()),
        }
    }
}
