//! Smooth functions, the observer and the stopping tests.

use super::*;

/// Solves A z = b by Gaussian elimination with pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let pivot = a[k].clone();
            for (a, p) in a[i].iter_mut().zip(pivot) {
                *a -= factor * p;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

#[test]
fn the_minimum_of_a_quadratic_is_found() {
    let m = [1.0, -2.0, 3.0];
    let mut objective = quadratic(vec![1.0, 2.0, 5.0], m.to_vec(), 0.0);
    let outcome = run(&mut objective, &[0.0; 3], None, &precise(1e-10));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(largest_difference(&outcome.x, &m) < 1e-9);
    assert_eq!(outcome.restarts, 0);
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
fn a_badly_scaled_quadratic_converges() {
    let h: Vec<f64> = (0..9).map(|i| 10f64.powi(i - 4)).collect();
    let mut objective = quadratic(h, vec![1.0; 9], 0.0);
    let options = LbfgsOptions { memory: 10, ..precise(1e-10).options().clone() };
    let settings = LbfgsSettings::new(options).unwrap();
    let outcome = run(&mut objective, &[0.0; 9], None, &settings);
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(largest_difference(&outcome.x, &[1.0; 9]) < 1e-5);
}

#[test]
fn the_scale_of_the_value_does_not_matter() {
    for unit in [1e-20, 1e20] {
        let mut objective = quadratic(vec![unit, 10.0 * unit], vec![3.0, 4.0], 0.0);
        let outcome = run(&mut objective, &[0.0; 2], None, &precise(unit * 1e-9));
        assert_eq!(outcome.stop_reason, StopReason::Gradient);
        assert!(largest_difference(&outcome.x, &[3.0, 4.0]) < 1e-8);
    }
}

#[test]
fn rosenbrocks_function_is_minimized() {
    let mut objective = function(2, rosenbrock);
    let outcome = run(&mut objective, &[-1.2, 1.0], None, &precise(1e-10));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(largest_difference(&outcome.x, &[1.0; 2]) < 1e-8);
    assert!(outcome.evaluations < 60, "{}", outcome.evaluations);

    let mut objective = function(100, rosenbrock);
    let outcome = run(&mut objective, &[0.5; 100], None, &precise(1e-10));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(largest_difference(&outcome.x, &[1.0; 100]) < 1e-8);
    assert!(outcome.evaluations < 160, "{}", outcome.evaluations);
}

/// A small classification problem: bias, two values, and the class.
const ROWS: [([f64; 3], bool); 8] = [
    ([1.0, 0.5, 1.5], true),
    ([1.0, 2.0, -0.5], true),
    ([1.0, -1.0, 0.5], false),
    ([1.0, -0.5, -1.5], false),
    ([1.0, 1.5, 1.0], true),
    ([1.0, 0.0, -1.0], false),
    ([1.0, -1.5, 2.0], true),
    ([1.0, 1.0, -2.0], false),
];

/// Logistic loss: Σ log(1 + exp(−margin)) + 0.1‖x‖².
fn logistic(x: &[f64], gradient: &mut [f64]) -> f64 {
    let mut value = 0.0;
    for j in 0..3 {
        value += 0.1 * x[j] * x[j];
        gradient[j] = 0.2 * x[j];
    }
    for (row, class) in ROWS {
        let sign = if class { 1.0 } else { -1.0 };
        let margin = sign * (0..3).map(|j| row[j] * x[j]).sum::<f64>();
        value += (-margin).exp().ln_1p();
        for j in 0..3 {
            gradient[j] -= sign * row[j] / (1.0 + margin.exp());
        }
    }
    value
}

#[test]
fn logistic_regression_agrees_with_newtons_method() {
    let mut newton = vec![0.0; 3];
    for _ in 0..20 {
        let mut gradient = vec![0.0; 3];
        logistic(&newton, &mut gradient);
        let mut hessian = vec![vec![0.0; 3]; 3];
        for j in 0..3 {
            hessian[j][j] = 0.2;
            for k in 0..3 {
                for (row, _) in ROWS {
                    let score: f64 = (0..3).map(|j| row[j] * newton[j]).sum();
                    let p = 1.0 / (1.0 + (-score).exp());
                    hessian[j][k] += p * (1.0 - p) * row[j] * row[k];
                }
            }
        }
        for (x, step) in newton.iter_mut().zip(solve(hessian, gradient)) {
            *x -= step;
        }
    }
    let outcome = run(&mut function(3, logistic), &[0.0; 3], None, &precise(1e-9));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(largest_difference(&outcome.x, &newton) < 1e-8);
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
        &LbfgsSettings::default(),
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
        let settings = LbfgsSettings::new(options).unwrap();
        let outcome = run(&mut function(2, rosenbrock), &[-1.2, 1.0], None, &settings);
        assert_eq!(outcome.stop_reason, StopReason::MaxIterations);
        assert_eq!(outcome.iterations, limit);
    }
}

#[test]
fn a_slow_descent_stops_for_lack_of_improvement() {
    let options = LbfgsOptions {
        improvement_tolerance: 0.5,
        gradient_tolerance: 0.0,
        period: 3,
        ..LbfgsOptions::default()
    };
    let settings = LbfgsSettings::new(options).unwrap();
    let mut objective = quadratic(vec![1.0, 3.0, 10.0], vec![1.0; 3], 100.0);
    let outcome = run(&mut objective, &[0.0; 3], None, &settings);
    assert_eq!(outcome.stop_reason, StopReason::Improvement);
    assert_eq!(outcome.iterations, 3);
}

#[test]
fn a_starting_point_at_the_minimum_stops_at_once() {
    let mut objective = quadratic(vec![1.0; 3], vec![1.0; 3], 0.0);
    let outcome = run(&mut objective, &[1.0; 3], None, &LbfgsSettings::default());
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
    let n = 3 * vector::CHUNK + 11;
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
    assert_eq!(StopReason::Gradient.to_string(), "the gradient vanishes");
    assert_eq!(serde_json::to_string(&StopReason::MaxIterations).unwrap(), "\"max_iterations\"");
}
