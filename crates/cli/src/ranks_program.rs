//! The command line of `dropchain-mpi`: `train`, by several ranks.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use dropchain::Error;
use dropchain::kernel::ranks::Ranks;

use crate::config::{self, ParseError};
use crate::team::{Abort, Team};
use crate::train::TrainCommand;
use crate::{
    CommandError, CommandResult, check_uninterrupted, exit, help, interrupt, parse_arguments,
    progress,
};

/// How the help of `dropchain train` names the program, and how it is called here.
const CALLS: [&str; 2] = ["dropchain train", "mpirun -n 4 dropchain-mpi train"];

/// Train a linear-chain CRF tagger on several processes: the same model as that of `dropchain`.
#[derive(Debug, Parser)]
#[command(name = "dropchain-mpi", version, propagate_version = true)]
#[command(after_help = "\
Examples:
  mpirun -n 4 dropchain-mpi train train.conll --dev dev.conll --template ner --model ner.model

All processes need the same files.
Rank 0 writes the model. For all other commands, use `dropchain`.")]
struct RanksCli {
    #[command(subcommand)]
    command: RanksCommand,
}

#[derive(Debug, Subcommand)]
enum RanksCommand {
    Train(Box<TrainCommand>),
}

/// Parses the arguments of this process, one of the ranks of a run, trains with the others, and
/// returns the exit code. A rank has `threads` threads by default. `abort` ends all ranks, if one
/// of them cannot tell the others what has happened.
pub fn run_ranks(ranks: Ranks, threads: usize, abort: Abort) -> ExitCode {
    interrupt::survive_size_limit();
    if ranks.rank() > 0 {
        progress::mute();
        // Rank 0 decides whether a signal ends training or the program.
        interrupt::set_has_result();
    }
    let team = Team::new(ranks, threads, abort);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let result = agree_on_arguments(&team, &arguments).and_then(|mut command| {
        command.threads.threads = command.threads.threads.or(team.threads);
        command.run_in(&team)
    });
    let result = if team.is_first() { result.and_then(|()| check_uninterrupted()) } else { result };
    exit::end(result).into()
}

/// Parses the arguments. All ranks have the same, but a configuration file may differ.
fn agree_on_arguments(team: &Team, arguments: &[OsString]) -> CommandResult<TrainCommand> {
    let parsed = parse(team, arguments);
    let outcome = match &parsed {
        Ok(_) => Ok(()),
        Err(ParseError::File(error)) => Err(Error::parameter(error.to_string())),
        Err(ParseError::Arguments(error)) => Err(Error::parameter(error.render().to_string())),
    };
    let agreed: CommandResult = team.agree(outcome.map_err(CommandError::from));
    match (parsed, agreed) {
        (Err(ParseError::Arguments(error)), _) => Err(CommandError::Said(match team.is_first() {
            true => help::end(&error),
            false => u8::try_from(error.exit_code()).unwrap_or(1),
        })),
        (_, Err(error)) => Err(error),
        (Err(ParseError::File(error)), _) => Err(error.into()),
        (Ok(command), Ok(())) => Ok(command),
    }
}

fn parse(team: &Team, arguments: &[OsString]) -> Result<TrainCommand, ParseError> {
    let program = help::arrange(definition(), help::is_all(arguments));
    if config::is_stdin(&program, arguments) {
        team.check_no_stdin(["-"]).map_err(ParseError::File)?;
    }
    let (mut matches, effective) = parse_arguments(&program, arguments).map_err(name_program)?;
    let RanksCommand::Train(mut command) = RanksCli::from_arg_matches_mut(&mut matches)?.command;
    if let Some(effective) = effective {
        command.config.effective = effective;
    }
    Ok(*command)
}

/// Returns the definition of the program, whose examples have its name.
fn definition() -> clap::Command {
    RanksCli::command().mut_subcommand("train", |train| {
        let examples = train.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        train.after_long_help(examples.replace(CALLS[0], CALLS[1]))
    })
}

/// Names the program that has a command.
fn name_program(error: ParseError) -> ParseError {
    let ParseError::Arguments(mut error) = error else { return error };
    if error.kind() == ErrorKind::InvalidSubcommand {
        let tip = "dropchain-mpi has only the command 'train'; for others, use 'dropchain'";
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.to_owned().into()]));
    }
    ParseError::Arguments(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: &str) -> clap::Error {
        let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
        match parse(&Team::default(), &arguments) {
            Err(ParseError::Arguments(error)) => error,
            Err(ParseError::File(error)) => panic!("{error}"),
            Ok(_) => panic!("expected an error"),
        }
    }

    #[test]
    fn other_commands_are_those_of_the_other_program() {
        let error = error("dropchain-mpi tag ner.model");
        assert_eq!(error.exit_code(), 2);
        let text = error.render().to_string();
        assert!(text.contains("unrecognized subcommand 'tag'"), "{text}");
        assert!(text.contains("for others, use 'dropchain'"), "{text}");
    }

    #[test]
    fn help_has_the_name_of_the_program() {
        for flag in ["-h", "--help"] {
            let error = error(&format!("dropchain-mpi train {flag}"));
            assert_eq!(error.exit_code(), 0);
            let text = error.render().to_string();
            assert!(text.contains("Usage: dropchain-mpi train"), "{text}");
            assert!(text.contains("  mpirun -n 4 dropchain-mpi train"), "{text}");
            assert!(!text.contains(" dropchain train"), "{text}");
        }
    }

    #[test]
    fn the_version_is_that_of_the_library() {
        let text = error("dropchain-mpi --version").render().to_string();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(text.trim_end(), format!("dropchain-mpi {version}"));
    }
}
