//! `dropchain classify train`

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::predictor::digits;
use crate::{DocumentTrainer, End, Event, Start, Strengths};
use clap::Args;
use dropchain::train::Iteration;
use dropchain_report::log::Log;

use super::TrainingFiles;
use dropchain_command::arguments::FileName;
use dropchain_command::exit::{CommandResult, training_result};
use dropchain_command::interrupt;
use dropchain_command::outputs::{CommandFiles, ResultFile};
use dropchain_command::progress::Progress;
use dropchain_layout::counted;

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
        let mut log = log.as_deref().map(Log::create).transpose()?.unwrap_or_default();
        files.threads.start_pool()?;
        let corpus = files.read(&trainer.options, &progress)?;
        let dev = (!dev.is_empty()).then(|| files.labeled(dev, &trainer.options)).transpose()?;
        progress.println_all(dev.iter().flat_map(|dev| corpus.notices_of_unseen(dev)));
        progress.println_all(trainer.warning(&corpus));
        trainer.interrupt = Some(interrupt::flag());
        let trained = trainer.train(&corpus, dev.as_ref(), &mut |event| {
            let is_result = match event {
                Event::Start(start) => {
                    progress.println(&describe_start(start));
                    false
                }
                Event::Iteration(iteration) => {
                    progress.update(&describe_iteration(iteration));
                    iteration.number > 0
                }
                Event::End(end) => {
                    progress.println(&describe_end(end));
                    true
                }
            };
            if is_result {
                interrupt::set_has_result();
            }
            log.write(event, is_result);
            ControlFlow::Continue(())
        })?;
        progress.clear();
        model_file.save(trained.model.as_bytes())?;
        let (model, end) = (model.display(), trained.end);
        progress.println(&format!("wrote {model}"));
        log.finish()?;
        let fate = format!("{model} has the best weights so far");
        training_result((end.reason, end.iterations), false, true, &fate)
    }
}

fn describe_start(start: &Start) -> String {
    let Start { documents, labels, attributes, active_per_token, columns, parameters, .. } = start;
    let unlabeled = match start.unlabeled {
        0 => String::new(),
        n => format!(", {n} unlabeled documents"),
    };
    format!(
        "{documents} documents, {labels} classes{unlabeled}; {attributes} features \
         ({active_per_token:.1} per document), {columns} after collapsing; {parameters} weights"
    )
}

fn describe_iteration(iteration: &Iteration) -> String {
    let Iteration { number, objective, optimizer, time, .. } = iteration;
    let (norm, seconds) = (optimizer.gradient_norm, time.as_secs_f64());
    let dev = iteration.dev.map_or(String::new(), |score| format!("  dev {score}%"));
    format!(
        "iteration {number:4}  objective {objective:.4}  |gradient| {norm:.3e}  {seconds:.1} s{dev}"
    )
}

fn describe_end(end: &End) -> String {
    let (reason, objective) = (end.reason.message(), digits(end.objective));
    let line = format!(
        "stopped after {}: {reason}; objective {objective}",
        counted(end.iterations, "iteration")
    );
    let Some(accuracy) = end.dev_accuracy else { return line };
    let (kept, percent) = (end.best_iteration, 100.0 * accuracy);
    format!("{line}; kept iteration {kept}: accuracy {percent:.2}% on development data")
}
