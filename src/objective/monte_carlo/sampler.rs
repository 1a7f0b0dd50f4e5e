//! One sample of one chunk of sentences: the divergence D and its derivatives.

use std::ops::Range;

use super::mask::SampleMasks;
use crate::chain::{Lattice, Order, Scores, Transitions, padded};
use crate::math::{add, dot};
use crate::noise::{HessianProduct, ScoreDerivatives, ScoreDirection};
use crate::objective::LabelSums;
use crate::objective::buffers::ScoreArrays;
use crate::objective::chunk::Context;

/// The inputs that all samplers share.
pub(super) struct SampleContext<'a> {
    pub evaluation: Context<'a>,
    pub masks: &'a SampleMasks,
    /// Transitions with all scores 0.
    pub zero_transitions: &'a Transitions,
    /// Class sizes of node and edge attributes.
    pub members: &'a [Vec<u32>; 2],
    /// Rates of single node and edge attributes, where they differ.
    pub rates: [Option<&'a [f64]>; 2],
    /// The factors of D of a labeled and of an unlabeled sentence of weight 1.
    pub factors: [f64; 2],
}

/// The derivatives of the tokens of a chunk.
pub(super) struct SamplerOutput<'a> {
    /// Accumulates −∇²A(s)·(s̃ − s).
    pub score_derivatives: ScoreArrays<'a>,
    /// Overwritten with μ(s̃) − μ(s).
    pub noised_derivatives: ScoreArrays<'a>,
}

/// Buffers and sums for the sentences of one chunk. Clean scores exclude transitions and
/// boundaries; noised scores include them.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    clean: Lattice,
    noised: Lattice,
    product: HessianProduct,
    nodes: Vec<f64>,            // [T][S] s
    edges: Vec<f64>,            // [T][K][S] s, or empty without edge attributes
    noised_nodes: Vec<f64>,     // [T][S] s̃, then s̃ − s
    noised_edges: Vec<f64>,     // [T][K][S] s̃, then s̃ − s; empty at order 0
    node_derivatives: Vec<f64>, // [T][S] −∇²A·(s̃ − s)
    marginals: [Vec<f64>; 2],   // [K][S] of s, of s̃
    factors: Vec<f64>,          // [weights of a column]
    masked: Vec<f64>,           // [weights of a column]
    /// The noise term of the chunk.
    pub value: f64,
    /// Sums of derivatives with respect to label weights.
    pub sums: LabelSums,
}

impl Sampler {
    /// Evaluates the sentences `chunk`.
    pub fn run(
        &mut self,
        context: &SampleContext<'_>,
        chunk: Range<usize>,
        mut output: SamplerOutput<'_>,
    ) {
        let Context {
            data, space, chain, ..
        } = context.evaluation;
        let (labels, stride) = (space.labels(), space.stride());
        self.value = 0.0;
        self.sums.clear(chain.transitions.pair_numbers(), stride);
        self.product.begin(chain.transitions);
        for matrix in &mut self.marginals {
            matrix.resize(labels * stride, 0.0);
        }
        let labeled = data.labeled();
        for i in chunk {
            let tokens = data.sentence(i);
            let output = SamplerOutput {
                score_derivatives: output.score_derivatives.take(tokens.len(), space),
                noised_derivatives: output.noised_derivatives.take(tokens.len(), space),
            };
            if !tokens.is_empty() {
                let weight = data.weight(i) * context.factors[usize::from(i >= labeled)];
                self.run_sentence(context, tokens, weight, output);
            }
        }
        if space.order() == Order::One {
            self.product.finish(&mut self.sums.pairs);
        }
    }

    fn run_sentence(
        &mut self,
        context: &SampleContext<'_>,
        tokens: Range<usize>,
        weight: f64,
        output: SamplerOutput<'_>,
    ) {
        let transitions = context.evaluation.chain.transitions;
        let has_edges = !output.score_derivatives.edges.is_empty();
        self.write_attribute_scores(context, tokens.clone(), has_edges);
        self.add_label_scores(context, tokens.clone());
        let scores = Scores {
            node: &self.nodes,
            edge: (!self.edges.is_empty()).then_some(&self.edges),
        };
        let clean = self.clean.forward_backward(transitions, scores);
        let scores = Scores {
            node: &self.noised_nodes,
            edge: (!self.noised_edges.is_empty()).then_some(&self.noised_edges),
        };
        let noised = self
            .noised
            .forward_backward(context.zero_transitions, scores);
        self.subtract_scores(transitions, tokens.len());
        let first_order =
            self.differentiate_masked(context, tokens, weight, output.noised_derivatives);
        self.value += weight * (noised - clean - first_order);
        self.add_hessian_product(transitions, weight, output.score_derivatives);
    }

    /// Writes the clean and the noised attribute scores.
    fn write_attribute_scores(
        &mut self,
        context: &SampleContext<'_>,
        tokens: Range<usize>,
        has_edges: bool,
    ) {
        let Context {
            data, space, theta, ..
        } = context.evaluation;
        let has_chain = space.order() == Order::One;
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        let arrays = [
            (&mut self.nodes, &mut self.noised_nodes, [true, true]),
            (
                &mut self.edges,
                &mut self.noised_edges,
                [has_edges, has_chain],
            ),
        ];
        for (i, (scores, noised, needed)) in arrays.into_iter().enumerate() {
            let (matrix, block) = matrices[i];
            let (targets, width) = (&block.targets, block.width());
            for (array, needed) in [&mut *scores, &mut *noised].into_iter().zip(needed) {
                array.clear();
                array.resize(if needed { tokens.len() * width } else { 0 }, 0.0);
            }
            let weights = block.weights(theta);
            let rows = scores.chunks_exact_mut(width);
            let rows = rows.zip(noised.chunks_exact_mut(width));
            for (token, (row, noised)) in tokens.clone().zip(rows) {
                for (column, value) in matrix.entries(token) {
                    let column = column as usize;
                    let weights = &weights[targets.range(column)];
                    let c = block.scale[column] * value;
                    targets.add_weights(column, c, weights, row);
                    let masks = context.masks.attributes[i];
                    let masks = match context.rates[i] {
                        None => masks,
                        Some(rates) => masks.with_rate(rates[column]),
                    };
                    let members = context.members[i][column];
                    self.factors.resize(weights.len(), 0.0);
                    masks.fill(token, column, members, &mut self.factors);
                    self.masked.clear();
                    let masked = weights.iter().zip(&self.factors);
                    self.masked.extend(masked.map(|(w, factor)| w * factor));
                    targets.add_weights(column, c, &self.masked, noised);
                }
            }
        }
    }

    /// Adds noised transitions and boundary weights to the noised scores.
    fn add_label_scores(&mut self, context: &SampleContext<'_>, tokens: Range<usize>) {
        let transitions = context.zero_transitions;
        let (labels, stride) = (transitions.labels(), transitions.stride());
        let (chain, sample) = (context.evaluation.chain.transitions, context.masks);
        let last = self.noised_nodes.len() - stride;
        for (at, masks, weights) in [
            (0, &sample.start, chain.start()),
            (last, &sample.end, chain.end()),
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
            sample.transitions.fill(token, 0, 1, &mut self.factors);
            let weights = chain.scores().chunks_exact(stride);
            let weights = weights.zip(self.factors.chunks_exact(labels));
            for (row, (weights, factors)) in matrix.chunks_exact_mut(stride).zip(weights) {
                for ((x, w), factor) in row.iter_mut().zip(weights).zip(factors) {
                    *x += w * factor;
                }
            }
        }
    }

    /// Replaces s̃ by s̃ − s.
    fn subtract_scores(&mut self, transitions: &Transitions, tokens: usize) {
        let stride = transitions.stride();
        subtract(&mut self.noised_nodes, &self.nodes);
        subtract(&mut self.noised_nodes, transitions.start());
        let last = (tokens - 1) * stride;
        subtract(&mut self.noised_nodes[last..], transitions.end());
        subtract(&mut self.noised_edges, &self.edges);
        let size = transitions.labels() * stride;
        for matrix in self.noised_edges.chunks_exact_mut(size).skip(1) {
            subtract(matrix, transitions.scores());
        }
    }

    /// Computes the derivatives with respect to noised scores; returns ⟨μ(s), s̃ − s⟩.
    fn differentiate_masked(
        &mut self,
        context: &SampleContext<'_>,
        tokens: Range<usize>,
        weight: f64,
        noised_derivatives: ScoreArrays<'_>,
    ) -> f64 {
        let ScoreArrays { nodes, edges } = noised_derivatives;
        let (transitions, zero) = (
            context.evaluation.chain.transitions,
            context.zero_transitions,
        );
        let (labels, stride) = (zero.labels(), zero.stride());
        let marginals = self.clean.node_marginals();
        let mut product = dot(marginals, &self.noised_nodes);
        let pairs = nodes.iter_mut().zip(self.noised.node_marginals());
        for ((out, noised), clean) in pairs.zip(marginals) {
            *out = weight * (noised - clean);
        }
        let last = nodes.len() - stride;
        self.factors.resize(labels, 0.0);
        for (at, masks, sums) in [
            (0, &context.masks.start, &mut self.sums.first),
            (last, &context.masks.end, &mut self.sums.last),
        ] {
            masks.fill(tokens.start + at / stride, 0, 1, &mut self.factors);
            add_masked(&self.factors, &nodes[at..][..stride], sums, labels);
        }
        let size = labels * stride;
        let [clean, noised] = &mut self.marginals;
        self.factors.resize(labels * labels, 0.0);
        for t in 1..self.noised_edges.len() / size {
            self.clean.edge_marginals(transitions, t, clean);
            self.noised.edge_marginals(zero, t, noised);
            product += dot(clean, &self.noised_edges[t * size..][..size]);
            for (noised, clean) in noised.iter_mut().zip(&*clean) {
                *noised = weight * (*noised - clean);
            }
            if !edges.is_empty() {
                edges[t * size..][..size].copy_from_slice(noised);
            }
            let masks = &context.masks.transitions;
            masks.fill(tokens.start + t, 0, 1, &mut self.factors);
            add_masked(&self.factors, noised, &mut self.sums.pairs, labels);
        }
        product
    }

    /// Adds −∇²A(s)·(s̃ − s) to the derivatives with respect to scores.
    fn add_hessian_product(
        &mut self,
        transitions: &Transitions,
        weight: f64,
        score_derivatives: ScoreArrays<'_>,
    ) {
        let ScoreArrays { nodes, edges } = score_derivatives;
        self.node_derivatives.clear();
        self.node_derivatives.resize(nodes.len(), 0.0);
        let direction = ScoreDirection {
            node: &self.noised_nodes,
            edge: (!self.noised_edges.is_empty()).then_some(&self.noised_edges),
        };
        let out = ScoreDerivatives {
            node: &mut self.node_derivatives,
            edge: (!edges.is_empty()).then_some(edges),
        };
        self.product
            .add(transitions, &self.clean, direction, -weight, out);
        add(nodes, &self.node_derivatives);
        let stride = transitions.stride();
        add(&mut self.sums.first, &self.node_derivatives[..stride]);
        add(
            &mut self.sums.last,
            &self.node_derivatives[nodes.len() - stride..],
        );
    }
}

/// Adds the derivatives with respect to noised scores, times the mask factors of their weights, to
/// `sums`. `factors` is `[n][K]`, the others are `[n][S]`.
fn add_masked(factors: &[f64], derivatives: &[f64], sums: &mut [f64], labels: usize) {
    let stride = padded(labels);
    let rows = derivatives
        .chunks_exact(stride)
        .zip(sums.chunks_exact_mut(stride));
    for (factors, (derivatives, sums)) in factors.chunks_exact(labels).zip(rows) {
        for ((sum, x), factor) in sums.iter_mut().zip(derivatives).zip(factors) {
            *sum += x * factor;
        }
    }
}

fn subtract(numbers: &mut [f64], terms: &[f64]) {
    numbers.iter_mut().zip(terms).for_each(|(x, y)| *x -= y);
}
