//! Options by name, as a program in another language gives them.

use std::any::TypeId;
use std::error::Error as _;
use std::sync::OnceLock;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Args, Command, FromArgMatches, Id};
use dropchain::train::{Lbfgs, TrainOptions};
use dropchain::{Error, Result};
use serde_json::{Value, json};

use super::training::{SearchedOptions, TrainingOptions};

/// The type of an option's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Yes or no: `on` or `off`.
    Switch,
    /// A number.
    Number,
    /// A whole number that is not negative.
    Count,
    /// A name, or a number.
    Text,
}

/// An option of training, for other languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionRow {
    /// The name as an identifier, such as `max_iterations`.
    pub name: String,
    /// The type of its values.
    pub kind: Kind,
    /// The names that it takes; none if it takes others.
    pub values: Vec<String>,
    /// Its help: the effect and the default.
    pub help: String,
    /// Whether it belongs to what a search tries.
    pub is_searched: bool,
}

fn command() -> Command {
    let command = Command::new("options").no_binary_name(true);
    TrainingOptions::augment_args(command.disable_help_flag(true))
}

/// Returns all options, in the order of their definition.
pub fn table() -> &'static [OptionRow] {
    static TABLE: OnceLock<Vec<OptionRow>> = OnceLock::new();
    TABLE.get_or_init(rows)
}

fn rows() -> Vec<OptionRow> {
    let searched = SearchedOptions::augment_args(Command::new("searched"));
    let is_searched = |id: &Id| searched.get_arguments().any(|option| option.get_id() == id);
    let command = command().mut_args(with_default);
    let options = command.get_arguments().filter_map(|option| {
        let values = option.get_possible_values();
        Some(OptionRow {
            name: option.get_long()?.replace('-', "_"),
            kind: kind(option),
            values: values.iter().map(|value| value.get_name().to_owned()).collect(),
            help: option.get_help()?.to_string(),
            is_searched: is_searched(option.get_id()),
        })
    });
    options.collect()
}

fn kind(option: &Arg) -> Kind {
    let of = option.get_value_parser().type_id();
    let is = |types: &[TypeId]| types.iter().any(|kind| of == *kind);
    match () {
        () if option.get_id() == "boundary" => Kind::Switch,
        () if is(&[TypeId::of::<f64>()]) => Kind::Number,
        () if is(&[TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()]) => Kind::Count,
        () => Kind::Text,
    }
}

/// Adds its default to the help of an option of training, unless this says it: some depend on other
/// options. An option of another definition stays as it is.
pub fn with_default(option: Arg) -> Arg {
    static DEFAULTS: OnceLock<(Command, Value)> = OnceLock::new();
    let (command, defaults) = DEFAULTS.get_or_init(|| (command(), defaults()));
    let id = option.get_id();
    let is_same = |own: &Arg| own.get_id() == id && own.get_help() == option.get_help();
    let has_own = !option.get_default_values().is_empty();
    let Some(value) = defaults.get(id.as_str()).filter(|_| !has_own) else {
        return option; // most options: every start of the program comes here
    };
    let Some(help) = option.get_help().map(ToString::to_string) else { return option };
    if value.is_null() || help.contains("[default") || !command.get_arguments().any(is_same) {
        return option;
    }
    let value = match value {
        Value::Number(number) => number.as_f64().map_or_else(String::new, |n| n.to_string()),
        Value::String(name) => name.clone(),
        other => other.to_string(),
    };
    let new = format!("{help} [default: {value}]");
    match option.get_long_help().map(|long| long.to_string().replacen(&help, &new, 1)) {
        Some(long) => option.help(new).long_help(long),
        None => option.help(new),
    }
}

/// Returns the defaults of training by the names of options.
fn defaults() -> Value {
    let options = TrainOptions::default();
    let mut defaults = json!(options);
    defaults["algorithm"] = Lbfgs::NAME.into();
    defaults["caseless"] = json!(options.attributes.caseless);
    defaults
}

/// Parses options, given as pairs of a name and a value.
///
/// # Errors
///
/// [`Error::Parameter`] for a value that an option does not have.
pub fn parse(options: &[(String, String)]) -> Result<TrainingOptions> {
    let flags = options.iter().map(|(name, value)| format!("--{}={value}", name.replace('_', "-")));
    let matches = command().try_get_matches_from(flags);
    let parsed = matches.and_then(|matches| TrainingOptions::from_arg_matches(&matches));
    parsed.map_err(|error| Error::parameter(message(&error)))
}

/// Says what is wrong with a value.
fn message(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let option = text(ContextKind::InvalidArg);
    let name = option.trim_start_matches('-').split([' ', '=', '[']);
    let name = name.take(1).collect::<String>().replace('-', "_");
    let value = text(ContextKind::InvalidValue);
    match (error.get(ContextKind::ValidValue), error.source()) {
        (Some(ContextValue::Strings(valid)), _) if !valid.is_empty() => {
            format!("{name} '{value}'; expected one of {}", valid.join(", "))
        }
        (_, Some(source)) => format!("{name} '{value}': {source}"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use dropchain::kernel::train::AnyOptions;

    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Result<AnyOptions> {
        let pairs = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        parse(&pairs.collect::<Vec<_>>())?.over(TrainOptions::default())
    }

    #[test]
    fn without_options_training_has_its_defaults() {
        let options = options(&[]).unwrap();
        assert_eq!(options.method.name(), "lbfgs");
        assert_eq!(options.patience, TrainOptions::default().patience);
    }

    #[test]
    fn every_option_has_its_row() {
        let table = table();
        let find = |name: &str| table.iter().find(|row| row.name == name).unwrap();
        for (name, kind, is_searched, help) in [
            ("l2", Kind::Number, true, "[default: 0.1 with noise, 0.3 without, of sgd 1]"),
            ("boundary", Kind::Switch, false, "[default: on]"),
            ("patience", Kind::Count, false, "[default: 40]"),
            ("noise", Kind::Text, false, "monte-carlo[=SAMPLES] [default: dropout]"),
            ("dropout", Kind::Number, true, "[default: 0.3]"),
            ("edge_dropout", Kind::Number, true, "[default: that of --dropout]"),
            ("algorithm", Kind::Text, false, "arow[=GAMMA] [default: lbfgs]"),
        ] {
            let row = find(name);
            assert_eq!((row.kind, row.is_searched), (kind, is_searched), "{name}");
            assert!(row.help.ends_with(help), "{}", row.help);
        }
        assert_eq!(find("precision").values, ["f32", "f64", "f16"]);
        assert!(table.iter().all(|row| !row.help.is_empty()));
    }

    #[test]
    fn values_are_those_of_the_command_line() {
        let found = options(&[
            ("l2", "0.5"),
            ("max_iterations", "7"),
            ("boundary", "off"),
            ("noise", "reweighted=3"),
            ("recall_bias", "-0.5"),
        ]);
        let found = found.unwrap();
        let regularization = found.method.regularization();
        assert_eq!((regularization.l2, found.max_iterations), (Some(0.5), Some(7)));
        assert_eq!(found.structure.boundary.name(), "off");
        assert_eq!(regularization.noise.kind.to_string(), "reweighted=3");
        assert_eq!(found.recall_bias, Some(-0.5));
    }

    #[test]
    fn wrong_values_are_told_with_the_name_of_the_option() {
        for (pairs, expected) in [
            (&[("scheme", "x")][..], "scheme 'x'; expected one of raw, io"),
            (&[("l2", "x")], "l2 'x': invalid float"),
            (&[("noise", "x")], "noise 'x'"),
            (&[("algorithm", "ap=1")], "algorithm 'ap=1': algorithm 'ap=1'; expected lbfgs, sgd"),
            (&[("algorithm", "sgd"), ("epsilon", "1")], "`epsilon` has no meaning for algorithm"),
        ] {
            let error = options(pairs).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    /// The stub of Python's options: their names and types, for editors and type checkers.
    fn stub() -> String {
        let mut text = "# Written by the tests of dropchain-options with DROPCHAIN_WRITE=1 from \
                        their definitions.\n\
                        from collections.abc import Mapping\n\
                        from typing import Any, Literal, TypedDict\n"
            .to_owned();
        for (class, base, is_searched) in
            [("FixedOptions", "TypedDict", false), ("TrainOptions", "FixedOptions", true)]
        {
            text += &format!("\nclass {class}({base}, total=False):\n");
            for row in table().iter().filter(|row| row.is_searched == is_searched) {
                let are_numbers = row.values.iter().all(|value| value.parse::<u8>().is_ok());
                let quoted = row.values.iter().map(|value| match are_numbers {
                    true => value.clone(),
                    false => format!("{value:?}"),
                });
                let kind = match (row.kind, row.values.is_empty()) {
                    (Kind::Switch, _) => "bool".to_owned(),
                    (Kind::Number, _) => "float".to_owned(),
                    (Kind::Count, _) => "int".to_owned(),
                    (Kind::Text, true) => "str | float".to_owned(),
                    (Kind::Text, false) => {
                        format!("Literal[{}]", quoted.collect::<Vec<_>>().join(", "))
                    }
                };
                text += &format!("    {}: {kind} | None\n", row.name);
            }
        }
        text + "\nNAMES: tuple[str, ...]\n\n\
                def check_names(options: Mapping[str, Any], function: str) -> None: ...\n\
                def from_stored(stored: Mapping[str, Any]) -> dict[str, Any]: ...\n"
    }

    #[test]
    fn the_stub_of_python_has_these_options() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/lib/dropchain/_options.pyi");
        if std::env::var_os("DROPCHAIN_WRITE").is_some() {
            std::fs::write(path, stub()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap();
        assert!(written == stub(), "{path} is old; DROPCHAIN_WRITE=1 writes it again");
    }
}
