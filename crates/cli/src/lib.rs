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
mod error_list;
mod eval;
mod eval_thresholds;
mod explain;
mod gold_file;
mod help;
mod inspect;
mod model_columns;
mod ranks_program;
mod report;
mod score_table;
#[cfg(feature = "serve")]
mod serve;
mod tag;
mod tag_input;
mod tag_output;
mod tagging_pipeline;
mod team;
mod template_arguments;
mod train;
mod training_arguments;
mod training_reporter;
mod training_table;
mod tune;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use config::{EffectiveConfig, ParseError};
#[cfg(feature = "serve")]
use dropchain_command::arguments::byte_size;
use dropchain_command::arguments::{
    FileName, LimitArguments, MemoryArgument, Switch, TextArguments, ThreadArguments,
};
use dropchain_command::exit::{CommandError, CommandResult, check_uninterrupted, training_result};
use dropchain_command::outputs::{CommandFiles, ModelArgument, OutputKind, ResultFile};
use dropchain_command::progress::{Progress, notice, notice_unless};
use dropchain_command::terminal::columns;
use dropchain_command::{
    check_stdin_once, exit, interrupt, json_line, missing, print, print_exact, print_json,
    print_painted, print_report, progress, stdout_error, terminal,
};
use dropchain_documents::command::ClassifyCommand;
pub use ranks_program::run_ranks;

/// A linear-chain CRF tagger for named entities, parts of speech, chunks and other token labels.
#[derive(Debug, Parser)]
#[command(name = "dropchain", version)]
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
    Classify(ClassifyCommand),
    Demo(demo::DemoCommand),
    Report(Box<report::ReportCommand>),
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeCommand>),
    Bench(bench::BenchCommand),
    Completions(help::CompletionsCommand),
    Man(help::ManCommand),
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
            Self::Demo(command) => command.run(),
            Self::Report(command) => command.run(),
            #[cfg(feature = "serve")]
            Self::Serve(command) => command.run(),
            Self::Bench(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
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
    let matches = parsed.map_err(|error| match error {
        ParseError::Arguments(error) => help::explain(error, program, arguments).into(),
        error => error,
    })?;
    progress::keep_flags(program, &matches);
    let effective = matches.subcommand().and_then(|(name, matches)| {
        let command = program.find_subcommand(name)?;
        Some(EffectiveConfig::new(command, matches))
    });
    Ok((matches, effective))
}

/// Parses the arguments, which begin with the name of the program.
fn parse(arguments: &[OsString]) -> Result<Cli, ParseError> {
    let program = help::arrange(Cli::command(), help::is_all(arguments));
    let (mut matches, effective) = parse_arguments(&program, arguments)?;
    let mut cli = Cli::from_arg_matches_mut(&mut matches)?;
    match (&mut cli.command, effective) {
        (Command::Train(command), Some(effective)) => command.config.effective = effective,
        (Command::Tune(command), Some(effective)) => command.config.effective = effective,
        _ => {}
    }
    Ok(cli)
}

/// Parses the arguments, which begin with the name of the program, runs the command and returns the
/// exit code. It takes over the signals of the process.
pub fn run(arguments: &[OsString]) -> u8 {
    #[cfg(target_os = "linux")]
    address_space::share();
    interrupt::survive_size_limit();
    let result = match parse(arguments) {
        Ok(cli) => cli.command.run(),
        Err(ParseError::Arguments(error)) => Err(CommandError::Said(help::end(&error))),
        Err(ParseError::File(error)) => Err(error.into()),
    };
    exit::end(result.and_then(|()| check_uninterrupted()))
}
