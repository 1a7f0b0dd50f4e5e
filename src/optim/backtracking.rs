//! Line search by backtracking, as in libLBFGS.
//!
//! A step that is too long is halved; one that is too short, because the slope is still steep, is
//! multiplied by 2.1 (the factors of libLBFGS, on which CRFsuite is built). It does not
//! interpolate, so it needs more evaluations on smooth functions than the search of
//! `line_search.rs`; it is here for comparisons with CRFsuite.

use super::line_search::{
    CURVATURE, LineSearchStart, NON_FINITE_SHRINK, TrialDecision, TrialStep, Trials,
};

/// The factor for a step that is too long.
const SHRINK: f64 = 0.5;

/// The factor for a step that is too short.
const GROW: f64 = 2.1;

/// A line search in progress.
#[derive(Debug)]
pub(super) struct BacktrackingSearch {
    pub(super) trials: Trials,
    /// Whether |φ′| must be small (strong Wolfe conditions), or only φ′ not too negative.
    is_strong: bool,
}

impl BacktrackingSearch {
    pub(super) fn new(start: LineSearchStart, is_strong: bool, max_trials: usize) -> Self {
        Self {
            trials: Trials::new(start, max_trials),
            is_strong,
        }
    }

    /// Returns what to do after a trial step.
    pub(super) fn decide(&mut self, trial: TrialStep) -> TrialDecision {
        let is_finite = self.trials.record(trial);
        let start = &self.trials.start;
        let limit = CURVATURE * start.slope; // < 0
        let factor = if !is_finite {
            NON_FINITE_SHRINK
        } else if !start.is_low_enough(trial) {
            SHRINK
        } else if trial.slope < limit {
            GROW
        } else if self.is_strong && trial.slope > -limit {
            SHRINK
        } else {
            return TrialDecision::Accept;
        };
        self.trials.next(factor * trial.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches along (α − 1)²; returns the trial steps and whether the last one was accepted.
    fn search(first: f64, is_strong: bool, max_trials: usize) -> (Vec<f64>, bool) {
        let start = LineSearchStart {
            value: 1.0,
            slope: -2.0,
            lowest: 1.0,
            noise: 0.0,
        };
        let mut search = BacktrackingSearch::new(start, is_strong, max_trials);
        let mut steps = vec![first];
        loop {
            let step = steps[steps.len() - 1];
            let (value, slope) = ((step - 1.0).powi(2), 2.0 * (step - 1.0));
            match search.decide(TrialStep { step, value, slope }) {
                TrialDecision::Accept => return (steps, true),
                TrialDecision::Try(next) => steps.push(next),
                TrialDecision::GiveUp => return (steps, false),
            }
        }
    }

    #[test]
    fn a_long_step_is_halved_until_the_value_has_decreased() {
        assert_eq!(search(6.0, false, 20), (vec![6.0, 3.0, 1.5], true));
    }

    #[test]
    fn a_short_step_grows_until_the_slope_has_flattened() {
        assert_eq!(search(0.05, false, 20), (vec![0.05, 0.05 * 2.1], true));
    }

    #[test]
    fn only_the_strong_conditions_reject_a_slope_that_rises_too_steeply() {
        // at 1.95 the value has decreased by enough, but the slope is 1.9 > 0.9 · 2
        assert_eq!(search(1.95, false, 20), (vec![1.95], true));
        assert_eq!(search(1.95, true, 20), (vec![1.95, 0.975], true));
    }

    #[test]
    fn the_search_ends_at_the_maximum_of_trials() {
        assert_eq!(search(1e9, false, 3).0.len(), 3);
        assert!(!search(1e9, false, 3).1);
    }
}
