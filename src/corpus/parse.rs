//! The input formats, and what their parsers share: options, traits, the weights of sentences.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

use super::lines::{InputLine, LineReader};
use super::read_report::ReadReport;
use super::source::{Decoding, TextEncoding};
use crate::error::{Error, Place, Result};
use crate::memory::MemoryLimit;
use crate::sentence::{LineRules, Sentence, TokenLabel};

/// An input format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Raw text, which the reader splits into sentences and tokens.
    Text,
    /// One token per line, in columns; a blank line ends a sentence.
    Conll,
    /// CoNLL-U: ten columns, comments, multiword tokens and empty nodes.
    Conllu,
    /// CRFsuite's format: one token per line, its label followed by pre-extracted attributes.
    Crfsuite,
    /// JSON lines: one object per line.
    Jsonl,
}

crate::named!(Format, "input format":
    Text = "text",
    Conll = "conll",
    Conllu = "conllu",
    Crfsuite = "crfsuite",
    Jsonl = "jsonl",
);

impl Format {
    /// The format that the extension of a file name tells; a final `.gz` is ignored. `.txt` tells
    /// none.
    pub fn of_name(source: &str) -> Option<Self> {
        let name = source.to_ascii_lowercase();
        match name.strip_suffix(".gz").unwrap_or(&name).rsplit_once('.')?.1 {
            "conllu" => Some(Self::Conllu),
            "crfsuite" => Some(Self::Crfsuite),
            "jsonl" => Some(Self::Jsonl),
            "conll" | "bio" | "tsv" | "csv" => Some(Self::Conll),
            _ => None,
        }
    }
}

/// How to read inputs.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Format of all inputs; `None`: by the name and the first lines of each
    /// ([`FileKind`](super::FileKind)).
    pub format: Option<Format>,
    /// The format of all inputs that it [reads](ReadFormat::reads), if it is none of [`Format`].
    pub reader: Option<Arc<dyn ReadFormat>>,
    /// CoNLL: the column names, in file order; by default `word`, indices and `label`.
    /// JSON lines: the only keys, besides tokens and labels, to use as columns; by default every
    /// key that holds as many strings as there are tokens. The columns of CoNLL-U, CRFsuite's
    /// format and raw text are fixed.
    pub columns: Option<Vec<String>>,
    /// The label column: its name or its index, from 0 or, if negative, from the end.
    /// By default the last column of CoNLL (none if `unlabeled`), `upos` of CoNLL-U and the key
    /// `labels` of JSON lines, or what [`label_column`](super::label_column) finds there. A name
    /// that is no column of CoNLL-U is a key in its column `misc`.
    ///
    /// Several, such as `upos+feats`, are joined, unless a column has this name: a label is the
    /// values of all with `+` in between, and only the last column may have values with `+`.
    pub label: Option<String>,
    /// Labels are optional: the inputs are to be tagged.
    pub unlabeled: bool,
    /// CoNLL: which lines are no tokens. (In CoNLL-U, comments always are none.) A header row names
    /// the columns, unless `columns` does.
    pub lines: LineRules,
    /// What is known of labels and sentences beyond one label for each token.
    pub supervision: Supervision,
    /// How bytes become text, and text lines.
    pub text: TextOptions,
    /// What was changed in the inputs, and what was decided about them.
    pub report: ReadReport,
    /// How much is read.
    pub limits: ReadLimits,
}

/// What is known of labels and sentences beyond one label for each token.
#[derive(Clone, Debug)]
pub struct Supervision {
    /// Labels may be partial: `_` is any label, `A|B` one of two; in JSON lines also `null` and an
    /// array of labels. Otherwise these are labels like any other (and errors in JSON lines).
    pub partial_labels: bool,
    /// Weights of sentences are read: comments such as `# weight = 0.5` before a sentence,
    /// `@weight` lines of CRFsuite's format, and the key `weight` of JSON lines.
    pub weights: bool,
    /// JSON lines: the names of labels that are numbers, from 0. A `features` header of the file
    /// may have them, too ([`label_names`](super::label_names)).
    pub label_names: Vec<String>,
}

impl Default for Supervision {
    /// Whole labels, and weights.
    fn default() -> Self {
        Self { partial_labels: false, weights: true, label_names: Vec::new() }
    }
}

/// How bytes become text, and text lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions {
    /// The encoding of the text; `None`: UTF-8, or UTF-16 with a byte order mark.
    pub encoding: Option<TextEncoding>,
    /// Bytes that are no text become U+FFFD, counted in the report; otherwise they are an error.
    pub lossy: bool,
    /// Raw text: a blank line ends a paragraph, and line ends inside it are blanks, as in text with
    /// hard line breaks. Otherwise the end of a line ends a sentence.
    pub paragraphs: bool,
}

impl TextOptions {
    /// Returns how to read text in an encoding, by its label; with `-lossy` at the end, such as
    /// `utf-8-lossy`, what is no text is replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there is no such label.
    pub fn of_encoding(name: &str) -> Result<Self> {
        let strict = name.strip_suffix("-lossy");
        let encoding = match strict {
            // A byte order mark may still say otherwise.
            Some(label) if label.eq_ignore_ascii_case("utf-8") => None,
            _ => Some(strict.unwrap_or(name).parse()?),
        };
        Ok(Self { encoding, lossy: strict.is_some(), paragraphs: false })
    }
}

/// How much is read.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// Maximum number of tokens of a sentence ([`ReadLimits::MAX_SENTENCE`] by default). Raw text
    /// is split there; in other formats a longer sentence is an error, since most likely the blank
    /// lines between sentences are missing.
    pub max_sentence: usize,
    /// Limits the memory of what is read: of the sentence that is being read and, when all
    /// sentences are collected ([`Corpus::read`](super::Corpus::read)), of these.
    pub memory: MemoryLimit,
}

impl ReadLimits {
    /// The default of [`ReadLimits::max_sentence`].
    pub const MAX_SENTENCE: usize = 100_000;
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self::from(MemoryLimit::default())
    }
}

impl From<MemoryLimit> for ReadLimits {
    /// Limits the memory, and sentences by default.
    fn from(memory: MemoryLimit) -> Self {
        Self { max_sentence: Self::MAX_SENTENCE, memory }
    }
}

impl ReadOptions {
    /// Parses the label of the last token of `sentence`, which is on `line`, if labels may be
    /// partial.
    pub(super) fn parse_last_label(&self, sentence: &mut Sentence, line: &InputLine) -> Result<()> {
        let last = sentence.len().checked_sub(1).filter(|_| self.supervision.partial_labels);
        if let Some(label) = last.and_then(|t| sentence.label(t)) {
            let label: TokenLabel = label.parse().map_err(|e: Error| line.error(e.to_string()))?;
            sentence.set_last_label(label);
        }
        Ok(())
    }

    /// Makes `lines`, of which nothing has been read, decode its input as the options say.
    pub fn decode(&self, lines: &mut LineReader) {
        let TextOptions { encoding, lossy, .. } = self.text;
        lines.decode_as(Decoding { encoding, lossy, report: self.report.clone() });
    }

    /// Checks that `sentence`, which is still being read, is not too long.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at its beginning if it is.
    pub fn check_length(&self, sentence: &Sentence) -> Result<()> {
        let most = self.limits.max_sentence;
        if sentence.len() <= most {
            return Ok(());
        }
        let message = format!(
            "the sentence that begins here has more than {most} tokens; expected fewer (are the \
             blank lines between sentences missing? `max_sentence` changes the limit)"
        );
        Err(Error::input(sentence.place(0), message))
    }
}

/// Returns the bytes of an input, decompressed and decoded to UTF-8 as the options say.
pub fn decoded(
    input: super::InputStream,
    options: &ReadOptions,
) -> std::io::Result<super::InputStream> {
    let mut lines = LineReader::new(input, "");
    options.decode(&mut lines);
    lines.into_decoded()
}

/// A format of inputs.
pub trait ReadFormat: fmt::Debug + Send + Sync {
    /// The files to read for a source, which the user named: itself, unless the format has folders.
    ///
    /// # Errors
    ///
    /// The source cannot be read.
    fn files(&self, source: &OsStr) -> Result<Vec<OsString>> {
        Ok(vec![source.to_owned()])
    }

    /// Whether a file, of which nothing has been read, is of this format. Others are what their
    /// names say.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    fn reads(&self, _lines: &mut LineReader) -> Result<bool> {
        Ok(true)
    }

    /// Whether [`reads`](Self::reads) looks at each file. Otherwise all files are of this format.
    fn looks_at_files(&self) -> bool {
        false
    }

    /// A parser for one file.
    ///
    /// # Errors
    ///
    /// The options do not fit the format.
    fn parser(&self, options: &ReadOptions) -> Result<Box<dyn SentenceParser>>;
}

/// Which words or texts of a file have the key of the labels.
#[derive(Debug, Default)]
pub struct LabelsSeen {
    /// Whether any has it.
    pub any: bool,
    /// The error of the first word or text without it.
    pub without: Option<Error>,
}

impl LabelsSeen {
    /// Ends the file: if nothing has the key, the labels are elsewhere.
    ///
    /// # Errors
    ///
    /// The error of the first word or text without it.
    pub fn finish(&mut self) -> Result<()> {
        self.without.take().filter(|_| !self.any).map_or(Ok(()), Err)
    }
}

/// The memory that a byte of input takes at most once parsed, in bytes, unless its parser
/// [knows better](SentenceParser::memory_per_byte).
pub const MEMORY_PER_BYTE: u64 = 120;

/// A parser of one file.
pub trait SentenceParser: Send {
    /// The memory that a byte of input takes at most once parsed, in bytes: many short cells,
    /// tokens or attributes need more than their text, and growing vectors twice of that. By
    /// default 120, as for texts with labeled spans of characters.
    fn memory_per_byte(&self) -> u64 {
        MEMORY_PER_BYTE
    }

    /// Looks at the first lines of the file, of which nothing has been read.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is of another format.
    fn begin(&mut self, _lines: &mut LineReader) -> Result<()> {
        Ok(())
    }

    /// Parses the next line, and appends the sentences that it completes to `ready`.
    ///
    /// # Errors
    ///
    /// A sentence is malformed.
    fn line(&mut self, _line: &InputLine, _ready: &mut VecDeque<Sentence>) -> Result<()> {
        Ok(())
    }

    /// Ends the file, all of which `lines` has read, and appends the sentences that it completes.
    ///
    /// # Errors
    ///
    /// A sentence is malformed.
    fn end(&mut self, _lines: &LineReader, _ready: &mut VecDeque<Sentence>) -> Result<()> {
        Ok(())
    }

    /// Reads on, by a line unless the format has other parts, and appends the sentences that are
    /// complete to `ready`; returns whether the file goes on. No line beyond the one that ends a
    /// sentence is read.
    ///
    /// # Errors
    ///
    /// A sentence is malformed, or cannot be read.
    fn advance(&mut self, lines: &mut LineReader, ready: &mut VecDeque<Sentence>) -> Result<bool> {
        match lines.next_line()? {
            Some(line) => self.line(&line, ready).map(|()| true),
            None => self.end(lines, ready).map(|()| false),
        }
    }

    /// Goes on after an error: skips the rest of its sentence.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        lines.skip_sentence()
    }

    /// The column separator, if the format has several and the file's is already known.
    fn separator(&self) -> Option<char> {
        None
    }
}

/// The weight in a comment that belongs to the next sentence.
#[derive(Debug, Default)]
pub(super) struct PendingWeight {
    weight: Option<(f64, u64)>, // and its line
}

impl PendingWeight {
    /// Reads a comment before a sentence: `# weight = 0.5` is a weight, others have none.
    pub fn read(&mut self, line: &InputLine) -> Result<()> {
        weight_text(line.text).map_or(Ok(()), |text| self.set(line, text, "the next sentence"))
    }

    /// Sets the weight on `line`, which is that of `whose`.
    pub fn set(&mut self, line: &InputLine, text: &str, whose: &str) -> Result<()> {
        let text = text.trim();
        let weight = text.parse().map_err(|_| {
            line.error(format!("the weight of the sentence is '{text}'; expected a number"))
        })?;
        match self.weight.replace((weight, line.number)) {
            None => Ok(()),
            Some((_, first)) => Err(line.error(format!(
                "a second weight for {whose}; expected one (the first is on line {first})"
            ))),
        }
    }

    /// Gives the weight, if there is one, to the sentence that begins.
    pub fn apply(&mut self, sentence: &mut Sentence) -> Result<()> {
        let Some((weight, line)) = self.weight.take() else { return Ok(()) };
        let place = Place::line(&**sentence.file(), line);
        sentence.set_weight(weight).map_err(|message| Error::input(place, message))
    }

    /// Checks that no weight waits for a sentence in `file`, where there is none.
    pub fn check_none(&self, file: &str, message: &str) -> Result<()> {
        let fault = |(_, line)| Err(Error::input(Place::line(file, line), message));
        self.weight.map_or(Ok(()), fault)
    }
}

/// Checks that a comment inside a sentence has no weight.
pub(super) fn check_comment_inside(line: &InputLine) -> Result<()> {
    let message = "the weight of a sentence stands inside it; expected it before the first token";
    weight_text(line.text).map_or(Ok(()), |_| Err(line.error(message)))
}

/// Returns the weight of a comment such as `# weight = 0.5`.
fn weight_text(comment: &str) -> Option<&str> {
    let (key, value) = comment.strip_prefix('#')?.split_once('=')?;
    (key.trim() == "weight").then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert_eq!(
            "xml".parse::<Format>().unwrap_err().to_string(),
            "unknown input format 'xml': expected text, conll, conllu, crfsuite or jsonl"
        );
    }

    #[test]
    fn the_extension_selects_the_format_and_the_default_is_conll() {
        assert_eq!(Format::guess("a/en.CONLLU"), Format::Conllu);
        assert_eq!(Format::guess("x.conllu.gz"), Format::Conllu);
        assert_eq!(Format::guess("x.jsonl"), Format::Jsonl);
        assert_eq!(Format::guess("x.crfsuite.gz"), Format::Crfsuite);
        for name in ["train.txt", "a.conll", "a.bio", "a.tsv", "esp.train", "-", ".gz"] {
            assert_eq!(Format::guess(name), Format::Conll, "{name}");
        }
        assert_eq!(
            ["a.txt", "-", "x.Csv.gz"].map(Format::of_name),
            [None, None, Some(Format::Conll)]
        );
    }
}
