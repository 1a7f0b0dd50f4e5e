//! `dropchain classify train`

use clap::Args;
use dropchain::Result;
use dropchain::train::{Defaults, End};
use dropchain_documents::classify::{ClassifierOptions, ClassifierTrainer};
use dropchain_report::log::Log;

use crate::arguments::FileName;
use crate::classify::arguments::{LearningArguments, TrainingFiles, read};
use crate::exit::training_result;
use crate::outputs::ResultFile;
use crate::progress::Progress;
use crate::training_reporter::{TrainingReporter, header};
use crate::{CommandResult, interrupt};

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
    /// Development documents for early stopping; may be repeated
    #[arg(long, value_name = "FILE")]
    dev: Vec<FileName>,
    #[command(flatten)]
    regularization: RegularizationArguments,
    /// Weight of an unlabeled document, relative to a labeled one
    #[arg(long, default_value_t = Defaults::UNLABELED_WEIGHT, value_name = "ALPHA",
          requires = "unlabeled", help_heading = "Unlabeled documents")]
    unlabeled_weight: f64,
    #[command(flatten)]
    learning: LearningArguments,
}

/// Penalties and noise.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularization")]
struct RegularizationArguments {
    /// Strength c2 of the L2 penalty c2·‖θ‖² [default: 0.1 with noise, 0.3 without, of sgd 1]
    #[arg(long, value_name = "C2")]
    l2: Option<f64>,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁; above 0, many weights become exactly 0
    #[arg(long, default_value_t = 0.0, value_name = "C1")]
    l1: f64,
    /// Amount of feature noise: the dropout rate, or the variance of Gaussian noise; 0 for none
    /// [default: 0.7]
    ///
    /// There is none on the bias.
    #[arg(long, value_name = "RATE")]
    dropout: Option<f64>,
    /// Iterations without noise at the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    warm_up: usize,
    /// Random seed of --noise monte-carlo, online algorithms and --hidden
    #[arg(long, value_name = "N", default_value_t = Defaults::SEED)]
    seed: u64,
}

impl TrainCommand {
    pub fn run(&self) -> CommandResult {
        let files = &self.files;
        let mut trainer = ClassifierTrainer::new(self.options()?)?;
        trainer.memory = files.input.limits.memory();
        files.declared(&self.dev).check()?;
        interrupt::watch();
        let model_file = ResultFile::new(&files.model)?;
        let log = files.log.as_ref().map(Log::create).transpose()?;
        files.threads.start_pool()?;
        let progress = Progress::new(files.quiet);
        progress.update(&format!("reading {}", files.train.join(", ")));
        let (corpus, dev) = read(&trainer, files, &self.dev, &progress)?;
        trainer.interrupt = Some(interrupt::flag());
        let header = header(&files.train, Vec::new(), None);
        let mut reporter = TrainingReporter::new(&progress, log, header, true);
        let trained = trainer.train(&corpus, dev.as_ref(), &mut reporter)?;
        progress.clear();
        let model = files.model.display();
        // One class against the rest that learned nothing makes the model useless.
        let has_result = trained.ends.iter().all(End::has_result);
        let fate = if has_result {
            model_file.save(trained.classifier.file().as_bytes())?;
            progress.println(&format!("wrote {model}"));
            format!("{model} has the best weights so far")
        } else {
            format!("{model} was not written")
        };
        reporter.finish()?;
        let mut ends = trained.ends.iter();
        ends.try_for_each(|end| training_result((end.reason, end.iterations), false, true, &fate))
    }

    fn options(&self) -> Result<ClassifierOptions> {
        let mut options = self.learning.options(&self.files)?;
        let own = &self.regularization;
        options.train.seed = own.seed;
        let method = &mut options.train.method;
        method.l2 = own.l2;
        method.l1 = own.l1;
        let default = match method.noise.dropout {
            0.0 => 0.0, // the algorithm has no noise
            _ => ClassifierOptions::DROPOUT,
        };
        method.noise.dropout = own.dropout.unwrap_or(default);
        method.warm_up = Some(own.warm_up);
        method.noise.unlabeled_weight = self.unlabeled_weight;
        Ok(options)
    }
}
