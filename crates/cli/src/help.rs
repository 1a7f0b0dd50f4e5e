//! The help, manual pages and completions: how options appear, and which names of other programs
//! are ours.

use std::any::TypeId;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::{Man, generate_to};
use dropchain::{Error, Result};
use dropchain_options::{algorithms, misplaced};
use dropchain_tune::Axis;

use crate::{CommandResult, definition, print};

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
        // A number below the range has a better message than an unknown option.
        let of = argument.get_value_parser().type_id();
        if of == TypeId::of::<f64>() {
            argument = argument.allow_negative_numbers(true);
        } else if of == TypeId::of::<Axis>() {
            argument = argument.allow_hyphen_values(true);
        }
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
        // What --help leaves out, -h leaves out.
        let is_hidden = argument.is_hide_long_help_set();
        is_partial |= is_hidden;
        match is_hidden {
            true => argument.hide_short_help(true).hide_long_help(!all),
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

/// Commands of CRFsuite, CRF++ and Wapiti, and ours.
const COMMANDS: [(&[&str], &str); 5] = [
    (&["learn", "crf_learn", "fit"], "'dropchain train'"),
    (
        &["label", "crf_test", "predict"],
        "'dropchain tag', and 'dropchain eval' for scores",
    ),
    (&["test", "score", "evaluate"], "'dropchain eval'"),
    (&["dump"], "'dropchain inspect'"),
    (&["update"], "'dropchain train --init MODEL'"),
];

/// Options of these programs, and ours.
const OPTIONS: [(&[&str], &str); 11] = [
    (
        &["--holdout", "--cross-validate", "--cv"],
        "'--dev FILE' for held-out text, 'dropchain tune --folds N' for cross-validation",
    ),
    (&["--c2"], "'--l2 C2', the same number"),
    (&["--c1"], "'--l1 C1', the same number"),
    (&["--rho1"], "'--l1 C1', the same number"),
    (&["--rho2"], "'--l2 C2' with half of the number"),
    (&["--cost"], "'--l2 C2' with 1 / (2 cost)"),
    (&["--sigma"], "'--l2 C2' with 1 / (2 sigma²)"),
    (&["--nthread", "--thread", "--jobs"], "'--threads N'"),
    (&["--maxiter", "--epochs"], "'--max-iterations N'"),
    (&["--devel", "--valid", "--validation"], "'--dev FILE'"),
    (&["--pattern"], "'--template FILE'"),
];

/// Returns our name for an option of another program.
pub fn our_option(name: &str) -> Option<&'static str> {
    find(&OPTIONS, name)
}

fn find(table: &[(&[&str], &'static str)], name: &str) -> Option<&'static str> {
    let found = table.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, ours)| *ours)
}

/// Adds our name to the error about an unknown name.
pub fn explain(mut error: clap::Error) -> clap::Error {
    let (name, table, similar): (_, &[(&[&str], &'static str)], _) = match error.kind() {
        ErrorKind::InvalidSubcommand => (
            ContextKind::InvalidSubcommand,
            &COMMANDS,
            ContextKind::SuggestedSubcommand,
        ),
        ErrorKind::UnknownArgument => {
            (ContextKind::InvalidArg, &OPTIONS, ContextKind::SuggestedArg)
        }
        _ => return error,
    };
    let Some(ContextValue::String(name)) = error.get(name) else {
        return error;
    };
    if let Some(ours) = find(table, name) {
        let tip = format!("it is {ours}");
        error.remove(similar);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// Print the manual page of a command, or write those of all commands
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain man train | man -l -

  # All pages, where `man dropchain-train` finds them
  dropchain man --output-dir ~/.local/share/man/man1")]
pub struct ManCommand {
    /// The command; without one, the page of the program
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands to this directory, which is created
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    output_dir: Option<PathBuf>,
}

impl ManCommand {
    pub fn run(&self) -> CommandResult {
        let mut program = with_all_options(definition()).disable_help_subcommand(true);
        if let Some(directory) = &self.output_dir {
            let written =
                fs::create_dir_all(directory).and_then(|()| generate_to(program, directory));
            return Ok(written.map_err(|e| Error::io(directory, e))?);
        }
        program.build();
        let mut page = Vec::new();
        let rendered = Man::new(self.find(&program)?.clone()).render(&mut page);
        rendered.map_err(|e| Error::io("manual page", e))?;
        print(&String::from_utf8_lossy(&page))
    }

    /// Returns the command that was asked for.
    fn find<'a>(&self, program: &'a Command) -> Result<&'a Command, Error> {
        let mut found = program;
        for name in &self.command {
            found = found.find_subcommand(name).ok_or_else(|| {
                let commands = found.get_subcommands().map(Command::get_name);
                let commands: Vec<&str> = commands.collect();
                Error::parameter(format!(
                    "man: there is no command '{name}'; expected one of {}",
                    commands.join(", ")
                ))
            })?;
        }
        Ok(found)
    }
}

/// Has the options that `-h` leaves out described in the pages.
fn with_all_options(command: Command) -> Command {
    command
        .mut_args(|argument| argument.hide_short_help(false))
        .mut_subcommands(with_all_options)
}

/// Print a script that completes commands, options and their values in a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # bash, for the current user (the directory must exist); new shells read it
  dropchain completions bash \\
      > ~/.local/share/bash-completion/completions/dropchain

  # zsh: into a directory of $fpath, before compinit
  dropchain completions zsh > ~/.zfunc/_dropchain

  # fish
  dropchain completions fish > ~/.config/fish/completions/dropchain.fish")]
pub struct CompletionsCommand {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsCommand {
    pub fn run(&self) -> CommandResult {
        let mut script = Vec::new();
        generate(self.shell, &mut definition(), "dropchain", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
