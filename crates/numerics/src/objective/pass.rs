//! A pass over all sentences: their scores, the sentence kernel, and the sums of values and
//! derivatives.

use std::ops::Range;

use super::buffers::{
    AttributeBuffer, BlockArrays, LabelSums, add_attribute_variances, add_attributes, take,
};
use super::noise::SentenceNoise;
use super::problem::{Problem, SentenceSums};
use super::sentence::{SentenceArrays, SentenceKernel, SentenceTask, SentenceTerms};
use super::totals::{Anchors, LIMITS};
use crate::aligned::Aligned;
use crate::chain::{LabelWeights, ScoreArrays, Transitions};
use crate::data::Target;
use crate::math::add;
use crate::noise::{ChainContext, Derivatives, Engine, Features, LabelVariances};
use crate::parallel;
use crate::score::{ForwardProduct, VarianceDerivatives, Variances};

/// The weights and factors of a pass.
#[derive(Clone, Copy)]
pub(crate) struct PassInput<'a> {
    pub problem: &'a Problem,
    pub theta: &'a [f64],
    /// Whether the result is the coefficients of θ∘² in the noise term, for fixed marginals,
    /// instead of value and gradient.
    pub is_noise_alone: bool,
    /// The factors of 2ρ·∂R/∂V: θ for the gradient with respect to θ, ½ for the coefficients
    /// of θ∘².
    pub factors: &'a [f64],
}

/// The state of passes over the sentences of a [`Problem`], one after another: the label weights of
/// the last θ, and buffers.
#[derive(Debug)]
pub struct SentencePass {
    pub(super) noise: Option<SentenceNoise>,
    pub(super) products: [ForwardProduct; 2], // nodes, edges
    weights: LabelWeights,                    // a buffer
    pub(crate) transitions: Transitions,      // with the label weights of the last θ
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
        let scores = || BlockArrays::new(partition.max_block_tokens(), space);
        let mut pass = Self {
            noise: None,
            products: matrices.map(|(matrix, block)| ForwardProduct::new(matrix, block)),
            weights: LabelWeights::default(),
            transitions: space.transitions(),
            variances: LabelVariances::default(),
            sums: LabelSums::default(),
            workers: Vec::new(),
            buffers: [[scores(), BlockArrays::default()], [scores(), BlockArrays::default()]],
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
    pub(crate) fn use_all_pairs(&mut self, problem: &Problem) {
        if self.transitions.pairs().is_some() {
            self.transitions = Transitions::new(problem.space.labels(), problem.space.order());
            self.create_workers(problem);
        }
    }

    fn create_workers(&mut self, problem: &Problem) {
        let engine = self.noise.as_ref().map(|noise| noise.options.gradient);
        let chunks = 0..problem.partition.max_block_chunks();
        let worker = |_| ChunkWorker {
            kernel: SentenceKernel::new(&self.transitions, engine),
            ..ChunkWorker::default()
        };
        self.workers = chunks.map(worker).collect();
    }

    /// Overwrites the gradient; returns the negative log-likelihood and the noise term. All are
    /// NaN if derivatives exceed every limit, or if a rank cannot be reached.
    pub(super) fn run(&mut self, input: PassInput<'_>, gradient: &mut [f64]) -> [f64; 2] {
        let values = self.sum_sentences(input, gradient);
        if !input.is_noise_alone {
            input.problem.totals.subtract_observed(&self.transitions, &mut self.sums.pairs);
        }
        self.add_label_gradient(input, gradient);
        values
    }

    /// Prepares the weights, potentials and variances that all sentences share.
    pub(crate) fn set_weights(&mut self, PassInput { problem, theta, .. }: PassInput<'_>) {
        for product in &mut self.products {
            product.set_weights(theta);
        }
        problem.space.set_transitions(theta, &mut self.weights, &mut self.transitions);
        if let Some(noise) = &self.noise {
            self.variances.set(noise.options.rates()[1], &self.transitions);
            if noise.options.is_additive() {
                add_attribute_variances(&mut self.variances, noise, &problem.space, theta);
            }
        }
    }

    /// Sets the weights, and overwrites the gradient with respect to attribute weights, and the
    /// sums for label weights, by sums over the sentences of all ranks.
    fn sum_sentences(&mut self, input: PassInput<'_>, gradient: &mut [f64]) -> [f64; 2] {
        let problem = input.problem;
        let limits = match self.noise {
            None => &[1.0][..],
            Some(_) => &LIMITS,
        };
        for limit in limits {
            let limit = limit * problem.totals.largest_weight;
            let anchor = self.anchors(input, limit).of_labels();
            self.sums.start(self.transitions.pair_numbers(), problem.space.stride(), anchor);
            let mut sums = parallel::in_pool(|| {
                self.set_weights(input);
                self.anchors(input, limit).start(gradient);
                self.add_blocks(input, limit, gradient)
            });
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

    /// Returns what all sentences have in common.
    fn chain(&self) -> ChainContext<'_> {
        ChainContext { transitions: &self.transitions, variances: &self.variances }
    }

    /// Returns the noise, if it is proportional to the values of attributes.
    fn proportional_noise(&self) -> Option<&SentenceNoise> {
        self.noise.as_ref().filter(|noise| !noise.options.is_additive())
    }

    /// Returns where the sums over sentences start.
    fn anchors<'a>(&'a self, input: PassInput<'a>, limit: f64) -> Anchors<'a> {
        let PassInput { problem, factors, .. } = input;
        let rates = self.proportional_noise().map(|noise| noise.options.rates());
        Anchors { space: &problem.space, totals: &problem.totals, limit, factors, rates }
    }

    /// Adds the contributions of all blocks to the gradient and to the sums for label weights, and
    /// returns other sums.
    ///
    /// While the gradient of one block is gathered, the sentences of the next are already being
    /// evaluated, so that no thread waits for the last sentences of a block.
    pub(crate) fn add_blocks(
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
                let largest = largest.max(add_attributes(attributes, &problem.space, gradient));
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
        let work = workers.iter_mut().zip(&block.chunks).zip(derivatives);
        parallel::for_each(work, |((worker, chunk), derivatives)| {
            worker.run(self, input, chunk.clone(), derivatives);
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
        let noise = self.proportional_noise();
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
                    let weights = block.weights(input.factors);
                    let gradient = block.weights_mut(gradient);
                    for column in noise.columns(i, block) {
                        block.targets.for_each(column, |position, index| {
                            let slope = 2.0 * rates[i] * weights[index];
                            gradient[index] += slope * variances[i][position];
                        });
                    }
                }
            }
        }
        space.add_label_gradient([&sums.pairs, &sums.first, &sums.last], gradient);
    }
}

/// Evaluates chunks of sentences, one at a time.
#[derive(Debug, Default)]
struct ChunkWorker {
    kernel: SentenceKernel,
    terms: SentenceTerms,    // of the chunk
    largest_derivative: f64, // under noise: with respect to a score or a variance, in magnitude
    variances: [Aligned; 2], // [T][stride] and [T][K][stride] of a sentence
    attributes: AttributeBuffer,
}

impl ChunkWorker {
    /// Evaluates the sentences `chunk`. Writes their derivatives with respect to scores and
    /// variances to `derivatives`, and accumulates everything else in the kernel's sums and in
    /// `terms`.
    fn run(
        &mut self,
        pass: &SentencePass,
        input: PassInput<'_>,
        chunk: Range<usize>,
        mut derivatives: [ScoreArrays<'_>; 2],
    ) {
        let Problem { data, space, .. } = input.problem;
        let chain = pass.chain();
        self.terms = SentenceTerms::default();
        self.largest_derivative = 0.0;
        self.kernel.begin(chain);
        for i in chunk {
            let tokens = data.sentence(i).len();
            let [scores, variances] =
                derivatives.each_mut().map(|arrays| take(arrays, tokens, space));
            if tokens > 0 {
                self.run_sentence(pass, input, i, Derivatives { scores, variances });
            }
        }
        self.kernel.finish(chain);
        if input.is_noise_alone {
            let sums = &mut self.kernel.sums;
            for sums in [&mut sums.pairs, &mut sums.first, &mut sums.last] {
                sums.fill(0.0);
            }
        }
    }

    fn run_sentence(
        &mut self,
        pass: &SentencePass,
        input: PassInput<'_>,
        sentence: usize,
        mut derivatives: Derivatives<'_>,
    ) {
        let Problem { data, space, .. } = input.problem;
        let (tokens, weight) = (data.sentence(sentence), data.weight(sentence));
        self.compute_scores(pass, input.theta, tokens.clone(), &mut derivatives.scores);
        let noise = pass.noise.as_ref();
        let target = data.target(sentence);
        let noise_factor = noise.map_or(0.0, |noise| {
            let is_unlabeled = matches!(target, Target::Unlabeled);
            noise.options.factors(input.problem.totals.weights)[usize::from(is_unlabeled)]
        });
        let task = SentenceTask {
            chain: pass.chain(),
            target: if input.is_noise_alone { Target::Unlabeled } else { target },
            weight,
            noise_weight: weight * noise_factor,
            attributes: match noise.map(|noise| noise.options.gradient) {
                Some(Engine::Message { .. }) => self.attributes.fill(data, space, tokens),
                _ => Features::default(),
            },
        };
        let [nodes, edges] = &mut self.variances;
        let variances = ScoreArrays { nodes, edges };
        let mut arrays = SentenceArrays { variances, derivatives };
        let terms = self.kernel.evaluate(task, &mut arrays);
        self.terms.loss += terms.loss;
        self.terms.noise += terms.noise;
        let Some(noise) = noise else { return };
        let Derivatives { mut scores, variances } = arrays.derivatives;
        if input.is_noise_alone {
            scores.fill(0.0);
        }
        if noise.options.is_additive() {
            for row in variances.nodes.chunks_exact(space.stride()) {
                add(&mut self.kernel.sums.node_variances, row);
            }
        }
        for derivatives in [scores, variances] {
            self.largest_derivative = self.largest_derivative.max(derivatives.largest_magnitude());
        }
    }

    /// Computes the scores of a sentence, and under noise their variances: under additive noise
    /// those that all tokens share.
    fn compute_scores(
        &mut self,
        pass: &SentencePass,
        theta: &[f64],
        tokens: Range<usize>,
        scores: &mut ScoreArrays<'_>,
    ) {
        let scores = [&mut *scores.nodes, &mut *scores.edges];
        for (i, (scores, values)) in scores.into_iter().zip(&mut self.variances).enumerate() {
            let variances = pass.proportional_noise().map(|noise| {
                values.resize(scores.len());
                Variances { values, rate: noise.options.rates()[i] }
            });
            pass.products[i].write(theta, tokens.clone(), scores, variances);
        }
        if pass.noise.as_ref().is_some_and(|noise| noise.options.is_additive()) {
            let [nodes, edges] = &mut self.variances;
            let row = &pass.variances.node;
            nodes.resize(tokens.len() * row.len());
            nodes.chunks_exact_mut(row.len()).for_each(|node| node.copy_from_slice(row));
            edges.resize(0);
        }
    }
}
