//! The file from which a search continues after a crash.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use dropchain::atomic_file;
use dropchain::error::{Error, Result};

/// A file that holds the state of a search: what has been trained is not trained again.
///
/// It is locked against other searches while it is open. [`Search::run`](super::Search::run) writes
/// it; [`remove`](Self::remove) it once the results are saved.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    file: File,
    is_new: bool,
    resume: bool,
}

impl Checkpoint {
    /// Opens a checkpoint. With `resume`, the search continues from its contents, if it has any;
    /// without, they are erased when the search starts.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be opened for writing; [`Error::Checkpoint`] if it is not a
    /// regular file or another search writes it.
    pub fn open(path: impl Into<PathBuf>, resume: bool) -> Result<Self> {
        let path = path.into();
        let old = fs::metadata(&path);
        if old.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
            let message = "is not a regular file; expected the name of a file to write";
            return Err(Error::checkpoint(path, message));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(|e| Error::io(&path, e))?;
        // Other errors: the file system has no locks.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            let message = "another search is writing this checkpoint; wait for it to end, or \
                           choose another file";
            return Err(Error::checkpoint(path, message));
        }
        Ok(Self {
            path,
            file,
            is_new: old.is_err(),
            resume,
        })
    }

    /// Returns the path as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be removed.
    pub fn remove(self) -> Result<()> {
        atomic_file::remove(&self.path)
    }

    /// Makes the existence of the file durable, which not every system supports.
    pub(super) fn sync_directory(&self) {
        let directory = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if let Ok(directory) = File::open(directory) {
            let _ = directory.sync_all();
        }
    }

    /// Returns whether to continue from the contents.
    pub(super) fn resume(&self) -> bool {
        self.resume
    }

    /// Returns a handle of the file, with the same lock.
    pub(super) fn file(&self) -> Result<File> {
        self.file.try_clone().map_err(|e| Error::io(&self.path, e))
    }
}

impl Drop for Checkpoint {
    /// Removes the file if it was created for a search that did not start.
    fn drop(&mut self) {
        if self.is_new
            && self
                .file
                .metadata()
                .is_ok_and(|metadata| metadata.len() == 0)
        {
            let _ = atomic_file::remove(&self.path);
        }
    }
}
