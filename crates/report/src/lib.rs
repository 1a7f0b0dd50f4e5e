//! Run records: training events as JSON lines.
//!
//! Each line is an object whose `event` field names its kind: one `start`, a `match` for each model
//! that training continues from, an `iteration` for each
//! iteration of the optimizer (number 0 is the starting point), one `end`. The other fields are
//! those of the training events ([`train::Start`], [`train::Iteration`], [`train::End`]). Training
//! in two passes over the documents has such a sequence for each model, after a line `pass`
//! ([`train::Pass`]).
//!
//! [`read_recorded`] reads them back, for `dropchain report`.

mod log;
mod recorded;

use serde::Serialize;
use serde_json::Value;

pub use log::Log;
pub use recorded::{
    Recorded, RecordedEngine, RecordedGradients, RecordedIteration, RecordedRun, RecordedSearch,
    RecordedTraining, read_recorded,
};

use dropchain::train::{self, AnyOptions};
use dropchain_knowledge::KnowledgePart;

/// A line of a run record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Record<'a> {
    /// The part of training in two passes that follows.
    Pass(train::Pass),
    /// The state before the first iteration.
    Start(Start<'a>),
    /// What a model that training continues from has in common with the data.
    Match(&'a train::ModelMatch),
    /// Clusters, vectors or a gazetteer that were added to the template.
    Knowledge(&'a KnowledgePart),
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
    pub parameters: &'a AnyOptions,
    /// Training files.
    pub files: &'a [String],
    /// Number of threads.
    pub threads: usize,
    /// What the user asked for, if the program says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<&'a Value>,
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
            config: None,
            event,
        }
    }
}

#[cfg(test)]
mod tests;
