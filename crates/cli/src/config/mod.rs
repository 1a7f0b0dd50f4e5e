//! Configuration files: `--config` of the commands that train.
//!
//! Everything derives from the definitions of the options. A file becomes arguments that stand
//! before those of the command line ([`file_arguments`]); what a run was told in the end is read
//! from the parsed arguments ([`effective`]).

mod effective;
mod file;
mod file_arguments;
mod option;
mod value;

use std::ffi::OsString;
use std::path::Path;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Id};
use dropchain::Model;
use serde_json::Value;

use super::exit::CommandError;
use super::file_name::FileName;
use super::progress::notice;
pub use effective::EffectiveConfig;
use file_arguments::FileArgument;
pub use option::{ConfigOption, INPUT, ValueKind};

/// The configuration of a run.
#[derive(Clone, Debug, Args)]
pub struct ConfigArguments {
    /// Read options from this TOML file (docs/config.md)
    ///
    /// Keys are the long names of options (`max-iterations = 50`), training files are `input`,
    /// several values are an array, and switches are true or false. An option of the command line
    /// goes before that of the file. File names are relative to the folder of the file. `-` is
    /// standard input. `dropchain inspect MODEL --config` prints the file that repeats a run.
    #[arg(long, value_name = "FILE")]
    config: Option<FileName>,
    #[arg(skip)]
    effective: EffectiveConfig,
}

impl ConfigArguments {
    /// Returns the configuration file.
    pub fn file(&self) -> Option<&FileName> {
        self.config.as_ref()
    }

    /// Returns the options of the run.
    pub fn effective(&self) -> &EffectiveConfig {
        &self.effective
    }

    /// Sets the options of the run.
    pub fn set_effective(&mut self, effective: EffectiveConfig) {
        self.effective = effective;
    }

    /// Records options in the model that was trained with them. A model is never lost for its
    /// record: without room for that, it has none.
    pub fn record(model: Model, config: &Value) -> Model {
        model.with_config(config).unwrap_or_else(|error| {
            notice(&format!(
                "warning: the model does not record its options: {error}"
            ));
            model
        })
    }

    /// Rejects standard input that is both the configuration and one of `files`.
    pub fn check_stdin<'a>(
        &self,
        files: impl IntoIterator<Item = &'a FileName>,
    ) -> Result<(), CommandError> {
        let is_stdin = |file: &FileName| &**file == "-";
        match self.file().is_some_and(is_stdin) && files.into_iter().any(is_stdin) {
            true => Err(CommandError::Usage(
                "standard input can be read only once: as --config, or as another file",
            )),
            false => Ok(()),
        }
    }
}

/// Why arguments cannot be parsed.
pub enum ParseError {
    /// The arguments are wrong.
    Arguments(Box<clap::Error>),
    /// The configuration file is wrong.
    File(dropchain::Error),
}

impl From<clap::Error> for ParseError {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(Box::new(error))
    }
}

/// Parses the arguments of the program, with those of a configuration file.
///
/// # Errors
///
/// The arguments do not match the definition; the file cannot be read, or is wrong.
pub fn parse(program: &Command, arguments: Vec<OsString>) -> Result<ArgMatches, ParseError> {
    let with_files = find_file(program, &arguments).map(|(name, matches)| {
        let path = matches.get_one::<FileName>(option::CONFIG);
        let path: &Path = path.map_or(Path::new("-"), AsRef::as_ref);
        let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let mut found = file_arguments::read(path, &name, &configurable(program))?;
        found.retain(|argument| !given(&argument.id));
        Ok(found)
    });
    let Some(from_file) = with_files.transpose().map_err(ParseError::File)? else {
        return Ok(program.clone().try_get_matches_from(arguments)?);
    };
    let (before, after) = arguments.split_at(2);
    let merged = from_file.iter().flat_map(|argument| &argument.arguments);
    let merged = before.iter().chain(merged).chain(after);
    let matches = program.clone().try_get_matches_from(merged);
    matches.map_err(|error| explain(error, &from_file).into())
}

/// Returns whether the configuration file among the arguments is standard input.
pub fn is_stdin(program: &Command, arguments: &[OsString]) -> bool {
    let found = find_file(program, arguments);
    let file = found.and_then(|(_, mut matches)| matches.remove_one::<FileName>(option::CONFIG));
    file.is_some_and(|file| &*file == "-")
}

/// Returns the name of the command and its arguments, if a configuration file is among them.
fn find_file(program: &Command, arguments: &[OsString]) -> Option<(String, ArgMatches)> {
    let name = arguments.get(1)?.to_str()?;
    let command = configurable(program)
        .into_iter()
        .find(|c| c.get_name() == name)?;
    // Wrong arguments are reported when all are parsed.
    let matches = command.try_get_matches_from(&arguments[2..]).ok()?;
    let is_given = matches.contains_id(option::CONFIG);
    is_given.then(|| (name.to_owned(), matches))
}

/// Returns the commands that read configuration files. Each takes any part of its options, without
/// its name before them.
fn configurable(program: &Command) -> Vec<Command> {
    let none = || Resettable::<Id>::Reset;
    let is_file = |argument: &Arg| {
        argument.get_id() == option::CONFIG && matches!(argument.get_action(), ArgAction::Set)
    };
    let has_config = |command: &&Command| command.get_arguments().any(is_file);
    let commands = program.get_subcommands().filter(has_config).cloned();
    commands
        .map(|command| {
            command.no_binary_name(true).mut_args(|argument| {
                argument
                    .required(false)
                    .requires(none())
                    .conflicts_with(none())
                    .required_unless_present(none())
            })
        })
        .collect()
}

/// Adds to an error where the options in it come from, if they are in the file.
fn explain(mut error: clap::Error, from_file: &[FileArgument]) -> clap::Error {
    let named: Vec<String> = [ContextKind::InvalidArg, ContextKind::PriorArg]
        .into_iter()
        .flat_map(|kind| match error.get(kind) {
            Some(ContextValue::String(name)) => vec![name.clone()],
            Some(ContextValue::Strings(names)) => names.clone(),
            _ => Vec::new(),
        })
        .collect();
    let is_named = |argument: &&FileArgument| {
        let mut words = named.iter().flat_map(|name| name.split([' ', '=']));
        words.any(|word| word == argument.flag)
    };
    let tips = from_file.iter().filter(is_named);
    let tips = tips.map(|argument| format!("'{}' is set in {}", argument.flag, argument.place));
    let tips: Vec<_> = tips.map(Into::into).collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}
