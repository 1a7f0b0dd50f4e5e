//! Inference against the enumeration of all paths, and beyond the sizes that can be enumerated.

mod decoding;
mod marginals;
mod masks;
mod max_marginals;
mod pairs;
mod precision;
mod products;

use dropchain_numerics::chain::*;
use dropchain_numerics::ids::LabelId;
use dropchain_numerics::math::{add, assert_close};
use dropchain_numerics::testing::{Chain, Lcg, Oracle};

/// Returns chains of all sizes that can be enumerated, both orders, with and without edges.
fn chains(mut number: impl FnMut() -> f64) -> Vec<Chain> {
    let mut chains = Vec::new();
    for labels in 1..=9_usize {
        for tokens in (1..=6).filter(|&tokens| labels.pow(tokens) <= 5000) {
            for order in [Order::Zero, Order::One] {
                let mut chain = Chain::new(tokens as usize, labels, &mut number);
                chain.order = order;
                chains.push(chain.clone());
                chains.push(chain.with_edges(&mut number));
            }
        }
    }
    chains
}

fn moderate_chains() -> Vec<Chain> {
    let mut numbers = Lcg(1);
    chains(|| 2.0 * numbers.next())
}

fn extreme_chains() -> Vec<Chain> {
    let mut numbers = Lcg(2);
    chains(|| numbers.extreme())
}

#[track_caller]
fn assert_all_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    for (actual, expected) in actual.iter().zip(expected) {
        assert_close(*actual, *expected, tolerance);
    }
}

/// All results of forward-backward on a sentence.
struct Inference {
    log_partition: f64,
    nodes: Vec<f64>,
    edges: Vec<Vec<f64>>,
    expectations: Vec<f64>,
    mode: Mode,
}

/// Collects the results of `run`; the padding of the scores is NaN.
fn infer(
    chain: &Chain,
    run: impl FnOnce(&mut Lattice, &Transitions, Scores, Option<&LabelMask>) -> f64,
) -> Inference {
    let transitions = chain.transitions();
    let mut lattice = Lattice::default();
    let log_partition =
        chain.scores(f64::NAN, |scores| run(&mut lattice, &transitions, scores, None));
    let edges = (1..chain.node.len()).map(|t| {
        let mut edge = vec![f64::NAN; transitions.labels() * transitions.stride()];
        lattice.edge_marginals(&transitions, t, &mut edge);
        edge
    });
    let edges = edges.collect();
    let mut sums = EdgeSums::new(&transitions);
    lattice.add_edge_expectations(&transitions, &mut sums);
    let mut expectations = vec![f64::NAN; transitions.scores().len()];
    sums.finish(&transitions, &mut expectations);
    Inference {
        log_partition,
        nodes: lattice.node_marginals().to_vec(),
        edges,
        expectations,
        mode: lattice.mode(),
    }
}

fn sum_of(matrices: &[Vec<f64>], size: usize) -> Vec<f64> {
    let mut sum = vec![0.0; size];
    for matrix in matrices {
        add(&mut sum, matrix);
    }
    sum
}

#[track_caller]
fn assert_agrees(actual: &Inference, expected: &Oracle, tolerance: f64) {
    assert_close(actual.log_partition, expected.log_partition(), tolerance);
    assert_all_close(&actual.nodes, &expected.node_marginals(), tolerance);
    let edges: Vec<_> = (1..=actual.edges.len()).map(|t| expected.edge_marginals(t)).collect();
    for (actual, expected) in actual.edges.iter().zip(&edges) {
        assert_all_close(actual, expected, tolerance);
    }
    let sums = sum_of(&edges, actual.expectations.len());
    assert_all_close(&actual.expectations, &sums, tolerance);
}
