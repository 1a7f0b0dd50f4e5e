//! Evaluations by several ranks: each evaluates a part of the sentences, and all sum.
//!
//! Ranks have whole blocks of the partition of all sentences ([`BlockPartition`]). A block starts
//! anew, so its chunks, and the sums over each, are those of a single process.

use super::penalty::Penalty;
use super::totals::Totals;
use super::{PenalizedLikelihood, SentenceSums};
use crate::error::Result;
use crate::exact_sum::FixedPointSum;
use crate::extract::Dataset;
use crate::ranks::Ranks;
use crate::score::{BlockPartition, ParameterSpace};

/// Returns the number of scores per token that determines the size of blocks.
pub(super) fn partition_width(space: &ParameterSpace) -> usize {
    space.edges.used_width().max(space.stride())
}

impl PenalizedLikelihood {
    /// Creates the objective without noise for evaluations by several ranks, which have the same
    /// data. They evaluate at the same θ, and get the same value and gradient: those of
    /// [`new`](Self::new).
    ///
    /// If a rank cannot be reached by an evaluation, value and gradient are NaN, and the error is
    /// that of [`Ranks::take_failure`].
    pub fn divided(
        data: &Dataset,
        space: &ParameterSpace,
        penalty: impl Into<Penalty>,
        ranks: &Ranks,
    ) -> Self {
        let own = data.select(&sentences_of(ranks, data, space), None);
        Self {
            ranks: Some(ranks.clone()),
            ..Self::with_totals(&own, Totals::new(data, space), space, penalty.into())
        }
    }

    /// Replaces sums by those over all ranks; returns whether all could be reached.
    pub(super) fn sum_over_ranks(&mut self, sums: &mut SentenceSums) -> bool {
        let Some(ranks) = &self.ranks else {
            return true;
        };
        let mut words = Vec::new();
        words.extend(sums.loss.to_words());
        words.extend(sums.noise.to_words());
        words.push(f64::from(u8::from(sums.exceeds_limit)));
        let scalars = words.len();
        self.sums.for_each(|sums| words.extend_from_slice(sums));
        if !is_reached(ranks, ranks.sum(&mut words)) {
            return false;
        }
        let (scalars, mut rest) = words.split_at(scalars);
        let (terms, exceeds_limit) = scalars.split_at(2 * FixedPointSum::WORDS);
        let (terms, _) = terms.as_chunks();
        sums.loss = FixedPointSum::from_words(terms[0]);
        sums.noise = FixedPointSum::from_words(terms[1]);
        sums.exceeds_limit = exceeds_limit != [0.0];
        self.sums.for_each(|sums| {
            let (values, after) = rest.split_at(sums.len());
            sums.copy_from_slice(values);
            rest = after;
        });
        true
    }

    /// Replaces the gradient with respect to attribute weights by its sum over all ranks; returns
    /// whether all could be reached.
    pub(super) fn sum_gradient_over_ranks(&self, gradient: &mut [f64]) -> bool {
        let Some(ranks) = &self.ranks else {
            return true;
        };
        let attributes = &mut gradient[..self.space.edges.range.end];
        is_reached(ranks, ranks.sum(attributes))
    }
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
