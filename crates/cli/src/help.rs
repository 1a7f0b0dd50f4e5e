//! The help, manual pages and completions: how options appear, and which names of other programs
//! are ours.

use std::any::TypeId;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::{Man, generate_to};
use dropchain::{Error, Result};
use dropchain_options::with_default;
use dropchain_tune::Axis;

use crate::{CommandResult, definition, print};

/// Options that also have their first letter as a name, in all commands.
const SHORT: [&str; 6] = ["format", "label", "model", "output", "quiet", "template"];

/// The option that shows all others.
const HELP_ALL: &str = "help-all";

/// An option that has no effect without unlabeled text.
const OF_UNLABELED: &str = "unlabeled_weight";

/// Returns whether the help is to show all options.
pub fn is_all(arguments: &[OsString]) -> bool {
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    options.any(|argument| argument == "--help-all")
}

/// Adds short names to the options of a command and its subcommands, and examples to the short help
/// of those that have a long one; with `all`, no options are hidden.
pub fn arrange(command: Command, all: bool) -> Command {
    let command = match short_examples(&command) {
        Some(examples) if command.get_after_help().is_none() => command.after_help(examples),
        _ => command,
    };
    let mut is_partial = false;
    let has_unlabeled = command.get_arguments().any(|a| a.get_id() == "unlabeled");
    let command = command.mut_args(|argument| {
        let mut argument = with_default(argument);
        // A number below the range has a better message than an unknown option.
        let of = argument.get_value_parser().type_id();
        if of == TypeId::of::<f64>() {
            argument = argument.allow_negative_numbers(true);
        } else if of == TypeId::of::<Axis>() {
            argument = argument.allow_hyphen_values(true);
        }
        if has_unlabeled && argument.get_id() == OF_UNLABELED {
            argument = argument.requires("unlabeled");
        }
        let long = argument.get_long().filter(|name| SHORT.contains(name));
        if let Some(letter) = long.and_then(|name| name.chars().next()) {
            argument = argument.short(letter);
        }
        // What --help leaves out, -h leaves out.
        let is_hidden = argument.is_hide_long_help_set();
        is_partial |= is_hidden;
        match is_hidden {
            true => argument.hide_short_help(true).hide_long_help(!all),
            false => argument,
        }
    });
    let help_all = Arg::new(HELP_ALL).long(HELP_ALL).action(ArgAction::HelpLong);
    let help_all = help_all.hide_short_help(true).help("Print help with all options");
    let help_all = help_all.help_heading(None::<&str>);
    let command = if is_partial { command.arg(help_all) } else { command };
    command.mut_subcommands(|command| arrange(command, all))
}

/// Returns the first two examples in the long help of a command that stand on one line, without
/// their comments.
fn short_examples(command: &Command) -> Option<String> {
    let help = command.get_after_long_help()?.to_string();
    let name = format!(" {} ", command.get_name());
    let lines = help.lines();
    let lines = lines.map(|line| line.split_once("  #").map_or(line, |(example, _)| example));
    let examples = lines.filter(|line| line.contains(&name) && !line.ends_with('\\'));
    Some(examples.take(2).fold("Examples:".to_owned(), |text, line| text + "\n" + line.trim_end()))
}

/// Commands of CRFsuite, CRF++ and Wapiti, and ours.
const COMMANDS: [(&[&str], &str); 5] = [
    (&["learn", "crf_learn", "fit"], "it is 'dropchain train'"),
    (&["label", "crf_test", "predict"], "it is 'dropchain tag', and 'dropchain eval' for scores"),
    (&["test", "score", "evaluate"], "it is 'dropchain eval'"),
    (&["dump"], "it is 'dropchain inspect'"),
    (&["update"], "it is 'dropchain train --init MODEL'"),
];

/// Options of other programs, an argument of ours that a command must have for it, if any, and what
/// to say.
const OPTIONS: [(&[&str], &str, &str); 24] = [
    (
        &["--holdout", "--cross-validate", "--cv", "--folds"],
        "max_iterations",
        "it is '--dev FILE' for held-out text, 'dropchain tune --folds N --only-defaults' for \
         cross-validation",
    ),
    (&["--c2"], "l2", "it is '--l2 C2', the same number"),
    (&["--c1", "--rho1"], "l1", "it is '--l1 C1', the same number"),
    (&["--rho2"], "l2", "it is '--l2 C2' with half of the number"),
    (&["--cost"], "l2", "it is '--l2 C2' with 1 / (2 cost)"),
    (&["--sigma"], "l2", "it is '--l2 C2' with 1 / (2 sigma²)"),
    (&["--nthread", "--thread", "--jobs"], "threads", "it is '--threads N'"),
    (&["--maxiter", "--epochs", "--iterations"], "max_iterations", "it is '--max-iterations N'"),
    (
        &["--lr", "--learning-rate"],
        "algorithm",
        "L-BFGS has no learning rate; '--algorithm sgd' finds its own, or begins with 'sgd=ETA'",
    ),
    (
        &["--batch-size", "--batch"],
        "max_iterations",
        "there are no batches: each iteration of L-BFGS reads all sentences",
    ),
    (&["--trials"], "random", "it is '--random N'"),
    (
        &["--trials", "--random"],
        "max_iterations",
        "'dropchain tune --random N' tries N configurations",
    ),
    (&["--devel", "--valid", "--validation"], "dev", "it is '--dev FILE'"),
    (
        &["--test", "--eval"],
        "max_iterations",
        "'dropchain eval MODEL FILE' scores a model on test data, '--dev FILE' each iteration",
    ),
    (&["--port", "--host"], "", "a server is 'dropchain serve MODEL --port N'"),
    (&["--verbose", "-v"], "quiet", "notices and progress are printed unless there is '--quiet'"),
    (&["--embeddings", "--embedding"], "vectors", "it is '--vectors FILE'"),
    (&["--pattern"], "template", "it is '--template FILE'"),
    (&["--output", "--out", "-o"], "model", "it is '--model FILE'"),
    (
        &["--seed"],
        "model",
        "this command draws nothing at random; '--seed' is an option of 'dropchain train'",
    ),
    (&["--model", "-m"], "model", "the model is an argument without a name: MODEL"),
    (&["--model", "-m"], "files", "the model is an argument without a name: MODEL GOLD"),
    (&["--input", "-i"], "input", "input files are arguments without a name"),
    (&["--train"], "train", "training files are arguments without a name"),
];

/// Returns what to say of an option that a command does not have, if another program has it.
pub fn tip(command: &Command, name: &str) -> Option<&'static str> {
    let has = |id: &str| id.is_empty() || command.get_arguments().any(|own| own.get_id() == id);
    OPTIONS.iter().find(|(names, id, _)| names.contains(&name) && has(id)).map(|(.., tip)| *tip)
}

/// Returns the command that arguments begin with, with its full name.
fn command_of(program: &Command, arguments: &[OsString]) -> Command {
    let (mut command, mut name) = (program, program.get_name().to_owned());
    for argument in arguments.iter().skip(1) {
        let Some(found) = command.find_subcommand(argument) else { break };
        command = found;
        name += &format!(" {}", found.get_name());
    }
    command.clone().bin_name(name)
}

/// Returns what an error says of a kind of context.
pub fn context(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// Replaces the guesses in an error with a tip that is right, if there is one: our name for that of
/// another program, or an example of a command whose arguments are missing.
pub fn explain(mut error: clap::Error, program: &Command, arguments: &[OsString]) -> clap::Error {
    let mut command = command_of(program, arguments);
    let text = |error: &clap::Error, kind| context(error, kind).join(" ");
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = text(&error, ContextKind::InvalidSubcommand);
            let found = COMMANDS.iter().find(|(names, _)| names.contains(&&*name));
            found.map(|(_, tip)| (*tip).to_owned())
        }
        ErrorKind::UnknownArgument => {
            // How to pass it as a value is no help, and the usage has what is similar.
            error.remove(ContextKind::Suggested);
            error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
            let name = text(&error, ContextKind::InvalidArg);
            if !is_like(&name, &text(&error, ContextKind::SuggestedArg)) {
                error.remove(ContextKind::SuggestedArg);
            }
            tip(&command, &name).map(str::to_owned)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = text(&error, ContextKind::InvalidArg);
            let dev = if missing.contains("SHARE") { "10%" } else { "FILE" };
            match missing.contains("--dev") {
                true => {
                    Some(format!("score on '--dev {dev}', or by cross-validation: '--folds 5'"))
                }
                false => first_example(&command).filter(|_| !missing.contains("--")),
            }
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Returns whether an option may be a misspelling of another: they begin alike.
fn is_like(name: &str, other: &str) -> bool {
    let beginning = |name: &str| name.chars().take("--xx".len()).collect::<String>();
    beginning(name) == beginning(other)
}

/// Returns the first example in the help of a command.
fn first_example(command: &Command) -> Option<String> {
    let help = command.get_after_help()?.to_string();
    let mut lines = help.lines().map(str::trim);
    let example = lines.find(|line| line.contains(command.get_bin_name().unwrap_or_default()))?;
    Some(format!("for example: {example}"))
}

/// Prints help, or what is wrong with the arguments, and returns the exit code.
pub fn end(error: &clap::Error) -> u8 {
    let _ = error.print(); // if it cannot be printed, there is nothing to do
    u8::try_from(error.exit_code()).unwrap_or(1)
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
            let created = fs::create_dir_all(directory);
            let written = created.and_then(|()| generate_to(program, directory));
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
                let commands: Vec<_> = found.get_subcommands().map(Command::get_name).collect();
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
    command.mut_args(|argument| argument.hide_short_help(false)).mut_subcommands(with_all_options)
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

#[cfg(test)]
mod tests {
    use clap::builder::PossibleValue;

    use super::*;

    const START: &str = "\
# Options of train

Written by the tests of the program with DROPCHAIN_WRITE=1, from the definitions of its options:
`dropchain train --help-all` says more of each. A configuration file ([config.md](config.md)) has
the same names, Python those of training with `_` for `-`.
";

    /// Returns the page of the options of `train`: a table for each heading of the help.
    fn page() -> String {
        let mut program = definition();
        program.build();
        let train = program.find_subcommand("train").unwrap();
        let mut tables: Vec<(&str, String)> = Vec::new();
        let is_shown = |option: &&Arg| {
            !option.is_positional() && !matches!(option.get_action(), ArgAction::Help)
        };
        for option in train.get_arguments().filter(is_shown).filter(|o| o.get_id() != HELP_ALL) {
            let (Some(name), Some(help)) = (option.get_long(), option.get_help()) else { continue };
            let heading = option.get_help_heading().unwrap_or("Options");
            let value = match option.get_value_names() {
                Some([value, ..]) if !is_switch(option) => format!(" {value}"),
                _ => String::new(),
            };
            let names = option.get_possible_values();
            let names: Vec<&str> = names.iter().map(PossibleValue::get_name).collect();
            let names = match names[..] {
                [_, ..] if !is_switch(option) => format!("; one of {}", names.join(", ")),
                _ => String::new(),
            };
            let cells = [format!("`--{name}{value}`"), format!("{help}{names}")];
            let [option, text] = cells.map(|cell| cell.replace('|', "\\|"));
            let row = format!("| {option} | {text} |\n");
            match tables.iter_mut().find(|(known, _)| *known == heading) {
                Some((_, rows)) => *rows += &row,
                None => tables.push((heading, row)),
            }
        }
        let tables = tables.iter().map(|(heading, rows)| {
            format!("\n## {heading}\n\n| option | what it does |\n|---|---|\n{rows}")
        });
        START.to_owned() + &tables.collect::<String>()
    }

    fn is_switch(option: &Arg) -> bool {
        matches!(option.get_action(), ArgAction::SetTrue)
    }

    #[test]
    fn the_page_of_options_has_those_of_train() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/options.md");
        if std::env::var_os("DROPCHAIN_WRITE").is_some() {
            fs::write(path, page()).unwrap();
        }
        let written = fs::read_to_string(path).unwrap();
        assert!(written == page(), "docs/options.md is old; DROPCHAIN_WRITE=1 writes it again");
    }
}
