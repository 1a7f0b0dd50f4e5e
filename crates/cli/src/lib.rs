//! The command-line interface: parses arguments, runs commands, and does all terminal output.

#[cfg(target_os = "linux")]
mod address_space;
mod arguments;
mod bench;
mod check;
mod cluster;
mod compare;
mod config;
mod convert;
mod demo;
mod documents;
mod error_list;
mod eval;
mod exit;
mod explain;
mod flags;
mod gold_tagger;
mod help;
mod inspect;
mod interrupt;
mod line_kinds;
mod model_columns;
mod outputs;
mod predictions;
mod progress;
mod ranks_program;
mod report;
mod roles;
#[cfg(feature = "serve")]
mod serve;
mod tag;
mod tag_input;
mod tag_output;
mod tagging_pipeline;
mod team;
mod template_arguments;
mod terminal;
mod train;
mod training_arguments;
mod training_reporter;
mod training_table;
mod tune;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use dropchain::Error;
use serde::Serialize;

use arguments::FileName;
use config::{ConfigArguments, EffectiveConfig, ParseError};
use dropchain_layout::{printable_json, printable_lines};
use exit::{CommandError, CommandResult, check_uninterrupted};
pub use ranks_program::run_ranks;

/// A linear-chain CRF tagger for named entities, parts of speech, chunks and other token labels.
#[derive(Debug, Parser)]
#[command(name = "dropchain", version, propagate_version = true, styles = help::styles())]
#[command(after_help = "\
Examples:
  echo 'Ada Lovelace met Charles Babbage in London.' | dropchain demo
  dropchain train train.conll --dev dev.conll --model ner.model
  echo 'Ada Lovelace lived in London.' | dropchain tag ner.model --output inline
  dropchain eval ner.model test.conll

Run `dropchain COMMAND --help` for the options of a command and more examples.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(Box<train::TrainCommand>),
    Tune(Box<tune::TuneCommand>),
    Tag(tag::TagCommand),
    Eval(eval::EvalCommand),
    Check(Box<check::CheckCommand>),
    Compare(compare::CompareCommand),
    Explain(explain::ExplainCommand),
    Inspect(inspect::InspectCommand),
    Convert(convert::ConvertCommand),
    Cluster(cluster::ClusterCommand),
    Classify(documents::ClassifyCommand),
    Regress(documents::RegressCommand),
    Demo(demo::DemoCommand),
    Report(Box<report::ReportCommand>),
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeCommand>),
    Bench(bench::BenchCommand),
    Completions(help::CompletionsCommand),
    Man(help::ManCommand),
}

/// Rejects more than one `-` among the input files.
fn check_stdin_once<'a>(files: impl IntoIterator<Item = &'a FileName>) -> CommandResult {
    match files.into_iter().filter(|file| &***file == "-").count() {
        0 | 1 => Ok(()),
        _ => Err(CommandError::Usage("standard input can be read only once")),
    }
}

/// Converts a failure to write to standard output.
fn stdout_error(error: io::Error) -> CommandError {
    Error::io("standard output", error).into()
}

/// Writes results for people to standard output. Text of files cannot control the terminal.
fn print(text: &str) -> CommandResult {
    print_exact(&printable_lines(text))
}

/// Writes results as JSON to standard output. Text of files cannot control the terminal.
fn print_json(json: &str) -> CommandResult {
    print_exact(&printable_json(json))
}

/// Prints text with paint, which only a terminal gets. The text of files in it is
/// [printable](dropchain_layout::printable).
fn print_painted(text: &str) -> CommandResult {
    anstream::stdout().lock().write_all(text.as_bytes()).map_err(stdout_error)
}

/// Writes a page to standard output, exactly.
fn print_exact(text: &str) -> CommandResult {
    io::stdout().lock().write_all(text.as_bytes()).map_err(stdout_error)
}

/// Serializes a report as one line of JSON.
fn json_line(report: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(report)
        .map(|json| json + "\n")
        .map_err(|e| Error::parameter(format!("cannot write the report as JSON: {e}")))
}

/// Prints a report as a line of JSON, or as text.
fn print_report(
    is_json: bool,
    report: &impl Serialize,
    text: impl FnOnce() -> String,
) -> CommandResult {
    match is_json {
        true => print_json(&json_line(report)?),
        false => print(&text()),
    }
}

impl Command {
    fn run(&self) -> CommandResult {
        match self {
            Self::Train(command) => command.run(),
            Self::Tune(command) => command.run(),
            Self::Tag(command) => command.run(),
            Self::Eval(command) => command.run(),
            Self::Check(command) => command.run(),
            Self::Compare(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Inspect(command) => command.run(),
            Self::Convert(command) => command.run(),
            Self::Cluster(command) => command.run(),
            Self::Classify(command) => command.run(),
            Self::Regress(command) => command.run(),
            Self::Demo(command) => command.run(),
            Self::Report(command) => command.run(),
            #[cfg(feature = "serve")]
            Self::Serve(command) => command.run(),
            Self::Bench(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }

    /// Returns the configuration, if the command has one.
    fn config(&mut self) -> Option<&mut ConfigArguments> {
        match self {
            Self::Train(command) => Some(&mut command.config),
            Self::Tune(command) => Some(&mut command.config),
            _ => None,
        }
    }
}

/// Returns the definition of the program with all commands.
fn definition() -> clap::Command {
    help::arrange(Cli::command(), false)
}

/// Parses the arguments of a program, with those of a configuration file. Also returns the options
/// of its command.
fn parse_arguments(
    program: &clap::Command,
    arguments: &[OsString],
) -> Result<(ArgMatches, Option<EffectiveConfig>), ParseError> {
    let parsed = config::parse(program, arguments.to_vec());
    let matches = parsed.map_err(|error| error.explain(program, arguments))?;
    flags::keep(program, &matches);
    help::check_algorithm(program, &matches).map_err(ParseError::File)?;
    let effective = matches.subcommand().and_then(|(name, matches)| {
        let command = program.find_subcommand(name)?;
        Some(EffectiveConfig::new(command, matches))
    });
    Ok((matches, effective))
}

/// Parses the arguments of this process.
fn parse() -> Result<Cli, ParseError> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let program = help::arrange(Cli::command(), help::is_all(&arguments));
    let (mut matches, effective) = parse_arguments(&program, &arguments)?;
    let mut cli = Cli::from_arg_matches_mut(&mut matches)?;
    if let (Some(config), Some(effective)) = (cli.command.config(), effective) {
        config.effective = effective;
    }
    Ok(cli)
}

/// Parses the arguments, runs the command and returns the exit code.
pub fn run() -> ExitCode {
    #[cfg(target_os = "linux")]
    address_space::share();
    interrupt::survive_size_limit();
    let result = match parse() {
        Ok(cli) => cli.command.run(),
        Err(ParseError::Arguments(error)) => return help::end("dropchain", &error),
        Err(ParseError::File(error)) => Err(error.into()),
    };
    exit::end("dropchain", result.and_then(|()| check_uninterrupted()))
}
