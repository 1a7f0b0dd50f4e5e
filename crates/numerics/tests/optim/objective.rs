use dropchain_numerics::optim::{LbfgsOptions, Objective, check_gradient};

fn error(change: impl FnOnce(&mut LbfgsOptions)) -> String {
    let mut options = LbfgsOptions::default();
    change(&mut options);
    options.check().unwrap_err().to_string()
}

#[test]
fn an_option_out_of_range_is_named() {
    assert_eq!(error(|o| o.memory = 0), "memory of 0 pairs; expected 1 to 1000");
    assert_eq!(error(|o| o.period = 0), "period is 0; expected 1 or more");
    assert_eq!(
        error(|o| o.gradient_tolerance = -1.0),
        "gradient_tolerance -1; expected a finite number that is not negative"
    );
    assert_eq!(
        error(|o| o.improvement_tolerance = Some(f64::NAN)),
        "improvement_tolerance NaN; expected a finite number that is not negative"
    );
}

#[test]
fn options_come_back_and_unknown_ones_are_refused() {
    let text = serde_json::to_string(&LbfgsOptions::default()).unwrap();
    let options: LbfgsOptions = serde_json::from_str(&text).unwrap();
    assert_eq!(options, LbfgsOptions::default());
    assert!(serde_json::from_str::<LbfgsOptions>(r#"{"memories":1}"#).is_err());
}

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
