//! Inference against the enumeration of all paths, and beyond the sizes that can be enumerated.

mod decoding;
mod marginals;
mod masks;
mod max_marginals;
mod pairs;
mod precision;

use super::forward_backward::{backward_in_log_space, forward_in_log_space};
use super::*;
use crate::ids::LabelId;
use crate::math::{add, assert_close};
use crate::testing::{Chain, Lcg, Oracle};

impl Lattice {
    /// Like [`Lattice::forward_backward`], but always in log space.
    pub(crate) fn forward_backward_in_log_space(
        &mut self,
        transitions: &Transitions,
        scores: Scores,
        mask: Option<&LabelMask>,
    ) -> f64 {
        assert!(self.prepare(transitions, scores, mask));
        forward_in_log_space(self, transitions);
        backward_in_log_space(self, transitions);
        self.log_partition()
    }
}

impl Lcg {
    /// Returns a number that is mostly moderate, sometimes around ±50, sometimes around ±10,000.
    fn extreme(&mut self) -> f64 {
        let magnitude = match (self.next() * 5.0) as i32 {
            -4 | 4 => 1e4,
            -3 | 3 | 2 => 50.0,
            _ => 2.0,
        };
        magnitude * self.next()
    }

    /// Returns an integer from −2 to 2, so that sums are exact and ties frequent.
    fn integer(&mut self) -> f64 {
        (self.next() * 3.0).trunc()
    }

    fn flag(&mut self) -> bool {
        self.next() < 0.3
    }

    fn constraint(&mut self, labels: usize) -> Constraint {
        let mut flags = |n: usize| (0..n).map(|_| self.flag()).collect::<Vec<_>>();
        Constraint::new(&flags(labels * labels), &flags(labels), &flags(labels))
    }
}

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
    let edges = (1..lattice.tokens).map(|t| {
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
        mode: lattice.mode,
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
