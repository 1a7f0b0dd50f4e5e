//! What a checkpoint of training holds, and its file format.
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | magic `DROPCKP\n` |
//! | 8–15 | kind and version, `train 6\n` |
//! | … | [`CheckpointHeader`], `Option<`[`FinishedPasses`]`>`, `Option<`[`TrainingState`]`>` |
//! | … | the state of the learner |
//! | the last 8 | XXH3-64 of all bytes before, little-endian |
//!
//! The contents are in bincode 2, standard configuration. If training has two passes, there are
//! those that have ended, and the state of the one that has not, once it has made an iteration.
//! Otherwise there is the state alone.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use bincode::config;
use bincode::error::{DecodeError, EncodeError};
use bincode::serde::{decode_from_slice, encode_into_std_write};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::finished_passes::FinishedPasses;
use super::segment::BestWeights;
use crate::error::{Error, Result};

/// The first bytes of a checkpoint of any kind.
pub const CHECKPOINT_MAGIC: [u8; 8] = *b"DROPCKP\n";

/// Kind and version of the format.
const FORMAT: [u8; 8] = *b"train 6\n";

/// Maximum length of an encoded header, so that a damaged length does not allocate more.
const MAX_HEADER: usize = 1 << 20;

/// Options that have no influence on iterations that were made already, so that a run of one pass
/// may resume with other values. Of two passes, earlier ones have an influence on later ones.
const FREE_OPTIONS: [&str; 4] = ["max_iterations", "patience", "prune", "precision"];

/// What a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CheckpointHeader {
    version: String,
    options: String, // JSON
    passes: usize,
    /// Of the data, the template and the models that training continues.
    pub fingerprint: u64,
}

impl CheckpointHeader {
    /// Creates the header of a run with 1 or 2 passes, whose fingerprint is not known yet.
    pub fn new(options: String, passes: usize) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options,
            passes,
            fingerprint: 0,
        }
    }

    /// Checks that a run with the header `now` may resume from a checkpoint with this one, as far
    /// as version, passes and options are concerned.
    ///
    /// # Errors
    ///
    /// [`Error::Checkpoint`] if it may not.
    pub fn check(&self, now: &Self, path: &Path) -> Result<()> {
        if self.version != now.version {
            return Err(Error::checkpoint(
                path,
                format!(
                    "was written by dropchain {}; expected {}, this version",
                    self.version, now.version
                ),
            ));
        }
        if self.passes != now.passes {
            let name = |passes| ["one pass", "two passes"][usize::from(passes > 1)];
            return Err(Error::checkpoint(
                path,
                format!(
                    "was written by training in {}, this run has {}; expected the template of the \
                     interrupted run",
                    name(self.passes),
                    name(now.passes)
                ),
            ));
        }
        if let Some((name, [then, now])) = self.first_difference(now) {
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
        let free = match self.passes {
            1 => &FREE_OPTIONS[..],
            _ => &[],
        };
        let differs =
            |name: &&String| !free.contains(&name.as_str()) && mine.get(*name) != others.get(*name);
        let name = mine.keys().chain(others.keys()).find(differs)?;
        // Some options are written only if they differ from their defaults.
        let values = [&mine, &others].map(|options| match options.get(name) {
            Some(value) => value.to_string(),
            None => "the default".to_owned(),
        });
        Some((name.replace('_', "-"), values))
    }
}

/// The state of a training run, or of one of its passes.
#[derive(Serialize, Deserialize)]
pub(super) struct TrainingState<'a, S> {
    /// Number of warm-up iterations, which by default depends on the maximum number of iterations.
    pub(super) warm_up: usize,
    pub(super) course: CourseState<'a>,
    /// The state of the learner, which comes last: its type is known when it continues.
    pub(super) learner: S,
}

/// A stage of a course.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Stage {
    pub earlier_iterations: usize,  // of earlier stages
    pub earlier_evaluations: usize, // of earlier runs
    pub patience_start: usize,      // iteration from which patience counts
    pub skips_start: bool,          // the starting point is the last iterate of an earlier run
    pub has_fixed_length: bool,     // no early stopping
}

/// The state of a course after an iteration.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct CourseState<'a> {
    /// Number of iterations so far.
    pub iterations: usize,
    pub time: Duration,
    pub recall_bias: f64,
    pub run: Stage,
    pub best: Option<Cow<'a, BestWeights>>,
}

/// The state of a learner in a stage of training.
pub(super) struct SavedState {
    /// The name of the stage.
    pub stage: String,
    bytes: Vec<u8>, // of the checkpoint
    range: Range<usize>,
}

impl SavedState {
    /// Decodes the state.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]: it is of another type.
    pub fn decode<S: DeserializeOwned>(&self) -> Result<S> {
        match decode_from_slice(&self.bytes[self.range.clone()], config::standard()) {
            Ok((state, length)) if length == self.range.len() => Ok(state),
            _ => Err(Error::parameter(format!(
                "the state of '{}' in the checkpoint is of another learner; remove the checkpoint \
                 to start from the beginning",
                self.stage
            ))),
        }
    }
}

/// What a checkpoint holds.
pub(super) struct CheckpointContents {
    pub header: CheckpointHeader,
    /// The passes that have ended, if training has two.
    pub finished: Option<FinishedPasses>,
    /// The state of the pass that has not; `None` if it has made no iteration.
    pub state: Option<TrainingState<'static, SavedState>>,
}

impl CheckpointContents {
    /// Decodes the contents of a file. Its checksum is verified before anything is decoded.
    pub fn decode(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        let damaged = |what: &str| {
            let message = format!("is damaged: {what}; remove it to start from the beginning");
            Error::checkpoint(path, message)
        };
        let preamble = [CHECKPOINT_MAGIC, FORMAT].concat();
        if !bytes.starts_with(&preamble) {
            return Err(Error::checkpoint(
                path,
                "is not a checkpoint of `train`; expected one to resume",
            ));
        }
        let Some(end) = bytes
            .len()
            .checked_sub(8)
            .filter(|&end| end >= preamble.len())
        else {
            return Err(damaged("it is cut off"));
        };
        if xxh3_64(&bytes[..end]).to_le_bytes() != bytes[end..] {
            return Err(damaged("it does not match its checksum"));
        }
        let error = |e: DecodeError| damaged(&e.to_string());
        let mut at = preamble.len();
        let limited = config::standard().with_limit::<MAX_HEADER>();
        let (header, length): (CheckpointHeader, usize) =
            decode_from_slice(&bytes[at..end], limited).map_err(error)?;
        at += length;
        type Body = (Option<FinishedPasses>, Option<TrainingState<'static, ()>>);
        let ((finished, state), length): (Body, usize) =
            decode_from_slice(&bytes[at..end], config::standard()).map_err(error)?;
        at += length;
        if finished.is_some() != (header.passes > 1) || (finished.is_none() && state.is_none()) {
            return Err(damaged("it does not have the passes that it says"));
        }
        let state = match state {
            None => None,
            Some(state) => {
                let (stage, length) =
                    decode_from_slice(&bytes[at..end], config::standard()).map_err(error)?;
                let range = at + length..end;
                Some(TrainingState {
                    warm_up: state.warm_up,
                    course: state.course,
                    learner: SavedState {
                        stage,
                        bytes,
                        range,
                    },
                })
            }
        };
        Ok(Self {
            header,
            finished,
            state,
        })
    }
}

/// Writes a checkpoint.
pub(super) fn encode<S: Serialize>(
    header: &CheckpointHeader,
    finished: Option<&FinishedPasses>,
    state: Option<&TrainingState<'_, S>>,
    file: &File,
) -> io::Result<()> {
    let config = config::standard();
    let mut writer = HashingWriter {
        writer: BufWriter::new(file),
        hasher: Xxh3::new(),
    };
    writer.write_all(&CHECKPOINT_MAGIC)?;
    writer.write_all(&FORMAT)?;
    encode_into_std_write(header, &mut writer, config).map_err(encode_error)?;
    encode_into_std_write((finished, state), &mut writer, config).map_err(encode_error)?;
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
