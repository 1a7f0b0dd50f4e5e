//! Memory limits: how much memory the data and the work on it may take.
//!
//! What is about to be allocated is estimated or counted, and compared with a [`MemoryLimit`], so
//! that too much is an error that says what to do, not the end of the process.

mod available;

use std::fmt;

pub use available::{available_address_space, available_memory};

use crate::error::{Error, Place};

/// The fraction of the available memory that is used by default: estimates are not exact, and other
/// programs need memory too.
const SHARE: f64 = 0.75;

/// How much memory may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryLimit {
    /// Three quarters of the memory that is available when it is needed: that of the machine, or
    /// less if a container, a batch system or `ulimit` limits it. There is no limit where the
    /// system does not report the available memory (only Linux does).
    #[default]
    Available,
    /// This many bytes in all.
    Bytes(u64),
}

impl MemoryLimit {
    /// Returns the number of bytes that may be used in all if `held` bytes are in use already.
    pub fn bytes(self, held: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Available => available_memory().map_or(u64::MAX, |available| {
                ((available as f64 * SHARE) as u64).saturating_add(held)
            }),
        }
    }

    /// Returns the limit for what is added to `held` bytes that are in use.
    #[must_use]
    pub fn beyond(self, held: u64) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_sub(held)),
            Self::Available => Self::Available,
        }
    }

    /// Returns `Err` if `needed` bytes in all exceed the limit while `held` of them are in use.
    ///
    /// # Errors
    ///
    /// The needed memory and the limit, if the limit is exceeded.
    pub fn check(self, needed: u64, held: u64) -> Result<(), OverLimit> {
        let limit = self.bytes(held);
        if needed <= limit {
            return Ok(());
        }
        Err(OverLimit { needed, limit, is_default: self == Self::Available })
    }
}

/// More memory is needed than the limit allows. Displayed as an error message, without advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// The needed memory in bytes.
    pub needed: u64,
    /// The limit in bytes.
    pub limit: u64,
    /// Whether the limit is that of the available memory.
    pub is_default: bool,
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, limit, .. } = *self;
        write!(
            f,
            "about {} of memory needed; the limit is {}{}",
            megabytes(needed),
            megabytes(limit),
            if self.is_default { ", most of the available memory" } else { "" }
        )
    }
}

/// Creates the error for an input that up to `place` takes more than `limit` bytes. The message
/// begins with `what`, subject and verb, and `expected` is what else than a larger limit helps.
pub fn input_over_limit(place: Place, what: &str, limit: u64, expected: &str) -> Error {
    Error::input(
        place,
        format!(
            "{what} more memory than the limit, {}; expected {expected} or a larger limit \
             (`memory`)",
            megabytes(limit)
        ),
    )
}

/// Formats a size in megabytes, rounded up so that the amount that an error message asks for is
/// enough.
pub fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_in_bytes_includes_what_is_held() {
        let limit = MemoryLimit::Bytes(100);
        assert_eq!(limit.bytes(30), 100);
        assert_eq!(limit.beyond(30), MemoryLimit::Bytes(70));
        assert_eq!(limit.beyond(130), MemoryLimit::Bytes(0));
        assert!(limit.check(100, 0).is_ok());
        assert!(limit.check(101, 0).is_err());
    }

    #[cfg(target_os = "linux")] // no other system reports its memory
    #[test]
    fn the_default_limit_is_most_of_what_is_available_beyond_what_is_held() {
        let available = available_memory().unwrap();
        let limit = MemoryLimit::Available;
        assert!(limit.bytes(0) < available && limit.bytes(0) > 0);
        assert!(limit.bytes(1 << 50) >= 1 << 50);
        let error = limit.check(u64::MAX, 0).unwrap_err();
        assert!(error.to_string().ends_with(", most of the available memory"));
    }

    #[test]
    fn an_error_states_what_is_needed_and_the_limit() {
        let error = MemoryLimit::Bytes(4_000_000).check(29_999_999, 0);
        assert_eq!(
            error.unwrap_err().to_string(),
            "about 30 MB of memory needed; the limit is 4 MB"
        );
    }
}
