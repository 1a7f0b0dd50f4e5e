//! What an objective is about: the sentences, the layout of θ, and how an evaluation is divided.
//!
//! With several ranks, each evaluates a part of the sentences, and all sum. Ranks have whole blocks
//! of the partition of all sentences ([`BlockPartition`]). A block starts anew, so its chunks, and
//! the sums over each, are those of a single process.

use super::LabelSums;
use super::totals::Totals;
use crate::data::Dataset;
use crate::error::Result;
use crate::exact_sum::FixedPointSum;
use crate::ranks::Ranks;
use crate::score::{Block, BlockPartition, ParameterSpace, TransposeProduct};

/// The parts of an objective that no evaluation changes.
#[derive(Debug)]
pub struct Problem {
    /// The sentences of this process. Labeled ones come first.
    pub data: Dataset,
    /// The layout of θ.
    pub space: ParameterSpace,
    /// How the sentences are divided.
    pub partition: BlockPartition,
    pub(super) transposes: [TransposeProduct; 2], // nodes, edges
    pub(crate) totals: Totals,                    // over all ranks
    ranks: Option<Ranks>,
}

impl Problem {
    /// Creates the problem of all sentences, or of the part of this rank.
    pub(super) fn new(data: &Dataset, space: &ParameterSpace, ranks: Option<&Ranks>) -> Self {
        let totals = Totals::new(data, space);
        let data = match ranks {
            None => data.clone(),
            Some(ranks) => data.select(&sentences_of(ranks, data, space)),
        };
        let partition = BlockPartition::new(&data, partition_width(space));
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        Self {
            transposes: matrices
                .map(|(matrix, block)| TransposeProduct::new(matrix, block, &partition)),
            totals,
            space: space.clone(),
            partition,
            ranks: ranks.cloned(),
            data,
        }
    }

    /// Returns the number of tokens of each chunk of a block.
    pub fn chunk_tokens(&self, block: &Block) -> Vec<usize> {
        let sentence = |i| self.data.sentence(i);
        let tokens = |chunk: &std::ops::Range<usize>| {
            sentence(chunk.end - 1).end - sentence(chunk.start).start
        };
        block.chunks.iter().map(tokens).collect()
    }

    /// Replaces sums by those over all ranks; returns whether all could be reached.
    pub(super) fn sum_over_ranks(&self, sums: &mut SentenceSums, labels: &mut LabelSums) -> bool {
        let Some(ranks) = &self.ranks else { return true };
        let mut words = Vec::new();
        words.extend(sums.loss.to_words());
        words.extend(sums.noise.to_words());
        words.push(f64::from(u8::from(sums.exceeds_limit)));
        let scalars = words.len();
        labels.fields().into_iter().for_each(|sums| words.extend_from_slice(sums));
        if !is_reached(ranks, ranks.sum(&mut words)) {
            return false;
        }
        let (scalars, mut rest) = words.split_at(scalars);
        let (terms, exceeds_limit) = scalars.split_at(2 * FixedPointSum::WORDS);
        let (terms, _) = terms.as_chunks();
        sums.loss = FixedPointSum::from_words(terms[0]);
        sums.noise = FixedPointSum::from_words(terms[1]);
        sums.exceeds_limit = exceeds_limit != [0.0];
        for sums in labels.fields() {
            let (values, after) = rest.split_at(sums.len());
            sums.copy_from_slice(values);
            rest = after;
        }
        true
    }

    /// Replaces the gradient with respect to attribute weights by its sum over all ranks; returns
    /// whether all could be reached.
    pub(super) fn sum_gradient_over_ranks(&self, gradient: &mut [f64]) -> bool {
        let Some(ranks) = &self.ranks else { return true };
        let attributes = &mut gradient[..self.space.edges.range.end];
        is_reached(ranks, ranks.sum(attributes))
    }
}

/// Sums over sentences, besides those of derivatives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentenceSums {
    pub loss: FixedPointSum,
    pub noise: FixedPointSum,
    /// Whether some derivative exceeds the limit that the anchors are for.
    pub exceeds_limit: bool,
}

/// Returns the number of scores per token that determines the size of blocks.
fn partition_width(space: &ParameterSpace) -> usize {
    space.edges.used_width().max(space.stride())
}

/// Returns whether communication succeeded; keeps the error if not.
fn is_reached(ranks: &Ranks, outcome: Result<()>) -> bool {
    match outcome {
        Ok(()) => true,
        Err(error) => {
            ranks.fail(error);
            false
        }
    }
}

/// Returns the sentences of a rank: consecutive blocks with about as many tokens as those of any
/// other rank.
fn sentences_of(ranks: &Ranks, data: &Dataset, space: &ParameterSpace) -> Vec<usize> {
    let all = data.tokens().max(1) as u128;
    let partition = BlockPartition::new(data, partition_width(space));
    let own = partition.blocks.iter().filter(|block| {
        let middle = (block.tokens.start + block.tokens.end) / 2;
        middle as u128 * ranks.size() as u128 / all == ranks.rank() as u128
    });
    own.flat_map(|block| block.chunks.iter().cloned()).flatten().collect()
}
