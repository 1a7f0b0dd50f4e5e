//! `dropchain classify`: the classes of whole documents.

mod predict;
mod train;
mod tune;

use clap::{Args, Subcommand};
use dropchain::corpus::ReadOptions;
use dropchain::{Error, Result};

use crate::{
    DocumentCorpus, DocumentOptions, FeatureOptions, Instance, InstanceFormat, InstanceReadOptions,
    InstanceReader, LearningOptions, Loss, Strengths,
};
use dropchain_command::arguments::{FileName, LimitArguments, TextArguments, ThreadArguments};
use dropchain_command::exit::CommandResult;
use dropchain_command::progress::Progress;

/// Classify whole documents: train, predict, eval, tune, inspect
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Lines with a class, a tab, and a text; or a folder per class, CSV, JSON lines, SVMlight
  dropchain classify train reviews.tsv --model reviews.model
  echo 'a great , funny film' | dropchain classify predict reviews.model
  dropchain classify eval reviews.model test.tsv
  dropchain classify tune reviews.tsv --folds 10 --model reviews.model
  dropchain classify inspect reviews.model

See docs/classification.md.")]
pub struct ClassifyCommand {
    #[command(subcommand)]
    command: ClassifySubcommands,
}

#[derive(Debug, Subcommand)]
enum ClassifySubcommands {
    Train(Box<train::TrainCommand>),
    Predict(predict::PredictCommand),
    Eval(predict::EvalCommand),
    Tune(Box<tune::TuneCommand>),
    Inspect(predict::InspectCommand),
}

impl ClassifyCommand {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The errors of its subcommand.
    pub fn run(&self) -> CommandResult {
        match &self.command {
            ClassifySubcommands::Train(command) => command.run(),
            ClassifySubcommands::Predict(command) => command.run(),
            ClassifySubcommands::Eval(command) => command.run(),
            ClassifySubcommands::Tune(command) => command.run(),
            ClassifySubcommands::Inspect(command) => command.run(),
        }
    }
}

/// How to read documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
struct DocumentInput {
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
    limits: LimitArguments,
}

impl DocumentInput {
    /// Begins to read files; those whose names say nothing have the default format.
    fn open(
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
    fn print_notices(&self) {
        self.encoding.print_notices(false);
    }
}

/// Documents to train on, and how to go about them.
#[derive(Debug, Args)]
struct TrainingFiles {
    /// Training documents: files, folders, or `-` for standard input
    #[arg(required = true, value_name = "TRAIN")]
    train: Vec<FileName>,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: DocumentInput,
    #[command(flatten)]
    features: FeatureOptions,
    /// Documents without classes for the noise term; classes in them are ignored
    ///
    /// Takes all arguments up to the next option, so put TRAIN first.
    #[arg(long, num_args = 1.., value_name = "FILE", help_heading = "Unlabeled documents")]
    unlabeled: Vec<FileName>,
    #[command(flatten)]
    learning: LearningOptions,
}

impl TrainingFiles {
    /// Returns the options for training with some strengths.
    ///
    /// # Errors
    ///
    /// There are unlabeled documents, but the loss does not learn from them.
    fn options(&self, strengths: Strengths) -> Result<DocumentOptions> {
        let loss = self.learning.loss;
        if !self.unlabeled.is_empty() && loss != Loss::Softmax {
            return Err(Error::parameter(format!(
                "--unlabeled: --loss {} learns from labels alone; expected --loss softmax",
                loss.name()
            )));
        }
        let has_features = |file: &FileName| {
            let format = self.input.format.or_else(|| InstanceFormat::of_name(file.as_ref()));
            format == Some(InstanceFormat::Svmlight)
        };
        let features = (!self.train.iter().all(has_features)).then_some(self.features);
        let (learning, memory) = (self.learning, self.input.limits.memory());
        Ok(DocumentOptions { features, strengths, learning, memory })
    }

    /// Reads training documents, and unlabeled ones if there is noise.
    fn read(&self, options: &DocumentOptions, progress: &Progress) -> Result<DocumentCorpus> {
        progress.update(&format!("reading {}", self.train.join(", ")));
        let mut corpus = self.labeled(&self.train, options)?;
        progress.println_all(corpus.notice_of_empty());
        if !self.unlabeled.is_empty() && options.noise().is_some() {
            let documents = self.input.open(&self.unlabeled, false, InstanceFormat::Text)?;
            corpus.add(documents.map(|document| document.map(Instance::without_label)), options)?;
        }
        self.input.print_notices();
        Ok(corpus)
    }

    /// Reads documents with labels.
    fn labeled(&self, files: &[FileName], options: &DocumentOptions) -> Result<DocumentCorpus> {
        let mut corpus = DocumentCorpus::default();
        corpus.add(self.input.open(files, true, InstanceFormat::Labeled)?, options)?;
        Ok(corpus)
    }
}
