//! The configuration file that repeats the run of a model.

use std::path::Path;

use dropchain::model::Model;
use dropchain::{Error, Result, Template};
use serde_json::{Map, Value};

use crate::config::INPUT;
use crate::training_arguments::is_share_of_dev;

/// Options that add lines to a template or change it: its text in the model is not that of a file.
const CHANGE_TEMPLATE: [&str; 5] = ["clusters", "vectors", "gazetteers", "document", "caseless"];

/// Options whose values are names of files.
const FILES: [&str; 9] =
    [INPUT, "dev", "unlabeled", "clusters", "vectors", "gazetteers", "template", "init", "towards"];

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
                 # dropchain {}, {} sentences, {} tokens. Other options have their defaults.\n\n",
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
        config.write_options(options);
        if let Some(best) = record["train"].as_object() {
            config.text += "\n# The best configuration alone is trained by dropchain train with\n";
            for line in best.iter().flat_map(|(key, value)| lines(key, value)) {
                config.text += &format!("#   {line}\n");
            }
        }
        Ok(config)
    }

    fn write_options(&mut self, options: &Map<String, Value>) {
        for (key, value) in options {
            let names = values(value).iter().filter_map(Value::as_str);
            let problems = names.filter_map(|name| problem(self.model, options, key, name));
            problems.collect::<Vec<_>>().iter().for_each(|problem| self.warn(problem));
            let lines = lines(key, value);
            if lines.iter().any(|line| line.contains('\n')) {
                self.warn(&format!("{key} has several lines, which cannot be in this file"));
                continue;
            }
            for line in lines {
                self.text += &format!("{line}\n");
            }
            if key == INPUT {
                let path = self.model.path().to_string_lossy();
                self.text += "# The run replaces this file; --model FILE writes another one.\n";
                self.text += &format!("--model={path}\n");
            }
        }
    }

    fn warn(&mut self, message: &str) {
        let message = message.escape_debug().to_string().replace("\\'", "'");
        self.text += &format!("# Warning: {message}\n");
        self.warnings.push(message);
    }
}

/// Returns why the run of a model cannot be repeated with a value of an option, if so: a file is
/// gone, or not what it was.
fn problem(model: &Model, options: &Map<String, Value>, key: &str, name: &str) -> Option<String> {
    let (path, header) = (Path::new(name), model.header());
    let is_missing = !path.exists();
    let is_text = name.contains('\n') || (Template::shipped(name).is_some() && !path.is_file());
    match key {
        "dev" if is_share_of_dev(name) => None,
        "template" if is_text => None,
        _ if !FILES.contains(&key) => None,
        _ if name == "-" => Some(format!("{key} was standard input")),
        "template" => {
            let template = header.template.as_ref()?;
            let is_changed = CHANGE_TEMPLATE.iter().any(|key| options.contains_key(*key));
            if is_changed || template.file_names().next().is_some() {
                return is_missing.then(|| format!("{key}: there is no file {name}"));
            }
            let found = Template::read_without_files(path);
            let is_same = found.is_ok_and(|found| found.source() == template.source());
            (!is_same).then(|| {
                format!(
                    "{name} is not there or not as it was; `dropchain inspect MODEL --template` \
                     prints the template that the model has"
                )
            })
        }
        _ if is_missing => Some(format!("{key}: there is no file {name}")),
        "init" | "towards" => {
            let found = dropchain_crfsuite::open(name).and_then(|base| base.fingerprint());
            let found = found.ok().map(|fingerprint| format!("{fingerprint:032x}"));
            let is_same = found.as_deref() == header.provenance.training_options()[key].as_str();
            (!is_same).then(|| {
                format!(
                    "{key}: {name} is no longer the model that training continued from, so the \
                     run cannot be repeated without that one"
                )
            })
        }
        _ => None,
    }
}

/// Returns the values of an option.
fn values(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// Returns the lines of an option: one for each value.
fn lines(key: &str, value: &Value) -> Vec<String> {
    let line = |value: &Value| match value {
        Value::String(text) if key == INPUT && text.starts_with(['-', '#']) && text != "-" => {
            format!("./{text}")
        }
        Value::String(text) if key == INPUT => text.clone(),
        Value::String(text) => format!("--{key}={text}"),
        Value::Bool(true) => format!("--{key}"),
        value => format!("--{key}={value}"),
    };
    values(value).iter().map(line).collect()
}
