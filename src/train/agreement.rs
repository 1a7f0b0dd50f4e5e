//! What the ranks of a run agree on besides sums: data, and after every iteration whether to go on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::optim::Iteration;
use crate::ranks::Ranks;

/// Returns the outcome of work that every rank does for itself: an error if it failed on any.
///
/// # Errors
///
/// See [`Ranks::agree`].
pub(super) fn agreed<T>(ranks: Option<&Ranks>, outcome: Result<T>) -> Result<T> {
    match ranks {
        None => outcome,
        Some(ranks) => ranks.agree(outcome),
    }
}

/// Checks that all ranks have the same number; `other` says what a rank has if it does not.
///
/// # Errors
///
/// [`Error::Communication`] names the first rank that has another number than rank 0.
pub(super) fn check_same(ranks: &Ranks, number: u64, other: impl FnOnce() -> String) -> Result<()> {
    let numbers = ranks.gather(&number.to_le_bytes())?;
    match numbers.iter().position(|other| *other != numbers[0]) {
        None => Ok(()),
        Some(rank) => Err(Error::Communication(format!("rank {rank} has {}", other()))),
    }
}

/// The interruption of a run with ranks: all end after the same iteration.
pub(super) struct Agreement<'a> {
    ranks: &'a Ranks,
    request: Option<&'a AtomicBool>, // of this rank
    /// Whether some rank was asked to end.
    pub is_interrupted: AtomicBool,
}

impl<'a> Agreement<'a> {
    pub fn new(ranks: &'a Ranks, request: Option<&'a AtomicBool>) -> Self {
        Self { ranks, request, is_interrupted: AtomicBool::new(false) }
    }

    /// Returns the ranks.
    pub fn ranks(&self) -> &'a Ranks {
        self.ranks
    }

    /// Returns the error that has ended the run on some rank, if there is one.
    pub fn take_failure(&self) -> Option<Error> {
        self.ranks.take_failure()
    }

    /// Agrees on the end after an iteration, given whether this rank goes on. Ranks with other
    /// weights than those of rank 0 end the run: their arithmetic differs.
    pub fn agree<D>(&self, iteration: &Iteration<'_, D>, flow: ControlFlow<()>) -> ControlFlow<()> {
        match self.exchange(iteration, flow.is_break()) {
            Ok(()) => flow,
            Err(error) => {
                self.ranks.fail(error);
                ControlFlow::Break(())
            }
        }
    }

    fn exchange<D>(&self, iteration: &Iteration<'_, D>, ends: bool) -> Result<()> {
        let Self { ranks, request, .. } = self;
        let is_asked = request.is_some_and(|request| request.load(Ordering::Relaxed));
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
        let mut hasher = Xxh3::new();
        for x in iteration.x {
            hasher.update(&x.to_le_bytes());
        }
        check_same(ranks, hasher.digest(), || {
            format!(
                "other weights than rank 0 after iteration {}; expected processors of one kind and \
                 the same program on all machines",
                iteration.number
            )
        })
    }
}
