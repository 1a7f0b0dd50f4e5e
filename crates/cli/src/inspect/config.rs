//! The configuration file that repeats the run of a model.

use std::path::Path;

use dropchain::model::{FileRecord, FileRole, Model};
use dropchain::sentence::Checksum;
use dropchain::{Error, Result, Template};
use serde_json::{Map, Value};

use crate::config::INPUT;
use crate::training_arguments::is_share_of_dev;

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
                 program; `dropchain inspect --json` has its training parameters",
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
        config.write_files();
        config.write_options(options);
        if let Some(best) = record["train"].as_object() {
            config.text += "\n# The best configuration alone is trained by dropchain train with\n";
            for line in best.iter().flat_map(|(key, value)| lines(key, value)) {
                config.text += &format!("#   {line}\n");
            }
        }
        Ok(config)
    }

    /// Writes the checksums of the files, and what was no file.
    fn write_files(&mut self) {
        self.text += "# XXH3 of the files (xxhsum -H3); the run warns of others.\n";
        for file in &self.model.header().provenance.files {
            let FileRecord { role, name, bytes, xxh3, .. } = file;
            match (bytes, role) {
                (Some(_), _) if name.contains('\n') => {}
                (Some(_), _) => self.text += &format!("--recorded={xxh3} {name}\n"),
                (None, FileRole::Init | FileRole::Towards) => {}
                (None, _) => self.warn(&format!(
                    "{}: {} sentences were in memory, with the XXH3 {xxh3}; expected a file",
                    role.name(),
                    file.sentences.unwrap_or_default()
                )),
            }
        }
        self.text.push('\n');
    }

    fn write_options(&mut self, options: &Map<String, Value>) {
        for (key, value) in options {
            let names = values(value).iter().filter_map(Value::as_str);
            let problems = names.filter_map(|name| problem(self.model, key, name));
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
fn problem(model: &Model, key: &str, name: &str) -> Option<String> {
    let path = Path::new(name);
    let is_text = name.contains('\n') || (Template::shipped(name).is_some() && !path.is_file());
    match key {
        "dev" if is_share_of_dev(name) => return None,
        "template" if is_text => return None,
        _ if !FILES.contains(&key) => return None,
        _ if name == "-" => return Some(format!("{key} was standard input")),
        _ if !path.exists() => return Some(format!("{key}: there is no file {name}{}", hint(key))),
        _ => {}
    }
    let found = match key {
        "init" | "towards" => {
            let found = dropchain_crfsuite::open(name).and_then(|base| base.fingerprint());
            found.map_or_else(|_| String::new(), |fingerprint| format!("{fingerprint:032x}"))
        }
        _ => Checksum::of_file(path).ok()?.to_string(), // a folder has none
    };
    let mut records = model.header().provenance.files.iter();
    let is_other = records.any(|record| record.name == name && record.xxh3 != found);
    is_other.then(|| format!("{key}: {name} is not as it was{}", hint(key)))
}

/// Says what to use instead of a file.
fn hint(key: &str) -> &'static str {
    match key {
        "template" => "; `dropchain inspect MODEL --template` prints the template of the model",
        "init" | "towards" => ", and the run cannot be repeated without that model",
        _ => "",
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
