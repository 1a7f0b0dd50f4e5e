//! The checkpoint of a search, and how a search ends.

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::{Error, Result};
use dropchain_tune::{Checkpoint, TuneResult};

use crate::CommandResult;
use crate::exit::CommandError;
use crate::interrupt::{self, Signal};
use crate::progress::notice;

/// How to survive a crash.
#[derive(Clone, Debug, Args)]
pub struct ResumeArguments {
    /// Write the state of the search to this file, to continue with --resume after a crash
    ///
    /// What has been trained is kept; the file is removed when the results are saved.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the --checkpoint file; if there is none yet, start from the beginning
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

impl ResumeArguments {
    /// Opens the checkpoint, if there is to be one. Without `--resume` its contents are erased when
    /// the search starts.
    ///
    /// # Errors
    ///
    /// The file cannot be written; another search writes it.
    pub fn open(&self) -> Result<Option<Checkpoint>> {
        let open = |path| Checkpoint::open(path, self.resume);
        self.checkpoint.as_ref().map(open).transpose()
    }

    /// Says how to continue a search that did not end, if it has a checkpoint.
    pub fn how_to_continue(&self) -> Option<String> {
        let file = self.checkpoint.as_ref()?;
        Some(format!(
            "to continue the search from {}, repeat the command with --resume",
            file.display()
        ))
    }

    /// Converts the error of a search.
    pub fn failed(&self, error: Error, has_started: bool) -> CommandError {
        if let Some(signal) = interrupt::received() {
            return match has_started {
                true => self.interrupted(signal, error.to_string()),
                false => CommandError::Interrupted(signal, error.to_string()),
            };
        }
        if let Some(how) = self.how_to_continue().filter(|_| has_started) {
            notice(&how);
        }
        error.into()
    }

    /// Ends the command: with an error if a signal has ended the search early. Otherwise the
    /// checkpoint is no longer needed.
    pub fn end(
        &self,
        model: &Path,
        result: &TuneResult,
        printed: CommandResult,
        checkpoint: Option<Checkpoint>,
    ) -> CommandResult {
        if let Some(signal) = interrupt::received().filter(|_| result.interrupted) {
            let fate = match result.refit_iterations {
                Some(0) => "was not written",
                _ => "has the best model so far",
            };
            let message = format!("interrupted by {signal}; {} {fate}", model.display());
            return Err(self.interrupted(signal, message));
        }
        if matches!(printed, Ok(()) | Err(CommandError::OutputClosed)) {
            checkpoint.map_or(Ok(()), Checkpoint::remove)?;
        }
        printed
    }

    /// Returns the error of a search that a signal ended.
    fn interrupted(&self, signal: Signal, message: String) -> CommandError {
        let how = self.how_to_continue();
        let how = how.map_or(String::new(), |how| format!("; {how}"));
        CommandError::Interrupted(signal, message + &how)
    }
}
