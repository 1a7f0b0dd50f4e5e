//! The finished segments of a search. Their weights are in a file.
//!
//! Between two rungs every configuration has weights on every fold, which can take many times the
//! memory of the trainings that run concurrently. They are written to an unnamed temporary file and
//! read back bit for bit, which takes far less time than the iterations in between (decision 23).
//! With a [`Checkpoint`], each segment is appended to that as well (decision 28).

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::checkpoint::{Checkpoint, Line, Resumed, damaged};
use super::pool::lock;
use dropchain::error::{Error, Result};
use dropchain::optim::StopReason;
use dropchain::train::{EndReason, SegmentEnd, SegmentTrainer, TrainSettings, TrainingSet};

/// A segment of a search. Indices are those of [`WarmStarts`](super::warm_start::WarmStarts), of
/// the configurations, of folds and of rungs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Job {
    /// A warm start.
    WarmStart { start: usize, fold: usize },
    /// A configuration in a rung.
    Rung {
        rung: usize,
        configuration: usize,
        fold: usize,
    },
    /// A warm start on all data.
    RefitWarmStart { start: usize },
    /// The best configuration in a rung, on all data.
    Refit { rung: usize },
}

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
    /// The last weights, if they were kept.
    pub last: Option<StoredWeights>,
    /// The best weights, if they come from a checkpoint.
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
            store.resumed = checkpoint.begin(identity, |line| {
                let segment = StoredSegment {
                    end: line.end.into_owned(),
                    last: store.write(&line.last)?,
                    best: store.write(&line.best)?,
                };
                lock(&store.earlier).insert(line.job, segment);
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

    /// Adds a finished segment, given without weights, with its `last` and `best` weights if they
    /// are to be kept. Nothing is written of one that was interrupted.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn add(
        &self,
        job: Job,
        end: SegmentEnd,
        [last, best]: [&[f64]; 2],
    ) -> Result<StoredSegment> {
        let mut segment = StoredSegment::from(end);
        if segment.end.reason == Some(EndReason::Optimizer(StopReason::Interrupted)) {
            return Ok(segment);
        }
        segment.last = self.write(last)?;
        let objective = [segment.end.objective];
        let mut numbers = last.iter().chain(best).chain(&objective);
        // JSON has no other numbers. What is missing is trained again.
        if let Some(checkpoint) = self.checkpoint.filter(|_| numbers.all(|x| x.is_finite())) {
            checkpoint.append(&Line {
                job,
                end: Cow::Borrowed(&segment.end),
                last: Cow::Borrowed(last),
                best: Cow::Borrowed(best),
            })?;
        }
        Ok(segment)
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
        trainer: &dyn SegmentTrainer,
        set: &TrainingSet,
        (settings, done): (&TrainSettings, usize),
    ) -> Result<Vec<f64>> {
        let Some(weights) = weights else {
            return Ok(trainer.start(set));
        };
        let (found, expected) = (weights.len, trainer.length(set, settings, done)?);
        match self.checkpoint {
            Some(checkpoint) if found != expected => Err(Error::checkpoint(
                checkpoint.path(),
                damaged(format!("{found} weights, expected {expected}")),
            )),
            _ => self.read(weights),
        }
    }
}

impl From<SegmentEnd> for StoredSegment {
    fn from(end: SegmentEnd) -> Self {
        Self {
            end,
            last: None,
            best: None,
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
        let all = [
            vec![0.1; 3],
            vec![-0.0, f64::MIN_POSITIVE, 1e300],
            vec![f64::NAN],
        ];
        let stored = all
            .each_ref()
            .map(|weights| store.write(weights).unwrap().unwrap());
        for (weights, stored) in all.iter().zip(stored).rev() {
            let bits = |x: &f64| x.to_bits();
            let read = store.read(stored).unwrap();
            assert!(read.iter().map(bits).eq(weights.iter().map(bits)));
        }
        assert_eq!(store.write(&[]).unwrap(), None);
    }
}
