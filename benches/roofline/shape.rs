//! The shape of a data set, and the work of the kernels of an evaluation, counted from it.
//!
//! Per entry of X, S = X·Θ multiplies and adds a row of K weights; with noise, V takes a square, a
//! product and a sum more. G = Xᵀ·D is the same by columns. Per token, forward-backward with
//! expectations has 3 multiply-adds per pair of labels and an exponential (40 operations) per
//! label, the noise term 13 multiply-adds per pair (`noise::adjoint_kernel`).

use dropchain::kernel::extract::Dataset;
use dropchain::kernel::score::{BlockPartition, ParameterSpace};
use dropchain::kernel::simd::InstructionSet;

use crate::machine::Machine;
use crate::work::Work;

/// Bytes of a double.
const F64: f64 = 8.0;
/// Bytes of an index.
const INDEX: f64 = 4.0;
/// Operations of an exponential (`kernel::math`): two for each fused multiply-add.
const EXPONENTIAL: f64 = 40.0;
/// Blocks of lanes above which scores and variances take a pass each.
const BLOCKS_TOGETHER: f64 = 3.0;

/// Bytes that a tile loads per multiply-add (`chain::products`): 8 rows × 24 columns of
/// AVX-512, 4 × 8 elsewhere.
fn tile() -> f64 {
    let (rows, columns) = match InstructionSet::selected() {
        InstructionSet::Avx512 => (8.0, 24.0),
        _ => (4.0, 8.0),
    };
    F64 * (rows + columns) / (rows * columns)
}

/// The numbers that work is counted from.
pub struct Shape {
    pub tokens: f64,
    pub labels: f64, // K
    pub entries: f64,
    pub parameters: f64,
    sentences: f64,
    stride: f64, // K padded
    frequencies: Vec<u32>,
    block_tokens: f64,
    columns_of_blocks: f64, // Σ over blocks of the columns with entries
}

impl Shape {
    /// Counts.
    pub fn new(data: &Dataset, space: &ParameterSpace, partition: &BlockPartition) -> Self {
        let columns = space.nodes.targets.columns();
        let mut frequencies = vec![0; columns];
        let mut last_block = vec![usize::MAX; columns];
        let mut columns_of_blocks = 0;
        for (index, block) in partition.blocks.iter().enumerate() {
            for token in block.tokens.clone() {
                for &column in data.nodes.row(token).0 {
                    let column = column as usize;
                    frequencies[column] += 1;
                    let last = std::mem::replace(&mut last_block[column], index);
                    columns_of_blocks += usize::from(last != index);
                }
            }
        }
        Self {
            tokens: data.tokens() as f64,
            labels: space.labels() as f64,
            entries: data.nodes.nonzeros() as f64,
            parameters: space.dimension() as f64,
            sentences: data.len() as f64,
            stride: space.stride() as f64,
            frequencies,
            block_tokens: partition.max_block_tokens() as f64,
            columns_of_blocks: columns_of_blocks as f64,
        }
    }

    /// S = X·Θ, and V with noise. Reads per entry: the column's number, its scale and its row of
    /// Θ; the rows of frequent columns stay in cache. Writes rows of scores in L1.
    pub fn scores(&self, machine: &Machine, is_noisy: bool) -> Work {
        let (weights, outputs) = (self.entries * self.labels, if is_noisy { 2.0 } else { 1.0 });
        let row = (self.labels + 1.0) * F64;
        let mut work = Work::rows(machine, self.frequencies.clone(), row);
        work.operations = weights * if is_noisy { 5.0 } else { 2.0 };
        let indices = self.entries * INDEX;
        work += Work::new(machine, 0.0, indices, indices);
        let written = outputs * self.tokens * self.stride * F64;
        work += Work::new(machine, 0.0, written, self.stride * F64);
        if is_noisy && self.stride > BLOCKS_TOGETHER * 8.0 {
            work += Work::new(machine, 0.0, weights * F64, row);
        }
        work
    }

    /// Forward-backward and expectations. Both recurrences read the matrix of potentials for every
    /// token; expectations are tiles; of arrays `[T][S]`, 12 rows are read or written per token.
    pub fn chain(&self, machine: &Machine) -> Work {
        let (k, rows) = (self.labels, self.tokens * self.stride);
        let operations = self.tokens * (6.0 * k * k + (EXPONENTIAL + 10.0) * k);
        let matrix = k * self.stride * F64;
        let mut work = Work::new(machine, operations, 2.0 * rows * k * F64, matrix);
        work += Work::new(machine, 0.0, rows * k * tile(), matrix);
        work += Work::new(machine, 0.0, 12.0 * rows * F64, 5.0 * self.sentence_array());
        work
    }

    /// The noise term. Its recurrences and tiles are like those of the chain: 2 and 11 products;
    /// all matrices and sums are read again for every sentence, and of arrays `[T][S]`, 40 rows
    /// are read or written per token.
    pub fn noise(&self, machine: &Machine) -> Work {
        let (k, rows) = (self.labels, self.tokens * self.stride);
        let operations = self.tokens * (26.0 * k * k + 35.0 * k);
        let matrix = k * self.stride * F64;
        let mut work = Work::new(machine, operations, 2.0 * rows * k * F64, matrix);
        work += Work::new(machine, 0.0, 11.0 * rows * k * tile(), matrix);
        work += Work::new(machine, 0.0, 16.0 * self.sentences * matrix, 12.0 * matrix);
        work += Work::new(machine, 0.0, 40.0 * rows * F64, 17.0 * self.sentence_array());
        work
    }

    /// G = Xᵀ·D, with noise of two matrices D. Reads per entry: the token's number and a row of D,
    /// which lies where a block of it fits; per column of a block: reads and writes a row of G,
    /// and with noise reads one of Θ.
    pub fn gradient(&self, machine: &Machine, is_noisy: bool) -> Work {
        let outputs = if is_noisy { 2.0 } else { 1.0 };
        let weights = self.columns_of_blocks * self.labels;
        let operations = 2.0 * outputs * (self.entries * self.labels + weights);
        let rows = outputs * self.entries * self.stride * F64;
        let block = outputs * self.block_tokens * self.stride * F64;
        let mut work = Work::new(machine, operations, rows, block);
        let indices = self.entries * INDEX;
        work += Work::new(machine, 0.0, indices, indices);
        let bytes = weights * F64 * (1.0 + outputs);
        work += Work::new(machine, 0.0, bytes, outputs * self.parameters * F64);
        work
    }

    /// The vectors of an iteration of L-BFGS with `memory` pairs in `f32` and a preconditioner in
    /// `f32`, besides the evaluation: both loops in 2m + 2 passes, the step, the new pair, norms.
    pub fn optimizer(&self, machine: &Machine, memory: f64) -> Work {
        let n = self.parameters;
        let bytes = n * (132.0 + 48.0 * memory);
        let vectors = n * (5.0 * F64 + (2.0 * memory + 1.0) * 4.0);
        Work::new(machine, n * (25.0 + 10.0 * memory), bytes, vectors)
    }

    /// Bytes of an array `[T][S]` of a sentence of mean length.
    fn sentence_array(&self) -> f64 {
        self.tokens / self.sentences * self.stride * F64
    }
}
