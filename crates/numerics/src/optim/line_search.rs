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
pub const NON_FINITE_SHRINK: f64 = 0.25;

/// Maximum number of evaluations in a line search, like CRFsuite: nearly every one takes one, and
/// twenty tenfold reductions are beyond the resolution of `f64`.
pub(super) const MAX_TRIALS: usize = 20;

/// φ and φ′ at a step; within an orthant the linear change of φ instead of φ′.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialStep {
    /// The step α.
    pub step: f64,
    /// φ(α)
    pub value: f64,
    /// φ′(α), or the linear change.
    pub slope: f64,
}

/// The state at the start of a line search.
#[derive(Clone, Copy, Debug)]
pub struct LineSearchStart {
    /// φ(0)
    pub value: f64,
    /// φ′(0) < 0
    pub slope: f64,
    /// The lowest value accepted so far, at most φ(0).
    pub lowest: f64,
    /// The rounding noise of f: values this close count as equal.
    pub noise: f64,
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
pub enum TrialDecision {
    /// Accept the step: it satisfies the conditions.
    Accept,
    /// Evaluate φ and φ′ at this step next.
    Try(f64),
    /// Give up: no evaluations are left.
    GiveUp,
}

/// How a line search finds the next step.
#[derive(Clone, Copy, Debug)]
pub enum SearchMethod {
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
pub struct StepSearch {
    method: SearchMethod,
    pub(super) start: LineSearchStart,
    best: Option<TrialStep>,
    left: usize,             // trials
    low: TrialStep,          // of the search for the strong Wolfe conditions, as are the next two
    high: Option<TrialStep>, // the other end of the bracket
    widths: [f64; 2],        // of the bracket before the last two trials, newest first
}

impl StepSearch {
    /// Starts a search of at most so many trials.
    pub fn new(start: LineSearchStart, method: SearchMethod, max_trials: usize) -> Self {
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
    pub fn decide(&mut self, trial: TrialStep) -> TrialDecision {
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
pub fn cubic_minimum(a: TrialStep, b: TrialStep) -> f64 {
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
pub fn shorten(start: LineSearchStart, value: f64, change: f64) -> f64 {
    if !value.is_finite() {
        return NON_FINITE_SHRINK;
    }
    let fraction = -change / (2.0 * (value - start.value - change));
    if fraction.is_nan() { 0.5 } else { fraction.clamp(0.1, 0.5) }
}
