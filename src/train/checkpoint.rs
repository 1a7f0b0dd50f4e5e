//! Checkpoints: the state of a training run in a file, from which it resumes to the same bits.
//!
//! A checkpoint holds the weights, the memory of the optimizer or of the learner, the best weights
//! so far and the state of early stopping. It is replaced atomically, and it belongs to the options
//! and the data it was written with: resuming with others is an error.
//!
//! # File format
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | magic `DROPCKP\n` |
//! | 8–15 | kind and version, `train 3\n` |
//! | … | [`CheckpointHeader`] and [`TrainingState`] in bincode 2, standard configuration |
//! | the last 8 | XXH3-64 of all bytes before, little-endian |
//!
//! It takes 64 to 72 bytes per parameter (with development data the latter), 8 more with reweighted
//! noise; of online learners 16 to 32.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bincode::config;
use bincode::error::EncodeError;
use bincode::serde::{decode_from_std_read, encode_into_std_write};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::monitor::MonitorState;
use super::online_state::OnlineState;
use super::settings::TrainSettings;
use crate::atomic_file::Reservation;
use crate::error::{Error, Result};
use crate::objective::Terms;
use crate::optim::OptimizerState;

/// The first bytes of a checkpoint of any kind.
pub const CHECKPOINT_MAGIC: [u8; 8] = *b"DROPCKP\n";

/// Kind and version of the format.
const FORMAT: [u8; 8] = *b"train 3\n";

/// Maximum length of an encoded header, so that a damaged length does not allocate more.
const MAX_HEADER: usize = 1 << 20;

/// Options that have no influence on iterations that were made already, so that a run may resume
/// with other values.
const FREE_OPTIONS: [&str; 4] = ["max_iterations", "patience", "prune", "precision"];

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
    #[must_use]
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

    /// Reserves the file, and reads the checkpoint to resume from, if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or another process writes it. [`Error::Checkpoint`] if it is not
    /// a checkpoint, is damaged, or was written by another version or with other settings.
    pub(super) fn open(&self, settings: &TrainSettings) -> Result<OpenCheckpoints> {
        let reservation = Reservation::new(&self.path)?;
        let mut earlier = None;
        if self.resume && has_contents(&self.path)? {
            let checkpoint = Checkpoint::read(&self.path)?;
            checkpoint.header.check_settings(&self.path, settings)?;
            earlier = Some(checkpoint);
        }
        Ok(OpenCheckpoints {
            reservation,
            interval: self.interval,
            earlier,
        })
    }
}

/// The checkpoints of a run that has not started.
pub(super) struct OpenCheckpoints {
    reservation: Reservation,
    interval: CheckpointInterval,
    earlier: Option<Checkpoint>,
}

impl OpenCheckpoints {
    /// Starts the clock. Also returns the state to resume from, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Checkpoint`] if it belongs to other training data.
    pub fn start(
        self,
        settings: &TrainSettings,
        fingerprint: u64,
    ) -> Result<(Checkpointer, Option<TrainingState<'static>>)> {
        let state = self.earlier.map(|c| c.into_state(fingerprint));
        let state = state.transpose()?;
        let iteration = state.as_ref().map_or(0, |state| state.monitor.iterations);
        let checkpointer = Checkpointer {
            reservation: self.reservation,
            header: CheckpointHeader::new(settings, fingerprint),
            interval: self.interval,
            last: (iteration, Instant::now()),
        };
        Ok((checkpointer, state))
    }
}

fn has_contents(path: &Path) -> Result<bool> {
    match path.metadata() {
        Ok(metadata) => Ok(metadata.len() > 0),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(Error::io(path, e)),
    }
}

/// What a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CheckpointHeader {
    version: String,
    options: String, // JSON
    fingerprint: u64,
}

impl CheckpointHeader {
    fn new(settings: &TrainSettings, fingerprint: u64) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options: serde_json::json!(settings).to_string(),
            fingerprint,
        }
    }

    /// Checks the version and the options.
    fn check_settings(&self, path: &Path, settings: &TrainSettings) -> Result<()> {
        let now = Self::new(settings, self.fingerprint);
        if self.version != now.version {
            return Err(Error::checkpoint(
                path,
                format!(
                    "was written by dropchain {}; expected {}, this version",
                    self.version, now.version
                ),
            ));
        }
        if let Some((name, [then, now])) = self.first_difference(&now) {
            return Err(Error::checkpoint(
                path,
                format!(
                    "was written with {name} {then}, this run has {now}; expected the options of \
                     the interrupted run"
                ),
            ));
        }
        Ok(())
    }

    /// Returns an option that differs, with both values.
    fn first_difference(&self, other: &Self) -> Option<(String, [String; 2])> {
        let [mine, others] = [self, other].map(|header| {
            let options: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(&header.options).unwrap_or_default();
            options
        });
        let differs = |name: &&String| {
            !FREE_OPTIONS.contains(&name.as_str()) && mine.get(*name) != others.get(*name)
        };
        let name = mine.keys().chain(others.keys()).find(differs)?;
        // Some options are written only if they differ from their defaults.
        let values = [&mine, &others].map(|options| match options.get(name) {
            Some(value) => value.to_string(),
            None => "the default".to_owned(),
        });
        Some((name.replace('_', "-"), values))
    }
}

/// The state of a training run.
#[derive(Serialize, Deserialize)]
pub(super) struct TrainingState<'a> {
    /// Number of warm-up iterations, which by default depends on the maximum number of iterations.
    pub(super) warm_up: usize,
    pub(super) monitor: MonitorState<'a>,
    pub(super) algorithm: AlgorithmState<'a>,
}

/// The state of the algorithm.
#[derive(Serialize, Deserialize)]
pub(super) enum AlgorithmState<'a> {
    /// Of L-BFGS.
    Batch(OptimizerState<'a, Terms>),
    /// Of an online learner.
    Online(OnlineState<'a>),
}

/// A checkpoint that was read.
struct Checkpoint {
    path: PathBuf,
    header: CheckpointHeader,
    state: TrainingState<'static>,
}

impl Checkpoint {
    /// Reads a checkpoint. Its checksum is verified before anything is decoded.
    fn read(path: &Path) -> Result<Self> {
        let damaged = |what: &str| {
            Error::checkpoint(
                path,
                format!("is damaged: {what}; remove it to start from the beginning"),
            )
        };
        let io = |e| Error::io(path, e);
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let preamble = (CHECKPOINT_MAGIC.len() + FORMAT.len()) as u64;
        let not_a_checkpoint = || {
            Error::checkpoint(
                path,
                "is not a checkpoint of `train`; expected one to resume",
            )
        };
        let mut reader = BufReader::new(file);
        let mut found = Vec::new();
        let beginning = (&mut reader).take(preamble).read_to_end(&mut found);
        beginning.map_err(io)?;
        if found != [CHECKPOINT_MAGIC, FORMAT].concat() {
            return Err(not_a_checkpoint());
        }
        let Some(body) = metadata.len().checked_sub(preamble + 8) else {
            return Err(damaged("it is cut off"));
        };
        let mut hashed = HashingWriter::new(io::sink());
        hashed.hasher.update(&found);
        io::copy(&mut (&mut reader).take(body), &mut hashed).map_err(io)?;
        let mut sum = [0; 8];
        if reader.read_exact(&mut sum).is_err() || hashed.hasher.digest().to_le_bytes() != sum {
            return Err(damaged("it does not match its checksum"));
        }
        reader.seek(SeekFrom::Start(preamble)).map_err(io)?;
        let mut body = reader.take(body);
        let limited = config::standard().with_limit::<MAX_HEADER>();
        Ok(Self {
            header: decode_from_std_read(&mut body, limited)
                .map_err(|e| damaged(&e.to_string()))?,
            state: decode_from_std_read(&mut body, config::standard())
                .map_err(|e| damaged(&e.to_string()))?,
            path: path.to_owned(),
        })
    }

    /// Returns the state, if the checkpoint was written with the same training data.
    ///
    /// # Errors
    ///
    /// [`Error::Checkpoint`] if it was not.
    fn into_state(self, fingerprint: u64) -> Result<TrainingState<'static>> {
        if self.header.fingerprint != fingerprint {
            return Err(Error::checkpoint(
                self.path,
                "was written with other training data, development data or another template; \
                 expected those of the interrupted run",
            ));
        }
        Ok(self.state)
    }
}

/// Writes the checkpoints of a training run.
pub(super) struct Checkpointer {
    reservation: Reservation,
    header: CheckpointHeader,
    interval: CheckpointInterval,
    last: (usize, Instant), // iteration and time of the last checkpoint
}

impl Checkpointer {
    /// Returns whether it is time for a checkpoint.
    pub fn is_due(&self, iteration: usize) -> bool {
        let (last, time) = self.last;
        match self.interval {
            CheckpointInterval::Iterations(n) => iteration >= last.saturating_add(n.max(1)),
            CheckpointInterval::Time(interval) => iteration > last && time.elapsed() >= interval,
        }
    }

    /// Replaces the checkpoint.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written; the earlier checkpoint is kept.
    pub fn write(&mut self, state: &TrainingState<'_>) -> Result<()> {
        self.last = (state.monitor.iterations, Instant::now());
        let header = &self.header;
        self.reservation
            .replace(&mut |file| encode(header, state, file))
    }
}

fn encode(header: &CheckpointHeader, state: &TrainingState<'_>, file: &File) -> io::Result<()> {
    let config = config::standard();
    let mut writer = HashingWriter::new(BufWriter::new(file));
    writer.write_all(&CHECKPOINT_MAGIC)?;
    writer.write_all(&FORMAT)?;
    encode_into_std_write(header, &mut writer, config).map_err(encode_error)?;
    encode_into_std_write(state, &mut writer, config).map_err(encode_error)?;
    let sum = writer.hasher.digest();
    writer.writer.write_all(&sum.to_le_bytes())?;
    writer.writer.flush()
}

fn encode_error(error: EncodeError) -> io::Error {
    match error {
        EncodeError::Io { inner, .. } => inner,
        other => io::Error::other(other.to_string()),
    }
}

/// Hashes what it writes.
struct HashingWriter<W> {
    writer: W,
    hasher: Xxh3,
}

impl<W> HashingWriter<W> {
    fn new(writer: W) -> Self {
        Self {
            writer,
            hasher: Xxh3::new(),
        }
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
