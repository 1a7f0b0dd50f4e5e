//! Run records: training written down as JSON lines.
//!
//! Each line is an object whose `event` names its kind: one `start`, an `iteration` for each
//! iteration of the optimizer (number 0 is the starting point), one `end`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A line of a run record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Record {
    /// What is known before the first iteration.
    Start(Start),
    /// An iteration.
    Iteration(Iteration),
    /// How training ended.
    End(End),
}

/// What is known before the first iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Version of dropchain.
    pub version: String,
    /// Every training parameter.
    pub parameters: serde_json::Value,
    /// Training files.
    pub files: Vec<String>,
    /// Threads.
    pub threads: usize,
    /// Sentences of training data.
    pub sentences: usize,
    /// Tokens of training data.
    pub tokens: usize,
    /// Unlabeled sentences.
    pub unlabeled_sentences: usize,
    /// Sentences of development data.
    pub dev_sentences: usize,
    /// Number of labels.
    pub labels: usize,
    /// Attributes before collapsing.
    pub attributes: usize,
    /// Classes of attributes after collapsing.
    pub collapsed_attributes: usize,
    /// Number of weights that are trained.
    pub weights: usize,
    /// Attributes per token before collapsing.
    pub active_per_token: f64,
    /// Classes of attributes per token after collapsing.
    pub collapsed_active_per_token: f64,
    /// Bytes of memory that training is about to take.
    pub estimated_memory: usize,
}

/// An iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// Its number.
    pub iteration: usize,
    /// The objective, all terms.
    pub objective: f64,
    /// Σ log p(y|x).
    pub log_likelihood: f64,
    /// The noise term.
    pub dropout: f64,
    /// The L2 term.
    pub l2: f64,
    /// The L1 term.
    pub l1: f64,
    /// Norm of the gradient.
    pub gradient_norm: f64,
    /// Evaluations so far.
    pub evaluations: usize,
    /// Weights that are not zero.
    pub nonzero: usize,
    /// Seconds since reading and extraction ended, without scoring development data.
    pub seconds: f64,
    /// Span F1 on development data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_f1: Option<f64>,
    /// Accuracy on development data, where labels write no spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_accuracy: Option<f64>,
    /// The recall bias of that score, where it is searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall_bias: Option<f64>,
}

/// How training ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Why.
    pub stop_reason: String,
    /// Iterations made.
    pub iterations: usize,
    /// Seconds as in [`Iteration::seconds`].
    pub seconds: f64,
    /// The iteration whose weights are in the model.
    pub best_iteration: usize,
    /// The recall bias that is in the model; 0 is none.
    #[serde(default)]
    pub recall_bias: f64,
}

/// Writes a run record to a file, line by line as things happen.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// None before the first line, so that what fails before it leaves an old record alone.
    file: Option<BufWriter<File>>,
}

impl Log {
    /// A record that its first line will begin, in a new file or over an old one.
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
    /// [`Error::Io`] when the file cannot be made or written.
    pub fn write(&mut self, record: &Record) -> Result<()> {
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
