//! What training minimizes.
//!
//! ```text
//! J(θ) = − Σ log p(y|x) + c2·‖θ‖²  (+ c1·‖θ‖₁, which the optimizer adds)
//! ```
//!
//! a sum over sentences, not a mean. One evaluation gives the value and the whole gradient. It goes
//! through the corpus in blocks ([`Plan`]): scores S = X·Θ, chain kernel, derivatives ∂J/∂S = μ −
//! \[gold\], and the block's share of the gradient Xᵀ·∂S. Time O(entries of X · K + M·K²) for M tokens.
//!
//! All sums run over fixed chunks in corpus order, so the result does not depend on the number of
//! threads.

#[cfg(test)]
mod tests;
mod worker;

use rayon::prelude::*;

use crate::chain::Transitions;
use crate::extract::Dataset;
use crate::optim::Objective;
use crate::score::{LabelWeights, ParameterSpace, Plan, Transpose};
use worker::Worker;
pub(crate) use worker::write_scores;

/// Parameters of a unit of work on the parameter vector.
const PARAMETER_CHUNK: usize = 1 << 14;

/// The terms of the objective, L1 apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Σ log p(y|x): at most 0.
    pub log_likelihood: f64,
    /// c2·‖θ‖².
    pub l2: f64,
}

/// The penalized negative log-likelihood of a labeled corpus.
#[derive(Debug)]
pub struct Likelihood<'a> {
    data: &'a Dataset,
    space: &'a ParameterSpace,
    l2: f64,
    plan: Plan,
    nodes: Transpose,
    edges: Option<Transpose>,
    workers: Vec<Worker>,       // one for each chunk of a block
    node_derivatives: Vec<f64>, // [tokens of a block][stride]
    edge_derivatives: Vec<f64>, // [tokens of a block][K][stride]
    weights: LabelWeights,
    transitions: Transitions,
    totals: LabelSums,
    observed_pairs: Vec<f64>, // [K][stride]
}

/// Counts of label pairs `[K][stride]`, first and last labels `[stride]`.
#[derive(Clone, Debug, Default)]
struct LabelSums {
    pairs: Vec<f64>,
    first: Vec<f64>,
    last: Vec<f64>,
}

impl LabelSums {
    fn clear(&mut self, labels: usize, stride: usize) {
        for (sums, length) in [
            (&mut self.pairs, labels * stride),
            (&mut self.first, stride),
            (&mut self.last, stride),
        ] {
            sums.clear();
            sums.resize(length, 0.0);
        }
    }

    fn add(&mut self, other: &Self) {
        for (sums, more) in [
            (&mut self.pairs, &other.pairs),
            (&mut self.first, &other.first),
            (&mut self.last, &other.last),
        ] {
            sums.iter_mut().zip(more).for_each(|(s, m)| *s += m);
        }
    }
}

impl<'a> Likelihood<'a> {
    /// The objective on collapsed training data with strength c2 = `l2`.
    #[must_use]
    pub fn new(data: &'a Dataset, space: &'a ParameterSpace, l2: f64) -> Self {
        let edges = space.edges.columns() > 0;
        let width = if edges {
            space.edges.width()
        } else {
            space.stride()
        };
        let plan = Plan::new(data, width);
        let tokens = plan.largest_block();
        let transitions = Transitions::new(space.labels(), space.order());
        Self {
            data,
            space,
            l2,
            nodes: Transpose::new(&data.nodes, &plan),
            edges: edges.then(|| Transpose::new(&data.edges, &plan)),
            workers: (0..plan.most_chunks())
                .map(|_| Worker::new(&transitions))
                .collect(),
            node_derivatives: vec![0.0; tokens * space.stride()],
            edge_derivatives: vec![0.0; if edges { tokens * width } else { 0 }],
            plan,
            weights: LabelWeights::default(),
            transitions,
            totals: LabelSums::default(),
            observed_pairs: observed_pairs(data, space),
        }
    }

    /// Bytes of memory beside the parameters and their gradient.
    #[must_use]
    pub fn memory(&self) -> usize {
        let edges = self.edges.as_ref().map_or(0, Transpose::memory);
        let derivatives = self.node_derivatives.len() + self.edge_derivatives.len();
        // Label pairs: 4 arrays of a worker, 3 of the transitions, weights, totals, observed.
        let pairs = (4 * self.workers.len() + 6) * self.observed_pairs.len();
        self.nodes.memory() + edges + 8 * (derivatives + pairs)
    }

    /// The penalty and its gradient, which overwrites `gradient`.
    fn penalty(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let c2 = self.l2;
        let partial: Vec<f64> = theta
            .par_chunks(PARAMETER_CHUNK)
            .zip(gradient.par_chunks_mut(PARAMETER_CHUNK))
            .map(|(theta, gradient)| {
                let mut sum = 0.0;
                for (g, &w) in gradient.iter_mut().zip(theta) {
                    *g = 2.0 * c2 * w;
                    sum += w * w;
                }
                sum
            })
            .collect();
        c2 * partial.iter().sum::<f64>()
    }

    /// The likelihood part of one block; returns its negative log-likelihood.
    fn block(&mut self, index: usize, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let block = &self.plan.blocks[index];
        let (stride, width) = (self.space.stride(), self.space.edges.width());
        let edge_width = if self.edges.is_some() { width } else { 0 };
        let mut work = Vec::with_capacity(block.chunks.len());
        let mut nodes = &mut self.node_derivatives[..];
        let mut edges = &mut self.edge_derivatives[..];
        for (worker, chunk) in self.workers.iter_mut().zip(&block.chunks) {
            let first = self.data.sentence(chunk.start).start;
            let tokens = self.data.sentence(chunk.end - 1).end - first;
            let (mine, rest) = nodes.split_at_mut(tokens * stride);
            let (mine_edges, rest_edges) = edges.split_at_mut(tokens * edge_width);
            (nodes, edges) = (rest, rest_edges);
            work.push((worker, chunk.clone(), mine, mine_edges));
        }
        let (data, space) = (self.data, self.space);
        let (transitions, weights) = (&self.transitions, &self.weights);
        work.into_par_iter()
            .for_each(|(worker, chunk, nodes, edges)| {
                worker.run(
                    &worker::Shared {
                        data,
                        space,
                        theta,
                        transitions,
                        weights,
                    },
                    chunk,
                    nodes,
                    edges,
                );
            });
        let mut loss = 0.0;
        for worker in &self.workers[..block.chunks.len()] {
            loss += worker.loss;
            self.totals.add(&worker.sums);
        }
        self.nodes.add_gradient(
            index,
            &self.space.nodes,
            &self.space.node_scale,
            &self.node_derivatives,
            &mut gradient[self.space.node_range()],
        );
        if let Some(edges) = &self.edges {
            edges.add_gradient(
                index,
                &self.space.edges,
                &self.space.edge_scale,
                &self.edge_derivatives,
                &mut gradient[self.space.edge_range()],
            );
        }
        loss
    }
}

impl Objective for Likelihood<'_> {
    type Detail = Terms;

    fn dimension(&self) -> usize {
        self.space.dimension()
    }

    fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64]) -> (f64, Terms) {
        let l2 = self.penalty(theta, gradient);
        self.space.label_weights(theta, &mut self.weights);
        self.transitions.set(
            &self.weights.transitions,
            &self.weights.start,
            &self.weights.end,
        );
        self.totals.clear(self.space.labels(), self.space.stride());
        let mut loss = 0.0;
        for index in 0..self.plan.blocks.len() {
            loss += self.block(index, theta, gradient);
        }
        let sums = &mut self.totals;
        let observed = self.observed_pairs.iter();
        sums.pairs
            .iter_mut()
            .zip(observed)
            .for_each(|(s, o)| *s -= o);
        self.space
            .add_label_gradient([&sums.pairs, &sums.first, &sums.last], gradient);
        let terms = Terms {
            log_likelihood: -loss,
            l2,
        };
        (loss + l2, terms)
    }
}

/// How often each pair of neighboring labels occurs, `[K][stride]`.
fn observed_pairs(data: &Dataset, space: &ParameterSpace) -> Vec<f64> {
    let mut counts = vec![0.0; space.labels() * space.stride()];
    for i in 0..data.len() {
        for pair in data.labels[data.sentence(i)].windows(2) {
            counts[pair[0].index() * space.stride() + pair[1].index()] += 1.0;
        }
    }
    counts
}
