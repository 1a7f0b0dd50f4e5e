//! Configuration files: `--config` of the commands that train.
//!
//! A file becomes arguments that stand before those of the command line. A run records the
//! arguments that it was given, by key, and `inspect --config` prints them as a file.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use dropchain::input_file::read_text;
use dropchain::{Error, Model, Place, Template};
use serde::Serialize;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use crate::arguments::FileName;
use crate::exit::CommandError;
use crate::help;
use crate::progress::notice;
use crate::training_arguments::is_share_of_dev;

/// The key of the positional arguments, which have no name on the command line.
pub const INPUT: &str = "input";

/// The option that names the configuration file: no key of that file.
const CONFIG: &str = "config";

/// Options that have no effect on the model. Models and logs do not record them, so that those of
/// the same training are the same, whether it was interrupted and resumed or not.
const WITHOUT_EFFECT: [&str; 11] = [
    "model",
    "log",
    "force",
    "quiet",
    "threads",
    "memory",
    "checkpoint",
    "resume",
    "checkpoint-every",
    "no-files",
    "json",
];

/// The configuration of a run.
#[derive(Clone, Debug, Args)]
pub struct ConfigArguments {
    /// Read options from this TOML file (docs/config.md)
    ///
    /// Keys are the long names of options (`max-iterations = 50`), training files are `input`,
    /// several values are an array, and switches are true or false. Options of the command line
    /// override those of the file. File names are relative to the folder of the file. `-` is
    /// standard input. `dropchain inspect MODEL --config` prints the file that repeats a run.
    #[arg(long, value_name = "FILE")]
    pub config: Option<FileName>,
    /// The options of the run.
    #[arg(skip)]
    pub effective: EffectiveConfig,
}

impl ConfigArguments {
    /// Returns a model with a record of the options that it was trained with. A model is never lost
    /// for its record: without room for that, there is none.
    pub fn record(model: &Model, config: &Value) -> Option<Model> {
        let warn = |error: &Error| {
            notice(&format!("warning: the model does not record its options: {error}"));
        };
        model.with_config(config).inspect_err(warn).ok()
    }

    /// Rejects standard input that is both the configuration and one of `files`.
    pub fn check_stdin<'a>(
        &self,
        files: impl IntoIterator<Item = &'a FileName>,
    ) -> Result<(), CommandError> {
        let is_stdin = |file: &FileName| &**file == "-";
        match self.config.as_ref().is_some_and(is_stdin) && files.into_iter().any(is_stdin) {
            true => Err(CommandError::Usage(
                "standard input can be read only once: as --config, or as another file",
            )),
            false => Ok(()),
        }
    }
}

/// The options that a run was given, by key, without those that have no effect on the model.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EffectiveConfig {
    command: String,
    pub options: Map<String, Value>,
}

impl EffectiveConfig {
    /// Collects the options of a run of `command`, in the order of their definition.
    pub fn new(command: &Command, matches: &ArgMatches) -> Self {
        let mut options = Map::new();
        for (key, argument) in options_of(command) {
            if WITHOUT_EFFECT.contains(&key) || !is_given(matches, argument) {
                continue;
            }
            let values = matches.get_raw(argument.get_id().as_str());
            let values = values.into_iter().flatten();
            let mut values = values.map(|value| value.to_string_lossy().into());
            let value = match argument.get_action() {
                ArgAction::Append => Value::Array(values.collect()),
                ArgAction::SetTrue => true.into(),
                _ => values.next().unwrap_or_default(),
            };
            options.insert(key.to_owned(), value);
        }
        Self { command: command.get_name().to_owned(), options }
    }
}

/// Returns the options of a command that can be in a file, with their keys.
pub fn options_of(command: &Command) -> impl Iterator<Item = (&str, &Arg)> {
    let is_set = |argument: &&Arg| {
        use ArgAction::{Append, Set, SetTrue};
        matches!(argument.get_action(), Set | SetTrue | Append)
    };
    let arguments = command.get_arguments().filter(is_set);
    let keyed = arguments.map(|argument| match argument.is_positional() {
        true => (INPUT, argument),
        false => (argument.get_long().unwrap_or(CONFIG), argument),
    });
    keyed.filter(|(key, _)| *key != CONFIG)
}

/// Returns whether the values of an option are names of files.
pub fn is_file(argument: &Arg) -> bool {
    let of = argument.get_value_parser().type_id();
    [TypeId::of::<FileName>(), TypeId::of::<PathBuf>(), TypeId::of::<OsString>()]
        .iter()
        .any(|kind| of == *kind)
}

fn is_given(matches: &ArgMatches, argument: &Arg) -> bool {
    matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
}

/// Why arguments cannot be parsed.
pub enum ParseError {
    /// The arguments are wrong.
    Arguments(Box<clap::Error>),
    /// The configuration file is wrong.
    File(Error),
}

impl ParseError {
    /// Adds what helps to an error in the arguments of a program.
    pub fn explain(self, program: &Command, arguments: &[OsString]) -> Self {
        match self {
            Self::Arguments(error) => help::explain(*error, program, arguments).into(),
            error => error,
        }
    }
}

impl From<clap::Error> for ParseError {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(Box::new(error))
    }
}

impl From<Error> for ParseError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

/// Parses the arguments of the program, with those of a configuration file.
///
/// # Errors
///
/// The arguments do not match the definition; the file cannot be read, or is wrong.
pub fn parse(program: &Command, arguments: Vec<OsString>) -> Result<ArgMatches, ParseError> {
    let Some((command, given, path)) = find_file(program, &arguments) else {
        return Ok(program.clone().try_get_matches_from(arguments)?);
    };
    let mut from_file = File::read(&path)?.arguments(command, program)?;
    from_file.retain(|found| !is_given(&given, found.argument));
    let (before, after) = arguments.split_at(2);
    let merged = from_file.iter().flat_map(|found| &found.arguments);
    let merged = before.iter().chain(merged).chain(after);
    let matches = program.clone().try_get_matches_from(merged);
    matches.map_err(|error| explain(error, &from_file).into())
}

/// Returns whether the configuration file among the arguments is standard input.
pub fn is_stdin(program: &Command, arguments: &[OsString]) -> bool {
    find_file(program, arguments).is_some_and(|(.., path)| &*path == "-")
}

/// Returns the command, its arguments so far, and the configuration file among them, if any.
fn find_file<'a>(
    program: &'a Command,
    arguments: &[OsString],
) -> Option<(&'a Command, ArgMatches, FileName)> {
    let command = program.find_subcommand(arguments.get(1)?)?;
    // Wrong arguments are reported when all are parsed.
    let lenient = command.clone().no_binary_name(true).ignore_errors(true);
    let matches = lenient.try_get_matches_from(&arguments[2..]).ok()?;
    let path = matches.try_get_one::<FileName>(CONFIG).ok()??.clone();
    Some((command, matches, path))
}

/// Adds to an error where the options in it come from, if they are in the file.
fn explain(mut error: clap::Error, from_file: &[FileArgument<'_>]) -> clap::Error {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => vec![name.clone()],
        Some(ContextValue::Strings(names)) => names.clone(),
        _ => Vec::new(),
    };
    let named = [of(ContextKind::InvalidArg), of(ContextKind::PriorArg)].concat();
    let is_named = |found: &&FileArgument<'_>| {
        let mut words = named.iter().flat_map(|name| name.split([' ', '=']));
        words.any(|word| word == found.flag)
    };
    let tips = from_file.iter().filter(is_named);
    let tips = tips.map(|found| format!("'{}' is set in {}", found.flag, found.place));
    let tips: Vec<_> = tips.map(Into::into).collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// The text of a configuration file, and its name.
struct File<'a> {
    path: &'a FileName,
    text: String,
}

/// An option of a file as arguments of a command.
struct FileArgument<'a> {
    argument: &'a Arg,
    /// The option as in an error message, such as `--dev`.
    flag: String,
    place: Place,
    arguments: Vec<OsString>,
}

impl<'f> File<'f> {
    fn read(path: &'f FileName) -> Result<Self, Error> {
        const MAX_BYTES: usize = 4 << 20;
        let text = match &**path {
            "-" => io::read_to_string(io::stdin()).map_err(|e| Error::io("-", e))?,
            _ => read_text(path.as_ref() as &Path, MAX_BYTES, "options in TOML")?,
        };
        Ok(Self { path, text })
    }

    fn place(&self, offset: usize) -> Place {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Place::line(&**self.path, line as u64)
    }

    fn error(&self, offset: usize, message: &str) -> Error {
        Error::input(self.place(offset), message)
    }

    /// Converts the options for a command: those of its table go before those of the file.
    fn arguments<'a>(
        &self,
        command: &'a Command,
        program: &Command,
    ) -> Result<Vec<FileArgument<'a>>, Error> {
        let table = DeTable::parse(&self.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            self.error(offset, &format!("this is not TOML: {}", error.message()))
        })?;
        let mut entries = BTreeMap::new();
        let mut own = None;
        for (key, value) in table.get_ref() {
            let name = &**key.get_ref();
            match value.get_ref() {
                DeValue::Table(table) if name == command.get_name() => own = Some(table),
                DeValue::Table(_) if program.find_subcommand(name).is_some() => {}
                value => drop(entries.insert(name, (key.span().start, value))),
            }
        }
        for (key, value) in own.into_iter().flatten() {
            entries.insert(&**key.get_ref(), (key.span().start, value.get_ref()));
        }
        let found = |(key, (offset, value))| self.argument(command, key, offset, value);
        entries.into_iter().map(found).collect()
    }

    fn argument<'a>(
        &self,
        command: &'a Command,
        key: &str,
        offset: usize,
        value: &DeValue<'_>,
    ) -> Result<FileArgument<'a>, Error> {
        let Some((_, argument)) = options_of(command).find(|(known, _)| *known == key) else {
            let name = command.get_name();
            let tip = help::tip(command, &format!("--{key}"));
            let hint = tip.map_or(String::new(), |tip| format!("; {tip}"));
            let key = key.escape_debug();
            let message =
                format!("'{key}' is not an option of {name}{hint}; see `dropchain {name} --help`");
            return Err(self.error(offset, &message));
        };
        let flag = match argument.is_positional() {
            true => argument.get_id().to_string(),
            false => format!("--{key}"),
        };
        let values = values(argument, value).ok_or_else(|| {
            let found = value.type_str();
            self.error(
                offset,
                &format!("{key}: found a value of type {found}; expected that of an option"),
            )
        })?;
        let to_argument = |value: Option<String>| match value {
            None => OsString::from(&flag),
            Some(value) if argument.is_positional() => self.file_name(argument, &value),
            Some(value) => [(&flag).into(), self.file_name(argument, &value)].join("=".as_ref()),
        };
        Ok(FileArgument {
            argument,
            place: self.place(offset),
            arguments: values.into_iter().map(to_argument).collect(),
            flag,
        })
    }

    /// Returns the value of an argument: names of files are relative to the folder of this one.
    fn file_name(&self, argument: &Arg, value: &str) -> OsString {
        let is_share = argument.get_long() == Some("dev") && is_share_of_dev(value);
        if !is_file(argument) || is_share || value == "-" || value.contains('\n') {
            return value.into();
        }
        let file: &Path = self.path.as_ref();
        let path = file.parent().unwrap_or(Path::new("")).join(value);
        let is_name = argument.get_long() == Some("template") && Template::shipped(value).is_some();
        match (is_name && !path.is_file(), argument.is_positional()) {
            (true, _) => value.into(),
            (_, true) if path.as_os_str().as_encoded_bytes().starts_with(b"-") => {
                Path::new(".").join(path).into()
            }
            _ => path.into(),
        }
    }
}

/// Returns the values with which an option is given, `None` for the option without a value; `None`
/// if no option takes them.
fn values(argument: &Arg, value: &DeValue<'_>) -> Option<Vec<Option<String>>> {
    let counts = argument.get_num_args();
    let may_be_bare = matches!(argument.get_action(), ArgAction::SetTrue)
        || counts.is_some_and(|counts| counts.min_values() == 0);
    match value {
        DeValue::Boolean(true) if may_be_bare => Some(vec![None]),
        DeValue::Boolean(false) if may_be_bare => Some(Vec::new()),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| scalar(value.get_ref()));
            let texts: Vec<String> = texts.collect::<Option<_>>()?;
            Some(match argument.get_action() {
                ArgAction::Append => texts.into_iter().map(Some).collect(),
                _ => vec![Some(texts.join(","))],
            })
        }
        value => Some(vec![Some(scalar(value)?)]),
    }
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => {
            let number = i128::from_str_radix(number.as_str(), number.radix());
            number.ok()?.to_string()
        }
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(is_on) => if *is_on { "on" } else { "off" }.to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition;

    #[test]
    fn options_without_effect_exist() {
        let program = definition();
        let commands = ["train", "tune"].map(|name| program.find_subcommand(name).unwrap());
        for key in WITHOUT_EFFECT {
            let has = |command: &&Command| options_of(command).any(|(known, _)| known == key);
            assert!(commands.iter().any(has), "{key}");
        }
    }
}
