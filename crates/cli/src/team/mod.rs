//! The processes that run a command together: the ranks of `dropchain-mpi`.
//!
//! Each rank reads all files and prepares the training by itself. What one of them finds wrong ends
//! all: errors are agreed upon before training ([`Team::agree`]), and so is that all have read the
//! same ([`Team::check_same`]). After training rank 0 saves the model, and the others end as it
//! does ([`Team::follow_first`]).

mod inputs;

use dropchain::train::{Learner, Ranks};
use dropchain::{Error, Result};

use super::exit::{CommandError, CommandResult};
use super::interrupt::{self, Signal};
pub use inputs::Inputs;

/// Prints `rank N: message`, and ends all ranks at once.
pub type Abort = fn(rank: usize, message: &str) -> !;

/// The ranks of a run; by default this process alone.
#[derive(Default)]
pub struct Team {
    ranks: Option<(Ranks, Abort)>,
    threads: Option<u16>,
}

impl Team {
    /// Creates a team whose ranks have `threads` threads each, unless they are told otherwise.
    pub fn new(ranks: Ranks, threads: usize, abort: Abort) -> Self {
        Self {
            ranks: Some((ranks, abort)),
            threads: u16::try_from(threads).ok(),
        }
    }

    /// Returns the ranks, if there are several.
    pub fn ranks(&self) -> Option<&Ranks> {
        let ranks = self.ranks.as_ref().map(|(ranks, _)| ranks);
        ranks.filter(|ranks| ranks.size() > 1)
    }

    /// Returns whether this is rank 0, which prints and writes files.
    pub fn is_first(&self) -> bool {
        self.ranks().is_none_or(|ranks| ranks.rank() == 0)
    }

    /// Returns the default number of threads; `None` for one per processor.
    pub fn threads(&self) -> Option<u16> {
        self.threads
    }

    /// Rejects standard input, which rank 0 alone has.
    pub fn check_no_stdin<S: AsRef<std::ffi::OsStr>>(
        &self,
        files: impl IntoIterator<Item = S>,
    ) -> Result<()> {
        if self.ranks().is_none() || files.into_iter().all(|file| file.as_ref() != "-") {
            return Ok(());
        }
        Err(Error::parameter(
            "-: standard input reaches rank 0 alone; expected files that all ranks can read",
        ))
    }

    /// Rejects a learner that several ranks cannot divide among them.
    pub fn check_learner(&self, learner: &dyn Learner) -> Result<()> {
        if self.ranks().is_none() {
            return Ok(());
        }
        learner.check_ranks()
    }

    /// Agrees on the outcome of work that each rank has done: if it failed anywhere, all ranks
    /// fail.
    pub fn agree<T>(&self, outcome: CommandResult<T>) -> CommandResult<T> {
        let Some(ranks) = self.ranks() else {
            return outcome;
        };
        match outcome {
            Ok(value) => Ok(ranks.agree(Ok(value))?),
            Err(CommandError::Failed(error)) => Ok(ranks.agree(Err(error))?),
            // Wrong arguments are the same everywhere, and keep their exit code.
            Err(error) => {
                let message = error.message().unwrap_or_default();
                let _ = ranks.agree::<()>(Err(Error::parameter(message)));
                Err(error)
            }
        }
    }

    /// Fails if a rank has read something else than rank 0.
    pub fn check_same(&self, inputs: impl FnOnce() -> Result<Inputs>) -> CommandResult {
        let Some(ranks) = self.ranks() else {
            return Ok(());
        };
        let inputs = ranks.agree(inputs())?;
        let all = ranks.gather(&inputs.encode())?;
        let all: Vec<Inputs> = all.iter().map(|bytes| Inputs::decode(bytes)).collect();
        let differences: Vec<String> = all
            .iter()
            .enumerate()
            .filter_map(|(rank, other)| {
                let what = other.difference(&all[0])?;
                Some(format!("rank {rank} {what} than rank 0"))
            })
            .collect();
        if differences.is_empty() {
            return Ok(());
        }
        Err(Error::Communication(format!(
            "{}; expected the same files and options on all machines",
            differences.join("\n")
        ))
        .into())
    }

    /// Agrees on the signal that ended training: one that any rank has received. An error that this
    /// rank may have alone ends all ranks at once: the others wait for it.
    pub fn trained<T>(&self, outcome: Result<T>) -> Result<T> {
        let Some((ranks, abort)) = self.ranks.as_ref().filter(|(ranks, _)| ranks.size() > 1) else {
            return outcome;
        };
        if let Err(error @ Error::Io { .. }) = &outcome {
            abort(ranks.rank(), &error.to_string());
        }
        let trained = outcome?;
        let own = interrupt::received().map_or(0, Signal::number);
        let numbers = ranks.gather(&[own])?.concat();
        if let Some(&number) = numbers.iter().find(|&&number| number > 0) {
            interrupt::adopt(Signal::from(number));
        }
        Ok(trained)
    }

    /// Ends as rank 0 does, whose result this is on rank 0. The others wait for it.
    pub fn follow_first(&self, result: CommandResult) -> CommandResult {
        let Some(ranks) = self.ranks() else {
            return result;
        };
        let code = result.as_ref().map_or_else(CommandError::code, |()| 0);
        let codes = ranks.gather(&[code])?;
        match codes.concat().first() {
            Some(&code) if code > 0 && ranks.rank() > 0 => Err(CommandError::Elsewhere(code)),
            _ => result,
        }
    }
}

#[cfg(test)]
mod tests;
