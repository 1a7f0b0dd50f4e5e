//! One suite: every engine on every case, against the enumeration of all paths.

mod approximate;
mod exact;
mod hard;
mod hessian;
mod model;
mod oracle;

use super::*;
use crate::chain::oracle::Chain;
use crate::chain::{Mode, Order, padded};
use oracle::Paths;

/// Numbers in [−1, 1), the same in every run (Knuth's MMIX linear congruential generator).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * n as f64) as usize
    }
}

/// AttributeRows of attributes and values.
type Attributes = Vec<Vec<(u32, f64)>>;

/// A sentence with its variances and features.
#[derive(Clone, Debug)]
pub(super) struct Case {
    chain: Chain,
    node: Vec<Vec<f64>>,              // [T][K] variances
    trans: Vec<Vec<f64>>,             // [K][K]
    edge: Option<Vec<Vec<Vec<f64>>>>, // [T][K][K]
    weight: f64,
    node_attributes: Attributes,
    edge_attributes: Attributes,
}

impl Case {
    /// Random scores, variances and attributes.
    pub(super) fn new(tokens: usize, labels: usize, numbers: &mut Numbers) -> Self {
        let chain = Chain::new(tokens, labels, || 2.0 * numbers.next());
        let variances = Chain::new(tokens, labels, || 1.0 + numbers.next());
        let mut attributes = |count: usize, most: usize| -> Attributes {
            let mut row = || {
                let mut columns: Vec<u32> =
                    (0..count).map(|_| numbers.below(most) as u32).collect();
                columns.sort_unstable();
                columns.dedup();
                let value = |column| (column, [1.0, 1.0, -2.0, 0.5][numbers.below(4)]);
                columns.into_iter().map(value).collect()
            };
            (0..tokens).map(|_| row()).collect()
        };
        Self {
            node_attributes: attributes(4, 8),
            edge_attributes: attributes(2, 4),
            chain,
            node: variances.node,
            trans: variances.trans,
            edge: None,
            weight: 1.0,
        }
    }

    fn with_edges(mut self, numbers: &mut Numbers) -> Self {
        self.edge = self.chain.clone().with_edges(|| 1.0 + numbers.next()).edge;
        self.chain = self.chain.with_edges(|| numbers.next());
        self
    }

    /// How far the derivatives can be off by rounding is in proportion to this.
    fn size(&self) -> f64 {
        let edge = self.edge.iter().flatten().flatten().flatten();
        let all = self.node.iter().chain(&self.trans).flatten().chain(edge);
        self.weight.abs() * all.fold(1.0, |size: f64, x| size.max(x.abs()))
    }
}

/// All sizes that can be enumerated, both orders, with and without edges.
fn cases() -> Vec<Case> {
    let mut numbers = Numbers(1);
    let mut cases = Vec::new();
    for labels in 1..=9_usize {
        for tokens in (1..=8).filter(|&tokens| labels.pow(tokens) <= 700) {
            let case = Case::new(tokens as usize, labels, &mut numbers);
            cases.push(case.clone().with_edges(&mut numbers));
            let mut independent = case.clone();
            independent.chain.order = Order::Zero;
            independent.weight = 0.3;
            cases.extend([case, independent]);
        }
    }
    cases
}

/// A value with all its derivatives, rows padded with what was there before.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) value: f64,
    pub(super) node: Vec<f64>,
    pub(super) trans: Vec<f64>,
    pub(super) edge: Option<Vec<f64>>,
    pub(super) node_variance: Vec<f64>,
    pub(super) trans_variance: Vec<f64>,
    pub(super) edge_variance: Option<Vec<f64>>,
}

impl Found {
    /// Zeros of the shapes of a case, edges included where it has any.
    pub(super) fn zeros(case: &Case) -> Self {
        let (labels, stride) = (case.chain.labels, padded(case.chain.labels));
        let (row, matrix) = (case.node.len() * stride, labels * stride);
        let edge = case.edge.as_ref();
        let edge = edge.map(|_| vec![0.0; case.node.len() * matrix]);
        Self {
            value: 0.0,
            node: vec![0.0; row],
            trans: vec![0.0; matrix],
            edge: edge.clone(),
            node_variance: vec![0.0; row],
            trans_variance: vec![0.0; matrix],
            edge_variance: edge,
        }
    }

    pub(super) fn gradient(&self) -> Vec<f64> {
        let edge = self.edge.iter().flatten();
        self.node
            .iter()
            .chain(&self.trans)
            .chain(edge)
            .copied()
            .collect()
    }

    pub(super) fn variances(&self) -> Vec<f64> {
        let edge = self.edge_variance.iter().flatten();
        let all = self.node_variance.iter().chain(&self.trans_variance);
        all.chain(edge).copied().collect()
    }
}

/// What [`AttributeRows`] are lent from: ends and entries.
type OwnedRows = (Vec<usize>, Vec<(u32, f64)>);

/// The numbers of a case as they are lent.
pub(super) struct Lent {
    transitions: Transitions,
    lattice: Lattice,
    node: Vec<f64>,
    trans: Vec<f64>,
    edge: Option<Vec<f64>>,
    rows: [OwnedRows; 2],
}

impl Lent {
    pub(super) fn new(case: &Case, in_log_space: bool) -> Self {
        let pad = |row: &Vec<f64>| {
            let mut row = row.clone();
            row.resize(padded(case.chain.labels), 1e30);
            row
        };
        let transitions = case.chain.transitions();
        let mut lattice = Lattice::default();
        case.chain.scores(f64::NAN, |scores| match in_log_space {
            true => lattice.forward_backward_in_log_space(&transitions, scores),
            false => lattice.forward_backward(&transitions, scores),
        });
        let rows = [&case.node_attributes, &case.edge_attributes].map(|attributes| {
            let mut end = 0;
            let ends = attributes.iter().map(|row| {
                end += row.len();
                end
            });
            (ends.collect(), attributes.concat())
        });
        Self {
            transitions,
            lattice,
            node: case.node.iter().flat_map(pad).collect(),
            trans: case.trans.iter().flat_map(pad).collect(),
            edge: case.edge.as_ref().map(|edge| {
                let rows = edge.iter().flatten();
                rows.flat_map(pad).collect()
            }),
            rows,
        }
    }

    pub(super) fn shared(&self) -> ChainContext<'_> {
        ChainContext {
            transitions: &self.transitions,
            variance: &self.trans,
        }
    }

    pub(super) fn sentence(&self, weight: f64) -> SentenceInput<'_> {
        let [node, edge] = self
            .rows
            .each_ref()
            .map(|(ends, entries)| AttributeRows { ends, entries });
        SentenceInput {
            lattice: &self.lattice,
            node_variance: &self.node,
            edge_variance: self.edge.as_deref(),
            weight,
            features: Features { node, edge },
        }
    }

    /// Runs an engine on one sentence; what it finds is added to `found`.
    fn run(&self, engine: &mut dyn Regularizer, weight: f64, found: &mut Found) {
        engine.begin(self.shared());
        let out = Derivatives {
            node: &mut found.node,
            edge: found.edge.as_deref_mut(),
            node_variance: &mut found.node_variance,
            edge_variance: found.edge_variance.as_deref_mut(),
        };
        found.value += engine.regularize(self.shared(), self.sentence(weight), out);
        let out = ChainDerivatives {
            scores: &mut found.trans,
            variance: &mut found.trans_variance,
        };
        engine.finish(self.shared(), out);
    }
}

/// What an engine finds.
fn find(case: &Case, engine: Engine) -> Found {
    let mut found = Found::zeros(case);
    Lent::new(case, false).run(&mut *engine.regularizer(), case.weight, &mut found);
    found
}

/// The gradient by the weights of features: from derivatives by scores, as a caller has it.
fn through_features(case: &Case, found: &Found) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let stride = padded(case.chain.labels);
    let map = |attributes: &Attributes, derivatives: &[f64], size: usize| {
        let mut gradient = vec![vec![0.0; size]; 8];
        for (row, from) in attributes.iter().zip(derivatives.chunks_exact(size)) {
            for &(column, value) in row {
                let out = gradient[column as usize].iter_mut();
                out.zip(from).for_each(|(x, d)| *x += value * d);
            }
        }
        gradient
    };
    let node = map(&case.node_attributes, &found.node, stride);
    let edge = match (&found.edge, case.chain.order) {
        (Some(edge), Order::One) => map(&case.edge_attributes, edge, case.chain.labels * stride),
        _ => Vec::new(),
    };
    (node, edge)
}

#[track_caller]
fn assert_all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(
            error <= tolerance,
            "number {i}: found {found}, expected {expected}"
        );
    }
}

#[track_caller]
fn assert_agrees(found: &Found, expected: &Found, tolerance: f64) {
    assert_all_close(&[found.value], &[expected.value], tolerance);
    assert_all_close(&found.node, &expected.node, tolerance);
    assert_all_close(&found.trans, &expected.trans, tolerance);
    let (edge, other) = (found.edge.as_ref(), expected.edge.as_ref());
    assert_all_close(
        edge.map_or(&[], |edge| edge),
        other.map_or(&[], |edge| edge),
        tolerance,
    );
    assert_all_close(&found.variances(), &expected.variances(), tolerance);
}
