//! `dropchain bench`

mod figure;
mod gradients;
mod measurement;
mod results;
mod tables;

use crate::CommandResult;
use clap::{Args, Subcommand};

/// Benchmark dropchain itself (for researchers)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain bench gradients train.conll --template ner-finkel --json out.json
  dropchain bench gradients train.conll --template ner --sweep window --figure out.svg

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
