//! Ranks: the processes of a distributed training run, and what they exchange.
//!
//! A rank has a part of the training data. What depends on all data is agreed by two operations
//! ([`Reduce`]), which every rank calls in the same order. MPI has both.

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Communication between the ranks 0, …, n − 1 of a run. All ranks call the same operations in the
/// same order.
///
/// Training sums numbers of at most 53 bits with a common unit, so that every order of additions
/// gives the same bits: an implementation may add as it likes, but only in double precision.
pub trait Reduce: Send {
    /// Returns the number of this rank.
    fn rank(&self) -> usize;

    /// Returns the number of ranks n.
    fn size(&self) -> usize;

    /// Overwrites `numbers` with their sums over all ranks. All ranks pass slices of the same
    /// length.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`]: another rank cannot be reached, or has ended.
    fn sum(&mut self, numbers: &mut [f64]) -> Result<()>;

    /// Overwrites `bytes` with those of rank `root`. They may be more than a message can have, and
    /// those of two roots follow one another at once.
    ///
    /// # Errors
    ///
    /// Same as [`sum`](Self::sum).
    fn broadcast(&mut self, root: usize, bytes: &mut Vec<u8>) -> Result<()>;
}

/// A shared handle to the communication of a run.
#[derive(Clone)]
pub struct Ranks {
    reduce: Arc<Mutex<dyn Reduce>>,
    rank: usize,
    size: usize,
    failure: Arc<Mutex<Option<Error>>>,
    own: OwnSentences,
}

/// The sentences of a rank that no other rank has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnSentences {
    None,
    Unlabeled,
    All,
}

impl Ranks {
    /// Creates a handle.
    #[must_use]
    pub fn new(reduce: impl Reduce + 'static) -> Self {
        Self {
            rank: reduce.rank(),
            size: reduce.size(),
            reduce: Arc::new(Mutex::new(reduce)),
            failure: Arc::default(),
            own: OwnSentences::None,
        }
    }

    /// Says that the unlabeled sentences of a rank are its own, and follow those of lower ranks.
    /// All ranks say so, or none: then every rank has all of them.
    #[must_use]
    pub fn with_own_unlabeled(mut self) -> Self {
        self.own = OwnSentences::Unlabeled;
        self
    }

    /// Says that all training sentences of a rank are its own, labeled and unlabeled ones: both
    /// follow those of lower ranks. A rank may have none. Development data are the same on all
    /// ranks.
    #[must_use]
    pub fn with_own_labeled(mut self) -> Self {
        self.own = OwnSentences::All;
        self
    }

    /// Returns whether the unlabeled sentences of this rank are its own.
    #[must_use]
    pub fn has_own_unlabeled(&self) -> bool {
        self.own != OwnSentences::None
    }

    /// Returns whether all training sentences of this rank are its own.
    #[must_use]
    pub fn has_own_labeled(&self) -> bool {
        self.own == OwnSentences::All
    }

    /// Returns the number of this rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// See [`Reduce::sum`].
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub fn sum(&self, numbers: &mut [f64]) -> Result<()> {
        self.lock().sum(numbers)
    }

    /// See [`Reduce::broadcast`].
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.lock().broadcast(root, bytes)
    }

    /// Visits the bytes of each rank on every rank, by rank. At no time does a rank hold those of
    /// several others.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`], or the first of `visit`: no more bytes are visited then, but the
    /// other ranks get those of this one.
    pub fn for_each_rank(
        &self,
        mut own: Vec<u8>,
        mut visit: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        let mut received = Vec::new();
        for root in 0..self.size {
            let bytes = match root == self.rank {
                true => &mut own,
                false => &mut received,
            };
            self.broadcast(root, bytes)?;
            outcome = outcome.and_then(|()| visit(root, bytes));
        }
        outcome
    }

    /// Returns the bytes of all ranks, by rank, on every rank: for short messages.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut all = Vec::with_capacity(self.size);
        self.for_each_rank(own.to_vec(), |_, bytes| {
            all.push(bytes.to_vec());
            Ok(())
        })?;
        Ok(all)
    }

    /// Returns a number of each rank, by rank.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub(crate) fn gather_numbers(&self, number: u64) -> Result<Vec<u64>> {
        let all = self.gather(&number.to_le_bytes())?;
        let numbers = all.iter().map(|bytes| match bytes.as_slice().try_into() {
            Ok(bytes) => Ok(u64::from_le_bytes(bytes)),
            Err(_) => Err(out_of_step()),
        });
        numbers.collect()
    }

    /// Returns a value of each rank, by rank: for small values.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub(crate) fn gather_values<T>(&self, own: &T) -> Result<Vec<T>>
    where
        T: Serialize + DeserializeOwned,
    {
        let mut all = Vec::with_capacity(self.size);
        self.for_each_value(own, |value| all.push(value))?;
        Ok(all)
    }

    /// Visits a value of each rank, by rank.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub(crate) fn for_each_value<T>(&self, own: &T, mut visit: impl FnMut(T)) -> Result<()>
    where
        T: Serialize + DeserializeOwned,
    {
        let own = serde_json::to_vec(own).map_err(|_| out_of_step())?;
        self.for_each_rank(own, |_, bytes| {
            visit(serde_json::from_slice(bytes).map_err(|_| out_of_step())?);
            Ok(())
        })
    }

    /// Returns the sums of counts below 2⁵³ over all ranks.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub(crate) fn sum_counts<const N: usize>(&self, counts: [u64; N]) -> Result<[u64; N]> {
        let mut sums = counts.map(|count| count as f64);
        self.sum(&mut sums)?;
        Ok(sums.map(|sum| sum as u64))
    }

    /// Agrees on the outcome of work that each rank has done: if it failed anywhere, all ranks
    /// fail, with the messages of all that did.
    ///
    /// # Errors
    ///
    /// The error of this rank if it is the only rank; [`Error::Communication`] with one line per
    /// rank that failed, or if a rank cannot be reached.
    pub fn agree<T>(&self, outcome: Result<T>) -> Result<T> {
        if self.size == 1 {
            return outcome;
        }
        let message = match &outcome {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        let messages = self.gather(message.as_bytes())?;
        let texts = messages.iter().map(|bytes| String::from_utf8_lossy(bytes));
        let failed: Vec<_> = texts.enumerate().filter(|(_, m)| !m.is_empty()).collect();
        let Some((_, first)) = failed.first() else {
            return outcome;
        };
        // What all ranks say alike concerns none in particular.
        if failed.len() == self.size && failed.iter().all(|(_, message)| message == first) {
            return Err(Error::Communication(first.to_string()));
        }
        let lines: Vec<String> = failed
            .iter()
            .map(|(rank, message)| format!("rank {rank}: {message}"))
            .collect();
        Err(Error::Communication(lines.join("\n")))
    }

    /// Keeps the first error of an evaluation, which returns none.
    pub(crate) fn fail(&self, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
    }

    /// Returns the error of an evaluation, if there was one: evaluations themselves have none.
    #[must_use]
    pub fn take_failure(&self) -> Option<Error> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }

    fn lock(&self) -> MutexGuard<'_, dyn Reduce + 'static> {
        self.reduce.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the first N bytes of a message of another rank.
///
/// # Errors
///
/// [`Error::Communication`] if there are fewer.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk().ok_or_else(cut_off)?;
    *bytes = rest;
    Ok(*first)
}

/// Takes the first `length` bytes of a message of another rank.
///
/// # Errors
///
/// [`Error::Communication`] if there are fewer.
pub(crate) fn take_slice<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(length).ok_or_else(cut_off)?;
    *bytes = rest;
    Ok(first)
}

fn cut_off() -> Error {
    Error::Communication("a message of another rank is cut off".to_owned())
}

/// The error of ranks that are at different points of the program.
fn out_of_step() -> Error {
    Error::Communication("ranks sent one another different things".to_owned())
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}
