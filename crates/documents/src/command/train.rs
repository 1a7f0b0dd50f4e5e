//! `dropchain classify train` and `dropchain regress train`

use std::path::{Path, PathBuf};

use crate::{DocumentOptions, DocumentTrainer, Noise, Penalties};
use clap::Args;

use super::arguments::{TrainingFiles, UnlabeledFiles};
use super::learning::{ClassLearning, NumberLearning};
use super::reporter::Reporter;
use dropchain_command::arguments::FileName;
use dropchain_command::exit::CommandResult;
use dropchain_command::interrupt;
use dropchain_command::outputs::ResultFile;
use dropchain_command::progress::Progress;

/// Train a classifier on documents with classes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Lines with a class, a tab, and a text
  dropchain classify train reviews.tsv --model reviews.model

  # A folder of files for each class; early stopping on other documents
  dropchain classify train reviews/ --dev more-reviews/ --model reviews.model

  # CSV with columns `body` and `topic`; words and n-grams of characters
  dropchain classify train mails.csv --text body --label topic --chars 3..5 --model mails.model

  # Ready-made features in SVMlight's format; more documents without classes
  dropchain classify train a.svm --unlabeled b.svm --model a.model

Ctrl-C stops training and saves the best model so far.")]
pub struct ClassifyTrainCommand {
    #[command(flatten)]
    files: TrainingFiles,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Development documents for early stopping; may be repeated
    #[arg(long, value_name = "FILE")]
    dev: Vec<FileName>,
    #[command(flatten)]
    unlabeled: UnlabeledFiles,
    #[command(flatten)]
    regularization: RegularizationArguments,
    #[command(flatten)]
    learning: ClassLearning,
}

/// Penalties and noise of classifiers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularization")]
struct RegularizationArguments {
    /// Strength c2 of the L2 penalty c2·‖θ‖² [default: 0.1 with noise, 0.3 without]
    #[arg(long, value_name = "C2")]
    l2: Option<f64>,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁; above 0, many weights become exactly 0
    #[arg(long, default_value_t = 0.0, value_name = "C1")]
    l1: f64,
    /// Amount of feature noise: the dropout rate, or the variance of Gaussian noise; 0 for none
    ///
    /// There is none on the bias.
    #[arg(long, value_name = "RATE", default_value_t = DocumentOptions::DROPOUT)]
    dropout: f64,
    /// Weight of an unlabeled document, relative to a labeled one
    #[arg(
        long,
        default_value_t = 0.2,
        value_name = "ALPHA",
        requires = "unlabeled",
        help_heading = "Unlabeled documents"
    )]
    unlabeled_weight: f64,
}

impl ClassifyTrainCommand {
    pub fn run(&self) -> CommandResult {
        let unlabeled = &self.unlabeled.unlabeled;
        let options = self.learning.options(&self.files, !unlabeled.is_empty())?;
        let own = &self.regularization;
        let options = DocumentOptions {
            penalties: Penalties { l2: own.l2, l1: own.l1, ..options.penalties },
            noise: Noise {
                amount: own.dropout,
                unlabeled_weight: own.unlabeled_weight,
                ..options.noise
            },
            ..options
        };
        run(&self.files, options, &self.model, [&self.dev, unlabeled])
    }
}

/// Train a regression on documents with numbers
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # A table with a column `price`; all other columns are numbers
  dropchain regress train homes.csv --label price --columns all --model homes.model

  # Lines with a number, a tab, and a text; words are dropped at random
  dropchain regress train ratings.tsv --l2 10 --dropout 0.5 --model ratings.model

  # Counts: Poisson regression with an L1 penalty
  dropchain regress train visits.csv --label visits --columns all --loss poisson --l1 5 \\
      --model visits.model

  # Support vector regression on ready-made features
  dropchain regress train a.svm --loss insensitive --epsilon 0.5 --l2 0.1 --model a.model

Ctrl-C stops training and saves the best model so far.")]
pub struct RegressTrainCommand {
    #[command(flatten)]
    files: TrainingFiles,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Strength c2 of the L2 penalty c2·‖w‖²
    #[arg(long, value_name = "C2", default_value_t = 1.0, help_heading = "Regularization")]
    l2: f64,
    /// Strength c1 of the L1 penalty c1·‖w‖₁; above 0, many weights become exactly 0
    #[arg(long, value_name = "C1", default_value_t = 0.0, help_heading = "Regularization")]
    l1: f64,
    #[command(flatten)]
    learning: NumberLearning,
}

impl RegressTrainCommand {
    pub fn run(&self) -> CommandResult {
        let options = self.learning.options(&self.files)?;
        let penalties = Penalties { l2: Some(self.l2), l1: self.l1, ..options.penalties };
        run(&self.files, DocumentOptions { penalties, ..options }, &self.model, [&[], &[]])
    }
}

/// Trains, and writes the model; `dev` and `unlabeled` are other documents.
fn run(
    files: &TrainingFiles,
    options: DocumentOptions,
    model: &Path,
    [dev, unlabeled]: [&[FileName]; 2],
) -> CommandResult {
    let mut trainer = DocumentTrainer::new(options)?;
    files.declared(Some(&model.to_owned())).read(dev).read(unlabeled).check()?;
    interrupt::watch();
    let model_file = ResultFile::new(model)?;
    let progress = Progress::new(files.quiet);
    let mut reporter = Reporter::new(&progress, files.log.as_deref())?;
    files.threads.start_pool()?;
    let corpus = files.read(&trainer, unlabeled, &progress)?;
    let dev = (!dev.is_empty()).then(|| files.read_more(&trainer, dev)).transpose()?;
    progress.println_all(dev.iter().flat_map(|dev| corpus.notices_of_unseen(dev)));
    progress.println_all(trainer.warning(&corpus));
    trainer.interrupt = Some(interrupt::flag());
    let trained = trainer.train(&corpus, dev.as_ref(), &mut |event| reporter.report(event))?;
    progress.clear();
    model_file.save(trained.model.as_bytes())?;
    reporter.finish(&trained.end, model)
}
