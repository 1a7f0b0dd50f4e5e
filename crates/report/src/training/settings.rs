//! The settings of runs: which differ, and the command that repeats a run.

use serde_json::{Map, Value, json};

use super::run::NamedRun;
use crate::views::{Table, distinct, heads, or_empty};

/// Measures of the data that may explain a difference between runs.
const TOLD_MEASURES: [&str; 3] = ["sentences", "files", "version"];

/// The settings of runs by name, in the order of the first log that has them.
pub struct Settings {
    all: Vec<Map<String, Value>>,
    different: Vec<String>,
    same: Vec<String>,
}

impl Settings {
    /// Collects the settings of runs: options by their names on the command line, then what the
    /// runs were trained on.
    pub fn new(runs: &[NamedRun]) -> Self {
        let all: Vec<Map<String, Value>> = runs.iter().map(settings_of).collect();
        let names = distinct(all.iter().flat_map(Map::keys).cloned().collect(), usize::MAX);
        let is_same = |name: &String| all.iter().all(|one| one.get(name) == all[0].get(name));
        let (same, different) = names.into_iter().partition(is_same);
        Self { all, different, same }
    }

    /// Returns the names of the settings that differ, without sizes that follow from others.
    pub fn different(&self) -> impl Iterator<Item = &String> + Clone {
        let told = |name: &&String| is_option(name) || TOLD_MEASURES.contains(&name.as_str());
        self.different.iter().filter(told)
    }

    /// Returns the value of a setting of a run; empty without one.
    pub fn value(&self, run: usize, name: &str) -> String {
        or_empty(self.all[run].get(name), plain)
    }

    /// Returns the options of a run that differ from those of others, but for some, with their
    /// values.
    pub fn choice(&self, run: usize, others: &[&str]) -> String {
        let is_told = |name: &&String| is_option(name) && !others.contains(&name.as_str());
        let options = self.different.iter().filter(is_told);
        let options = options.map(|name| (name, self.value(run, name)));
        let options = options.filter(|(_, value)| !value.is_empty());
        let options: Vec<String> = options.map(|(name, v)| format!("{name} {v}")).collect();
        options.join(", ")
    }

    /// Returns the table of all settings; of those that differ, each value once.
    pub fn table(&self) -> Table {
        let mut table = Table::new("Settings", heads("setting, value"));
        for name in self.same.iter().chain(&self.different) {
            let mut values: Vec<String> = Vec::new();
            for value in (0..self.all.len()).map(|run| self.value(run, name)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            table.row([name.clone(), values.join("; ")]);
        }
        table
    }
}

/// Returns whether a setting is an option that may explain a difference, not a measure of the data.
fn is_option(name: &str) -> bool {
    const MEASURES: &str = "sentences tokens total-weight partial-tokens unlabeled-sentences \
        dev-sentences dev-units \
        reading labels attributes collapsed-attributes weights active-per-token \
        collapsed-active-per-token estimated-memory version files threads";
    !MEASURES.split_whitespace().any(|measure| measure == name)
}

/// Returns the settings of a run. What the user asked for is left out where the parameters say it.
fn settings_of(run: &NamedRun) -> Map<String, Value> {
    let mut settings = Map::new();
    let (header, start) = (json!(run.run.header), json!(run.run.start));
    flatten("", &start["parameters"], &mut settings);
    for (name, value) in header["config"]["options"].as_object().into_iter().flatten() {
        if name != "input" && !settings.contains_key(name) {
            flatten(name, value, &mut settings);
        }
    }
    let fields = header.as_object().into_iter().chain(start.as_object()).flatten();
    for (name, value) in fields.filter(|(name, _)| *name != "parameters" && *name != "config") {
        flatten(name, value, &mut settings);
    }
    settings.remove("estimated-memory");
    settings
}

/// Adds the fields of an object with their paths, in the notation of options.
fn flatten(path: &str, value: &Value, settings: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let separator = if path.is_empty() { "" } else { "." };
                flatten(&format!("{path}{separator}{name}"), value, settings);
            }
        }
        _ => _ = settings.insert(path.replace('_', "-"), value.clone()),
    }
}

/// Returns the command with the options of a log or model that affect the result, as its first line
/// or its record has them.
pub fn command(config: &Value) -> Option<String> {
    let mut command = format!("dropchain {}", config["command"].as_str()?);
    let options = config["options"].as_object()?;
    let inputs = options.get("input").into_iter();
    for value in inputs.flat_map(values) {
        command += &format!(" {}", quoted(&plain(value)));
    }
    for (name, value) in options.iter().filter(|(name, _)| *name != "input") {
        for value in values(value) {
            command += &match value {
                Value::Bool(true) => format!(" --{name}"),
                Value::Bool(false) => String::new(),
                value => format!(" --{name} {}", quoted(&plain(value))),
            };
        }
    }
    Some(command)
}

/// Returns the values of an option that may be given several times.
pub fn values(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values,
        value => std::slice::from_ref(value),
    }
}

/// Quotes an argument for a shell, if it must be.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=+%@".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

/// Formats a value without quotes; nothing for null.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        // Rounded, unless nothing would be left of it.
        Value::Number(number) => match number.as_f64() {
            Some(value) if value.fract().abs() >= 1e-6 => {
                format!("{value:.6}").trim_end_matches('0').to_owned()
            }
            _ => number.to_string().trim_end_matches(".0").to_owned(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_files_first_and_is_quoted_for_a_shell() {
        let config = json!({"command": "train", "options": {
            "dev": ["dev 1.conll"], "l2": "0.1", "input": ["a.conll", "b.conll"], "comments": true,
        }});
        assert_eq!(
            command(&config).unwrap(),
            "dropchain train a.conll b.conll --dev 'dev 1.conll' --l2 0.1 --comments"
        );
        assert_eq!(command(&Value::Null), None);
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
