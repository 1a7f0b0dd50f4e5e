//! Line search for the strong Wolfe conditions.
//!
//! Problem: with φ(α) = f(x + αd) and φ′(0) < 0 find α > 0 such that
//!
//! ```text
//! φ(α) ≤ φ(0) + c₁ α φ′(0)      (sufficient decrease, c₁ = 10⁻⁴)
//! |φ′(α)| ≤ c₂ |φ′(0)|          (curvature, c₂ = 0.9)
//! ```
//!
//! Nocedal & Wright 2006, algorithms 3.5 (bracketing) and 3.6 (zoom) in one: `low` is the end of
//! the bracket with the lower value, and its slope descends toward the other end, `high`; until
//! there is a `high`, the step grows. Trial steps minimize the cubic through the values and slopes
//! of both ends (equation 3.59), kept a tenth of the bracket away from the ends. A bracket that two
//! trials have not shrunk by a third is bisected. A trial that is not finite becomes a `high`
//! without value.
//!
//! Rounding: once the values compared lie within the noise of f, the first condition is
//! meaningless. A value that exceeds the lowest known one by no more than the noise is then low
//! enough (with the second condition, the approximate Wolfe condition of Hager & Zhang 2005,
//! equation 4.1), and the zero of the slope is found by the secant rule.
//!
//! The caller evaluates φ; the cost of the search itself is negligible.

/// c₁, as in Nocedal & Wright.
pub(super) const SUFFICIENT_DECREASE: f64 = 1e-4;

/// c₂, as in Nocedal & Wright for quasi-Newton directions: a stricter search costs more evaluations
/// than it saves.
pub(super) const CURVATURE: f64 = 0.9;

/// The factor by which a step shrinks if its value is not finite.
pub(super) const NON_FINITE_SHRINK: f64 = 0.25;

/// Maximum number of evaluations in a line search, like CRFsuite: nearly every one takes one, and
/// twenty tenfold reductions are beyond the resolution of `f64`.
pub(super) const MAX_TRIALS: usize = 20;

/// φ and φ′ at a step; within an orthant the linear change of φ instead of φ′.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TrialStep {
    pub(super) step: f64,
    pub(super) value: f64,
    pub(super) slope: f64,
}

/// The state at the start of a line search.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineSearchStart {
    /// φ(0)
    pub(super) value: f64,
    /// φ′(0) < 0
    pub(super) slope: f64,
    /// The lowest value accepted so far, at most φ(0).
    pub(super) lowest: f64,
    /// The rounding noise of f: values this close count as equal.
    pub(super) noise: f64,
}

impl LineSearchStart {
    /// Returns whether a value is at most the lowest one, up to the noise.
    pub(super) fn is_level(&self, value: f64) -> bool {
        value <= self.lowest + self.noise
    }

    /// Returns whether a trial satisfies the first condition, up to the noise.
    pub(super) fn is_low_enough(&self, trial: TrialStep) -> bool {
        let line = self.value + SUFFICIENT_DECREASE * trial.step * self.slope;
        trial.value <= line || self.is_level(trial.value)
    }

    /// Returns whether a value is below φ(0) by more than the noise.
    pub(super) fn is_decrease(&self, value: f64) -> bool {
        value < self.value - self.noise
    }
}

/// The decision after a trial step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TrialDecision {
    /// Accept the step: it satisfies the conditions.
    Accept,
    /// Evaluate φ and φ′ at this step next.
    Try(f64),
    /// Give up: no evaluations are left.
    GiveUp,
}

/// How a line search finds the next step.
#[derive(Clone, Copy, Debug)]
pub(super) enum SearchMethod {
    /// By brackets, for a smooth function.
    Smooth,
    /// By backtracking within an orthant (`owlqn.rs`); steps are halved, or interpolated.
    Orthant {
        /// Whether they are halved.
        halves: bool,
    },
}

/// A line search in progress.
#[derive(Debug)]
pub(super) struct StepSearch {
    method: SearchMethod,
    pub(super) start: LineSearchStart,
    best: Option<TrialStep>,
    left: usize,             // trials
    low: TrialStep,          // of the search for the strong Wolfe conditions, as are the next two
    high: Option<TrialStep>, // the other end of the bracket
    widths: [f64; 2],        // of the bracket before the last two trials, newest first
}

impl StepSearch {
    pub(super) fn new(start: LineSearchStart, method: SearchMethod, max_trials: usize) -> Self {
        Self {
            method,
            start,
            best: None,
            left: max_trials,
            low: TrialStep { step: 0.0, value: start.value, slope: start.slope },
            high: None,
            widths: [f64::INFINITY; 2],
        }
    }

    /// Returns what to do after a trial step.
    pub(super) fn decide(&mut self, trial: TrialStep) -> TrialDecision {
        self.left = self.left.saturating_sub(1);
        let is_finite = trial.value.is_finite() && trial.slope.is_finite();
        if is_finite && self.best.is_none_or(|best| trial.value < best.value) {
            self.best = Some(trial);
        }
        let next = match self.method {
            SearchMethod::Orthant { halves } => next_in_orthant(self.start, trial, halves),
            SearchMethod::Smooth => self.next_of_bracket(trial, is_finite),
        };
        match next {
            None => TrialDecision::Accept,
            Some(_) if self.left == 0 => TrialDecision::GiveUp,
            Some(step) => TrialDecision::Try(step),
        }
    }

    /// Returns the trial step with the lowest finite value, if that is below φ(0) by more than the
    /// noise.
    pub(super) fn fallback(&self) -> Option<f64> {
        self.best.filter(|best| self.start.is_decrease(best.value)).map(|best| best.step)
    }

    /// Returns the next step of the bracket, unless the trial satisfies the conditions.
    fn next_of_bracket(&mut self, trial: TrialStep, is_finite: bool) -> Option<f64> {
        if is_finite {
            let low_enough = self.start.is_low_enough(trial);
            let is_accepted = low_enough && trial.slope.abs() <= -CURVATURE * self.start.slope;
            return (!is_accepted).then(|| self.shrink_bracket(trial, low_enough));
        }
        self.high = Some(TrialStep { value: f64::INFINITY, slope: f64::NAN, ..trial });
        self.widths = [f64::INFINITY; 2];
        Some(self.low.step + NON_FINITE_SHRINK * (trial.step - self.low.step))
    }

    /// Replaces one end of the bracket by a trial; returns the next step to try.
    fn shrink_bracket(&mut self, trial: TrialStep, low_enough: bool) -> f64 {
        if !low_enough || trial.value > self.low.value + self.start.noise {
            self.high = Some(trial);
            return self.interpolate(trial);
        }
        let previous = std::mem::replace(&mut self.low, trial);
        let has_passed_minimum = match self.high {
            Some(high) => trial.slope * (high.step - previous.step) >= 0.0,
            None => trial.slope >= 0.0,
        };
        if has_passed_minimum {
            self.high = Some(previous);
        }
        match self.high {
            Some(high) => self.interpolate(high),
            None => extrapolate(previous, trial),
        }
    }

    /// Returns a step strictly between `low` and `high`.
    fn interpolate(&mut self, high: TrialStep) -> f64 {
        let low = self.low;
        let width = high.step - low.step;
        let [newer, older] = self.widths;
        self.widths = [width.abs(), newer];
        if width.abs() > 0.66 * older {
            return low.step + 0.5 * width;
        }
        let level = (low.value - high.value).abs() <= self.start.noise;
        let fraction = if level && low.slope * high.slope < 0.0 {
            low.slope / (low.slope - high.slope)
        } else {
            (cubic_minimum(low, high) - low.step) / width
        };
        if fraction.is_nan() {
            return low.step + 0.5 * width;
        }
        low.step + fraction.clamp(0.1, 0.9) * width
    }
}

/// Returns a step beyond `trial`, where φ still decreases steeply: 2 to 10 times as far from
/// `previous`.
fn extrapolate(previous: TrialStep, trial: TrialStep) -> f64 {
    let width = trial.step - previous.step;
    let ahead = (cubic_minimum(previous, trial) - trial.step) / width;
    let ahead = if ahead > 0.0 { ahead } else { 9.0 };
    trial.step + ahead.clamp(1.0, 9.0) * width
}

/// Returns the minimizer of the cubic through the values and slopes of two trials; NaN if there is
/// none.
fn cubic_minimum(a: TrialStep, b: TrialStep) -> f64 {
    let d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.step - b.step);
    let d2 = (d1 * d1 - a.slope * b.slope).sqrt() * (b.step - a.step).signum();
    b.step - (b.step - a.step) * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2)
}

/// Returns the step to try after a trial in an orthant, whose slope is the linear change; `None` if
/// the trial is accepted.
fn next_in_orthant(start: LineSearchStart, trial: TrialStep, halves: bool) -> Option<f64> {
    let TrialStep { step, value, slope: change } = trial;
    let decreased = change < 0.0 && value <= start.value + SUFFICIENT_DECREASE * change;
    // If the linear change itself is within the noise, it is enough that F does not increase.
    let is_accepted = decreased || (change.abs() <= start.noise && start.is_level(value));
    let fraction = if halves { 0.5 } else { shorten(start, value, change) };
    (!is_accepted).then_some(step * fraction)
}

/// Returns the fraction of a rejected step to try next: the minimizer of the parabola through F(x),
/// the linear change and the value at the trial, between a tenth and a half.
fn shorten(start: LineSearchStart, value: f64, change: f64) -> f64 {
    if !value.is_finite() {
        return NON_FINITE_SHRINK;
    }
    let fraction = -change / (2.0 * (value - start.value - change));
    if fraction.is_nan() { 0.5 } else { fraction.clamp(0.1, 0.5) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches along φ; returns the trial steps and whether the last one was accepted.
    fn search(
        phi: impl Fn(f64) -> (f64, f64),
        first: f64,
        noise: f64,
        max_trials: usize,
    ) -> (Vec<f64>, bool) {
        let (value, slope) = phi(0.0);
        let start = LineSearchStart { value, slope, lowest: value, noise };
        let mut search = StepSearch::new(start, SearchMethod::Smooth, max_trials);
        let mut steps = vec![first];
        loop {
            let step = steps[steps.len() - 1];
            let (value, slope) = phi(step);
            match search.decide(TrialStep { step, value, slope }) {
                TrialDecision::Accept => return (steps, true),
                TrialDecision::Try(next) => steps.push(next),
                TrialDecision::GiveUp => return (steps, false),
            }
        }
    }

    /// (α − 1)²
    fn parabola(a: f64) -> (f64, f64) {
        ((a - 1.0).powi(2), 2.0 * (a - 1.0))
    }

    #[test]
    fn the_minimum_of_a_cubic_is_found_exactly() {
        // α³ − 3α: minimum at 1
        let cubic =
            |a: f64| TrialStep { step: a, value: a.powi(3) - 3.0 * a, slope: 3.0 * a * a - 3.0 };
        assert!((cubic_minimum(cubic(0.0), cubic(3.0)) - 1.0).abs() < 1e-14);
        assert!((cubic_minimum(cubic(3.0), cubic(0.0)) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_step_that_satisfies_the_conditions_is_accepted_at_once() {
        assert_eq!(search(parabola, 1.5, 0.0, 20), (vec![1.5], true));
    }

    #[test]
    fn a_short_step_grows_until_the_slope_has_flattened() {
        let (steps, accepted) = search(parabola, 0.001, 0.0, 20);
        assert!(accepted);
        assert!((steps[1] - 0.01).abs() < 1e-12, "{steps:?}");
        assert!(steps.len() <= 4, "{steps:?}");
    }

    #[test]
    fn a_long_step_is_shortened_by_interpolation() {
        let (steps, accepted) = search(parabola, 5.0, 0.0, 20);
        assert_eq!((steps.len(), accepted), (2, true));
        assert!((steps[1] - 1.0).abs() < 1e-14, "{steps:?}");
    }

    #[test]
    fn the_functions_of_more_and_thuente_are_searched_in_few_trials() {
        // J. Moré, D. Thuente 1994, functions 1 and 2
        let first = |a: f64| {
            let (b, d) = (2.0, a * a + 2.0);
            (-a / d * (b / 2.0), (a * a - b) / (d * d))
        };
        let second = |a: f64| {
            let c = a + 0.004;
            (c.powi(5) - 2.0 * c.powi(4), 5.0 * c.powi(4) - 8.0 * c.powi(3))
        };
        for step in [1e-3, 1e-1, 1e1, 1e3] {
            for (steps, accepted) in [search(first, step, 0.0, 20), search(second, step, 0.0, 20)] {
                assert!(accepted && steps.len() <= 14, "{steps:?}");
            }
        }
    }

    #[test]
    fn a_trial_that_is_not_finite_shortens_the_step() {
        let walled = |a: f64| {
            if a > 1.2 { (f64::NAN, f64::INFINITY) } else { parabola(a) }
        };
        let (steps, accepted) = search(walled, 8.0, 0.0, 20);
        assert_eq!((steps, accepted), (vec![8.0, 2.0, 0.5], true));
    }

    #[test]
    fn within_the_noise_the_slope_decides() {
        // 1 + 10⁻¹⁶ (α − 1)²: every value is 1, but the slopes are right
        let flat = |a: f64| (1.0, 2e-16 * (a - 1.0));
        let (steps, accepted) = search(flat, 5.0, 1e-12, 20);
        assert_eq!((steps.len(), accepted), (2, true));
        assert!((steps[1] - 1.0).abs() < 1e-12, "{steps:?}");
    }

    #[test]
    fn a_slope_of_the_wrong_sign_ends_at_the_maximum_of_trials() {
        let (steps, accepted) = search(|a| (a, -1.0), 1.0, 0.0, 7);
        assert_eq!((steps.len(), accepted), (7, false));
        assert!(steps[6] < 1e-4, "{steps:?}");
    }

    #[test]
    fn a_bracket_that_shrinks_slowly_is_bisected() {
        // a kink at 1, hidden from the cubic by a slope of −1 everywhere
        let kink = |a: f64| ((a - 1.0).abs(), -1.0);
        let (steps, accepted) = search(kink, 1e3, 0.0, 30);
        assert!(!accepted);
        assert!((steps[29] - 1.0).abs() < 0.1, "{steps:?}");
    }

    #[test]
    fn a_step_is_shortened_to_the_minimum_of_the_parabola_within_bounds() {
        let start = LineSearchStart { value: 1.0, slope: -1.0, lowest: 1.0, noise: 0.0 };
        assert_eq!(shorten(start, 2.0, -1.0), 0.25);
        assert_eq!(shorten(start, 1e9, -1.0), 0.1);
        assert_eq!(shorten(start, 1.0, -1.0), 0.5);
        assert_eq!(shorten(start, f64::NAN, -1.0), NON_FINITE_SHRINK);
    }
}
