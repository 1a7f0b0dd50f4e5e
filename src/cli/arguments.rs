//! Arguments that several commands share.

use clap::{Args, ValueEnum};
use dropchain::chain::Order;
use dropchain::corpus::{Format, ReadOptions};
use dropchain::label::Scheme;
use dropchain::score::{Boundary, States};
use dropchain::train::Defaults;
use dropchain::{Error, Result};

/// How corpora are read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct Input {
    /// Format of the files; without it, what their names say (.conllu, .jsonl, .crfsuite, else conll)
    #[arg(long, value_enum)]
    pub format: Option<FormatName>,
    /// Names of the columns of CoNLL files, from the first on, such as `word,pos,chunk,ner`
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub columns: Option<Vec<String>>,
    /// The column with the labels, by name or by number (from 0; -1 is the last)
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<String>,
    /// Lines of CoNLL files that begin with `#` are comments, not tokens
    #[arg(long)]
    pub comments: bool,
}

impl Input {
    /// Options for reading labeled corpora.
    pub fn labeled(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.map(FormatName::into),
            columns: self.columns.clone(),
            label: self.label.clone(),
            unlabeled: false,
            comments: self.comments,
        }
    }
}

/// Input formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Raw text, cut into sentences and words
    Text,
    /// One token per line, in columns; a blank line ends a sentence
    Conll,
    /// CoNLL-U
    Conllu,
    /// CRFsuite's ready-made attributes
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

/// Label schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemeName {
    /// Labels as they are
    Raw,
    /// I-X in a span, O outside
    Io,
    /// As io, with B-X where a span follows another of its type
    Iob1,
    /// B-X first in a span, I-X in the rest
    Iob2,
    /// As iob2, with E-X last and S-X alone
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

/// What kind of model.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct Chain {
    /// Train with labels in this scheme; predictions are brought back to the corpus's own
    #[arg(long, value_enum, default_value = "raw")]
    pub scheme: SchemeName,
    /// 1: a label depends on the one before it (CRF); 0: it does not
    #[arg(long, value_enum, default_value = "1")]
    order: OrderName,
    /// Weights for the first and the last label of a sentence
    #[arg(long, value_enum, default_value = "on")]
    boundary: Switch,
    /// Weights for all pairs of attribute and label, or for those observed in training
    #[arg(long, value_enum, default_value = "all")]
    states: StatesName,
}

impl Chain {
    /// The order of the chain.
    pub fn order(&self) -> Order {
        match self.order {
            OrderName::Zero => Order::Zero,
            OrderName::One => Order::One,
        }
    }

    /// Boundary weights.
    pub fn boundary(&self) -> Boundary {
        match self.boundary {
            Switch::On => Boundary::On,
            Switch::Off => Boundary::Off,
        }
    }

    /// Pairs of attribute and label that have weights.
    pub fn states(&self) -> States {
        match self.states {
            StatesName::All => States::All,
            StatesName::Observed => States::Observed,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    #[value(name = "0")]
    Zero,
    #[value(name = "1")]
    One,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StatesName {
    All,
    Observed,
}

/// On what, and how long, training goes on.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Training")]
pub struct Course {
    /// Leave out attributes of fewer than N tokens
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub min_count: u32,
    /// Stop after N iterations
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<usize>,
    /// With --dev: stop after N iterations without a better score
    #[arg(long, default_value_t = Defaults::PATIENCE, value_name = "N")]
    pub patience: usize,
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes
    On,
    /// No
    Off,
}

/// How many threads work.
#[derive(Clone, Debug, Args)]
pub struct Threads {
    /// Threads to use; without it, all processors. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

impl Threads {
    /// How many there are to be.
    pub fn number(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Starts the threads.
    pub fn start(&self) -> Result<()> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.map_or(0, usize::from))
            .build_global()
            .map_err(|e| Error::parameter(format!("cannot start threads: {e}")))
    }
}
