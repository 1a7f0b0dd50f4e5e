use dropchain_numerics::optim::LbfgsOptions;
use dropchain_numerics::testing::internal::ConvergenceTest;

/// Returns the iteration at which a sequence of (value, gradient norm) stops.
fn stop(options: &LbfgsOptions, sequence: impl Fn(usize) -> (f64, f64)) -> Option<usize> {
    let (value, norm) = sequence(0);
    let mut test = ConvergenceTest::new(value, norm);
    (1..=1000).find(|&k| {
        let (value, norm) = sequence(k);
        test.record_step(value, norm, options.period);
        test.is_converged(options)
    })
}

fn options(improvement_tolerance: f64) -> LbfgsOptions {
    let improvement_tolerance = Some(improvement_tolerance);
    LbfgsOptions { improvement_tolerance, period: 4, ..LbfgsOptions::default() }
}

#[test]
fn the_improvement_is_measured_over_the_period_relative_to_the_value() {
    // decreases by 8 in 4 iterations, 1.01 % of the value 792 after them
    let line = |k: usize| (800.0 - 2.0 * k as f64, 1.0);
    assert_eq!(stop(&options(0.0102), line), Some(4));
    assert_eq!(stop(&options(0.01), |k| (0.5f64.powi(k as i32), 1.0)), None);
    // decreases by 11 for 10 iterations, then by 1
    let bend = |k: usize| (1000.0 - k.min(10) as f64 * 10.0 - k as f64, 1.0);
    assert_eq!(stop(&options(0.01), bend), Some(14));
}

#[test]
fn values_within_the_noise_stop_after_twenty_iterations() {
    assert_eq!(stop(&options(0.0), |_| (1.0, 1.0)), Some(20));
    assert_eq!(stop(&options(0.0), |k| (1.0 - 1e-14 * k as f64, 1.0)), Some(20));
}

#[test]
fn a_slow_decrease_beyond_the_noise_is_progress() {
    assert_eq!(stop(&options(0.0), |k| (1.0 - 1e-13 * k as f64, 1.0)), None);
}

/// Returns the iteration at which a sequence of values under new functions stops.
fn reevaluated_stop(tolerance: f64, value: impl Fn(usize) -> f64) -> Option<usize> {
    let options = options(tolerance);
    let mut test = ConvergenceTest::new(value(0), 1.0);
    (1..=1000).find(|&k| {
        test.record_reevaluation(value(k), options.period);
        test.record_step(0.5 * value(k), 1.0, options.period);
        test.is_converged(&options)
    })
}

#[test]
fn values_of_new_functions_are_compared_by_their_means_over_two_periods() {
    // decreases by 8 from one mean to the next, 1.01 % of the mean 789 of the functions 5 to 8
    let line = |k: usize| 802.0 - 2.0 * k as f64;
    assert_eq!(reevaluated_stop(0.0102, line), Some(8));
    assert_eq!(reevaluated_stop(0.01, |k| 1000.0 * 0.9_f64.powi(k as i32)), None);
    // noise far above the tolerance does not stop a sequence that makes progress
    let noise = |k: usize| 10.0 * ((k * 7 % 13) as f64 - 6.0);
    assert_eq!(reevaluated_stop(1e-5, |k| 1e6 - 100.0 * k as f64 + noise(k)), None);
}

/// Returns the round at which a sequence of values at their beginnings stops, with three steps
/// in each.
fn settled_round(tolerance: f64, value: impl Fn(usize) -> f64) -> Option<usize> {
    let options = options(tolerance);
    let mut test = ConvergenceTest::new(value(0), 1.0);
    (1..=1000).find(|&round| {
        for step in 1..=3 {
            let value = value(round - 1) - 10.0 * step as f64;
            test.record_step(value, 1.0, options.period);
            assert!(!test.is_converged(&options));
        }
        test.record_round(value(round), 1.0, &options);
        test.is_converged(&options)
    })
}

#[test]
fn rounds_stop_when_their_first_values_settle() {
    let sequence = |sign: f64| move |k: usize| 1000.0 + sign * 100.0 * 0.5_f64.powi(k as i32);
    let settled = |sign, tolerance| settled_round(tolerance, sequence(sign));
    assert_eq!([settled(1.0, 0.01), settled(-1.0, 0.01)], [Some(4); 2]);
    // The mean of values that increase tells so after two periods of 4 rounds.
    assert_eq!([settled(1.0, 1e-5), settled(-1.0, 1e-5)], [Some(14), Some(8)]);
}

#[test]
fn rounds_that_never_settle_stop_once_their_mean_does() {
    let cycle = |k: usize| 1000.0 + 50.0 * (k % 2) as f64;
    assert_eq!(settled_round(1e-5, cycle), Some(8));
    assert_eq!(settled_round(0.0, cycle), Some(8));
}

#[test]
fn noise_about_a_constant_mean_stops() {
    let noise = |k: usize| (k * 7 % 13) as f64;
    for tolerance in [1e-5, 0.0] {
        assert!(reevaluated_stop(tolerance, |k| 1e3 + noise(k)).is_some_and(|k| k < 20));
    }
}

#[test]
fn a_shrinking_gradient_is_progress() {
    assert_eq!(stop(&options(0.0), |k| (1.0, 0.99f64.powi(k as i32))), None);
}
