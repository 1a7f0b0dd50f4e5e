//! The sentences of one rank, and sums over all ranks.
//!
//! Ranks have whole blocks of the partition of all sentences ([`BlockPartition`]). A block starts
//! anew, so its chunks, and the sums over each, are those of a single process.

use std::ops::Range;
use std::sync::Arc;

use super::penalty::Penalty;
use super::totals::Totals;
use super::{PenalizedLikelihood, SentenceSums};
use crate::error::{Error, Result};
use crate::exact_sum::FixedPointSum;
use crate::extract::Dataset;
use crate::ranks::Ranks;
use crate::score::{BlockPartition, ParameterSpace, divide};

/// Returns the number of scores per token that determines the size of blocks.
pub(super) fn partition_width(space: &ParameterSpace) -> usize {
    space.edges.used_width().max(space.stride())
}

impl PenalizedLikelihood {
    /// Creates the objective without noise, the sentences of which are divided among ranks. All
    /// ranks pass the same labeled sentences, and the same unlabeled ones or their own
    /// ([`Ranks::has_own_unlabeled`]); they evaluate at the same θ, and get the same value and
    /// gradient: those of [`new`](Self::new) on all sentences.
    ///
    /// If a rank cannot be reached by an evaluation, value and gradient are NaN, and the error is
    /// that of [`Ranks::take_failure`].
    ///
    /// # Errors
    ///
    /// [`Error::Communication`](crate::Error::Communication).
    pub fn of_rank(
        data: &Dataset,
        space: &ParameterSpace,
        penalty: impl Into<Penalty>,
        ranks: Ranks,
    ) -> Result<Self> {
        let (totals, part) = match ranks.has_own_unlabeled() {
            false => {
                let part = data.select(&blocks_of(&ranks, data, space, 0..data.len()), None);
                (Totals::new(data, space), part)
            }
            true => {
                let labeled = blocks_of(&ranks, data, space, 0..data.labeled());
                let part = with_whole_blocks(&ranks, data, space, &labeled)?;
                (Totals::over_ranks(data, space, &ranks)?, part)
            }
        };
        Ok(Self {
            ranks: Some(ranks),
            ..Self::with_totals(&part, totals, space, penalty.into())
        })
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

/// Returns the sentences of a rank among `sentences`, which begin and end with blocks: consecutive
/// blocks with about as many tokens as those of any other rank.
fn blocks_of(
    ranks: &Ranks,
    data: &Dataset,
    space: &ParameterSpace,
    sentences: Range<usize>,
) -> Vec<usize> {
    let tokens = |i: usize| if i == 0 { 0 } else { data.sentence(i - 1).end };
    let [start, end] = [sentences.start, sentences.end].map(tokens);
    let owner = |tokens: &Range<usize>| {
        let middle = (tokens.start + tokens.end) / 2 - start;
        (middle as u128 * ranks.size() as u128 / (end - start).max(1) as u128) as usize
    };
    let partition = BlockPartition::new(data, partition_width(space));
    let blocks = partition.blocks.iter();
    let own = blocks.filter(|block| {
        (start..end).contains(&block.tokens.start) && owner(&block.tokens) == ranks.rank()
    });
    own.flat_map(|block| block.chunks.iter().cloned())
        .flatten()
        .collect()
}

/// Returns some labeled sentences, and the unlabeled ones of the blocks that begin with sentences
/// of this rank. What is missing of the last block comes from higher ranks; what belongs to the
/// block of a lower rank goes there.
fn with_whole_blocks(
    ranks: &Ranks,
    data: &Dataset,
    space: &ParameterSpace,
    labeled: &[usize],
) -> Result<Dataset> {
    let first = data.labeled();
    let lengths = (first..data.len()).map(|i| data.sentence(i).len() as u32);
    let lengths: Vec<u8> = lengths.flat_map(u32::to_le_bytes).collect();
    let lengths = ranks.gather(&lengths)?;
    let lengths: Vec<&[[u8; 4]]> = lengths.iter().map(|bytes| bytes.as_chunks().0).collect();
    let mut starts = vec![0]; // of the sentences of each rank, and the end
    for lengths in &lengths {
        starts.push(starts[starts.len() - 1] + lengths.len());
    }
    let tokens = lengths.iter().copied().flatten();
    let tokens = tokens.map(|&bytes| u32::from_le_bytes(bytes) as usize);
    let blocks = divide(tokens, partition_width(space));
    let begins: Vec<usize> = blocks.iter().map(|block| block[0].start).collect();
    // The first block that begins at sentence i or later.
    let begin = |i: usize| {
        let next = begins.get(begins.partition_point(|&begin| begin < i));
        next.copied().unwrap_or(starts[ranks.size()])
    };
    let [start, end] = [starts[ranks.rank()], starts[ranks.rank() + 1]];
    let head = first..first + begin(start).min(end) - start;
    let heads = ranks.gather(&encode(data, head.clone()))?;
    let kept: Vec<usize> = labeled
        .iter()
        .copied()
        .chain(head.end..data.len())
        .collect();
    let mut part = data.select(&kept, None);
    if head.end < data.len() {
        // Higher ranks up to the next beginning of a block continue the last block of this one.
        let mut rank = ranks.rank() + 1;
        while rank < ranks.size() && starts[rank] < begin(end) {
            decode(&heads[rank], &mut part)?;
            rank += 1;
        }
    }
    Ok(part)
}

/// Encodes unlabeled sentences, for a rank with the same program: the weight and the number of
/// tokens of each; of every token, the entries of nodes and of edges.
fn encode(data: &Dataset, sentences: Range<usize>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in sentences {
        let rows = data.sentence(i);
        bytes.extend(data.weight(i).to_le_bytes());
        bytes.extend((rows.len() as u32).to_le_bytes());
        for row in rows {
            for matrix in [&data.nodes, &data.edges] {
                let (columns, _) = matrix.row(row);
                bytes.extend((columns.len() as u32).to_le_bytes());
                for (column, value) in matrix.entries(row) {
                    bytes.extend(column.to_le_bytes());
                    bytes.extend(value.to_le_bytes());
                }
            }
        }
    }
    bytes
}

/// Appends unlabeled sentences.
fn decode(mut bytes: &[u8], data: &mut Dataset) -> Result<()> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let weight = f64::from_le_bytes(take(&mut bytes)?);
        for _ in 0..u32::from_le_bytes(take(&mut bytes)?) {
            for matrix in [&mut data.nodes, &mut data.edges] {
                entries.clear();
                for _ in 0..u32::from_le_bytes(take(&mut bytes)?) {
                    let column = u32::from_le_bytes(take(&mut bytes)?);
                    entries.push((column, f64::from_le_bytes(take(&mut bytes)?)));
                }
                Arc::make_mut(matrix).push_row(&mut entries);
            }
        }
        data.end_sentence(data.nodes.len(), weight);
    }
    Ok(())
}

/// Takes the first N bytes.
fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let cut_off = || Error::Communication("sentences from another rank are cut off".to_owned());
    let (first, rest) = bytes.split_first_chunk().ok_or_else(cut_off)?;
    *bytes = rest;
    Ok(*first)
}
