//! `dropchain classify`: classification of whole documents

mod eval;
mod files;
mod input;
mod inspect;
mod learning;
mod loss_arguments;
mod predict;
mod train;
mod tune;

use clap::{Args, Subcommand};

use super::CommandResult;
pub use input::{DocumentInput, FeatureArguments};

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
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    Train(Box<train::TrainCommand>),
    Predict(predict::PredictCommand),
    Eval(eval::EvalCommand),
    Tune(Box<tune::TuneCommand>),
    Inspect(inspect::InspectCommand),
}

impl ClassifyCommand {
    pub fn run(&self) -> CommandResult {
        match &self.command {
            Subcommands::Train(command) => command.run(),
            Subcommands::Predict(command) => command.run(),
            Subcommands::Eval(command) => command.run(),
            Subcommands::Tune(command) => command.run(),
            Subcommands::Inspect(command) => command.run(),
        }
    }
}
