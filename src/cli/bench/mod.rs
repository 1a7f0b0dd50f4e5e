//! `dropchain bench`

mod gradients;
mod tables;

use clap::{Args, Subcommand};

use super::Outcome;

/// Measure dropchain itself, for researchers
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain bench gradients train.conll --template ner-finkel --json gradients.json

`dropchain bench gradients --help` explains what is measured.")]
pub struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    Gradients(Box<gradients::Arguments>),
}

impl Arguments {
    /// Runs the command.
    pub fn run(&self) -> Outcome {
        match &self.benchmark {
            Benchmark::Gradients(arguments) => arguments.run(),
        }
    }
}
