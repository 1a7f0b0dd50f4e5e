//! Gradient check by central differences.

use super::objective::Objective;

/// Returns the largest error of the gradient at `x`, compared with central differences of the
/// value.
///
/// The derivative with respect to x_i is compared with (f(x + h_i e_i) − f(x − h_i e_i)) / 2h_i,
/// where h_i = h·max(1, |x_i|). The error is relative to the larger of the two, or absolute if both
/// are below 1, and infinite if one of them is not finite. For a correct gradient it consists of
/// about h² of truncation and ε|f|/h of rounding (ε = 2·10⁻¹⁶): h = 10⁻⁵ usually gives errors below
/// 10⁻⁸.
///
/// Costs 2n + 1 evaluations. `x` is `[n]`.
///
/// # Panics
///
/// If `objective` panics because `x` has the wrong length.
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

    /// x₀² + 3x₁, reporting a given derivative with respect to x₁.
    struct ReportedDerivative(f64);

    impl Objective for ReportedDerivative {
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
    fn a_correct_gradient_has_a_negligible_error() {
        assert!(check_gradient(&mut ReportedDerivative(3.0), &[7.0, 0.0], 1e-5) < 1e-9);
    }

    #[test]
    fn a_wrong_gradient_has_its_relative_error() {
        let error = check_gradient(&mut ReportedDerivative(2.4), &[7.0, 0.0], 1e-5);
        assert!((error - 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_nan_gradient_has_an_infinite_error() {
        let error = check_gradient(&mut ReportedDerivative(f64::NAN), &[7.0, 0.0], 1e-5);
        assert_eq!(error, f64::INFINITY);
    }
}
