//! Does a gradient belong to its value?

use super::Objective;

/// The largest error of the gradient at `x`, against central differences of the value.
///
/// For each variable the derivative is compared with (f(x + h_i e_i) − f(x − h_i e_i)) / 2h_i,
/// h_i = h·max(1, |x_i|). The error is measured relative to the larger of the two, or
/// absolutely where both are below 1; it is infinite where one of them is not finite. A right
/// gradient leaves about h² of truncation and ε|f|/h of rounding (ε = 2·10⁻¹⁶): h = 10⁻⁵ usually
/// gives errors below 10⁻⁸.
///
/// Costs 2n + 1 evaluations. `x` is `[n]`.
///
/// # Panics
///
/// Where `objective` does because `x` has not the length that it expects.
pub fn check_gradient<O: Objective>(objective: &mut O, x: &[f64], h: f64) -> f64 {
    let mut gradient = vec![0.0; x.len()];
    let mut ignored = vec![0.0; x.len()];
    let mut point = x.to_vec();
    objective.evaluate(x, &mut gradient);
    let mut worst: f64 = 0.0;
    for (i, (&center, &derivative)) in x.iter().zip(&gradient).enumerate() {
        let h = h * center.abs().max(1.0);
        point[i] = center + h;
        let (above, _) = objective.evaluate(&point, &mut ignored);
        point[i] = center - h;
        let (below, _) = objective.evaluate(&point, &mut ignored);
        point[i] = center;
        let difference = (above - below) / (2.0 * h);
        let scale = derivative.abs().max(difference.abs()).max(1.0);
        let error = (derivative - difference).abs() / scale;
        worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x₀² + 3x₁, with the derivative by x₁ as given.
    struct Claimed(f64);

    impl Objective for Claimed {
        type Detail = ();

        fn dimension(&self) -> usize {
            2
        }

        fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, ()) {
            gradient.copy_from_slice(&[2.0 * x[0], self.0]);
            (x[0] * x[0] + 3.0 * x[1], ())
        }
    }

    #[test]
    fn a_right_gradient_has_next_to_no_error() {
        assert!(check_gradient(&mut Claimed(3.0), &[7.0, 0.0], 1e-5) < 1e-9);
    }

    #[test]
    fn a_wrong_gradient_has_its_relative_error() {
        let error = check_gradient(&mut Claimed(2.4), &[7.0, 0.0], 1e-5);
        assert!((error - 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_gradient_that_is_not_a_number_is_infinitely_wrong() {
        let error = check_gradient(&mut Claimed(f64::NAN), &[7.0, 0.0], 1e-5);
        assert_eq!(error, f64::INFINITY);
    }
}
