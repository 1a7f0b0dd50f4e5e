//! The options of a run: those of the command line and of the configuration file together.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use serde_json::{Map, Value, json};

use super::option::ConfigOption;

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

/// The options of a run by key, without those that have their defaults or no effect on the model.
#[derive(Clone, Debug, Default)]
pub struct EffectiveConfig {
    command: String,
    pub options: Map<String, Value>,
}

impl EffectiveConfig {
    /// Collects the options of a run of `command`, in the order of their definition.
    pub fn new(command: &Command, matches: &ArgMatches) -> Self {
        let mut options = Map::new();
        for option in ConfigOption::all(command) {
            let id = option.argument.get_id().as_str();
            if WITHOUT_EFFECT.contains(&option.key)
                || matches.value_source(id) != Some(ValueSource::CommandLine)
            {
                continue;
            }
            let values = matches.get_raw(id).into_iter().flatten();
            let value = option.to_json(values);
            if Some(&value) != option.defaults().as_ref() {
                options.insert(option.key.to_owned(), value);
            }
        }
        Self {
            command: command.get_name().to_owned(),
            options,
        }
    }

    /// Returns the options.
    pub fn to_json(&self) -> Value {
        json!({"command": self.command, "options": self.options})
    }
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
            let has = |command: &&Command| ConfigOption::find(command, key).is_some();
            assert!(commands.iter().any(has), "{key}");
        }
    }

    #[test]
    fn values_that_are_written_in_different_ways_are_recorded_alike() {
        let program = definition();
        let record = |arguments: &str| {
            let matches = program.clone().get_matches_from(arguments.split(' '));
            let (name, matches) = matches.subcommand().unwrap();
            let command = program.find_subcommand(name).unwrap();
            EffectiveConfig::new(command, matches).options
        };
        let one = record("dropchain train a --model m --l2 1 --patience 40 --columns a,b");
        let same = record("dropchain train --columns a --columns b --model=m --l2 1e0 a");
        assert_eq!(one, same);
        assert_eq!(one.len(), 3); // without the model
        let axes = record("dropchain tune a --model m --folds 2 --l2 0.10,1 --dropout 0.1:0.3");
        assert_eq!(axes["l2"], json!([0.1, 1]));
        assert_eq!(axes["dropout"], json!("0.1:0.3"));
    }
}
