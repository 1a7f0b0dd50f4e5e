//! Events of a search.

use super::checkpoint::Resumed;
use super::resource_plan::ResourcePlan;
use super::schedule::Rung;
use super::trial::TrialResult;

/// A phase of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Training the warm starts, without noise.
    WarmStart,
    /// The rung with this number, from 0.
    Rung(usize),
    /// Training the best configuration on all data, for this many iterations.
    Refit(usize),
}

/// The end of a rung.
#[derive(Clone, Debug, PartialEq)]
pub struct RungResult {
    /// The rung.
    pub rung: Rung,
    /// The configurations that took part, in their order.
    pub trials: Vec<TrialResult>,
}

/// Receives the events of a search. `()` ignores them all.
pub trait TuneObserver: Sync {
    /// Called before the first training.
    fn start(&self, _plan: &ResourcePlan, _rungs: &[Rung]) {}
    /// Called after [`start`](Self::start) if the search is to continue from a checkpoint. All
    /// further events are sent again from the beginning.
    fn resumed(&self, _resumed: &Resumed) {}
    /// Called when a configuration, and all before it in the rung, have ended the rung with this
    /// number, from 0: in the order of the configurations.
    fn trial(&self, _rung: usize, _result: &TrialResult) {}
    /// Called when `done` of the `total` trainings of a phase have ended.
    fn progress(&self, _phase: Phase, _done: usize, _total: usize) {}
    /// Called at the end of a rung.
    fn rung(&self, _result: &RungResult) {}
}

impl TuneObserver for () {}
