//! What becomes of the input files of `tag --output-dir`: how many were tagged, and which failed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use dropchain::{Error, Result, Sentence};

use crate::{CommandResult, FileName};

/// How much was tagged.
#[derive(Debug, Default)]
pub struct Totals {
    pub sentences: AtomicU64,
    pub tokens: AtomicU64,
}

impl Totals {
    /// Adds a sentence that was tagged.
    pub fn add(&self, sentence: &Sentence) {
        let is_content = !sentence.layout.document_start;
        self.sentences.fetch_add(is_content.into(), Ordering::Relaxed);
        self.tokens.fetch_add(sentence.len() as u64, Ordering::Relaxed);
    }
}

/// Returns a number of files in words.
pub fn files(n: usize) -> String {
    format!("{n} file{}", if n == 1 { "" } else { "s" })
}

/// What has become of the input files so far.
pub struct TagBatch {
    start: Instant,
    keeps_going: bool,
    files: usize, // that were tagged
    /// Number of input files whose output exists.
    pub skipped: usize,
    sentences: u64,
    tokens: u64,
    failed: Vec<String>,
}

impl TagBatch {
    /// Starts a batch; `keeps_going`: an input file with an error does not end it.
    pub fn start(keeps_going: bool) -> Self {
        let (start, failed) = (Instant::now(), Vec::new());
        Self { start, keeps_going, files: 0, skipped: 0, sentences: 0, tokens: 0, failed }
    }

    /// Returns the result of a step of the work on an input file, if it went well.
    ///
    /// # Errors
    ///
    /// The error of the step, unless the batch goes on.
    pub fn check<T>(&mut self, input: &FileName, step: Result<T>) -> Result<Option<T>> {
        match step {
            Ok(result) => Ok(Some(result)),
            Err(error) if self.keeps_going => {
                let message = error.to_string();
                let is_named = message.starts_with(&**input);
                self.failed.push(if is_named { message } else { format!("{input}: {message}") });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Adds an input file that was tagged.
    pub fn add(&mut self, totals: &Totals) {
        self.files += 1;
        self.sentences += totals.sentences.load(Ordering::Relaxed);
        self.tokens += totals.tokens.load(Ordering::Relaxed);
    }

    /// Says how much was tagged.
    pub fn summary(&self) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = self.tokens as f64 / seconds.max(1e-3);
        let mut text = format!(
            "tagged {}: {} sentences, {} tokens in {seconds:.1} s ({rate:.0} tokens/s)",
            files(self.files),
            self.sentences,
            self.tokens
        );
        if self.skipped > 0 {
            text += &format!("; {} skipped, whose output exists", self.skipped);
        }
        text
    }

    /// Ends the batch.
    ///
    /// # Errors
    ///
    /// Lists the input files that failed.
    pub fn end(self) -> CommandResult {
        if self.failed.is_empty() {
            return Ok(());
        }
        let all = self.files + self.skipped + self.failed.len();
        let message = format!("{} of {} failed\n", self.failed.len(), files(all));
        Err(Error::parameter(message + &self.failed.join("\n")).into())
    }
}
