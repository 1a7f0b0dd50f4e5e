//! `dropchain bench`

mod gradients;
mod measurement;
mod problem;
mod results;
#[cfg(test)]
mod tests;

use clap::{Args, Subcommand};

use crate::CommandResult;

/// Benchmark dropchain itself (for researchers)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain bench gradients train.conll --template ner-finkel --json out.json
  dropchain bench gradients train.conll --template ner --sweep labels --figure out.svg

Run `dropchain bench gradients --help` for what is measured.")]
pub struct BenchCommand {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    Gradients(Box<gradients::GradientsCommand>),
}

impl BenchCommand {
    pub fn run(&self) -> CommandResult {
        match &self.benchmark {
            Benchmark::Gradients(command) => command.run(),
        }
    }
}
