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
    /// Partitions `data`, given the number of scores per token.
    #[must_use]
    pub fn new(data: &Dataset, width: usize) -> Self {
        let chunks_per_block =
            (BLOCK_DERIVATIVES / (CHUNK_TOKENS * width).max(1)).clamp(1, BLOCK_CHUNKS);
        let mut chunks = Vec::new();
        let mut first = 0;
        for i in 0..data.len() {
            let tokens = data.sentence(i).end - data.sentence(first).start;
            if tokens >= CHUNK_TOKENS || i + 1 == data.len() {
                chunks.push(first..i + 1);
                first = i + 1;
            }
        }
        let blocks = chunks
            .chunks(chunks_per_block)
            .map(|chunks| {
                let (first, last) = (&chunks[0], &chunks[chunks.len() - 1]);
                Block {
                    tokens: data.sentence(first.start).start..data.sentence(last.end - 1).end,
                    chunks: chunks.to_vec(),
                }
            })
            .collect();
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
