//! The diagonal preconditioner of L-BFGS, from an estimate of the curvature.
//!
//! The Hessian of the likelihood has Σ x²·p(1−p) + 2·c2 on its diagonal, a sum over the tokens of
//! an attribute. Attribute counts range from 1 to the size of the corpus, and so do the curvatures;
//! an optimizer that scales all parameters alike needs hundreds of iterations for the weights of
//! rare attributes. Since p(1−p) is unknown, h = κ·Σ x² + 2·c2 estimates the diagonal.
//!
//! The optimizer uses 1/√h. The full 1/h is right at the start but wrong later, when frequent
//! attributes are certain of their labels (p(1−p) → 0) and rare ones are not; the root is the
//! geometric mean of 1/h and no preconditioning. (docs/decisions, 16)

use super::penalty::Penalty;
use super::totals::Totals;
use crate::score::ParameterSpace;

/// The estimate κ of p(1−p).
const KAPPA: f64 = 0.1;

/// Returns the estimates 1/√h of all parameters, `[space.dimension()]`. Time O(parameters).
pub(super) fn inverse(totals: &Totals, space: &ParameterSpace, penalty: &Penalty) -> Vec<f32> {
    // Extreme attribute values leave the range of f32.
    let estimate =
        |count: f64, l2: f64| (1.0 / (KAPPA * count + 2.0 * l2).sqrt()).clamp(1e-30, 1e30) as f32;
    let pairs = (totals.weighted_tokens / space.labels() as f64).max(1.0);
    // Transitions and boundary weights; attributes are overwritten below.
    let first = space.edges.range.end;
    let mut estimates = vec![1.0; first];
    let labels = first..space.dimension();
    estimates.extend(labels.map(|i| estimate(pairs, penalty.strength(i))));
    let label_pair_share = 1.0 / space.labels() as f64; // a pair is that much rarer than a label
    let [nodes, edges] = &totals.columns;
    for (columns, block, share) in [
        (nodes, &space.nodes, 1.0),
        (edges, &space.edges, label_pair_share),
    ] {
        let estimates = block.weights_mut(&mut estimates);
        for (column, &square) in columns.squares.iter().enumerate() {
            // Attributes of unlabeled text alone may have no count here.
            let count = (share * square).max(share);
            let range = block.targets.range(column);
            // All weights of an attribute have the same strength.
            if let Some(own) = estimates.get_mut(range.clone())
                && !own.is_empty()
            {
                own.fill(estimate(
                    count,
                    penalty.strength(block.range.start + range.start),
                ));
            }
        }
    }
    estimates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Order;
    use crate::extract::random::one_sentence;
    use crate::extract::{Classes, Dataset};
    use crate::score::{Boundary, SpaceOptions, States};

    /// Two tokens with two labels: column 0 at both with these values, column 1 at the second.
    fn problem(values: [f64; 2]) -> (Dataset, ParameterSpace) {
        let data = one_sentence(&[&[(0, values[0])], &[(0, values[1]), (1, 1.0)]]);
        let options = SpaceOptions {
            order: Order::One,
            boundary: Boundary::On,
            states: States::All,
            transitions: true,
            label_pairs: States::All,
            min_frequency: None,
        };
        let (nodes, edges) = (Classes::singletons(2), Classes::singletons(0));
        let space = ParameterSpace::new(2, &data, &nodes, &edges, options);
        (data, space)
    }

    #[test]
    fn an_estimate_is_one_by_the_root_of_what_is_expected() {
        let (data, space) = problem([1.0, 3.0]);
        let estimates = inverse(&Totals::new(&data, &space), &space, &0.25.into());
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
        for (values, l2) in [
            ([1e200, 1e200], 0.0),
            ([1e-200, 1e-200], 0.0),
            ([1.0, 1.0], 1e300),
        ] {
            let (data, space) = problem(values);
            let estimates = inverse(&Totals::new(&data, &space), &space, &l2.into());
            assert!(estimates.iter().all(|&e| e > 0.0 && e.is_finite()));
        }
    }
}
