//! Ill-behaved functions and gradients, and interrupts.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn an_interrupt_within_a_line_search_returns_the_last_accepted_point() {
    for l1 in [None, Some([1e-3; 2].as_slice())] {
        let flag = AtomicBool::new(false);
        let mut calls = 0;
        let mut objective = function(2, |x, gradient| {
            calls += 1;
            // the second call is the first trial of a line search: make it unacceptable
            let value = rosenbrock(x, gradient) + if calls == 2 { 1e9 } else { 0.0 };
            flag.store(calls == 2, Ordering::Relaxed);
            value
        });
        let mut resume = |_: &Iteration<'_, ()>| ControlFlow::Continue(());
        let options = LbfgsOptions::default();
        let start = vec![-1.2, 1.0];
        let outcome =
            minimize(&mut objective, start.clone(), l1, &options, Some(&flag), &mut resume)
                .unwrap();
        assert_eq!(outcome.stop_reason, StopReason::Interrupted);
        assert_eq!((outcome.evaluations, outcome.iterations), (2, 0));
        assert_eq!(outcome.x, start);
    }
}

#[test]
fn the_tolerances_may_all_be_zero() {
    let options = LbfgsOptions {
        improvement_tolerance: Some(0.0),
        gradient_tolerance: 0.0,
        ..LbfgsOptions::default()
    };
    for l1 in [None, Some([0.7; 100].as_slice())] {
        let outcome = run(&mut coupled(100), &[0.5; 100], l1, &options);
        assert!(outcome.gradient_norm < 1e-9, "{}", outcome.gradient_norm);
        assert!(outcome.evaluations < 200, "{}", outcome.evaluations);
    }
}

#[test]
fn the_boundary_of_the_domain_only_shortens_steps() {
    // x − ln x, with the minimum at 1; NaN below 0
    let barrier = |x: &[f64], gradient: &mut [f64]| {
        gradient[0] = 1.0 - 1.0 / x[0];
        x[0] - x[0].ln()
    };
    for start in [1e-3, 0.9, 50.0] {
        let outcome = run(&mut function(1, barrier), &[start], None, &precise(1e-9));
        assert_eq!(outcome.stop_reason, StopReason::Gradient);
        assert!((outcome.x[0] - 1.0).abs() < 1e-8);
        // with L1 the minimum of 1.5x − ln x
        let l1 = run(&mut function(1, barrier), &[start], Some(&[0.5]), &precise(1e-9));
        assert_eq!(l1.stop_reason, StopReason::Gradient);
        assert!((l1.x[0] - 2.0 / 3.0).abs() < 1e-8);
    }
}

#[test]
fn a_non_finite_gradient_shortens_steps_too() {
    for l1 in [None, Some([1e-9].as_slice())] {
        let mut objective = function(1, |x: &[f64], gradient: &mut [f64]| {
            let legal = x[0].abs() < 3.0;
            gradient[0] = if legal { 2.0 * (x[0] - 2.5) } else { f64::NAN };
            (x[0] - 2.5).powi(2)
        });
        let outcome = run(&mut objective, &[-2.9], l1, &precise(1e-7));
        assert_eq!(outcome.stop_reason, StopReason::Gradient);
        assert!((outcome.x[0] - 2.5).abs() < 1e-7);
    }
}

#[test]
fn a_starting_point_without_a_value_is_reported() {
    for value in [f64::NAN, f64::INFINITY] {
        let mut objective = function(1, |_: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0;
            value
        });
        let mut calls = 0;
        let outcome =
            minimize(&mut objective, vec![4.0], None, &LbfgsOptions::default(), None, &mut |_| {
                calls += 1;
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(outcome.stop_reason, StopReason::NonFinite);
        assert_eq!((outcome.x, calls), (vec![4.0], 0));
    }
}

#[test]
fn a_function_without_a_minimum_terminates() {
    let mut objective = function(1, |x: &[f64], gradient: &mut [f64]| {
        gradient[0] = -1.0;
        -x[0]
    });
    let options = LbfgsOptions { improvement_tolerance: Some(0.0), ..LbfgsOptions::default() };
    let outcome = run(&mut objective, &[0.0], None, &options);
    assert!(outcome.evaluations < 1000, "{outcome:?}");
}

#[test]
fn invalid_lengths_and_strengths_are_errors() {
    let error = |x: Vec<f64>, l1: Option<&[f64]>| {
        let mut resume = |_: &Iteration<'_, ()>| ControlFlow::Continue(());
        let mut objective = function(2, rosenbrock);
        minimize(&mut objective, x, l1, &LbfgsOptions::default(), None, &mut resume)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(vec![0.0], None),
        "the starting point has 1 entries; the objective has 2 variables"
    );
    assert_eq!(
        error(vec![0.0; 2], Some(&[1.0; 3])),
        "the L1 penalty has 3 entries; the objective has 2 variables"
    );
    assert_eq!(
        error(vec![0.0; 2], Some(&[1.0, -0.5])),
        "L1 strength -0.5; expected a finite number that is not negative"
    );
}

/// Minimizes the quadratic with h = 1…30, of value 232.5 at the start, with its gradient modified
/// by `distort`.
fn with_distorted_gradient(
    l1: Option<&[f64]>,
    mut distort: impl FnMut(usize, f64) -> f64,
) -> Outcome<()> {
    let h: Vec<f64> = (1..=30).map(f64::from).collect();
    let mut right = quadratic(h, vec![1.0; 30], 0.0);
    let mut objective = function(30, move |x, gradient| {
        let (value, ()) = right.evaluate(x, gradient);
        for (i, g) in gradient.iter_mut().enumerate() {
            *g = distort(i, *g);
        }
        value
    });
    run(&mut objective, &[0.0; 30], l1, &LbfgsOptions::default())
}

#[test]
fn a_gradient_that_is_off_by_a_fifth_still_leads_to_the_minimum() {
    for l1 in [None, Some([1e-6; 30].as_slice())] {
        for signs in [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]] {
            let outcome = with_distorted_gradient(l1, |i, g| g * (1.0 + 0.2 * signs[i % 2]));
            assert!(outcome.value < 1e-4, "{} {signs:?}", outcome.value);
            assert!(outcome.evaluations < 200, "{}", outcome.evaluations);
        }
    }
}

#[test]
fn a_noisy_gradient_ends_near_the_minimum() {
    for l1 in [None, Some([1e-6; 30].as_slice())] {
        for seed in 1..20 {
            let mut number = numbers(seed);
            let outcome =
                with_distorted_gradient(l1, |_, g| g * (1.0 + 0.2 * number()) + 0.1 * number());
            assert!(outcome.value < 1.0, "{} seed {seed}", outcome.value);
            assert!(outcome.evaluations < 1000, "{}", outcome.evaluations);
        }
    }
}

#[test]
fn a_biased_gradient_ends_below_the_start() {
    let outcome = with_distorted_gradient(None, |_, g| g + 2.0);
    assert!(outcome.value < 50.0, "{}", outcome.value);
    assert!(outcome.evaluations < 500, "{}", outcome.evaluations);
}

#[test]
fn a_negated_gradient_ends_at_the_start_after_one_line_search() {
    for l1 in [None, Some([1e-6; 30].as_slice())] {
        let outcome = with_distorted_gradient(l1, |_, g| -g);
        assert_eq!(outcome.stop_reason, StopReason::LineSearch);
        assert_eq!(outcome.evaluations, 1 + 20);
        assert_eq!((outcome.iterations, outcome.restarts), (0, 0));
        assert_eq!(outcome.x, vec![0.0; 30]);
    }
}

#[test]
fn a_failed_search_is_repeated_once_along_the_gradient() {
    // correct for five evaluations, negated from then on
    let mut calls = 0;
    let mut objective = function(2, move |x: &[f64], gradient: &mut [f64]| {
        let value = rosenbrock(x, gradient);
        calls += 1;
        if calls > 5 {
            for g in gradient.iter_mut() {
                *g = -*g;
            }
        }
        value
    });
    let outcome = run(&mut objective, &[-1.2, 1.0], None, &precise(1e-8));
    assert_eq!(outcome.stop_reason, StopReason::LineSearch);
    assert!(outcome.restarts >= 1);
    assert!(outcome.value < 24.2);
}
