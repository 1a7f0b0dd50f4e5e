//! Writing: tagged sentences, the options, the traits of the formats, and the writer.

use std::borrow::Cow;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::label::Labeling;
use crate::sentence::{OffsetUnit, Offsets, Sentence, split_label};

/// The word written for a token without one (CRFsuite's format).
const NO_WORD: &str = "_";

/// Labels of a token with their probabilities.
pub(crate) type LabelProbabilities<'a> = Vec<(Cow<'a, str>, f64)>;

/// A sentence with the labels predicted for it, such as by [`Tagger::tagged`].
///
/// [`Tagger::tagged`]: crate::tag::Tagger::tagged
#[derive(Clone, Debug)]
pub struct Tagged<'a> {
    /// The sentence, as it was read.
    pub sentence: &'a Sentence,
    /// The predicted labels, `[T]`; ignored for a document boundary.
    pub labels: Vec<Cow<'a, str>>,
    /// How the labels encode spans.
    pub labeling: &'a Labeling,
    /// The marginal probability of each label at each token, best first, `[T][K]`.
    pub marginals: Option<Vec<LabelProbabilities<'a>>>,
    /// The probability of the label sequence.
    pub probability: Option<f64>,
    /// The probability of each span that the labels encode, in order; if they encode none, of each
    /// label, `[T]`. For JSON lines, and formats that mark spans in texts.
    pub mark_probabilities: Option<Vec<f64>>,
    /// The n best label sequences, best first; empty if not requested.
    pub nbest: Vec<Candidate<'a>>,
}

/// One of the n best label sequences of a sentence.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate<'a> {
    /// The labels of the sequence, `[T]`.
    pub labels: Vec<Cow<'a, str>>,
    /// The unnormalized log-probability of the sequence.
    pub score: f64,
    /// The probability of the sequence.
    pub probability: f64,
}

impl<'a> Tagged<'a> {
    /// A sentence with labels, without marginals or candidates.
    pub fn new(sentence: &'a Sentence, labels: Vec<&'a str>) -> Self {
        Self {
            sentence,
            labels: labels.into_iter().map(Cow::Borrowed).collect(),
            labeling: Labeling::RAW,
            marginals: None,
            probability: None,
            mark_probabilities: None,
            nbest: Vec::new(),
        }
    }

    /// The marginal probability of `label` at token `t`, if there are marginals.
    pub fn marginal(&self, t: usize, label: &str) -> Option<f64> {
        let found = self.marginals.as_ref()?.get(t)?.iter().find(|(name, _)| *name == label);
        found.map(|(_, probability)| *probability)
    }

    /// The word of token `t`; `_` if the input has no words.
    pub fn word(&self, t: usize) -> &'a str {
        let schema = self.sentence.schema();
        let first = (schema.width() > 0 && schema.label() != Some(0)).then_some(0);
        let column = schema.position("word").or(first);
        column.map_or(NO_WORD, |column| self.sentence.cell(t, column))
    }

    /// The text that the offsets of the tokens refer to, if there are both.
    pub fn source_text(&self) -> Option<&'a str> {
        self.sentence.layout.source.as_deref().filter(|_| !self.sentence.offsets.is_empty())
    }

    /// The text of a sentence that was tokenized, and its position in its source.
    pub(super) fn text(&self) -> Option<(&'a str, Offsets)> {
        let offsets = Offsets::of_tokens(&self.sentence.offsets)?;
        Some((self.source_text()?.get(offsets.bytes.clone())?, offsets))
    }

    /// Checks that labels, marginals and candidates have one entry per token.
    fn check(&self) -> Result<()> {
        let tokens = self.sentence.len();
        let labels = [("labels", self.labels.len())];
        let marginals = self.marginals.iter().map(|marginals| ("marginals", marginals.len()));
        let nbest = self.nbest.iter().map(|path| ("labels in a candidate", path.labels.len()));
        let mut lengths = labels.into_iter().chain(marginals).chain(nbest);
        let Some((what, found)) = lengths.find(|&(_, length)| length != tokens) else {
            return Ok(());
        };
        let place = self.sentence.place(0);
        Err(Error::parameter(format!("{place}: {found} {what} for a sentence of {tokens} tokens")))
    }
}

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

/// How to write sentences.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The format.
    pub format: Arc<dyn WriteFormat>,
    /// CoNLL: the column separator, a tab or a space. It is the same for the whole output, since a
    /// reader detects it from the first line. That of the input is
    /// [`Reader::separator`](crate::corpus::Reader::separator).
    pub separator: char,
    /// Whether the labels encode spans (any scheme but raw): then JSON lines have `spans`, and
    /// other formats mark spans instead of single tokens.
    pub spans: bool,
    /// CoNLL-U: the column for the label, by name or index; any other name is a key in `MISC`.
    pub label: String,
    /// The names of the columns that the labels join, if they join several: labels are split, and
    /// columns (or keys) of these names hold the parts. In CoNLL-U they replace `label`.
    pub joined: Vec<String>,
    /// JSON lines: whether each object names the file of its sentence, as `file`.
    pub files: bool,
    /// JSON lines, and formats of spans: what positions in raw text count.
    pub offsets: OffsetUnit,
    /// CoNLL-U: whether the first sentence starts a document, for when several writers share the
    /// sentences of an input.
    pub new_document: bool,
}

impl WriteOptions {
    /// Tab-separated columns, labels that encode spans, and `upos` as the label column of CoNLL-U.
    pub fn new(format: impl WriteFormat + 'static) -> Self {
        Self {
            format: Arc::new(format),
            separator: '\t',
            spans: true,
            label: "upos".to_owned(),
            joined: Vec::new(),
            files: false,
            offsets: OffsetUnit::Chars,
            new_document: false,
        }
    }

    /// Splits the label of token `t` into the values of the columns that it joins, if it joins any.
    pub(super) fn parts<'a>(
        &self,
        tagged: &Tagged,
        t: usize,
        label: &'a str,
    ) -> Result<Vec<&'a str>> {
        if self.joined.is_empty() {
            return Ok(vec![label]);
        }
        split_label(label, self.joined.len()).ok_or_else(|| {
            let message = format!(
                "the label {label:?} does not consist of values of {} columns ({})",
                self.joined.len(),
                self.joined.join("+")
            );
            Error::input(tagged.sentence.place(t), message)
        })
    }
}

/// Writes tagged sentences to a stream, each with a single `write_all`.
///
/// Nothing is buffered across sentences, except in the formats of texts
/// ([`WriteFormat::has_texts`]), and a text is written with its last sentence. Wrap `out` in a
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
