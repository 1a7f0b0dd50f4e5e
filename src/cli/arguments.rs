//! Argument groups and value types shared by several commands.

use clap::{Args, ValueEnum};
use dropchain::corpus::{Format, ReadOptions};
use dropchain::label::Scheme;
use dropchain::{Error, Result};

/// How to read corpora.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// Input format [default: by file name: .conllu, .jsonl, .crfsuite, otherwise conll]
    #[arg(long, value_enum)]
    pub format: Option<FormatName>,
    /// Column names of CoNLL files, left to right, for example `word,pos,chunk,ner`
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub columns: Option<Vec<String>>,
    /// Label column, by name or by index (0 is the first, -1 the last)
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<String>,
    /// Treat lines of CoNLL files that start with `#` as comments, not tokens
    #[arg(long)]
    pub comments: bool,
}

impl InputArguments {
    /// Returns the options for reading labeled corpora.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.map(FormatName::into),
            columns: self.columns.clone(),
            label: self.label.clone(),
            unlabeled: false,
            comments: self.comments,
        }
    }
}

/// How to treat existing output files.
#[derive(Clone, Debug, Args)]
pub struct OutputArguments {
    /// Replace output files whatever they are, also those of another kind or user
    #[arg(long)]
    pub force: bool,
}

/// Input formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Raw text, split into sentences and tokens
    Text,
    /// One token per line, in columns; blank lines separate sentences
    Conll,
    /// CoNLL-U
    Conllu,
    /// Pre-extracted attributes in CRFsuite's format
    Crfsuite,
    /// JSON lines: {"tokens": […], "labels": […]}
    Jsonl,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Text => Self::Text,
            FormatName::Conll => Self::Conll,
            FormatName::Conllu => Self::Conllu,
            FormatName::Crfsuite => Self::Crfsuite,
            FormatName::Jsonl => Self::Jsonl,
        }
    }
}

/// Guesses the format of a file of unlabeled text, for which `.txt` and `-` mean raw text.
pub fn guess_unlabeled_format(file: &str) -> Format {
    let name = file.to_ascii_lowercase();
    match name.strip_suffix(".gz").unwrap_or(&name) {
        name if name.ends_with(".txt") || name == "-" => Format::Text,
        name => Format::guess(name),
    }
}

/// Label schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemeName {
    /// Labels unchanged
    Raw,
    /// I-X inside a span, O outside
    Io,
    /// Like io, but B-X starts a span that follows another of the same type
    Iob1,
    /// B-X starts a span, I-X continues it
    Iob2,
    /// Like iob2, but E-X ends a span and S-X is a span of one token
    Bioes,
}

impl From<SchemeName> for Scheme {
    fn from(name: SchemeName) -> Self {
        match name {
            SchemeName::Raw => Self::Raw,
            SchemeName::Io => Self::Io,
            SchemeName::Iob1 => Self::Iob1,
            SchemeName::Iob2 => Self::Iob2,
            SchemeName::Bioes => Self::Bioes,
        }
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

/// How many threads to use.
#[derive(Clone, Debug, Args)]
pub struct ThreadArguments {
    /// Number of threads [default: one per processor]
    ///
    /// The results are the same for any number of threads.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

impl ThreadArguments {
    /// Returns the number of threads to use.
    pub fn count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Starts the global thread pool.
    pub fn start_pool(&self) -> Result<()> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.map_or(0, usize::from))
            .build_global()
            .map_err(|e| Error::parameter(format!("cannot start threads: {e}")))
    }
}
