//! The arguments that say how to read documents with numbers.

use clap::Args;
use dropchain::Result;
use dropchain_documents::regress::{Regression, RegressionCorpus, RegressionTrainer};
use dropchain_documents::{InstanceFormat, InstanceReadOptions, InstanceReader, TableFeatures};

use crate::classify::DocumentInput;
use crate::file_name::FileName;
use crate::interrupt;
use crate::progress::Progress;

/// How to read documents.
#[derive(Clone, Debug, Args)]
pub struct NumberInput {
    #[command(flatten)]
    pub documents: DocumentInput,
    /// CSV and TSV: the columns of numbers that are features, or `all` but the other columns named
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    columns: Vec<String>,
    /// CSV and TSV: the columns whose cells are categories, such as color=red
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    categories: Vec<String>,
}

impl NumberInput {
    /// Returns the columns of tables that are features; `None` if documents are texts.
    pub fn table(&self) -> Option<TableFeatures> {
        if self.columns.is_empty() && self.categories.is_empty() {
            return None;
        }
        let is_all = matches!(&self.columns[..], [name] if name == "all");
        Some(TableFeatures {
            numbers: (!is_all).then(|| self.columns.clone()),
            categories: self.categories.clone(),
        })
    }

    /// Returns whether training documents have ready-made features.
    pub fn has_features(&self, files: &[FileName]) -> bool {
        self.table().is_some() || self.documents.has_features(files)
    }

    /// Reads the documents that a trainer will train on, which then knows the names of their files
    /// and ends at a signal.
    pub fn read_training(
        &self,
        trainer: RegressionTrainer<'static>,
        files: &[FileName],
        progress: &Progress,
    ) -> Result<(RegressionTrainer<'static>, RegressionCorpus)> {
        progress.update(format!("reading {}", files.join(", ")));
        let corpus = trainer.corpus(self.training(files)?)?;
        self.documents.print_notices();
        let counts = format!("{} documents, {} features", corpus.len(), corpus.features());
        progress.println(&counts);
        let names: Vec<String> = files.iter().map(ToString::to_string).collect();
        Ok((trainer.interrupt(interrupt::flag()).files(&names), corpus))
    }

    /// Begins to read documents to train on.
    fn training(&self, files: &[FileName]) -> Result<InstanceReader> {
        let table = self.table();
        let format = match table {
            Some(_) => InstanceFormat::Csv,
            None => InstanceFormat::Labeled,
        };
        let options = InstanceReadOptions {
            table,
            labels_are_numbers: true,
            ..self.documents.options(true, format)
        };
        InstanceReader::open(files, &options)
    }

    /// Begins to read documents for a model: in the way that it was trained on, if they are in a
    /// table.
    pub fn for_model(
        &self,
        files: &[FileName],
        regression: &Regression,
        needs_labels: bool,
    ) -> Result<InstanceReader> {
        let formats: Vec<_> = files.iter().map(|f| self.documents.format_of(f)).collect();
        let options = InstanceReadOptions {
            table: self.table(),
            ..self.documents.options(needs_labels, InstanceFormat::Csv)
        };
        let is_named = self.documents.label.is_some();
        InstanceReader::open(files, &regression.read_options(options, &formats, is_named))
    }
}
