//! One chunk of sentences: scores and variances, the sentence kernel, and its sums.

use std::ops::Range;

use super::features::AttributeBuffer;
use super::noise::SentenceNoise;
use super::problem::Problem;
use super::sentence::{
    ChainParameters, SentenceArrays, SentenceAttributes, SentenceKernel, SentenceTask,
    SentenceTerms,
};
use crate::aligned::Aligned;
use crate::chain::{ScoreArrays, Transitions};
use crate::extract::Target;
use crate::math::add;
use crate::noise::Engine;
use crate::score::{ForwardProduct, Variances};

/// The weights and factors of a pass.
#[derive(Clone, Copy)]
pub(super) struct PassInput<'a> {
    pub problem: &'a Problem,
    pub theta: &'a [f64],
    /// Whether the result is the coefficients of θ∘² in the noise term, for fixed marginals,
    /// instead of value and gradient.
    pub is_noise_alone: bool,
    /// The factors of 2ρ·∂R/∂V: θ for the gradient with respect to θ, ½ for the coefficients
    /// of θ∘².
    pub factors: &'a [f64],
}

/// The inputs that all chunks of a pass share.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    input: PassInput<'a>,
    noise: Option<&'a SentenceNoise>,
    products: &'a [ForwardProduct; 2], // nodes, edges
    /// With the weights of θ.
    chain: ChainParameters<'a>,
    /// The factors of the noise terms of a labeled and of an unlabeled sentence of weight 1.
    noise_factors: [f64; 2],
}

impl<'a> Context<'a> {
    /// Creates the inputs from the state of a pass.
    pub fn new(
        input: PassInput<'a>,
        noise: Option<&'a SentenceNoise>,
        products: &'a [ForwardProduct; 2],
        chain: ChainParameters<'a>,
    ) -> Self {
        let weights = input.problem.total_weights();
        let noise_factors = noise.map_or([0.0; 2], |noise| noise.options.factors(weights));
        Self { input, noise, products, chain, noise_factors }
    }
}

/// Evaluates chunks, one at a time.
#[derive(Debug)]
pub(super) struct ChunkWorker {
    pub kernel: SentenceKernel,
    /// The terms of the chunk.
    pub terms: SentenceTerms,
    /// Under noise: the largest derivative with respect to a score or a variance, in magnitude.
    pub largest_derivative: f64,
    variances: [Aligned; 2], // [T][stride] and [T][K][stride] of a sentence
    attributes: AttributeBuffer,
}

impl ChunkWorker {
    /// Creates a worker with buffers for the number of labels of `transitions`.
    pub fn new(transitions: &Transitions, engine: Option<Engine>) -> Self {
        Self {
            kernel: SentenceKernel::new(transitions, engine),
            terms: SentenceTerms::default(),
            largest_derivative: 0.0,
            variances: Default::default(),
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
        let Problem { data, space, .. } = context.input.problem;
        let chain = context.chain;
        self.terms = SentenceTerms::default();
        self.largest_derivative = 0.0;
        self.kernel.begin(chain);
        for i in chunk {
            let tokens = data.sentence(i).len();
            let derivatives = derivatives.each_mut().map(|arrays| arrays.take(tokens, space));
            if tokens > 0 {
                self.run_sentence(context, i, derivatives);
            }
        }
        self.kernel.finish(chain);
        if context.input.is_noise_alone {
            self.kernel.sums.clear_scores();
        }
    }

    fn run_sentence(
        &mut self,
        context: Context<'_>,
        sentence: usize,
        [mut scores, mut variances]: [ScoreArrays<'_>; 2],
    ) {
        let Context { input, noise, chain, noise_factors, .. } = context;
        let Problem { data, space, .. } = input.problem;
        let (tokens, weight) = (data.sentence(sentence), data.weight(sentence));
        self.compute_scores(context, tokens.clone(), &mut scores);
        let target = data.target(sentence);
        let is_unlabeled = matches!(target, Target::Unlabeled);
        let engine = noise.map(|noise| noise.options.gradient);
        let task = SentenceTask {
            target: if input.is_noise_alone { Target::Unlabeled } else { target },
            weight,
            noise_weight: weight * noise_factors[usize::from(is_unlabeled)],
            attributes: match engine {
                Some(Engine::Message { .. }) => self.attributes.fill(data, space, tokens),
                _ => SentenceAttributes::default(),
            },
        };
        let [nodes, edges] = &mut self.variances;
        let arrays = SentenceArrays {
            scores: scores.reborrow(),
            variances: ScoreArrays { nodes, edges },
            variance_derivatives: variances.reborrow(),
        };
        let terms = self.kernel.evaluate(chain, task, arrays);
        self.terms.loss += terms.loss;
        self.terms.noise += terms.noise;
        let Some(noise) = noise else { return };
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
        Context { input, noise, products, chain, .. }: Context<'_>,
        tokens: Range<usize>,
        scores: &mut ScoreArrays<'_>,
    ) {
        let scores = [&mut *scores.nodes, &mut *scores.edges];
        for (i, (scores, values)) in scores.into_iter().zip(&mut self.variances).enumerate() {
            let variances = noise.filter(|noise| !noise.options.is_additive()).map(|noise| {
                values.resize(scores.len());
                Variances { values, rate: noise.options.rates()[i] }
            });
            products[i].write(input.theta, tokens.clone(), scores, variances);
        }
        if noise.is_some_and(|noise| noise.options.is_additive()) {
            let [nodes, edges] = &mut self.variances;
            let row = &chain.variances.node;
            nodes.resize(tokens.len() * row.len());
            nodes.chunks_exact_mut(row.len()).for_each(|node| node.copy_from_slice(row));
            edges.resize(0);
        }
    }
}
