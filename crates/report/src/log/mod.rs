//! Logs of training: JSON lines, written by [`Log`] and read by [`read_runs`].
//!
//! Each line is a [`Record`], an object whose `event` field names its kind: one `start`, a `match`
//! for each model that training continues from, an `iteration` for each iteration of the optimizer
//! (number 0 is the starting point), one `end`. Training in two passes over the documents has such
//! a sequence for each model, after a line `pass`. Training that resumes appends to its log: a line
//! `resumed`, `start`, and the iterations from there on.

mod reader;
mod writer;

use std::borrow::Cow;

use dropchain::train::{End, Iteration, ModelMatch, Pass, Start};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use reader::{Run, read_lines, read_runs};
pub use writer::Log;

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Record<'a> {
    /// The part of training in two passes that follows.
    Pass(Pass),
    /// The state before the first iteration.
    Start {
        /// Properties of the run that the program records.
        #[serde(flatten)]
        header: Cow<'a, Header>,
        /// The training event.
        #[serde(flatten)]
        start: Cow<'a, Start>,
    },
    /// Overlap of the model that training continues from with the data.
    Match(Cow<'a, ModelMatch>),
    /// Training continues after a number of iterations; lines of later ones are void.
    Resumed {
        /// The number of iterations, in the pass that follows.
        iterations: usize,
    },
    /// An iteration.
    Iteration(Cow<'a, Iteration>),
    /// The result of training.
    End(Cow<'a, End>),
    /// Any other line, which readers skip.
    #[serde(other)]
    Other,
}

/// Properties of a run that the program records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of dropchain.
    pub version: String,
    /// Training files.
    pub files: Vec<String>,
    /// Number of threads.
    pub threads: usize,
    /// The command as the user typed it, if the program records it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// Resources that training reads besides corpora.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

impl Header {
    /// Creates the header of a run on `files`, by this version of dropchain in the current thread
    /// pool.
    pub fn new(files: Vec<String>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files,
            threads: rayon::current_num_threads(),
            config: None,
            sources: Vec::new(),
        }
    }
}

/// Something that training reads beside the corpora.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Purpose of the file.
    pub role: String,
    /// Name in the template.
    pub name: String,
    /// The files as the user named them.
    pub files: Vec<String>,
    /// Size in bytes.
    pub bytes: usize,
    /// Further properties of the file.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}
