//! What training minimizes.
//!
//! ```text
//! J(θ) = − Σ log p(y|x) + c2·‖θ‖² + λ·( Σ_labeled R(x) + α Σ_unlabeled R(u) )   (+ c1·‖θ‖₁)
//! ```
//!
//! a sum over sentences, not a mean; R is the quadratic noise regularizer ([`crate::noise`]), or what
//! it approximates, sampled ([`MonteCarlo`]), λ = n/(n + αm) (eq. 11 of Wang et al. 2013), and the
//! optimizer adds the L1 term. One evaluation gives the value and the whole gradient. It goes
//! through the corpus in blocks ([`BlockPartition`]): scores S = X·Θ
//! and variances V = ρ·X∘²·Θ∘², chain kernel, derivatives by both, and the block's share of the
//! gradient, Xᵀ·∂S + 2ρ·Θ∘(X∘²ᵀ·∂V). Time O(entries of X · K + M·K²) for M tokens.
//!
//! All sums run over fixed chunks in corpus order, so the result does not depend on the number of
//! threads.

mod buffers;
mod curvature;
mod features;
mod monte_carlo;
mod noise;
#[cfg(test)]
mod tests;
mod worker;

use rayon::prelude::*;

use crate::chain::LabelWeights;
use crate::chain::Transitions;
use crate::extract::Dataset;
use crate::optim::Objective;
use crate::score::{
    BlockPartition, Derivatives, ForwardProduct, NoiseDerivatives, ParameterSpace, Targets,
    TransposeProduct,
};
use buffers::{BlockDerivatives, Blocks, LabelSums, add};
pub use features::active_counts;
pub use monte_carlo::MonteCarlo;
use monte_carlo::{Part, Sampling};
use noise::LabelVariances;
pub use noise::{Noise, NoiseDistribution};
pub(crate) use worker::write_scores;
use worker::{Buffers, Shared, Worker};

/// Parameters of a unit of work on the parameter vector.
const PARAMETER_CHUNK: usize = 1 << 14;

/// The terms of the objective, L1 apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Σ log p(y|x): at most 0.
    pub log_likelihood: f64,
    /// The noise term.
    pub noise: f64,
    /// c2·‖θ‖².
    pub l2: f64,
}

/// The penalized negative log-likelihood of a corpus.
///
/// Labeled sentences come first in the data; those behind the last label are unlabeled, and only
/// the noise term sees them.
#[derive(Debug)]
pub struct PenalizedLikelihood<'a> {
    data: &'a Dataset,
    space: &'a ParameterSpace,
    l2: f64,
    noise: Option<Noise>,
    sampling: Option<Sampling>,
    plan: BlockPartition,
    rows: [ForwardProduct; 2], // of nodes and edges
    nodes: TransposeProduct,
    edges: Option<TransposeProduct>,
    workers: Vec<Worker>, // one for each chunk of a block
    buffers: [BlockDerivatives; 2],
    weights: LabelWeights,
    transitions: Transitions,
    variances: LabelVariances,
    totals: LabelSums,
    observed_pairs: Vec<f64>, // [K][stride]
}

impl<'a> PenalizedLikelihood<'a> {
    /// The objective on collapsed training data with strength c2 = `l2`, without noise.
    #[must_use]
    pub fn new(data: &'a Dataset, space: &'a ParameterSpace, l2: f64) -> Self {
        let edges = space.edges.columns() > 0;
        let width = if edges {
            space.edges.width()
        } else {
            space.stride()
        };
        let plan = BlockPartition::new(data, width);
        let transitions = Transitions::new(space.labels(), space.order());
        Self {
            data,
            space,
            l2,
            noise: None,
            sampling: None,
            rows: [
                ForwardProduct::new(&data.nodes, &space.nodes, &space.node_scale),
                ForwardProduct::new(&data.edges, &space.edges, &space.edge_scale),
            ],
            nodes: TransposeProduct::new(&data.nodes, &space.nodes, &space.node_scale, &plan),
            edges: edges.then(|| {
                TransposeProduct::new(&data.edges, &space.edges, &space.edge_scale, &plan)
            }),
            workers: (0..plan.most_chunks())
                .map(|_| Worker::new(&transitions, None))
                .collect(),
            buffers: [(); 2].map(|()| BlockDerivatives {
                scores: Blocks::new(plan.largest_block(), space),
                variances: Blocks::default(),
            }),
            plan,
            weights: LabelWeights::default(),
            transitions,
            variances: LabelVariances::default(),
            totals: LabelSums::default(),
            observed_pairs: observed_pairs(data, space),
        }
    }

    /// The same with a noise term.
    #[must_use]
    pub fn with_noise(mut self, noise: Noise) -> Self {
        if noise.scheme != NoiseDistribution::Additive {
            for buffers in &mut self.buffers {
                buffers.variances = Blocks::new(self.plan.largest_block(), self.space);
            }
        }
        for worker in &mut self.workers {
            *worker = Worker::new(&self.transitions, Some(noise.engine));
        }
        self.noise = Some(noise);
        self
    }

    /// The same with a noise term of real samples instead. Every iteration has others, which
    /// [`Objective::begin_iteration`] goes over to.
    #[must_use]
    pub fn with_monte_carlo(mut self, monte_carlo: MonteCarlo) -> Self {
        self.sampling = Some(Sampling::new(
            monte_carlo,
            self.data,
            self.space,
            &self.plan,
        ));
        self
    }

    /// The same after `done` iterations of an optimization that another one goes on with: it begins
    /// with the samples that would have come next.
    #[must_use]
    pub fn after(mut self, done: u64) -> Self {
        if let Some(sampling) = &mut self.sampling {
            sampling.go_on(done);
        }
        self
    }

    /// Bytes of memory beside the parameters and their gradient.
    #[must_use]
    pub fn memory(&self) -> usize {
        let edges = self.edges.as_ref().map_or(0, TransposeProduct::memory);
        // Label pairs: 5 arrays of a worker, 3 of the transitions, weights, variances, totals, observed.
        let pairs = (5 * self.workers.len() + 8) * self.observed_pairs.len();
        let derivatives = self
            .buffers
            .iter()
            .map(|b| b.scores.len() + b.variances.len());
        let derivatives: usize = derivatives.sum();
        let rows: usize = self.rows.iter().map(ForwardProduct::memory).sum();
        let sampled = self.sampling.as_ref().map_or(0, Sampling::memory);
        rows + sampled + self.nodes.memory() + edges + 8 * (derivatives + pairs)
    }

    /// The L2 penalty and its gradient, which overwrites `gradient`.
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

    /// The shares of all blocks; returns the negative log-likelihood and the noise term.
    ///
    /// While the derivatives of one block go into the gradient the next one is already under way, so
    /// that no thread waits for the last sentences of a block.
    fn blocks(&mut self, theta: &[f64], gradient: &mut [f64]) -> [f64; 2] {
        let [mut done, mut next] = std::mem::take(&mut self.buffers);
        let mut terms = [0.0; 2];
        let mut workers = std::mem::take(&mut self.workers);
        self.run_sentences(0, theta, &mut workers, &mut done);
        for index in 0..self.plan.blocks.len() {
            self.collect(index, &mut workers, gradient, &mut terms);
            let this = &*self;
            rayon::join(
                || this.scatter(index, theta, &done, gradient),
                || this.run_sentences(index + 1, theta, &mut workers, &mut next),
            );
            std::mem::swap(&mut done, &mut next);
        }
        self.workers = workers;
        self.buffers = [done, next];
        terms
    }

    /// Leaves the derivatives of the sentences of a block, if there is one, in `buffers`.
    fn run_sentences(
        &self,
        index: usize,
        theta: &[f64],
        workers: &mut [Worker],
        buffers: &mut BlockDerivatives,
    ) {
        let Some(block) = self.plan.blocks.get(index) else {
            return;
        };
        let chunks = block.chunks.iter();
        let tokens: Vec<usize> = chunks
            .map(|c| self.data.sentence(c.end - 1).end - self.data.sentence(c.start).start)
            .collect();
        let by_scores = buffers.scores.pieces(&tokens, self.space);
        let by_variances = buffers.variances.pieces(&tokens, self.space);
        let buffers = by_scores.into_iter().zip(by_variances);
        let buffers = buffers.map(|(scores, variances)| Buffers { scores, variances });
        let work: Vec<_> = workers.iter_mut().zip(&block.chunks).zip(buffers).collect();
        let shared = self.shared(theta);
        work.into_par_iter()
            .for_each(|((worker, chunk), buffers)| worker.run(&shared, chunk.clone(), buffers));
    }

    /// Collects what the workers of a block have summed, in order.
    fn collect(
        &mut self,
        index: usize,
        workers: &mut [Worker],
        gradient: &mut [f64],
        terms: &mut [f64; 2],
    ) {
        let workers = &mut workers[..self.plan.blocks[index].chunks.len()];
        let [nodes, edges] = [self.space.node_range(), self.space.edge_range()];
        for worker in workers {
            terms[0] += worker.loss;
            terms[1] += worker.noise;
            self.totals.add(&mut worker.sums);
            let [node_sums, edge_sums] = &worker.attributes;
            node_sums.add_to(&self.space.nodes, &mut gradient[nodes.clone()]);
            edge_sums.add_to(&self.space.edges, &mut gradient[edges.clone()]);
        }
    }

    /// The Monte-Carlo term, where there is one.
    fn add_samples(&mut self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let Some(mut sampling) = self.sampling.take() else {
            return 0.0;
        };
        let [mut buffers, rest] = std::mem::take(&mut self.buffers);
        let mut totals = std::mem::take(&mut self.totals);
        let mut value = 0.0;
        for (index, block) in self.plan.blocks.iter().enumerate() {
            let sentences = block.chunks.iter();
            let tokens: Vec<usize> = sentences
                .map(|c| self.data.sentence(c.end - 1).end - self.data.sentence(c.start).start)
                .collect();
            let part = Part {
                block,
                index,
                tokens: &tokens,
            };
            buffers.scores.clear();
            let shared = self.shared(theta);
            let scores = &mut buffers.scores;
            value += sampling.add_block(&shared, &part, scores, &mut totals, gradient);
            self.scatter(index, theta, &buffers, gradient);
        }
        self.totals = totals;
        self.buffers = [buffers, rest];
        self.sampling = Some(sampling);
        value
    }

    /// What all workers read.
    fn shared<'b>(&'b self, theta: &'b [f64]) -> Shared<'b> {
        Shared {
            data: self.data,
            space: self.space,
            rows: &self.rows,
            theta,
            transitions: &self.transitions,
            weights: &self.weights,
            noise: self.noise.as_ref(),
            variances: &self.variances,
        }
    }

    /// Adds the derivatives of one block to the gradient.
    fn scatter(
        &self,
        index: usize,
        theta: &[f64],
        buffers: &BlockDerivatives,
        gradient: &mut [f64],
    ) {
        let space = self.space;
        let rates = self
            .noise
            .filter(|noise| noise.scheme != NoiseDistribution::Additive)
            .map(|noise| noise.rates());
        let parts: [(Option<&TransposeProduct>, &Targets, &[f64], _, _); 2] = [
            (
                Some(&self.nodes),
                &space.nodes,
                &space.node_scale,
                space.node_range(),
                [&buffers.scores.nodes, &buffers.variances.nodes],
            ),
            (
                self.edges.as_ref(),
                &space.edges,
                &space.edge_scale,
                space.edge_range(),
                [&buffers.scores.edges, &buffers.variances.edges],
            ),
        ];
        for (i, (transpose, targets, scale, range, [scores, variances])) in
            parts.into_iter().enumerate()
        {
            let Some(transpose) = transpose else { continue };
            let derivatives = Derivatives {
                scores,
                noise: rates.map(|rates| NoiseDerivatives {
                    variances,
                    rate: rates[i],
                    weights: &theta[range.clone()],
                }),
            };
            transpose.add_gradient(index, targets, scale, derivatives, &mut gradient[range]);
        }
    }

    /// Adds the derivatives by all that does not depend on the text.
    fn add_label_gradient(&mut self, theta: &[f64], gradient: &mut [f64]) {
        let sums = &mut self.totals;
        let observed = self.observed_pairs.iter();
        sums.pairs
            .iter_mut()
            .zip(observed)
            .for_each(|(s, o)| *s -= o);
        if let Some(noise) = &self.noise {
            let [node, edge] = noise.rates();
            let (k, stride) = (self.space.labels(), self.space.stride());
            let weights = &self.weights;
            let rows = sums.pairs.chunks_exact_mut(stride);
            let variances = sums.pair_variances.chunks_exact(stride);
            for ((row, q), w) in rows.zip(variances).zip(weights.transitions.chunks_exact(k)) {
                by_weight(row, 2.0 * edge, w, q);
            }
            by_weight(
                &mut sums.first,
                2.0 * edge,
                &weights.start,
                &sums.first_variances,
            );
            by_weight(
                &mut sums.last,
                2.0 * edge,
                &weights.end,
                &sums.last_variances,
            );
            if noise.scheme == NoiseDistribution::Additive {
                let parts = [
                    (
                        &self.space.nodes,
                        self.space.node_range(),
                        node,
                        &sums.node_variances,
                    ),
                    (
                        &self.space.edges,
                        self.space.edge_range(),
                        edge,
                        &sums.pair_variances,
                    ),
                ];
                for (targets, range, rate, q) in parts {
                    let weights = &theta[range.clone()];
                    targets.add_square_derivatives(weights, 2.0 * rate, q, &mut gradient[range]);
                }
            }
        }
        self.space
            .add_label_gradient([&sums.pairs, &sums.first, &sums.last], gradient);
    }
}

/// Adds `factor · w · q` to derivatives.
fn by_weight(derivatives: &mut [f64], factor: f64, weights: &[f64], variances: &[f64]) {
    for ((d, &w), &q) in derivatives.iter_mut().zip(weights).zip(variances) {
        *d += factor * w * q;
    }
}

impl Objective for PenalizedLikelihood<'_> {
    type Detail = Terms;

    fn dimension(&self) -> usize {
        self.space.dimension()
    }

    fn inverse_curvature(&self) -> Option<Vec<f32>> {
        Some(curvature::inverse(self.data, self.space, self.l2))
    }

    fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64]) -> (f64, Terms) {
        let l2 = self.penalty(theta, gradient);
        let [nodes, edges] = &mut self.rows;
        let space = self.space;
        nodes.set(&space.nodes, &space.node_scale, &theta[space.node_range()]);
        edges.set(&space.edges, &space.edge_scale, &theta[space.edge_range()]);
        self.space.label_weights(theta, &mut self.weights);
        self.transitions.set(
            &self.weights.transitions,
            &self.weights.start,
            &self.weights.end,
        );
        if let Some(noise) = &self.noise {
            self.variances.set(noise, self.space, theta, &self.weights);
        }
        self.totals.clear(self.space.labels(), self.space.stride());
        let [loss, quadratic] = self.blocks(theta, gradient);
        let noise = quadratic + self.add_samples(theta, gradient);
        self.add_label_gradient(theta, gradient);
        let terms = Terms {
            log_likelihood: -loss,
            noise,
            l2,
        };
        (loss + noise + l2, terms)
    }

    fn begin_iteration(&mut self, iteration: u64) -> bool {
        let sampling = self.sampling.as_mut();
        sampling.is_some_and(|sampling| sampling.begin_iteration(iteration))
    }
}

/// How often each pair of neighboring labels occurs, `[K][stride]`.
fn observed_pairs(data: &Dataset, space: &ParameterSpace) -> Vec<f64> {
    let mut counts = vec![0.0; space.labels() * space.stride()];
    for i in 0..data.len() {
        let labels = data.labels.get(data.sentence(i)).unwrap_or_default();
        for pair in labels.windows(2) {
            counts[pair[0].index() * space.stride() + pair[1].index()] += 1.0;
        }
    }
    counts
}
