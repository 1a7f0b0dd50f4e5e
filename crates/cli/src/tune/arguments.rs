//! The arguments of `dropchain tune` that define the search, and its checkpoint.

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::{Error, Result};
use dropchain_tune::{Axis, Checkpoint, Configuration, SearchSpace, SettingsOf, TuneResult};

use crate::interrupt::{self, Signal};
use crate::{CommandError, CommandResult, notice};

/// What is searched, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search space")]
pub struct SearchArguments {
    /// Amount of feature noise; 0 for none [default: several rates around the default of `train`]
    #[arg(long, value_name = "VALUES")]
    dropout: Option<Axis>,
    /// Noise on transitions, boundary weights and edge attributes [default: that of --dropout]
    #[arg(long, value_name = "VALUES")]
    edge_dropout: Option<Axis>,
    /// Strength of the L2 penalty [default: several strengths around the defaults of `train`]
    #[arg(long, value_name = "VALUES")]
    l2: Option<Axis>,
    /// Strength of the L1 penalty [default: 0]
    #[arg(long, value_name = "VALUES")]
    l1: Option<Axis>,
    /// Weight of an unlabeled sentence, relative to a labeled one [default: that of `train`]
    #[arg(long, value_name = "VALUES", requires = "unlabeled")]
    unlabeled_weight: Option<Axis>,
    /// Warm-up iterations without noise [default: 20, or half of --max-iterations if less]
    #[arg(long, value_name = "VALUES")]
    warm_up: Option<Axis>,
    /// How to compute the gradient of the noise term: one engine or several [default: exact]
    ///
    /// The values are those of `train`, for example `exact,window=2`.
    #[arg(long, value_name = "ENGINES")]
    pub gradient: Option<String>,
    /// No grid: options that are not given have the value that `train` gives them
    ///
    /// With --folds alone, this is the cross-validation of a single configuration.
    #[arg(long, help_heading = "Search strategy")]
    only_defaults: bool,
    /// Sample N random configurations [default: try all combinations]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Search strategy")]
    random: Option<usize>,
    /// Random seed for configurations, folds, sampled noise and online algorithms
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = "Search strategy")]
    pub seed: u64,
}

impl SearchArguments {
    /// Returns the configurations to try, with defaults for what is not given.
    pub fn configurations(
        &self,
        templates: &[String],
        settings_of: &SettingsOf<'_>,
    ) -> Result<Vec<Configuration>> {
        let gradient = self.gradient.as_ref().map(|names| names.parse()).transpose()?;
        let axes = [
            ("dropout", &self.dropout),
            ("edge_dropout", &self.edge_dropout),
            ("l2", &self.l2),
            ("l1", &self.l1),
            ("unlabeled_weight", &self.unlabeled_weight),
            ("warm_up", &self.warm_up),
            ("gradient", &gradient),
        ];
        let axes = axes.into_iter().filter_map(|(option, axis)| Some((option, axis.clone()?)));
        let space = SearchSpace::new(templates, axes, self.only_defaults, settings_of)?;
        match self.random {
            None => space.grid(),
            Some(count) => space.random(count, self.seed),
        }
    }
}

/// How to survive a crash.
#[derive(Clone, Debug, Args)]
pub struct ResumeArguments {
    /// Write finished runs to this file, to continue with --resume after a crash
    ///
    /// The file is removed when the results are saved.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the --checkpoint file; if there is none yet, start from the beginning
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

impl ResumeArguments {
    /// Says how to continue a search that did not end, if it has a checkpoint.
    pub fn how_to_continue(&self) -> Option<String> {
        let file = self.checkpoint.as_ref()?.display();
        Some(format!("to continue the search from {file}, repeat the command with --resume"))
    }

    /// Returns the error of a command whose search failed or was interrupted. If it has started,
    /// the error says how to continue.
    pub fn failed(&self, error: Error, has_started: bool) -> CommandError {
        let how = self.how_to_continue().filter(|_| has_started);
        if let Some(signal) = interrupt::received() {
            return interrupted(signal, error.to_string(), how);
        }
        how.iter().for_each(|how| notice(how));
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
            let has = result.has_learned();
            let fate = if has { "has the best model so far" } else { "was not written" };
            let message = format!("interrupted by {signal}; {} {fate}", model.display());
            return Err(interrupted(signal, message, self.how_to_continue()));
        }
        if matches!(printed, Ok(()) | Err(CommandError::OutputClosed)) {
            checkpoint.map_or(Ok(()), Checkpoint::remove)?;
        }
        printed
    }
}

/// Returns the error of a search that a signal ended, which says how to continue.
fn interrupted(signal: Signal, message: String, how: Option<String>) -> CommandError {
    let how = how.map_or(String::new(), |how| format!("; {how}"));
    CommandError::Interrupted(signal, message + &how)
}
