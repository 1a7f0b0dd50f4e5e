//! The models that are served, and replaced when their files are.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use axum::http::StatusCode;
use dropchain::kernel::date;
use dropchain::tag::Tagger;
use dropchain::{Model, Result};
use serde_json::{Value, json};

use crate::request::ApiError;

/// The header of an answer that names the model it is from, or all that are served.
pub const MODEL_HEADER: &str = "dropchain-model";

/// Takes messages for whoever runs the server.
pub type Report = dyn Fn(&str) + Send + Sync;

/// Opens the model of a tagger.
pub type OpenModel = dyn Fn(&Path) -> Result<Tagger> + Send + Sync;

/// A model to serve: its name, which stands in addresses and in metrics, and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// The name.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

/// Parses `FILE`, whose name is that of the model, without `.model`, or `NAME=FILE`. A file name
/// with `=` is given with its folder: `./a=b.model`.
impl From<OsString> for ModelFile {
    fn from(argument: OsString) -> Self {
        let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        if let Some((name, path)) = argument.to_str().and_then(|text| text.split_once('='))
            && !name.is_empty()
            && name.chars().all(is_plain)
        {
            return Self { name: name.to_owned(), path: path.into() };
        }
        let path = PathBuf::from(argument);
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy();
        let stem = name.strip_suffix(".model").filter(|stem| !stem.is_empty());
        let name = stem.unwrap_or(&name).to_owned();
        Self { name, path }
    }
}

/// What tells a file from the one that replaces it: its size, when it was changed and, where there
/// are such, its inode; `None` if there is no file.
type FileState = Option<(u64, Option<SystemTime>, u64)>;

fn file_state(path: &Path) -> FileState {
    let metadata = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let inode = 0;
    Some((metadata.len(), metadata.modified().ok(), inode))
}

/// A model in memory. Requests keep the one that they began with.
#[derive(Debug)]
pub struct LoadedModel {
    /// The model.
    pub tagger: Tagger,
    /// When it was loaded, in seconds since 1970.
    pub loaded: u64,
    /// The fingerprint in hexadecimal.
    pub fingerprint: String,
    /// When it was trained or else, if it does not say, when its file was written.
    pub trained: Option<String>,
    /// The value of [`MODEL_HEADER`]: `NAME@FINGERPRINT`, as in an address.
    pub identity: String,
}

impl LoadedModel {
    /// Loads a model and verifies all of it: what is served does not turn out to be damaged later.
    fn load(file: &ModelFile, open: &OpenModel) -> Result<Arc<Self>> {
        let state = file_state(&file.path);
        let tagger = open(&file.path)?;
        let model = tagger.model();
        model.verify()?;
        // Of a copy, since it would keep the names of all attributes in memory.
        let fingerprint = Model::from_bytes(model.as_bytes().to_vec())?.fingerprint()?;
        let fingerprint = format!("{fingerprint:032x}");
        let written = || date::seconds(state?.1?);
        let trained = model.header().provenance.date.or_else(written).map(date::utc);
        let name: String = form_urlencoded::byte_serialize(file.name.as_bytes()).collect();
        let identity = format!("{name}@{fingerprint}");
        let loaded = date::seconds(SystemTime::now()).unwrap_or_default();
        Ok(Arc::new(Self { tagger, loaded, fingerprint, trained, identity }))
    }

    /// Returns the version of dropchain that trained the model.
    pub fn version(&self) -> &str {
        &self.tagger.model().header().provenance.version
    }

    /// Describes which model it is.
    fn identity_fields(&self, name: &str) -> Value {
        json!({
            "name": name,
            "fingerprint": self.fingerprint,
            "version": self.version(),
            "trained": self.trained,
            "loaded": self.loaded,
        })
    }

    /// Describes what it was trained on; clients do not learn folders.
    fn files(&self) -> Value {
        let mut files = json!(self.tagger.model().header().provenance.files);
        for file in files.as_array_mut().into_iter().flatten() {
            let name = file["name"].as_str().unwrap_or_default();
            let name = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
            file["name"] = name.unwrap_or_default().into();
        }
        files
    }
}

/// A model that is served.
pub struct ServedModel {
    /// Name and file of the model.
    pub file: ModelFile,
    state: Mutex<ModelState>,
}

/// Events in the life of a served model.
pub struct ModelState {
    /// The model as it is now.
    pub current: Arc<LoadedModel>,
    /// Number of sentences that were tagged.
    pub sentences: u64,
    /// Number of tokens that were tagged.
    pub tokens: u64,
    /// Number of replacements that failed.
    pub failures: u64,
    failure: Option<String>, // why the file is not what is served
    tried: FileState,        // when it was last loaded, successfully or not
    seen: FileState,         // when it was last looked at
}

impl ServedModel {
    fn open(file: ModelFile, open: &OpenModel) -> Result<Self> {
        let seen = file_state(&file.path);
        let state = Mutex::new(ModelState {
            current: LoadedModel::load(&file, open)?,
            sentences: 0,
            tokens: 0,
            failures: 0,
            failure: None,
            tried: seen,
            seen,
        });
        Ok(Self { file, state })
    }

    /// Returns the state of the model, which waits for nothing long.
    pub fn state(&self) -> MutexGuard<'_, ModelState> {
        lock(&self.state)
    }

    /// Loads the file again if it was replaced. If that fails, the old model stays.
    fn refresh(&self, is_forced: bool, open: &OpenModel, report: &Report) {
        let ModelFile { name, path } = &self.file;
        let found = file_state(path);
        let mut state = self.state();
        let before = std::mem::replace(&mut state.seen, found);
        // A file that changes is still being written.
        if !is_forced && (found == state.tried || found != before) {
            return;
        }
        state.tried = found;
        drop(state);
        let loaded = LoadedModel::load(&self.file, open);
        let mut state = self.state();
        state.failure = loaded.as_ref().err().map(ToString::to_string);
        let message = match loaded {
            Ok(model) => {
                state.current = model;
                format!("{name}: loaded {}", path.display())
            }
            Err(error) => {
                state.failures += 1;
                format!("{name}: {error}; the model loaded before serves on")
            }
        };
        drop(state);
        report(&message);
    }

    /// Describes the model for clients.
    fn description(&self, is_default: bool) -> Value {
        let model = Arc::clone(&self.state().current);
        let header = model.tagger.model().header();
        let mut description = model.identity_fields(&self.file.name);
        description["default"] = is_default.into();
        description["labels"] = json!(header.labels.names());
        description["spans"] = header.encodes_spans().into();
        description["columns"] = json!(header.columns.names);
        description["label"] = json!(header.columns.label_name());
        description["documents"] = model.tagger.documents().is_some().into();
        description["files"] = model.files();
        if let Some(config) = header.provenance.config() {
            description["note"] = config["options"]["note"].clone();
        }
        if header.columns.joined().is_some() {
            description["joined_columns"] = json!(header.columns.joined_names());
        }
        description
    }

    /// Describes whether all is well with the model.
    fn health(&self) -> Value {
        let state = self.state();
        let mut health = state.current.identity_fields(&self.file.name);
        if let Some(failure) = &state.failure {
            health["error"] = failure.as_str().into();
        }
        health
    }
}

/// All models that are served.
pub struct Models {
    /// The models; the first is the default.
    pub models: Vec<ServedModel>,
    open: Box<OpenModel>,
}

impl Models {
    /// Loads models.
    pub fn open(files: Vec<ModelFile>, open: Box<OpenModel>) -> Result<Self> {
        let models = files.into_iter().map(|file| ServedModel::open(file, &open));
        let models = models.collect::<Result<_>>()?;
        Ok(Self { models, open })
    }

    /// Finds a model; without a name the first.
    pub fn find(&self, name: Option<&str>) -> Result<&ServedModel, ApiError> {
        let mut models = self.models.iter();
        let found = models.find(|model| name.is_none_or(|name| model.file.name == name));
        found.ok_or_else(|| {
            let names: Vec<&str> = self.models.iter().map(|m| m.file.name.as_str()).collect();
            let (name, names) = (name.unwrap_or_default(), names.join(", "));
            let message = format!("no model {name:?}; the models are {names}");
            ApiError::new(StatusCode::NOT_FOUND, message)
        })
    }

    /// Loads those models again whose files were replaced, or all of them.
    pub fn refresh(&self, all: bool, report: &Report) {
        for model in &self.models {
            model.refresh(all, &self.open, report);
        }
    }

    /// Describes the models: the answer to `/models`.
    pub fn descriptions(&self) -> Value {
        let models = self.models.iter().enumerate();
        let models: Vec<Value> = models.map(|(i, m)| m.description(i == 0)).collect();
        json!({"models": models})
    }

    /// Describes whether all is well: the answer to `/health`.
    pub fn health(&self) -> Value {
        let models: Vec<Value> = self.models.iter().map(ServedModel::health).collect();
        let is_well = models.iter().all(|model| model.get("error").is_none());
        let status = if is_well { "ok" } else { "degraded" };
        json!({"status": status, "version": env!("CARGO_PKG_VERSION"), "models": models})
    }

    /// Returns the value of [`MODEL_HEADER`] for an answer of no single model.
    pub fn identities(&self) -> String {
        let current = self.models.iter().map(|model| model.state().current.identity.clone());
        current.collect::<Vec<_>>().join(", ")
    }
}

/// Locks what cannot be left half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_by_their_files_or_by_the_user() {
        for (argument, name, path) in [
            ("ner.model", "ner", "ner.model"),
            ("a/b.c/ner.v2.model", "ner.v2", "a/b.c/ner.v2.model"),
            ("plain", "plain", "plain"),
            (".model", ".model", ".model"),
            ("x=a/ner.model", "x", "a/ner.model"),
            ("./a=b.model", "a=b", "./a=b.model"),
            ("=b", "=b", "=b"),
        ] {
            let (name, path) = (name.to_owned(), path.into());
            assert_eq!(ModelFile::from(OsString::from(argument)), ModelFile { name, path });
        }
    }
}
