//! Checkpoints: the state of a training run in a file, from which it resumes to the same bits.
//!
//! A checkpoint holds the weights, the memory of the learner, the best weights so far and the state
//! of early stopping. It is replaced atomically, and it belongs to the options and the data it was
//! written with: resuming with others is an error. If training has two passes, it also holds what
//! those that have ended leave to later ones, so that none of them is repeated.
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | magic `DROPCKP\n` |
//! | 8–15 | kind and version, `train10\n` |
//! | … | [`Header`], `Option<`[`FinishedPasses`]`>`, `Option<`[`CourseState`]`>` |
//! | … | the state of the learner in its stage |
//! | the last 8 | XXH3-64 of all bytes before, little-endian |
//!
//! The contents are in bincode 2, standard configuration. If training has two passes, there are
//! those that have ended, and the state of the one that has not, once it has made an iteration.
//! Otherwise there is the state alone.
//!
//! It takes 64 to 72 bytes per parameter (with development data the latter), 8 more with reweighted
//! noise; of online learners 16 to 32. Of two passes, the first model and its predictions for the
//! training data come on top.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bincode::config;
use bincode::error::{DecodeError, EncodeError};
use bincode::serde::{decode_from_slice, encode_into_std_write};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::events::{DevScore, End, Observer, Pass};
use super::schedule::{Progress, Schedule};
use super::selection::Selection;
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::model::{Model, NoiseExposure};
use crate::optim::StopReason;
use crate::ranks::Ranks;
use crate::second_pass::Prediction;

/// The first bytes of a checkpoint of any kind.
pub const CHECKPOINT_MAGIC: [u8; 8] = *b"DROPCKP\n";

/// Kind and version of the format.
const FORMAT: [u8; 8] = *b"train10\n";

/// Maximum length of an encoded header, so that a damaged length does not allocate more.
const MAX_HEADER: usize = 1 << 20;

/// Options that have no influence on iterations that were made already, so that a run of one pass
/// may resume with other values. Of two passes, earlier ones have an influence on later ones.
const FREE_OPTIONS: [&str; 4] = ["max_iterations", "patience", "prune", "precision"];

/// Where and how often to write checkpoints of a training run, and whether to resume from one.
#[derive(Clone, Debug)]
#[must_use]
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
        Self { path: path.into(), interval: CheckpointInterval::default(), resume: false }
    }

    /// Sets how often.
    pub fn every(self, interval: CheckpointInterval) -> Self {
        Self { interval, ..self }
    }

    /// Resumes from the checkpoint in the file, if there is one.
    pub fn resume(self) -> Self {
        Self { resume: true, ..self }
    }

    /// Checks that the file can be written. Returns its contents if training is to resume; nothing
    /// if there is none.
    fn read(&self) -> Result<Vec<u8>> {
        if atomic_file::is_special(&self.path) {
            return Err(Error::parameter(format!(
                "{}: is not a regular file; expected the name of a file to write",
                self.path.display()
            )));
        }
        atomic_file::check_writable(&self.path)?;
        if !self.resume {
            return Ok(Vec::new());
        }
        match fs::read(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            contents => contents.map_err(|e| Error::io(&self.path, e)),
        }
    }
}

/// The results of finished passes that later ones need.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct FinishedPasses {
    /// The result of the first pass.
    pub first: Option<FirstPass>,
    /// For each fold whose model is done: the predictions for its sentences.
    pub folds: Vec<Vec<Prediction>>,
}

/// The result of the first pass.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct FirstPass {
    #[serde(with = "model_bytes")]
    pub model: Arc<Model>,
    #[serde(with = "StoredEnd")]
    pub end: End,
}

/// All fields of an [`End`], of which a log has some.
#[derive(Serialize, Deserialize)]
#[serde(remote = "End")]
struct StoredEnd {
    reason: StopReason,
    iterations: usize,
    warm_up: usize,
    time: Duration,
    best_iteration: usize,
    recall_bias: f64,
    regularization: String,
    noise: Option<NoiseExposure>,
    dev: Option<DevScore>,
    dev_mean: Option<f64>,
}

/// Models as the bytes of their files.
mod model_bytes {
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    use super::*;

    pub fn serialize<S: Serializer>(model: &Arc<Model>, serializer: S) -> Result<S::Ok, S::Error> {
        model.as_bytes().serialize(serializer)
    }

    /// Checks that the model is not damaged.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Model>, D::Error> {
        let model = Model::from_bytes(Vec::deserialize(deserializer)?);
        let verified = model.and_then(|model| model.verify().map(|()| model));
        verified.map(Arc::new).map_err(D::Error::custom)
    }
}

/// The identity of a run, by which a checkpoint is matched.
#[derive(Serialize, Deserialize)]
struct Header {
    version: String,
    options: String, // JSON
    passes: usize,
    /// Fingerprint of the data, the template and the models that training continues from.
    fingerprint: u64,
}

impl Header {
    /// Says why a run with the header `now` may not resume from a checkpoint with this one, as far
    /// as version, passes and options are concerned.
    fn conflict(&self, now: &Self) -> Option<String> {
        if self.version != now.version {
            return Some(format!(
                "was written by dropchain {}; expected {}, this version",
                self.version, now.version
            ));
        }
        if self.passes != now.passes {
            let name = |passes| ["one pass", "two passes"][usize::from(passes > 1)];
            return Some(format!(
                "was written by training in {}, this run has {}; expected the template of the \
                 interrupted run",
                name(self.passes),
                name(now.passes)
            ));
        }
        let [then, now] = [self, now].map(|header| -> Map<String, Value> {
            serde_json::from_str(&header.options).unwrap_or_default()
        });
        // Without patience, development data choose nothing.
        let chooses = |options: &Map<String, Value>| options.get("patience") != Some(&0.into());
        let is_free = |name: &str| {
            let is_free = self.passes == 1 && FREE_OPTIONS.contains(&name);
            is_free && (name != "patience" || chooses(&then) == chooses(&now))
        };
        let mut names = then.keys().chain(now.keys());
        let name = names.find(|name| !is_free(name) && then.get(*name) != now.get(*name))?;
        // Some options are written only if they differ from their defaults.
        let [then, now] = [&then, &now].map(|options| match options.get(name) {
            Some(value) => value.to_string(),
            None => "the default".to_owned(),
        });
        Some(format!(
            "was written with {} {then}, this run has {now}; expected the options of the \
             interrupted run",
            name.replace('_', "-")
        ))
    }
}

/// The state of a course after an iteration, as checkpoints hold it.
#[derive(Serialize, Deserialize)]
pub(super) struct CourseState {
    /// The schedule that the run began with: that of the resumed run may differ, since the default
    /// of the warm-up depends on the maximum number of iterations.
    pub schedule: Schedule,
    pub progress: Progress,
    /// Time until the clock was started.
    pub time: Duration,
    pub selection: Selection,
    /// The weights of the iteration that is kept; none without one.
    pub kept: Vec<f64>,
}

/// The state of a learner in a stage of training.
pub(super) struct LearnerState {
    bytes: Vec<u8>, // of the checkpoint, without the checksum
    start: usize,
}

impl LearnerState {
    /// Decodes the state.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]: it is of another type.
    pub fn decode<S: DeserializeOwned>(&self) -> Result<S> {
        let bytes = &self.bytes[self.start..];
        match decode_from_slice(bytes, config::standard()) {
            Ok((state, length)) if length == bytes.len() => Ok(state),
            _ => Err(Error::parameter(
                "the state in the checkpoint is of another learner; remove the checkpoint to start \
                 from the beginning",
            )),
        }
    }
}

/// A run of one or two passes, whose state is in checkpoints if there are to be any.
pub(super) struct Run {
    checkpoints: Option<Checkpoints>,
    is_written: bool, // by this process, not by another rank
    header: Header,
    /// The passes that have ended, of two.
    pub finished: FinishedPasses,
    /// The fingerprint of the checkpoint to resume from, and the state of its pass unless that has
    /// made no iteration; until a pass resumes from it.
    earlier: Option<(u64, Option<(CourseState, LearnerState)>)>,
    last: (usize, Instant), // iteration and time of the last checkpoint
}

impl Run {
    /// Begins a run with 1 or 2 passes: checks that the file of checkpoints can be written, and
    /// reads the one to resume from, if there is one. Of several ranks, rank 0 alone has the file,
    /// and sends it to the others.
    ///
    /// # Errors
    ///
    /// The file cannot be written. [`Error::Checkpoint`] if it is not a checkpoint, is damaged, or
    /// was written by another version, with other settings or by a run with another number of
    /// passes. [`Error::Communication`].
    pub fn begin(
        checkpoints: Option<&Checkpoints>,
        options: String,
        passes: usize,
        ranks: Option<&Ranks>,
    ) -> Result<Self> {
        let mut run = Self {
            checkpoints: checkpoints.cloned(),
            is_written: checkpoints.is_some() && ranks.is_none_or(|ranks| ranks.rank() == 0),
            header: Header {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                options,
                passes,
                fingerprint: 0,
            },
            finished: FinishedPasses::default(),
            earlier: None,
            last: (0, Instant::now()),
        };
        let Some(checkpoints) = checkpoints else { return Ok(run) };
        let mut bytes = if run.is_written { checkpoints.read() } else { Ok(Vec::new()) };
        if let Some(ranks) = ranks {
            bytes = Ok(ranks.broadcast(0, &ranks.agree(bytes)?)?);
        }
        let bytes = bytes?;
        if !bytes.is_empty() {
            run.decode(bytes, &checkpoints.path)?;
        }
        Ok(run)
    }

    /// Decodes the contents of a file. Its checksum is verified before anything is decoded.
    fn decode(&mut self, mut bytes: Vec<u8>, path: &Path) -> Result<()> {
        let damaged = |what: &str| {
            let message = format!("is damaged: {what}; remove it to start from the beginning");
            Error::checkpoint(path, message)
        };
        let mut at = CHECKPOINT_MAGIC.len() + FORMAT.len();
        if !bytes.starts_with(&[CHECKPOINT_MAGIC, FORMAT].concat()) {
            return Err(Error::checkpoint(
                path,
                "is not a checkpoint of `train`; expected one to resume",
            ));
        }
        let end = bytes.len().checked_sub(8).filter(|&end| end >= at);
        let end = end.ok_or_else(|| damaged("it is cut off"))?;
        if xxh3_64(&bytes[..end]).to_le_bytes() != bytes[end..] {
            return Err(damaged("it does not match its checksum"));
        }
        bytes.truncate(end);
        let error = |e: DecodeError| damaged(&e.to_string());
        let limited = config::standard().with_limit::<MAX_HEADER>();
        let (header, length): (Header, usize) =
            decode_from_slice(&bytes[at..], limited).map_err(error)?;
        at += length;
        type Body = (Option<FinishedPasses>, Option<CourseState>);
        let ((finished, state), length): (Body, usize) =
            decode_from_slice(&bytes[at..], config::standard()).map_err(error)?;
        at += length;
        if finished.is_some() != (header.passes > 1) || (finished.is_none() && state.is_none()) {
            return Err(damaged("it does not have the passes that it says"));
        }
        if let Some(conflict) = header.conflict(&self.header) {
            return Err(Error::checkpoint(path, conflict));
        }
        self.finished = finished.unwrap_or_default();
        let state = state.map(|course| (course, LearnerState { bytes, start: at }));
        self.earlier = Some((header.fingerprint, state));
        Ok(())
    }

    /// Returns whether there are two passes.
    pub fn has_two_passes(&self) -> bool {
        self.header.passes > 1
    }

    /// Sets the fingerprint of the data.
    ///
    /// # Errors
    ///
    /// [`Error::Checkpoint`] if the checkpoint to resume from belongs to other data.
    pub fn set_fingerprint(&mut self, fingerprint: impl FnOnce() -> Result<u64>) -> Result<()> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        self.header.fingerprint = fingerprint()?;
        match &self.earlier {
            Some((earlier, _)) if *earlier != self.header.fingerprint => Err(Error::checkpoint(
                &checkpoints.path,
                "was written with other training data, development data or another template; \
                 expected those of the interrupted run",
            )),
            _ => Ok(()),
        }
    }

    /// Begins a pass. Those that have ended are not repeated if the run resumes from a checkpoint.
    pub fn begin_pass(&mut self, pass: Pass, observer: &mut dyn Observer) {
        observer.pass(pass);
        // A pass that has made no iteration has no state to resume from.
        if self.earlier.take_if(|(_, state)| state.is_none()).is_some() {
            observer.resumed(0);
        }
    }

    /// Starts the clock of a pass. Returns the state to resume from, if there is one.
    pub fn start(&mut self) -> Option<(CourseState, LearnerState)> {
        let state = self.earlier.take().and_then(|(_, state)| state);
        let iteration = state.as_ref().map_or(0, |(course, _)| course.progress.iterations);
        self.last = (iteration, Instant::now());
        state
    }

    /// Returns whether this process is to write a checkpoint now.
    pub fn is_due(&self, iteration: usize, is_interrupted: bool) -> bool {
        let written = self.checkpoints.as_ref().filter(|_| self.is_written);
        let Some(Checkpoints { interval, .. }) = written else { return false };
        let (last, time) = self.last;
        let is_time = match *interval {
            CheckpointInterval::Iterations(n) => iteration >= last.saturating_add(n.max(1)),
            CheckpointInterval::Time(interval) => iteration > last && time.elapsed() >= interval,
        };
        is_interrupted || is_time
    }

    /// Replaces the checkpoint, if there is to be one: by that of the passes that have ended, with
    /// the state of another after a number of iterations and that of its learner. If the file
    /// cannot be written, the observer receives the error, and the earlier checkpoint is kept.
    pub fn save<S: Serialize>(
        &mut self,
        state: Option<(&CourseState, S)>,
        observer: &mut dyn Observer,
    ) {
        let Some(checkpoints) = &self.checkpoints else { return };
        observer.checkpoint();
        if let Some((course, _)) = &state {
            self.last = (course.progress.iterations, Instant::now());
        }
        if self.is_written {
            let finished = self.has_two_passes().then_some(&self.finished);
            let contents = (&self.header, finished, state);
            let written =
                atomic_file::replace(&checkpoints.path, |file: &mut File| encode(&contents, file));
            if let Err(error) = written {
                observer.checkpoint_failed(&error);
            }
        }
    }
}

/// Writes a checkpoint.
fn encode(contents: &impl Serialize, file: &File) -> io::Result<()> {
    let mut writer = HashingWriter { writer: BufWriter::new(file), hasher: Xxh3::new() };
    writer.write_all(&CHECKPOINT_MAGIC)?;
    writer.write_all(&FORMAT)?;
    let io_error = |error| match error {
        EncodeError::Io { inner, .. } => inner,
        other => io::Error::other(other.to_string()),
    };
    encode_into_std_write(contents, &mut writer, config::standard()).map_err(io_error)?;
    let sum = writer.hasher.digest();
    writer.writer.write_all(&sum.to_le_bytes())?;
    writer.writer.flush()
}

/// Hashes what it writes.
struct HashingWriter<W> {
    writer: W,
    hasher: Xxh3,
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
