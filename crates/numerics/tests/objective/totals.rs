use dropchain_numerics::data::{Classes, Dataset};
use dropchain_numerics::objective::PenalizedLikelihood;
use dropchain_numerics::optim::Objective;
use dropchain_numerics::score::ParameterSpace;
use dropchain_numerics::testing::{FIRST_ORDER, one_sentence};

/// Two tokens with two labels: column 0 at both with these values, column 1 at the second.
fn problem(values: [f64; 2]) -> (Dataset, ParameterSpace) {
    let data = one_sentence(&[&[(0, values[0])], &[(0, values[1]), (1, 1.0)]]);
    let (nodes, edges) = (Classes::singletons(2), Classes::singletons(0));
    let space = ParameterSpace::new(2, &data, &nodes, &edges, FIRST_ORDER);
    (data, space)
}

fn estimates(data: &Dataset, space: &ParameterSpace, l2: f64) -> Vec<f32> {
    PenalizedLikelihood::new(data, space, l2).inverse_curvature().unwrap()
}

#[test]
fn an_estimate_is_one_by_the_root_of_what_is_expected() {
    let (data, space) = problem([1.0, 3.0]);
    let estimates = estimates(&data, &space, 0.25);
    assert_eq!(estimates.len(), space.dimension());
    let h = |square: f64| (1.0 / (0.1 * square + 0.5).sqrt()) as f32;
    let nodes = space.nodes.weights(&estimates);
    assert_eq!(nodes, [h(10.0), h(10.0), h(1.0), h(1.0)]);
    // 2 tokens by 2 labels
    let labels = space.dimension() - nodes.len();
    let others = estimates.iter().filter(|&&e| e == h(1.0)).count();
    assert_eq!(others, labels + 2);
}

#[test]
fn estimates_are_finite_and_above_0_whatever_the_values() {
    for (values, l2) in [([1e200, 1e200], 0.0), ([1e-200, 1e-200], 0.0), ([1.0, 1.0], 1e300)] {
        let (data, space) = problem(values);
        let estimates = estimates(&data, &space, l2);
        assert!(estimates.iter().all(|&e| e > 0.0 && e.is_finite()));
    }
}
