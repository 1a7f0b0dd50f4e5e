//! The arguments that say how to read documents, and what their features are.

use clap::{Args, ValueEnum};
use dropchain::Result;
use dropchain::corpus::ReadOptions;
use dropchain_documents::{
    FeatureOptions, InstanceFormat, InstanceReadOptions, InstanceReader, NgramRange, TermFrequency,
    Tokens,
};

use crate::arguments::{LimitArguments, Switch};
use crate::file_name::FileName;
use crate::text_arguments::TextArguments;

/// The default column or key of the class.
const LABEL: &str = "label";

/// How to read documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct DocumentInput {
    /// Input format [default: by file name: folder, .csv, .jsonl, .svm; otherwise labeled lines]
    #[arg(long, value_enum)]
    format: Option<FormatName>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// A class, a tab, and a text on each line
    Labeled,
    /// A text on each line, without classes
    Text,
    /// Comma-separated values with a row of column names
    Csv,
    /// Tab-separated values with a row of column names
    Tsv,
    /// JSON lines: {"text": …, "label": …}
    Jsonl,
    /// Ready-made features: a class, then index:value, indices from 1
    Svmlight,
    /// A folder of files for each class
    Folder,
}

impl From<FormatName> for InstanceFormat {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Labeled => Self::Labeled,
            FormatName::Text => Self::Text,
            FormatName::Csv => Self::Csv,
            FormatName::Tsv => Self::Tsv,
            FormatName::Jsonl => Self::Jsonl,
            FormatName::Svmlight => Self::Svmlight,
            FormatName::Folder => Self::Folder,
        }
    }
}

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
            format: self.format.map(InstanceFormat::from),
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
        let given = self.format.map(InstanceFormat::from);
        given.or_else(|| InstanceFormat::of_name(file.as_ref()))
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
    #[arg(long, value_enum, value_name = "VALUE", default_value = "binary")]
    tf: FrequencyName,
    /// The same as --tf binary
    #[arg(long, conflicts_with = "tf")]
    binary: bool,
    /// What words are: tokens of the tokenizer, or what stands between blanks
    #[arg(long, value_enum, default_value = "words")]
    tokens: TokensName,
    /// Turn letters into lower case
    #[arg(long, value_enum, default_value = "on")]
    lowercase: Switch,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FrequencyName {
    Binary,
    Count,
    Log,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TokensName {
    Words,
    Blanks,
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
            frequency: match self.tf {
                FrequencyName::Binary => TermFrequency::Binary,
                FrequencyName::Count => TermFrequency::Count,
                FrequencyName::Log => TermFrequency::Log,
            },
            tokens: match self.tokens {
                TokensName::Words => Tokens::Words,
                TokensName::Blanks => Tokens::Blanks,
            },
            lowercase: self.lowercase.is_on(),
        })
    }
}
