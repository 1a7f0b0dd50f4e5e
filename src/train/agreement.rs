//! The interruption of a run, and what its ranks agree on besides sums: data, and after every
//! iteration whether to go on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::optim::Iteration;
use crate::ranks::Ranks;

/// The interruption of a run. With ranks, all end after the same iteration.
pub(super) struct Agreement<'a> {
    pub ranks: Option<&'a Ranks>,
    request: Option<&'a AtomicBool>, // of this rank
    is_interrupted: AtomicBool,      // whether some rank was asked to end
}

impl<'a> Agreement<'a> {
    pub fn new(ranks: Option<&'a Ranks>, request: Option<&'a AtomicBool>) -> Self {
        Self { ranks, request, is_interrupted: AtomicBool::new(false) }
    }

    /// Returns the flag that ends training at the next evaluation.
    pub fn interrupt(&self) -> Option<&AtomicBool> {
        match self.ranks {
            None => self.request,
            Some(_) => Some(&self.is_interrupted),
        }
    }

    /// Returns the outcome of work that every rank does for itself: an error if it failed on any.
    ///
    /// # Errors
    ///
    /// See [`Ranks::agree`].
    pub fn outcome<T>(&self, outcome: Result<T>) -> Result<T> {
        match self.ranks {
            None => outcome,
            Some(ranks) => ranks.agree(outcome),
        }
    }

    /// Checks that all ranks have the same number; `other` says what a rank has if it does not.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`] names the first rank that has another number than rank 0.
    pub fn check_same(&self, number: impl FnOnce() -> u64, other: &str) -> Result<()> {
        let Some(ranks) = self.ranks else { return Ok(()) };
        let numbers = ranks.gather(&number().to_le_bytes())?;
        match numbers.iter().position(|other| *other != numbers[0]) {
            None => Ok(()),
            Some(rank) => Err(Error::Communication(format!("rank {rank} has {other}"))),
        }
    }

    /// Agrees on the end after an iteration, given whether this rank goes on. Ranks with other
    /// weights than those of rank 0 end the run: their arithmetic differs.
    pub fn agree<D>(&self, iteration: &Iteration<'_, D>, flow: ControlFlow<()>) -> ControlFlow<()> {
        let Some(ranks) = self.ranks else { return flow };
        match self.exchange(ranks, iteration, flow.is_break()) {
            Ok(()) => flow,
            Err(error) => {
                ranks.fail(error);
                ControlFlow::Break(())
            }
        }
    }

    fn exchange<D>(&self, ranks: &Ranks, iteration: &Iteration<'_, D>, ends: bool) -> Result<()> {
        let is_asked = self.request.is_some_and(|request| request.load(Ordering::Relaxed));
        let mut counts = [is_asked, ends].map(|flag| f64::from(u8::from(flag)));
        ranks.sum(&mut counts)?;
        let [asked, ended] = counts;
        if asked > 0.0 {
            self.is_interrupted.store(true, Ordering::Relaxed);
        }
        if ended > 0.0 {
            return match ends {
                true => Ok(()),
                false => Err(Error::Communication(format!(
                    "another rank ended training after iteration {}",
                    iteration.number
                ))),
            };
        }
        let hash = || {
            let mut hasher = Xxh3::new();
            iteration.x.iter().for_each(|x| hasher.update(&x.to_le_bytes()));
            hasher.digest()
        };
        let other = format!(
            "other weights than rank 0 after iteration {}; expected processors of one kind and the \
             same program on all machines",
            iteration.number
        );
        self.check_same(hash, &other)
    }
}
