//! The finished segments of a search: their weights in a temporary file, and the file from which a
//! search continues after a crash.
//!
//! Between two rungs every configuration has weights on every fold, which can take many times the
//! memory of the trainings that run concurrently. They are written to an unnamed temporary file and
//! read back bit for bit, which takes far less time than the iterations in between (decision 23).
//!
//! With a [`Checkpoint`], each segment is appended to that as well (decision 28). Its first line
//! marks it as a checkpoint. All others are JSON: an object of all that determines the results of
//! the search, then one line for each finished segment. A segment is a pure function of those
//! before, and its numbers are written with as many digits as give them back, so that nothing else
//! is needed for the same bits. A last line without its end is what a crash left.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pool::lock;
use dropchain::atomic_file;
use dropchain::error::{Error, Result};
use dropchain::optim::StopReason;
use dropchain::train::{CHECKPOINT_MAGIC, EndReason, SegmentEnd, TrainSettings, TrainingSet};

/// A file that holds the state of a search: what has been trained is not trained again.
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
    /// Number of finished segments, which are not trained again.
    pub segments: usize,
    /// Whether the checkpoint ended within a segment, which is trained again.
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

    /// Begins a search, or continues one: then `receive` gets all finished segments. `identity` is
    /// all that determines the results.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written; it is damaged or belongs to another search.
    fn begin(
        &self,
        identity: &Map<String, Value>,
        receive: impl FnMut((Job, SegmentEnd)) -> Result<()>,
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
        mut receive: impl FnMut((Job, SegmentEnd)) -> Result<()>,
    ) -> Result<Option<Resumed>> {
        let mut resumed = Resumed::default();
        let mut file = lock(&self.file);
        let mut reader = BufReader::new(&*file);
        let (mut line, mut number, mut end) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            let len = (reader.read_until(b'\n', &mut line)).map_err(|e| self.failed(e))?;
            resumed.was_torn = len > 0 && line.last() != Some(&b'\n');
            if number == 0 && !CHECKPOINT_MAGIC.starts_with(&line) {
                let message = "is not a checkpoint of `tune`; expected one to resume";
                return Err(Error::checkpoint(&self.path, message));
            }
            if len == 0 || resumed.was_torn {
                break;
            }
            match number {
                0 => {}
                1 => self.check(&self.parse(&line, number)?, identity)?,
                _ => {
                    receive(self.parse(&line, number)?)?;
                    resumed.segments += 1;
                }
            }
            number += 1;
            end += len as u64;
        }
        let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(|e| self.failed(e))?;
        Ok((number > 1).then_some(resumed))
    }

    fn parse<'a, T: Deserialize<'a>>(&self, line: &'a [u8], number: usize) -> Result<T> {
        serde_json::from_slice(line).map_err(|e| {
            let what = match number {
                1 => "no search is described, or that of another command".to_owned(),
                _ => e.to_string(),
            };
            let place = format!("{}:{}", self.path.display(), number + 1);
            Error::checkpoint(place, damaged(what))
        })
    }

    /// Checks that the file is of the search that is about to continue.
    fn check(&self, then: &Map<String, Value>, now: &Map<String, Value>) -> Result<()> {
        let value = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
        let mut names = then.keys().chain(now.keys());
        let Some(name) = names.find(|name| value(then, name) != value(now, name)) else {
            return Ok(());
        };
        let difference = if name.starts_with("--") || name == "dropchain" {
            let [then, now] = [then, now].map(|of| describe(name, &value(of, name)));
            format!("{then}, this search is {now}")
        } else {
            format!("with other {name}")
        };
        let message = format!("was written {difference}; expected the search that was interrupted");
        Err(Error::checkpoint(&self.path, message))
    }

    /// Appends a line.
    ///
    /// # Errors
    ///
    /// The file cannot be written. The lines before remain.
    fn append(&self, line: &impl Serialize) -> Result<()> {
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

/// Returns the message for contents that cannot be used.
fn damaged(what: impl std::fmt::Display) -> String {
    format!("is damaged: {what}; remove it to start from the beginning")
}

/// Describes the value of an option.
fn describe(name: &str, value: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    match value {
        Value::Null => format!("without {name}"),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(text).collect();
            format!("with {name} {}", values.join(","))
        }
        value => format!("with {name} {}", text(value)),
    }
}

/// A segment of a search. Indices are those of [`WarmStarts`](super::warm_start::WarmStarts), of
/// the configurations, of folds and of rungs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Job {
    /// A warm start.
    WarmStart { start: usize, fold: Fold },
    /// A configuration in a rung.
    Rung { rung: usize, configuration: usize, fold: Fold },
}

/// Index of a fold; `None`: all data.
pub(super) type Fold = Option<usize>;

/// Weights in the temporary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredWeights {
    offset: u64, // bytes
    len: usize,  // numbers
}

/// A finished segment, and where its weights are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredSegment {
    /// The segment without any weights.
    pub end: SegmentEnd,
    /// The last weights, if a later segment starts from them.
    pub last: Option<StoredWeights>,
    /// The best weights, if they are the best of the search so far.
    pub best: Option<StoredWeights>,
}

/// The finished segments of a search.
#[derive(Debug)]
pub(super) struct SegmentStore<'a> {
    weights: Mutex<File>,
    checkpoint: Option<&'a Checkpoint>,
    earlier: Mutex<HashMap<Job, StoredSegment>>, // not yet taken
    resumed: Option<Resumed>,
}

impl<'a> SegmentStore<'a> {
    /// Opens the store of a search, and reads the checkpoint if the search continues.
    ///
    /// # Errors
    ///
    /// A file cannot be written; the checkpoint is damaged or belongs to another search.
    pub fn open(checkpoint: Option<&'a Checkpoint>, identity: &Map<String, Value>) -> Result<Self> {
        let mut store = Self {
            weights: Mutex::new(tempfile::tempfile().map_err(of_temporary)?),
            checkpoint,
            earlier: Mutex::default(),
            resumed: None,
        };
        if let Some(checkpoint) = checkpoint {
            store.resumed = checkpoint.begin(identity, |(job, end)| {
                let segment = store.put(end)?;
                lock(&store.earlier).insert(job, segment);
                Ok(())
            })?;
        }
        Ok(store)
    }

    /// Returns what the search continues from; `None` unless it is to resume a checkpoint.
    pub fn resumed(&self) -> Option<Resumed> {
        self.resumed
    }

    /// Takes a segment that an earlier run finished.
    pub fn take(&self, job: Job) -> Option<StoredSegment> {
        lock(&self.earlier).remove(&job)
    }

    /// Adds a finished segment. It is that of a job unless a search that resumes is to train it
    /// again, as one that was interrupted always is.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn add(&self, job: Option<Job>, end: SegmentEnd) -> Result<StoredSegment> {
        let best = end.best.iter().flat_map(|best| &best.theta);
        // JSON has no other numbers.
        let is_finite =
            end.objective.is_finite() && end.theta.iter().chain(best).all(|x| x.is_finite());
        let is_kept =
            is_finite && end.reason != Some(EndReason::Optimizer(StopReason::Interrupted));
        if let (Some(checkpoint), Some(job), true) = (self.checkpoint, job, is_kept) {
            checkpoint.append(&(job, &end))?;
        }
        self.put(end)
    }

    /// Moves the weights of a segment to the temporary file.
    fn put(&self, mut end: SegmentEnd) -> Result<StoredSegment> {
        let last = self.write(&std::mem::take(&mut end.theta))?;
        let best = end.best.as_mut().map(|best| std::mem::take(&mut best.theta));
        let best = self.write(&best.unwrap_or_default())?;
        Ok(StoredSegment { end, last, best })
    }

    /// Writes weights, if there are any.
    fn write(&self, weights: &[f64]) -> Result<Option<StoredWeights>> {
        let len = weights.len();
        let mut file = lock(&self.weights);
        let mut write = || {
            let offset = file.seek(SeekFrom::End(0))?;
            let bytes: Vec<u8> = weights.iter().flat_map(|w| w.to_le_bytes()).collect();
            file.write_all(&bytes)?;
            Ok(StoredWeights { offset, len })
        };
        (len > 0).then(|| write().map_err(of_temporary)).transpose()
    }

    /// Reads weights.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read(&self, weights: StoredWeights) -> Result<Vec<f64>> {
        let mut bytes = vec![0; 8 * weights.len];
        let mut file = lock(&self.weights);
        let read = file.seek(SeekFrom::Start(weights.offset));
        (read.and_then(|_| file.read_exact(&mut bytes))).map_err(of_temporary)?;
        let numbers = bytes.as_chunks().0.iter();
        Ok(numbers.map(|number| f64::from_le_bytes(*number)).collect())
    }

    /// Reads the weights that a segment of training on `set` starts from; without any, it starts
    /// where training does.
    ///
    /// # Errors
    ///
    /// The file cannot be read; it has another number of weights.
    pub fn read_start(
        &self,
        weights: Option<StoredWeights>,
        set: &TrainingSet,
        (settings, done): (&TrainSettings, usize),
    ) -> Result<Vec<f64>> {
        let Some(weights) = weights else {
            return Ok(settings.start(set));
        };
        let (found, expected) = (weights.len, settings.state_length(set, done)?);
        match self.checkpoint {
            Some(checkpoint) if found != expected => Err(Error::checkpoint(
                checkpoint.path(),
                damaged(format!("{found} weights, expected {expected}")),
            )),
            _ => self.read(weights),
        }
    }
}

fn of_temporary(error: io::Error) -> Error {
    Error::io(std::env::temp_dir().join("(temporary file)"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_back_bit_for_bit() {
        let store = SegmentStore::open(None, &Map::new()).unwrap();
        let all = [vec![0.1; 3], vec![-0.0, f64::MIN_POSITIVE, 1e300], vec![f64::NAN]];
        let stored = all.each_ref().map(|weights| store.write(weights).unwrap().unwrap());
        for (weights, stored) in all.iter().zip(stored).rev() {
            let bits = |x: &f64| x.to_bits();
            let read = store.read(stored).unwrap();
            assert!(read.iter().map(bits).eq(weights.iter().map(bits)));
        }
        assert_eq!(store.write(&[]).unwrap(), None);
    }
}
