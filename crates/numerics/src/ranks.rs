//! Ranks: the processes of a distributed training run, and what they exchange.
//!
//! All ranks have the same training data, and each evaluates the objective on a part of the
//! sentences. What they exchange are sums ([`Reduce`]), which every rank calls for in the same
//! order. MPI has them.

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
}

/// A shared handle to the communication of a run.
#[derive(Clone)]
pub struct Ranks {
    reduce: Arc<Mutex<dyn Reduce>>,
    rank: usize,
    size: usize,
    failure: Arc<Mutex<Option<Error>>>,
}

impl Ranks {
    /// Words of 4 bytes that are sent at a time.
    pub(crate) const PIECE: usize = 1 << 20;

    /// Creates a handle.
    pub fn new(reduce: impl Reduce + 'static) -> Self {
        Self {
            rank: reduce.rank(),
            size: reduce.size(),
            reduce: Arc::new(Mutex::new(reduce)),
            failure: Arc::default(),
        }
    }

    /// Returns the number of this rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// See [`Reduce::sum`].
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub fn sum(&self, numbers: &mut [f64]) -> Result<()> {
        let mut reduce = self.reduce.lock().unwrap_or_else(PoisonError::into_inner);
        reduce.sum(numbers)
    }

    /// Returns the bytes of rank `root`, given those of this rank if it is that one: sums in which
    /// the terms of all others are 0.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub fn broadcast(&self, root: usize, own: &[u8]) -> Result<Vec<u8>> {
        let own = if root == self.rank { own } else { &[] };
        let mut length = [own.len() as f64];
        self.sum(&mut length)?;
        let [length] = length.map(|length| length as usize);
        let mut own = own.chunks(4);
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let words = (length - bytes.len()).div_ceil(4).min(Self::PIECE);
            let word = |own: Option<&[u8]>| {
                let mut word = [0; 4];
                let own = own.unwrap_or_default();
                word[..own.len()].copy_from_slice(own);
                f64::from(u32::from_le_bytes(word))
            };
            let mut numbers: Vec<f64> = (0..words).map(|_| word(own.next())).collect();
            self.sum(&mut numbers)?;
            bytes.extend(numbers.iter().flat_map(|&n| (n as u32).to_le_bytes()));
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Returns the bytes of all ranks, by rank, on every rank: for short messages.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        (0..self.size).map(|root| self.broadcast(root, own)).collect()
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
        let message = outcome.as_ref().err().map(Error::to_string).unwrap_or_default();
        let messages = self.gather(message.as_bytes())?;
        let texts = messages.iter().map(|bytes| String::from_utf8_lossy(bytes));
        let failed: Vec<_> = texts.enumerate().filter(|(_, m)| !m.is_empty()).collect();
        let Some((_, first)) = failed.first() else { return outcome };
        // What all ranks say alike concerns none in particular.
        if failed.len() == self.size && failed.iter().all(|(_, message)| message == first) {
            return Err(Error::Communication(first.to_string()));
        }
        let lines: Vec<String> =
            failed.iter().map(|(rank, message)| format!("rank {rank}: {message}")).collect();
        Err(Error::Communication(lines.join("\n")))
    }

    /// Keeps the first error of an evaluation, which returns none.
    pub fn fail(&self, error: Error) {
        self.failure().get_or_insert(error);
    }

    /// Returns the error of an evaluation, if there was one: evaluations themselves have none.
    pub fn take_failure(&self) -> Option<Error> {
        self.failure().take()
    }

    fn failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}
