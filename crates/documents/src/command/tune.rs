//! `dropchain classify tune`

use std::path::PathBuf;

use crate::{DocumentTrainer, Scoring, SearchResult, Strengths};
use clap::Args;
use serde_json::json;

use super::TrainingFiles;
use dropchain_command::arguments::FileName;
use dropchain_command::exit::{CommandError, CommandResult};
use dropchain_command::outputs::{CommandFiles, ResultFile};
use dropchain_command::progress::Progress;
use dropchain_command::{interrupt, print_report};
use dropchain_layout::format_table;

/// Search for the best training parameters of a classifier and write the best model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # A small grid around the defaults, by 10-fold cross-validation
  dropchain classify tune reviews.tsv --folds 10 --model reviews.model

  # Your own grid, scored on development documents
  dropchain classify tune train/ --dev dev/ --dropout 0,0.3,0.5,0.7 --l2 0.01,0.1,1 \\
      --model reviews.model

All combinations of VALUES are trained. Folds have about the same fraction of each class. The model
is trained on all documents with the best configuration, for the mean of its best iterations. Ctrl-C
ends the search and writes the best model so far.")]
pub struct TuneCommand {
    #[command(flatten)]
    files: TrainingFiles,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Development documents to score configurations on; may be repeated
    #[arg(long, value_name = "FILE", required_unless_present = "folds", conflicts_with = "folds")]
    dev: Vec<FileName>,
    /// Score configurations by K-fold cross-validation on the training documents
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..))]
    folds: Option<u32>,
    /// Print JSON instead of a table, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    space: SpaceArguments,
}

/// The parameters that are searched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search space")]
struct SpaceArguments {
    /// Amounts of feature noise; 0 for none
    #[arg(long, value_name = "VALUES", value_delimiter = ',', default_value = "0,0.3,0.5,0.7,0.9")]
    dropout: Vec<f64>,
    /// Strengths of the L2 penalty
    #[arg(long, value_name = "VALUES", value_delimiter = ',', default_value = "0.03,0.1,0.3")]
    l2: Vec<f64>,
    /// Strengths of the L1 penalty
    #[arg(long, value_name = "VALUES", value_delimiter = ',', default_value = "0")]
    l1: Vec<f64>,
    /// Weights of an unlabeled document, relative to a labeled one
    #[arg(
        long,
        value_name = "VALUES",
        value_delimiter = ',',
        default_value = "0.2",
        requires = "unlabeled"
    )]
    unlabeled_weight: Vec<f64>,
}

impl SpaceArguments {
    /// Returns all combinations of values.
    fn candidates(&self) -> Vec<Strengths> {
        let mut candidates = Vec::new();
        for &dropout in &self.dropout {
            for l2 in self.l2.iter().copied().map(Some) {
                for &l1 in &self.l1 {
                    for &unlabeled_weight in &self.unlabeled_weight {
                        candidates.push(Strengths { dropout, l2, l1, unlabeled_weight });
                    }
                }
            }
        }
        candidates
    }
}

impl TuneCommand {
    pub fn run(&self) -> CommandResult {
        let Self { files, dev, .. } = self;
        let has_unlabeled = !files.unlabeled.is_empty();
        let mut trainer = DocumentTrainer::new(files.options(Strengths::default())?)?;
        let declared = CommandFiles::default().read(&files.train).read(dev).read(&files.unlabeled);
        declared.write_model(&self.model, None).check()?;
        interrupt::watch();
        let model_file = ResultFile::new(&self.model)?;
        files.threads.start_pool()?;
        let progress = Progress::new(files.quiet);
        let corpus = files.read(&trainer.options, &progress)?;
        let dev_corpus;
        let scoring = match self.folds {
            Some(folds) => {
                progress.println_all(corpus.notices_of_folds(folds as usize));
                Scoring::Folds(folds as usize, files.learning.seed)
            }
            None => {
                dev_corpus = files.labeled(dev, &trainer.options)?;
                Scoring::Dev(&dev_corpus)
            }
        };
        trainer.interrupt = Some(interrupt::flag());
        let result = trainer.search(&corpus, scoring, &self.space.candidates(), &|found| {
            interrupt::set_has_result();
            let flags = flags(&found.strengths, has_unlabeled);
            progress.update(&format!("{flags}: accuracy {:.2}%", 100.0 * found.mean_accuracy));
        })?;
        progress.clear();
        model_file.save(result.trained.model.as_bytes())?;
        let (model, iterations) = (self.model.display(), result.configurations[0].best_iteration);
        progress
            .println(&format!("wrote {model}, retrained on all data for {iterations} iterations"));
        let value = json!({"configurations": result.configurations});
        print_report(self.json, &value, || table(&result, has_unlabeled))?;
        let Some(signal) = interrupt::received().filter(|_| result.interrupted) else {
            return Ok(());
        };
        let message = format!(
            "interrupted by {signal} before the end of the search; {model} has the best \
             configuration so far"
        );
        Err(CommandError::Interrupted(signal, message))
    }
}

/// Returns a line for each configuration, and the options of `train` for the best one.
fn table(result: &SearchResult, has_unlabeled: bool) -> String {
    let mut heading = vec!["dropout", "L2", "L1", "accuracy", "iterations"];
    heading.extend(has_unlabeled.then_some("unlabeled weight"));
    let heading = heading.into_iter().map(str::to_owned).collect();
    let rows = result.configurations.iter().map(|found| {
        let values = values(&found.strengths, has_unlabeled).into_iter();
        let mut row: Vec<String> = values.map(|(_, x)| x.to_string()).collect();
        let accuracy = format!("{:.2}", 100.0 * found.mean_accuracy);
        row.splice(3..3, [accuracy, found.best_iteration.to_string()]);
        row
    });
    let table = format_table([heading].into_iter().chain(rows));
    let best = &result.configurations[0];
    let flags = flags(&best.strengths, has_unlabeled);
    format!("{table}\nbest: {flags} --max-iterations {}\n", best.best_iteration)
}

/// Returns the options of `train` for strengths.
fn flags(strengths: &Strengths, has_unlabeled: bool) -> String {
    let values = values(strengths, has_unlabeled).into_iter();
    values.map(|(name, value)| format!("--{name} {value}")).collect::<Vec<_>>().join(" ")
}

/// Returns the strengths of a configuration with their names.
fn values(strengths: &Strengths, has_unlabeled: bool) -> Vec<(&'static str, f64)> {
    let Strengths { dropout, l2, l1, unlabeled_weight } = *strengths;
    let mut values = vec![("dropout", dropout), ("l2", l2.unwrap_or_default()), ("l1", l1)];
    values.extend(has_unlabeled.then_some(("unlabeled-weight", unlabeled_weight)));
    values
}
