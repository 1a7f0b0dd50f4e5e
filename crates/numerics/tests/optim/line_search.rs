use dropchain_numerics::testing::internal::{
    LineSearchStart, NON_FINITE_SHRINK, SearchMethod, StepSearch, TrialDecision, TrialStep,
    cubic_minimum, shorten,
};

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
