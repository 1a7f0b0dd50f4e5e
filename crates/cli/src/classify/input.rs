//! The arguments that say how to read documents, and what their features are.

use clap::Args;
use dropchain::Result;
use dropchain::corpus::ReadOptions;
use dropchain_documents::{
    FeatureOptions, InstanceFormat, InstanceReadOptions, InstanceReader, NgramRange, TermFrequency,
    Tokens,
};

use crate::arguments::{LimitArguments, Switch};
use crate::file_name::FileName;
use crate::named::{Named, named};
use crate::text_arguments::TextArguments;

/// The default column or key of the class.
const LABEL: &str = "label";

/// How to read documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct DocumentInput {
    /// Input format [default: by file name: folder, .csv, .jsonl, .svm; otherwise labeled lines]
    #[arg(long, value_parser = named(&FORMATS))]
    format: Option<InstanceFormat>,
    /// Column or key of the text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text: String,
    /// Column or key of the class, or of the number to predict [default: label]
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    #[command(flatten)]
    encoding: TextArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// Formats of documents.
const FORMATS: [Named<InstanceFormat>; 7] = [
    (
        "labeled",
        "A class, a tab, and a text on each line",
        InstanceFormat::Labeled,
    ),
    (
        "text",
        "A text on each line, without classes",
        InstanceFormat::Text,
    ),
    (
        "csv",
        "Comma-separated values with a row of column names",
        InstanceFormat::Csv,
    ),
    (
        "tsv",
        "Tab-separated values with a row of column names",
        InstanceFormat::Tsv,
    ),
    (
        "jsonl",
        "JSON lines: {\"text\": …, \"label\": …}",
        InstanceFormat::Jsonl,
    ),
    (
        "svmlight",
        "Ready-made features: a class, then index:value, indices from 1",
        InstanceFormat::Svmlight,
    ),
    (
        "folder",
        "A folder of files for each class",
        InstanceFormat::Folder,
    ),
];

/// The values of features.
const FREQUENCIES: [Named<TermFrequency>; 3] = [
    ("binary", "1", TermFrequency::Binary),
    ("count", "n", TermFrequency::Count),
    ("log", "1 + ln n", TermFrequency::Log),
];

/// What words are.
const TOKENS: [Named<Tokens>; 2] = [
    ("words", "Tokens of the tokenizer", Tokens::Words),
    ("blanks", "What stands between blanks", Tokens::Blanks),
];

impl DocumentInput {
    /// Begins to read documents with classes.
    pub fn labeled(&self, files: &[FileName]) -> Result<InstanceReader> {
        InstanceReader::open(files, &self.options(true, InstanceFormat::Labeled))
    }

    /// Begins to read documents whose classes do not matter; files whose names say nothing have a
    /// text on each line.
    pub fn unlabeled(&self, files: &[FileName]) -> Result<InstanceReader> {
        InstanceReader::open(files, &self.options(false, InstanceFormat::Text))
    }

    /// Says what was changed in the inputs.
    pub fn print_notices(&self) {
        self.encoding.print_notices();
    }

    /// Returns how to read documents with classes; files whose names say nothing have the default
    /// format.
    pub fn options(
        &self,
        needs_labels: bool,
        default_format: InstanceFormat,
    ) -> InstanceReadOptions {
        InstanceReadOptions {
            format: self.format,
            default_format,
            text: self.text.clone(),
            label: self.label.clone().unwrap_or_else(|| LABEL.to_owned()),
            needs_labels,
            read: self.encoding.apply(ReadOptions {
                memory: self.limits.memory(),
                ..ReadOptions::default()
            }),
            ..InstanceReadOptions::default()
        }
    }

    /// Returns the format that the arguments or the name of a file tell.
    pub fn format_of(&self, file: &FileName) -> Option<InstanceFormat> {
        (self.format).or_else(|| InstanceFormat::of_name(file.as_ref()))
    }

    /// Returns whether the files have ready-made features: all of them are in SVMlight's format.
    pub fn has_features(&self, files: &[FileName]) -> bool {
        let is_svmlight = |file| self.format_of(file) == Some(InstanceFormat::Svmlight);
        files.iter().all(is_svmlight)
    }
}

/// The features of texts.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Features")]
pub struct FeatureArguments {
    /// N-grams of words of these lengths; 0 for none
    #[arg(long, value_name = "RANGE", default_value = "1..2")]
    ngrams: String,
    /// N-grams of characters of these lengths, such as 3..5
    #[arg(long, value_name = "RANGE")]
    chars: Option<NgramRange>,
    /// Value of a feature that occurs n times: 1, n, or 1 + ln n
    #[arg(long, value_parser = named(&FREQUENCIES), value_name = "VALUE", default_value = "binary")]
    tf: TermFrequency,
    /// The same as --tf binary
    #[arg(long, conflicts_with = "tf")]
    binary: bool,
    /// What words are: tokens of the tokenizer, or what stands between blanks
    #[arg(long, value_parser = named(&TOKENS), default_value = "words")]
    tokens: Tokens,
    /// Turn letters into lower case
    #[arg(long, value_enum, default_value = "on")]
    lowercase: Switch,
}

impl FeatureArguments {
    /// Returns the features of texts.
    pub fn options(&self) -> Result<FeatureOptions> {
        let words = match self.ngrams.as_str() {
            "0" => None,
            range => Some(range.parse()?),
        };
        Ok(FeatureOptions {
            words,
            chars: self.chars,
            frequency: self.tf,
            tokens: self.tokens,
            lowercase: self.lowercase.is_on(),
        })
    }
}
