//! The design matrix row by row, as scores are summed: S = X·Θ, and under noise V = ρ·X∘²·Θ∘².
//!
//! Time O(entries of X · S/4) in vectors of four. What limits it is not arithmetic but loads of
//! weights from all over θ and branches that cannot be foreseen. So a token's sums stay in registers
//! while whole rows of weights are added to them, and how many weights a column has is never asked.
//!
//! Where columns have weights for some labels only ([`States::Observed`](super::States)), those with
//! many of them are *dense*: once in an evaluation their weights are written out as whole rows, with
//! zeros between. The other columns, most of which have one weight, are *sparse*: what a token has of
//! them is a list of weights and of the scores that these belong to, without regard to columns.

use std::ops::Range;

use super::targets::{BLOCKS, Targets};
use crate::chain::LANES;
use crate::extract::SparseRows;
use crate::simd::{self, Kernel};

/// Eight neighboring labels.
type Block = [f64; LANES];

/// A design matrix, prepared for [`ForwardProduct::write`].
#[derive(Debug)]
pub struct ForwardProduct {
    split: Option<Split>,
}

/// The dense and the sparse columns of a matrix.
#[derive(Debug)]
struct Split {
    dense: SparseRows,      // columns are rows of `table`
    coefficients: Vec<f64>, // √m of each dense column
    table: Vec<f64>,        // [dense columns][width] their weights
    ends: Vec<u64>,         // [tokens] in `weights`
    weights: Vec<u32>,      // of sparse columns, one for each weight of each entry
    places: Vec<u32>,       // of their scores
    values: Option<Vec<f64>>,
    scaled: Vec<[f64; 2]>, // √m·w and w² for each weight of a sparse column
}

/// What a token's scores are summed from.
struct Source<'a> {
    rows: &'a SparseRows,
    coefficients: &'a [f64],
    table: &'a [f64],
    pitch: [usize; 2], // from one row of the table to the next, and from line to line
}

impl ForwardProduct {
    /// Prepares `rows`, whose columns have weights as `targets` say.
    #[must_use]
    pub fn new(rows: &SparseRows, targets: &Targets, scale: &[f64]) -> Self {
        let split = targets
            .is_observed()
            .then(|| Split::new(rows, targets, scale));
        Self { split }
    }

    /// Takes the weights of an evaluation.
    pub fn set(&mut self, targets: &Targets, scale: &[f64], weights: &[f64]) {
        if let Some(split) = &mut self.split {
            split.set(targets, scale, weights);
        }
    }

    /// Writes the scores of `tokens` `[tokens][targets.width()]` and their variances of the same shape
    /// (or none), for the weights last [set](ForwardProduct::set). What comes to stand in the padding means
    /// nothing.
    pub fn write(
        &self,
        (matrix, targets, scale): (&SparseRows, &Targets, &[f64]),
        weights: &[f64],
        tokens: Range<usize>,
        scores: &mut [f64],
        variances: Option<(&mut [f64], f64)>,
    ) {
        if scores.is_empty() {
            return;
        }
        let source = match &self.split {
            None => Source {
                rows: matrix,
                coefficients: scale,
                table: weights,
                pitch: [targets.labels() * targets.height(), targets.labels()],
            },
            Some(split) => Source {
                rows: &split.dense,
                coefficients: &split.coefficients,
                table: &split.table,
                pitch: [targets.width(), targets.stride()],
            },
        };
        simd::dispatch(Write {
            source,
            split: self.split.as_ref(),
            targets,
            tokens,
            scores,
            variances,
        });
    }

    /// Bytes of memory.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.split.as_ref().map_or(0, |split| {
            let eights = split.coefficients.len()
                + split.table.len()
                + split.ends.len()
                + split.values.as_ref().map_or(0, Vec::len)
                + 2 * split.scaled.len();
            split.dense.memory() + 8 * eights + 4 * (split.weights.len() + split.places.len())
        })
    }
}

impl Split {
    fn new(rows: &SparseRows, targets: &Targets, scale: &[f64]) -> Self {
        let mut number = vec![None; targets.columns()];
        let mut coefficients = Vec::new();
        for (column, number) in number.iter_mut().enumerate() {
            if targets.is_dense(column) {
                *number = Some(coefficients.len() as u32);
                coefficients.push(scale[column]);
            }
        }
        let dense = rows.map_columns(|column| number[column as usize], |_, value| value);
        let mut split = Self {
            dense,
            table: vec![0.0; coefficients.len() * targets.width()],
            coefficients,
            ends: Vec::with_capacity(rows.len()),
            weights: Vec::new(),
            places: Vec::new(),
            values: (!rows.is_binary()).then(Vec::new),
            scaled: vec![[0.0; 2]; targets.weights()],
        };
        for token in 0..rows.len() {
            for (column, value) in rows.entries(token) {
                if targets.is_dense(column as usize) {
                    continue;
                }
                targets.for_each(column as usize, |place, index| {
                    split.weights.push(index as u32);
                    split.places.push(place as u32);
                    if let Some(values) = &mut split.values {
                        values.push(value);
                    }
                });
            }
            split.ends.push(split.weights.len() as u64);
        }
        split.weights.shrink_to_fit();
        split.places.shrink_to_fit();
        split
    }

    fn set(&mut self, targets: &Targets, scale: &[f64], weights: &[f64]) {
        let mut rows = self.table.chunks_exact_mut(targets.width().max(1));
        for (column, &scale) in scale.iter().enumerate() {
            if targets.is_dense(column) {
                let Some(row) = rows.next() else { return };
                targets.for_each(column, |place, index| row[place] = weights[index]);
            } else {
                let range = targets.range(column);
                for (out, w) in self.scaled[range.clone()].iter_mut().zip(&weights[range]) {
                    *out = [scale * w, w * w];
                }
            }
        }
    }

    /// Adds what the sparse columns of a token give.
    #[inline(always)]
    fn add(&self, token: usize, scores: &mut [f64], mut variances: Option<(&mut [f64], f64)>) {
        let start = if token == 0 {
            0
        } else {
            self.ends[token - 1] as usize
        };
        let range = start..self.ends[token] as usize;
        let places = &self.places[range.clone()];
        for (i, (&index, &place)) in self.weights[range.clone()].iter().zip(places).enumerate() {
            let x = self
                .values
                .as_ref()
                .map_or(1.0, |values| values[range.start + i]);
            let [score, variance] = self.scaled[index as usize];
            scores[place as usize] += x * score;
            if let Some((variances, rate)) = &mut variances {
                variances[place as usize] += *rate * (x * x * variance);
            }
        }
    }
}

/// The scores of some tokens.
struct Write<'a> {
    source: Source<'a>,
    split: Option<&'a Split>,
    targets: &'a Targets,
    tokens: Range<usize>,
    scores: &'a mut [f64],
    variances: Option<(&'a mut [f64], f64)>,
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
                let variances = self.variances.as_mut();
                let variances = variances.map(|(v, rate)| (&mut v[row.clone()], *rate));
                split.add(token, &mut self.scores[row], variances);
            }
        }
    }
}

impl Write<'_> {
    /// `B` blocks of one line of every token, from label `at` on.
    #[inline(always)]
    fn lines<const B: usize>(&mut self, line: usize, at: usize) {
        let (width, stride) = (self.targets.width(), self.targets.stride());
        let offset = line * self.source.pitch[1] + at;
        for (i, token) in self.tokens.clone().enumerate() {
            let out = i * width + line * stride + at;
            let out = out..out + B * LANES;
            match &mut self.variances {
                None => {
                    let sums = self.source.scores::<B>(token, offset);
                    self.scores[out].copy_from_slice(sums.as_flattened());
                }
                Some((variances, rate)) => {
                    let [sums, mut squares] = self.source.both::<B>(token, offset);
                    squares
                        .as_flattened_mut()
                        .iter_mut()
                        .for_each(|x| *x *= *rate);
                    self.scores[out.clone()].copy_from_slice(sums.as_flattened());
                    variances[out].copy_from_slice(squares.as_flattened());
                }
            }
        }
    }
}

impl<'a> Source<'a> {
    /// `Σ_j scale_j·x_j·w_j` over the entries of a token.
    #[inline(always)]
    fn scores<const B: usize>(&self, token: usize, offset: usize) -> [Block; B] {
        let mut sums = [[0.0; LANES]; B];
        let (columns, values) = self.rows.row(token);
        for (i, &column) in columns.iter().enumerate() {
            let c = self.coefficients[column as usize] * values.map_or(1.0, |values| values[i]);
            let rest;
            let row = match self.row::<B>(column, offset) {
                Some(row) => row,
                None => {
                    rest = self.rest(column, offset);
                    &rest
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

    /// The same, and `Σ_j x_j²·w_j²`.
    ///
    /// A class of m attributes has x = 1 and weight φ = √m·θ, so its m·ρ·θ² is ρ·φ²: the scale does
    /// not enter.
    #[inline(always)]
    fn both<const B: usize>(&self, token: usize, offset: usize) -> [[Block; B]; 2] {
        let [mut sums, mut squares] = [[[0.0; LANES]; B]; 2];
        let (columns, values) = self.rows.row(token);
        // More sums than this leave the registers; the second pass finds the weights in the cache.
        let together = B <= 3;
        if !together {
            sums = self.scores::<B>(token, offset);
        }
        for (i, &column) in columns.iter().enumerate() {
            let x = values.map_or(1.0, |values| values[i]);
            let (c, v) = (self.coefficients[column as usize] * x, x * x);
            let rest;
            let row = match self.row::<B>(column, offset) {
                Some(row) => row,
                None => {
                    rest = self.rest(column, offset);
                    &rest
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

    /// Weights of a column; none where the table ends before `B` blocks do. Beyond the weights of the
    /// line stand others, which come to nothing but padding.
    #[inline(always)]
    fn row<const B: usize>(&self, column: u32, offset: usize) -> Option<&'a [Block; B]> {
        let start = column as usize * self.pitch[0] + offset;
        let weights = self.table.get(start..start + B * LANES)?;
        weights.as_chunks::<LANES>().0.as_chunks::<B>().0.first()
    }

    /// The same at the end of the table, with zeros behind it.
    #[cold]
    #[inline(never)]
    fn rest<const B: usize>(&self, column: u32, offset: usize) -> [Block; B] {
        let start = column as usize * self.pitch[0] + offset;
        let rest = self.table.get(start..).unwrap_or_default();
        let mut row = [[0.0; LANES]; B];
        row.as_flattened_mut()[..rest.len()].copy_from_slice(rest);
        row
    }
}
