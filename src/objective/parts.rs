//! Sentences that are in memory a part at a time.

use crate::error::Result;
use crate::extract::Dataset;

/// Sentences with their attributes, part by part.
pub trait Parts {
    /// Calls `visit` with each part, in order.
    ///
    /// # Errors
    ///
    /// A part cannot be read, or those of `visit`.
    fn for_each(&self, visit: &mut dyn FnMut(&Dataset) -> Result<()>) -> Result<()>;
}
