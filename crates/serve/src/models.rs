//! The models that are served, and replaced when their files are.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use dropchain::Result;
use dropchain::tag::{Tagger, Workspace};
use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::server::{Event, Report};

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
            let (name, path) = (name.to_owned(), path.into());
            return Self { name, path };
        }
        let path = PathBuf::from(argument);
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy();
        let stem = name.strip_suffix(".model").filter(|stem| !stem.is_empty());
        let name = stem.unwrap_or(&name).to_owned();
        Self { name, path }
    }
}

/// What tells a file from the one that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState {
    identity: [u64; 2], // device and inode, where there are such
    length: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    /// Returns the state of a model file; `None` if there is none.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            [metadata.dev(), metadata.ino()]
        };
        #[cfg(not(unix))]
        let identity = [0; 2];
        Some(Self {
            identity,
            length: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

/// A model in memory. Requests keep the one that they began with.
#[derive(Debug)]
pub struct LoadedModel {
    pub tagger: Tagger,
    loaded: SystemTime,
    workspaces: Mutex<Vec<Workspace>>,
}

impl LoadedModel {
    /// Loads a model and verifies all of it: what is served does not turn out to be damaged later.
    fn load(path: &Path, open: &OpenModel) -> Result<Self> {
        let tagger = open(path)?;
        tagger.model().verify()?;
        Ok(Self {
            tagger,
            loaded: SystemTime::now(),
            workspaces: Mutex::default(),
        })
    }

    /// Calls `work` with a workspace of a request that has ended, or a new one.
    pub fn with_workspace<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        let workspace = lock(&self.workspaces).pop();
        let mut workspace = workspace.unwrap_or_default();
        let result = work(&mut workspace);
        lock(&self.workspaces).push(workspace);
        result
    }

    /// When it was loaded, in seconds since 1970.
    pub fn seconds(&self) -> u64 {
        let time = self.loaded.duration_since(UNIX_EPOCH);
        time.unwrap_or_default().as_secs()
    }
}

/// What was done with a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelCounts {
    pub sentences: u64,
    pub tokens: u64,
    /// Replacements that failed.
    pub failures: u64,
}

/// A model that is served.
pub struct ServedModel {
    file: ModelFile,
    current: Mutex<Arc<LoadedModel>>,
    failure: Mutex<Option<String>>, // why the file is not what is served
    counts: Mutex<ModelCounts>,
    watched: Mutex<WatchedFile>,
}

/// States of a model file.
#[derive(Debug)]
struct WatchedFile {
    tried: Option<FileState>, // when it was last loaded, successfully or not
    seen: Option<FileState>,  // when it was last looked at
}

impl ServedModel {
    fn open(file: ModelFile, open: &OpenModel) -> Result<Self> {
        let state = FileState::of(&file.path);
        let model = LoadedModel::load(&file.path, open)?;
        let (tried, seen) = (state.clone(), state);
        Ok(Self {
            file,
            current: Mutex::new(Arc::new(model)),
            failure: Mutex::default(),
            counts: Mutex::default(),
            watched: Mutex::new(WatchedFile { tried, seen }),
        })
    }

    /// Returns the name of the model.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Returns the model as it is now.
    pub fn current(&self) -> Arc<LoadedModel> {
        Arc::clone(&lock(&self.current))
    }

    /// Returns what was done with it.
    pub fn counts(&self) -> ModelCounts {
        *lock(&self.counts)
    }

    /// Counts what was tagged.
    pub fn count(&self, sentences: u64, tokens: u64) {
        let mut counts = lock(&self.counts);
        counts.sentences += sentences;
        counts.tokens += tokens;
    }

    /// Looks at the file, and returns whether to load it. One that is being written has to wait
    /// until it stays the same; one that was put in its place is complete.
    fn should_load(&self, is_forced: bool) -> bool {
        let state = FileState::of(&self.file.path);
        let mut watched = lock(&self.watched);
        let is_being_written = match (&state, &watched.seen) {
            (Some(state), Some(seen)) => state.identity == seen.identity && state != seen,
            _ => false,
        };
        let should_load = is_forced || (state != watched.tried && !is_being_written);
        if should_load {
            watched.tried.clone_from(&state);
        }
        watched.seen = state;
        should_load
    }

    /// Loads the file again. If that fails, the old model stays.
    fn reload(&self, open: &OpenModel, report: &Report) {
        let loaded = LoadedModel::load(&self.file.path, open);
        *lock(&self.failure) = loaded.as_ref().err().map(ToString::to_string);
        match loaded {
            Ok(model) => {
                *lock(&self.current) = Arc::new(model);
                report(Event::Loaded(&self.file));
            }
            Err(error) => {
                lock(&self.counts).failures += 1;
                report(Event::NotLoaded(&self.file, &error));
            }
        }
    }

    /// Describes the model for clients.
    fn description(&self, is_default: bool) -> Value {
        let model = self.current();
        let header = model.tagger.model().header();
        let mut description = json!({
            "name": self.name(),
            "default": is_default,
            "labels": header.labels.names(),
            "spans": header.encodes_spans(),
            "columns": header.columns,
            "label": header.label_name(),
            "documents": model.tagger.documents().is_some(),
            "loaded": model.seconds(),
        });
        if header.joined.is_some() {
            description["joined_columns"] = json!(header.joined_names());
        }
        description
    }

    /// Describes whether all is well with the model.
    fn health(&self) -> Value {
        let mut health = json!({"name": self.name(), "loaded": self.current().seconds()});
        if let Some(failure) = &*lock(&self.failure) {
            health["error"] = failure.as_str().into();
        }
        health
    }
}

/// All models that are served; the first is the default.
pub struct Models {
    models: Vec<ServedModel>,
    open: Box<OpenModel>,
}

impl Models {
    /// Loads models.
    pub fn open(files: Vec<ModelFile>, open: Box<OpenModel>) -> Result<Self> {
        let models = files.into_iter().map(|file| ServedModel::open(file, &open));
        let models = models.collect::<Result<_>>()?;
        Ok(Self { models, open })
    }

    /// Returns all models.
    pub fn all(&self) -> &[ServedModel] {
        &self.models
    }

    /// Finds a model; without a name the first.
    pub fn find(&self, name: Option<&str>) -> Result<&ServedModel, ApiError> {
        let mut models = self.models.iter();
        let found = models.find(|model| name.is_none_or(|name| model.name() == name));
        found.ok_or_else(|| {
            let names: Vec<&str> = self.models.iter().map(ServedModel::name).collect();
            let (name, names) = (name.unwrap_or_default(), names.join(", "));
            let message = format!("no model {name:?}; the models are {names}");
            ApiError::new(StatusCode::NOT_FOUND, message)
        })
    }

    /// Loads those models again whose files were replaced, or all of them.
    pub fn refresh(&self, all: bool, report: &Report) {
        for model in self.models.iter().filter(|model| model.should_load(all)) {
            model.reload(&self.open, report);
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
        let is_well = self
            .models
            .iter()
            .all(|model| lock(&model.failure).is_none());
        let models: Vec<Value> = self.models.iter().map(ServedModel::health).collect();
        json!({"status": if is_well { "ok" } else { "degraded" }, "models": models})
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
            assert_eq!(
                ModelFile::from(OsString::from(argument)),
                ModelFile { name, path }
            );
        }
    }
}
