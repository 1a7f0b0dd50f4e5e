//! Which parameter stands where in θ.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::targets::Targets;
use crate::chain::{self, LabelWeights, Order};
use crate::extract::{Classes, Dataset};

/// Whether there are weights for the first and the last label of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    /// There are.
    On,
    /// There are none (as in CRFsuite).
    Off,
}

/// Which pairs of attribute and label have weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum States {
    /// All.
    All,
    /// Those seen together in the training data (as in CRFsuite); likewise pairs of labels.
    Observed,
}

/// What decides the shape of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceOptions {
    /// Order of the chain.
    pub order: Order,
    /// Boundary weights.
    pub boundary: Boundary,
    /// Pairs of attribute and label that have weights.
    pub states: States,
    /// Whether pairs of labels have weights of their own (order 1 only).
    pub transitions: bool,
}

/// The layout of θ: node weights, edge weights, transitions, start, end.
#[derive(Clone, Debug)]
pub struct ParameterSpace {
    labels: usize, // K
    stride: usize, // K padded
    order: Order,
    /// Node attributes (one column for each class).
    pub nodes: Targets,
    /// Edge attributes (one column for each class).
    pub edges: Targets,
    /// √m for each class of node attributes.
    pub node_scale: Vec<f64>,
    /// √m for each class of edge attributes.
    pub edge_scale: Vec<f64>,
    singles: [Targets; 3], // transition, start, end: one column each, or none
    offsets: [usize; 6],
}

impl ParameterSpace {
    /// The parameters for K `labels`, given the collapsed training data and the classes it was
    /// collapsed by.
    #[must_use]
    pub fn new(
        labels: usize,
        data: &Dataset,
        node_classes: &Classes,
        edge_classes: &Classes,
        options: SpaceOptions,
    ) -> Self {
        let stride = chain::padded(labels);
        let seen = Seen::in_labels(data, labels, stride);
        let (nodes, edges) = (node_classes.len(), edge_classes.len());
        let label = |token: usize| data.labels.get(token).map(|label| label.index() as u32);
        let (nodes, edges) = match options.states {
            States::All => (
                Targets::all(nodes, labels, stride, 1),
                Targets::all(edges, labels, stride, labels),
            ),
            States::Observed => (
                Targets::observed(nodes, labels, stride, 1, &data.nodes, label),
                Targets::observed(edges, labels, stride, labels, &data.edges, |token| {
                    seen.pair_into[token]
                }),
            ),
        };
        let single = |wanted: bool, height: usize, places: &[u32]| match options.states {
            _ if !wanted => Targets::all(0, labels, stride, height),
            States::All => Targets::all(1, labels, stride, height),
            States::Observed => Targets::single(labels, stride, height, places.to_vec()),
        };
        let boundary = options.boundary == Boundary::On;
        let transitions = options.order == Order::One && options.transitions;
        let singles = [
            single(transitions, labels, &seen.pairs),
            single(boundary, 1, &seen.first),
            single(boundary, 1, &seen.last),
        ];
        let mut offsets = [0; 6];
        let sizes = [&nodes, &edges, &singles[0], &singles[1], &singles[2]].map(Targets::weights);
        for (i, size) in sizes.into_iter().enumerate() {
            offsets[i + 1] = offsets[i] + size;
        }
        Self {
            labels,
            stride,
            order: options.order,
            nodes,
            edges,
            node_scale: node_classes.scales(),
            edge_scale: edge_classes.scales(),
            singles,
            offsets,
        }
    }

    /// Number of parameters.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.offsets[5]
    }

    /// Number of labels K.
    #[must_use]
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// K padded: the length of a line of scores.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Order of the chain.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// Where the node weights stand in θ.
    #[must_use]
    pub fn node_range(&self) -> Range<usize> {
        self.offsets[0]..self.offsets[1]
    }

    /// Where the edge weights stand in θ.
    #[must_use]
    pub fn edge_range(&self) -> Range<usize> {
        self.offsets[1]..self.offsets[2]
    }

    /// The strength of the L1 penalty on each parameter: c1·√m.
    #[must_use]
    pub fn l1_strengths(&self, c1: f64) -> Vec<f64> {
        let mut strengths = vec![c1; self.dimension()];
        let blocks = [
            (&self.nodes, &self.node_scale, self.offsets[0]),
            (&self.edges, &self.edge_scale, self.offsets[1]),
        ];
        for (targets, scale, offset) in blocks {
            for (column, scale) in scale.iter().enumerate() {
                let range = targets.range(column);
                strengths[offset + range.start..offset + range.end].fill(c1 * scale);
            }
        }
        strengths
    }

    /// Writes the transition and boundary weights of θ out in full.
    pub fn label_weights(&self, theta: &[f64], weights: &mut LabelWeights) {
        let k = self.labels;
        let lengths = [k * k, k, k];
        let outs = [
            &mut weights.transitions,
            &mut weights.start,
            &mut weights.end,
        ];
        for (i, (out, length)) in outs.into_iter().zip(lengths).enumerate() {
            out.clear();
            out.resize(length, 0.0);
            if self.singles[i].columns() > 0 {
                let block = &theta[self.offsets[i + 2]..];
                self.singles[i].for_each(0, |place, index| {
                    out[place / self.stride * k + place % self.stride] = block[index];
                });
            }
        }
    }

    /// Adds derivatives by transition scores `[K][stride]`, start and end scores `[stride]` to the
    /// gradient.
    pub fn add_label_gradient(&self, derivatives: [&[f64]; 3], gradient: &mut [f64]) {
        for (i, derivatives) in derivatives.into_iter().enumerate() {
            if self.singles[i].columns() > 0 {
                let block = &mut gradient[self.offsets[i + 2]..];
                self.singles[i].for_each(0, |place, index| block[index] += derivatives[place]);
            }
        }
    }
}

/// Labels and pairs of labels that the training data show.
struct Seen {
    pair_into: Vec<Option<u32>>, // [M] place of (label before, label); none for first tokens
    pairs: Vec<u32>,             // places, ascending
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Seen {
    fn in_labels(data: &Dataset, labels: usize, stride: usize) -> Self {
        let mut pairs = vec![false; labels * stride];
        let mut boundary = [vec![false; stride], vec![false; stride]];
        let mut pair_into = vec![None; data.tokens()];
        for i in 0..data.len() {
            let tokens = data.sentence(i);
            let labels = data.labels.get(tokens.clone()).unwrap_or_default();
            let (Some(first), Some(last)) = (labels.first(), labels.last()) else {
                continue;
            };
            boundary[0][first.index()] = true;
            boundary[1][last.index()] = true;
            for (t, pair) in labels.windows(2).enumerate() {
                let place = pair[0].index() * stride + pair[1].index();
                pairs[place] = true;
                pair_into[tokens.start + t + 1] = Some(place as u32);
            }
        }
        let places = |seen: &[bool]| {
            (0..seen.len() as u32)
                .filter(|&i| seen[i as usize])
                .collect::<Vec<_>>()
        };
        Self {
            pair_into,
            pairs: places(&pairs),
            first: places(&boundary[0]),
            last: places(&boundary[1]),
        }
    }
}
