//! The models that are served, which can be replaced while they are used.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use dropchain::tag::Tagger;
use dropchain::{MemoryLimit, Result};
use hyper::StatusCode;
use serde_json::{Value, json};

use super::api_error::ApiError;
use super::metrics::Metrics;
use super::model_argument::ModelArgument;
use crate::document_arguments::DocumentArguments;
use crate::model_input::open_tagger;

/// How to load models.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    pub document: DocumentArguments,
    pub memory: MemoryLimit,
}

/// What tells a file from the one that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    length: u64,
    modified: Option<SystemTime>,
    inode: Option<[u64; 2]>,
}

impl FileState {
    /// Returns the state of a model file; `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        #[cfg(unix)]
        let inode = {
            use std::os::unix::fs::MetadataExt;
            Some([metadata.dev(), metadata.ino()])
        };
        #[cfg(not(unix))]
        let inode = None;
        Some(Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            inode,
        })
    }

    /// Returns whether both are states of one file, which another program may be writing.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.inode == other.inode
    }
}

/// A model in memory. Requests keep the one that they began with.
#[derive(Debug)]
pub struct LoadedModel {
    pub tagger: Tagger,
    pub loaded: SystemTime,
    /// The state of the file before it was read.
    pub file: Option<FileState>,
}

/// A model that is served.
#[derive(Debug)]
pub struct ServedModel {
    pub name: String,
    pub path: PathBuf,
    current: Mutex<Arc<LoadedModel>>,
    failure: Mutex<Option<String>>, // why the file is not what is served
}

/// Locks what cannot be left half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ServedModel {
    /// Returns the model as it is now.
    pub fn current(&self) -> Arc<LoadedModel> {
        Arc::clone(&lock(&self.current))
    }

    /// Returns why the model file is not what is served, if it is not.
    pub fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    /// Describes the model for clients.
    fn description(&self, is_default: bool) -> Value {
        let model = self.current();
        let header = model.tagger.model().header();
        let mut description = json!({
            "name": self.name,
            "default": is_default,
            "labels": header.labels.names(),
            "spans": header.encodes_spans(),
            "columns": header.columns,
            "label": header.label_name(),
            "documents": model.tagger.documents().is_some(),
            "loaded": seconds(model.loaded),
        });
        if header.joined.is_some() {
            description["joined_columns"] = json!(header.joined_names());
        }
        description
    }
}

/// All models that are served.
pub struct Models {
    models: Vec<ServedModel>,
    options: LoadOptions,
    metrics: Arc<Metrics>,
}

impl Models {
    /// Loads models.
    pub fn open(
        arguments: &[ModelArgument],
        options: LoadOptions,
        metrics: &Arc<Metrics>,
    ) -> Result<Self> {
        let load = |argument: &ModelArgument| {
            let model = load(&argument.path, options)?;
            metrics.set_loaded(&argument.name, model.loaded);
            Ok(ServedModel {
                name: argument.name.clone(),
                path: argument.path.clone(),
                current: Mutex::new(Arc::new(model)),
                failure: Mutex::new(None),
            })
        };
        Ok(Self {
            models: arguments.iter().map(load).collect::<Result<_>>()?,
            options,
            metrics: Arc::clone(metrics),
        })
    }

    /// Returns all models.
    pub fn all(&self) -> &[ServedModel] {
        &self.models
    }

    /// Finds a model and its index; without a name the first.
    pub fn find(&self, name: Option<&str>) -> Result<(usize, &ServedModel), ApiError> {
        let is_named = |model: &ServedModel| name.is_none_or(|name| model.name == name);
        let found = self.models.iter().position(is_named);
        let found = found.map(|i| (i, &self.models[i]));
        found.ok_or_else(|| {
            let names = self.models.iter().map(|model| model.name.as_str());
            let names: Vec<&str> = names.collect();
            ApiError::new(
                StatusCode::NOT_FOUND,
                format!(
                    "no model {:?}; the models are {}",
                    name.unwrap_or_default(),
                    names.join(", ")
                ),
            )
        })
    }

    /// Loads a model again. If that fails, the old one stays.
    pub fn reload(&self, model: &ServedModel) -> Result<()> {
        let result = load(&model.path, self.options);
        let failure = result.as_ref().err().map(ToString::to_string);
        *lock(&model.failure) = failure;
        let loaded = result.inspect_err(|_| self.metrics.count_failure(&model.name))?;
        self.metrics.set_loaded(&model.name, loaded.loaded);
        *lock(&model.current) = Arc::new(loaded);
        Ok(())
    }

    /// Describes the models: the answer to `/models`.
    pub fn descriptions(&self) -> Value {
        let models = self.models.iter().enumerate();
        let models: Vec<Value> = models.map(|(i, m)| m.description(i == 0)).collect();
        json!({"models": models})
    }

    /// Describes whether all is well: the answer to `/health`.
    pub fn health(&self) -> Value {
        let describe = |model: &ServedModel| {
            let mut object = json!({
                "name": model.name,
                "loaded": seconds(model.current().loaded),
            });
            if let Some(failure) = model.failure() {
                object["error"] = failure.into();
            }
            object
        };
        let is_well = self.models.iter().all(|model| model.failure().is_none());
        let models: Vec<Value> = self.models.iter().map(describe).collect();
        json!({"status": if is_well { "ok" } else { "degraded" }, "models": models})
    }
}

/// Loads a model and verifies all of it: what is served does not turn out to be damaged later.
fn load(path: &Path, options: LoadOptions) -> Result<LoadedModel> {
    let file = FileState::of(path);
    let tagger = open_tagger(path)?.with_memory_limit(options.memory);
    tagger.model().verify()?;
    let tagger = options.document.apply_to_tagger(tagger)?;
    Ok(LoadedModel {
        tagger,
        loaded: SystemTime::now(),
        file,
    })
}

/// Seconds since 1970.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
