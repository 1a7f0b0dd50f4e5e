//! Monte-Carlo dropout: an estimate, by sampling, of the penalty that R approximates.
//!
//! In expectation, training on dropped features is training with the penalty E\[A(s̃)\] − A(s),
//! where s are the scores of a sentence, s̃ those of its noised features, E s̃ = s, and A is the
//! log-partition (Wang et al. 2013, section 2). As in eq. 14, every weight of every feature is
//! dropped independently: of (attribute, label) at a token, of (attribute, label, label), of a
//! transition, of a boundary. Surviving weights are scaled by 1/(1 − δ). The term of a sentence is
//! the mean over S samples of the Bregman divergence
//!
//! ```text
//! D = A(s̃) − A(s) − ⟨μ(s), s̃ − s⟩          μ = ∇A: the marginals
//! ```
//!
//! Its expectation is the penalty. Since A is convex, D ≥ 0, so with fixed masks the objective is
//! bounded below, which it is not with A(s̃) − A(s); and D is of second order in s̃ − s, so its
//! variance is smaller. With X̃ the masked features of a sample,
//!
//! ```text
//! ∂D/∂θ = X̃ᵀ·(μ(s̃) − μ(s)) − Xᵀ·∇²A(s)·(s̃ − s)
//! ```
//!
//! where the Hessian-vector product costs as much as a gradient ([`HessianProduct`]).
//!
//! [`HessianProduct`]: crate::noise::HessianProduct
//!
//! The samples of a block of sentences are drawn one after another. Each passes through the chunks
//! of the block (`sampler.rs`) and then, column by column, to the gradient. Masks
//! are counter-based (`sampler.rs`): recomputed where they are needed, never stored. Time
//! O(S·(nonzeros of X · K + M·K²)) for M tokens, most of it for random bits. Memory is one more
//! copy of X, in CSC form, and the derivatives of one block, for any S.
//!
//! In the transpose product with masked features every entry of X has its own masks, so rows cannot
//! be summed as a whole, as [`TransposeProduct`](crate::score::TransposeProduct) does.

mod sampler;
#[cfg(test)]
mod tests;

use std::ops::Range;

use rayon::prelude::*;
use sampler::{Key, SampleContext, SampleMasks, Sampler};

use super::LabelSums;
use super::buffers::BlockArrays;
use super::chunk::Context;
use super::noise::{AttributeNoise, noise_factors};
use crate::chain::Transitions;
use crate::extract::{Dataset, SparseRows};
use crate::math::set_zeros;
use crate::score::{
    Block, BlockPartition, ColumnBlock, FeatureBlock, ParameterSpace, TASK_ENTRIES, sorted_entries,
    split_by_owner,
};

/// The Monte-Carlo noise term: λ·( Σ_labeled D(x) + α Σ_unlabeled D(u) ), λ as in eq. 11, D
/// averaged over samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonteCarlo {
    /// Rate δ < 1 at which node attributes are dropped.
    pub node: f64,
    /// The rate of transitions, boundary weights and edge attributes.
    pub edge: f64,
    /// Samples per sentence and iteration, at least 1.
    pub samples: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The weight α of an unlabeled sentence.
    pub unlabeled_weight: f64,
}

/// The state of the noise term.
#[derive(Debug)]
pub(super) struct Sampling {
    monte_carlo: MonteCarlo,
    first_iteration: u64, // iterations before this optimization
    iteration: u64,
    samplers: Vec<Sampler>,          // one per chunk of a block
    noised_derivatives: BlockArrays, // with respect to noised scores
    zero_transitions: Transitions,   // noised transitions are part of the edge scores
    members: [Vec<u32>; 2],          // class sizes: nodes, edges
    rates: AttributeNoise,
    matrices: Vec<[MaskedTranspose; 2]>, // of each block: nodes, edges
}

/// A block of sentences to be sampled.
pub(super) struct SampledBlock<'a> {
    pub block: &'a Block,
    /// Its index.
    pub index: usize,
    /// Number of tokens of each of its chunks.
    pub tokens: &'a [usize],
}

impl Sampling {
    /// Creates the state for the blocks of `partition`.
    pub fn new(
        monte_carlo: MonteCarlo,
        rates: AttributeNoise,
        data: &Dataset,
        space: &ParameterSpace,
        partition: &BlockPartition,
    ) -> Self {
        let matrices = |block: &Block| {
            let transpose =
                |matrix: &SparseRows| MaskedTranspose::new(matrix, block.tokens.clone());
            [&*data.nodes, &*data.edges].map(transpose)
        };
        // Scales are square roots of integers far below 2⁵⁰, so rounding recovers these.
        let size = |scale: &f64| (scale * scale).round() as u32;
        let members = space
            .blocks()
            .map(|block| block.scale.iter().map(size).collect());
        Self {
            monte_carlo,
            first_iteration: 0,
            iteration: 0,
            samplers: (0..partition.max_block_chunks())
                .map(|_| Sampler::default())
                .collect(),
            noised_derivatives: BlockArrays::new(partition.max_block_tokens(), space),
            zero_transitions: Transitions::new(space.labels(), space.order()),
            members,
            rates,
            matrices: partition.blocks.iter().map(matrices).collect(),
        }
    }

    /// Resumes after `iterations` iterations.
    pub fn resume_at(&mut self, iterations: u64) {
        (self.first_iteration, self.iteration) = (iterations, iterations);
    }

    /// Draws the masks of an iteration; returns whether they are new.
    pub fn begin_iteration(&mut self, iteration: u64) -> bool {
        let iteration = self.first_iteration + iteration;
        let is_new = iteration != self.iteration;
        self.iteration = iteration;
        is_new
    }

    /// Returns the noise term of a block and adds its derivatives: with respect to scores to
    /// `score_derivatives` and `sums`, with respect to masked features to the gradient.
    pub fn add_block(
        &mut self,
        context: Context<'_>,
        block: &SampledBlock<'_>,
        score_derivatives: &mut BlockArrays,
        sums: &mut LabelSums,
        gradient: &mut [f64],
    ) -> f64 {
        let mut value = 0.0;
        for sample in 0..self.monte_carlo.samples {
            let key = Key(self.monte_carlo.seed).at(self.iteration);
            let key = key.at(u64::from(sample));
            let masks = SampleMasks::new(key, self.monte_carlo.node, self.monte_carlo.edge);
            self.run_samplers(context, block, &masks, score_derivatives);
            for sampler in &mut self.samplers[..block.tokens.len()] {
                value += sampler.value;
                sums.merge(&mut sampler.sums);
            }
            self.scatter(context.space, block, &masks, gradient);
        }
        value
    }

    /// Evaluates one sample of the sentences of a block.
    fn run_samplers(
        &mut self,
        context: Context<'_>,
        block: &SampledBlock<'_>,
        masks: &SampleMasks,
        score_derivatives: &mut BlockArrays,
    ) {
        let space = context.space;
        let alpha = self.monte_carlo.unlabeled_weight;
        let factors = noise_factors(alpha, context.total_weights);
        let context = SampleContext {
            evaluation: context,
            masks,
            zero_transitions: &self.zero_transitions,
            members: &self.members,
            rates: self.rates.each(),
            factors: factors.map(|factor| factor / f64::from(self.monte_carlo.samples)),
        };
        let score_derivatives = score_derivatives.split(block.tokens, space);
        let noised_derivatives = self.noised_derivatives.split(block.tokens, space);
        let outputs = score_derivatives.into_iter().zip(noised_derivatives);
        let chunks = self.samplers.iter_mut().zip(&block.block.chunks);
        let work: Vec<_> = chunks.zip(outputs).collect();
        work.into_par_iter()
            .for_each(|((sampler, chunk), (scores, noised))| {
                sampler.run(&context, chunk.clone(), [scores, noised]);
            });
    }

    /// Adds the derivatives with respect to masked features to the gradient: X̃ᵀ·(μ(s̃) − μ(s)).
    fn scatter(
        &self,
        space: &ParameterSpace,
        block: &SampledBlock<'_>,
        masks: &SampleMasks,
        gradient: &mut [f64],
    ) {
        let derivatives = [
            &self.noised_derivatives.nodes,
            &self.noised_derivatives.edges,
        ];
        for (i, features) in space.blocks().into_iter().enumerate() {
            let (masks, members) = (masks.attributes[i], &self.members[i]);
            let rates = self.rates.each()[i];
            let first_token = block.block.tokens.start;
            let fill = |token: usize, column: usize, factors: &mut [f64]| {
                let masks = rates.map_or(masks, |rates| masks.with_rate(rates[column]));
                masks.fill(first_token + token, column, members[column], factors);
            };
            self.matrices[block.index][i].add_gradient(features, derivatives[i], fill, gradient);
        }
    }
}

/// The transpose of one block of tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct MaskedTranspose {
    columns: ColumnBlock,
    tasks: Vec<Range<usize>>, // of `columns`, about TASK_ENTRIES entries each
}

impl MaskedTranspose {
    /// Transposes the rows `tokens` of `matrix`.
    pub fn new(matrix: &SparseRows, tokens: Range<usize>) -> Self {
        let mut columns = ColumnBlock::for_entries_of(matrix);
        let entries = sorted_entries(matrix, tokens);
        for column in entries.chunk_by(|x, y| x.column == y.column) {
            columns.push(column);
        }
        columns.shrink_to_fit();
        let mut tasks = Vec::new();
        let (mut first, mut work) = (0, 0);
        for i in 0..columns.len() {
            work += columns.entries(i).len();
            if work >= TASK_ENTRIES || i + 1 == columns.len() {
                tasks.push(first..i + 1);
                (first, work) = (i + 1, 0);
            }
        }
        Self { columns, tasks }
    }

    /// Adds X̃ᵀ·D to the gradient with respect to θ, given the derivatives D with respect to
    /// scores, `[tokens][width]`. `fill(token, column, factors)` computes the masks of an entry's
    /// weights.
    pub fn add_gradient(
        &self,
        block: &FeatureBlock,
        derivatives: &[f64],
        fill: impl Fn(usize, usize, &mut [f64]) + Sync,
        gradient: &mut [f64],
    ) {
        let (columns, targets, width) = (&self.columns, &block.targets, block.width());
        let weights = |i: usize| targets.range(columns.column(i));
        // Columns ascend and weights are in column order, so each task owns a slice of the
        // gradient.
        let owners = self.tasks.iter();
        let owners = owners.map(|task| weights(task.start).start..weights(task.end - 1).end);
        let slices = split_by_owner(owners, block.weights_mut(gradient));
        let work: Vec<_> = self.tasks.iter().zip(slices).collect();
        work.into_par_iter().for_each(|(task, slice)| {
            let [mut factors, mut products] = [Vec::new(), Vec::new()];
            let first = weights(task.start).start;
            for i in task.clone() {
                let column = columns.column(i);
                let range = weights(i);
                let gradient = &mut slice[range.start - first..range.end - first];
                for entry in columns.entries(i) {
                    let token = columns.token(entry);
                    factors.resize(gradient.len(), 0.0);
                    fill(token, column, &mut factors);
                    set_zeros(&mut products, gradient.len());
                    let c = block.scale[column] * columns.value(entry);
                    let score_derivatives = &derivatives[token * width..][..width];
                    targets.add_derivatives(column, c, score_derivatives, &mut products);
                    for ((g, factor), x) in gradient.iter_mut().zip(&factors).zip(&products) {
                        *g += *factor * *x;
                    }
                }
            }
        });
    }
}
