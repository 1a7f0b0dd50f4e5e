//! One chunk of sentences: scores and variances, the sentence kernel, and its sums.

use std::ops::Range;

use super::buffers::Arrays;
use super::features::AttributeBuffer;
use super::labels::add;
use super::noise::{Noise, NoiseDistribution};
use super::sentence::{
    ChainParameters, SentenceArrays, SentenceKernel, SentenceTask, SentenceTerms,
};
use crate::chain::Transitions;
use crate::extract::Dataset;
use crate::noise::Engine;
use crate::score::{ForwardProduct, ParameterSpace, Variances};

/// What all chunks of an evaluation read.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub data: &'a Dataset,
    pub space: &'a ParameterSpace,
    /// The products of node and edge attributes, with the weights of θ set.
    pub products: &'a [ForwardProduct<'a>; 2],
    pub theta: &'a [f64],
    pub chain: ChainParameters<'a>,
    pub noise: Option<&'a Noise>,
    /// The factors of the noise term of a labeled and of an unlabeled sentence.
    pub noise_weights: [f64; 2],
}

/// Where a chunk leaves the derivatives of its tokens.
pub(super) struct ChunkDerivatives<'a> {
    pub by_scores: Arrays<'a>,
    /// Empty unless noise is proportional to the values.
    pub by_variances: Arrays<'a>,
}

/// Evaluates chunks, one at a time.
#[derive(Debug)]
pub(super) struct ChunkWorker {
    pub kernel: SentenceKernel,
    /// The terms of the chunk.
    pub terms: SentenceTerms,
    variances: [Vec<f64>; 2], // [T][stride] and [T][K][stride] of a sentence
    by_node_variance: Vec<f64>, // [T][stride] of a sentence, under additive noise
    attributes: AttributeBuffer,
}

impl Context<'_> {
    /// Whether there is noise with the same variance at every token.
    fn is_additive(&self) -> bool {
        let is_additive = |noise: &Noise| noise.distribution == NoiseDistribution::Additive;
        self.noise.is_some_and(is_additive)
    }

    /// Whether there is noise with variances that depend on the attributes of a token.
    fn is_proportional(&self) -> bool {
        self.noise.is_some() && !self.is_additive()
    }
}

impl ChunkWorker {
    /// A worker with buffers for the number of labels of `transitions`.
    pub fn new(transitions: &Transitions, engine: Option<Engine>) -> Self {
        Self {
            kernel: SentenceKernel::new(transitions, engine),
            terms: SentenceTerms::default(),
            variances: Default::default(),
            by_node_variance: Vec::new(),
            attributes: AttributeBuffer::default(),
        }
    }

    /// Evaluates the sentences `chunk`. Their derivatives by scores and variances go to
    /// `derivatives`, all else to the kernel's sums and to `terms`.
    pub fn run(
        &mut self,
        context: Context<'_>,
        chunk: Range<usize>,
        mut derivatives: ChunkDerivatives<'_>,
    ) {
        self.terms = SentenceTerms::default();
        self.kernel.begin(context.chain);
        for i in chunk {
            let tokens = context.data.sentence(i);
            let derivatives = ChunkDerivatives {
                by_scores: derivatives.by_scores.take(tokens.len(), context.space),
                by_variances: derivatives.by_variances.take(tokens.len(), context.space),
            };
            if !tokens.is_empty() {
                self.run_sentence(context, tokens, derivatives);
            }
        }
        self.kernel.finish(context.chain);
    }

    fn run_sentence(
        &mut self,
        context: Context<'_>,
        tokens: Range<usize>,
        derivatives: ChunkDerivatives<'_>,
    ) {
        let Context { data, space, .. } = context;
        let ChunkDerivatives {
            mut by_scores,
            mut by_variances,
        } = derivatives;
        self.write_scores(context, &tokens, &mut by_scores);
        if context.is_additive() {
            self.write_additive_variances(context, tokens.len());
            by_variances.nodes = &mut self.by_node_variance;
        }
        let labels = data.labels.get(tokens.clone()).unwrap_or_default();
        let engine = context.noise.map(|noise| noise.engine);
        let task = SentenceTask {
            labels,
            noise_weight: context.noise_weights[usize::from(labels.is_empty())],
            attributes: self.attributes.fill_for(engine, data, space, tokens),
        };
        let [nodes, edges] = &mut self.variances;
        let arrays = SentenceArrays {
            scores: by_scores,
            variances: Arrays { nodes, edges },
            by_variances,
        };
        let terms = self.kernel.evaluate(context.chain, task, arrays);
        self.terms.loss += terms.loss;
        self.terms.noise += terms.noise;
        if context.is_additive() {
            for row in self.by_node_variance.chunks_exact(space.stride()) {
                add(&mut self.kernel.sums.node_variances, row);
            }
        }
    }

    /// Writes the scores of a sentence to `scores`, and under proportional noise its variances.
    fn write_scores(
        &mut self,
        context: Context<'_>,
        tokens: &Range<usize>,
        scores: &mut Arrays<'_>,
    ) {
        let rates = context.noise.map_or([0.0; 2], Noise::rates);
        let scores = [&mut *scores.nodes, &mut *scores.edges];
        for (i, scores) in scores.into_iter().enumerate() {
            let variances = context.is_proportional().then(|| {
                self.variances[i].resize(scores.len(), 0.0);
                Variances {
                    values: &mut self.variances[i],
                    rate: rates[i],
                }
            });
            context.products[i].write(context.theta, tokens.clone(), scores, variances);
        }
    }

    /// Writes the variances of `tokens` tokens under additive noise, the same for all.
    fn write_additive_variances(&mut self, context: Context<'_>, tokens: usize) {
        let [nodes, edges] = &mut self.variances;
        nodes.clear();
        for _ in 0..tokens {
            nodes.extend_from_slice(&context.chain.variances.node);
        }
        edges.clear();
        self.by_node_variance.clear();
        self.by_node_variance.resize(nodes.len(), 0.0);
    }
}
