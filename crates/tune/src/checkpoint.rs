//! The journal of a search: the file from which it continues after a crash.
//!
//! The first line marks the file as a checkpoint. All others are JSON after a checksum: an object
//! of all that determines the results of the search, then one line for each finished run. A run is
//! a function of that object and its own configuration, and numbers are written with as many digits
//! as give them back, so that nothing else is needed for the same bits. A last line without its end
//! is what a crash left.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use xxhash_rust::xxh3::xxh3_64;

use super::run::{Course, RunKey};
use dropchain::kernel::atomic_file;
use dropchain::kernel::train::CHECKPOINT_MAGIC;
use dropchain::{Error, Result};

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

    /// Removes the file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be removed.
    pub fn remove(self) -> Result<()> {
        atomic_file::remove(&self.path)
    }

    /// Begins a search, or continues one: returns its finished runs, if it is to resume. `identity`
    /// is all that determines the results.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written; it is damaged or belongs to another search.
    pub(super) fn begin(
        &self,
        identity: &Map<String, Value>,
    ) -> Result<Option<HashMap<RunKey, Course>>> {
        if self.resume
            && let Some(done) = self.read(identity)?
        {
            return Ok(Some(done));
        }
        let mut file = self.lock();
        let begun = (file.set_len(0))
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(&CHECKPOINT_MAGIC));
        drop(file);
        begun.map_err(|e| self.failed(e))?;
        self.append(identity)?;
        Ok(self.resume.then(HashMap::new))
    }

    /// Reads the runs in the file, if it is that of a search that has begun. Cuts off what is left
    /// of an incomplete line, whose run is trained again.
    fn read(&self, identity: &Map<String, Value>) -> Result<Option<HashMap<RunKey, Course>>> {
        let mut file = self.lock();
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(|e| self.failed(e))?;
        let mark = bytes.len().min(CHECKPOINT_MAGIC.len());
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut lines = bytes[..end].split_inclusive(|byte| *byte == b'\n').zip(1..).skip(1);
        if bytes[..mark] != CHECKPOINT_MAGIC[..mark] {
            let message = "is not a checkpoint of `tune`; expected one to resume";
            return Err(Error::checkpoint(&self.path, message));
        }
        let Some((first, number)) = lines.next() else { return Ok(None) };
        self.check(&self.parse(first, number)?, identity)?;
        let runs = lines.map(|(line, number)| {
            let (key, course): (RunKey, Course) = self.parse(line, number)?;
            match course.scores.iter().all(|score| (0.0..=1.0).contains(&score.value)) {
                true => Ok((key, course)),
                false => Err(self.damaged(number, "a score is not from 0 to 1")),
            }
        });
        let done = runs.collect::<Result<_>>()?;
        let cut = file.set_len(end as u64).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(|e| self.failed(e))?;
        Ok(Some(done))
    }

    /// Parses a line, whose checksum is verified first.
    fn parse<T: DeserializeOwned>(&self, line: &[u8], number: usize) -> Result<T> {
        let parts = line.split_at_checked(SUM).filter(|(sum, json)| checksum(json) == *sum);
        let Some((_, json)) = parts else {
            return Err(self.damaged(number, "the line does not match its checksum"));
        };
        serde_json::from_slice(json).map_err(|e| self.damaged(number, &e.to_string()))
    }

    fn damaged(&self, number: usize, what: &str) -> Error {
        let place = format!("{}:{number}", self.path.display());
        let message = format!("is damaged: {what}; remove it to start from the beginning");
        Error::checkpoint(place, message)
    }

    /// Checks that the file is of the search that is about to continue.
    fn check(&self, then: &Map<String, Value>, now: &Map<String, Value>) -> Result<()> {
        let mut names = then.keys().chain(now.keys());
        let Some(name) = names.find(|name| then.get(*name) != now.get(*name)) else {
            return Ok(());
        };
        let difference = match &**name {
            "data" => "other data, templates or models".to_owned(),
            "configurations" => "other configurations".to_owned(),
            _ => {
                let [then, now] = [then, now].map(|of| of.get(name).unwrap_or(&Value::Null));
                format!("{} {then}, and now {now}", name.replace('_', "-"))
            }
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
        let mut file = self.lock();
        let mut append = || {
            let mut json = serde_json::to_vec(line)?;
            json.push(b'\n');
            let line = [checksum(&json), json].concat();
            let start = file.stream_position()?;
            file.write_all(&line).inspect_err(|_| {
                let _ = file.set_len(start);
                let _ = file.seek(SeekFrom::Start(start));
            })
        };
        append().map_err(|e| self.failed(e))
    }

    /// Locks the file, poisoned or not: a panic ends the search anyway.
    fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.path, error)
    }
}

/// Length of a checksum.
const SUM: usize = 16;

/// Returns the checksum of a line as it is written before it.
fn checksum(line: &[u8]) -> Vec<u8> {
    format!("{:0SUM$x}", xxh3_64(line)).into_bytes()
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
