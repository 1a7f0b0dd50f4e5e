//! The L1 penalty.

use super::*;

#[test]
fn an_orthogonal_lasso_is_soft_thresholding() {
    let b = [3.0, -2.0, 0.5, -0.5, 1.0, 0.0];
    let mut objective = quadratic(vec![1.0; 6], b.to_vec(), 0.0);
    let outcome = run(&mut objective, &[0.1; 6], Some(&[1.0; 6]), &precise(1e-12));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(largest_difference(&outcome.x, &[2.0, -1.0, 0.0, 0.0, 0.0, 0.0]) < 1e-11);
    assert_eq!(outcome.x[2..], [0.0; 4]);
    assert!((outcome.value - (0.5 + 0.5 + 0.125 + 0.125 + 0.5 + 3.0)).abs() < 1e-11);
}

/// Returns the design matrix and responses of a lasso with 30 rows and 12 correlated columns.
fn lasso_data() -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut number = numbers(7);
    let design: Vec<Vec<f64>> = (0..30)
        .map(|_| {
            let common = number();
            (0..12).map(|_| number() + 0.5 * common).collect()
        })
        .collect();
    let responses = design
        .iter()
        .map(|row| 2.0 * row[0] - 1.5 * row[3] + 0.7 * row[7] + 0.3 * number())
        .collect();
    (design, responses)
}

/// ½‖Ax − b‖²
fn least_squares(
    design: Vec<Vec<f64>>,
    responses: Vec<f64>,
) -> FnObjective<impl FnMut(&[f64], &mut [f64]) -> f64> {
    function(design[0].len(), move |x, gradient| {
        gradient.fill(0.0);
        let mut value = 0.0;
        for (row, response) in design.iter().zip(&responses) {
            let residual = row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - response;
            value += 0.5 * residual * residual;
            for (g, a) in gradient.iter_mut().zip(row) {
                *g += residual * a;
            }
        }
        value
    })
}

/// Solves the lasso by cyclic coordinate descent.
fn coordinate_descent(design: &[Vec<f64>], responses: &[f64], strength: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; strength.len()];
    for _ in 0..5000 {
        for j in 0..x.len() {
            let mut along = 0.0;
            let mut square = 0.0;
            for (row, response) in design.iter().zip(responses) {
                let others: f64 = (0..x.len()).filter(|&k| k != j).map(|k| row[k] * x[k]).sum();
                along += row[j] * (response - others);
                square += row[j] * row[j];
            }
            x[j] = along.signum() * (along.abs() - strength[j]).max(0.0) / square;
        }
    }
    x
}

#[test]
fn a_lasso_agrees_with_coordinate_descent_to_the_zeros() {
    let (design, responses) = lasso_data();
    let mut strength = vec![2.0; 12];
    strength[5] = 0.0; // smooth
    strength[7] = 0.5;
    let expected = coordinate_descent(&design, &responses, &strength);
    let zeros = |x: &[f64]| x.iter().map(|&x| x == 0.0).collect::<Vec<_>>();
    assert!(zeros(&expected).iter().filter(|z| **z).count() >= 4);
    assert!(expected[5] != 0.0);

    let mut objective = least_squares(design, responses);
    let outcome = run(&mut objective, &[0.0; 12], Some(&strength), &precise(1e-10));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(largest_difference(&outcome.x, &expected) < 1e-8);
    assert_eq!(zeros(&outcome.x), zeros(&expected));
}

#[test]
fn the_l1_gradient_converges_below_the_rounding_noise_of_the_value() {
    let h: Vec<f64> = (1..=50).map(f64::from).collect();
    let mut objective = quadratic(h, vec![1.0; 50], 1e6);
    let outcome = run(&mut objective, &[0.0; 50], Some(&[3.5; 50]), &precise(1e-11));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert_eq!(outcome.x[..3], [0.0; 3]);
    assert!((outcome.x[6] - 0.5).abs() < 1e-9);
}

#[test]
fn an_l1_penalty_of_zero_is_plain_lbfgs() {
    let plain = run(&mut function(2, rosenbrock), &[-1.2, 1.0], None, &precise(1e-8));
    let zero = run(&mut function(2, rosenbrock), &[-1.2, 1.0], Some(&[0.0; 2]), &precise(1e-8));
    assert_eq!(plain, zero);
}

#[test]
fn a_penalty_that_outweighs_the_function_gives_zero() {
    let mut objective = quadratic(vec![1.0; 3], vec![1.0, -2.0, 3.0], 0.0);
    let outcome = run(&mut objective, &[5.0; 3], Some(&[10.0; 3]), &precise(1e-10));
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert_eq!((outcome.x, outcome.value), (vec![0.0; 3], 7.0));
}
