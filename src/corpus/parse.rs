//! The options and the trait shared by the parsers of all formats.

use super::annotation::Misaligned;
use super::format::Format;
use super::lines::{InputLine, LineReader};
use super::offset_unit::OffsetUnit;
use super::read_report::ReadReport;
use super::text_encoding::TextEncoding;
use crate::error::{Error, Result};
use crate::memory::MemoryLimit;
use crate::sentence::{Sentence, TokenLabel};

/// How to read inputs.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Format of all inputs; `None`: by the name of each file ([`Format::guess`]).
    pub format: Option<Format>,
    /// CoNLL: the column names, in file order; by default `word`, indices and `label`.
    /// JSON lines: the only keys, besides tokens and labels, to use as columns; by default every
    /// key that holds as many strings as there are tokens. The columns of CoNLL-U, CRFsuite's
    /// format and raw text are fixed.
    pub columns: Option<Vec<String>>,
    /// The label column: its name or its index, from 0 or, if negative, from the end.
    /// By default the last column of CoNLL (none if `unlabeled`), `upos` of CoNLL-U and the key
    /// `labels` of JSON lines. The key of the spans, in JSON with spans of characters.
    ///
    /// Several, such as `upos+feats`, are joined, unless a column has this name: a label is the
    /// values of all with `+` in between, and only the last column may have values with `+`.
    pub label: Option<String>,
    /// Labels are optional: the inputs are to be tagged.
    pub unlabeled: bool,
    /// CoNLL: lines that begin with `#` are comments. (In CoNLL-U they always are.)
    pub comments: bool,
    /// Labels may be partial: `_` is any label, `A|B` one of two; in JSON lines also `null` and an
    /// array of labels. Otherwise these are labels like any other (and errors in JSON lines).
    pub partial_labels: bool,
    /// Weights of sentences are read: comments such as `# weight = 0.5` before a sentence,
    /// `@weight` lines of CRFsuite's format, and the key `weight` of JSON lines.
    pub weights: bool,
    /// The encoding of the text; `None`: UTF-8, or UTF-16 with a byte order mark.
    pub encoding: Option<TextEncoding>,
    /// What is no text becomes U+FFFD, and is counted in the report; otherwise it is an error.
    pub lossy: bool,
    /// Raw text: a blank line ends a paragraph, and line ends inside it are blanks, as in text with
    /// hard line breaks. Otherwise the end of a line ends a sentence.
    pub paragraphs: bool,
    /// Spans of characters: what their offsets count.
    pub offsets: OffsetUnit,
    /// Spans of characters: what becomes of those that cut tokens.
    pub misaligned: Misaligned,
    /// What was changed in the inputs.
    pub report: ReadReport,
    /// Maximum number of tokens of a sentence ([`ReadOptions::MAX_SENTENCE`] by default). Raw text
    /// is split there; in other formats a longer sentence is an error, since most likely the blank
    /// lines between sentences are missing.
    pub max_sentence: usize,
    /// Limits the memory of what is read: of the sentence that is being read and, when all
    /// sentences are collected ([`Corpus::read`](super::Corpus::read)), of these.
    pub memory: MemoryLimit,
}

impl ReadOptions {
    /// The default of [`ReadOptions::max_sentence`].
    pub const MAX_SENTENCE: usize = 100_000;

    /// Parses the label of the last token of `sentence`, which is on `line`, if labels may be
    /// partial.
    pub(super) fn parse_last_label(&self, sentence: &mut Sentence, line: &InputLine) -> Result<()> {
        let last = sentence
            .len()
            .checked_sub(1)
            .filter(|_| self.partial_labels);
        if let Some(label) = last.and_then(|t| sentence.label(t)) {
            let label: TokenLabel = label
                .parse()
                .map_err(|e: Error| line.error(e.to_string()))?;
            sentence.set_last_label(label);
        }
        Ok(())
    }

    /// Makes `lines`, of which nothing has been read, decode its input as the options say.
    pub fn decode(&self, lines: &mut LineReader) {
        let report = self.lossy.then(|| self.report.clone());
        lines.decode_as(self.encoding, report);
    }

    /// Checks that `sentence`, which is still being read, is not too long.
    pub(super) fn check_length(&self, sentence: &Sentence) -> Result<()> {
        if sentence.len() <= self.max_sentence {
            return Ok(());
        }
        Err(Error::input(
            sentence.place(0),
            format!(
                "the sentence that begins here has more than {} tokens; expected fewer (are the \
                 blank lines between sentences missing? --max-sentence changes the limit)",
                self.max_sentence
            ),
        ))
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            columns: None,
            label: None,
            unlabeled: false,
            comments: false,
            partial_labels: false,
            weights: true,
            encoding: None,
            lossy: false,
            paragraphs: false,
            offsets: OffsetUnit::default(),
            misaligned: Misaligned::default(),
            report: ReadReport::default(),
            max_sentence: Self::MAX_SENTENCE,
            memory: MemoryLimit::default(),
        }
    }
}

/// Returns the bytes of an input, decompressed and decoded to UTF-8 as the options say.
pub fn decoded(
    input: super::InputStream,
    options: &ReadOptions,
) -> std::io::Result<super::InputStream> {
    let mut lines = LineReader::new(input, "".into());
    options.decode(&mut lines);
    lines.into_decoded()
}

/// A parser of one format.
pub(super) trait SentenceParser: Send {
    /// Parses the next sentence; `None` at the end of the file. Reads no line beyond the one that
    /// ends the sentence.
    fn next_sentence(&mut self, lines: &mut LineReader) -> Result<Option<Sentence>>;

    /// Goes on after an error: skips the rest of its sentence.
    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        lines.skip_sentence()
    }

    /// The column separator, if the format has several and the file's is already known.
    fn separator(&self) -> Option<char> {
        None
    }
}
