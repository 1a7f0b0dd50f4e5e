//! Run records: training events as JSON lines.
//!
//! Each line is an object whose `event` field names its kind: one `start`, an `iteration` for each
//! iteration of the optimizer (number 0 is the starting point), one `end`. The other fields are
//! those of the training events ([`train::Start`], [`train::Iteration`], [`train::End`]).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::train::{self, TrainOptions};

/// A line of a run record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Record<'a> {
    /// The state before the first iteration.
    Start(Start<'a>),
    /// An iteration.
    Iteration(&'a train::Iteration),
    /// The result of training.
    End(&'a train::End),
}

/// The first line: the run and its first training event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Start<'a> {
    /// Version of dropchain.
    pub version: &'a str,
    /// Every training parameter.
    pub parameters: &'a TrainOptions,
    /// Training files.
    pub files: &'a [String],
    /// Number of threads.
    pub threads: usize,
    /// The training event.
    #[serde(flatten)]
    pub event: &'a train::Start<'a>,
}

impl<'a> Start<'a> {
    /// Creates the first line of the record of a training run on `files`, by this version of
    /// dropchain in the current thread pool.
    #[must_use]
    pub fn new(files: &'a [String], event: &'a train::Start<'a>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            parameters: event.options,
            files,
            threads: rayon::current_num_threads(),
            event,
        }
    }
}

/// Writes a run record to a file, flushing every line.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// Created with the first line, so that a run that fails before it does not truncate an older
    /// record.
    file: Option<BufWriter<File>>,
}

impl Log {
    /// Creates a log that writes to a new file, or replaces the contents of an existing one.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            file: None,
        }
    }

    /// Writes a line.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be created or written.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        let failed = |e| Error::io(&self.path, e);
        let mut line = serde_json::to_string(record).map_err(|e| failed(e.into()))?;
        line.push('\n');
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(File::create(&self.path).map_err(failed)?)),
        };
        file.write_all(line.as_bytes())
            .and_then(|()| file.flush())
            .map_err(failed)
    }
}

#[cfg(test)]
mod tests;
