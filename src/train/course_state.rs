//! The state of a course between iterations.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::schedule::{Progress, Schedule};
use super::selection::Selection;

/// The state of a course after an iteration, as checkpoints hold it.
#[derive(Serialize, Deserialize)]
pub(super) struct CourseState {
    /// The schedule that the run began with: that of the resumed run may differ, since the default
    /// of the warm-up depends on the maximum number of iterations.
    pub schedule: Schedule,
    pub progress: Progress,
    /// Time until the clock was started.
    pub time: Duration,
    pub selection: Selection,
    /// The weights of the iteration that is kept; none without one.
    pub kept: Vec<f64>,
}

impl CourseState {
    /// Returns whether the weights that are kept have this dimension.
    pub fn fits(&self, dimension: usize) -> bool {
        self.selection.kept().is_none() || self.kept.len() == dimension
    }
}
