//! The transposed design matrix, in blocks of tokens.
//!
//! An evaluation works through the corpus block by block: first the scores and their derivatives
//! of all sentences of a block (parallel over *chunks* of sentences), then the block's share of
//! the gradient (parallel over columns). The derivatives of a block stay in cache between the two
//! and never exist for the whole corpus at once. Blocks and chunks depend on the data alone, never
//! on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::targets::Targets;
use crate::extract::{Dataset, SparseRows};

/// Tokens of a chunk of sentences, the unit of work of a thread.
const CHUNK_TOKENS: usize = 256;
/// Chunks of a block.
const BLOCK_CHUNKS: usize = 32;
/// Derivatives (f64) that a block may need before it is made smaller: 16 MiB.
const BLOCK_DERIVATIVES: usize = 2 << 20;
/// Entries of X in a unit of transposed work.
const TASK_ENTRIES: usize = 4096;

/// A block of consecutive sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its tokens.
    pub tokens: Range<usize>,
    /// Its chunks: ranges of sentences.
    pub chunks: Vec<Range<usize>>,
}

/// How an evaluation divides the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Blocks, in corpus order.
    pub blocks: Vec<Block>,
}

impl Plan {
    /// A plan for `data` when the scores of one token take `width` numbers.
    #[must_use]
    pub fn new(data: &Dataset, width: usize) -> Self {
        let chunks_of_block =
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
            .chunks(chunks_of_block)
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
    pub fn largest_block(&self) -> usize {
        self.blocks
            .iter()
            .map(|b| b.tokens.len())
            .max()
            .unwrap_or(0)
    }

    /// Chunks of the block with the most chunks.
    #[must_use]
    pub fn most_chunks(&self) -> usize {
        self.blocks
            .iter()
            .map(|b| b.chunks.len())
            .max()
            .unwrap_or(0)
    }
}

/// Derivatives by the scores of a block, and under noise by their variances.
#[derive(Clone, Copy, Debug)]
pub struct Derivatives<'a> {
    /// By scores, `[tokens of the block][width]`.
    pub scores: &'a [f64],
    /// By variances, where noise is proportional to the values.
    pub noise: Option<NoiseDerivatives<'a>>,
}

/// What the gradient of the variances takes.
#[derive(Clone, Copy, Debug)]
pub struct NoiseDerivatives<'a> {
    /// By variances, `[tokens of the block][width]`.
    pub variances: &'a [f64],
    /// ρ.
    pub rate: f64,
    /// All weights of the matrix's columns.
    pub weights: &'a [f64],
}

/// A design matrix stored by columns, block by block.
#[derive(Clone, Debug)]
pub struct Transpose {
    blocks: Vec<Columns>,
}

/// An entry of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Its column.
    pub column: usize,
    /// Its token, counted from the first of the block.
    pub token: usize,
    /// Its value.
    pub value: f64,
}

/// A task, the index of the first weight of its columns, and the gradient of all of them.
type Piece<'a> = (Range<usize>, usize, &'a mut [f64]);

/// The columns that occur in one block, ascending.
#[derive(Clone, Debug, Default)]
struct Columns {
    columns: Vec<u32>,
    ends: Vec<u32>,   // [columns] end of each column in `tokens`
    tokens: Vec<u32>, // counted from the first of the block
    values: Option<Vec<f64>>,
    tasks: Vec<Range<usize>>, // of `columns`, about TASK_ENTRIES entries each
}

impl Transpose {
    /// The transpose of `rows` by the blocks of `plan`.
    #[must_use]
    pub fn new(rows: &SparseRows, plan: &Plan) -> Self {
        let blocks = plan
            .blocks
            .iter()
            .map(|block| Columns::new(rows, block.tokens.clone()))
            .collect();
        Self { blocks }
    }

    /// Adds one block's share to the gradient of the weights: `G += Xᵀ·D`, and with noise `2ρ·Θ∘(X∘²ᵀ·Q)`,
    /// with derivatives D by scores and Q by variances of shape `[tokens of the block][targets.width()]`.
    pub fn add_gradient(
        &self,
        block: usize,
        targets: &Targets,
        scale: &[f64],
        derivatives: Derivatives<'_>,
        gradient: &mut [f64],
    ) {
        let columns = &self.blocks[block];
        let pieces = columns.pieces(targets, gradient);
        pieces.into_par_iter().for_each(|(task, first, piece)| {
            columns.add_gradient(task, targets, scale, derivatives, piece, first);
        });
    }

    /// Calls `visit(room, entry, gradient of the weights of its column)` for every entry of one block,
    /// column by column, tokens in order. Columns are worked on in parallel; each has one owner.
    pub fn for_each_entry<R: Default>(
        &self,
        block: usize,
        targets: &Targets,
        gradient: &mut [f64],
        visit: impl Fn(&mut R, Entry, &mut [f64]) + Sync,
    ) {
        let columns = &self.blocks[block];
        let pieces = columns.pieces(targets, gradient);
        pieces.into_par_iter().for_each(|(task, first, piece)| {
            let mut room = R::default();
            for i in task {
                let column = columns.columns[i] as usize;
                let range = targets.range(column);
                let gradient = &mut piece[range.start - first..range.end - first];
                for entry in columns.start(i)..columns.ends[i] as usize {
                    let entry = Entry {
                        column,
                        token: columns.tokens[entry] as usize,
                        value: columns.value(entry),
                    };
                    visit(&mut room, entry, gradient);
                }
            }
        });
    }

    /// Bytes of memory.
    #[must_use]
    pub fn memory(&self) -> usize {
        let of = |c: &Columns| {
            4 * (c.columns.capacity() + c.ends.capacity() + c.tokens.capacity())
                + 8 * c.values.as_ref().map_or(0, Vec::capacity)
        };
        self.blocks.iter().map(of).sum()
    }
}

impl Columns {
    fn new(rows: &SparseRows, tokens: Range<usize>) -> Self {
        let first = tokens.start;
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for token in tokens {
            let t = (token - first) as u32;
            entries.extend(
                rows.entries(token)
                    .map(|(column, value)| (column, t, value)),
            );
        }
        entries.sort_unstable_by_key(|&(column, t, _)| (column, t));
        let mut block = Self {
            tokens: entries.iter().map(|e| e.1).collect(),
            values: (!rows.is_binary()).then(|| entries.iter().map(|e| e.2).collect()),
            ..Self::default()
        };
        let mut end = 0;
        for column in entries.chunk_by(|x, y| x.0 == y.0) {
            end += column.len();
            block.columns.push(column[0].0);
            block.ends.push(end as u32);
        }
        let (mut task, mut start) = (0, 0);
        for i in 0..block.columns.len() {
            let end = block.ends[i] as usize;
            if end - start >= TASK_ENTRIES || i + 1 == block.columns.len() {
                block.tasks.push(task..i + 1);
                (task, start) = (i + 1, end);
            }
        }
        block
    }

    /// Cuts the gradient into a piece for each task. Columns ascend and weights stand in column
    /// order, so each task owns one piece.
    fn pieces<'a>(&self, targets: &Targets, gradient: &'a mut [f64]) -> Vec<Piece<'a>> {
        let mut pieces = Vec::with_capacity(self.tasks.len());
        let (mut rest, mut cut) = (gradient, 0);
        for task in &self.tasks {
            let first = targets.range(self.columns[task.start] as usize).start;
            let end = targets.range(self.columns[task.end - 1] as usize).end;
            let (piece, after) = rest.split_at_mut(end - cut);
            pieces.push((task.clone(), first, &mut piece[first - cut..]));
            (rest, cut) = (after, end);
        }
        pieces
    }

    /// Where the entries of the `i`-th column start.
    fn start(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.ends[i - 1] as usize }
    }

    fn value(&self, entry: usize) -> f64 {
        self.values.as_ref().map_or(1.0, |values| values[entry])
    }

    /// One task: `gradient` holds the weights from index `first` on.
    fn add_gradient(
        &self,
        task: Range<usize>,
        targets: &Targets,
        scale: &[f64],
        derivatives: Derivatives<'_>,
        gradient: &mut [f64],
        first: usize,
    ) {
        let width = targets.width();
        for i in task {
            let column = self.columns[i] as usize;
            let range = targets.range(column);
            let gradient = &mut gradient[range.start - first..range.end - first];
            let weights = derivatives.noise.map(|noise| &noise.weights[range]);
            for entry in self.start(i)..self.ends[i] as usize {
                let t = self.tokens[entry] as usize;
                let value = self.value(entry);
                let c = scale[column] * value;
                let by_score = &derivatives.scores[t * width..(t + 1) * width];
                match (derivatives.noise, weights) {
                    (Some(noise), Some(weights)) => {
                        let by_variance = &noise.variances[t * width..(t + 1) * width];
                        targets.add_noise_derivatives(
                            column,
                            [c, 2.0 * noise.rate * value * value],
                            [by_score, by_variance],
                            weights,
                            gradient,
                        );
                    }
                    _ => targets.add_derivatives(column, c, by_score, gradient),
                }
            }
        }
    }
}
