use dropchain_numerics::math::assert_close;
use dropchain_numerics::objective::Penalty;
use dropchain_numerics::testing::Lcg;
use dropchain_numerics::testing::internal::CHUNK;

/// More than one chunk.
const N: usize = CHUNK + 100;

fn evaluate(penalty: &Penalty, theta: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; theta.len()];
    let value = penalty.add(theta, &mut gradient);
    (value, gradient)
}

#[test]
fn every_parameter_has_its_center() {
    let mut numbers = Lcg(1);
    let [theta, centers] = [(); 2].map(|()| numbers.vector(N));
    let penalty = Penalty::from(0.3);
    let cases = [(penalty.clone(), false), (penalty.with_centers(centers.clone()), true)];
    for (penalty, has_centers) in &cases {
        let (value, gradient) = evaluate(penalty, &theta);
        let mut expected = 0.0;
        for i in 0..N {
            let center = if *has_centers { centers[i] } else { 0.0 };
            expected += 0.3 * (theta[i] - center).powi(2);
            assert_close(gradient[i], 2.0 * 0.3 * (theta[i] - center), 1e-14);
            assert_eq!(penalty.center(i), center);
        }
        assert_close(value, expected, 1e-12);
    }
}

#[test]
fn at_its_center_a_parameter_has_exactly_no_gradient() {
    let theta = Lcg(2).vector(N);
    let penalty = Penalty::from(0.1).with_centers(theta.clone());
    let (value, gradient) = evaluate(&penalty, &theta);
    assert_eq!(value, 0.0);
    assert!(gradient.iter().all(|&g| g == 0.0));
}

#[test]
fn centers_of_0_are_the_uniform_penalty() {
    let theta = Lcg(3).vector(N);
    let (value, gradient) = evaluate(&Penalty::from(0.25), &theta);
    let general = Penalty::from(0.25).with_centers(vec![0.0; N]);
    let (other, other_gradient) = evaluate(&general, &theta);
    assert_close(other, value, 1e-14);
    assert_eq!(other_gradient, gradient);
}
