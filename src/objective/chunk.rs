//! One chunk of sentences: scores and variances, the sentence kernel, and its sums.

use std::ops::Range;

use super::features::AttributeBuffer;
use super::noise::{Noise, NoiseDistribution};
use super::sentence::{
    ChainParameters, SentenceArrays, SentenceKernel, SentenceTask, SentenceTerms,
};
use super::shared::SharedNoise;
use crate::chain::{ScoreArrays, Transitions};
use crate::extract::{Dataset, Target};
use crate::math::{add, set_zeros};
use crate::noise::NoiseTerm;
use crate::score::{ForwardProduct, NoiseRates, ParameterSpace, SharedMasks, Variances};

/// The inputs that all chunks of an evaluation share.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub data: &'a Dataset,
    pub space: &'a ParameterSpace,
    /// The products of node and edge attributes, with the weights of θ set.
    pub products: &'a [ForwardProduct; 2],
    pub theta: &'a [f64],
    pub chain: ChainParameters<'a>,
    pub noise: Option<&'a Noise>,
    /// ρ of node and edge attributes.
    pub rates: &'a [NoiseRates; 2],
    /// The masks of node attributes, if labels share them.
    pub masks: Option<&'a SharedMasks>,
    /// The factors of the noise terms of a labeled and of an unlabeled sentence of weight 1.
    pub noise_factors: [f64; 2],
    /// Whether the likelihood is left out: all derivatives are those of the noise term.
    pub is_noise_alone: bool,
}

/// Evaluates chunks, one at a time.
#[derive(Debug)]
pub(super) struct ChunkWorker {
    pub kernel: SentenceKernel,
    /// The terms of the chunk.
    pub terms: SentenceTerms,
    /// Under noise: the largest derivative with respect to a score or a variance, in magnitude.
    pub largest_derivative: f64,
    variances: [Vec<f64>; 2], // [T][stride] and [T][K][stride] of a sentence
    node_variance_derivatives: Vec<f64>, // [T][stride] of a sentence, under additive noise
    attributes: AttributeBuffer,
}

impl Context<'_> {
    /// Returns whether there is noise with the same variance at every token.
    fn is_additive(&self) -> bool {
        let is_additive = |noise: &Noise| noise.distribution == NoiseDistribution::Additive;
        self.noise.is_some_and(is_additive)
    }

    /// Returns whether there is noise with variances that depend on the attributes of a token.
    fn is_proportional(&self) -> bool {
        self.noise.is_some() && !self.is_additive()
    }
}

impl ChunkWorker {
    /// Creates a worker with buffers for the number of labels of `transitions`.
    pub fn new(transitions: &Transitions, term: Option<NoiseTerm>) -> Self {
        Self {
            kernel: SentenceKernel::new(transitions, term),
            terms: SentenceTerms::default(),
            largest_derivative: 0.0,
            variances: Default::default(),
            node_variance_derivatives: Vec::new(),
            attributes: AttributeBuffer::default(),
        }
    }

    /// Evaluates the sentences `chunk`. Writes their derivatives with respect to scores and
    /// variances to `derivatives`, and accumulates everything else in the kernel's sums and in
    /// `terms`.
    pub fn run(
        &mut self,
        context: Context<'_>,
        chunk: Range<usize>,
        mut derivatives: [ScoreArrays<'_>; 2],
    ) {
        self.terms = SentenceTerms::default();
        self.largest_derivative = 0.0;
        self.kernel.begin(context.chain);
        for i in chunk {
            let tokens = context.data.sentence(i);
            let derivatives =
                (derivatives.each_mut()).map(|arrays| arrays.take(tokens.len(), context.space));
            if !tokens.is_empty() {
                self.run_sentence(context, i, derivatives);
            }
        }
        self.kernel.finish(context.chain);
    }

    fn run_sentence(
        &mut self,
        context: Context<'_>,
        sentence: usize,
        [mut score_derivatives, mut variance_derivatives]: [ScoreArrays<'_>; 2],
    ) {
        let Context { data, space, .. } = context;
        let tokens = data.sentence(sentence);
        self.compute_scores(context, &tokens, &mut score_derivatives);
        if context.is_additive() {
            self.fill_additive_variances(context, tokens.len());
            variance_derivatives.nodes = &mut self.node_variance_derivatives;
        }
        let (target, weight) = (data.target(sentence), data.weight(sentence));
        let is_unlabeled = matches!(target, Target::Unlabeled);
        let term = context.noise.map(|noise| noise.term);
        let noise_weight = weight * context.noise_factors[usize::from(is_unlabeled)];
        let task = SentenceTask {
            target: if context.is_noise_alone { Target::Unlabeled } else { target },
            weight,
            noise_weight,
            attributes: self.attributes.fill_for(term, data, space, tokens.clone()),
            shared: context.masks.map(|masks| SharedNoise {
                product: &context.products[0],
                masks,
                theta: context.theta,
                first: tokens.start,
                is_gaussian: term.and_then(NoiseTerm::expectation).is_some(),
            }),
        };
        let [nodes, edges] = &mut self.variances;
        let arrays = SentenceArrays {
            scores: score_derivatives.reborrow(),
            variances: ScoreArrays { nodes, edges },
            variance_derivatives: variance_derivatives.reborrow(),
        };
        let terms = self.kernel.evaluate(context.chain, task, arrays);
        self.terms.loss += terms.loss;
        self.terms.noise += terms.noise;
        if context.masks.is_some() {
            // Instead of ∂J/∂V there are marginals, or the factors of ½; see `totals.rs`.
            variance_derivatives.nodes = &mut [];
            let derivative = 0.5 * noise_weight;
            self.largest_derivative = self.largest_derivative.max(derivative);
        }
        if context.noise.is_some() {
            for derivatives in [score_derivatives, variance_derivatives] {
                let largest = derivatives.largest_magnitude();
                self.largest_derivative = self.largest_derivative.max(largest);
            }
        }
        if context.is_additive() {
            for row in self.node_variance_derivatives.chunks_exact(space.stride()) {
                add(&mut self.kernel.sums.node_variances, row);
            }
        }
    }

    /// Computes the scores of a sentence, and under proportional noise their variances.
    fn compute_scores(
        &mut self,
        context: Context<'_>,
        tokens: &Range<usize>,
        scores: &mut ScoreArrays<'_>,
    ) {
        let scores = [&mut *scores.nodes, &mut *scores.edges];
        for (i, scores) in scores.into_iter().enumerate() {
            let is_shared = i == 0 && context.masks.is_some();
            if is_shared {
                set_zeros(&mut self.variances[i], scores.len());
            }
            let has_variances = context.is_proportional() && !is_shared;
            let variances = has_variances.then(|| {
                self.variances[i].resize(scores.len(), 0.0);
                Variances { values: &mut self.variances[i], rates: &context.rates[i] }
            });
            context.products[i].write(context.theta, tokens.clone(), scores, variances);
        }
    }

    /// Fills in the variances of `tokens` tokens under additive noise, which are the same for all.
    fn fill_additive_variances(&mut self, context: Context<'_>, tokens: usize) {
        let [nodes, edges] = &mut self.variances;
        nodes.clear();
        for _ in 0..tokens {
            nodes.extend_from_slice(&context.chain.variances.node);
        }
        edges.clear();
        set_zeros(&mut self.node_variance_derivatives, nodes.len());
    }
}
