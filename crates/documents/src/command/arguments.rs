//! The arguments that say which documents are read, and how.

use crate::{
    DataOptions, DocumentCorpus, DocumentModel, DocumentTrainer, FeatureOptions, Instance,
    InstanceFormat, InstanceReadOptions, InstanceReader, TableFeatures,
};
use clap::Args;
use dropchain::corpus::ReadOptions;
use dropchain::{Error, Result};

use dropchain_command::arguments::{FileName, LimitArguments, TextArguments, ThreadArguments};
use dropchain_command::progress::Progress;

/// How to read documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct DocumentInput {
    /// Input format [default: by file name: folder, .csv, .jsonl, .svm; otherwise labeled lines]
    #[arg(long, value_enum)]
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

impl DocumentInput {
    /// Returns how to read files; those whose names say nothing have the default format.
    ///
    /// # Errors
    ///
    /// There are columns of features, but some file is no table.
    fn options(
        &self,
        files: &[FileName],
        needs_labels: bool,
        default_format: InstanceFormat,
    ) -> Result<InstanceReadOptions> {
        let is_other =
            |format| !matches!(format, None | Some(InstanceFormat::Csv | InstanceFormat::Tsv));
        let table = self.table();
        if let Some(file) = files.iter().find(|file| is_other(self.format_of(file)))
            && table.is_some()
        {
            let message = "only tables have columns of features; expected CSV or TSV";
            return Err(Error::parameter(format!("{file}: {message}")));
        }
        let read = ReadOptions { limits: self.limits.read(), ..ReadOptions::default() };
        Ok(InstanceReadOptions {
            format: self.format,
            default_format,
            text: self.text.clone(),
            table,
            label: self.label.clone(),
            needs_labels,
            read: self.encoding.apply(read),
        })
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
    fn labeled(&self, files: &[FileName]) -> Result<InstanceReader> {
        let format = match self.table() {
            Some(_) => InstanceFormat::Csv,
            None => InstanceFormat::Labeled,
        };
        InstanceReader::open(files, &self.options(files, true, format)?)
    }

    /// Begins to read documents for a model: in the way that it was trained on, if they are in a
    /// table.
    pub fn for_model(
        &self,
        files: &[FileName],
        model: &DocumentModel,
        needs_labels: bool,
    ) -> Result<InstanceReader> {
        let options = self.options(files, needs_labels, InstanceFormat::Csv)?;
        InstanceReader::open(files, &model.read_options(options))
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

/// Documents to train on, and how to go about them.
#[derive(Debug, Args)]
pub struct TrainingFiles {
    /// Training documents: files, folders, or `-` for standard input
    #[arg(required = true, value_name = "TRAIN")]
    pub train: Vec<FileName>,
    /// Do not print progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub input: DocumentInput,
    #[command(flatten)]
    features: FeatureOptions,
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
    /// Returns what documents consist of.
    pub fn data(&self) -> DataOptions {
        DataOptions {
            features: (!self.input.has_features(&self.train)).then_some(self.features),
            table: self.input.table(),
            label: self.input.label.clone(),
            files: self.train.iter().map(ToString::to_string).collect(),
        }
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
        if !unlabeled.is_empty() && trainer.options().noise().is_some() {
            let options = self.input.options(unlabeled, false, InstanceFormat::Text)?;
            let documents = InstanceReader::open(unlabeled, &options)?;
            let documents = documents.map(|document| document.map(Instance::without_label));
            corpus.add(documents, trainer.options())?;
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
        let documents = self.input.labeled(files)?;
        corpus.add(documents, trainer.options())?;
        Ok(corpus)
    }
}
