//! How options appear in the help: short names, and which are shown when.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Command, parser::ValueSource};
use dropchain::{Error, Result};

/// One-letter names, which are the same in all commands.
const SHORT: [(&str, char); 6] = [
    ("format", 'f'),
    ("label", 'l'),
    ("model", 'm'),
    ("output", 'o'),
    ("quiet", 'q'),
    ("template", 't'),
];

/// The option that shows all others.
const HELP_ALL: &str = "help-all";

/// The option that other options belong to a value of.
const ALGORITHM: &str = "algorithm";

/// How the heading of options begins that are for some algorithms only, which it then names.
const ONLY: &str = "Only with --algorithm ";

/// Returns whether the help is to show all options.
pub fn is_all(arguments: &[OsString]) -> bool {
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    options.any(|argument| argument == "--help-all")
}

/// Adds short names to the options of a command and its subcommands, and hides those of single
/// algorithms; with `all`, none are hidden.
pub fn arrange(command: Command, all: bool) -> Command {
    let mut is_partial = false;
    let command = command.mut_args(|argument| {
        let long = argument.get_long();
        let short = SHORT.iter().find(|(name, _)| long == Some(name));
        let mut argument = match short {
            Some((_, letter)) => argument.short(*letter),
            None => argument,
        };
        if algorithms(&argument).is_some() {
            argument = argument.hide_long_help(true);
        }
        is_partial |= argument.is_hide_long_help_set();
        match all {
            true => argument.hide_long_help(false),
            false => argument,
        }
    });
    let command = match is_partial {
        true => command.arg(
            Arg::new(HELP_ALL)
                .long(HELP_ALL)
                .action(ArgAction::HelpLong)
                .hide_short_help(true)
                .help("Print help with all options"),
        ),
        false => command,
    };
    command.mut_subcommands(|command| arrange(command, all))
}

/// Returns the algorithms that an option is for, if it is not for all.
fn algorithms(argument: &Arg) -> Option<&str> {
    argument.get_help_heading()?.strip_prefix(ONLY)
}

/// Rejects options of other algorithms than the one that is given.
///
/// # Errors
///
/// [`Error::Parameter`] with the first such option.
pub fn check_algorithm(command: &Command, matches: &ArgMatches) -> Result<()> {
    if let Some((name, matches)) = matches.subcommand() {
        let found = command.find_subcommand(name);
        return found.map_or(Ok(()), |command| check_algorithm(command, matches));
    }
    let Ok(Some(mut given)) = matches.try_get_raw(ALGORITHM) else {
        return Ok(());
    };
    let given = given.next().unwrap_or_default().to_string_lossy();
    for argument in command.get_arguments() {
        let Some(expected) = algorithms(argument) else {
            continue;
        };
        let is_given =
            matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine);
        if is_given && !expected.split(" or ").any(|name| name == given) {
            return Err(Error::parameter(format!(
                "--{}: has no meaning for --algorithm {given}; expected --algorithm {expected}",
                argument.get_long().unwrap_or_default()
            )));
        }
    }
    Ok(())
}
