//! Argument groups and value types shared by several commands.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use dropchain::corpus::{Format, ReadOptions};
use dropchain::label::PlainLabels;
use dropchain::memory::available_address_space;
use dropchain::{Error, MemoryLimit, Model, Result};
use dropchain_formats::{InputFormat, annotation_files};
use dropchain_options::named;

use super::file_name::FileName;
use super::model_input::guess_format;
use super::progress::notice;
use super::span_arguments::SpanArguments;
use super::text_arguments::TextArguments;

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
    /// 0 is the index of the first column, -1 of the last. The values of joined columns, two or
    /// more, are one label, in this order with `+` in between. `tag` splits it again and fills all
    /// of the columns. Only the last column may have values with `+`.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<String>,
    /// Treat lines of CoNLL files that start with `#` as comments, not tokens
    #[arg(long, hide_short_help = true)]
    pub comments: bool,
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
            unlabeled: false,
            comments: self.comments,
            partial_labels: false,
            weights: false,
            max_sentence: self.limits.max_sentence(),
            memory: self.limits.memory(),
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
    files
        .flat_map(|file| annotation_files(OsStr::new(&**file)))
        .collect()
}

/// How to treat a checkpoint that exists.
#[derive(Clone, Debug, Args)]
pub struct OutputArguments {
    /// Start from the beginning, although there is a checkpoint of an earlier run
    #[arg(long, hide_short_help = true, hide_long_help = true)]
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

/// What labels without a prefix are.
#[derive(Clone, Copy, Debug, Args)]
pub struct PlainLabelArguments {
    /// Labels without B- or I-: types of spans (PERSON, O) or tags (parts of speech) [default: by
    /// what they look like]
    ///
    /// They look like types if there is a label O, which at least half of the tokens have, or a
    /// quarter of the others follows a token with the same label. Adjacent tokens with the same
    /// type are one span.
    #[arg(
        long,
        value_parser = named::<PlainLabels>(),
        value_name = "KIND",
        help_heading = "Input",
        hide_short_help = true
    )]
    plain_labels: Option<PlainLabels>,
}

impl PlainLabelArguments {
    /// Returns what labels without a prefix are.
    pub fn plain_labels(self) -> PlainLabels {
        self.plain_labels.unwrap_or_default()
    }
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
            Some(left) if left < needed => Err(Error::threads(
                "their stacks exceed the limit on the address space",
            )),
            _ => Ok(()),
        }
    }

    /// Returns the arguments with another default number of threads, if there is one.
    pub fn or(&self, threads: Option<u16>) -> Self {
        Self {
            threads: self.threads.or(threads),
        }
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
          value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true,
          hide_long_help = true)]
    max_sentence: Option<u32>,
    /// Memory limit, for example 4G or 500M [default: most of the free memory]
    #[arg(long, value_name = "SIZE", help_heading = None::<&str>, hide_short_help = true)]
    memory: Option<ByteSize>,
}

impl LimitArguments {
    /// Returns the maximum number of tokens of a sentence.
    pub fn max_sentence(&self) -> usize {
        self.max_sentence
            .map_or(ReadOptions::MAX_SENTENCE, |max| max as usize)
    }

    /// Returns the memory limit.
    pub fn memory(&self) -> MemoryLimit {
        self.memory
            .map_or_else(MemoryLimit::default, |size| MemoryLimit::Bytes(size.0))
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
        let number = if unit > 1.0 {
            &text[..text.len() - 1]
        } else {
            text
        };
        let size = number.parse().ok().map(|number: f64| number * unit);
        size.filter(|size| size.is_finite() && *size >= 1.0)
            .map(|size| Self(size as u64))
            .ok_or_else(|| "expected a size such as 4G, 500M or 4000000000".to_owned())
    }
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
