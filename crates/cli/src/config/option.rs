//! What an option of the command line takes, derived from its definition.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};
use dropchain_tune::Axis;
use serde_json::{Number, Value};

use crate::file_name::FileName;

/// The key of the positional arguments, which have no name on the command line.
pub const INPUT: &str = "input";

/// The option that names the configuration file: no key of that file.
pub const CONFIG: &str = "config";

/// What the values of an option are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// None: the option is there or not.
    Switch,
    /// A number.
    Number,
    /// An integer.
    Integer,
    /// The name of a file.
    File,
    /// One of a list of words.
    Word,
    /// Any text.
    Text,
    /// Text with a syntax of its own, for example `10m` or `auto`.
    Syntax,
}

/// How many values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplicity {
    One,
    Many,
    /// Several in one argument, separated by commas.
    Joined,
}

/// An option as a key of a configuration.
#[derive(Debug)]
pub struct ConfigOption<'a> {
    pub argument: &'a Arg,
    /// The long name, or [`INPUT`].
    pub key: &'a str,
    pub kind: ValueKind,
    pub multiplicity: Multiplicity,
}

impl<'a> ConfigOption<'a> {
    /// Returns the option that an argument is; `None` if it cannot be in a configuration.
    fn new(argument: &'a Arg) -> Option<Self> {
        let action = argument.get_action();
        let kind = match action {
            ArgAction::SetTrue => ValueKind::Switch,
            ArgAction::Set | ArgAction::Append => kind(argument),
            _ => return None,
        };
        let key = match argument.is_positional() {
            true => INPUT,
            false => argument.get_long().filter(|name| *name != CONFIG)?,
        };
        let multiplicity = match action {
            ArgAction::Append => Multiplicity::Many,
            _ if has_type::<Axis>(argument) => Multiplicity::Joined,
            _ => Multiplicity::One,
        };
        Some(Self {
            argument,
            key,
            kind,
            multiplicity,
        })
    }

    /// Returns the options of a command, in the order of their definition.
    pub fn all(command: &'a Command) -> impl Iterator<Item = Self> {
        command.get_arguments().filter_map(Self::new)
    }

    /// Finds an option by its key.
    pub fn find(command: &'a Command, key: &str) -> Option<Self> {
        Self::all(command).find(|option| option.key == key)
    }

    /// Returns whether two options of the same key, of different commands, take the same values.
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind && self.multiplicity == other.multiplicity
    }

    /// Returns whether the option can be given without a value.
    pub fn may_be_bare(&self) -> bool {
        let counts = self.argument.get_num_args();
        counts.is_some_and(|counts| counts.min_values() == 0)
    }

    /// Returns whether the words of the option are those of a switch.
    pub fn is_on_off(&self) -> bool {
        self.words() == ["on", "off"]
    }

    /// Returns the words that the option takes; none if it takes other values.
    pub fn words(&self) -> Vec<String> {
        let words = self.argument.get_possible_values();
        words
            .iter()
            .map(|word| word.get_name().to_owned())
            .collect()
    }

    /// Converts the default value, or values from the command line, to JSON. Equal values that are
    /// written in different ways become the same.
    pub fn to_json<'v>(&self, values: impl Iterator<Item = &'v OsStr>) -> Value {
        let mut values = values.map(OsStr::to_string_lossy);
        match (self.kind, self.multiplicity) {
            (ValueKind::Switch, _) => Value::Bool(values.all(|value| value == "true")),
            (_, Multiplicity::Many) => values.map(|value| self.scalar_to_json(&value)).collect(),
            (_, Multiplicity::One) => self.scalar_to_json(&values.next().unwrap_or_default()),
            (_, Multiplicity::Joined) => {
                let text = values.next().unwrap_or_default();
                let mut parts: Vec<Value> =
                    text.split(',').map(|v| self.scalar_to_json(v)).collect();
                match parts.len() {
                    1 => parts.swap_remove(0),
                    _ => parts.into(),
                }
            }
        }
    }

    fn scalar_to_json(&self, text: &str) -> Value {
        let integer = || text.parse::<Number>().ok().filter(|n| !n.is_f64());
        let float = || text.parse().ok().and_then(Number::from_f64);
        let number = match self.kind {
            ValueKind::Integer => integer(),
            ValueKind::Number => float(),
            ValueKind::Syntax => integer().or_else(float),
            _ => None,
        };
        number.map_or_else(|| text.into(), Value::Number)
    }

    /// Returns the default values.
    pub fn defaults(&self) -> Option<Value> {
        let defaults = self.argument.get_default_values();
        let values = defaults.iter().map(clap::builder::OsStr::as_os_str);
        (!defaults.is_empty()).then(|| self.to_json(values))
    }
}

fn has_type<T: 'static>(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == TypeId::of::<T>()
}

fn kind(argument: &Arg) -> ValueKind {
    let is_integer = [
        has_type::<u8>,
        has_type::<u16>,
        has_type::<u32>,
        has_type::<u64>,
        has_type::<usize>,
        has_type::<i64>,
    ];
    if !argument.get_possible_values().is_empty() {
        ValueKind::Word
    } else if has_type::<f64>(argument) {
        ValueKind::Number
    } else if is_integer.iter().any(|is_type| is_type(argument)) {
        ValueKind::Integer
    } else if has_type::<FileName>(argument)
        || has_type::<PathBuf>(argument)
        || has_type::<OsString>(argument)
    {
        ValueKind::File
    } else if has_type::<String>(argument) {
        ValueKind::Text
    } else {
        ValueKind::Syntax
    }
}
