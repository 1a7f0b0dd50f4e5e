//! Configuration files: `--config` of the commands that train.
//!
//! A file has one argument of the command a line, and stands before those of the command line. A
//! run records the arguments that it was given, by key, and `inspect --config` prints them as a
//! file.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use dropchain::kernel::input_file::read_text;
use dropchain::model::FileRecord;
use dropchain::{Error, Model, Place};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{CommandError, CommandResult, FileName, ResultFile, help, notice};

/// The key of the positional arguments, which have no name on the command line.
pub const INPUT: &str = "input";

/// The option that names the configuration file: no option of that file.
const CONFIG: &str = "config";

/// Options that have no effect on the model. Models and logs do not record them, so that those of
/// the same training are the same, whether it was interrupted and resumed or not.
const WITHOUT_EFFECT: [&str; 12] = [
    "recorded",
    "model",
    "log",
    "predictions",
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
    /// Read options from this file, one a line (docs/config.md)
    ///
    /// A line is an argument as on the command line: `--max-iterations=50`, `--quiet`, or a
    /// training file. Lines that begin with `#` are comments. Options of the command line replace
    /// those of the file. `-` is standard input. `dropchain inspect MODEL --config` prints the file
    /// that repeats a run.
    #[arg(long, value_name = "FILE")]
    pub config: Option<FileName>,
    /// Record this text in the model; `inspect` shows it
    #[arg(long, value_name = "TEXT", hide_long_help = true)]
    note: Option<String>,
    /// The XXH3 of a file of the recorded run, and its name: warn if the file is another one
    #[arg(long, value_name = "XXH3 FILE", hide = true, value_parser = recorded_file)]
    recorded: Vec<RecordedFile>,
    /// The options of the run.
    #[arg(skip)]
    pub effective: EffectiveConfig,
}

impl ConfigArguments {
    /// Writes a model with a record of the options that it was trained with. A model is never lost
    /// for its record: without room for that, there is none.
    pub fn save(model: &Model, config: &Value, file: ResultFile) -> dropchain::Result<()> {
        let warn = |error: &Error| {
            notice(&format!("warning: the model does not record its options: {error}"));
        };
        let recorded = model.with_config(config).inspect_err(warn).ok();
        file.save(recorded.as_ref().unwrap_or(model).as_bytes())
    }

    /// Says which files are not those of the recorded run.
    pub fn changed(&self, files: &[FileRecord]) -> Vec<String> {
        let changed = self.recorded.iter().filter_map(|RecordedFile { xxh3, name }| {
            let found = files.iter().find(|file| file.name == *name && file.xxh3 != *xxh3)?;
            Some(format!(
                "warning: {name} is not the file of the recorded run, so the model will be \
                 another one: its XXH3 is {}, not {xxh3}",
                found.xxh3
            ))
        });
        changed.collect()
    }

    /// Rejects standard input that is both the configuration and one of `files`.
    pub fn check_stdin<'a>(&self, files: impl IntoIterator<Item = &'a FileName>) -> CommandResult {
        let is_stdin = |file: &FileName| &**file == "-";
        if self.config.as_ref().is_some_and(is_stdin) && files.into_iter().any(is_stdin) {
            return Err(CommandError::Usage(
                "standard input can be read only once: as --config, or as another file",
            ));
        }
        Ok(())
    }
}

/// A file of a recorded run.
#[derive(Clone, Debug)]
struct RecordedFile {
    xxh3: String,
    name: String,
}

fn recorded_file(text: &str) -> Result<RecordedFile, &'static str> {
    let is_hex = |xxh3: &str| xxh3.len() == 16 && u64::from_str_radix(xxh3, 16).is_ok();
    let parts = text.split_once(' ').filter(|(xxh3, _)| is_hex(xxh3));
    let (xxh3, name) = parts.ok_or("expected 16 hexadecimal digits, a blank and a file")?;
    Ok(RecordedFile { xxh3: xxh3.to_owned(), name: name.to_owned() })
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
            let occurrences = matches.get_raw_occurrences(argument.get_id().as_str());
            let values = occurrences.into_iter().flatten().flat_map(|values| {
                let values = values.map(|value| value.to_string_lossy().into_owned());
                let values: Vec<String> = values.collect();
                match argument.get_value_delimiter() {
                    Some(delimiter) => vec![values.join(&delimiter.to_string())],
                    None => values,
                }
            });
            let mut values = values.map(Value::from);
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
fn options_of(command: &Command) -> impl Iterator<Item = (&str, &Arg)> {
    use ArgAction::{Append, Set, SetTrue};
    let arguments = command.get_arguments();
    let arguments = arguments.filter(|a| matches!(a.get_action(), Set | SetTrue | Append));
    let keyed = arguments.map(|argument| match argument.is_positional() {
        true => (INPUT, argument),
        false => (argument.get_long().unwrap_or(CONFIG), argument),
    });
    keyed.filter(|(key, _)| *key != CONFIG)
}

fn is_given(matches: &ArgMatches, argument: &Arg) -> bool {
    matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
}

/// Why arguments cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum ParseError {
    /// The arguments are wrong.
    Arguments(#[from] clap::Error),
    /// The configuration file is wrong.
    File(#[from] Error),
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
    let mut lines = read(&path, command)?;
    lines.retain(|line| !is_given(&given, line.argument));
    let (before, after) = arguments.split_at(2);
    let merged = before.iter().chain(lines.iter().map(|line| &line.text)).chain(after);
    program.clone().try_get_matches_from(merged).map_err(|error| explain(error, &lines).into())
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

/// A line of a configuration file.
struct Line<'a> {
    argument: &'a Arg,
    /// The option as in an error message, such as `--dev`.
    flag: String,
    place: Place,
    text: OsString,
}

/// Reads the lines of a configuration file for a command.
///
/// # Errors
///
/// The file cannot be read; a line has an option that the command does not have.
fn read<'a>(path: &FileName, command: &'a Command) -> Result<Vec<Line<'a>>, Error> {
    const MAX_BYTES: usize = 1 << 20;
    const EXPECTED: &str = "an option a line";
    let text = match &**path {
        "-" => io::read_to_string(io::stdin()).map_err(|e| Error::io("-", e))?,
        _ => read_text(path.as_ref() as &Path, MAX_BYTES, EXPECTED)?.text,
    };
    let numbered = text.lines().map(str::trim).enumerate();
    let arguments = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let place = |i| Place::line(&**path, i as u64 + 1);
    arguments.map(|(i, line)| parse_line(line, place(i), command)).collect()
}

/// Parses a line: `--name`, `--name=value`, `--name value`, or a positional argument.
fn parse_line<'a>(line: &str, place: Place, command: &'a Command) -> Result<Line<'a>, Error> {
    let is_option = line.len() > 1 && line.starts_with('-');
    let name_end = line.find(|c: char| c == '=' || c.is_whitespace()).filter(|_| is_option);
    let (name, value) = line.split_at(name_end.unwrap_or(line.len()));
    let value = value.trim_start();
    let value = value.strip_prefix('=').unwrap_or(value).trim_start();
    if let Some((key, value)) = line.split_once('=').filter(|_| !is_option)
        && options_of(command).any(|(known, _)| known == key.trim())
    {
        let (key, value) = (key.trim(), value.trim());
        let expected = format!("expected --{key}={value}, as on the command line");
        return Err(Error::input(place, expected));
    }
    let found = options_of(command).find(|(key, argument)| match is_option {
        true => name.strip_prefix("--") == Some(key) && !argument.is_positional(),
        false => argument.is_positional(),
    });
    let Some((_, argument)) = found else {
        let (of, name) = (command.get_name(), name.escape_debug().to_string());
        let hint = help::tip(command, &name).map_or(String::new(), |tip| format!("; {tip}"));
        return Err(Error::input(
            place,
            format!("'{name}' is not an option of {of}{hint}; see `dropchain {of} --help`"),
        ));
    };
    let (flag, text) = match (is_option, name_end) {
        (false, _) => (argument.get_id().to_string(), line.into()),
        (true, None) => (name.to_owned(), line.into()),
        (true, Some(_)) => (name.to_owned(), format!("{name}={value}").into()),
    };
    Ok(Line { argument, flag, place, text })
}

/// Adds to an error where the options in it come from, if they are in the file.
fn explain(mut error: clap::Error, lines: &[Line<'_>]) -> clap::Error {
    let kinds = [ContextKind::InvalidArg, ContextKind::PriorArg];
    let named = kinds.map(|kind| help::context(&error, kind)).concat();
    let is_named = |line: &&Line<'_>| {
        let mut words = named.iter().flat_map(|name| name.split([' ', '=']));
        words.any(|word| word == line.flag)
    };
    let tips = lines.iter().filter(is_named);
    let tips = tips.map(|line| format!("'{}' is set in {}", line.flag, line.place));
    let tips: Vec<_> = tips.map(Into::into).collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

#[cfg(test)]
mod tests {
    use dropchain::model::FileRole;

    use super::*;
    use crate::definition;

    #[test]
    fn other_files_than_the_recorded_ones_are_told() {
        let parse = |text: &str| recorded_file(text);
        for text in ["", "x", "8c79bdaebf9a9a0e", "8c79 x", "8c79bdaebf9a9a0g x"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let file = |name: &str, xxh3: &str| FileRecord {
            role: FileRole::Train,
            name: name.to_owned(),
            bytes: Some(1),
            sentences: None,
            xxh3: xxh3.to_owned(),
        };
        let [one, two] = ["8c79bdaebf9a9a0e", "85ccef6976b2eef3"];
        let recorded = [format!("{one} a b"), format!("{one} c"), format!("{one} d")];
        let config = ConfigArguments {
            config: None,
            note: None,
            recorded: recorded.iter().map(|text| parse(text).unwrap()).collect(),
            effective: EffectiveConfig::default(),
        };
        let changed = config.changed(&[file("a b", two), file("c", one), file("e", two)]);
        let [warning] = &changed[..] else { panic!("{changed:?}") };
        assert!(warning.starts_with("warning: a b is not the file of the recorded run"));
        assert!(warning.ends_with(&format!("its XXH3 is {two}, not {one}")), "{warning}");
    }

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
