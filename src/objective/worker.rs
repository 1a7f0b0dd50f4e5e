//! The likelihood of a chunk of sentences and its derivatives by their scores.

use std::ops::Range;

use super::LabelSums;
use crate::chain::{EdgeSums, Lattice, Order, Scores, Transitions};
use crate::extract::Dataset;
use crate::ids::LabelId;
use crate::score::{LabelWeights, ParameterSpace};

/// What all workers of an evaluation read.
pub(super) struct Shared<'a> {
    pub data: &'a Dataset,
    pub space: &'a ParameterSpace,
    pub theta: &'a [f64],
    pub transitions: &'a Transitions,
    pub weights: &'a LabelWeights,
}

/// Scratch space and sums for the sentences of one chunk.
#[derive(Debug)]
pub(super) struct Worker {
    lattice: Lattice,
    edge_sums: EdgeSums,
    /// − Σ log p(y|x) over the chunk.
    pub loss: f64,
    /// Expected label pairs, and expected minus observed first and last labels, over the chunk.
    pub sums: LabelSums,
}

impl Worker {
    pub fn new(transitions: &Transitions) -> Self {
        Self {
            lattice: Lattice::default(),
            edge_sums: EdgeSums::new(transitions),
            loss: 0.0,
            sums: LabelSums::default(),
        }
    }

    /// Runs the sentences `chunk`. Leaves the derivatives of the loss by the scores in `nodes`
    /// (`[tokens][stride]`) and `edges` (`[tokens][K][stride]`; empty without edge attributes; the
    /// first token's line of a sentence stays 0).
    pub fn run(
        &mut self,
        shared: &Shared<'_>,
        chunk: Range<usize>,
        nodes: &mut [f64],
        edges: &mut [f64],
    ) {
        let (labels, stride) = (shared.space.labels(), shared.space.stride());
        self.loss = 0.0;
        self.sums.clear(labels, stride);
        self.edge_sums.clear();
        let first = shared.data.sentence(chunk.start).start;
        for i in chunk {
            let tokens = shared.data.sentence(i);
            let local = tokens.start - first..tokens.end - first;
            let nodes = &mut nodes[local.start * stride..local.end * stride];
            let width = shared.space.edges.width();
            let edges = if edges.is_empty() {
                &mut []
            } else {
                &mut edges[local.start * width..local.end * width]
            };
            self.sentence(shared, tokens, nodes, edges);
        }
        if shared.space.order() == Order::One {
            self.edge_sums
                .finish(shared.transitions, &mut self.sums.pairs);
        }
    }

    fn sentence(
        &mut self,
        shared: &Shared<'_>,
        tokens: Range<usize>,
        nodes: &mut [f64],
        edges: &mut [f64],
    ) {
        let labels = &shared.data.labels[tokens.clone()];
        if labels.is_empty() {
            return;
        }
        write_scores(
            shared.data,
            shared.space,
            shared.theta,
            tokens,
            nodes,
            edges,
        );
        let scores = Scores {
            node: nodes,
            edge: (!edges.is_empty()).then_some(&*edges),
        };
        let log_partition = self.lattice.forward_backward(shared.transitions, scores);
        self.loss += log_partition - gold_score(shared, labels, nodes, edges);

        let stride = shared.space.stride();
        nodes.copy_from_slice(self.lattice.node_marginals());
        for (row, label) in nodes.chunks_exact_mut(stride).zip(labels) {
            row[label.index()] -= 1.0;
        }
        let boundary = [
            (&mut self.sums.first, &nodes[..stride]),
            (&mut self.sums.last, &nodes[nodes.len() - stride..]),
        ];
        for (sums, derivatives) in boundary {
            sums.iter_mut().zip(derivatives).for_each(|(s, d)| *s += d);
        }
        if shared.space.order() == Order::One {
            self.pairs(shared, labels, edges);
        }
    }

    /// Derivatives by edge scores.
    fn pairs(&mut self, shared: &Shared<'_>, labels: &[LabelId], edges: &mut [f64]) {
        let (stride, width) = (shared.space.stride(), shared.space.edges.width());
        self.lattice
            .add_edge_expectations(shared.transitions, &mut self.edge_sums);
        let rows = edges.chunks_exact_mut(width).enumerate().skip(1);
        for ((t, row), pair) in rows.zip(labels.windows(2)) {
            self.lattice.edge_marginals(shared.transitions, t, row);
            row[pair[0].index() * stride + pair[1].index()] -= 1.0;
        }
    }
}

/// Writes the scores of a sentence: `nodes` `[T][stride]`, `edges` `[T][K][stride]` (or empty).
pub(crate) fn write_scores(
    data: &Dataset,
    space: &ParameterSpace,
    theta: &[f64],
    tokens: Range<usize>,
    nodes: &mut [f64],
    edges: &mut [f64],
) {
    nodes.fill(0.0);
    let weights = &theta[space.node_range()];
    for (token, scores) in tokens.clone().zip(nodes.chunks_exact_mut(space.stride())) {
        let row = data.nodes.row(token);
        space
            .nodes
            .add_scores(weights, &space.node_scale, row, scores);
    }
    edges.fill(0.0);
    let weights = &theta[space.edge_range()];
    for (token, scores) in tokens.zip(edges.chunks_exact_mut(space.edges.width().max(1))) {
        let row = data.edges.row(token);
        space
            .edges
            .add_scores(weights, &space.edge_scale, row, scores);
    }
}

/// The score of the labels that the corpus gives.
fn gold_score(shared: &Shared<'_>, labels: &[LabelId], nodes: &[f64], edges: &[f64]) -> f64 {
    let (k, stride) = (shared.space.labels(), shared.space.stride());
    let weights = shared.weights;
    let mut score = 0.0;
    if let (Some(first), Some(last)) = (labels.first(), labels.last()) {
        score += weights.start[first.index()] + weights.end[last.index()];
    }
    for (row, label) in nodes.chunks_exact(stride).zip(labels) {
        score += row[label.index()];
    }
    if shared.space.order() == Order::One {
        for (t, pair) in labels.windows(2).enumerate() {
            let (a, b) = (pair[0].index(), pair[1].index());
            score += weights.transitions[a * k + b];
            if !edges.is_empty() {
                score += edges[((t + 1) * k + a) * stride + b];
            }
        }
    }
    score
}
