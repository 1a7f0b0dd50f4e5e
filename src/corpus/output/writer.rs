//! The writer of tagged sentences.

use std::io::Write;

use super::format::OutputFormat;
use super::tagged::Tagged;
use super::{conll, conllu, inline, jsonl};
use crate::error::{Error, Result};

/// How to write sentences.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The format.
    pub format: OutputFormat,
    /// CoNLL: the column separator, a tab or a space. It is the same for the whole output, since a
    /// reader detects it from the first line. That of the input is
    /// [`Reader::separator`](crate::corpus::Reader::separator).
    pub separator: char,
    /// Whether the labels encode spans (any scheme but raw): then JSON lines have `spans`, and
    /// inline output has brackets.
    pub spans: bool,
    /// CoNLL-U: the column for the label, by name or index; any other name is a key in `MISC`.
    pub label: String,
}

impl WriteOptions {
    /// Tab-separated columns, labels that encode spans, and `upos` as the label column of CoNLL-U.
    #[must_use]
    pub fn new(format: OutputFormat) -> Self {
        Self {
            format,
            separator: '\t',
            spans: true,
            label: "upos".to_owned(),
        }
    }
}

/// Writes tagged sentences to a stream, each with a single `write_all`.
///
/// Nothing is buffered across sentences; wrap `out` in a [`std::io::BufWriter`] if that is wanted.
pub struct Writer<W: Write> {
    out: W,
    name: String,
    options: WriteOptions,
    buffer: String,
    new_document: bool, // CoNLL-U: the next sentence starts a document
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
            conllu::check_label(&options.label)?;
        }
        Ok(Self {
            out,
            name: name.to_owned(),
            options,
            buffer: String::new(),
            new_document: false,
        })
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
        if tagged.sentence.layout.document_start {
            self.new_document = true;
            if self.options.format == OutputFormat::Conll {
                conll::boundary(&mut self.buffer, tagged, self.options.separator)?;
            }
        } else {
            tagged.check()?;
            self.sentence(tagged)?;
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
            OutputFormat::Conll => conll::sentence(buffer, tagged, options.separator),
            OutputFormat::Conllu => {
                let first = std::mem::take(&mut self.new_document);
                conllu::sentence(buffer, tagged, &options.label, first)
            }
            OutputFormat::Jsonl => jsonl::sentence(buffer, tagged, options.spans),
            OutputFormat::Inline => {
                inline::sentence(buffer, tagged, options.spans);
                Ok(())
            }
        }
    }
}
