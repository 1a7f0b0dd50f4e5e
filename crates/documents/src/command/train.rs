//! `dropchain classify train` and `dropchain regress train`

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::{DocumentOptions, DocumentTrainer, LearningOptions, Loss, Strengths};
use clap::Args;
use dropchain::Error;

use super::arguments::{TrainingFiles, UnlabeledFiles};
use super::learning::ClassLearning;
use super::reporter::Reporter;
use dropchain_command::arguments::{Choice, FileName, one_of};
use dropchain_command::exit::CommandResult;
use dropchain_command::interrupt;
use dropchain_command::outputs::{CommandFiles, ResultFile};
use dropchain_command::progress::Progress;

/// The outputs of training.
#[derive(Debug, Args)]
struct OutputFiles {
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Write a log in JSON lines to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

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
    #[command(flatten)]
    outputs: OutputFiles,
    /// Development documents for early stopping; may be repeated
    #[arg(long, value_name = "FILE")]
    dev: Vec<FileName>,
    #[command(flatten)]
    unlabeled: UnlabeledFiles,
    /// Weight of an unlabeled document, relative to a labeled one
    #[arg(
        long,
        default_value_t = 0.2,
        value_name = "ALPHA",
        requires = "unlabeled",
        help_heading = "Unlabeled documents"
    )]
    unlabeled_weight: f64,
    #[command(flatten)]
    strengths: Strengths,
    #[command(flatten)]
    learning: ClassLearning,
}

impl ClassifyTrainCommand {
    pub fn run(&self) -> CommandResult {
        let unlabeled = &self.unlabeled.unlabeled;
        let strengths = Strengths { unlabeled_weight: self.unlabeled_weight, ..self.strengths };
        let options = self.learning.options(&self.files, strengths, !unlabeled.is_empty())?;
        run(&self.files, options, &self.outputs, [&self.dev, unlabeled])
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
    #[command(flatten)]
    outputs: OutputFiles,
    /// What is minimized, summed over documents with the number y and the score f
    #[arg(long, value_parser = one_of(&NUMBER_LOSSES), default_value = "squared",
          help_heading = "Model")]
    loss: Loss,
    /// insensitive: ε of max(0, |y − f| − ε) [default: 0.1]
    #[arg(long, value_name = "EPS", help_heading = "Model")]
    epsilon: Option<f64>,
    #[command(flatten)]
    strengths: Strengths,
    #[command(flatten)]
    learning: LearningOptions,
}

const NUMBER_LOSSES: [Choice<Loss>; 3] = [
    ("squared", "(y − f)²: linear regression", Loss::Squared),
    ("poisson", "exp(f) − y·f: Poisson regression, of counts; exp(f) is predicted", Loss::Poisson),
    (
        "insensitive",
        "max(0, |y − f| − ε): support vector regression",
        Loss::Insensitive { epsilon: 0.1 },
    ),
];

impl RegressTrainCommand {
    pub fn run(&self) -> CommandResult {
        let loss = match (self.loss, self.epsilon) {
            (Loss::Insensitive { .. }, Some(epsilon)) => Loss::Insensitive { epsilon },
            (_, Some(_)) => {
                return Err(Error::parameter("--epsilon: requires --loss insensitive").into());
            }
            (loss, None) => loss,
        };
        let options = DocumentOptions {
            data: self.files.data(),
            loss,
            strengths: self.strengths,
            learning: self.learning,
            memory: self.files.input.limits.memory(),
            ..DocumentOptions::numbers()
        };
        run(&self.files, options, &self.outputs, [&[], &[]])
    }
}

/// Trains, and writes the model; `dev` and `unlabeled` are other documents.
fn run(
    files: &TrainingFiles,
    options: DocumentOptions,
    OutputFiles { model, log }: &OutputFiles,
    [dev, unlabeled]: [&[FileName]; 2],
) -> CommandResult {
    let mut trainer = DocumentTrainer::new(options)?;
    let declared = CommandFiles::default().read(&files.train).read(dev).read(unlabeled);
    declared.write_model(model, log.as_deref()).check()?;
    interrupt::watch();
    let model_file = ResultFile::new(model)?;
    let progress = Progress::new(files.quiet);
    let mut reporter = Reporter::new(&progress, log.as_deref())?;
    files.threads.start_pool()?;
    let corpus = files.read(&trainer, unlabeled, &progress)?;
    let dev = (!dev.is_empty()).then(|| files.read_more(&trainer, dev)).transpose()?;
    progress.println_all(dev.iter().flat_map(|dev| corpus.notices_of_unseen(dev)));
    progress.println_all(trainer.warning(&corpus));
    trainer.interrupt = Some(interrupt::flag());
    let trained = trainer.train(&corpus, dev.as_ref(), &mut |event| {
        reporter.report(event);
        ControlFlow::Continue(())
    })?;
    progress.clear();
    model_file.save(trained.model.as_bytes())?;
    reporter.finish(&trained.end, model)
}
