//! The command line: arguments in, exit code out. All printing of the program is here.

mod arguments;
mod bench;
mod cluster;
mod compare;
mod demo;
mod eval;
mod inspect;
mod predictions;
mod progress;
mod shown;
mod table;
mod tag;
mod train;
mod training;
mod tune;
mod watcher;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use dropchain::Error;

/// Trains and runs sequence taggers (names, parts of speech, chunks) with linear-chain CRFs.
#[derive(Debug, Parser)]
#[command(
    name = "dropchain",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(after_help = "\
Examples:
  echo 'Ada Lovelace met Charles Babbage in London.' | dropchain demo
  dropchain train train.conll --dev dev.conll --template ner --model ner.model
  echo 'Ada Lovelace lived in London.' | dropchain tag ner.model --output inline
  dropchain eval ner.model test.conll

`dropchain COMMAND --help` explains a command and shows examples.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(Box<train::Arguments>),
    Tune(Box<tune::Arguments>),
    Tag(tag::Arguments),
    Eval(eval::Arguments),
    Compare(compare::Arguments),
    Inspect(inspect::Arguments),
    Cluster(cluster::Arguments),
    Demo(demo::Arguments),
    Bench(bench::Arguments),
}

/// What can end a command early.
#[derive(Debug)]
enum Failure {
    /// Something is wrong: exit code 1.
    Error(Error),
    /// The arguments do not belong together: exit code 2, as for those that clap refuses.
    Usage(&'static str),
    /// Whoever reads our output has gone away, which is no error.
    OutputClosed,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::OutputClosed
            }
            error => Self::Error(error),
        }
    }
}

/// A failure to write to standard output.
fn stdout_failed(error: io::Error) -> Failure {
    Error::io("standard output", error).into()
}

type Outcome = Result<(), Failure>;

/// Writes results to standard output.
fn print(text: &str) -> Outcome {
    io::stdout()
        .lock()
        .write_all(text.as_bytes())
        .map_err(stdout_failed)
}

/// Runs the program.
pub fn run() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Train(arguments) => arguments.run(),
        Command::Tune(arguments) => arguments.run(),
        Command::Tag(arguments) => arguments.run(),
        Command::Eval(arguments) => arguments.run(),
        Command::Compare(arguments) => arguments.run(),
        Command::Inspect(arguments) => arguments.run(),
        Command::Cluster(arguments) => arguments.run(),
        Command::Demo(arguments) => arguments.run(),
        Command::Bench(arguments) => arguments.run(),
    };
    match outcome {
        Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Error(error)) => {
            progress::notice(&format!("dropchain: {error}"));
            ExitCode::FAILURE
        }
        Err(Failure::Usage(message)) => {
            progress::notice(&format!("dropchain: {message}"));
            ExitCode::from(2)
        }
    }
}
