//! Ranks: the processes of a distributed training run, and what they exchange.
//!
//! A rank has a part of the training data. What depends on all data is agreed by three operations
//! ([`Reduce`]), which every rank calls in the same order. MPI has all three; another engine is
//! another implementation.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

    /// Overwrites `bytes` with those of rank 0.
    ///
    /// # Errors
    ///
    /// Same as [`sum`](Self::sum).
    fn broadcast(&mut self, bytes: &mut Vec<u8>) -> Result<()>;

    /// Returns the bytes of all ranks, by rank, on every rank.
    ///
    /// # Errors
    ///
    /// Same as [`sum`](Self::sum).
    fn gather(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>>;
}

/// A shared handle to the communication of a run.
#[derive(Clone)]
pub struct Ranks {
    reduce: Arc<Mutex<dyn Reduce>>,
    rank: usize,
    size: usize,
}

impl Ranks {
    /// Creates a handle.
    #[must_use]
    pub fn new(reduce: impl Reduce + 'static) -> Self {
        Self {
            rank: reduce.rank(),
            size: reduce.size(),
            reduce: Arc::new(Mutex::new(reduce)),
        }
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
    pub fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<()> {
        self.lock().broadcast(bytes)
    }

    /// See [`Reduce::gather`].
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.lock().gather(bytes)
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

    fn lock(&self) -> MutexGuard<'_, dyn Reduce + 'static> {
        self.reduce.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}
