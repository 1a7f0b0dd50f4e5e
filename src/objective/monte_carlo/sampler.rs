//! One sample of one chunk of sentences: the divergence D and its derivatives.

use std::ops::Range;

use super::Draw;
use super::mask::Masks;
use crate::chain::{Lattice, Order, Scores, Transitions, padded};
use crate::noise::{HessianProduct, ScoreDerivatives, ScoreDirection};
use crate::objective::worker::{Shared, cut};
use crate::objective::{LabelSums, add};

/// What all samplers read.
pub(super) struct Source<'a> {
    pub shared: &'a Shared<'a>,
    pub draw: &'a Draw,
    /// Transitions of which all are 0.
    pub blank: &'a Transitions,
    /// Attributes of each class: nodes, edges.
    pub members: &'a [Vec<u32>; 2],
    /// What D of a labeled and of an unlabeled sentence is multiplied by.
    pub weights: [f64; 2],
}

/// Where a chunk leaves its derivatives: those of nodes `[tokens][stride]`, and of edges
/// `[tokens][K][stride]`, empty without edge attributes.
pub(super) struct Output<'a> {
    /// Added to: −∇²A(s)·(s̃ − s).
    pub by_scores: [&'a mut [f64]; 2],
    /// Written over: μ(s̃) − μ(s).
    pub by_noised: [&'a mut [f64]; 2],
}

/// Scratch space and sums for the sentences of one chunk. Scores without noise leave out transitions
/// and boundaries; those with noise hold them.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    clean: Lattice,
    noised: Lattice,
    product: HessianProduct,
    nodes: Vec<f64>,          // [T][S] s
    edges: Vec<f64>,          // [T][K][S] s, or empty without edge attributes
    noised_nodes: Vec<f64>,   // [T][S] s̃, then s̃ − s
    noised_edges: Vec<f64>,   // [T][K][S] s̃, then s̃ − s; empty at order 0
    by_nodes: Vec<f64>,       // [T][S] −∇²A·(s̃ − s)
    marginals: [Vec<f64>; 2], // [K][S] of s, of s̃
    factors: Vec<f64>,        // [weights of a column]
    masked: Vec<f64>,         // [weights of a column]
    /// The noise term of the chunk.
    pub value: f64,
    /// Sums of derivatives by the weights of label pairs, first and last labels.
    pub sums: LabelSums,
}

impl Sampler {
    /// Runs the sentences `chunk`.
    pub fn run(&mut self, source: &Source<'_>, chunk: Range<usize>, output: Output<'_>) {
        let shared = source.shared;
        let (labels, stride) = (shared.space.labels(), shared.space.stride());
        self.value = 0.0;
        self.sums.clear(labels, stride);
        self.product.begin(shared.transitions);
        for matrix in &mut self.marginals {
            matrix.resize(labels * stride, 0.0);
        }
        let [mut nodes, mut edges] = output.by_scores;
        let [mut noised_nodes, mut noised_edges] = output.by_noised;
        let labeled = shared.data.labeled();
        for i in chunk {
            let tokens = shared.data.sentence(i);
            let size = [stride, labels * stride].map(|width| tokens.len() * width);
            let output = Output {
                by_scores: [cut(&mut nodes, size[0]), cut(&mut edges, size[1])],
                by_noised: [
                    cut(&mut noised_nodes, size[0]),
                    cut(&mut noised_edges, size[1]),
                ],
            };
            if !tokens.is_empty() {
                let weight = source.weights[usize::from(i >= labeled)];
                self.sentence(source, tokens, weight, output);
            }
        }
        if shared.space.order() == Order::One {
            self.product.finish(&mut self.sums.pairs);
        }
    }

    fn sentence(
        &mut self,
        source: &Source<'_>,
        tokens: Range<usize>,
        weight: f64,
        output: Output<'_>,
    ) {
        let shared = source.shared;
        self.write_attribute_scores(source, tokens.clone(), !output.by_scores[1].is_empty());
        self.add_label_scores(source, tokens.clone());
        let scores = Scores {
            node: &self.nodes,
            edge: (!self.edges.is_empty()).then_some(&self.edges),
        };
        let clean = self.clean.forward_backward(shared.transitions, scores);
        let scores = Scores {
            node: &self.noised_nodes,
            edge: (!self.noised_edges.is_empty()).then_some(&self.noised_edges),
        };
        let noised = self.noised.forward_backward(source.blank, scores);
        self.subtract_scores(shared, tokens.len());
        let first_order = self.differ(source, tokens, weight, output.by_noised);
        self.value += weight * (noised - clean - first_order);
        self.correct(shared, weight, output.by_scores);
    }

    /// Writes what attributes give to scores with and without noise.
    fn write_attribute_scores(&mut self, source: &Source<'_>, tokens: Range<usize>, edges: bool) {
        let (data, space) = (source.shared.data, source.shared.space);
        let [by_nodes, by_edges] = [space.stride(), space.labels() * space.stride()];
        let has_chain = space.order() == Order::One;
        let pieces = [
            (&data.nodes, &space.nodes, &space.node_scale, by_nodes),
            (&data.edges, &space.edges, &space.edge_scale, by_edges),
        ];
        let ranges = [space.node_range(), space.edge_range()];
        let arrays = [
            (&mut self.nodes, &mut self.noised_nodes, [true, true]),
            (&mut self.edges, &mut self.noised_edges, [edges, has_chain]),
        ];
        for (i, (scores, noised, wanted)) in arrays.into_iter().enumerate() {
            let (rows, targets, scale, width) = pieces[i];
            for (array, wanted) in [&mut *scores, &mut *noised].into_iter().zip(wanted) {
                array.clear();
                array.resize(if wanted { tokens.len() * width } else { 0 }, 0.0);
            }
            let weights = &source.shared.theta[ranges[i].clone()];
            let lines = scores.chunks_exact_mut(width);
            for ((token, line), noised) in tokens
                .clone()
                .zip(lines)
                .zip(noised.chunks_exact_mut(width))
            {
                for (column, value) in rows.entries(token) {
                    let column = column as usize;
                    let weights = &weights[targets.range(column)];
                    let c = scale[column] * value;
                    targets.add_weights(column, c, weights, line);
                    let masks = &source.draw.attributes[i];
                    self.factors.resize(weights.len(), 0.0);
                    masks.fill(token, column, source.members[i][column], &mut self.factors);
                    self.masked.clear();
                    let masked = weights.iter().zip(&self.factors);
                    self.masked.extend(masked.map(|(w, factor)| w * factor));
                    targets.add_weights(column, c, &self.masked, noised);
                }
            }
        }
    }

    /// Adds noised transitions and boundary weights to the scores with noise.
    fn add_label_scores(&mut self, source: &Source<'_>, tokens: Range<usize>) {
        let (labels, stride) = (source.blank.labels(), source.blank.stride());
        let (weights, draw) = (source.shared.weights, source.draw);
        let last = self.noised_nodes.len() - stride;
        for (at, masks, weights) in [
            (0, &draw.start, &weights.start),
            (last, &draw.end, &weights.end),
        ] {
            let token = tokens.start + at / stride;
            self.factors.resize(labels, 0.0);
            masks.fill(token, 0, 1, &mut self.factors);
            let row = &mut self.noised_nodes[at..];
            for ((x, w), factor) in row.iter_mut().zip(weights).zip(&self.factors) {
                *x += w * factor;
            }
        }
        self.factors.resize(labels * labels, 0.0);
        let matrices = self.noised_edges.chunks_exact_mut(labels * stride);
        for (token, matrix) in tokens.zip(matrices).skip(1) {
            draw.transitions.fill(token, 0, 1, &mut self.factors);
            let weights = weights.transitions.chunks_exact(labels);
            let weights = weights.zip(self.factors.chunks_exact(labels));
            for (row, (weights, factors)) in matrix.chunks_exact_mut(stride).zip(weights) {
                for ((x, w), factor) in row.iter_mut().zip(weights).zip(factors) {
                    *x += w * factor;
                }
            }
        }
    }

    /// Turns s̃ into s̃ − s.
    fn subtract_scores(&mut self, shared: &Shared<'_>, tokens: usize) {
        let transitions = shared.transitions;
        let stride = transitions.stride();
        subtract(&mut self.noised_nodes, &self.nodes);
        subtract(&mut self.noised_nodes, transitions.start());
        let last = (tokens - 1) * stride;
        subtract(&mut self.noised_nodes[last..], transitions.end());
        subtract(&mut self.noised_edges, &self.edges);
        let size = transitions.scores().len();
        for matrix in self.noised_edges.chunks_exact_mut(size).skip(1) {
            subtract(matrix, transitions.scores());
        }
    }

    /// Derivatives by masked features; returns ⟨μ(s), s̃ − s⟩.
    fn differ(
        &mut self,
        source: &Source<'_>,
        tokens: Range<usize>,
        weight: f64,
        [nodes, edges]: [&mut [f64]; 2],
    ) -> f64 {
        let (labels, stride) = (source.blank.labels(), source.blank.stride());
        let marginals = self.clean.node_marginals();
        let mut product = dot(marginals, &self.noised_nodes);
        let pairs = nodes.iter_mut().zip(self.noised.node_marginals());
        for ((out, noised), clean) in pairs.zip(marginals) {
            *out = weight * (noised - clean);
        }
        let last = nodes.len() - stride;
        self.factors.resize(labels, 0.0);
        for (at, masks, sums) in [
            (0, &source.draw.start, &mut self.sums.first),
            (last, &source.draw.end, &mut self.sums.last),
        ] {
            let place = (tokens.start + at / stride, &mut self.factors[..]);
            add_masked(masks, place, &nodes[at..][..stride], sums, labels);
        }
        let size = labels * stride;
        let [clean, noised] = &mut self.marginals;
        self.factors.resize(labels * labels, 0.0);
        for t in 1..self.noised_edges.len() / size {
            self.clean
                .edge_marginals(source.shared.transitions, t, clean);
            self.noised.edge_marginals(source.blank, t, noised);
            product += dot(clean, &self.noised_edges[t * size..][..size]);
            for (noised, clean) in noised.iter_mut().zip(&*clean) {
                *noised = weight * (*noised - clean);
            }
            if !edges.is_empty() {
                edges[t * size..][..size].copy_from_slice(noised);
            }
            let place = (tokens.start + t, &mut self.factors[..]);
            let masks = &source.draw.transitions;
            add_masked(masks, place, noised, &mut self.sums.pairs, labels);
        }
        product
    }

    /// Adds −∇²A(s)·(s̃ − s) to the derivatives by scores.
    fn correct(&mut self, shared: &Shared<'_>, weight: f64, [nodes, edges]: [&mut [f64]; 2]) {
        self.by_nodes.clear();
        self.by_nodes.resize(nodes.len(), 0.0);
        let direction = ScoreDirection {
            node: &self.noised_nodes,
            edge: (!self.noised_edges.is_empty()).then_some(&self.noised_edges),
        };
        let out = ScoreDerivatives {
            node: &mut self.by_nodes,
            edge: (!edges.is_empty()).then_some(edges),
        };
        let transitions = shared.transitions;
        self.product
            .add(transitions, &self.clean, direction, -weight, out);
        add(nodes, &self.by_nodes);
        let stride = shared.space.stride();
        add(&mut self.sums.first, &self.by_nodes[..stride]);
        add(&mut self.sums.last, &self.by_nodes[nodes.len() - stride..]);
    }
}

/// Adds derivatives by noised scores, times the masks of their weights at a token, to sums. `factors` is
/// `[n][K]`, both others `[n][S]`.
fn add_masked(
    masks: &Masks,
    (token, factors): (usize, &mut [f64]),
    derivatives: &[f64],
    sums: &mut [f64],
    labels: usize,
) {
    masks.fill(token, 0, 1, factors);
    let stride = padded(labels);
    let lines = derivatives
        .chunks_exact(stride)
        .zip(sums.chunks_exact_mut(stride));
    for (factors, (derivatives, sums)) in factors.chunks_exact(labels).zip(lines) {
        for ((sum, x), factor) in sums.iter_mut().zip(derivatives).zip(factors) {
            *sum += x * factor;
        }
    }
}

fn subtract(numbers: &mut [f64], terms: &[f64]) {
    numbers.iter_mut().zip(terms).for_each(|(x, y)| *x -= y);
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
