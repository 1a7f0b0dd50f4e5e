//! `dropchain classify` and `dropchain regress`: the classes and the numbers of whole documents.

mod arguments;
mod learning;
mod predict;
mod reporter;
mod train;
mod tune;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::Task;
use dropchain_command::exit::CommandResult;

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
    Train(Box<train::ClassifyTrainCommand>),
    Predict(predict::ClassifyPredictCommand),
    Eval(predict::ClassifyEvalCommand),
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
            ClassifySubcommands::Inspect(command) => command.run(Task::Classes),
        }
    }
}

/// Predict numbers: train, predict, eval, inspect
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # A table with a column `price`; the other columns are numbers, but for one of categories
  dropchain regress train homes.csv --label price --columns all --categories town --model m
  dropchain regress predict m new.csv
  dropchain regress eval m test.csv

  # Lines with a number, a tab, and a text
  dropchain regress train ratings.tsv --l2 10 --dropout 0.5 --model m

See docs/regression.md.")]
pub struct RegressCommand {
    #[command(subcommand)]
    command: RegressSubcommands,
}

#[derive(Debug, Subcommand)]
enum RegressSubcommands {
    Train(Box<train::RegressTrainCommand>),
    Predict(predict::RegressPredictCommand),
    Eval(predict::RegressEvalCommand),
    Inspect(predict::InspectCommand),
}

impl RegressCommand {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The errors of its subcommand.
    pub fn run(&self) -> CommandResult {
        match &self.command {
            RegressSubcommands::Train(command) => command.run(),
            RegressSubcommands::Predict(command) => command.run(),
            RegressSubcommands::Eval(command) => command.run(),
            RegressSubcommands::Inspect(command) => command.run(Task::Numbers),
        }
    }
}

/// Returns what a model file does, as in "the model predicts numbers", and the command for it;
/// `None` if it is no model of documents.
pub fn user_of(file: &Path) -> Option<(&'static str, &'static str)> {
    let task = Task::of_file(file)?;
    let command = match task {
        Task::Classes => "classify",
        Task::Numbers => "regress",
    };
    Some((task.what(), command))
}
