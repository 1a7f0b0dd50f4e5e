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
//! [`HessianProduct`]: dropchain::noise::HessianProduct
//!
//! The samples of a block of sentences are drawn one after another. Each passes through the chunks
//! of the block (`sampler.rs`) and then, column by column, to the gradient. Masks
//! are counter-based (`sampler.rs`): recomputed where they are needed, never stored. Time
//! O(S·(nonzeros of X · K + M·K²)) for M tokens, most of it for random bits. Memory is one more
//! copy of X, in CSC form, and the derivatives of one block, for any S.
//!
//! In the transpose product with masked features every entry of X has its own masks, so rows cannot
//! be summed as a whole, as [`TransposeProduct`](dropchain::score::TransposeProduct) does.

mod sampler;
#[cfg(test)]
mod tests;

use std::ops::Range;

use dropchain::chain::Transitions;
use dropchain::extract::{Dataset, SparseRows};
use dropchain::objective::{
    AttributeNoise, BlockArrays, MonteCarlo, Sampler, Term, TermDerivatives, TermInput,
    noise_factors,
};
use dropchain::score::{
    Block, BlockPartition, ColumnBlock, FeatureBlock, ParameterSpace, TASK_ENTRIES, sorted_entries,
    split_by_owner,
};
use rayon::prelude::*;
use sampler::{ChunkSampler, Key, SampleContext, SampleMasks};

/// Computes Monte-Carlo noise.
pub const SAMPLER: Sampler = Sampler(Sampling::create);

/// The state of the noise term.
#[derive(Debug)]
struct Sampling {
    monte_carlo: MonteCarlo,
    iteration: u64,
    samplers: Vec<ChunkSampler>,     // one per chunk of a block
    noised_derivatives: BlockArrays, // with respect to noised scores
    zero_transitions: Transitions,   // noised transitions are part of the edge scores
    members: [Vec<u32>; 2],          // class sizes: nodes, edges
    rates: AttributeNoise,
    matrices: Vec<[MaskedTranspose; 2]>, // of each block: nodes, edges
}

impl Sampling {
    /// Creates the state for the blocks of `partition`.
    fn create(
        monte_carlo: MonteCarlo,
        rates: AttributeNoise,
        data: &Dataset,
        space: &ParameterSpace,
        partition: &BlockPartition,
    ) -> Box<dyn Term> {
        let matrices = |block: &Block| {
            let transpose =
                |matrix: &SparseRows| MaskedTranspose::new(matrix, block.tokens.clone());
            [&*data.nodes, &*data.edges].map(transpose)
        };
        // Scales are square roots of integers far below 2⁵⁰, so rounding recovers these.
        let size = |scale: &f64| (scale * scale).round() as u32;
        let members = space.blocks().map(|block| block.scale.iter().map(size).collect());
        Box::new(Self {
            monte_carlo,
            iteration: 0,
            samplers: (0..partition.max_block_chunks()).map(|_| ChunkSampler::default()).collect(),
            noised_derivatives: BlockArrays::new(partition.max_block_tokens(), space),
            zero_transitions: Transitions::new(space.labels(), space.order()),
            members,
            rates,
            matrices: partition.blocks.iter().map(matrices).collect(),
        })
    }

    /// Evaluates one sample of the sentences of a block.
    fn run_samplers(
        &mut self,
        input: &TermInput<'_>,
        masks: &SampleMasks,
        score_derivatives: &mut BlockArrays,
    ) {
        let alpha = self.monte_carlo.unlabeled_weight;
        let factors = noise_factors(alpha, input.total_weights);
        let context = SampleContext {
            input,
            masks,
            zero_transitions: &self.zero_transitions,
            members: &self.members,
            rates: self.rates.each(),
            factors: factors.map(|factor| factor / f64::from(self.monte_carlo.samples)),
        };
        let score_derivatives = score_derivatives.split(input.tokens, input.space);
        let noised_derivatives = self.noised_derivatives.split(input.tokens, input.space);
        let outputs = score_derivatives.into_iter().zip(noised_derivatives);
        let chunks = self.samplers.iter_mut().zip(&input.block.chunks);
        let work: Vec<_> = chunks.zip(outputs).collect();
        work.into_par_iter().for_each(|((sampler, chunk), (scores, noised))| {
            sampler.run(&context, chunk.clone(), [scores, noised]);
        });
    }

    /// Adds the derivatives with respect to masked features to the gradient: X̃ᵀ·(μ(s̃) − μ(s)).
    fn scatter(&self, input: &TermInput<'_>, masks: &SampleMasks, gradient: &mut [f64]) {
        let derivatives = [&self.noised_derivatives.nodes, &self.noised_derivatives.edges];
        for (i, features) in input.space.blocks().into_iter().enumerate() {
            let (masks, members) = (masks.attributes[i], &self.members[i]);
            let rates = self.rates.each()[i];
            let first_token = input.block.tokens.start;
            let fill = |token: usize, column: usize, factors: &mut [f64]| {
                let masks = rates.map_or(masks, |rates| masks.with_rate(rates[column]));
                masks.fill(first_token + token, column, members[column], factors);
            };
            self.matrices[input.index][i].add_gradient(features, derivatives[i], fill, gradient);
        }
    }
}

impl Term for Sampling {
    fn begin_iteration(&mut self, iteration: u64) -> bool {
        std::mem::replace(&mut self.iteration, iteration) != iteration
    }

    fn add_block(&mut self, input: &TermInput<'_>, out: TermDerivatives<'_>) -> f64 {
        let mut value = 0.0;
        for sample in 0..self.monte_carlo.samples {
            let key = Key(self.monte_carlo.seed).at(self.iteration);
            let key = key.at(u64::from(sample));
            let masks = SampleMasks::new(key, self.monte_carlo.node, self.monte_carlo.edge);
            self.run_samplers(input, &masks, out.scores);
            for sampler in &mut self.samplers[..input.tokens.len()] {
                value += sampler.value;
                out.sums.merge(&mut sampler.sums);
            }
            self.scatter(input, &masks, out.gradient);
        }
        value
    }
}

/// The transpose of one block of tokens.
#[derive(Clone, Debug, Default)]
struct MaskedTranspose {
    columns: ColumnBlock,
    tasks: Vec<Range<usize>>, // of `columns`, about TASK_ENTRIES entries each
}

impl MaskedTranspose {
    /// Transposes the rows `tokens` of `matrix`.
    fn new(matrix: &SparseRows, tokens: Range<usize>) -> Self {
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
    fn add_gradient(
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
            let mut factors = Vec::new();
            let first = weights(task.start).start;
            for i in task.clone() {
                let column = columns.column(i);
                let range = weights(i);
                let gradient = &mut slice[range.start - first..range.end - first];
                for entry in columns.entries(i) {
                    let token = columns.token(entry);
                    factors.resize(gradient.len(), 0.0);
                    fill(token, column, &mut factors);
                    let c = block.scale[column] * columns.value(entry);
                    let score_derivatives = &derivatives[token * width..][..width];
                    targets.for_each(column, |position, index| {
                        let i = index - range.start;
                        gradient[i] += factors[i] * (c * score_derivatives[position]);
                    });
                }
            }
        });
    }
}
