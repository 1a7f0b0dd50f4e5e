//! Giving up work within a sentence.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Numbers that are set or added between two questions whether work is to end.
pub const STEP: usize = 1 << 21;

/// Ends work whose result nobody needs anymore; by default nothing does.
///
/// The loops over tokens, label sequences and attributes ask it at fixed steps. Once it says so,
/// they end early, and whoever started them returns [`Error::Interrupted`].
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    /// Ends work when `is_set` returns true, which it then always does.
    pub fn new(is_set: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_set)))
    }

    /// Returns whether work is to end.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|is_set| is_set())
    }

    /// Checks that work is to go on.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if it is not.
    #[inline(always)]
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Resizes a vector; an interrupt may leave it shorter, but never longer.
    pub fn resize(&self, numbers: &mut Vec<f64>, length: usize) {
        numbers.truncate(length);
        numbers.reserve(length - numbers.len());
        while numbers.len() < length && !self.is_set() {
            numbers.resize(length.min(numbers.len() + STEP), 0.0);
        }
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Interrupt").field(&self.0.is_some()).finish()
    }
}
