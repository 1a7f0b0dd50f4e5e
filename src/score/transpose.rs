//! The transposed design matrix, in blocks of tokens.
//!
//! An evaluation works through the corpus block by block: first the scores and their derivatives
//! of all sentences of a block (parallel over *chunks* of sentences), then the block's share of
//! the gradient (parallel over columns), while the next block's sentences are under way. The derivatives
//! of a block stay in cache between the two and never exist for the whole corpus at once. Blocks and
//! chunks depend on the data alone, never on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::targets::{BLOCKS, Targets};
use crate::chain::LANES;
use crate::extract::{Dataset, SparseRows};
use crate::simd::{self, Kernel};

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
pub struct BlockPartition {
    /// Blocks, in corpus order.
    pub blocks: Vec<Block>,
}

impl BlockPartition {
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
pub struct TransposeProduct {
    blocks: Vec<Columns>,
    coefficients: Vec<f64>, // √m for each weight, where there are sparse columns
}

/// The columns that occur in one block, ascending.
///
/// Sparse columns (see [`ForwardProduct`](super::ForwardProduct)) are stored weight by weight: for each weight of each entry its index
/// and the derivative that it takes.
#[derive(Clone, Debug, Default)]
struct Columns {
    columns: Vec<u32>, // dense ones
    ends: Vec<u32>,    // [columns] end of each column in `tokens`
    tokens: Vec<u32>,  // counted from the first of the block
    values: Option<Vec<f64>>,
    sparse: Vec<Sparse>, // by column
    sparse_values: Option<Vec<f64>>,
    tasks: Vec<Task>, // about TASK_ENTRIES entries each
}

/// A weight of an entry of a sparse column.
#[derive(Clone, Copy, Debug)]
struct Sparse {
    weight: u32,
    cell: u32, // token of the block · width + place
}

/// A unit of work.
#[derive(Clone, Debug)]
struct Task {
    columns: Range<usize>, // of `Columns::columns`
    sparse: Range<usize>,  // of `Columns::sparse`
    weights: Range<usize>, // those that its columns have
}

impl TransposeProduct {
    /// The transpose of `rows` by the blocks of `plan`.
    #[must_use]
    pub fn new(rows: &SparseRows, targets: &Targets, scale: &[f64], plan: &BlockPartition) -> Self {
        let blocks = plan
            .blocks
            .iter()
            .map(|block| Columns::new(rows, targets, block.tokens.clone()))
            .collect();
        let mut coefficients = Vec::new();
        if targets.is_observed() {
            coefficients.reserve_exact(targets.weights());
            for (column, &scale) in scale.iter().enumerate() {
                coefficients.resize(targets.range(column).end, scale);
            }
        }
        Self {
            blocks,
            coefficients,
        }
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
        // Columns ascend and weights stand in column order, so each task owns one piece of the gradient.
        let mut pieces = Vec::with_capacity(columns.tasks.len());
        let (mut rest, mut cut) = (gradient, 0);
        for task in &columns.tasks {
            let (piece, after) = rest.split_at_mut(task.weights.end - cut);
            pieces.push((task, &mut piece[task.weights.start - cut..]));
            (rest, cut) = (after, task.weights.end);
        }
        pieces.into_par_iter().for_each(|(task, gradient)| {
            simd::dispatch(Gather {
                columns,
                task,
                targets,
                scale,
                coefficients: &self.coefficients,
                derivatives,
                gradient,
            });
        });
    }

    /// Bytes of memory.
    #[must_use]
    pub fn memory(&self) -> usize {
        let values = |values: &Option<Vec<f64>>| values.as_ref().map_or(0, Vec::capacity);
        let of = |c: &Columns| {
            4 * (c.columns.capacity() + c.ends.capacity() + c.tokens.capacity())
                + 8 * (c.sparse.capacity() + values(&c.values) + values(&c.sparse_values))
        };
        self.blocks.iter().map(of).sum::<usize>() + 8 * self.coefficients.capacity()
    }
}

impl Columns {
    fn new(rows: &SparseRows, targets: &Targets, tokens: Range<usize>) -> Self {
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
        let values = || (!rows.is_binary()).then(Vec::new);
        let mut block = Self {
            values: values(),
            sparse_values: values(),
            ..Self::default()
        };
        let mut work = 0;
        for column in entries.chunk_by(|x, y| x.0 == y.0) {
            if work == 0 {
                block.begin_task(targets.range(column[0].0 as usize).start);
            }
            block.push(targets, column);
            work += column.len();
            let weights = targets.range(column[0].0 as usize).end;
            if let Some(task) = block.tasks.last_mut() {
                task.columns.end = block.columns.len();
                task.sparse.end = block.sparse.len();
                task.weights.end = weights;
            }
            if work >= TASK_ENTRIES {
                work = 0;
            }
        }
        block.columns.shrink_to_fit();
        block.ends.shrink_to_fit();
        block.tokens.shrink_to_fit();
        block.sparse.shrink_to_fit();
        block
    }

    fn begin_task(&mut self, weight: usize) {
        self.tasks.push(Task {
            columns: self.columns.len()..self.columns.len(),
            sparse: self.sparse.len()..self.sparse.len(),
            weights: weight..weight,
        });
    }

    /// Appends a column: entries (column, token, value).
    fn push(&mut self, targets: &Targets, entries: &[(u32, u32, f64)]) {
        let column = entries[0].0;
        if targets.is_dense(column as usize) {
            self.columns.push(column);
            self.tokens.extend(entries.iter().map(|e| e.1));
            self.ends.push(self.tokens.len() as u32);
            if let Some(values) = &mut self.values {
                values.extend(entries.iter().map(|e| e.2));
            }
            return;
        }
        for &(_, token, value) in entries {
            targets.for_each(column as usize, |place, weight| {
                self.sparse.push(Sparse {
                    weight: weight as u32,
                    cell: (token as usize * targets.width() + place) as u32,
                });
                if let Some(values) = &mut self.sparse_values {
                    values.push(value);
                }
            });
        }
    }
}

/// One task on the gradient of its weights.
struct Gather<'a> {
    columns: &'a Columns,
    task: &'a Task,
    targets: &'a Targets,
    scale: &'a [f64],
    coefficients: &'a [f64],
    derivatives: Derivatives<'a>,
    gradient: &'a mut [f64],
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let stride = self.targets.stride();
        for line in 0..self.targets.height() {
            for at in (0..stride).step_by(BLOCKS * LANES) {
                match ((stride - at) / LANES).min(BLOCKS) {
                    1 => self.lines::<1>(line, at),
                    2 => self.lines::<2>(line, at),
                    3 => self.lines::<3>(line, at),
                    4 => self.lines::<4>(line, at),
                    5 => self.lines::<5>(line, at),
                    6 => self.lines::<6>(line, at),
                    _ => self.lines::<BLOCKS>(line, at),
                }
            }
        }
        self.sparse();
    }
}

impl Gather<'_> {
    /// The weights of dense columns for `B` blocks of labels of one line, from label `at` on.
    #[inline(always)]
    fn lines<const B: usize>(&mut self, line: usize, at: usize) {
        let (targets, derivatives) = (self.targets, self.derivatives);
        let (width, place) = (targets.width(), line * targets.stride() + at);
        for i in self.task.columns.clone() {
            let column = self.columns.columns[i] as usize;
            let start = if i == 0 {
                0
            } else {
                self.columns.ends[i - 1] as usize
            };
            let entries = start..self.columns.ends[i] as usize;
            let range = targets.range(column);
            let first = range.start - self.task.weights.start;
            let gradient = &mut self.gradient[first..first + range.len()];
            let c = self.scale[column];
            let block = [line, at, B * LANES];
            let Some(noise) = derivatives.noise else {
                let sources = [(derivatives.scores, 1)];
                let [sums] = self.columns.sums::<B, 1>(sources, width, entries, place);
                targets.for_block(column, block, |label, index| {
                    gradient[index] += c * sums.as_flattened()[label];
                });
                continue;
            };
            let (by_score, by_variance) = ((derivatives.scores, 1), (noise.variances, 2));
            let [sums, squares] = if B <= 3 {
                let sources = [by_score, by_variance];
                self.columns.sums::<B, 2>(sources, width, entries, place)
            } else {
                // So many sums at a time would not stay in registers.
                let sums =
                    |source, entries| self.columns.sums::<B, 1>([source], width, entries, place);
                let [first] = sums(by_score, entries.clone());
                let [second] = sums(by_variance, entries);
                [first, second]
            };
            let weights = &noise.weights[range];
            targets.for_block(column, block, |label, index| {
                let factor = 2.0 * noise.rate * weights[index];
                let square = factor * squares.as_flattened()[label];
                gradient[index] += c * sums.as_flattened()[label] + square;
            });
        }
    }

    /// The weights of sparse columns.
    #[inline(always)]
    fn sparse(&mut self) {
        let derivatives = self.derivatives;
        let first = self.task.weights.start;
        let coefficients = &self.coefficients;
        for i in self.task.sparse.clone() {
            let Sparse { weight, cell } = self.columns.sparse[i];
            let (weight, cell) = (weight as usize, cell as usize);
            let x = self.columns.sparse_values.as_ref().map_or(1.0, |x| x[i]);
            let mut sum = coefficients[weight] * x * derivatives.scores[cell];
            if let Some(noise) = derivatives.noise {
                let factor = 2.0 * noise.rate * noise.weights[weight];
                sum += factor * (x * x * noise.variances[cell]);
            }
            self.gradient[weight - first] += sum;
        }
    }
}

impl Columns {
    /// `Σ_t x_t^power · derivatives[t]` over entries of a column, for each of the sources (derivatives,
    /// power) and `B` blocks of labels from `place` on.
    #[inline(always)]
    fn sums<const B: usize, const N: usize>(
        &self,
        sources: [(&[f64], u32); N],
        width: usize,
        entries: Range<usize>,
        place: usize,
    ) -> [[[f64; LANES]; B]; N] {
        let mut sums = [[[0.0; LANES]; B]; N];
        for entry in entries {
            let start = self.tokens[entry] as usize * width + place;
            let x = self.values.as_ref().map_or(1.0, |values| values[entry]);
            for (sums, (derivatives, power)) in sums.iter_mut().zip(sources) {
                let row = &derivatives[start..start + B * LANES];
                let x = if power == 2 { x * x } else { x };
                for (sums, row) in sums.iter_mut().zip(row.as_chunks::<LANES>().0) {
                    for (sum, d) in sums.iter_mut().zip(row) {
                        *sum += x * d;
                    }
                }
            }
        }
        sums
    }
}
