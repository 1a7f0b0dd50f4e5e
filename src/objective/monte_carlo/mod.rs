//! Monte-Carlo dropout: features really dropped, the baseline that the quadratic regularizer R
//! approximates.
//!
//! In expectation, training on dropped features is training with the penalty E\[A(s̃)\] − A(s), where s
//! are the scores of a sentence, s̃ those of its noised features, E s̃ = s, and A is the log-partition
//! (Wang et al. 2013, section 2). Every weight of every feature is dropped on its own, as eq. 14 has
//! it: that of (attribute, label) at a token, of (attribute, label, label), of a transition, of a
//! boundary; what is kept is multiplied by 1/(1 − δ). The term of a sentence is the mean over S samples
//! of the Bregman divergence
//!
//! ```text
//! D = A(s̃) − A(s) − ⟨μ(s), s̃ − s⟩          μ = ∇A: the marginals
//! ```
//!
//! Its expectation is the penalty. It is never negative, since A is convex, so with the masks fixed the
//! objective has a lower bound, which with A(s̃) − A(s) it has not; and its leading term is of second
//! order in s̃ − s, so it varies less. With X̃ the masked features of a sample, X the others,
//!
//! ```text
//! ∂D/∂θ = X̃ᵀ·(μ(s̃) − μ(s)) − Xᵀ·∇²A(s)·(s̃ − s)
//! ```
//!
//! where ∇²A times a vector costs what a gradient does ([`HessianProduct`]).
//!
//! [`HessianProduct`]: crate::noise::HessianProduct
//!
//! The samples of a block of sentences are drawn one after another. Each passes through the chunks of
//! the block and then, by columns, to the gradient; a mask is computed whenever it is needed
//! (`mask.rs`), and never kept. The matrix is kept once more, by columns. Time O(S·(entries of X · K + M·K²)) for M tokens, most of it for random
//! bits; memory is that of a matrix and of the derivatives of one block, for any S.

mod columns;
mod mask;
mod sampler;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::noise::sentence_weights;
use super::worker::Shared;
use super::{Blocks, LabelSums};
use crate::chain::Transitions;
use crate::extract::Dataset;
use crate::score::{Block, BlockPartition, ParameterSpace};
use columns::{Columns, Entry};
use mask::{Key, Masks};
use sampler::{Output, Sampler};

/// The Monte-Carlo noise term: λ·( Σ_labeled D(x) + α Σ_unlabeled D(u) ), λ as in eq. 11, D averaged
/// over samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonteCarlo {
    /// Rate δ < 1 at which node attributes are dropped.
    pub node: f64,
    /// The rate of transitions, boundary weights and edge attributes.
    pub edge: f64,
    /// Samples of every sentence in every iteration, at least 1.
    pub samples: u32,
    /// Where random numbers start from.
    pub seed: u64,
    /// Weight α of an unlabeled sentence.
    pub unlabeled_weight: f64,
}

/// The masks of all features in one sample.
#[derive(Clone, Copy, Debug)]
struct Draw {
    attributes: [Masks; 2], // of nodes, of edges
    transitions: Masks,
    start: Masks,
    end: Masks,
}

impl MonteCarlo {
    /// The masks of one sample of one iteration.
    fn draw(&self, iteration: u64, sample: u32) -> Draw {
        let key = Key(self.seed).at(iteration).at(u64::from(sample));
        let edges = |kind| Masks::new(key.at(kind), self.edge);
        Draw {
            attributes: [Masks::new(key.at(0), self.node), edges(1)],
            transitions: edges(2),
            start: edges(3),
            end: edges(4),
        }
    }
}

/// The noise term at work.
#[derive(Debug)]
pub(super) struct Sampling {
    monte_carlo: MonteCarlo,
    done: u64, // iterations of optimizations before
    iteration: u64,
    samplers: Vec<Sampler>,      // one for each chunk of a block
    by_noised: Blocks,           // derivatives by noised scores
    blank: Transitions,          // all 0: noised transitions are among the edge scores
    members: [Vec<u32>; 2],      // attributes of each class
    matrices: Vec<[Columns; 2]>, // of each block: node and edge attributes
}

/// A block of sentences to be sampled.
pub(super) struct Part<'a> {
    pub block: &'a Block,
    /// Its number.
    pub index: usize,
    /// Tokens of each of its chunks.
    pub tokens: &'a [usize],
}

impl Sampling {
    /// The term for the blocks of `plan`.
    pub fn new(
        monte_carlo: MonteCarlo,
        data: &Dataset,
        space: &ParameterSpace,
        plan: &BlockPartition,
    ) -> Self {
        let columns = |block: &Block| {
            [&data.nodes, &data.edges].map(|rows| match rows.len() {
                0 => Columns::default(),
                _ => Columns::new(rows, block.tokens.clone()),
            })
        };
        // Scales are square roots of whole numbers far below 2⁵⁰, so squares round to them.
        let members = [&space.node_scale, &space.edge_scale]
            .map(|scale| scale.iter().map(|m| (m * m).round() as u32).collect());
        Self {
            monte_carlo,
            done: 0,
            iteration: 0,
            samplers: (0..plan.most_chunks())
                .map(|_| Sampler::default())
                .collect(),
            by_noised: Blocks::new(plan.largest_block(), space),
            blank: Transitions::new(space.labels(), space.order()),
            members,
            matrices: plan.blocks.iter().map(columns).collect(),
        }
    }

    /// Counts the iterations to come from `done` on.
    pub fn go_on(&mut self, done: u64) {
        (self.done, self.iteration) = (done, done);
    }

    /// Goes over to the masks of an iteration; whether these are others than before.
    pub fn begin_iteration(&mut self, iteration: u64) -> bool {
        let iteration = self.done + iteration;
        let is_new = iteration != self.iteration;
        self.iteration = iteration;
        is_new
    }

    /// Bytes of memory beside the scratch space of sentences.
    pub fn memory(&self) -> usize {
        let matrices = self.matrices.as_flattened().iter();
        8 * self.by_noised.len() + matrices.map(Columns::memory).sum::<usize>()
    }

    /// Returns the term of a block and adds its derivatives: those by scores to `by_scores` and
    /// `totals`, those by noised features to the gradient.
    pub fn add_block(
        &mut self,
        shared: &Shared<'_>,
        part: &Part<'_>,
        by_scores: &mut Blocks,
        totals: &mut LabelSums,
        gradient: &mut [f64],
    ) -> f64 {
        let mut value = 0.0;
        for sample in 0..self.monte_carlo.samples {
            let draw = self.monte_carlo.draw(self.iteration, sample);
            self.sample(shared, part, &draw, by_scores);
            for sampler in &mut self.samplers[..part.tokens.len()] {
                value += sampler.value;
                totals.add(&mut sampler.sums);
            }
            self.scatter(shared.space, part, &draw, gradient);
        }
        value
    }

    /// Runs a sample through the chunks of a block.
    fn sample(
        &mut self,
        shared: &Shared<'_>,
        part: &Part<'_>,
        draw: &Draw,
        by_scores: &mut Blocks,
    ) {
        let data = shared.data;
        let weights = sentence_weights(
            self.monte_carlo.unlabeled_weight,
            data.labeled(),
            data.unlabeled(),
        );
        let source = sampler::Source {
            shared,
            draw,
            blank: &self.blank,
            members: &self.members,
            weights: weights.map(|weight| weight / f64::from(self.monte_carlo.samples)),
        };
        let outputs = by_scores.pieces(part.tokens, shared.space).into_iter();
        let outputs = outputs.zip(self.by_noised.pieces(part.tokens, shared.space));
        let mut work = Vec::with_capacity(part.tokens.len());
        for ((sampler, chunk), (by_scores, by_noised)) in self
            .samplers
            .iter_mut()
            .zip(&part.block.chunks)
            .zip(outputs)
        {
            let output = Output {
                by_scores,
                by_noised,
            };
            work.push((sampler, chunk.clone(), output));
        }
        work.into_par_iter()
            .for_each(|(sampler, chunk, output)| sampler.run(&source, chunk, output));
    }

    /// Adds the derivatives by masked features to the gradient: X̃ᵀ·(μ(s̃) − μ(s)).
    fn scatter(&self, space: &ParameterSpace, part: &Part<'_>, draw: &Draw, gradient: &mut [f64]) {
        let parts = [
            (&space.nodes, &space.node_scale, space.node_range()),
            (&space.edges, &space.edge_scale, space.edge_range()),
        ];
        let derivatives = [&self.by_noised.nodes, &self.by_noised.edges];
        for (i, (targets, scale, range)) in parts.into_iter().enumerate() {
            let matrix = &self.matrices[part.index][i];
            let (masks, members) = (&draw.attributes[i], &self.members[i]);
            let width = targets.width();
            let visit = |room: &mut [Vec<f64>; 2], entry: Entry, gradient: &mut [f64]| {
                let [factors, row] = room;
                factors.resize(gradient.len(), 0.0);
                let token = part.block.tokens.start + entry.token;
                masks.fill(token, entry.column, members[entry.column], factors);
                row.clear();
                row.resize(gradient.len(), 0.0);
                let c = scale[entry.column] * entry.value;
                let by_score = &derivatives[i][entry.token * width..][..width];
                targets.add_derivatives(entry.column, c, by_score, row);
                for ((g, factor), x) in gradient.iter_mut().zip(factors).zip(row) {
                    *g += *factor * *x;
                }
            };
            matrix.for_each(targets, &mut gradient[range], visit);
        }
    }
}
