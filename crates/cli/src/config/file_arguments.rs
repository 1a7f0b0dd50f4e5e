//! The options of a configuration file as arguments of a command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use dropchain::{Place, Result, Template};

use super::file::{ConfigFile, Entry, split_sections};
use super::option::{CONFIG, ConfigOption, INPUT, ValueKind};
use super::value::{Given, convert, words};
use crate::foreign_names;

/// An option of a file as arguments of a command.
#[derive(Debug)]
pub struct FileArgument {
    /// The identifier of the argument in its command.
    pub id: String,
    /// The option as in an error message, such as `--dev`.
    pub flag: String,
    pub place: Place,
    pub arguments: Vec<OsString>,
}

/// Reads the options for a command from a file. `commands` are all that read such files, without
/// requirements between their options.
///
/// # Errors
///
/// The file cannot be read; at a line, there is a mistake in the syntax, a key is no option, or a
/// value is not one of its option.
pub fn read(path: &Path, command: &str, commands: &[Command]) -> Result<Vec<FileArgument>> {
    let file = ConfigFile::read(path)?;
    let table = file.parse()?;
    let names: Vec<&str> = commands.iter().map(Command::get_name).collect();
    let (shared, sections) = split_sections(&file, &table, &names)?;
    let mut found = Vec::new();
    for definition in commands {
        let reader = Reader {
            file: &file,
            definition,
            commands,
        };
        let own = sections.get(definition.get_name());
        let own = own.map_or(&[][..], |entries| entries);
        let is_wanted = definition.get_name() == command;
        // The table of another command is only checked.
        let shared = if is_wanted { &shared[..] } else { &[] };
        let arguments = reader.arguments(shared, own)?;
        if is_wanted {
            found = arguments;
        }
    }
    Ok(found)
}

/// Reads options for a command.
struct Reader<'a> {
    file: &'a ConfigFile,
    definition: &'a Command,
    commands: &'a [Command],
}

impl Reader<'_> {
    /// Converts entries of all commands and those of this one, which go first.
    fn arguments(&self, shared: &[Entry<'_>], own: &[Entry<'_>]) -> Result<Vec<FileArgument>> {
        let mut entries = BTreeMap::new();
        for entry in shared.iter().chain(own) {
            self.check_key(entry)?;
            entries.insert(entry.key, entry);
        }
        let mut arguments = Vec::new();
        for option in ConfigOption::all(self.definition) {
            if let Some(entry) = entries.get(option.key) {
                arguments.extend(self.argument(&option, entry)?);
            }
        }
        Ok(arguments)
    }

    fn check_key(&self, entry: &Entry<'_>) -> Result<()> {
        let key = entry.key;
        let has = |command: &Command| ConfigOption::find(command, key).is_some();
        if has(self.definition) {
            return Ok(());
        }
        let command = self.definition.get_name();
        let other = self.commands.iter().find(|other| has(other));
        let message = if key == CONFIG {
            "a configuration file cannot name another one".to_owned()
        } else if let Some(other) = other.map(Command::get_name) {
            format!(
                "'{key}' is an option of {other}, not of {command}; expected it below [{other}]"
            )
        } else {
            let hint = self
                .hint(key)
                .map_or(String::new(), |hint| format!("; {hint}"));
            format!(
                "'{}' is not an option of {command}{hint}; see `dropchain {command} --help`",
                key.escape_debug()
            )
        };
        Err(self.file.error(entry.offset, &message))
    }

    /// Returns what a key that is no option may mean, as for an unknown option.
    fn hint(&self, key: &str) -> Option<String> {
        if key == "train" {
            return Some(format!("training files are '{INPUT}'"));
        }
        let flag = format!("--{key}");
        if let Some(ours) = foreign_names::our_option(&flag) {
            return Some(format!("it is {ours}"));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if key.is_empty() || !key.chars().all(is_name) {
            return None;
        }
        let parsed = self.definition.clone().try_get_matches_from([flag]);
        match parsed.err()?.get(ContextKind::SuggestedArg)? {
            ContextValue::String(similar) => {
                let similar = similar.trim_start_matches('-');
                (similar != CONFIG).then(|| format!("similar: '{similar}'"))
            }
            _ => None,
        }
    }

    /// Converts an entry; `None` if it says that the option is not there.
    fn argument(
        &self,
        option: &ConfigOption<'_>,
        entry: &Entry<'_>,
    ) -> Result<Option<FileArgument>> {
        let key = option.key;
        let failed = |message: &str| self.file.error(entry.offset, &format!("{key}: {message}"));
        let given = convert(option, entry.value).map_err(|message| failed(&message))?;
        let flag = match option.argument.is_positional() {
            true => option.argument.get_id().to_string(),
            false => format!("--{key}"),
        };
        let arguments: Vec<OsString> = match given {
            Given::Absent => return Ok(None),
            Given::Bare => vec![flag.clone().into()],
            Given::Values(values) => values
                .iter()
                .map(|value| self.value(option, value))
                .map(|value| match option.argument.is_positional() {
                    true => value,
                    false => [OsString::from(&flag), value].join("=".as_ref()),
                })
                .collect(),
        };
        let parsed = self.definition.clone().try_get_matches_from(&arguments);
        if let Err(error) = parsed {
            return Err(failed(&reason(&error)));
        }
        Ok(Some(FileArgument {
            id: option.argument.get_id().to_string(),
            flag,
            place: self.file.place(entry.offset),
            arguments,
        }))
    }

    /// Returns the value of an argument: names of files are relative to the folder of this one.
    fn value(&self, option: &ConfigOption<'_>, value: &str) -> OsString {
        if option.kind != ValueKind::File || value == "-" || value.contains('\n') {
            return value.into();
        }
        let path = self.file.folder.join(value);
        if option.key == "template" && Template::shipped(value).is_some() && !path.is_file() {
            return value.into();
        }
        let path = path.into_os_string();
        match option.argument.is_positional() && path.as_encoded_bytes().starts_with(b"-") {
            true => Path::new(".").join(path).into_os_string(),
            false => path,
        }
    }
}

/// Says why a value is none of an option.
fn reason(error: &clap::Error) -> String {
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "",
    };
    match (error.kind(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(valid))) if !valid.is_empty() => {
            format!("found {value:?}; expected {}", words(valid))
        }
        (ErrorKind::ValueValidation, _) => {
            let source = std::error::Error::source(error);
            let source = source.map_or(String::new(), |source| format!(": {source}"));
            format!("{value:?} is not a value of this option{source}")
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            line.trim_start_matches("error: ").to_owned()
        }
    }
}
