//! The configuration file that repeats the run of a model.

use std::path::Path;

use dropchain::model::Model;
use dropchain::{Error, Result, Template};
use serde_json::{Map, Value};

use crate::config::{INPUT, is_file, options_of};
use crate::definition;
use crate::training_arguments::is_share_of_dev;

/// Options that add lines to a template or change it: its text in the model is not that of a file.
const CHANGE_TEMPLATE: [&str; 6] =
    ["clusters", "vectors", "gazetteer", "document", "document-window", "caseless"];

/// A configuration file, and what a reader should know of it.
pub struct RunConfig<'a> {
    model: &'a Model,
    pub text: String,
    pub warnings: Vec<String>,
}

impl<'a> RunConfig<'a> {
    /// Returns the file that repeats the run of a model.
    ///
    /// # Errors
    ///
    /// The model does not say how it was trained.
    pub fn new(model: &'a Model) -> Result<Self> {
        let source = &model.header().provenance;
        let record = source.config().unwrap_or_default();
        let (Some(command), Some(options)) =
            (record["command"].as_str(), record["options"].as_object())
        else {
            return Err(Error::model(
                model.path(),
                "the model does not say with which options it was trained: it was made by another \
                 program or in Python; `dropchain inspect --json` has its training parameters",
            ));
        };
        let path = model.path().display().to_string();
        let mut config = Self {
            model,
            text: format!(
                "# The run that made {}: dropchain {command} --config FILE\n\
                 # dropchain {}, {} sentences, {} tokens. Other options have their defaults.\n\
                 # File names are relative to the folder of this file.\n\n",
                path.escape_debug(),
                source.version.escape_debug(),
                source.sentences,
                source.tokens
            ),
            warnings: Vec::new(),
        };
        if source.version != env!("CARGO_PKG_VERSION") {
            let (then, now) = (&source.version, env!("CARGO_PKG_VERSION"));
            config.warn(&format!(
                "the model was trained by dropchain {then}; the defaults of {now} may differ"
            ));
        }
        match record["train"].as_object() {
            None => config.write_options(command, options),
            Some(best) => {
                config.text += &format!("[{command}]\n");
                config.write_options(command, options);
                config.text += "\n# The best configuration alone: dropchain train --config FILE\n\
                                [train]\n";
                config.write_options("train", best);
            }
        }
        Ok(config)
    }

    fn write_options(&mut self, command: &str, options: &Map<String, Value>) {
        let program = definition();
        let command = program.find_subcommand(command);
        let definitions: Vec<_> = command.into_iter().flat_map(options_of).collect();
        let is_file = |key: &str| {
            let mut own = definitions.iter().filter(|(known, _)| *known == key);
            own.any(|(_, argument)| is_file(argument))
        };
        for (key, value) in options {
            let mut value = value.clone();
            match key.as_str() {
                "template" => self.check_template(options, &mut value),
                "init" | "towards" => self.check_model(key, &value),
                key if is_file(key) => self.check_files(key, &value),
                _ => {}
            }
            self.text += &format!("{key} = {}\n", toml(&value));
            if key == INPUT {
                let path = toml(&self.model.path().to_string_lossy().as_ref().into());
                self.text += "# The run replaces this file; --model FILE writes another one.\n";
                self.text += &format!("model = {path}\n");
            }
        }
    }

    fn warn(&mut self, message: &str) {
        let message = message.escape_debug().to_string().replace("\\'", "'");
        self.text += &format!("# Warning: {message}\n");
        self.warnings.push(message);
    }

    fn check_files(&mut self, key: &str, value: &Value) {
        let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for name in names.iter().filter_map(Value::as_str) {
            if key == "dev" && is_share_of_dev(name) {
                continue;
            }
            if name == "-" {
                self.warn(&format!("{key} was standard input"));
            } else if !Path::new(name).exists() {
                self.warn(&format!("{key}: there is no file {name}"));
            }
        }
    }

    /// Replaces the name of a template file that is no longer the same by the text of the template.
    fn check_template(&mut self, options: &Map<String, Value>, value: &mut Value) {
        let (Some(name), Some(template)) = (value.as_str(), &self.model.header().template) else {
            return;
        };
        let path = Path::new(name);
        let is_shipped = Template::shipped(name).is_some() && !path.is_file();
        let is_changed = CHANGE_TEMPLATE.iter().any(|key| options.contains_key(*key));
        if name.contains('\n') || is_shipped {
            return;
        }
        if is_changed || template.file_names().next().is_some() {
            return self.check_files("template", &name.into());
        }
        let found = Template::read_without_files(path);
        if !found.is_ok_and(|found| found.source() == template.source()) {
            self.warn(&format!(
                "{name} is not there or not as it was; this is the text of the template that the \
                 model has"
            ));
            *value = format!("{}\n", template.source().trim_end()).into();
        }
    }

    /// Checks that a model that training continued from is still the same.
    fn check_model(&mut self, key: &str, value: &Value) {
        let Some(name) = value.as_str() else { return };
        let options = self.model.header().provenance.training_options();
        let found = dropchain_crfsuite::open(name).and_then(|base| base.fingerprint());
        let found = found.ok().map(|fingerprint| format!("{fingerprint:032x}"));
        if !Path::new(name).exists() {
            self.check_files(key, value);
        } else if found.as_deref() != options[key].as_str() {
            self.warn(&format!(
                "{key}: {name} is no longer the model that training continued from, so the run \
                 cannot be repeated without that one"
            ));
        }
    }
}

/// Formats a value in TOML: numbers and words of the command line as what they are.
fn toml(value: &Value) -> String {
    match value {
        Value::String(text) => match text.parse::<toml::Value>() {
            Ok(toml::Value::Integer(number)) if number.to_string() == *text => text.clone(),
            Ok(toml::Value::Float(number)) if number.to_string() == *text => text.clone(),
            _ => toml::Value::String(text.clone()).to_string(),
        },
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(toml).collect();
            format!("[{}]", values.join(", "))
        }
        other => other.to_string(),
    }
}
