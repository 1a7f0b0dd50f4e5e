//! Output formats.

use std::fmt;

use super::tagged::Tagged;
use super::write_options::WriteOptions;
use super::{conll, conllu, jsonl};
use crate::error::{Error, Result};

/// A format of tagged sentences.
pub trait WriteFormat: fmt::Debug + Send + Sync {
    /// Returns whether the format has texts rather than sentences: lines of raw text, or the `text`
    /// of JSON objects. A [`SentenceWriter`] then writes a text once it has got its last sentence,
    /// so all sentences have to pass through one writer, in order.
    fn has_texts(&self) -> bool {
        false
    }

    /// A writer of one output.
    ///
    /// # Errors
    ///
    /// The options do not fit the format.
    fn writer(&self, options: &WriteOptions) -> Result<Box<dyn SentenceWriter>>;
}

/// Writes the sentences of one output.
pub trait SentenceWriter: Send {
    /// Appends what is to be written with a sentence. Labels, marginals and candidates have an
    /// entry for each token.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the format cannot represent a cell or a label.
    fn sentence(&mut self, buffer: &mut String, tagged: &Tagged) -> Result<()>;

    /// Appends a document boundary; by default nothing.
    ///
    /// # Errors
    ///
    /// Same as [`SentenceWriter::sentence`].
    fn boundary(&mut self, _buffer: &mut String, _tagged: &Tagged) -> Result<()> {
        Ok(())
    }

    /// Appends what is left after the last sentence, such as the end of a page.
    ///
    /// # Errors
    ///
    /// Same as [`SentenceWriter::sentence`].
    fn finish(&mut self, _buffer: &mut String) -> Result<()> {
        Ok(())
    }
}

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// The input's columns, with the predicted label as an additional one.
    Conll,
    /// CoNLL-U, with the predicted label in a column or as a key in `MISC`.
    Conllu,
    /// JSON lines: one object per sentence.
    Jsonl,
}

impl OutputFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Conll, Self::Conllu, Self::Jsonl];
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
