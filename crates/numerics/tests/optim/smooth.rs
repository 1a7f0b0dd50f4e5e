//! Smooth functions, the observer and the stopping tests.

use super::*;
use dropchain_numerics::testing::internal::CHUNK;

#[test]
fn the_minimum_of_a_quadratic_is_found_whatever_its_scales() {
    let badly_scaled: Vec<f64> = (0..9).map(|i| 10_f64.powi(i - 4)).collect();
    for (h, gradient_tolerance, error) in [
        (vec![1.0, 2.0, 5.0], 1e-10, 1e-9),
        (badly_scaled, 1e-10, 1e-5),
        (vec![1e-20, 1e-19], 1e-29, 1e-8),
        (vec![1e20, 1e21], 1e11, 1e-8),
    ] {
        let m: Vec<f64> = [1.0, -2.0, 3.0].into_iter().cycle().take(h.len()).collect();
        let options = LbfgsOptions { memory: 10, ..precise(gradient_tolerance) };
        let start = vec![0.0; m.len()];
        let outcome = run(&mut quadratic(h, m.clone(), 0.0), &start, None, &options);
        assert_eq!(outcome.stop_reason, StopReason::Gradient);
        assert!(largest_difference(&outcome.x, &m) < error, "{:?} {m:?}", outcome.x);
    }
}

#[test]
fn the_gradient_converges_below_the_rounding_noise_of_the_value() {
    // f is 10⁶ + …: below a gradient of 10⁻⁵ its changes are lost in rounding
    let h: Vec<f64> = (1..=50).map(f64::from).collect();
    let mut objective = quadratic(h, vec![1.0; 50], 1e6);
    let outcome = run(&mut objective, &[0.0; 50], None, &precise(1e-12));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(outcome.gradient_norm < 1e-11);
    assert!(outcome.evaluations < 100, "{}", outcome.evaluations);
    assert_eq!(outcome.restarts, 0);
}

#[test]
fn rosenbrocks_function_is_minimized() {
    let long = [0.5; 100];
    for (start, evaluations) in [(&[-1.2, 1.0][..], 60), (&long, 160)] {
        let mut objective = function(start.len(), rosenbrock);
        let outcome = run(&mut objective, start, None, &precise(1e-10));
        assert_eq!(outcome.stop_reason, StopReason::Gradient);
        assert!(largest_difference(&outcome.x, &vec![1.0; start.len()]) < 1e-8);
        assert!(outcome.evaluations < evaluations, "{}", outcome.evaluations);
    }
}

#[test]
fn the_observer_sees_every_accepted_point_from_the_start() {
    let mut seen = Vec::new();
    let outcome = minimize(
        &mut function(2, rosenbrock),
        vec![-1.2, 1.0],
        None,
        &precise(1e-8),
        None,
        &mut |iteration| {
            assert_eq!(iteration.number, seen.len());
            assert_eq!(iteration.nonzero, 2);
            assert!((iteration.x_norm - iteration.x[0].hypot(iteration.x[1])).abs() < 1e-15);
            seen.push((iteration.value, iteration.step, iteration.evaluations));
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert_eq!(seen.len(), outcome.iterations + 1);
    assert_eq!((seen[0].1, seen[0].2), (0.0, 1));
    assert!((seen[0].0 - 24.2).abs() < 1e-12);
    assert!(seen.windows(2).all(|pair| pair[1].0 < pair[0].0));
    let last = seen[seen.len() - 1];
    assert_eq!((last.0, last.2), (outcome.value, outcome.evaluations));
}

#[test]
fn an_observer_that_breaks_stops_at_the_point_that_it_saw() {
    let mut seen = Vec::new();
    let outcome = minimize(
        &mut function(2, rosenbrock),
        vec![-1.2, 1.0],
        None,
        &LbfgsOptions::default(),
        None,
        &mut |iteration| {
            seen = iteration.x.to_vec();
            if iteration.number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )
    .unwrap();
    assert_eq!(outcome.stop_reason, StopReason::Interrupted);
    assert_eq!((outcome.iterations, outcome.x), (3, seen));
}

#[test]
fn the_optimizer_stops_at_the_maximum_of_iterations() {
    for limit in [0, 1, 5] {
        let options = LbfgsOptions { max_iterations: Some(limit), ..LbfgsOptions::default() };
        let outcome = run(&mut function(2, rosenbrock), &[-1.2, 1.0], None, &options);
        assert_eq!(outcome.stop_reason, StopReason::MaxIterations);
        assert_eq!(outcome.iterations, limit);
    }
}

#[test]
fn a_slow_descent_stops_for_lack_of_improvement() {
    let options = LbfgsOptions {
        improvement_tolerance: Some(0.5),
        gradient_tolerance: 0.0,
        period: 3,
        ..LbfgsOptions::default()
    };
    let mut objective = quadratic(vec![1.0, 3.0, 10.0], vec![1.0; 3], 100.0);
    let outcome = run(&mut objective, &[0.0; 3], None, &options);
    assert_eq!(outcome.stop_reason, StopReason::Improvement);
    assert_eq!(outcome.iterations, 3);
}

#[test]
fn a_starting_point_at_the_minimum_stops_at_once() {
    let mut objective = quadratic(vec![1.0; 3], vec![1.0; 3], 0.0);
    let outcome = run(&mut objective, &[1.0; 3], None, &LbfgsOptions::default());
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert_eq!((outcome.iterations, outcome.evaluations), (0, 1));
}

#[test]
fn a_function_without_variables_is_minimized() {
    let outcome = run(&mut function(0, |_, _| 7.0), &[], Some(&[]), &precise(0.0));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert_eq!((outcome.value, outcome.evaluations), (7.0, 1));
}

#[test]
fn every_number_of_threads_gives_the_same_bits() {
    let n = 3 * CHUNK + 11;
    let strength = vec![0.7; n];
    for l1 in [None, Some(strength.as_slice())] {
        let outcome = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
                .install(|| run(&mut coupled(n), &vec![0.25; n], l1, &precise(1e-7)))
        };
        let one = outcome(1);
        assert_eq!(one.stop_reason, StopReason::Gradient);
        assert!(one.iterations > 8);
        let bits = |o: &Outcome<()>| o.x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for threads in [2, 8] {
            let other = outcome(threads);
            assert_eq!(bits(&one), bits(&other));
            assert_eq!(one, other);
        }
    }
}

#[test]
fn stop_reasons_have_a_message_and_a_serialized_name() {
    assert_eq!(StopReason::Gradient.message(), "the gradient vanishes");
    assert_eq!(serde_json::to_string(&StopReason::MaxIterations).unwrap(), "\"max_iterations\"");
}
