//! `dropchain classify`: the classes of whole documents.

mod arguments;
mod predict;
mod reporter;
mod train;
mod tune;

use clap::{Args, Subcommand};

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
