//! Replacing models whose files were replaced.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use dropchain::{Error, Result};

use super::models::{FileState, Models, ServedModel};
use crate::progress::notice;

/// How often to look at the files.
const INTERVAL: Duration = Duration::from_secs(1);

/// What is known about the file of a model.
struct WatchedFile {
    /// Its state when it was last loaded, successfully or not.
    tried: Option<FileState>,
    /// Its last state.
    seen: Option<FileState>,
}

/// Starts a thread that loads models again when their files are replaced, and all of them on each
/// message of `reload`.
pub fn watch(models: Arc<Models>, reload: Receiver<()>) -> Result<()> {
    let builder = thread::Builder::new().name("models".to_owned());
    let spawned = builder.spawn(move || run(&models, &reload));
    spawned.map(drop).map_err(Error::threads)
}

fn run(models: &Models, reload: &Receiver<()>) {
    let watched = models.all().iter().map(|model| {
        let state = model.current().file.clone();
        WatchedFile {
            tried: state.clone(),
            seen: state,
        }
    });
    let mut watched: Vec<WatchedFile> = watched.collect();
    loop {
        let all = match reload.recv_timeout(INTERVAL) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            // Signals are not handled.
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(INTERVAL);
                false
            }
        };
        for (model, file) in models.all().iter().zip(&mut watched) {
            let state = FileState::of(&model.path);
            if all || file.should_load(state.as_ref()) {
                replace(models, model);
                file.tried.clone_from(&state);
            }
            file.seen = state;
        }
    }
}

impl WatchedFile {
    /// Returns whether to load the file. One that is being written has to wait until it stays the
    /// same; one that was put in its place is complete.
    fn should_load(&self, state: Option<&FileState>) -> bool {
        let is_being_written = match (state, &self.seen) {
            (Some(state), Some(seen)) => state.is_same_file(seen) && state != seen,
            _ => false,
        };
        state != self.tried.as_ref() && !is_being_written
    }
}

/// Loads a model again, and says so.
fn replace(models: &Models, model: &ServedModel) {
    let name = &model.name;
    match models.reload(model) {
        Ok(()) => notice(&format!("{name}: loaded {}", model.path.display())),
        Err(error) => notice(&format!(
            "dropchain: {name}: {error}; the model loaded before serves on"
        )),
    }
}
