//! A pass over all sentences: their scores, the sentence kernel, and the sums of values and
//! derivatives.

use rayon::prelude::*;

use super::buffers::{BlockArrays, LabelSums, LabelVariances};
use super::chunk::{ChunkWorker, Context, PassInput};
use super::noise::SentenceNoise;
use super::problem::{Problem, SentenceSums};
use super::sentence::ChainParameters;
use super::totals::{Anchors, LIMITS, VarianceFactors};
use crate::chain::{LabelWeights, Transitions};
use crate::noise::Engine;
use crate::score::{ForwardProduct, VarianceDerivatives};

/// The state of passes over the sentences of a [`Problem`], one after another: the label weights of
/// the last θ, and buffers.
#[derive(Debug)]
pub struct SentencePass {
    pub(super) noise: Option<SentenceNoise>,
    pub(super) products: [ForwardProduct; 2], // nodes, edges
    weights: LabelWeights,                    // a buffer
    transitions: Transitions,
    variances: LabelVariances,
    sums: LabelSums,
    workers: Vec<ChunkWorker>, // one per chunk of a block
    /// Derivatives with respect to scores and variances of the current block and of the next one.
    buffers: [[BlockArrays; 2]; 2],
}

impl SentencePass {
    /// Creates passes without noise.
    pub(super) fn new(problem: &Problem) -> Self {
        let Problem { data, space, partition, .. } = problem;
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        let mut pass = Self {
            noise: None,
            products: matrices.map(|(matrix, block)| ForwardProduct::new(matrix, block)),
            weights: LabelWeights::default(),
            transitions: space.transitions(),
            variances: LabelVariances::default(),
            sums: LabelSums::default(),
            workers: Vec::new(),
            buffers: [(); 2].map(|()| {
                let scores = BlockArrays::new(partition.max_block_tokens(), space);
                [scores, BlockArrays::default()]
            }),
        };
        pass.set_noise(problem, None);
        pass
    }

    /// Sets the noise of the sentences, and sizes the buffers for it.
    pub(super) fn set_noise(&mut self, problem: &Problem, noise: Option<SentenceNoise>) {
        if noise.as_ref().is_some_and(|noise| noise.options.gradient != Engine::Exact) {
            self.use_all_pairs(problem);
        }
        let tokens = noise.as_ref().map_or(0, |_| problem.partition.max_block_tokens());
        for [_, variances] in &mut self.buffers {
            *variances = BlockArrays::new(tokens, &problem.space);
        }
        self.noise = noise;
        self.create_workers(problem);
    }

    /// Works with matrices over all label pairs from now on.
    pub(super) fn use_all_pairs(&mut self, problem: &Problem) {
        if self.transitions.pairs().is_some() {
            self.transitions = Transitions::new(problem.space.labels(), problem.space.order());
            self.create_workers(problem);
        }
    }

    fn create_workers(&mut self, problem: &Problem) {
        let engine = self.noise.as_ref().map(|noise| noise.options.gradient);
        let chunks = 0..problem.partition.max_block_chunks();
        let worker = |_| ChunkWorker::new(&self.transitions, engine);
        self.workers = chunks.map(worker).collect();
    }

    /// Returns the label weights of the last θ.
    pub fn transitions(&self) -> &Transitions {
        &self.transitions
    }

    /// Returns the label weights of the last θ, and the variances of their scores.
    pub(super) fn chain(&self) -> ChainParameters<'_> {
        ChainParameters { transitions: &self.transitions, variances: &self.variances }
    }

    /// Overwrites the gradient; returns the negative log-likelihood and the noise term. All are
    /// NaN if derivatives exceed every limit, or if a rank cannot be reached.
    pub(super) fn run(&mut self, input: PassInput<'_>, gradient: &mut [f64]) -> [f64; 2] {
        self.set_weights(input);
        let values = self.sum_sentences(input, gradient);
        if !input.is_noise_alone {
            input.problem.totals.subtract_observed(&self.transitions, &mut self.sums.pairs);
        }
        self.add_label_gradient(input, gradient);
        values
    }

    /// Prepares the weights, potentials and variances that all sentences share.
    pub(super) fn set_weights(&mut self, PassInput { problem, theta, .. }: PassInput<'_>) {
        for product in &mut self.products {
            product.set_weights(theta);
        }
        problem.space.set_transitions(theta, &mut self.weights, &mut self.transitions);
        if let Some(noise) = &self.noise {
            self.variances.set(&noise.options, &self.transitions);
            if noise.options.is_additive() {
                self.variances.add_attributes(noise, &problem.space, theta);
            }
        }
    }

    /// Overwrites the gradient with respect to attribute weights, and the sums for label weights,
    /// by sums over the sentences of all ranks.
    fn sum_sentences(&mut self, input: PassInput<'_>, gradient: &mut [f64]) -> [f64; 2] {
        let problem = input.problem;
        let limits = match self.noise {
            None => &[1.0][..],
            Some(_) => &LIMITS,
        };
        for limit in limits {
            let limit = limit * problem.totals.largest_weight;
            let anchors = self.anchors(input, limit);
            let anchor = anchors.of_labels();
            anchors.start(gradient);
            self.sums.start(self.transitions.pair_numbers(), problem.space.stride(), anchor);
            let mut sums = self.add_blocks(input, limit, gradient);
            self.sums.subtract(anchor);
            if !problem.sum_over_ranks(&mut sums, &mut self.sums) {
                break;
            }
            if !sums.exceeds_limit {
                self.anchors(input, limit).finish(gradient);
                if !problem.sum_gradient_over_ranks(gradient) {
                    break;
                }
                return [sums.loss.value(), sums.noise.value()];
            }
        }
        gradient.fill(f64::NAN);
        [f64::NAN; 2]
    }

    /// Returns where the sums over sentences start.
    fn anchors<'a>(&'a self, input: PassInput<'a>, limit: f64) -> Anchors<'a> {
        let noise = self.noise.as_ref().filter(|noise| !noise.options.is_additive());
        let variances = noise
            .map(|noise| VarianceFactors { factors: input.factors, rates: noise.options.rates() });
        Anchors { space: &input.problem.space, totals: &input.problem.totals, limit, variances }
    }

    /// Adds the contributions of all blocks to the gradient and to the sums for label weights, and
    /// returns other sums.
    ///
    /// While the gradient of one block is gathered, the sentences of the next are already being
    /// evaluated, so that no thread waits for the last sentences of a block.
    pub(super) fn add_blocks(
        &mut self,
        input: PassInput<'_>,
        limit: f64,
        gradient: &mut [f64],
    ) -> SentenceSums {
        let problem = input.problem;
        let [mut current, mut next] = std::mem::take(&mut self.buffers);
        let mut workers = std::mem::take(&mut self.workers);
        let mut sums = SentenceSums::default();
        self.run_sentences(0, input, &mut workers, &mut current);
        for (index, block) in problem.partition.blocks.iter().enumerate() {
            for (worker, tokens) in workers.iter_mut().zip(problem.chunk_tokens(block)) {
                sums.loss.add(worker.terms.loss);
                sums.noise.add(worker.terms.noise);
                let kernel = &mut worker.kernel;
                let largest = self.sums.merge(&mut kernel.sums) / tokens as f64;
                let attributes = &kernel.attribute_gradient;
                let largest = largest.max(attributes.add_to(&problem.space, gradient));
                let largest = largest.max(worker.largest_derivative);
                // Those of the likelihood alone never do, but for rounding.
                sums.exceeds_limit |= self.noise.is_some() && largest > limit;
            }
            if sums.exceeds_limit {
                break; // all sums start again, with a higher limit
            }
            let this = &*self;
            rayon::join(
                || this.gather(index, input, &current, gradient),
                || this.run_sentences(index + 1, input, &mut workers, &mut next),
            );
            std::mem::swap(&mut current, &mut next);
        }
        self.workers = workers;
        self.buffers = [current, next];
        sums
    }

    /// Evaluates the sentences of block `index`, if there is such a block.
    fn run_sentences(
        &self,
        index: usize,
        input: PassInput<'_>,
        workers: &mut [ChunkWorker],
        derivatives: &mut [BlockArrays; 2],
    ) {
        let problem = input.problem;
        let Some(block) = problem.partition.blocks.get(index) else { return };
        let tokens = problem.chunk_tokens(block);
        let [scores, variances] =
            derivatives.each_mut().map(|arrays| arrays.split(&tokens, &problem.space));
        let derivatives = scores.into_iter().zip(variances).map(<[_; 2]>::from);
        let work: Vec<_> = workers.iter_mut().zip(&block.chunks).zip(derivatives).collect();
        let context = Context::new(input, self.noise.as_ref(), &self.products, self.chain());
        work.into_par_iter().for_each(|((worker, chunk), derivatives)| {
            worker.run(context, chunk.clone(), derivatives);
        });
    }

    /// Adds the contribution of a block to the gradient with respect to attribute weights.
    fn gather(
        &self,
        index: usize,
        PassInput { problem, factors, .. }: PassInput<'_>,
        [scores, variances]: &[BlockArrays; 2],
        gradient: &mut [f64],
    ) {
        let noise = self.noise.as_ref().filter(|noise| !noise.options.is_additive());
        let arrays = [(&scores.nodes, &variances.nodes), (&scores.edges, &variances.edges)];
        for (i, (scores, values)) in arrays.into_iter().enumerate() {
            let variances = noise.map(|noise| VarianceDerivatives {
                values,
                rate: noise.options.rates()[i],
                theta: factors,
            });
            problem.transposes[i].add_gradient(index, scores, variances, gradient);
        }
    }

    /// Adds the derivatives with respect to label weights, and under additive noise those through
    /// the variances that all tokens share.
    fn add_label_gradient(&mut self, input: PassInput<'_>, gradient: &mut [f64]) {
        let (space, sums) = (&input.problem.space, &mut self.sums);
        if let Some(noise) = &self.noise {
            let rates = noise.options.rates();
            let weights = self.transitions.label_scores();
            let is_alone = input.is_noise_alone;
            let halves = weights.map(|weights| vec![0.5; if is_alone { weights.len() } else { 0 }]);
            let weights = if is_alone { halves.each_ref().map(Vec::as_slice) } else { weights };
            sums.add_variances(rates[1], weights);
            if noise.options.is_additive() {
                let variances = [&sums.node_variances, &sums.pair_variances];
                for (i, block) in space.blocks().into_iter().enumerate() {
                    block.targets.add_square_derivatives(
                        noise.columns(i, block),
                        2.0 * rates[i],
                        [block.weights(input.factors), variances[i]],
                        block.weights_mut(gradient),
                    );
                }
            }
        }
        space.add_label_gradient([&sums.pairs, &sums.first, &sums.last], gradient);
    }
}
