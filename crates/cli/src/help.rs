//! How options appear in the help: short names, and which are shown when.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Command};
use dropchain::{Error, Result};
use dropchain_options::{algorithms, misplaced};

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

/// Options that have no effect without unlabeled text.
const OF_UNLABELED: [&str; 2] = ["discover", "unlabeled_weight"];

/// Returns whether the help is to show all options.
pub fn is_all(arguments: &[OsString]) -> bool {
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    options.any(|argument| argument == "--help-all")
}

/// Adds short names to the options of a command and its subcommands, and hides those of single
/// algorithms; with `all`, none are hidden.
pub fn arrange(command: Command, all: bool) -> Command {
    let mut is_partial = false;
    let has_unlabeled = command.get_arguments().any(|a| a.get_id() == "unlabeled");
    let command = command.mut_args(|mut argument| {
        if has_unlabeled && OF_UNLABELED.iter().any(|id| argument.get_id() == id) {
            argument = argument.requires("unlabeled");
        }
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
    misplaced(command, matches).map_or(Ok(()), |found| {
        Err(Error::parameter(format!(
            "--{}: has no meaning for --algorithm {}; expected --algorithm {}",
            found.name, found.algorithm, found.expected
        )))
    })
}
