//! The forward product S = X·Θ, and under noise V = ρ·X∘²·Θ∘².
//!
//! Row by row of X: a token's scores are the sum of one row of Θ per attribute. Time O(nonzeros of
//! X · S/4) with SIMD of four lanes. The bottleneck is not arithmetic but cache misses on Θ and
//! branch mispredictions. Therefore a token's sums stay in registers while whole rows of weights
//! are added, and the inner loop never branches on the number of weights of a column.
//!
//! With [`States::Observed`](super::States::Observed) a column has weights for some labels only.
//! Columns with many weights are *dense*: once per evaluation they are expanded to whole rows with
//! zeros in the gaps. Most of the others have a single weight. They are *sparse*: a token stores
//! the list of their weights and target scores, regardless of columns. With hundreds of labels
//! there are columns in between, those of frequent attributes, and such lists would be most of the
//! memory of training. They are *listed*: a token stores the column, whose weights are a loop.

use std::ops::Range;
use std::sync::Arc;

use super::block::FeatureBlock;
use super::rates::ColumnRates;
use super::targets::{BLOCKS, ColumnForm, Targets};
use crate::chain::LANES;
use crate::extract::SparseRows;
use crate::simd::{self, Kernel};

/// The weights or scores of eight consecutive labels.
type Lanes = [f64; LANES];

/// The product of one design matrix with its weights. It shares the matrix.
#[derive(Clone, Debug)]
pub struct ForwardProduct {
    matrix: Arc<SparseRows>,
    block: Arc<FeatureBlock>,
    split: Option<Split>,
}

/// The output buffer for the variances of scores.
#[derive(Debug)]
pub struct Variances<'a> {
    /// `[tokens][width]`.
    pub values: &'a mut [f64],
    /// ρ, the same for all attributes, unless `rates` is given.
    pub rate: f64,
    /// ρ of each attribute.
    pub rates: Option<&'a ColumnRates>,
}

/// The dense, the listed and the sparse columns of a matrix, and their weights.
#[derive(Clone, Debug)]
struct Split {
    dense: SparseRows,       // columns are rows of `table`
    dense_columns: Vec<u32>, // [dense columns] their numbers in the whole matrix
    coefficients: Vec<f64>,  // √m of each dense column
    table: Vec<f64>,         // [dense columns][width] their weights, with zeros in the gaps
    listed: SparseRows,      // its listed columns
    ends: Vec<u64>,          // [tokens] end of each token in `weights`
    weights: Vec<u32>,       // weight index, one per weight of each entry of a sparse column
    positions: Vec<u32>,     // position of the score that it adds to
    values: Option<Vec<f64>>,
    scaled: Vec<[f64; 2]>, // √m·w and w² for each weight of a listed or sparse column
}

impl ForwardProduct {
    /// Prepares the product of `matrix` with weights of `block`.
    #[must_use]
    pub fn new(matrix: &Arc<SparseRows>, block: &Arc<FeatureBlock>) -> Self {
        let split = block
            .targets
            .is_observed()
            .then(|| Split::new(matrix, block));
        Self {
            matrix: Arc::clone(matrix),
            block: Arc::clone(block),
            split,
        }
    }

    /// Prepares the weights in θ. Call it before [`write`](Self::write) with the same θ.
    pub fn set_weights(&mut self, theta: &[f64]) {
        if let Some(split) = &mut self.split {
            split.set_weights(&self.block, self.block.weights(theta));
        }
    }

    /// Returns the weights that the matrix is multiplied by.
    #[must_use]
    pub fn block(&self) -> &FeatureBlock {
        &self.block
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
        let targets = &self.block.targets;
        let rows = match &self.split {
            None => DenseRows {
                matrix: &self.matrix,
                coefficients: &self.block.scale,
                columns: None,
                table: self.block.weights(theta),
                row_pitch: targets.labels() * targets.height(),
                line_pitch: targets.labels(),
            },
            Some(split) => DenseRows {
                matrix: &split.dense,
                coefficients: &split.coefficients,
                columns: Some(&split.dense_columns),
                table: &split.table,
                row_pitch: targets.width(),
                line_pitch: targets.stride(),
            },
        };
        simd::dispatch(Write {
            rows,
            split: self.split.as_ref(),
            targets,
            tokens,
            scores,
            variances,
        });
    }
}

impl Split {
    fn new(matrix: &SparseRows, block: &FeatureBlock) -> Self {
        let targets = &block.targets;
        let mut dense_index = vec![None; targets.columns()];
        let (mut coefficients, mut dense_columns) = (Vec::new(), Vec::new());
        for (column, index) in dense_index.iter_mut().enumerate() {
            if targets.is_dense(column) {
                *index = Some(coefficients.len() as u32);
                coefficients.push(block.scale[column]);
                dense_columns.push(column as u32);
            }
        }
        let dense = matrix.map_columns(|column| dense_index[column as usize], |_, value| value);
        let is_listed = |&column: &u32| targets.form(column as usize) == ColumnForm::Listed;
        let listed = |column| Some(column).filter(is_listed);
        let mut split = Self {
            dense,
            listed: matrix.map_columns(listed, |_, value| value),
            table: vec![0.0; coefficients.len() * targets.width()],
            dense_columns,
            coefficients,
            ends: Vec::with_capacity(matrix.len()),
            weights: Vec::new(),
            positions: Vec::new(),
            values: (!matrix.is_binary()).then(Vec::new),
            scaled: vec![[0.0; 2]; targets.weights()],
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
        let mut rows = self.table.chunks_exact_mut(targets.width().max(1));
        for (column, &scale) in block.scale.iter().enumerate() {
            if targets.is_dense(column) {
                let Some(row) = rows.next() else { return };
                targets.for_each(column, |position, index| row[position] = weights[index]);
            } else {
                let range = targets.range(column);
                for (out, w) in self.scaled[range.clone()].iter_mut().zip(&weights[range]) {
                    *out = [scale * w, w * w];
                }
            }
        }
    }

    /// Adds the terms of a token's sparse and listed columns.
    #[inline(always)]
    fn add(
        &self,
        token: usize,
        targets: &Targets,
        scores: &mut [f64],
        mut variances: Option<Variances<'_>>,
    ) {
        let start = if token == 0 {
            0
        } else {
            self.ends[token - 1] as usize
        };
        let range = start..self.ends[token] as usize;
        let positions = &self.positions[range.clone()];
        for (i, (&index, &position)) in self.weights[range.clone()]
            .iter()
            .zip(positions)
            .enumerate()
        {
            let x = self
                .values
                .as_ref()
                .map_or(1.0, |values| values[range.start + i]);
            let [score, variance] = self.scaled[index as usize];
            scores[position as usize] += x * score;
            if let Some(variances) = &mut variances {
                let rate = match variances.rates {
                    None => variances.rate,
                    Some(rates) => rates.weight(index as usize),
                };
                variances.values[position as usize] += rate * (x * x * variance);
            }
        }
        let (columns, values) = self.listed.row(token);
        for (i, &column) in columns.iter().enumerate() {
            let x = values.map_or(1.0, |values| values[i]);
            let range = targets.range(column as usize);
            let positions = targets.positions(range.clone());
            let weights = &self.scaled[range];
            for (&position, [score, _]) in positions.iter().zip(weights) {
                scores[position as usize] += x * score;
            }
            if let Some(variances) = &mut variances {
                let rates = variances.rates;
                let rate = rates.map_or(variances.rate, |rates| rates.column(column as usize));
                for (&position, [_, variance]) in positions.iter().zip(weights) {
                    variances.values[position as usize] += rate * (x * x * variance);
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
    tokens: Range<usize>,
    scores: &'a mut [f64],
    variances: Option<Variances<'a>>,
}

impl Kernel for Write<'_> {
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
        if let Some(split) = self.split {
            let width = self.targets.width();
            for (i, token) in self.tokens.clone().enumerate() {
                let row = i * width..(i + 1) * width;
                let variances = self.variances.as_mut().map(|variances| Variances {
                    values: &mut variances.values[row.clone()],
                    rate: variances.rate,
                    rates: variances.rates,
                });
                split.add(token, self.targets, &mut self.scores[row], variances);
            }
        }
    }
}

impl Write<'_> {
    /// Writes `B` blocks of lanes of one line of every token, from label `at` on.
    #[inline(always)]
    fn lines<const B: usize>(&mut self, line: usize, at: usize) {
        let (width, stride) = (self.targets.width(), self.targets.stride());
        let offset = line * self.rows.line_pitch + at;
        for (i, token) in self.tokens.clone().enumerate() {
            let out = i * width + line * stride + at;
            let out = out..out + B * LANES;
            match &mut self.variances {
                None => {
                    let sums = self.rows.scores::<B>(token, offset);
                    self.scores[out].copy_from_slice(sums.as_flattened());
                }
                Some(Variances {
                    values,
                    rate,
                    rates: None,
                }) => {
                    let [sums, mut squares] =
                        self.rows.scores_and_squares::<B>(token, offset, |_| 1.0);
                    squares
                        .as_flattened_mut()
                        .iter_mut()
                        .for_each(|x| *x *= *rate);
                    self.scores[out.clone()].copy_from_slice(sums.as_flattened());
                    values[out].copy_from_slice(squares.as_flattened());
                }
                Some(Variances {
                    values,
                    rates: Some(rates),
                    ..
                }) => {
                    let rate = |column| rates.column(self.rows.number(column));
                    let [sums, squares] = self.rows.scores_and_squares::<B>(token, offset, rate);
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
    columns: Option<&'a [u32]>, // numbers of the columns in the whole matrix, if not the same
    table: &'a [f64],
    row_pitch: usize,  // distance between rows of the table
    line_pitch: usize, // distance between lines of a row
}

impl<'a> DenseRows<'a> {
    /// Returns `Σ_j scale_j·x_j·w_j` over the entries of a token.
    #[inline(always)]
    fn scores<const B: usize>(&self, token: usize, offset: usize) -> [Lanes; B] {
        let mut sums = [[0.0; LANES]; B];
        let (columns, values) = self.matrix.row(token);
        for (i, &column) in columns.iter().enumerate() {
            let c = self.coefficients[column as usize] * values.map_or(1.0, |values| values[i]);
            let last;
            let row = match self.row::<B>(column, offset) {
                Some(row) => row,
                None => {
                    last = self.last_row(column, offset);
                    &last
                }
            };
            for k in 0..B {
                for j in 0..LANES {
                    sums[k][j] += c * row[k][j];
                }
            }
        }
        sums
    }

    /// Returns the number of a column in the whole matrix.
    #[inline(always)]
    fn number(&self, column: u32) -> usize {
        self.columns
            .map_or(column, |columns| columns[column as usize]) as usize
    }

    /// Returns [`scores`](Self::scores) and `Σ_j ρ_j·x_j²·w_j²`, where `rate(j)` is ρ_j.
    ///
    /// A class of m attributes has x = 1 and weight φ = √m·θ, so its variance m·ρ·θ² is ρ·φ²,
    /// without the scale.
    #[inline(always)]
    fn scores_and_squares<const B: usize>(
        &self,
        token: usize,
        offset: usize,
        rate: impl Fn(u32) -> f64,
    ) -> [[Lanes; B]; 2] {
        let [mut sums, mut squares] = [[[0.0; LANES]; B]; 2];
        let (columns, values) = self.matrix.row(token);
        // More sums would spill from registers; the second pass finds the weights in cache.
        let together = B <= 3;
        if !together {
            sums = self.scores::<B>(token, offset);
        }
        for (i, &column) in columns.iter().enumerate() {
            let x = values.map_or(1.0, |values| values[i]);
            let c = self.coefficients[column as usize] * x;
            let v = rate(column) * (x * x);
            let last;
            let row = match self.row::<B>(column, offset) {
                Some(row) => row,
                None => {
                    last = self.last_row(column, offset);
                    &last
                }
            };
            for k in 0..B {
                for j in 0..LANES {
                    let w = row[k][j];
                    if together {
                        sums[k][j] += c * w;
                    }
                    squares[k][j] += v * (w * w);
                }
            }
        }
        [sums, squares]
    }

    /// Returns the weights of a column from `offset` on; `None` if the table ends within `B`
    /// blocks. Past the end of a line these are weights of the next one, which end up only in
    /// padding.
    #[inline(always)]
    fn row<const B: usize>(&self, column: u32, offset: usize) -> Option<&'a [Lanes; B]> {
        let start = column as usize * self.row_pitch + offset;
        let weights = self.table.get(start..start + B * LANES)?;
        weights.as_chunks::<LANES>().0.as_chunks::<B>().0.first()
    }

    /// Like [`row`](Self::row) at the end of the table, but padded with zeros.
    #[cold]
    #[inline(never)]
    fn last_row<const B: usize>(&self, column: u32, offset: usize) -> [Lanes; B] {
        let start = column as usize * self.row_pitch + offset;
        let rest = self.table.get(start..).unwrap_or_default();
        let mut row = [[0.0; LANES]; B];
        row.as_flattened_mut()[..rest.len()].copy_from_slice(rest);
        row
    }
}
