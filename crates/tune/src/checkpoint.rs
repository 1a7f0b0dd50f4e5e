//! The journal of a search: the file from which it continues after a crash.
//!
//! The first line marks the file as a checkpoint. All others are JSON: an object of all that
//! determines the results of the search, then one line for each finished run. A run is a function
//! of that object and its own configuration, and numbers are written with as many digits as give
//! them back, so that nothing else is needed for the same bits. A last line without its end is
//! what a crash left.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pool::lock;
use super::run::{Course, RunKey};
use dropchain::error::{Error, Result};
use dropchain::kernel::atomic_file;
use dropchain::train::CHECKPOINT_MAGIC;

/// A file that keeps the finished runs of a search, which are not trained again.
///
/// It is locked against other searches while it is open. [`Search::run`](super::Search::run) writes
/// it; [`remove`](Self::remove) it once the results are saved.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    file: Mutex<File>,
    resume: bool,
}

/// What a search continues from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Number of finished runs, which are not trained again.
    pub runs: usize,
    /// Whether the checkpoint ended within a line, whose run is trained again.
    pub was_torn: bool,
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
        if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
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
        let file = Mutex::new(file);
        Ok(Self { path, file, resume })
    }

    /// Returns the path as given.
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

    /// Begins a search, or continues one: then `receive` gets all finished runs. `identity` is
    /// all that determines the results.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written; it is damaged or belongs to another search.
    pub(super) fn begin(
        &self,
        identity: &Map<String, Value>,
        receive: impl FnMut((RunKey, Course)),
    ) -> Result<Option<Resumed>> {
        if self.resume
            && let Some(resumed) = self.read(identity, receive)?
        {
            return Ok(Some(resumed));
        }
        let mut file = lock(&self.file);
        let begun = (file.set_len(0))
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(&CHECKPOINT_MAGIC));
        drop(file);
        begun.map_err(|e| self.failed(e))?;
        self.append(identity)?;
        Ok(self.resume.then(Resumed::default))
    }

    /// Reads the file, if it is that of a search that has begun. Cuts off what is left of an
    /// incomplete line.
    fn read(
        &self,
        identity: &Map<String, Value>,
        mut receive: impl FnMut((RunKey, Course)),
    ) -> Result<Option<Resumed>> {
        let mut file = lock(&self.file);
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(|e| self.failed(e))?;
        let mark = bytes.len().min(CHECKPOINT_MAGIC.len());
        if bytes[..mark] != CHECKPOINT_MAGIC[..mark] {
            let message = "is not a checkpoint of `tune`; expected one to resume";
            return Err(Error::checkpoint(&self.path, message));
        }
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut lines = bytes[..end].split_inclusive(|byte| *byte == b'\n').zip(1..).skip(1);
        let Some((first, number)) = lines.next() else {
            return Ok(None);
        };
        self.check(&self.parse(first, number)?, identity)?;
        let mut runs = 0;
        for (line, number) in lines {
            receive(self.parse(line, number)?);
            runs += 1;
        }
        let cut = file.set_len(end as u64).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(|e| self.failed(e))?;
        Ok(Some(Resumed { runs, was_torn: end < bytes.len() }))
    }

    fn parse<'a, T: Deserialize<'a>>(&self, line: &'a [u8], number: usize) -> Result<T> {
        serde_json::from_slice(line).map_err(|e| {
            let what = match number {
                2 => "no search is described, or that of another command".to_owned(),
                _ => e.to_string(),
            };
            let place = format!("{}:{number}", self.path.display());
            let message = format!("is damaged: {what}; remove it to start from the beginning");
            Error::checkpoint(place, message)
        })
    }

    /// Checks that the file is of the search that is about to continue.
    fn check(&self, then: &Map<String, Value>, now: &Map<String, Value>) -> Result<()> {
        let value = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
        let mut names = then.keys().chain(now.keys());
        let Some(name) = names.find(|name| value(then, name) != value(now, name)) else {
            return Ok(());
        };
        let difference = match name.starts_with("--") || name == "dropchain" {
            true => format!("{name} {}, and now {}", value(then, name), value(now, name)),
            false => format!("other {name}"),
        };
        let message =
            format!("was written with {difference}; expected the search that was interrupted");
        Err(Error::checkpoint(&self.path, message))
    }

    /// Appends a line.
    ///
    /// # Errors
    ///
    /// The file cannot be written. The lines before remain.
    pub(super) fn append(&self, line: &impl Serialize) -> Result<()> {
        let mut file = lock(&self.file);
        let mut append = || {
            let mut line = serde_json::to_vec(line)?;
            line.push(b'\n');
            let start = file.stream_position()?;
            file.write_all(&line).inspect_err(|_| {
                let _ = file.set_len(start);
                let _ = file.seek(SeekFrom::Start(start));
            })
        };
        append().map_err(|e| self.failed(e))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.path, error)
    }
}

impl Drop for Checkpoint {
    /// Removes the file if it is empty: the search did not start.
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let _ = atomic_file::remove(&self.path);
        }
    }
}
