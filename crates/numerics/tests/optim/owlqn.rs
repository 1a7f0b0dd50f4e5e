use dropchain_numerics::testing::internal::{L1Penalty, pseudo_derivative};

#[test]
fn the_pseudo_gradient_is_the_one_sided_derivative_that_descends() {
    assert_eq!(pseudo_derivative(2.0, 1.0, 0.5), 1.5);
    assert_eq!(pseudo_derivative(-2.0, 1.0, 0.5), 0.5);
    assert_eq!(pseudo_derivative(0.0, -1.0, 0.25), -0.75);
    assert_eq!(pseudo_derivative(0.0, 1.0, 0.25), 0.75);
    assert_eq!(pseudo_derivative(0.0, 0.5, 0.5), 0.0);
    assert_eq!(pseudo_derivative(0.0, -0.5, 0.5), 0.0);
    assert_eq!(pseudo_derivative(0.0, 0.3, 0.0), 0.3);
    assert!(pseudo_derivative(0.0, f64::NAN, 0.5).is_nan());
}

/// Returns the penalty at a point with three coordinates.
fn penalty<'a>(strength: &'a [f64; 3], x: &[f64; 3], g: &[f64; 3]) -> L1Penalty<'a> {
    let mut penalty = L1Penalty::new(strength);
    penalty.differentiate(x, g);
    penalty
}

#[test]
fn a_step_stops_at_zero_where_it_would_leave_the_orthant() {
    let x = [1.0, 0.0, -1.0];
    let penalty = penalty(&[0.5, 0.5, 0.0], &x, &[2.0, -1.0, -3.0]);
    assert_eq!(penalty.pseudo, [2.5, -0.5, -3.0]);
    let mut out = [9.0; 3];
    let (change, absolute) = penalty.project(&x, 2.0, &[-2.0, 1.0, 3.0], &mut out);
    assert_eq!(out, [0.0, 2.0, 5.0]);
    assert_eq!(change, -2.5 - 1.0 - 18.0);
    assert_eq!(absolute, 1.0);
}

#[test]
fn a_zero_moves_only_to_the_side_on_which_the_function_falls() {
    let x = [0.0; 3];
    let penalty = penalty(&[0.5; 3], &x, &[1.0, -1.0, 0.1]);
    let mut out = [9.0; 3];
    penalty.project(&x, 1.0, &[1.0, -1.0, 1.0], &mut out);
    assert_eq!(out, [0.0; 3]);
    penalty.project(&x, 1.0, &[-1.0, 1.0, -1.0], &mut out);
    assert_eq!(out, [-1.0, 1.0, 0.0]);
}

#[test]
fn alignment_exempts_smooth_coordinates_while_the_direction_descends() {
    let penalty = penalty(&[1.0, 1.0, 0.0], &[1.0; 3], &[2.0, 2.0, 1.0]);
    let mut direction = [-2.0, 5.0, 1.0];
    let slope = penalty.align(&mut direction);
    assert_eq!((direction, slope), ([-2.0, 0.0, 1.0], -5.0));
}

#[test]
fn a_direction_that_would_not_descend_is_aligned_in_all_coordinates() {
    let penalty = penalty(&[1.0, 1.0, 0.0], &[1.0; 3], &[2.0, 2.0, 1.0]);
    let mut direction = [-2.0, 5.0, 10.0];
    let slope = penalty.align(&mut direction);
    assert_eq!((direction, slope), ([-2.0, 0.0, 0.0], -6.0));
}
