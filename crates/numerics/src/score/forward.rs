//! The forward product S = X·Θ, and under noise V = ρ·X∘²·Θ∘².
//!
//! Row by row of X: a token's scores are the sum of one row of Θ per attribute. Time O(nonzeros of
//! X · S/4) with SIMD of four lanes. The bottleneck is not arithmetic but cache misses on Θ and
//! branch mispredictions. Therefore a token's sums stay in registers while whole rows of weights
//! are added and those of the next token are prefetched, and the inner loop never branches on the
//! number of weights of a column.
//!
//! With [`States::Observed`](super::States::Observed) a column has weights for some labels only.
//! Columns with many weights are *dense*: once per evaluation they are expanded to whole rows with
//! zeros in the gaps. Most of the others have a single weight. They are *sparse*: a token stores
//! the list of their weights and target scores, regardless of columns. With hundreds of labels
//! there are columns in between, those of frequent attributes, and such lists would be most of the
//! memory of training. They are *listed*: a token stores the column, whose weights are a loop.

use std::ops::Range;
use std::sync::Arc;

use super::targets::{ColumnForm, FEW_SCORES, FeatureBlock, Pieces, Targets, last_row};
use crate::aligned::zeros;
use crate::chain::products::lanewise;
use crate::data::SparseRows;
use crate::parallel;
use crate::simd::{self, Kernel};

/// How many weights of sparse columns ahead one is fetched.
const AHEAD: usize = 32;

/// How many columns of weights one thread prepares at a time.
const COLUMNS: usize = 8192;

/// How many weights of dense columns one thread copies at a time.
const COPIED: usize = 65_536;

/// The product of one design matrix with its weights. It shares the matrix.
#[derive(Clone, Debug)]
pub struct ForwardProduct {
    /// The weights that the matrix is multiplied by.
    pub block: Arc<FeatureBlock>,
    dense: Arc<SparseRows>, // the matrix, or its dense columns: rows of `Split::table`
    split: Option<Box<Split>>, // if not all columns have whole rows of weights
}

/// The output buffer for the variances of scores.
#[derive(Debug)]
pub struct Variances<'a> {
    /// `[tokens][width]`.
    pub values: &'a mut [f64],
    /// ρ.
    pub rate: f64,
}

/// The entries of listed and of sparse columns, and the weights of these and of dense ones.
#[derive(Clone, Debug)]
struct Split {
    listed: SparseRows,  // of listed columns
    ends: Vec<u64>,      // [tokens] end of each token in `weights`
    weights: Vec<u32>,   // weight index, one per weight of each entry of a sparse column
    positions: Vec<u32>, // position of the score that it adds to
    values: Option<Vec<f64>>,
    columns: Vec<usize>,    // the dense ones
    coefficients: Vec<f64>, // √m of each
    table: Vec<f64>,        // [dense columns][width] their weights, with zeros in the gaps
    scaled: Vec<f64>,       // √m·w for each weight of a listed or sparse column
}

impl ForwardProduct {
    /// Prepares the product of `matrix` with weights of `block`.
    pub fn new(matrix: &Arc<SparseRows>, block: &Arc<FeatureBlock>) -> Self {
        let targets = &block.targets;
        if !targets.is_observed() {
            return Self { block: Arc::clone(block), dense: Arc::clone(matrix), split: None };
        }
        let mut numbers = 0..;
        let number = |column| targets.is_dense(column).then(|| numbers.next()).flatten();
        let numbers: Vec<Option<u32>> = (0..targets.columns()).map(number).collect();
        let dense = matrix.map_columns(|column| numbers[column as usize], |_, value| value);
        let split = Some(Box::new(Split::new(matrix, block)));
        Self { block: Arc::clone(block), dense: Arc::new(dense), split }
    }

    /// Prepares the weights in θ. Call it before [`write`](Self::write) with the same θ.
    pub fn set_weights(&mut self, theta: &[f64]) {
        if let Some(split) = &mut self.split {
            split.set_weights(&self.block, self.block.weights(theta));
        }
    }

    /// Writes the scores of `tokens`, `[tokens][width]`, and optionally their variances, of the
    /// same shape. θ must be the one last passed to [`set_weights`](Self::set_weights). Does
    /// nothing if `scores` is empty. The padding is unspecified.
    pub fn write(
        &self,
        theta: &[f64],
        tokens: Range<usize>,
        scores: &mut [f64],
        variances: Option<Variances<'_>>,
    ) {
        if scores.is_empty() {
            return;
        }
        let (targets, matrix) = (&self.block.targets, &*self.dense);
        let rows = match &self.split {
            None => DenseRows {
                matrix,
                coefficients: &self.block.scale,
                table: self.block.weights(theta),
                row_pitch: targets.labels * targets.height,
                line_pitch: targets.labels,
            },
            Some(split) => DenseRows {
                matrix,
                coefficients: &split.coefficients,
                table: &split.table,
                row_pitch: targets.width(),
                line_pitch: targets.stride,
            },
        };
        let split = self.split.as_deref();
        let weights = self.block.weights(theta);
        simd::dispatch(Write { rows, split, targets, weights, tokens, scores, variances });
    }
}

impl Split {
    fn new(matrix: &SparseRows, block: &FeatureBlock) -> Self {
        let targets = &block.targets;
        let columns: Vec<_> = (0..targets.columns()).filter(|&c| targets.is_dense(c)).collect();
        let coefficients: Vec<f64> = columns.iter().map(|&column| block.scale[column]).collect();
        let is_listed = |&column: &u32| targets.form(column as usize) == ColumnForm::Listed;
        let listed = |column| Some(column).filter(is_listed);
        let mut split = Self {
            listed: matrix.map_columns(listed, |_, value| value),
            ends: Vec::with_capacity(matrix.len()),
            weights: Vec::new(),
            positions: Vec::new(),
            values: matrix.values.is_some().then(Vec::new),
            table: zeros(coefficients.len() * targets.width()),
            columns,
            coefficients,
            scaled: zeros(targets.weights()),
        };
        for token in 0..matrix.len() {
            for (column, value) in matrix.entries(token) {
                if targets.form(column as usize) != ColumnForm::Sparse {
                    continue;
                }
                targets.for_each(column as usize, |position, index| {
                    split.weights.push(index as u32);
                    split.positions.push(position as u32);
                    if let Some(values) = &mut split.values {
                        values.push(value);
                    }
                });
            }
            split.ends.push(split.weights.len() as u64);
        }
        split.weights.shrink_to_fit();
        split.positions.shrink_to_fit();
        split
    }

    fn set_weights(&mut self, block: &FeatureBlock, weights: &[f64]) {
        let targets = &block.targets;
        let width = targets.width().max(1);
        let rows = COPIED.div_ceil(width);
        let parts = self.table.chunks_mut(rows * width).zip(self.columns.chunks(rows));
        parallel::for_each(parts, |(rows, columns)| {
            for (row, &column) in rows.chunks_exact_mut(width).zip(columns) {
                targets.for_each(column, |position, index| row[position] = weights[index]);
            }
        });
        parallel::for_each(targets.parts(COLUMNS, &mut self.scaled), |(columns, scaled)| {
            let first = targets.range(columns.start).start;
            for column in columns.filter(|&column| !targets.is_dense(column)) {
                let range = targets.range(column);
                let out = &mut scaled[range.start - first..range.end - first];
                for (out, w) in out.iter_mut().zip(&weights[range]) {
                    *out = block.scale[column] * w;
                }
            }
        });
    }

    /// Adds the terms of a token's sparse and listed columns. θ is that of the block.
    #[inline(always)]
    fn add(
        &self,
        token: usize,
        targets: &Targets,
        theta: &[f64],
        scores: &mut [f64],
        mut variances: Option<Variances<'_>>,
    ) {
        let start = token.checked_sub(1).map_or(0, |last| self.ends[last]);
        let range = start as usize..self.ends[token] as usize;
        let weights = self.weights[range.clone()].iter().zip(&self.positions[range.clone()]);
        for (i, (&index, &position)) in weights.enumerate() {
            if let Some(&next) = self.weights.get(range.start + i + AHEAD) {
                simd::prefetch(&self.scaled, next as usize);
            }
            let x = self.values.as_ref().map_or(1.0, |values| values[range.start + i]);
            let out = &mut scores[position as usize];
            *out = x.mul_add(self.scaled[index as usize], *out);
            if let Some(variances) = &mut variances {
                let w = theta[index as usize];
                variances.values[position as usize] += variances.rate * (x * x * (w * w));
            }
        }
        let (columns, values) = self.listed.row(token);
        for (i, &column) in columns.iter().enumerate() {
            let x = values.map_or(1.0, |values| values[i]);
            let range = targets.range(column as usize);
            for (index, &position) in range.clone().zip(targets.positions(range)) {
                let (out, w) = (&mut scores[position as usize], theta[index]);
                *out = x.mul_add(self.scaled[index], *out);
                if let Some(variances) = &mut variances {
                    variances.values[position as usize] += variances.rate * (x * x * (w * w));
                }
            }
        }
    }
}

/// The kernel that writes the scores of some tokens.
struct Write<'a> {
    rows: DenseRows<'a>,
    split: Option<&'a Split>,
    targets: &'a Targets,
    weights: &'a [f64],
    tokens: Range<usize>,
    scores: &'a mut [f64],
    variances: Option<Variances<'a>>,
}

impl Kernel for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(mut self) {
        self.targets.for_each_piece::<SUMS>(&mut self);
        if let Some(split) = self.split {
            let width = self.targets.width();
            for (i, token) in self.tokens.clone().enumerate() {
                let row = i * width..(i + 1) * width;
                let variances = self.variances.as_mut().map(|variances| Variances {
                    values: &mut variances.values[row.clone()],
                    rate: variances.rate,
                });
                split.add(token, self.targets, self.weights, &mut self.scores[row], variances);
            }
        }
    }
}

impl Pieces for Write<'_> {
    /// Writes `B` blocks of `L` lanes of one line of every token, from label `at` on.
    #[inline(always)]
    fn run_piece<const L: usize, const B: usize>(&mut self, line: usize, at: usize) {
        let (width, stride) = (self.targets.width(), self.targets.stride);
        let offset = line * self.rows.line_pitch + at;
        for (i, token) in self.tokens.clone().enumerate() {
            let out = i * width + line * stride + at;
            let out = out..out + B * L;
            match &mut self.variances {
                None => {
                    let sums = self.rows.scores::<L, B>(token, offset);
                    self.scores[out].copy_from_slice(sums.as_flattened());
                }
                Some(Variances { values, rate }) => {
                    let [sums, mut squares] = self.rows.scores_and_squares::<L, B>(token, offset);
                    for x in squares.as_flattened_mut() {
                        *x *= *rate;
                    }
                    self.scores[out.clone()].copy_from_slice(sums.as_flattened());
                    values[out].copy_from_slice(squares.as_flattened());
                }
            }
        }
    }
}

/// A design matrix whose columns have whole rows of weights.
struct DenseRows<'a> {
    matrix: &'a SparseRows,
    coefficients: &'a [f64],
    table: &'a [f64],
    row_pitch: usize,  // distance between rows of the table
    line_pitch: usize, // distance between lines of a row
}

impl<'a> DenseRows<'a> {
    /// Returns `Σ_j scale_j·x_j·w_j` over the entries of a token.
    #[inline(always)]
    fn scores<const L: usize, const B: usize>(&self, token: usize, offset: usize) -> [[f64; L]; B] {
        let mut sums = [[0.0; L]; B];
        let (columns, values) = self.matrix.row(token);
        let next = self.columns_after(token);
        for (i, &column) in columns.iter().enumerate() {
            self.prefetch::<L, B>(next.get(i), offset);
            let c = self.coefficients[column as usize] * values.map_or(1.0, |values| values[i]);
            let last;
            let row = match self.row::<L, B>(column, offset) {
                Some(row) => row,
                None => {
                    last = last_row(self.table, self.start(column, offset));
                    &last
                }
            };
            for k in 0..B {
                sums[k] = lanewise(|j| c.mul_add(row[k][j], sums[k][j]));
            }
        }
        sums
    }

    /// Returns [`scores`](Self::scores) and `Σ_j x_j²·w_j²`.
    ///
    /// A class of m attributes has x = 1 and weight φ = √m·θ, so its variance m·ρ·θ² is ρ·φ²,
    /// without the scale.
    #[inline(always)]
    fn scores_and_squares<const L: usize, const B: usize>(
        &self,
        token: usize,
        offset: usize,
    ) -> [[[f64; L]; B]; 2] {
        let [mut sums, mut squares] = [[[0.0; L]; B]; 2];
        let (columns, values) = self.matrix.row(token);
        // More sums would spill from registers; the second pass finds the weights in cache.
        let together = B * L <= FEW_SCORES;
        if !together {
            sums = self.scores::<L, B>(token, offset);
        }
        let next = self.columns_after(token);
        for (i, &column) in columns.iter().enumerate() {
            if together {
                self.prefetch::<L, B>(next.get(i), offset);
            }
            let x = values.map_or(1.0, |values| values[i]);
            let c = self.coefficients[column as usize] * x;
            let v = x * x;
            let last;
            let row = match self.row::<L, B>(column, offset) {
                Some(row) => row,
                None => {
                    last = last_row(self.table, self.start(column, offset));
                    &last
                }
            };
            for k in 0..B {
                if together {
                    sums[k] = lanewise(|j| c.mul_add(row[k][j], sums[k][j]));
                }
                squares[k] = lanewise(|j| (v * row[k][j]).mul_add(row[k][j], squares[k][j]));
            }
        }
        [sums, squares]
    }

    /// Returns the weights of a column from `offset` on; `None` if the table ends within `B`
    /// blocks. Past the end of a line these are weights of the next one, which end up only in
    /// padding.
    #[inline(always)]
    fn row<const L: usize, const B: usize>(
        &self,
        column: u32,
        offset: usize,
    ) -> Option<&'a [[f64; L]; B]> {
        let start = self.start(column, offset);
        self.table.get(start..start + B * L)?.as_chunks::<L>().0.as_chunks::<B>().0.first()
    }

    /// Returns the columns of the token after `token`, for [`prefetch`](Self::prefetch).
    #[inline(always)]
    fn columns_after(&self, token: usize) -> &'a [u32] {
        if token + 1 < self.matrix.len() { self.matrix.row(token + 1).0 } else { &[] }
    }

    /// Prefetches weights and the coefficient of a column.
    #[inline(always)]
    fn prefetch<const L: usize, const B: usize>(&self, column: Option<&u32>, offset: usize) {
        if let Some(&column) = column {
            simd::prefetch_row::<L, B>(self.table, self.start(column, offset));
            simd::prefetch(self.coefficients, column as usize);
        }
    }

    /// Returns where weights of a column begin in the table.
    #[inline(always)]
    fn start(&self, column: u32, offset: usize) -> usize {
        column as usize * self.row_pitch + offset
    }
}
