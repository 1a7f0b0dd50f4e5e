//! The objective that training minimizes, and its gradient.
//!
//! ```text
//! J(θ) = − Σ w·log p(Y|x) + λ·( Σ_labeled w·R(x) + α Σ_unlabeled w·R(u) ) + c2·‖θ‖²  (+ c1·‖θ‖₁)
//! ```
//!
//! is a sum over sentences, not a mean. w is the weight of a sentence, 1 by default: an integer w
//! equals w copies. Y are the label sequences that its labels allow: one sequence y, unless tokens
//! have several labels or none (`sentence.rs`). R is the quadratic noise regularizer
//! ([`crate::noise`], eq. 14 of Wang et al. 2013) or the expectation that it approximates, at
//! order 0 of Gaussian scores ([`Expectation`](crate::noise::Expectation)), or a [`Term`] that
//! samples masks ([`MonteCarlo`]); λ = n/(n + αm) (eq. 11), where n and m are the total weights of
//! labeled and of unlabeled sentences. The optimizer adds the L1 term.
//!
//! # One evaluation
//!
//! [`PenalizedLikelihood::evaluate`](Objective::evaluate) computes value and gradient in one pass:
//!
//! 1. the label weights, prepared once for all sentences: transition potentials and, under noise,
//!    their variances (`buffers.rs`);
//! 2. where the sums over sentences start (`totals.rs`);
//! 3. block by block of the corpus ([`BlockPartition`]), in parallel over chunks of sentences
//!    (`chunk.rs`): scores S = X·Θ and variances V = ρ·X∘²·Θ∘² ([`ForwardProduct`]), then
//!    the sentence kernel (`sentence.rs`): −log p(y|x), R, ∂S, ∂V;
//! 4. in parallel over columns, the block's contribution to the gradient, Xᵀ·∂S + 2ρ·Θ∘(X∘²ᵀ·∂V)
//!    ([`TransposeProduct`]), while the sentences of the next block are being evaluated;
//! 5. the sums over all ranks, if there are several (`part.rs`);
//! 6. the further [`Term`], if there is one (`term.rs`);
//! 7. the gradient with respect to transitions and boundary weights, from sums over sentences;
//! 8. the L2 penalty ([`Penalty`]).
//!
//! With masks that labels share, U takes the place of V for node attributes; it is computed
//! between forward-backward and the noise term (`shared.rs`).
//!
//! With reweighted noise, an evaluation is one without noise and a weighted L2 penalty, whose
//! strengths are recomputed when a round begins (`penalty.rs`).
//!
//! Time O(nonzeros of X · K + M·K²) for M tokens. Chunks and blocks depend only on the data, and
//! sums over them have the same bits in any order ([`crate::exact_sum`]), so the bits do not depend
//! on the number of threads or of processes.

mod buffers;
mod chunk;
mod features;
mod noise;
mod part;
mod penalty;
mod sentence;
mod shared;
mod term;
#[cfg(test)]
pub(crate) mod tests;
mod totals;

use std::borrow::Cow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use crate::chain::ScoreArrays;
use crate::chain::{LabelWeights, Transitions};
use crate::exact_sum::FixedPointSum;
use crate::extract::{Dataset, Target};
use crate::noise::NoiseTerm;
use crate::optim::{Objective, Round};
use crate::ranks::Ranks;
use crate::score::{
    Block, BlockPartition, ForwardProduct, NoiseRates, ParameterSpace, SharedDerivatives,
    SharedMasks, TransposeProduct, VarianceDerivatives,
};
pub use buffers::{BlockArrays, LabelSums, LabelVariances};
use chunk::{ChunkWorker, Context};
pub use features::{SentenceAttributes, active_counts};
pub use noise::{AttributeNoise, MonteCarlo, Noise, NoiseDistribution, NoiseMasks, noise_factors};
pub use penalty::Penalty;
use penalty::Reweighting;
pub use sentence::{
    ChainParameters, SentenceArrays, SentenceKernel, SentenceTask, SentenceTerms, fill_mask,
};
pub use shared::SharedNoise;
pub use term::{Sampler, Term, TermDerivatives, TermInput};
use totals::{Anchors, LIMITS, Totals, VarianceFactors};

/// The terms of the objective, without the L1 penalty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Σ log p(y|x): at most 0.
    pub log_likelihood: f64,
    /// The noise term.
    pub noise: f64,
    /// The L2 penalty, by default c2·‖θ‖².
    pub l2: f64,
}

/// The penalized negative log-likelihood of a corpus.
///
/// Labeled sentences come first in the data; those after the last label are unlabeled and enter
/// only the noise term. The objective shares their matrices.
#[derive(Debug)]
pub struct PenalizedLikelihood {
    data: Dataset,
    space: ParameterSpace,
    penalty: Penalty,
    noise: Option<Noise>,
    rates: [NoiseRates; 2],     // nodes, edges
    masks: Option<SharedMasks>, // of node attributes, if labels share them
    term: Option<Box<dyn Term>>,
    first_iteration: u64, // iterations before this optimization
    reweighting: Option<Reweighting>,
    partition: BlockPartition,
    products: [ForwardProduct; 2],     // nodes, edges
    transposes: [TransposeProduct; 2], // nodes, edges
    workers: Vec<ChunkWorker>,         // one per chunk of a block
    buffers: [[BlockArrays; 2]; 2],    // of the current block and of the next one
    weights: LabelWeights,             // a buffer
    transitions: Transitions,
    variances: LabelVariances,
    sums: LabelSums,
    observed_pairs: Vec<f64>, // [K][stride] or [P], of sentences with one label per token
    totals: Totals,           // over all ranks
    anchor_tasks: [Vec<totals::Task>; 2],
    ranks: Option<Ranks>,
}

impl PenalizedLikelihood {
    /// Creates the objective on collapsed training data with an L2 penalty, such as the strength
    /// c2, without noise.
    pub fn new(data: &Dataset, space: &ParameterSpace, penalty: impl Into<Penalty>) -> Self {
        Self::with_totals(data, Totals::new(data, space), space, penalty.into())
    }

    /// Creates the objective on sentences that are all or a part of those that were counted.
    fn with_totals(
        data: &Dataset,
        totals: Totals,
        space: &ParameterSpace,
        penalty: Penalty,
    ) -> Self {
        let partition = BlockPartition::new(data, part::partition_width(space));
        let transitions = space.transitions();
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        Self {
            data: data.clone(),
            space: space.clone(),
            penalty,
            noise: None,
            rates: Default::default(),
            masks: None,
            term: None,
            first_iteration: 0,
            reweighting: None,
            products: matrices.map(|(matrix, block)| ForwardProduct::new(matrix, block)),
            transposes: matrices
                .map(|(matrix, block)| TransposeProduct::new(matrix, block, &partition)),
            workers: (0..partition.max_block_chunks())
                .map(|_| ChunkWorker::new(&transitions, None))
                .collect(),
            buffers: [(); 2].map(|()| {
                let scores = BlockArrays::new(partition.max_block_tokens(), space);
                [scores, BlockArrays::default()]
            }),
            partition,
            observed_pairs: totals.observed_pairs(&transitions),
            weights: LabelWeights::default(),
            transitions,
            variances: LabelVariances::default(),
            sums: LabelSums::default(),
            totals,
            anchor_tasks: space.blocks().map(totals::anchor_tasks),
            ranks: None,
        }
    }

    /// Adds a noise term in which attributes have amounts of noise of their own.
    #[must_use]
    pub fn with_attribute_noise(mut self, noise: Noise, amounts: AttributeNoise) -> Self {
        let rate = |amount| noise.distribution.rate(amount);
        let rates = amounts.rates([noise.node, noise.edge], rate, &self.space);
        if let Some(iterations) = noise.term.round() {
            self.reweighting = Some(Reweighting::new(noise, rates, iterations));
            return self;
        }
        self.set_noise(noise, rates);
        self
    }

    /// Sets the noise of the sentences, and sizes the buffers for it.
    fn set_noise(&mut self, noise: Noise, rates: [NoiseRates; 2]) {
        self.masks = shared::masks(&noise, &rates, &self.space);
        self.rates = rates;
        if !buffers::works_by_pairs(noise) {
            self.work_with_all_pairs();
        }
        if noise.distribution != NoiseDistribution::Additive {
            for buffers in &mut self.buffers {
                let tokens = self.partition.max_block_tokens();
                buffers[1] = BlockArrays::new(tokens, &self.space);
            }
        }
        self.noise = Some(noise);
        self.create_workers();
    }

    /// Creates workers for the transitions and the noise.
    fn create_workers(&mut self) {
        let term = self.noise.map(|noise| noise.term);
        for worker in &mut self.workers {
            *worker = ChunkWorker::new(&self.transitions, term);
        }
    }

    /// Has sentences evaluated with matrices over all label pairs, for terms that need them.
    fn work_with_all_pairs(&mut self) {
        if self.transitions.pairs().is_some() {
            self.transitions = Transitions::new(self.space.labels(), self.space.order());
            self.observed_pairs = self.totals.observed_pairs(&self.transitions);
            self.create_workers();
        }
    }

    /// Removes the noise of the sentences, and what only it needs.
    fn clear_noise(&mut self) {
        self.noise = None;
        self.rates = Default::default();
        self.masks = None;
        for buffers in &mut self.buffers {
            buffers[1] = BlockArrays::default();
        }
        self.create_workers();
    }

    /// Adds a noise term estimated by sampling, with these rates of the attributes.
    /// [`Objective::begin_iteration`] draws new samples.
    #[must_use]
    pub fn with_attribute_sampling(
        mut self,
        Sampler(create): Sampler,
        monte_carlo: MonteCarlo,
        rates: AttributeNoise,
    ) -> Self {
        let (data, space) = (&self.data, &self.space);
        self.term = Some(create(monte_carlo, rates, data, space, &self.partition));
        self.work_with_all_pairs();
        self
    }

    /// Continues an optimization after `iterations` iterations, with the samples that would have
    /// come next.
    #[must_use]
    pub fn resume_at(mut self, iterations: u64) -> Self {
        self.first_iteration = iterations;
        self.begin_iteration(0);
        self
    }
}

impl Objective for PenalizedLikelihood {
    type Detail = Terms;

    fn dimension(&self) -> usize {
        self.space.dimension()
    }

    fn inverse_curvature(&self) -> Option<Vec<f32>> {
        Some(totals::inverse_curvature(&self.totals, &self.space, &self.penalty))
    }

    fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64]) -> (f64, Terms) {
        self.begin_due_round(theta);
        self.set_weights(theta);
        let [loss, quadratic] = self.sum_sentences(Pass::evaluation(theta), gradient);
        let noise = quadratic + self.add_term(theta, gradient);
        self.subtract_observed_pairs();
        self.add_label_gradient(theta, None, gradient);
        let reweighted = self.reweighting.as_ref();
        let noise = noise + reweighted.map_or(0.0, |r| r.add_gradient(theta, gradient));
        let l2 = self.penalty.add(theta, gradient);
        let terms = Terms { log_likelihood: -loss, noise, l2 };
        (loss + noise + l2, terms)
    }

    fn begin_iteration(&mut self, iteration: u64) -> bool {
        let iteration = self.first_iteration + iteration;
        let term = self.term.as_mut();
        term.is_some_and(|term| term.begin_iteration(iteration))
    }

    fn begin_round(&mut self, iteration: u64, is_converged: bool) -> bool {
        let reweighting = self.reweighting.as_mut();
        reweighting.is_some_and(|reweighting| reweighting.begin_round(iteration, is_converged))
    }

    fn round(&self) -> Option<Round<'_>> {
        self.reweighting.as_ref().and_then(Reweighting::round)
    }

    fn resume_round(&mut self, round: Round<'static>) {
        if let Some(reweighting) = &mut self.reweighting {
            reweighting.resume(round);
        }
    }
}

/// A pass over all sentences.
#[derive(Clone, Copy)]
struct Pass<'a> {
    theta: &'a [f64],
    /// What 2ρ·∂R/∂V is multiplied by: θ for the gradient with respect to θ.
    factors: &'a [f64],
    /// Whether the likelihood is left out.
    is_noise_alone: bool,
}

impl<'a> Pass<'a> {
    /// The pass of an evaluation at θ.
    fn evaluation(theta: &'a [f64]) -> Self {
        Self { theta, factors: theta, is_noise_alone: false }
    }
}

/// Sums over sentences, besides those of derivatives.
#[derive(Clone, Copy, Debug, Default)]
struct SentenceSums {
    loss: FixedPointSum,
    noise: FixedPointSum,
    /// Whether some derivative exceeds the limit that the anchors are for.
    exceeds_limit: bool,
}

/// The steps of an evaluation.
impl PenalizedLikelihood {
    /// Prepares the weights, potentials and variances that all sentences share.
    fn set_weights(&mut self, theta: &[f64]) {
        for product in &mut self.products {
            product.set_weights(theta);
        }
        let (space, transitions) = (&self.space, &mut self.transitions);
        space.set_transitions(theta, &mut self.weights, transitions);
        if let Some(noise) = &self.noise {
            self.variances.set(noise, &self.rates, space, theta, transitions);
        }
    }

    /// Overwrites the gradient with respect to attribute weights, and the sums for label weights,
    /// by sums over the sentences of all ranks; returns the negative log-likelihood and the
    /// quadratic noise term. All are NaN if derivatives exceed every limit, or if a rank cannot
    /// be reached.
    fn sum_sentences(&mut self, pass: Pass<'_>, gradient: &mut [f64]) -> [f64; 2] {
        let limits = match self.noise {
            None => &[1.0][..],
            Some(_) => &LIMITS,
        };
        for limit in limits {
            let limit = limit * self.totals.largest_weight;
            let anchor = self.anchors(pass, limit).of_labels();
            self.anchors(pass, limit).start(gradient);
            let (pairs, stride) = (self.transitions.pair_numbers(), self.space.stride());
            self.sums.start(pairs, stride, anchor);
            let mut sums = self.add_blocks(pass, limit, gradient);
            self.sums.subtract(anchor);
            if !self.sum_over_ranks(&mut sums) {
                break;
            }
            if !sums.exceeds_limit {
                self.anchors(pass, limit).finish(gradient);
                if !self.sum_gradient_over_ranks(gradient) {
                    break;
                }
                return [sums.loss.value(), sums.noise.value()];
            }
        }
        gradient.fill(f64::NAN);
        [f64::NAN; 2]
    }

    /// Returns the anchors of the sums of a pass.
    fn anchors<'b>(&'b self, pass: Pass<'b>, limit: f64) -> Anchors<'b> {
        Anchors {
            space: &self.space,
            totals: &self.totals,
            limit,
            tasks: &self.anchor_tasks,
            variances: self.has_proportional_noise().then(|| VarianceFactors {
                factors: pass.factors,
                rates: &self.rates,
                is_shared: self.masks.is_some(),
            }),
        }
    }

    /// Adds the contributions of all blocks to the gradient and to the sums for label weights, and
    /// returns other sums.
    ///
    /// While the gradient of one block is gathered, the sentences of the next are already being
    /// evaluated, so that no thread waits for the last sentences of a block.
    fn add_blocks(&mut self, pass: Pass<'_>, limit: f64, gradient: &mut [f64]) -> SentenceSums {
        let [mut current, mut next] = std::mem::take(&mut self.buffers);
        let mut workers = std::mem::take(&mut self.workers);
        let mut sums = SentenceSums::default();
        self.run_sentences(0, pass, &mut workers, &mut current);
        for index in 0..self.partition.blocks.len() {
            let tokens = self.chunk_tokens(&self.partition.blocks[index]);
            for (worker, tokens) in workers.iter_mut().zip(tokens) {
                sums.loss.add(worker.terms.loss);
                sums.noise.add(worker.terms.noise);
                let kernel = &mut worker.kernel;
                let largest = self.sums.merge(&mut kernel.sums) / tokens as f64;
                let attributes = &kernel.attribute_gradient;
                let largest = largest.max(attributes.add_to(&self.space, gradient));
                let largest = largest.max(worker.largest_derivative);
                // Those of the likelihood alone never do, but for rounding.
                sums.exceeds_limit |= self.noise.is_some() && largest > limit;
            }
            if sums.exceeds_limit {
                break; // all sums start again, with a higher limit
            }
            let this = &*self;
            rayon::join(
                || this.gather(index, pass.factors, &current, gradient),
                || this.run_sentences(index + 1, pass, &mut workers, &mut next),
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
        pass: Pass<'_>,
        workers: &mut [ChunkWorker],
        derivatives: &mut [BlockArrays; 2],
    ) {
        let Some(block) = self.partition.blocks.get(index) else {
            return;
        };
        let tokens = self.chunk_tokens(block);
        let [scores, variances] =
            (derivatives.each_mut()).map(|arrays| arrays.split(&tokens, &self.space));
        let derivatives = scores.into_iter().zip(variances).map(<[_; 2]>::from);
        let work = workers.iter_mut().zip(&block.chunks).zip(derivatives);
        let work: Vec<_> = work.collect();
        let context = Context { is_noise_alone: pass.is_noise_alone, ..self.context(pass.theta) };
        work.into_par_iter().for_each(|((worker, chunk), derivatives)| {
            worker.run(context, chunk.clone(), derivatives);
        });
    }

    /// Adds the contribution of a block to the gradient with respect to attribute weights;
    /// `factors` are those of [`Pass`].
    fn gather(
        &self,
        index: usize,
        factors: &[f64],
        [scores, variances]: &[BlockArrays; 2],
        gradient: &mut [f64],
    ) {
        if let Some(masks) = &self.masks {
            let block = &self.partition.blocks[index];
            let (marginals, factors_of_tokens) = self.shared_factors(block, &variances.nodes);
            let derivatives = SharedDerivatives {
                marginals: &marginals,
                factors: &factors_of_tokens,
                theta: factors,
            };
            self.transposes[0].add_shared_gradient(index, masks, derivatives, gradient);
        }
        let arrays = [(&scores.nodes, &variances.nodes), (&scores.edges, &variances.edges)];
        for (i, (score_derivatives, variance_derivatives)) in arrays.into_iter().enumerate() {
            let is_shared = i == 0 && self.masks.is_some();
            let has_variances = self.has_proportional_noise() && !is_shared;
            let variance_derivatives = has_variances.then(|| VarianceDerivatives {
                values: variance_derivatives,
                rates: &self.rates[i],
                theta: factors,
            });
            self.transposes[i].add_gradient(
                index,
                score_derivatives,
                variance_derivatives,
                gradient,
            );
        }
    }

    /// Adds the further term, if there is one, and returns it.
    fn add_term(&mut self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let Some(mut term) = self.term.take() else {
            return 0.0;
        };
        let [mut derivatives, other] = std::mem::take(&mut self.buffers);
        let mut sums = std::mem::take(&mut self.sums);
        let mut value = 0.0;
        for (index, block) in self.partition.blocks.iter().enumerate() {
            derivatives[0].clear();
            let input = TermInput {
                data: &self.data,
                space: &self.space,
                theta,
                transitions: &self.transitions,
                total_weights: self.totals.weights,
                block,
                index,
                tokens: &self.chunk_tokens(block),
            };
            let out = TermDerivatives {
                scores: &mut derivatives[0],
                sums: &mut sums,
                gradient: &mut *gradient,
            };
            value += term.add_block(&input, out);
            self.gather(index, theta, &derivatives, gradient);
        }
        self.sums = sums;
        self.buffers = [derivatives, other];
        self.term = Some(term);
        value
    }

    /// Turns expected counts of label pairs into derivatives of the likelihood.
    fn subtract_observed_pairs(&mut self) {
        let observed = self.observed_pairs.iter();
        let pairs = self.sums.pairs.iter_mut().zip(observed);
        pairs.for_each(|(expected, observed)| *expected -= observed);
    }

    /// Adds the derivatives with respect to label weights, and under additive noise those through
    /// the variances that all tokens share. `factors` are those of [`Pass`], and `label_factors`
    /// are those of pairs, of first and of last labels, in the shape of the sums.
    fn add_label_gradient(
        &mut self,
        factors: &[f64],
        label_factors: Option<[&[f64]; 3]>,
        gradient: &mut [f64],
    ) {
        let sums = &mut self.sums;
        if let Some(noise) = &self.noise {
            let weights = label_factors.unwrap_or_else(|| self.transitions.label_scores());
            sums.add_variances(noise.rates()[1], weights);
            if noise.distribution == NoiseDistribution::Additive {
                let variances = [&sums.node_variances, &sums.pair_variances];
                for (i, block) in self.space.blocks().into_iter().enumerate() {
                    block.targets.add_square_derivatives(
                        block.weights(factors),
                        |column| 2.0 * self.rates[i].column(column),
                        variances[i],
                        block.weights_mut(gradient),
                    );
                }
            }
        }
        self.space.add_label_gradient([&sums.pairs, &sums.first, &sums.last], gradient);
    }

    /// With reweighted noise, recomputes the strengths of the penalty at θ if a round begins.
    fn begin_due_round(&mut self, theta: &[f64]) {
        let Some(mut reweighting) = self.reweighting.take_if(|r| r.is_due()) else {
            return;
        };
        self.set_noise(reweighting.noise, reweighting.rates.clone());
        self.set_weights(theta);
        // With factors ½, the derivatives 2ρ·½·(X∘²ᵀ·∂V) are the coefficients of θ∘² in R.
        let halves = vec![0.5; theta.len()];
        let pass = Pass { theta, factors: &halves, is_noise_alone: true };
        let mut strengths = vec![0.0; theta.len()];
        self.sum_sentences(pass, &mut strengths);
        let label_halves = self.transitions.label_scores().map(|x| vec![0.5; x.len()]);
        let label_halves = label_halves.each_ref().map(Vec::as_slice);
        self.add_label_gradient(&halves, Some(label_halves), &mut strengths);
        self.clear_noise();
        reweighting.begin(strengths);
        self.reweighting = Some(reweighting);
    }

    /// Returns whether there is noise that is proportional to the values of attributes.
    fn has_proportional_noise(&self) -> bool {
        let noise = self.noise.as_ref();
        noise.is_some_and(|noise| noise.distribution != NoiseDistribution::Additive)
    }

    /// Returns the inputs that all chunks of an evaluation share.
    fn context<'b>(&'b self, theta: &'b [f64]) -> Context<'b> {
        let noise = self.noise.as_ref();
        Context {
            data: &self.data,
            space: &self.space,
            products: &self.products,
            theta,
            chain: ChainParameters { transitions: &self.transitions, variances: &self.variances },
            noise,
            rates: &self.rates,
            masks: self.masks.as_ref(),
            noise_factors: noise.map_or([0.0; 2], |noise| noise.factors(self.totals.weights)),
            is_noise_alone: false,
        }
    }

    /// Returns the marginals of the tokens of a block, and the factors of their noise terms, given
    /// what the sentence kernel has written for variances, if labels share masks.
    fn shared_factors<'b>(
        &self,
        block: &Block,
        variances: &'b [f64],
    ) -> (Cow<'b, [f64]>, Vec<f64>) {
        let noise = self.noise.as_ref();
        let term = noise.map(|noise| noise.term);
        if term.and_then(NoiseTerm::expectation).is_some() {
            let stride = self.space.stride();
            let rows = variances.chunks_exact(stride).take(block.tokens.len());
            let factors = rows.map(|row| 8.0 * row[0]).collect();
            let halves = shared::halves(variances.len(), stride).collect();
            return (Cow::Owned(halves), factors);
        }
        let mut factors = Vec::with_capacity(block.tokens.len());
        let kinds = noise.map_or([0.0; 2], |noise| noise.factors(self.totals.weights));
        for sentence in block.chunks.iter().cloned().flatten() {
            let is_unlabeled = matches!(self.data.target(sentence), Target::Unlabeled);
            let factor = self.data.weight(sentence) * kinds[usize::from(is_unlabeled)];
            let tokens = self.data.sentence(sentence).len();
            factors.extend(std::iter::repeat_n(factor, tokens));
        }
        (Cow::Borrowed(variances), factors)
    }

    /// Returns the number of tokens of each chunk of a block.
    fn chunk_tokens(&self, block: &Block) -> Vec<usize> {
        let chunks = block.chunks.iter();
        chunks
            .map(|chunk| {
                self.data.sentence(chunk.end - 1).end - self.data.sentence(chunk.start).start
            })
            .collect()
    }
}
