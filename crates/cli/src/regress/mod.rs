//! `dropchain regress`: predicting numbers

mod eval;
mod input;
mod inspect;
mod model;
mod path;
mod predict;
mod train;

use clap::{Args, Subcommand};

use super::CommandResult;

/// Predict numbers: train, predict, eval, path, inspect
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # A table with a column `price`; the other columns are numbers, but for one of categories
  dropchain regress train homes.csv --label price --columns all --categories town --model m
  dropchain regress predict m new.csv
  dropchain regress eval m test.csv

  # The lasso, with a strength chosen by cross-validation
  dropchain regress path homes.csv --label price --columns all --categories town \\
      --folds 10 --model m

  # Lines with a number, a tab, and a text
  dropchain regress train ratings.tsv --l2 10 --dropout 0.5 --model m

See docs/regression.md.")]
pub struct RegressCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    Train(Box<train::TrainCommand>),
    Predict(predict::PredictCommand),
    Eval(eval::EvalCommand),
    Path(Box<path::PathCommand>),
    Inspect(inspect::InspectCommand),
}

impl RegressCommand {
    pub fn run(&self) -> CommandResult {
        match &self.command {
            Subcommands::Train(command) => command.run(),
            Subcommands::Predict(command) => command.run(),
            Subcommands::Eval(command) => command.run(),
            Subcommands::Path(command) => command.run(),
            Subcommands::Inspect(command) => command.run(),
        }
    }
}
