//! Argument groups and value types shared by several commands.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use dropchain::corpus::{
    Corpus, Format, LineRules, OffsetUnit, ReadLimits, ReadOptions, ReadReport, Supervision,
    TextEncoding, TextOptions,
};
use dropchain::memory::available_address_space;
use dropchain::{Error, MemoryLimit, Model, Result};
use dropchain_formats::{InputFormat, Misaligned, SpanOptions, annotation_files};

use crate::progress::{Progress, notice};

/// How to read corpora.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// Input format [default: by file name: .conllu, .jsonl, .crfsuite, otherwise conll]
    ///
    /// text: raw text, split into sentences and tokens. conll: one token per line, in columns, with
    /// blank lines between sentences. conllu: CoNLL-U. crfsuite: attributes in CRFsuite's format.
    /// jsonl: JSON lines {"tokens": […], "labels": […]}. spans: JSON with texts and spans of
    /// characters, of Prodigy, doccano and Label Studio. brat: files NAME.txt with NAME.ann, or
    /// folders of them.
    #[arg(long, value_parser = input_format(), hide_short_help = true)]
    pub format: Option<InputFormat>,
    /// Column names of CoNLL files, left to right, for example `word,pos,chunk,ner`
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub columns: Option<Vec<String>>,
    /// Label column: its name or index; upos+feats joins two
    ///
    /// 0 is the index of the first column, -1 of the last. A name that is no column of CoNLL-U is a
    /// key in its column misc, such as name in `name=B-PER`. The values of joined columns, two or
    /// more, are one label, in this order with `+` in between. `tag` splits it again and fills all
    /// of the columns. Only the last column may have values with `+`.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<String>,
    #[command(flatten)]
    pub lines: LineArguments,
    #[command(flatten)]
    pub text: TextArguments,
    #[command(flatten)]
    pub spans: SpanArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

impl InputArguments {
    /// Returns the options for reading labeled corpora.
    pub fn read_options(&self) -> ReadOptions {
        let options = self.text.apply(ReadOptions {
            columns: self.columns.clone(),
            label: self.label.clone(),
            lines: self.lines.rules(),
            supervision: Supervision { weights: false, ..Supervision::default() },
            limits: self.limits.read(),
            ..ReadOptions::default()
        });
        match self.format {
            None => options,
            Some(format) => format.apply(self.spans.options(), options),
        }
    }

    /// Returns the files that are read beside those that were named.
    pub fn other_files<'a>(&self, files: impl IntoIterator<Item = &'a FileName>) -> Vec<PathBuf> {
        other_files(self.format, files)
    }

    /// Returns the arguments for files that come with attributes, as the data of a model without a
    /// template do, and says so. A format that is given or that the names tell stays.
    pub fn with_attributes(&self, files: &[FileName], model: &Model) -> Self {
        let mut input = self.clone();
        if self.format.is_none() && files.iter().all(|file| guess_format(file).is_none()) {
            notice(&format!(
                "read as CRFsuite's format, since {} has no template",
                model.path().display()
            ));
            input.format = Some(Format::Crfsuite.into());
        }
        input
    }
}

/// Returns the files that are read beside those that were named: of BRAT's format, the annotations
/// and the files of folders.
pub fn other_files<'a>(
    format: Option<InputFormat>,
    files: impl IntoIterator<Item = &'a FileName>,
) -> Vec<PathBuf> {
    let is_brat = format == Some(InputFormat::Brat);
    let files = files.into_iter().filter(|_| is_brat);
    files.flat_map(|file| annotation_files(OsStr::new(&**file))).collect()
}

/// File name extensions of CoNLL files. Other names say nothing, except those that
/// [`Format::guess`] recognizes.
const CONLL_EXTENSIONS: [&str; 3] = [".conll", ".bio", ".tsv"];

/// Returns the format of files that their names tell, which must be the same for all.
pub fn named_format(files: &[FileName]) -> Result<Option<Format>> {
    let first = guess_format(&files[0]);
    if let Some(other) = files.iter().find(|file| guess_format(file) != first) {
        let name = |file: &FileName| guess_format(file).map_or("text", Format::name);
        return Err(Error::parameter(format!(
            "{} looks like {}, {other} like {}; specify the format with --format",
            files[0],
            name(&files[0]),
            name(other)
        )));
    }
    Ok(first)
}

/// Guesses the format of a file from the extension of its name.
pub fn guess_format(file: &str) -> Option<Format> {
    let name = file.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match Format::guess(file) {
        Format::Conll if !CONLL_EXTENSIONS.iter().any(|e| name.ends_with(e)) => None,
        format => Some(format),
    }
}

/// How to treat a checkpoint that exists.
#[derive(Clone, Debug, Args)]
pub struct OutputArguments {
    /// Start over, even if there is a checkpoint of an earlier run
    #[arg(long, hide_long_help = true)]
    pub force: bool,
}

/// Parses one of some names.
pub fn by_name<T>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    let names = names.into_iter().collect::<Vec<_>>();
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// Parses the name of an input format.
pub fn input_format() -> impl TypedValueParser<Value = InputFormat> {
    by_name(InputFormat::ALL.map(InputFormat::name))
}

/// An option that is switched on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

impl Switch {
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

/// Maximum number of threads; more is a typo.
const MAX_THREADS: i64 = 1024;

/// Address space in bytes that a thread takes: its stack, and some of its first allocations.
const THREAD_ADDRESS_SPACE: u64 = (2 << 20) + (64 << 10);

/// How many threads to use.
#[derive(Clone, Debug, Default, Args)]
pub struct ThreadArguments {
    /// Number of threads [default: one per processor]
    ///
    /// The results are the same for any number of threads.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS),
        hide_short_help = true
    )]
    pub threads: Option<u16>,
}

impl ThreadArguments {
    /// Returns the number of threads to use.
    pub fn count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Rejects threads whose stacks do not fit into the address space. Starting them would succeed,
    /// until one that runs already finds no room for its first allocation and aborts.
    pub fn check_stacks(&self) -> Result<()> {
        let needed = self.count() as u64 * THREAD_ADDRESS_SPACE;
        match available_address_space() {
            Some(left) if left < needed => {
                Err(Error::threads("their stacks exceed the limit on the address space"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the arguments with another default number of threads, if there is one.
    pub fn or(&self, threads: Option<u16>) -> Self {
        Self { threads: self.threads.or(threads) }
    }

    /// Starts the global thread pool.
    pub fn start_pool(&self) -> Result<()> {
        self.check_stacks()?;
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.map_or(0, usize::from))
            .build_global()
            .map_err(Error::threads)
    }
}

/// Limits on what is read and on the memory for it.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArguments {
    /// Maximum number of tokens of a sentence; raw text is split there [default: 100000]
    ///
    /// In other formats a longer sentence is an error: most likely the blank lines between
    /// sentences are missing.
    #[arg(long, value_name = "N", help_heading = "Input",
          value_parser = clap::value_parser!(u32).range(1..), hide_long_help = true)]
    max_sentence: Option<u32>,
    /// Memory limit, for example 4G or 500M [default: most of the free memory]
    #[arg(long, value_name = "SIZE", help_heading = None::<&str>, hide_short_help = true)]
    memory: Option<ByteSize>,
}

impl LimitArguments {
    /// Returns the maximum number of tokens of a sentence.
    pub fn max_sentence(&self) -> usize {
        self.max_sentence.map_or(ReadLimits::MAX_SENTENCE, |max| max as usize)
    }

    /// Returns how much is read.
    pub fn read(&self) -> ReadLimits {
        ReadLimits { max_sentence: self.max_sentence(), memory: self.memory() }
    }

    /// Returns the memory limit.
    pub fn memory(&self) -> MemoryLimit {
        self.memory.map_or_else(MemoryLimit::default, |size| MemoryLimit::Bytes(size.0))
    }
}

/// A number of bytes, written with an optional decimal unit: k, M, G or T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteSize(u64);

#[cfg(feature = "serve")]
impl ByteSize {
    /// Returns the number of bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unit = match text.chars().last() {
            Some('k' | 'K') => 1e3,
            Some('m' | 'M') => 1e6,
            Some('g' | 'G') => 1e9,
            Some('t' | 'T') => 1e12,
            _ => 1.0,
        };
        let number = if unit > 1.0 { &text[..text.len() - 1] } else { text };
        let size = number.parse().ok().map(|number: f64| number * unit);
        size.filter(|size| size.is_finite() && *size >= 1.0)
            .map(|size| Self(size as u64))
            .ok_or_else(|| "expected a size such as 4G, 500M or 4000000000".to_owned())
    }
}

/// Lines of CoNLL files that are not tokens.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct LineArguments {
    /// Treat lines of CoNLL files that start with `#` as comments, not tokens
    ///
    /// A model remembers it for the files that it tags.
    #[arg(long, hide_short_help = true)]
    pub comments: bool,
    /// The first line of each CoNLL file is a header row, which names the columns
    ///
    /// Names in --columns override it. A model remembers it for the files that it tags.
    #[arg(long, hide_short_help = true)]
    pub header: bool,
}

impl LineArguments {
    pub fn rules(&self) -> LineRules {
        LineRules { comments: self.comments, header: self.header }
    }
}

/// Text in other encodings, and with hard line breaks.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct TextArguments {
    /// Encoding of the input, for example latin1, windows-1250 or utf-16le [default: utf-8]
    ///
    /// Labels of the WHATWG Encoding Standard. A byte order mark overrides this option.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    encoding: Option<TextEncoding>,
    /// Replace invalid bytes with U+FFFD, and report the count
    #[arg(long, hide_long_help = true)]
    lossy: bool,
    /// Raw text has hard line breaks: a blank line ends a paragraph, other line ends are blanks
    #[arg(long, hide_long_help = true)]
    paragraphs: bool,
    #[arg(skip)]
    report: ReadReport,
}

impl TextArguments {
    /// Sets the corresponding reading options.
    pub fn apply(&self, options: ReadOptions) -> ReadOptions {
        let &Self { encoding, lossy, paragraphs, ref report } = self;
        let text = TextOptions { encoding, lossy, paragraphs };
        ReadOptions { text, report: report.clone(), ..options }
    }

    /// Says what was changed in the inputs, and what was decided about them; if `quiet`, only what
    /// was changed as an option allows.
    pub fn print_notices(&self, quiet: bool) {
        let texts = match quiet {
            true => self.report.losses(),
            false => self.report.notices(),
        };
        texts.iter().for_each(|text| notice(text));
    }

    /// Says the same, beside progress.
    pub fn print_notices_to(&self, progress: &Progress) {
        match progress {
            Progress::Quiet => self.print_notices(true),
            _ => progress.println_all(self.report.notices()),
        }
    }
}

/// Where JSON has its text.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct TextKeyArguments {
    /// The key of the text in --format spans [default: text, or the only string of `data`]
    #[arg(long, value_name = "KEY", hide_long_help = true)]
    pub text_key: Option<String>,
}

/// How to read spans of characters.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct SpanArguments {
    /// What offsets of spans count: chars (code points), bytes or utf16 [default: chars]
    #[arg(long, value_name = "UNIT", hide_long_help = true)]
    offsets: Option<OffsetUnit>,
    /// Spans that cut a token: error, expand (to whole tokens) or drop [default: error]
    ///
    /// The error lists all of them. Discontinuous spans of BRAT are treated alike.
    #[arg(long, value_name = "ACTION", hide_long_help = true)]
    misaligned: Option<Misaligned>,
    #[command(flatten)]
    pub text_key: TextKeyArguments,
}

impl SpanArguments {
    pub fn options(&self) -> SpanOptions {
        SpanOptions {
            offsets: self.offsets.unwrap_or_default(),
            misaligned: self.misaligned.unwrap_or_default(),
            text_key: self.text_key.text_key.clone(),
        }
    }
}

/// How to read labels that are not fully known.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct PartialLabelArguments {
    /// Labels of TRAIN may be unknown (`_`) or one of several (`B-PER|B-ORG`)
    ///
    /// Otherwise `_` and `B-PER|B-ORG` are labels like any other. In JSON lines, null and arrays
    /// of labels are partial labels too.
    #[arg(long, hide_short_help = true)]
    pub partial_labels: bool,
}

impl PartialLabelArguments {
    /// Returns what is known of labels in training data, weights included.
    pub fn supervision(&self) -> Supervision {
        Supervision { partial_labels: self.partial_labels, weights: true }
    }

    /// Returns a hint if labels of `corpus` look partial, but are read as ordinary labels.
    pub fn hint(&self, corpus: &Corpus) -> Option<String> {
        if self.partial_labels {
            return None;
        }
        let mut labels = HashSet::new();
        for sentence in corpus {
            labels.extend((0..sentence.len()).filter_map(|t| sentence.label(t)));
        }
        let is_set = |label: &&&str| {
            label.contains('|') && label.split('|').all(|part| labels.contains(part))
        };
        let label = match labels.get("_") {
            Some(label) if labels.len() > 1 => label,
            _ => labels.iter().filter(|label| is_set(label)).min()?,
        };
        Some(format!(
            "note: '{label}' is trained as a label like any other; with --partial-labels, '_' is \
             an unknown label and A|B one of two"
        ))
    }
}

/// The name of an input file, which need not be valid UTF-8. As a string, for messages and logs,
/// it has replacement characters then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    name: OsString,
    text: String,
}

impl FileName {
    /// Returns the name of standard input.
    pub fn stdin() -> Self {
        Self::from(OsString::from("-"))
    }
}

impl From<OsString> for FileName {
    fn from(name: OsString) -> Self {
        let text = name.to_string_lossy().into_owned();
        Self { name, text }
    }
}

impl Deref for FileName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Borrow<str> for FileName {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl AsRef<OsStr> for FileName {
    fn as_ref(&self) -> &OsStr {
        &self.name
    }
}

impl AsRef<Path> for FileName {
    fn as_ref(&self) -> &Path {
        Path::new(&self.name)
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for FileName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// A name, what it means, and its value.
pub type Choice<T> = (&'static str, &'static str, T);

/// Parses one of these names.
pub fn one_of<T>(values: &'static [Choice<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = values.iter();
    let names = names.map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(move |name| {
        let found = values.iter().find(|(own, ..)| *own == name);
        found.map(|found| found.2).ok_or("an unknown name")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_units() {
        assert_eq!("1.5G".parse(), Ok(ByteSize(1_500_000_000)));
        assert_eq!("300k".parse(), Ok(ByteSize(300_000)));
        assert_eq!("12".parse(), Ok(ByteSize(12)));
        for text in ["", "G", "-1G", "0", "infG", "4GB", "4é"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
