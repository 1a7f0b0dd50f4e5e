//! The arguments that say which documents are read, and how.

use crate::{
    DocumentCorpus, DocumentOptions, DocumentTrainer, FeatureOptions, Instance, InstanceFormat,
    InstanceReadOptions, InstanceReader, LearningOptions, Loss, Strengths,
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
    /// Column or key of the class [default: label]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    #[command(flatten)]
    encoding: TextArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

impl DocumentInput {
    /// Begins to read files; those whose names say nothing have the default format.
    pub fn open(
        &self,
        files: &[FileName],
        needs_labels: bool,
        default_format: InstanceFormat,
    ) -> Result<InstanceReader> {
        let read = ReadOptions { limits: self.limits.read(), ..ReadOptions::default() };
        let options = InstanceReadOptions {
            format: self.format,
            default_format,
            text: self.text.clone(),
            label: self.label.clone(),
            needs_labels,
            read: self.encoding.apply(read),
        };
        InstanceReader::open(files, &options)
    }

    /// Says what was changed in the inputs.
    pub fn print_notices(&self) {
        self.encoding.print_notices(false);
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
    /// Documents without classes for the noise term; classes in them are ignored
    ///
    /// Takes all arguments up to the next option, so put TRAIN first.
    #[arg(long, num_args = 1.., value_name = "FILE", help_heading = "Unlabeled documents")]
    pub unlabeled: Vec<FileName>,
    #[command(flatten)]
    pub learning: LearningOptions,
}

impl TrainingFiles {
    /// Returns the options for training with some strengths.
    ///
    /// # Errors
    ///
    /// There are unlabeled documents, but the loss does not learn from them.
    pub fn options(&self, strengths: Strengths) -> Result<DocumentOptions> {
        let loss = self.learning.loss;
        if !self.unlabeled.is_empty() && loss != Loss::Softmax {
            return Err(Error::parameter(format!(
                "--unlabeled: --loss {} learns from labels alone; expected --loss softmax",
                loss.name()
            )));
        }
        let format =
            |file: &FileName| self.input.format.or_else(|| InstanceFormat::of_name(file.as_ref()));
        let has_features =
            self.train.iter().all(|file| format(file) == Some(InstanceFormat::Svmlight));
        Ok(DocumentOptions {
            features: (!has_features).then_some(self.features),
            strengths,
            learning: self.learning,
            memory: self.input.limits.memory(),
        })
    }

    /// Reads training documents, and unlabeled ones if there is noise.
    pub fn read(
        &self,
        trainer: &DocumentTrainer<'_>,
        progress: &Progress,
    ) -> Result<DocumentCorpus> {
        progress.update(&format!("reading {}", self.train.join(", ")));
        let mut corpus = self.read_more(trainer, &self.train)?;
        progress.println_all(corpus.notice_of_empty());
        if !self.unlabeled.is_empty() && trainer.options().noise().is_some() {
            let documents = self.input.open(&self.unlabeled, false, InstanceFormat::Text)?;
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
        let documents = self.input.open(files, true, InstanceFormat::Labeled)?;
        corpus.add(documents, trainer.options())?;
        Ok(corpus)
    }
}
