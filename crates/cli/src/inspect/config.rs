//! The configuration file that repeats the run of a model.

use std::fmt::Write as _;
use std::path::Path;

use dropchain::model::Model;
use dropchain::{Error, Result, Template};
use serde_json::{Map, Value};

use crate::config::{ConfigOption, INPUT, ValueKind};
use crate::definition;

/// Keys and their values.
type Table = Map<String, Value>;

/// Options that add lines to a template or change it: its text in the model is not that of a file.
const CHANGE_TEMPLATE: [&str; 6] = [
    "clusters",
    "vectors",
    "gazetteer",
    "document",
    "document-window",
    "caseless",
];

/// A configuration file, and what a reader should know of it.
pub struct RunConfig {
    pub text: String,
    pub warnings: Vec<String>,
}

impl RunConfig {
    /// Returns the file that repeats the run of a model.
    ///
    /// # Errors
    ///
    /// The model does not say how it was trained.
    pub fn new(model: &Model) -> Result<Self> {
        let record = model.header().provenance.config();
        let record = record.and_then(|record| Record::parse(&record));
        let record = record.ok_or_else(|| {
            Error::model(
                model.path(),
                "the model does not say with which options it was trained: it was made by an \
                 older dropchain, by another program or in Python; `dropchain inspect --json` has \
                 its training parameters",
            )
        })?;
        let mut config = Self {
            text: String::new(),
            warnings: Vec::new(),
        };
        config.write_head(model, &record);
        let (shared, sections) = record.tables();
        config.write_table(model, &record, &shared);
        for (name, table) in sections {
            let _ = writeln!(config.text, "\n[{name}]");
            config.write_table(model, &record, &table);
        }
        Ok(config)
    }

    fn write_head(&mut self, model: &Model, record: &Record) {
        let (path, source) = (
            model.path().display().to_string(),
            &model.header().provenance,
        );
        let path = path.escape_debug();
        let command = &record.command;
        let what = match &record.train {
            None => format!("# The run that made {path}: dropchain {command} --config FILE\n"),
            Some(_) => format!(
                "# The search that made {path}: dropchain {command} --config FILE\n\
                 # Its best configuration: dropchain train --config FILE\n"
            ),
        };
        let _ = writeln!(
            self.text,
            "{what}# dropchain {}, {} sentences, {} tokens. Other options have their defaults.\n\
             # File names are relative to the folder of this file.\n",
            source.version.escape_debug(),
            source.sentences,
            source.tokens
        );
        if source.version != env!("CARGO_PKG_VERSION") {
            self.warn(&format!(
                "the model was trained by dropchain {}; the defaults of {} may differ",
                source.version,
                env!("CARGO_PKG_VERSION")
            ));
        }
    }

    fn write_table(&mut self, model: &Model, record: &Record, table: &Map<String, Value>) {
        for (key, value) in table {
            let is_file = record.is_file(key);
            if is_file && key != "template" {
                self.check_files(key, value);
            }
            let mut value = value.clone();
            match key.as_str() {
                "template" => self.check_template(model, record, &mut value),
                "init" | "towards" => self.check_model(model, key, &value),
                _ => {}
            }
            if key == INPUT {
                self.text.push_str(&format!("{key} = {}\n", toml(&value)));
                let path = model.path().to_string_lossy();
                self.text += "# The run replaces this file; --model FILE writes another one.\n";
                self.text
                    .push_str(&format!("model = {}\n", toml(&(*path).into())));
            } else {
                self.text.push_str(&format!("{key} = {}\n", toml(&value)));
            }
        }
    }

    fn warn(&mut self, message: &str) {
        let message = message.escape_debug().to_string().replace("\\'", "'");
        let _ = writeln!(self.text, "# Warning: {message}");
        self.warnings.push(message);
    }

    fn check_files(&mut self, key: &str, value: &Value) {
        let names = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        for name in names.iter().filter_map(Value::as_str) {
            if name == "-" {
                self.warn(&format!("{key} was standard input"));
            } else if !Path::new(name).exists() {
                self.warn(&format!("{key}: there is no file {name}"));
            }
        }
    }

    /// Replaces the name of a template file that is no longer the same by the text of the template.
    fn check_template(&mut self, model: &Model, record: &Record, value: &mut Value) {
        let (Some(name), Some(template)) = (value.as_str(), &model.header().template) else {
            return;
        };
        let path = Path::new(name);
        let is_text = name.contains('\n');
        if is_text || (Template::shipped(name).is_some() && !path.is_file()) {
            return;
        }
        let is_changed = CHANGE_TEMPLATE
            .iter()
            .any(|key| record.options.contains_key(*key));
        if is_changed || template.file_names().next().is_some() {
            self.check_files("template", &name.into());
            return;
        }
        let is_same = Template::read_without_files(path)
            .is_ok_and(|found| found.source() == template.source());
        if !is_same {
            self.warn(&format!(
                "{name} is not there or not as it was; this is the text of the template that the \
                 model has"
            ));
            *value = format!("{}\n", template.source().trim_end()).into();
        }
    }

    /// Checks that a model that training continued from is still the same.
    fn check_model(&mut self, model: &Model, key: &str, value: &Value) {
        let Some(name) = value.as_str() else { return };
        let options = model.header().provenance.training_options();
        let expected = options[key].as_str();
        let found = dropchain_crfsuite::open(name).and_then(|base| base.fingerprint());
        let found = found.ok().map(|fingerprint| format!("{fingerprint:032x}"));
        if Path::new(name).exists() && found.as_deref() != expected {
            self.warn(&format!(
                "{key}: {name} is no longer the model that training continued from, so the run \
                 cannot be repeated without that one"
            ));
        }
    }
}

/// The options that a model records.
struct Record {
    command: String,
    options: Map<String, Value>,
    /// Of a search: the options of `train` for its best configuration.
    train: Option<Map<String, Value>>,
    files: Vec<String>,
}

impl Record {
    fn parse(record: &Value) -> Option<Self> {
        let command = record["command"].as_str()?;
        let program = definition();
        let options = ConfigOption::all(program.find_subcommand(command)?);
        let is_file = |option: &ConfigOption<'_>| option.kind == ValueKind::File;
        let files = options.filter(is_file).map(|option| option.key.to_owned());
        Some(Self {
            command: command.to_owned(),
            options: record["options"].as_object()?.clone(),
            train: record["train"].as_object().cloned(),
            files: files.collect(),
        })
    }

    fn is_file(&self, key: &str) -> bool {
        self.files.iter().any(|file| file == key)
    }

    /// Returns the options of all commands, and those of each.
    fn tables(&self) -> (Table, Vec<(&str, Table)>) {
        let Some(train) = &self.train else {
            return (self.options.clone(), Vec::new());
        };
        let split = |from: &Map<String, Value>, other: &Map<String, Value>, is_shared: bool| {
            let entries = from.iter();
            let entries =
                entries.filter(|(key, value)| (other.get(*key) == Some(value)) == is_shared);
            entries
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        let sections = vec![
            ("train", split(train, &self.options, false)),
            (self.command.as_str(), split(&self.options, train, false)),
        ];
        (split(&self.options, train, true), sections)
    }
}

/// Formats a value in TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(toml).collect();
            format!("[{}]", values.join(", "))
        }
        other => other.to_string(),
    }
}
