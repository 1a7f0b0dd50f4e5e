//! Hessian products against covariances over all paths.

use super::*;
use crate::chain::Scores;

/// Returns ∇²A·w of a chain, nodes, edges and transitions: as computed, and by enumeration.
fn products(chain: &Chain, direction: &Chain) -> [Vec<f64>; 2] {
    let transitions = chain.transitions();
    let (k, stride) = (chain.labels, transitions.stride());
    let tokens = chain.node.len();
    let mut lattice = Lattice::default();
    chain.scores(0.0, |scores| lattice.forward_backward(&transitions, scores));
    let mut product = HessianProduct::default();
    product.begin(&transitions);
    let mut node = vec![0.0; tokens * stride];
    let mut edge = vec![0.0; tokens * k * stride];
    let mut sums = vec![0.0; k * stride];
    direction.scores(0.0, |w| {
        let w = Scores { node: w.node, edge: w.edge };
        let out = ScoreArrays { nodes: &mut node, edges: &mut edge };
        product.add(&transitions, &lattice, w, 2.0, out);
    });
    product.finish(&mut sums);
    let actual = [node, edge, sums].concat();

    let oracle = chain.enumerate();
    let total = oracle.log_partition();
    let probability = |score: f64| (score - total).exp();
    let paths = oracle.paths.iter();
    let mean: f64 =
        paths.clone().map(|(path, score)| probability(*score) * direction.score(path)).sum();
    let mut expected = vec![0.0; actual.len()];
    for (path, score) in paths {
        let x = 2.0 * probability(*score) * (direction.score(path) - mean);
        for t in 0..tokens {
            let b = path[t].index();
            expected[t * stride + b] += x;
            if t > 0 && chain.order == Order::One {
                let place = path[t - 1].index() * stride + b;
                expected[tokens * stride + t * k * stride + place] += x;
                expected[tokens * (k + 1) * stride + place] += x;
            }
        }
    }
    [actual, expected]
}

#[test]
fn the_product_is_the_covariance_over_all_paths() {
    let mut numbers = Lcg(4);
    for order in [Order::Zero, Order::One] {
        for (tokens, labels) in [(1, 1), (1, 3), (2, 2), (4, 3), (3, 9)] {
            let mut chain = Chain::new(tokens, labels, || 3.0 * numbers.next());
            let mut direction = Chain::new(tokens, labels, || numbers.next());
            direction.trans = vec![vec![0.0; labels]; labels];
            direction.start = vec![0.0; labels];
            direction.end = vec![0.0; labels];
            direction = direction.with_edges(|| numbers.next());
            chain.order = order;
            direction.order = order;
            for chain in [chain.clone(), chain.with_edges(|| numbers.next())] {
                let [actual, expected] = products(&chain, &direction);
                for (actual, expected) in actual.iter().zip(&expected) {
                    assert!((actual - expected).abs() < 1e-13, "{actual} {expected}");
                }
            }
        }
    }
}
