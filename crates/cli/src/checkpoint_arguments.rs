//! The arguments for checkpoints of training.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use dropchain::Result;
use dropchain::atomic_file;
use dropchain::train::{CheckpointInterval, Checkpoints};

/// Checkpoints.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArguments {
    /// Write the state of training to this file, to continue with --resume after a crash
    ///
    /// Also when training is interrupted. The file is deleted once the model is written.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint, if there is one, to the same result as without interruption
    ///
    /// Give the same files and options as before; --max-iterations, --patience, --prune,
    /// --precision and --threads may differ (in two passes, --threads alone). Without a checkpoint
    /// training starts from the beginning, so that the same command can always be used.
    #[arg(long, requires = "checkpoint", hide_short_help = true)]
    pub resume: bool,
    /// How often: after N iterations, or after a time such as 30s, 10m or 2h [default: 10m]
    #[arg(
        long,
        value_name = "N|TIME",
        requires = "checkpoint",
        hide_short_help = true,
        hide_long_help = true
    )]
    checkpoint_every: Option<Interval>,
}

impl CheckpointArguments {
    /// Returns the checkpoints of training.
    pub fn checkpoints(&self) -> Option<Checkpoints> {
        let mut checkpoints = Checkpoints::new(self.checkpoint.as_ref()?);
        if let Some(interval) = self.checkpoint_every {
            checkpoints = checkpoints.every(interval.0);
        }
        Some(if self.resume {
            checkpoints.resume()
        } else {
            checkpoints
        })
    }

    /// Removes the checkpoint of a run that is complete.
    pub fn remove(&self) -> Result<()> {
        self.checkpoint.as_ref().map_or(Ok(()), atomic_file::remove)
    }
}

/// The value of `--checkpoint-every`.
#[derive(Clone, Copy, Debug)]
struct Interval(CheckpointInterval);

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected = || "expected a number of iterations, or a time such as 30s, 10m or 2h";
        let digits = text.trim_end_matches(char::is_alphabetic);
        let number: u64 = digits.parse().map_err(|_| expected().to_owned())?;
        let seconds = match &text[digits.len()..] {
            "" if number > 0 => {
                let iterations = usize::try_from(number).unwrap_or(usize::MAX);
                return Ok(Self(CheckpointInterval::Iterations(iterations)));
            }
            "s" => number,
            "m" => number.saturating_mul(60),
            "h" => number.saturating_mul(3600),
            _ => return Err(expected().to_owned()),
        };
        Ok(Self(CheckpointInterval::Time(Duration::from_secs(seconds))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_number_of_iterations_or_a_time() {
        let parse = |text: &str| text.parse::<Interval>().map(|interval| interval.0);
        assert_eq!(parse("25"), Ok(CheckpointInterval::Iterations(25)));
        let time = |seconds| Ok(CheckpointInterval::Time(Duration::from_secs(seconds)));
        assert_eq!(parse("30s"), time(30));
        assert_eq!(parse("10m"), time(600));
        assert_eq!(parse("2h"), time(7200));
        for text in [
            "0",
            "",
            "m",
            "-1",
            "1.5",
            "10 m",
            "1d",
            "99999999999999999999",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                error.starts_with("expected a number of iterations"),
                "{text}"
            );
        }
    }
}
