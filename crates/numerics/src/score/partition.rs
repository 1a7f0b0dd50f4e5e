//! The units of work, which depend only on the data, and the columns of the design matrix within
//! one block of tokens (CSC).

use std::ops::Range;

use crate::data::{Dataset, SparseRows};

/// Tokens per chunk of sentences, the unit of work of a thread.
const CHUNK_TOKENS: usize = 256;
/// Chunks per block.
const BLOCK_CHUNKS: usize = 32;
/// Maximum number of derivatives (f64) per block: 1 MiB, so that those with respect to scores and
/// to variances stay in the L2 cache. Blocks that would exceed it get fewer chunks.
const BLOCK_DERIVATIVES: usize = 1 << 17;

/// A block of consecutive sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The tokens of the block.
    pub tokens: Range<usize>,
    /// The chunks of the block: ranges of sentences.
    pub chunks: Vec<Range<usize>>,
}

/// The partition of the corpus into blocks, and of the blocks into chunks.
///
/// An evaluation proceeds block by block: first the derivatives with respect to the scores of a
/// block, in parallel over its chunks; then the block's contribution to the gradient, in parallel
/// over columns. The derivatives of a block stay in cache in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPartition {
    /// Blocks, in corpus order.
    pub blocks: Vec<Block>,
}

impl BlockPartition {
    /// Partitions `data`, given the number of scores per token. Unlabeled sentences begin a block.
    pub fn new(data: &Dataset, width: usize) -> Self {
        let chunks_per_block =
            (BLOCK_DERIVATIVES / (CHUNK_TOKENS * width).max(1)).clamp(1, BLOCK_CHUNKS);
        let labeled = data.labeled();
        let mut blocks = Vec::new();
        for sentences in [0..labeled, labeled..data.len()] {
            let (mut chunks, mut first, mut tokens) = (Vec::new(), sentences.start, 0);
            for i in sentences.clone() {
                tokens += data.sentence(i).len();
                if tokens >= CHUNK_TOKENS || i + 1 == sentences.end {
                    chunks.push(first..i + 1);
                    (first, tokens) = (i + 1, 0);
                }
            }
            for chunks in chunks.chunks(chunks_per_block) {
                let (first, last) = (&chunks[0], &chunks[chunks.len() - 1]);
                let tokens = data.sentence(first.start).start..data.sentence(last.end - 1).end;
                blocks.push(Block { tokens, chunks: chunks.to_vec() });
            }
        }
        Self { blocks }
    }

    /// Tokens of the largest block.
    pub fn max_block_tokens(&self) -> usize {
        self.blocks.iter().map(|block| block.tokens.len()).max().unwrap_or(0)
    }

    /// Chunks of the block with the most chunks.
    pub fn max_block_chunks(&self) -> usize {
        self.blocks.iter().map(|block| block.chunks.len()).max().unwrap_or(0)
    }
}

/// Entries per task of a product over columns.
pub const TASK_ENTRIES: usize = 4096;

/// An entry of the design matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The column.
    pub column: u32,
    /// Counted from the first token of the block.
    pub token: u32,
    /// The value.
    pub value: f64,
}

/// Returns the entries of `tokens`, sorted by column and token; none for a matrix without rows.
pub fn sorted_entries(rows: &SparseRows, tokens: Range<usize>) -> Vec<Entry> {
    let tokens = if rows.is_empty() { 0..0 } else { tokens };
    let first = tokens.start;
    let mut entries = Vec::new();
    for token in tokens {
        let row = rows.entries(token);
        let token = (token - first) as u32;
        entries.extend(row.map(|(column, value)| Entry { column, token, value }));
    }
    entries.sort_unstable_by_key(|entry| (entry.column, entry.token));
    entries
}

/// The entries of one block of tokens in CSC form: column by column in ascending order, tokens in
/// order within a column. Columns without entries are absent.
#[derive(Clone, Debug, Default)]
pub struct ColumnBlock {
    columns: Vec<u32>,
    ends: Vec<u32>,           // [columns] end of each column in `tokens`
    tokens: Vec<u32>,         // [entries] counted from the first token of the block
    values: Option<Vec<f64>>, // [entries], unless all values are 1
}

impl ColumnBlock {
    /// Creates an empty block for entries of `rows`.
    pub fn for_entries_of(rows: &SparseRows) -> Self {
        Self { values: rows.values.is_some().then(Vec::new), ..Self::default() }
    }

    /// Appends a column, whose entries must not be empty.
    pub fn push(&mut self, entries: &[Entry]) {
        self.columns.push(entries[0].column);
        self.tokens.extend(entries.iter().map(|entry| entry.token));
        self.ends.push(self.tokens.len() as u32);
        if let Some(values) = &mut self.values {
            values.extend(entries.iter().map(|entry| entry.value));
        }
    }

    /// Returns the number of columns.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns the index in the matrix of the `i`-th column of the block.
    #[inline(always)]
    pub fn column(&self, i: usize) -> usize {
        self.columns[i] as usize
    }

    /// Returns the entries of the `i`-th column of the block.
    #[inline(always)]
    pub fn entries(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        start..self.ends[i] as usize
    }

    /// Returns the tokens of entries, counted from the first of the block, and their values unless
    /// all are 1.
    #[inline(always)]
    pub fn tokens_and_values(&self, entries: Range<usize>) -> (&[u32], Option<&[f64]>) {
        let values = self.values.as_ref().map(|values| &values[entries.clone()]);
        (&self.tokens[entries], values)
    }

    /// Frees excess capacity.
    pub fn shrink_to_fit(&mut self) {
        self.columns.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.tokens.shrink_to_fit();
    }
}

/// Splits a number per weight into one slice per owner, whose weights are ascending, disjoint
/// ranges.
pub fn split_by_owner(
    owners: impl ExactSizeIterator<Item = Range<usize>>,
    numbers: &mut [f64],
) -> Vec<&mut [f64]> {
    let mut slices = Vec::with_capacity(owners.len());
    let (mut rest, mut consumed) = (numbers, 0);
    for weights in owners {
        let (slice, after) = rest.split_at_mut(weights.end - consumed);
        slices.push(&mut slice[weights.start - consumed..]);
        (rest, consumed) = (after, weights.end);
    }
    slices
}
