//! Checkpoints: the state of a training run in a file, from which it resumes to the same bits.
//!
//! A checkpoint holds the weights, the memory of the learner, the best weights
//! so far and the state of early stopping. It is replaced atomically, and it belongs to the options
//! and the data it was written with: resuming with others is an error. If training has two passes,
//! it also holds what those that have ended leave to later ones, so that none of them is repeated.
//!
//! It takes 64 to 72 bytes per parameter (with development data the latter), 8 more with reweighted
//! noise; of online learners 16 to 32. Of two passes, the first model and its predictions for the
//! training data come on top.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;

pub use super::checkpoint_contents::CHECKPOINT_MAGIC;

use super::checkpoint_contents::{
    CheckpointContents, CheckpointHeader, SavedState, TrainingState, encode,
};
use super::finished_passes::FinishedPasses;
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::ranks::Ranks;

/// Where and how often to write checkpoints of a training run, and whether to resume from one.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    path: PathBuf,
    interval: CheckpointInterval,
    resume: bool,
}

/// How often to write a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointInterval {
    /// After this many iterations.
    Iterations(usize),
    /// After the first iteration that ends this long after the last checkpoint.
    Time(Duration),
}

impl Default for CheckpointInterval {
    /// Ten minutes.
    fn default() -> Self {
        Self::Time(Duration::from_secs(600))
    }
}

impl Checkpoints {
    /// Writes checkpoints to a file, every ten minutes and when training is interrupted.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            interval: CheckpointInterval::default(),
            resume: false,
        }
    }

    /// Sets how often.
    #[must_use]
    pub fn every(mut self, interval: CheckpointInterval) -> Self {
        self.interval = interval;
        self
    }

    /// Resumes from the checkpoint in the file, if there is one.
    #[must_use]
    pub fn resume(mut self) -> Self {
        self.resume = true;
        self
    }

    /// Checks that the file can be written for a run with 1 or 2 passes, and reads the checkpoint
    /// to resume from, if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be written. [`Error::Checkpoint`] if it is not
    /// a checkpoint, is damaged, or was written by another version, with other settings or by a run
    /// with another number of passes.
    pub(super) fn open(&self, options: String, passes: usize) -> Result<OpenCheckpoints> {
        if atomic_file::is_special(&self.path) {
            return Err(Error::parameter(format!(
                "{}: is not a regular file; expected the name of a file to write",
                self.path.display()
            )));
        }
        atomic_file::check_writable(&self.path)?;
        let bytes = match self.resume {
            true => self.read()?,
            false => Vec::new(),
        };
        self.with_earlier(true, bytes, options, passes)
    }

    /// Like [`open`](Self::open), for a run with ranks: rank 0 alone has the file, and sends the
    /// others the checkpoint to resume from.
    ///
    /// # Errors
    ///
    /// Those of `open`, on all ranks; [`Error::Communication`].
    pub(super) fn open_by_rank_0(
        &self,
        options: String,
        passes: usize,
        ranks: &Ranks,
    ) -> Result<OpenCheckpoints> {
        let mut bytes = Vec::new();
        let open = match ranks.rank() {
            0 => self.open(options.clone(), passes).and_then(|open| {
                if open.earlier.is_some() {
                    bytes = self.read()?;
                }
                Ok(Some(open))
            }),
            _ => Ok(None),
        };
        let open = ranks.agree(open)?;
        let bytes = ranks.broadcast(0, &bytes)?;
        match open {
            Some(open) => Ok(open),
            None => self.with_earlier(false, bytes, options, passes),
        }
    }

    /// Returns the contents of the file; empty if there is none.
    fn read(&self) -> Result<Vec<u8>> {
        match fs::read(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            contents => contents.map_err(|e| Error::io(&self.path, e)),
        }
    }

    fn with_earlier(
        &self,
        is_written: bool,
        bytes: Vec<u8>,
        options: String,
        passes: usize,
    ) -> Result<OpenCheckpoints> {
        let header = CheckpointHeader::new(options, passes);
        let earlier = match bytes.is_empty() {
            true => None,
            false => Some(CheckpointContents::decode(bytes, &self.path)?),
        };
        if let Some(earlier) = &earlier {
            earlier.header.check(&header, &self.path)?;
        }
        Ok(OpenCheckpoints {
            path: self.path.clone(),
            is_written,
            interval: self.interval,
            header,
            earlier,
            last: (0, Instant::now()),
        })
    }
}

/// The checkpoints of a run.
pub(super) struct OpenCheckpoints {
    path: PathBuf,
    is_written: bool, // by this process, not by another rank
    interval: CheckpointInterval,
    header: CheckpointHeader,
    earlier: Option<CheckpointContents>, // until a pass resumes from it
    last: (usize, Instant),              // iteration and time of the last checkpoint
}

impl OpenCheckpoints {
    /// Sets the fingerprint of the data.
    ///
    /// # Errors
    ///
    /// [`Error::Checkpoint`] if the checkpoint to resume from belongs to other data.
    pub fn set_fingerprint(&mut self, fingerprint: u64) -> Result<()> {
        self.header.fingerprint = fingerprint;
        let is_other = |earlier: &CheckpointContents| earlier.header.fingerprint != fingerprint;
        if self.earlier.as_ref().is_some_and(is_other) {
            return Err(Error::checkpoint(
                &self.path,
                "was written with other training data, development data or another template; \
                 expected those of the interrupted run",
            ));
        }
        Ok(())
    }

    /// Takes the passes that ended before the run was interrupted, if training has two.
    pub fn take_finished(&mut self) -> Option<FinishedPasses> {
        self.earlier.as_mut()?.finished.take()
    }

    /// Returns whether the run resumes before the first iteration of a pass, the next one.
    pub fn resume_pass(&mut self) -> bool {
        let is_between = self.earlier.as_ref().is_some_and(|e| e.state.is_none());
        if is_between {
            self.earlier = None;
        }
        is_between
    }

    /// Returns the checkpoints of the pass that follows `finished`, or of the only pass.
    pub fn of_pass<'a>(&'a mut self, finished: Option<&'a FinishedPasses>) -> PassCheckpoints<'a> {
        PassCheckpoints {
            open: self,
            finished,
        }
    }

    /// Replaces the checkpoint.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written; the earlier checkpoint is kept.
    pub fn write<S: Serialize>(
        &mut self,
        finished: Option<&FinishedPasses>,
        state: Option<&TrainingState<'_, S>>,
    ) -> Result<()> {
        if !self.is_written {
            return Ok(());
        }
        let encode = |file: &mut File| encode(&self.header, finished, state, file);
        atomic_file::replace(&self.path, encode).map(drop)
    }
}

/// The checkpoints of a pass, or of a run of one pass.
pub(super) struct PassCheckpoints<'a> {
    open: &'a mut OpenCheckpoints,
    finished: Option<&'a FinishedPasses>,
}

impl PassCheckpoints<'_> {
    /// Starts the clock. Returns the state to resume from, if there is one. `fingerprint` computes
    /// that of the data if the run has one pass.
    ///
    /// # Errors
    ///
    /// [`Error::Checkpoint`] if it belongs to other training data.
    pub fn start(
        &mut self,
        fingerprint: impl FnOnce() -> u64,
    ) -> Result<Option<TrainingState<'static, SavedState>>> {
        if self.finished.is_none() {
            self.open.set_fingerprint(fingerprint())?;
        }
        let state = self.open.earlier.take().and_then(|earlier| earlier.state);
        let iteration = state.as_ref().map_or(0, |state| state.course.iterations);
        self.open.last = (iteration, Instant::now());
        Ok(state)
    }

    /// Returns whether this process is to write a checkpoint now.
    pub fn is_due(&self, iteration: usize, is_interrupted: bool) -> bool {
        let (last, time) = self.open.last;
        let is_time = match self.open.interval {
            CheckpointInterval::Iterations(n) => iteration >= last.saturating_add(n.max(1)),
            CheckpointInterval::Time(interval) => iteration > last && time.elapsed() >= interval,
        };
        self.open.is_written && (is_interrupted || is_time)
    }

    /// Replaces the checkpoint.
    ///
    /// # Errors
    ///
    /// Same as [`OpenCheckpoints::write`].
    pub fn write<S: Serialize>(&mut self, state: &TrainingState<'_, S>) -> Result<()> {
        self.open.last = (state.course.iterations, Instant::now());
        self.open.write(self.finished, Some(state))
    }
}
