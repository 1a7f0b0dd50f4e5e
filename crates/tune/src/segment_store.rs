//! The finished segments of a search, in memory without their weights, which are in the journal.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use bincode::config::{self, Configuration, Fixint, Limit, LittleEndian};
use bincode::serde::{decode_from_slice, encode_to_vec};
use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::identity::SearchIdentity;
use super::journal::{Journal, MAX_DESCRIPTION, Record, Records, StoredWeights};
use super::pool::lock;
use dropchain::error::{Error, Result};
use dropchain::optim::StopReason;
use dropchain::train::{
    BestWeights, EndReason, SegmentEnd, SegmentTrainer, TrainSettings, TrainingSet,
};

/// How descriptions are encoded. Integers have a fixed length, so that the decoder's limit is
/// nearly the length of what it reads.
const ENCODING: Configuration<LittleEndian, Fixint, Limit<{ 2 * MAX_DESCRIPTION }>> =
    config::standard()
        .with_fixed_int_encoding()
        .with_limit::<{ 2 * MAX_DESCRIPTION }>();

/// Maximum number of iterations in a record. No training has that many.
const MAX_ITERATIONS: usize = u32::MAX as usize;

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

/// A finished segment, and where its weights are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredSegment {
    /// The segment without any weights.
    pub end: SegmentEnd,
    /// The last weights, if they were kept.
    pub last: Option<StoredWeights>,
    /// The best weights, if they were kept.
    pub best: Option<StoredWeights>,
}

/// Which weights of a segment to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keep {
    pub last: bool,
    pub best: bool,
}

/// The finished segments of a search.
#[derive(Debug)]
pub(super) struct SegmentStore {
    journal: Journal,
    earlier: Mutex<HashMap<Job, StoredSegment>>, // not yet taken
    resumed: Option<Resumed>,
}

/// What a search continues from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Number of finished segments, which are not trained again.
    pub segments: usize,
    /// Whether the checkpoint ended within a segment, which is trained again.
    pub was_torn: bool,
}

#[derive(Serialize, Deserialize)]
struct SegmentRecord {
    job: Job,
    end: SegmentEnd,     // without weights
    last_weights: usize, // number; the best weights follow
}

impl SegmentStore {
    /// Opens the store of a search: of a checkpoint, or in a temporary file.
    ///
    /// # Errors
    ///
    /// The file cannot be written; the checkpoint to resume is damaged or belongs to another
    /// search.
    pub fn open(checkpoint: Option<&Checkpoint>, identity: &SearchIdentity) -> Result<Self> {
        let Some(checkpoint) = checkpoint else {
            return Ok(Self::new(Journal::temporary()?));
        };
        let path = checkpoint.path();
        if checkpoint.resume() {
            let records = Records::read(&checkpoint.file()?, path)?;
            if let Some(first) = records.all.first() {
                check_identity(path, first, identity)?;
                let journal = Journal::resume(checkpoint.file()?, path, &records)?;
                return Self::with_records(journal, &records);
            }
        }
        let journal = Journal::create(checkpoint.file()?, path)?;
        journal.append(&encode(identity)?, [&[], &[]])?;
        checkpoint.sync_directory();
        Ok(Self {
            resumed: checkpoint.resume().then(Resumed::default),
            ..Self::new(journal)
        })
    }

    fn new(journal: Journal) -> Self {
        Self {
            journal,
            earlier: Mutex::default(),
            resumed: None,
        }
    }

    fn with_records(journal: Journal, records: &Records) -> Result<Self> {
        let mut earlier = HashMap::new();
        for record in &records.all[1..] {
            let (job, segment) = decode_segment(record)
                .ok_or_else(|| journal.damaged("a record does not describe a segment"))?;
            earlier.insert(job, segment);
        }
        let resumed = Resumed {
            segments: earlier.len(),
            was_torn: records.was_torn,
        };
        Ok(Self {
            journal,
            earlier: Mutex::new(earlier),
            resumed: Some(resumed),
        })
    }

    /// Returns what the search continues from; `None` unless it is to resume a checkpoint.
    pub fn resumed(&self) -> Option<Resumed> {
        self.resumed
    }

    /// Returns whether segments are kept in a checkpoint.
    pub fn is_durable(&self) -> bool {
        self.journal.is_durable()
    }

    /// Takes a segment that an earlier run finished.
    pub fn take(&self, job: Job) -> Option<StoredSegment> {
        lock(&self.earlier).remove(&job)
    }

    /// Adds a finished segment; one that was interrupted is not finished, and nothing is written.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn add(&self, job: Job, end: &SegmentEnd, keep: Keep) -> Result<StoredSegment> {
        if end.reason == Some(EndReason::Optimizer(StopReason::Interrupted)) {
            return Ok(StoredSegment::without_weights(end));
        }
        let last = if keep.last { &end.theta[..] } else { &[] };
        let best = end.best.as_ref().filter(|_| keep.best);
        let best = best.map_or(&[][..], |best| &best.theta);
        let record = SegmentRecord {
            job,
            end: without_weights(end),
            last_weights: last.len(),
        };
        let stored = self.journal.append(&encode(&record)?, [last, best])?;
        let weights = stored.split_at(last.len());
        let weights = weights.ok_or_else(|| self.journal.damaged("weights are missing"))?;
        Ok(StoredSegment::new(record.end, weights))
    }

    /// Reads weights.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read(&self, weights: StoredWeights) -> Result<Vec<f64>> {
        self.journal.read(weights)
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
        match weights {
            None => Ok(trainer.start(set)),
            Some(weights) => self.read_sized(weights, trainer.length(set, settings, done)?),
        }
    }

    /// Reads `dimension` weights.
    fn read_sized(&self, weights: StoredWeights, dimension: usize) -> Result<Vec<f64>> {
        if weights.len() != dimension {
            let what = format!("{} weights, expected {dimension}", weights.len());
            return Err(self.journal.damaged(&what));
        }
        self.read(weights)
    }
}

impl StoredSegment {
    /// Creates a segment that is not continued.
    pub fn without_weights(end: &SegmentEnd) -> Self {
        Self {
            end: without_weights(end),
            last: None,
            best: None,
        }
    }

    fn new(end: SegmentEnd, [last, best]: [StoredWeights; 2]) -> Self {
        let kept = |weights: StoredWeights| (weights.len() > 0).then_some(weights);
        Self {
            end,
            last: kept(last),
            best: kept(best),
        }
    }
}

fn without_weights(end: &SegmentEnd) -> SegmentEnd {
    SegmentEnd {
        theta: Vec::new(),
        scores: end.scores.clone(),
        recall_biases: end.recall_biases.clone(),
        active_attributes: end.active_attributes.clone(),
        best: end.best.as_ref().map(|best| BestWeights {
            theta: Vec::new(),
            ..*best
        }),
        ..*end
    }
}

fn check_identity(path: &Path, first: &Record, identity: &SearchIdentity) -> Result<()> {
    let decoded = decode_from_slice(&first.description, ENCODING);
    let Ok((then, _)): Result<(SearchIdentity, usize), _> = decoded else {
        return Err(Error::checkpoint(
            path,
            "is damaged: its first record describes no search; remove it to start from the \
             beginning",
        ));
    };
    then.difference(identity).map_or(Ok(()), |difference| {
        let message = format!("{difference}; expected the search that was interrupted");
        Err(Error::checkpoint(path, message))
    })
}

fn encode(value: &impl Serialize) -> Result<Vec<u8>> {
    encode_to_vec(value, ENCODING)
        .map_err(|e| Error::parameter(format!("cannot encode a record of the search: {e}")))
}

/// Decodes and validates a segment. The checksums have been verified, so only a forged one fails.
fn decode_segment(record: &Record) -> Option<(Job, StoredSegment)> {
    let decoded = decode_from_slice(&record.description, ENCODING);
    let (
        SegmentRecord {
            job,
            end,
            last_weights,
        },
        _,
    ) = decoded.ok()?;
    let iterations = [end.done, end.best.as_ref().map_or(0, |best| best.iteration)];
    let is_valid = iterations.iter().all(|&n| n <= MAX_ITERATIONS)
        && end.scores.len() == end.recall_biases.len()
        && [0, end.scores.len()].contains(&end.active_attributes.len())
        && end.theta.is_empty()
        && end.best.as_ref().is_none_or(|best| best.theta.is_empty());
    let weights = record.weights.split_at(last_weights)?;
    is_valid.then(|| (job, StoredSegment::new(end, weights)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropchain::train::DevScore;

    fn segment() -> SegmentEnd {
        SegmentEnd {
            theta: vec![1.0, -0.0, f64::MIN_POSITIVE],
            done: 7,
            objective: f64::NAN,
            scores: vec![DevScore::F1(0.5), DevScore::Accuracy(0.25)],
            recall_biases: vec![0.0, 1.5],
            active_attributes: vec![70_000, 3],
            best: Some(BestWeights {
                iteration: 3,
                score: DevScore::F1(0.5),
                recall_bias: 0.1,
                theta: vec![0.1; 3],
            }),
            reason: Some(EndReason::Optimizer(StopReason::LineSearch)),
            recall_bias: 0.1 + 0.2,
        }
    }

    #[test]
    fn a_segment_is_decoded_as_it_was_encoded() {
        let record = SegmentRecord {
            job: Job::Refit { rung: 2 },
            end: without_weights(&segment()),
            last_weights: 0,
        };
        let description = encode(&record).unwrap();
        let journal = Journal::temporary().unwrap();
        let weights = journal.append(&description, [&[], &[]]).unwrap();
        let (job, stored) = decode_segment(&Record {
            description,
            weights,
        })
        .unwrap();
        assert_eq!(job, Job::Refit { rung: 2 });
        // The objective is not a number, and so not equal to itself.
        assert_eq!(format!("{:?}", stored.end), format!("{:?}", record.end));
    }

    #[test]
    fn only_the_weights_to_keep_are_kept() {
        let store = SegmentStore::new(Journal::temporary().unwrap());
        for (last, best) in [(false, false), (true, false), (false, true), (true, true)] {
            let job = Job::WarmStart { start: 0, fold: 0 };
            let stored = store.add(job, &segment(), Keep { last, best }).unwrap();
            let read = |weights: StoredWeights| store.read_sized(weights, 3).unwrap();
            assert_eq!(stored.last.map(read), last.then(|| segment().theta));
            assert_eq!(stored.best.map(read), best.then(|| vec![0.1; 3]));
            if let Some(weights) = stored.last {
                assert!(store.read_sized(weights, 4).is_err());
            }
        }
    }
}
