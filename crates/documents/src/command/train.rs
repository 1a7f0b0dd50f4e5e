//! `dropchain classify train`

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::{DocumentTrainer, Strengths};
use clap::Args;

use super::arguments::TrainingFiles;
use super::reporter::Reporter;
use dropchain_command::arguments::FileName;
use dropchain_command::exit::CommandResult;
use dropchain_command::interrupt;
use dropchain_command::outputs::{CommandFiles, ResultFile};
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
pub struct TrainCommand {
    #[command(flatten)]
    files: TrainingFiles,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Write a log in JSON lines to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Development documents for early stopping; may be repeated
    #[arg(long, value_name = "FILE")]
    dev: Vec<FileName>,
    #[command(flatten)]
    strengths: Strengths,
}

impl TrainCommand {
    pub fn run(&self) -> CommandResult {
        let Self { files, model, log, dev, strengths } = self;
        let mut trainer = DocumentTrainer::new(files.options(*strengths)?)?;
        let declared = CommandFiles::default().read(&files.train).read(dev).read(&files.unlabeled);
        declared.write_model(model, log.as_deref()).check()?;
        interrupt::watch();
        let model_file = ResultFile::new(model)?;
        let progress = Progress::new(files.quiet);
        let mut reporter = Reporter::new(&progress, log.as_deref())?;
        files.threads.start_pool()?;
        let corpus = files.read(&trainer, &progress)?;
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
}
