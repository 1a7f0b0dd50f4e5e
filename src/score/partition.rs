//! The units of work, which depend only on the data.

use std::ops::Range;

use crate::extract::Dataset;

/// Tokens per chunk of sentences, the unit of work of a thread.
const CHUNK_TOKENS: usize = 256;
/// Chunks per block.
const BLOCK_CHUNKS: usize = 32;
/// Maximum number of derivatives (f64) per block: 16 MiB. Blocks that would exceed it get fewer
/// chunks.
const BLOCK_DERIVATIVES: usize = 2 << 20;

/// A block of consecutive sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its tokens.
    pub tokens: Range<usize>,
    /// Its chunks: ranges of sentences.
    pub chunks: Vec<Range<usize>>,
}

/// The partition of the corpus into blocks, and of the blocks into chunks.
///
/// An evaluation proceeds block by block: first the derivatives with respect to the scores of a
/// block, in parallel over its chunks; then the block's contribution to the gradient, in parallel
/// over columns. The derivatives of a block stay in cache in between. (docs/decisions, 4)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPartition {
    /// Blocks, in corpus order.
    pub blocks: Vec<Block>,
}

impl BlockPartition {
    /// Partitions `data`, given the number of scores per token. Unlabeled sentences begin a block.
    #[must_use]
    pub fn new(data: &Dataset, width: usize) -> Self {
        let labeled = data.labeled();
        let mut blocks = Vec::new();
        for sentences in [0..labeled, labeled..data.len()] {
            let lengths = sentences.clone().map(|i| data.sentence(i).len());
            for block in divide(lengths, width) {
                let chunk = |chunk: &Range<usize>| {
                    sentences.start + chunk.start..sentences.start + chunk.end
                };
                let chunks: Vec<Range<usize>> = block.iter().map(chunk).collect();
                let (first, last) = (&chunks[0], &chunks[chunks.len() - 1]);
                blocks.push(Block {
                    tokens: data.sentence(first.start).start..data.sentence(last.end - 1).end,
                    chunks,
                });
            }
        }
        Self { blocks }
    }

    /// Tokens of the largest block.
    #[must_use]
    pub fn max_block_tokens(&self) -> usize {
        let tokens = self.blocks.iter().map(|block| block.tokens.len());
        tokens.max().unwrap_or(0)
    }

    /// Chunks of the block with the most chunks.
    #[must_use]
    pub fn max_block_chunks(&self) -> usize {
        let chunks = self.blocks.iter().map(|block| block.chunks.len());
        chunks.max().unwrap_or(0)
    }
}

/// Divides sentences with these numbers of tokens into blocks of chunks.
fn divide(lengths: impl IntoIterator<Item = usize>, width: usize) -> Vec<Vec<Range<usize>>> {
    let chunks_per_block =
        (BLOCK_DERIVATIVES / (CHUNK_TOKENS * width).max(1)).clamp(1, BLOCK_CHUNKS);
    let mut chunks = Vec::new();
    let (mut first, mut end, mut tokens) = (0, 0, 0);
    for length in lengths {
        end += 1;
        tokens += length;
        if tokens >= CHUNK_TOKENS {
            chunks.push(first..end);
            (first, tokens) = (end, 0);
        }
    }
    if first < end {
        chunks.push(first..end);
    }
    chunks.chunks(chunks_per_block).map(<[_]>::to_vec).collect()
}
