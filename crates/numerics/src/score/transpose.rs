//! The transpose product G += Xᵀ·∂S, and under noise G += 2ρ·Θ∘(X∘²ᵀ·∂V).
//!
//! X is stored a second time by columns, separately for each block of tokens (see
//! [`BlockPartition`]), so that the derivatives of a block are still in cache when they are
//! gathered. Work is parallel over columns. Time O(nonzeros of X · S/4) with SIMD of four lanes.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use super::partition::{
    BlockPartition, ColumnBlock, Entry, TASK_ENTRIES, sorted_entries, split_by_owner,
};
use super::targets::{ColumnForm, FEW_SCORES, FeatureBlock, Pieces, Targets};
use crate::chain::products::{blocks, lanewise};
use crate::data::SparseRows;
use crate::exact_sum::untied;
use crate::parallel;
use crate::simd::{self, Kernel};

/// How many columns ahead weights and their gradient are fetched: a block of tokens has some rows
/// of each, and the processor does not foresee which. What leads to them, and weights of sparse
/// columns, are fetched twice as far ahead.
const AHEAD: usize = 8;

/// Derivatives with respect to the variances of a block's scores, under noise proportional to the
/// values.
#[derive(Clone, Copy, Debug)]
pub struct VarianceDerivatives<'a> {
    /// ∂V, `[tokens of the block][width]`.
    pub values: &'a [f64],
    /// ρ.
    pub rate: f64,
    /// All parameters θ.
    pub theta: &'a [f64],
}

/// The transpose of one design matrix.
#[derive(Clone, Debug)]
pub struct TransposeProduct {
    block: Arc<FeatureBlock>,
    slices: Vec<Slice>,     // of each block of tokens
    coefficients: Vec<f64>, // √m of each weight, if there are sparse columns
}

/// The columns within one block of tokens.
///
/// Sparse columns (see [`ForwardProduct`](super::ForwardProduct)) are stored weight by weight: for
/// each weight of each entry, its index and the position of the derivative to add. Listed columns
/// are stored like dense ones.
#[derive(Clone, Debug, Default)]
struct Slice {
    dense: ColumnBlock,
    listed: ColumnBlock,
    sparse: Vec<SparseWeight>, // by column
    sparse_values: Option<Vec<f64>>,
    tasks: Vec<Task>, // about TASK_ENTRIES entries each
}

/// A weight of an entry of a sparse column: its index, and the derivative to add, which is that of
/// token of the block · width + position.
type SparseWeight = [u32; 2];

/// A unit of work.
#[derive(Clone, Debug)]
struct Task {
    dense: Range<usize>,   // columns of `Slice::dense`
    listed: Range<usize>,  // columns of `Slice::listed`
    sparse: Range<usize>,  // of `Slice::sparse`
    weights: Range<usize>, // the weights of these columns, owned by this task
}

impl TransposeProduct {
    /// Transposes `matrix` block by block.
    pub fn new(matrix: &SparseRows, block: &Arc<FeatureBlock>, partition: &BlockPartition) -> Self {
        let slices = parallel::map(partition.blocks.iter(), |tokens| {
            Slice::new(matrix, &block.targets, tokens.tokens.clone())
        });
        let mut coefficients = Vec::new();
        if block.targets.is_observed() {
            coefficients.reserve_exact(block.targets.weights());
            for (column, &scale) in block.scale.iter().enumerate() {
                coefficients.resize(block.targets.range(column).end, scale);
            }
        }
        Self { block: Arc::clone(block), slices, coefficients }
    }

    /// Adds the contribution of block `index` to the gradient with respect to θ, given the
    /// derivatives with respect to its scores, `[tokens of the block][width]`, and under noise
    /// those with respect to their variances. The gradient may be anchored
    /// (`exact_sum`).
    pub fn add_gradient(
        &self,
        index: usize,
        score_derivatives: &[f64],
        variance_derivatives: Option<VarianceDerivatives<'_>>,
        gradient: &mut [f64],
    ) {
        let slice = &self.slices[index];
        let variance_derivatives = variance_derivatives.map(|derivatives| VarianceDerivatives {
            theta: self.block.weights(derivatives.theta),
            ..derivatives
        });
        // Columns ascend and weights are in column order, so each task owns a slice of the
        // gradient.
        let owners = slice.tasks.iter().map(|task| task.weights.clone());
        let pieces = split_by_owner(owners, self.block.weights_mut(gradient));
        parallel::for_each(slice.tasks.iter().zip(pieces), |(task, gradient)| {
            simd::dispatch(Gather {
                slice,
                task,
                block: &self.block,
                coefficients: &self.coefficients,
                score_derivatives,
                variance_derivatives,
                gradient,
            });
        });
    }
}

impl Slice {
    fn new(matrix: &SparseRows, targets: &Targets, tokens: Range<usize>) -> Self {
        let entries = sorted_entries(matrix, tokens);
        let mut slice = Self {
            dense: ColumnBlock::for_entries_of(matrix),
            listed: ColumnBlock::for_entries_of(matrix),
            sparse_values: matrix.values.is_some().then(Vec::new),
            ..Self::default()
        };
        let mut work = 0;
        for column in entries.chunk_by(|x, y| x.column == y.column) {
            let weights = targets.range(column[0].column as usize);
            if work == 0 {
                slice.tasks.push(Task {
                    dense: slice.dense.len()..slice.dense.len(),
                    listed: slice.listed.len()..slice.listed.len(),
                    sparse: slice.sparse.len()..slice.sparse.len(),
                    weights: weights.start..weights.start,
                });
            }
            slice.push(targets, column);
            work += column.len();
            if let Some(task) = slice.tasks.last_mut() {
                task.dense.end = slice.dense.len();
                task.listed.end = slice.listed.len();
                task.sparse.end = slice.sparse.len();
                task.weights.end = weights.end;
            }
            if work >= TASK_ENTRIES {
                work = 0;
            }
        }
        slice.dense.shrink_to_fit();
        slice.listed.shrink_to_fit();
        slice.sparse.shrink_to_fit();
        slice
    }

    /// Appends the entries of a column.
    fn push(&mut self, targets: &Targets, entries: &[Entry]) {
        let column = entries[0].column as usize;
        match targets.form(column) {
            ColumnForm::Dense => return self.dense.push(entries),
            ColumnForm::Listed => return self.listed.push(entries),
            ColumnForm::Sparse => {}
        }
        for entry in entries {
            targets.for_each(column, |position, weight| {
                let cell = entry.token as usize * targets.width() + position;
                self.sparse.push([weight as u32, cell as u32]);
                if let Some(values) = &mut self.sparse_values {
                    values.push(entry.value);
                }
            });
        }
    }
}

/// The kernel that runs one task.
struct Gather<'a> {
    slice: &'a Slice,
    task: &'a Task,
    block: &'a FeatureBlock,
    coefficients: &'a [f64],
    score_derivatives: &'a [f64],
    variance_derivatives: Option<VarianceDerivatives<'a>>, // `theta`: the weights of the block
    gradient: &'a mut [f64],                               // of the weights of the task
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(mut self) {
        self.block.targets.for_each_piece::<SUMS>(&mut self);
        self.gather_listed();
        self.gather_sparse();
    }
}

impl Pieces for Gather<'_> {
    /// Gathers the derivatives of dense columns for `B` blocks of `L` lanes of one line, from label
    /// `at` on.
    #[inline(always)]
    fn run_piece<const L: usize, const B: usize>(&mut self, line: usize, at: usize) {
        let (targets, columns) = (&self.block.targets, &self.slice.dense);
        let (width, position) = (targets.width(), line * targets.stride + at);
        for i in self.task.dense.clone() {
            if i + 2 * AHEAD < self.task.dense.end {
                let column = columns.column(i + 2 * AHEAD);
                simd::prefetch(&self.block.scale, column);
                targets.prefetch_range(column);
            }
            if i + AHEAD < self.task.dense.end {
                let start = targets.range(columns.column(i + AHEAD)).start;
                self.prefetch::<L, B>(start + line * targets.labels + at);
            }
            let column = columns.column(i);
            let entries = columns.entries(i);
            let range = targets.range(column);
            let first = range.start - self.task.weights.start;
            let c = self.block.scale[column];
            let labels = [line, at, B * L];
            let scores = (self.score_derivatives, 1);
            let terms = match self.variance_derivatives {
                None => {
                    let [mut terms] = columns.sums::<L, B, 1>([scores], width, entries, position);
                    for terms in &mut terms {
                        *terms = lanewise(|j| c * terms[j]);
                    }
                    terms
                }
                Some(noise) => {
                    let variances = (noise.values, 2);
                    let [sums, squares] = if B * L <= FEW_SCORES {
                        // Whole vectors: the compiler would split them to suit what follows.
                        black_box(columns.sums([scores, variances], width, entries, position))
                    } else {
                        // More sums at once would spill from registers.
                        let [sums] =
                            columns.sums::<L, B, 1>([scores], width, entries.clone(), position);
                        let [squares] =
                            columns.sums::<L, B, 1>([variances], width, entries, position);
                        [sums, squares]
                    };
                    let weights = targets.load::<L, B>(column, labels, &noise.theta[range.start..]);
                    let mut terms = sums;
                    let factors = weights.as_flattened().iter().zip(squares.as_flattened());
                    for (term, (w, square)) in terms.as_flattened_mut().iter_mut().zip(factors) {
                        *term = c.mul_add(*term, 2.0 * noise.rate * w * square);
                    }
                    terms
                }
            };
            targets.add_untied(column, labels, &terms, &mut self.gradient[first..]);
        }
    }
}

impl Gather<'_> {
    /// Prefetches weights and their gradient.
    #[inline(always)]
    fn prefetch<const L: usize, const B: usize>(&self, start: usize) {
        simd::prefetch_row::<L, B>(self.gradient, start - self.task.weights.start);
        self.block.targets.prefetch_positions(start);
        if let Some(noise) = self.variance_derivatives {
            simd::prefetch_row::<L, B>(noise.theta, start);
        }
    }

    /// Gathers the derivatives of listed columns.
    #[inline(always)]
    fn gather_listed(&mut self) {
        let (targets, columns) = (&self.block.targets, &self.slice.listed);
        for i in self.task.listed.clone() {
            let column = columns.column(i);
            let range = targets.range(column);
            let positions = targets.positions(range.clone());
            let first = range.start - self.task.weights.start;
            let gradient = &mut self.gradient[first..first + range.len()];
            let c = self.block.scale[column];
            let (tokens, values) = columns.tokens_and_values(columns.entries(i));
            for (i, &token) in tokens.iter().enumerate() {
                let row = token as usize * targets.width();
                let x = values.map_or(1.0, |values| values[i]);
                let derivatives = &self.score_derivatives[row..row + targets.width()];
                for (g, &position) in gradient.iter_mut().zip(positions) {
                    *g += untied(c * x * derivatives[position as usize]);
                }
                if let Some(noise) = self.variance_derivatives {
                    let derivatives = &noise.values[row..row + targets.width()];
                    let weights = noise.theta[range.clone()].iter().zip(positions);
                    for (g, (w, &position)) in gradient.iter_mut().zip(weights) {
                        let square = x * x * derivatives[position as usize];
                        *g += untied(2.0 * noise.rate * w * square);
                    }
                }
            }
        }
    }

    /// Gathers the derivatives of sparse columns.
    #[inline(always)]
    fn gather_sparse(&mut self) {
        let first = self.task.weights.start;
        for i in self.task.sparse.clone() {
            if i + 2 * AHEAD < self.task.sparse.end {
                let next = self.slice.sparse[i + 2 * AHEAD][0] as usize;
                simd::prefetch(self.coefficients, next);
                simd::prefetch(self.gradient, next - first);
            }
            let [weight, cell] = self.slice.sparse[i].map(|index| index as usize);
            let x = self.slice.sparse_values.as_ref().map_or(1.0, |x| x[i]);
            let mut sum = self.coefficients[weight] * x * self.score_derivatives[cell];
            if let Some(noise) = self.variance_derivatives {
                let factor = 2.0 * noise.rate * noise.theta[weight];
                sum += factor * (x * x * noise.values[cell]);
            }
            self.gradient[weight - first] += untied(sum);
        }
    }
}

impl ColumnBlock {
    /// Returns `Σ_t x_t^power · derivatives[t]` over `entries` of a column, for each of the `N`
    /// pairs (derivatives, power) and for `B` blocks of `L` lanes from `position` on.
    #[inline(always)]
    fn sums<const L: usize, const B: usize, const N: usize>(
        &self,
        sources: [(&[f64], u32); N],
        width: usize,
        entries: Range<usize>,
        position: usize,
    ) -> [[[f64; L]; B]; N] {
        let mut sums = [[[0.0; L]; B]; N];
        let (tokens, values) = self.tokens_and_values(entries);
        for (i, &token) in tokens.iter().enumerate() {
            let start = token as usize * width + position;
            let x = values.map_or(1.0, |values| values[i]);
            for (sums, (derivatives, power)) in sums.iter_mut().zip(sources) {
                let row = blocks::<L>(&derivatives[start..start + B * L]);
                let x = if power == 2 { x * x } else { x };
                for (sums, row) in sums.iter_mut().zip(row) {
                    *sums = lanewise(|j| x.mul_add(row[j], sums[j]));
                }
            }
        }
        sums
    }
}
