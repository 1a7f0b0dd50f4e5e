//! The arguments that say which documents are read, and how.

use std::path::PathBuf;

use crate::{
    DataOptions, DocumentCorpus, DocumentModel, DocumentTrainer, FeatureOptions, Instance,
    InstanceFormat, InstanceReadOptions, InstanceReader, NgramRange, TableFeatures, Task,
    TermFrequency, Tokens,
};
use clap::Args;
use dropchain::Result;
use dropchain::corpus::ReadOptions;

use dropchain_command::arguments::{
    Choice, FileName, LimitArguments, Switch, TextArguments, ThreadArguments, one_of,
};
use dropchain_command::outputs::CommandFiles;
use dropchain_command::progress::Progress;

/// The default column or key of the label.
const LABEL: &str = "label";

/// How to read documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct DocumentInput {
    /// Input format [default: by file name: folder, .csv, .jsonl, .svm; otherwise labeled lines]
    #[arg(long, value_parser = one_of(&FORMATS))]
    format: Option<InstanceFormat>,
    /// Column or key of the text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text: String,
    /// Column or key of the class, or of the number to predict [default: label]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// CSV and TSV: the columns of numbers that are features, or `all` but the other columns named
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
    /// CSV and TSV: the columns whose cells are categories, such as color=red
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    categories: Vec<String>,
    #[command(flatten)]
    encoding: TextArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// Formats of documents.
const FORMATS: [Choice<InstanceFormat>; 7] = [
    ("labeled", "A class, a tab, and a text on each line", InstanceFormat::Labeled),
    ("text", "A text on each line, without classes", InstanceFormat::Text),
    ("csv", "Comma-separated values with a row of column names", InstanceFormat::Csv),
    ("tsv", "Tab-separated values with a row of column names", InstanceFormat::Tsv),
    ("jsonl", "JSON lines: {\"text\": …, \"label\": …}", InstanceFormat::Jsonl),
    (
        "svmlight",
        "Ready-made features: a class, then index:value, indices from 1",
        InstanceFormat::Svmlight,
    ),
    ("folder", "A folder of files for each class", InstanceFormat::Folder),
];

impl DocumentInput {
    /// Returns how to read documents; files whose names say nothing have the default format.
    fn options(&self, needs_labels: bool, default_format: InstanceFormat) -> InstanceReadOptions {
        InstanceReadOptions {
            format: self.format,
            default_format,
            text: self.text.clone(),
            table: self.table(),
            label: self.label.clone().unwrap_or_else(|| LABEL.to_owned()),
            needs_labels,
            read: self
                .encoding
                .apply(ReadOptions { limits: self.limits.read(), ..ReadOptions::default() }),
            ..InstanceReadOptions::default()
        }
    }

    /// Returns the columns of tables that are features; `None` if documents are texts.
    fn table(&self) -> Option<TableFeatures> {
        if self.columns.is_empty() && self.categories.is_empty() {
            return None;
        }
        let is_all = matches!(&self.columns[..], [name] if name == "all");
        Some(TableFeatures {
            numbers: (!is_all).then(|| self.columns.clone()),
            categories: self.categories.clone(),
        })
    }

    /// Begins to read documents with labels to train on.
    fn labeled(&self, files: &[FileName], task: Task) -> Result<InstanceReader> {
        let format = match self.table() {
            Some(_) => InstanceFormat::Csv,
            None => InstanceFormat::Labeled,
        };
        let options = InstanceReadOptions {
            labels_are_numbers: task == Task::Numbers,
            ..self.options(true, format)
        };
        InstanceReader::open(files, &options)
    }

    /// Begins to read documents for a model: in the way that it was trained on, if they are in a
    /// table.
    pub fn for_model(
        &self,
        files: &[FileName],
        model: &DocumentModel,
        needs_labels: bool,
    ) -> Result<InstanceReader> {
        let formats: Vec<_> = files.iter().map(|file| self.format_of(file)).collect();
        let options = self.options(needs_labels, InstanceFormat::Csv);
        InstanceReader::open(files, &model.read_options(options, &formats, self.label.is_some()))
    }

    /// Says what was changed in the inputs.
    pub fn print_notices(&self) {
        self.encoding.print_notices(false);
    }

    /// Returns the format that the arguments or the name of a file tell.
    fn format_of(&self, file: &FileName) -> Option<InstanceFormat> {
        self.format.or_else(|| InstanceFormat::of_name(file.as_ref()))
    }

    /// Returns whether files have ready-made features: columns of tables, or all of them are in
    /// SVMlight's format.
    fn has_features(&self, files: &[FileName]) -> bool {
        let is_svmlight = |file| self.format_of(file) == Some(InstanceFormat::Svmlight);
        self.table().is_some() || files.iter().all(is_svmlight)
    }
}

/// The values of features.
const FREQUENCIES: [Choice<TermFrequency>; 3] = [
    ("binary", "1", TermFrequency::Binary),
    ("count", "n", TermFrequency::Count),
    ("log", "1 + ln n", TermFrequency::Log),
];

/// What words are.
const TOKENS: [Choice<Tokens>; 2] = [
    ("words", "Tokens of the tokenizer", Tokens::Words),
    ("blanks", "What stands between blanks", Tokens::Blanks),
];

/// The features of texts.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Features")]
struct FeatureArguments {
    /// N-grams of words of these lengths; 0 for none
    #[arg(long, value_name = "RANGE", default_value = "1..2")]
    ngrams: String,
    /// N-grams of characters of these lengths, such as 3..5
    #[arg(long, value_name = "RANGE")]
    chars: Option<NgramRange>,
    /// Value of a feature that occurs n times: 1, n, or 1 + ln n
    #[arg(long, value_parser = one_of(&FREQUENCIES), value_name = "VALUE",
          default_value = "binary")]
    tf: TermFrequency,
    /// What words are: tokens of the tokenizer, or what stands between blanks
    #[arg(long, value_parser = one_of(&TOKENS), default_value = "words")]
    tokens: Tokens,
    /// Turn letters into lower case
    #[arg(long, value_enum, default_value = "on")]
    lowercase: Switch,
}

impl FeatureArguments {
    /// Returns the features of texts.
    fn options(&self) -> Result<FeatureOptions> {
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

/// Documents to train on, and how to go about them.
#[derive(Debug, Args)]
pub struct TrainingFiles {
    /// Training documents: files, folders, or `-` for standard input
    #[arg(required = true, value_name = "TRAIN")]
    pub train: Vec<FileName>,
    /// Write a log in JSON lines to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Do not print progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub input: DocumentInput,
    #[command(flatten)]
    features: FeatureArguments,
}

/// Documents for the noise term.
#[derive(Debug, Args)]
#[command(next_help_heading = "Unlabeled documents")]
pub struct UnlabeledFiles {
    /// Documents without classes for the noise term; classes in them are ignored
    ///
    /// Takes all arguments up to the next option, so put TRAIN first.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub unlabeled: Vec<FileName>,
}

impl TrainingFiles {
    /// Returns what is read and written, to check that they are not the same files.
    pub fn declared(&self, model: Option<&PathBuf>) -> CommandFiles {
        let files = CommandFiles::default().read(&self.train);
        match model {
            Some(model) => files.write_model(model, self.log.as_deref()),
            None => files.write("--log", self.log.as_deref()),
        }
    }

    /// Returns what documents consist of.
    pub fn data(&self) -> Result<DataOptions> {
        Ok(DataOptions {
            features: match self.input.has_features(&self.train) {
                true => None,
                false => Some(self.features.options()?),
            },
            table: self.input.table(),
            label: self.input.label.clone(),
            files: self.train.iter().map(ToString::to_string).collect(),
        })
    }

    /// Reads training documents, and unlabeled ones if there is noise.
    pub fn read(
        &self,
        trainer: &DocumentTrainer<'_>,
        unlabeled: &[FileName],
        progress: &Progress,
    ) -> Result<DocumentCorpus> {
        progress.update(&format!("reading {}", self.train.join(", ")));
        let mut corpus = self.read_more(trainer, &self.train)?;
        progress.println_all(corpus.notice_of_empty());
        if !unlabeled.is_empty() && trainer.options().noise.is_on() {
            let options = self.input.options(false, InstanceFormat::Text);
            let documents = InstanceReader::open(unlabeled, &options)?;
            let documents = documents.map(|document| document.map(Instance::without_label));
            corpus.add(documents, &trainer.corpus_options())?;
        }
        self.input.print_notices();
        Ok(corpus)
    }

    /// Reads other documents with labels.
    pub fn read_more(
        &self,
        trainer: &DocumentTrainer<'_>,
        files: &[FileName],
    ) -> Result<DocumentCorpus> {
        let mut corpus = DocumentCorpus::default();
        let documents = self.input.labeled(files, trainer.options().model.task)?;
        corpus.add(documents, &trainer.corpus_options())?;
        Ok(corpus)
    }
}
