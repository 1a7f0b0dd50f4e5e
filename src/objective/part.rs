//! The sentences of one rank, and sums over all ranks.
//!
//! Ranks have whole blocks of the partition of all sentences ([`BlockPartition`]). A block starts
//! anew, so its chunks, and the sums over each, are those of a single process.

use std::ops::Range;
use std::sync::Arc;

use super::penalty::Penalty;
use super::totals::Totals;
use super::{PenalizedLikelihood, SentenceSums};
use crate::error::Result;
use crate::exact_sum::FixedPointSum;
use crate::extract::{Allowed, Dataset, Target};
use crate::ids::LabelId;
use crate::ranks::{Ranks, take};
use crate::score::{BlockPartition, ParameterSpace, divide};

/// Returns the number of scores per token that determines the size of blocks.
pub(super) fn partition_width(space: &ParameterSpace) -> usize {
    space.edges.used_width().max(space.stride())
}

/// The sentences that a rank evaluates, and what it has to know of those of all ranks.
#[derive(Clone, Debug)]
pub struct RankPart {
    data: Dataset,
    totals: Totals,
    ranks: Ranks,
}

impl RankPart {
    /// Divides the sentences of all ranks among them. All ranks pass the same sentences, or their
    /// own unlabeled or own labeled and unlabeled ones ([`Ranks::with_own_unlabeled`],
    /// [`Ranks::with_own_labeled`]).
    ///
    /// # Errors
    ///
    /// [`Error::Communication`](crate::Error::Communication).
    pub fn new(data: &Dataset, space: &ParameterSpace, ranks: Ranks) -> Result<Self> {
        if !ranks.has_own_unlabeled() {
            let own = blocks_of(&ranks, data, space, 0..data.len());
            return Ok(Self {
                data: data.select(&own, None),
                totals: Totals::new(data, space),
                ranks,
            });
        }
        let totals = Totals::over_ranks(data, space, &ranks)?;
        let labeled = 0..data.labeled();
        let unlabeled = labeled.end..data.len();
        let mut part = Dataset::default();
        match ranks.has_own_labeled() {
            false => part.append(data, blocks_of(&ranks, data, space, labeled), None),
            true => append_whole_blocks(&mut part, &ranks, data, space, labeled)?,
        }
        append_whole_blocks(&mut part, &ranks, data, space, unlabeled)?;
        part.shrink_to_fit();
        Ok(Self {
            data: part,
            totals,
            ranks,
        })
    }

    /// Returns the sentences of this rank.
    #[must_use]
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Returns the total weight of the labeled sentences of all ranks.
    #[must_use]
    pub fn labeled_weight(&self) -> f64 {
        self.totals.weights[0]
    }
}

impl PenalizedLikelihood {
    /// Creates the objective without noise on the sentences of all ranks. These evaluate at the
    /// same θ, and get the same value and gradient: those of [`new`](Self::new) on all sentences.
    ///
    /// If a rank cannot be reached by an evaluation, value and gradient are NaN, and the error is
    /// that of [`Ranks::take_failure`].
    #[must_use]
    pub fn of_part(part: &RankPart, space: &ParameterSpace, penalty: impl Into<Penalty>) -> Self {
        Self {
            ranks: Some(part.ranks.clone()),
            ..Self::with_totals(&part.data, part.totals.clone(), space, penalty.into())
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

/// Appends to `part` the sentences of the blocks that begin with sentences of this rank, given its
/// own `sentences`, all labeled or all unlabeled. What is missing of the last block comes from
/// higher ranks; what belongs to the block of a lower rank goes there.
fn append_whole_blocks(
    part: &mut Dataset,
    ranks: &Ranks,
    data: &Dataset,
    space: &ParameterSpace,
    sentences: Range<usize>,
) -> Result<()> {
    let lengths = sentences.clone().map(|i| data.sentence(i).len() as u32);
    let mut starts = vec![0]; // of the sentences of each rank, and the end
    let mut tokens = Vec::<u32>::new(); // of the sentences of all ranks
    ranks.for_each_rank(
        lengths.flat_map(u32::to_le_bytes).collect(),
        |_, lengths| {
            let lengths = lengths.as_chunks().0.iter().copied();
            tokens.extend(lengths.map(u32::from_le_bytes));
            starts.push(tokens.len());
            Ok(())
        },
    )?;
    let tokens = tokens.into_iter().map(|tokens| tokens as usize);
    let blocks = divide(tokens, partition_width(space));
    let begins: Vec<usize> = blocks.iter().map(|block| block[0].start).collect();
    // The first block that begins at sentence i or later.
    let begin = |i: usize| {
        let next = begins.get(begins.partition_point(|&begin| begin < i));
        next.copied().unwrap_or(starts[ranks.size()])
    };
    let [start, end] = [starts[ranks.rank()], starts[ranks.rank() + 1]];
    let head = sentences.start + begin(start).min(end) - start;
    part.append(data, head..sentences.end, None);
    ranks.for_each_rank(encode(data, sentences.start..head), |rank, head_of_rank| {
        // Higher ranks up to the next beginning of a block continue the last block of this one.
        let continues = rank > ranks.rank() && starts[rank] < begin(end);
        match continues && head < sentences.end {
            true => decode(head_of_rank, part),
            false => Ok(()),
        }
    })
}

/// Encodes sentences for a rank with the same program: of each the weight, the number of tokens,
/// and whether it is labeled; of every token, the labels that it may have if the sentence is
/// labeled, and the entries of nodes and of edges.
fn encode(data: &Dataset, sentences: Range<usize>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in sentences {
        let rows = data.sentence(i);
        bytes.extend(data.weight(i).to_le_bytes());
        bytes.extend((rows.len() as u32).to_le_bytes());
        encode_target(data.target(i), &mut bytes);
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

fn encode_target(target: Target<'_>, bytes: &mut Vec<u8>) {
    bytes.push(u8::from(!matches!(target, Target::Unlabeled)));
    let push = |allowed: Allowed<'_>| {
        let mut labels = Vec::new();
        allowed.for_each(|label| labels.extend(label.0.to_le_bytes()));
        bytes.extend((labels.len() as u32 / 2).to_le_bytes());
        bytes.extend(labels);
    };
    match target {
        Target::Unlabeled => {}
        Target::Gold(labels) => labels.iter().copied().map(Allowed::One).for_each(push),
        Target::Allowed(labels) => labels.iter().for_each(push),
    }
}

/// Appends sentences.
fn decode(mut bytes: &[u8], data: &mut Dataset) -> Result<()> {
    let (mut labels, mut entries) = (Vec::new(), Vec::new());
    while !bytes.is_empty() {
        let weight = f64::from_le_bytes(take(&mut bytes)?);
        let tokens = u32::from_le_bytes(take(&mut bytes)?);
        if take(&mut bytes)? == [1] {
            for _ in 0..tokens {
                labels.clear();
                for _ in 0..u32::from_le_bytes(take(&mut bytes)?) {
                    labels.push(LabelId(u16::from_le_bytes(take(&mut bytes)?)));
                }
                data.push_labels(&labels);
            }
        }
        for _ in 0..tokens {
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
