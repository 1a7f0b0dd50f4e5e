//! Variances and their derivatives if one mask drops an attribute for all labels.
//!
//! Then the noise term of a token with the marginals p is
//!
//! ```text
//! R = ½ Σ_b p[b]·U[b]        U[b] = Σ_j ρ_j·x_j²·(θ[j][b] − u_j)²        u_j = Σ_c p[c]·θ[j][c]
//! ∂R/∂p[b] = ½ U[b]          ∂R/∂θ[j][b] = ρ_j·x_j²·p[b]·(θ[j][b] − u_j)
//! ```
//!
//! (`noise/quadratic.rs`). Unlike V, U depends on the marginals, so it takes a second look at the
//! attributes of a sentence, after forward-backward: their weights are still in cache. Weights that
//! a column does not have count as 0. A class of m attributes has x = 1 and φ = √m·θ, and like ρ·θ²
//! in V, m·ρ·(θ − u)² is that of φ, without the scale.
//!
//! Time O(nonzeros of X · S), like the products of `forward.rs` and `transpose.rs`.

use std::ops::Range;
use std::sync::Arc;

use super::forward::{DenseRows, ForwardProduct, Lanes, Split};
use super::targets::{BLOCKS, FeatureBlock, NoiseRates, Targets};
use super::transpose::{Slice, Task, TransposeProduct};
use crate::chain::LANES;
use crate::exact_sum::untied;
use crate::simd::{self, Kernel};

/// The noise on node attributes whose masks all labels share.
#[derive(Clone, Debug)]
pub struct SharedMasks {
    rates: NoiseRates,
    is_last: Arc<[bool]>, // whether a weight is the last of its column, if there are sparse columns
}

impl SharedMasks {
    /// Creates the noise with these rates ρ on the attributes of a block.
    pub fn new(block: &FeatureBlock, rates: NoiseRates) -> Self {
        let targets = &block.targets;
        let mut is_last = Vec::new();
        if targets.is_observed() {
            is_last.resize(targets.weights(), false);
            for range in (0..targets.columns()).map(|column| targets.range(column)) {
                if !range.is_empty() {
                    is_last[range.end - 1] = true;
                }
            }
        }
        Self { rates, is_last: is_last.into() }
    }

    /// Returns the end of the first column among sparse weights from `start` on.
    #[inline(always)]
    pub(super) fn column_end(&self, start: usize, weight: impl Fn(usize) -> usize) -> usize {
        let mut end = start + 1;
        while !self.is_last[weight(end - 1)] {
            end += 1;
        }
        end
    }
}

impl ForwardProduct {
    /// Writes U of `tokens` to `out`, given their marginals, both `[tokens][S]`. θ must be the one
    /// last passed to [`set_weights`](Self::set_weights). Padding must be 0, and is 0 in `out`.
    pub fn write_shared(
        &self,
        theta: &[f64],
        masks: &SharedMasks,
        tokens: Range<usize>,
        marginals: &[f64],
        out: &mut [f64],
    ) {
        if self.block().is_empty() {
            return out.fill(0.0);
        }
        let (rows, split) = self.rows(theta);
        simd::dispatch(WriteShared {
            rows,
            split,
            weights: self.block().weights(theta),
            targets: &self.block().targets,
            masks,
            tokens,
            marginals,
            out,
        });
    }
}

/// The kernel that writes U of some tokens.
struct WriteShared<'a> {
    rows: DenseRows<'a>,
    split: Option<Split<'a>>,
    weights: &'a [f64],
    targets: &'a Targets,
    masks: &'a SharedMasks,
    tokens: Range<usize>,
    marginals: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for WriteShared<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let stride = self.targets.stride;
        match stride / LANES {
            1 => self.dense::<1>(),
            2 => self.dense::<2>(),
            3 => self.dense::<3>(),
            4 => self.dense::<4>(),
            5 => self.dense::<5>(),
            6 => self.dense::<6>(),
            BLOCKS => self.dense::<BLOCKS>(),
            _ => self.wide(),
        }
        let labels = self.targets.labels;
        for (i, token) in self.tokens.clone().enumerate() {
            let row = i * stride..(i + 1) * stride;
            let out = &mut self.out[row.clone()];
            if let Some(split) = self.split {
                self.masks.add_split(
                    split,
                    token,
                    self.targets,
                    self.weights,
                    &self.marginals[row],
                    out,
                );
            }
            out[labels..].fill(0.0);
        }
    }
}

/// Returns the sum of the lanes.
#[inline(always)]
fn lane_sum(x: Lanes) -> f64 {
    let x: [f64; LANES / 2] = std::array::from_fn(|j| x[j] + x[j + LANES / 2]);
    (x[0] + x[2]) + (x[1] + x[3])
}

/// Returns Σ p·w of `B` blocks.
#[inline(always)]
pub(super) fn mean<const B: usize>(p: &[Lanes; B], w: &[Lanes; B]) -> f64 {
    let mut sums = [0.0; LANES];
    for (p, w) in p.iter().zip(w) {
        for j in 0..LANES {
            sums[j] += p[j] * w[j];
        }
    }
    lane_sum(sums)
}

/// Returns `B` blocks of a row.
#[inline(always)]
pub(super) fn row_of<const B: usize>(array: &[f64], row: usize) -> &[Lanes; B] {
    let row = &array[row * B * LANES..][..B * LANES];
    &row.as_chunks::<LANES>().0.as_chunks::<B>().0[0]
}

impl WriteShared<'_> {
    /// Writes the terms of dense columns, if there are `B` blocks of labels.
    #[inline(always)]
    fn dense<const B: usize>(&mut self) {
        for (i, token) in self.tokens.clone().enumerate() {
            let p = *row_of::<B>(self.marginals, i);
            let mut sums = [[0.0; LANES]; B];
            let (columns, values) = self.rows.matrix.row(token);
            for (i, &column) in columns.iter().enumerate() {
                let x = values.map_or(1.0, |values| values[i]);
                let v = self.masks.rates.column(self.rows.number(column)) * (x * x);
                let last;
                let row = match self.rows.row::<B>(column, 0) {
                    Some(row) => row,
                    None => {
                        last = self.rows.last_row(column, 0);
                        &last
                    }
                };
                let u = mean(&p, row);
                for k in 0..B {
                    for j in 0..LANES {
                        let d = row[k][j] - u;
                        sums[k][j] += v * (d * d);
                    }
                }
            }
            self.out[i * B * LANES..][..B * LANES].copy_from_slice(sums.as_flattened());
        }
    }

    /// Like [`dense`](Self::dense) for any number of labels.
    #[inline(always)]
    fn wide(&mut self) {
        let (stride, labels) = (self.targets.stride, self.targets.labels);
        self.out.fill(0.0);
        for (i, token) in self.tokens.clone().enumerate() {
            let p = &self.marginals[i * stride..][..labels];
            let out = &mut self.out[i * stride..][..labels];
            let (columns, values) = self.rows.matrix.row(token);
            for (i, &column) in columns.iter().enumerate() {
                let x = values.map_or(1.0, |values| values[i]);
                let v = self.masks.rates.column(self.rows.number(column)) * (x * x);
                let row = self.rows.weights_of(column, labels);
                let u = wide_mean(p, row);
                for (out, w) in out.iter_mut().zip(row) {
                    let d = w - u;
                    *out += v * (d * d);
                }
            }
        }
    }
}

/// Returns Σ p·w.
#[inline(always)]
pub(super) fn wide_mean(p: &[f64], w: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let ((p, last), (w, last_w)) = (p.as_chunks::<LANES>(), w.as_chunks::<LANES>());
    for (p, w) in p.iter().zip(w) {
        for j in 0..LANES {
            sums[j] += p[j] * w[j];
        }
    }
    let last = last.iter().zip(last_w).map(|(p, w)| p * w);
    lane_sum(sums) + last.sum::<f64>()
}

impl SharedMasks {
    /// Adds the terms of a token's sparse and listed columns. A label without a weight has u² where
    /// others have (w − u)² = u² + w·(w − 2u).
    #[inline(always)]
    fn add_split(
        &self,
        split: Split<'_>,
        token: usize,
        targets: &Targets,
        weights: &[f64],
        p: &[f64],
        out: &mut [f64],
    ) {
        let rows = split.rows;
        let mut constant = 0.0;
        let range = rows.range(token);
        let mut start = range.start;
        while start < range.end {
            let end = self.column_end(start, |i| rows.weights[i] as usize);
            let x = rows.values.as_ref().map_or(1.0, |values| values[start]);
            let indices = &rows.weights[start..end];
            let v = self.rates.weight(indices[0] as usize) * (x * x);
            let terms = rows.positions[start..end].iter().zip(indices);
            let terms = terms.map(|(&b, &index)| (b as usize, weights[index as usize]));
            constant += add_differences(v, terms, p, out);
            start = end;
        }
        let (columns, values) = rows.listed.row(token);
        for (i, &column) in columns.iter().enumerate() {
            let x = values.map_or(1.0, |values| values[i]);
            let range = targets.range(column as usize);
            let v = self.rates.column(column as usize) * (x * x);
            let terms = targets.positions(range.clone()).iter();
            let terms = terms.zip(&weights[range]).map(|(&b, &w)| (b as usize, w));
            constant += add_differences(v, terms, p, out);
        }
        let labels = &mut out[..targets.labels];
        labels.iter_mut().for_each(|out| *out += constant);
    }
}

/// Adds v·w·(w − 2u) to the labels of the weights of a column, and returns v·u².
#[inline(always)]
fn add_differences(
    v: f64,
    terms: impl Iterator<Item = (usize, f64)> + Clone,
    p: &[f64],
    out: &mut [f64],
) -> f64 {
    let u: f64 = terms.clone().map(|(b, w)| p[b] * w).sum();
    for (b, w) in terms {
        out[b] += v * (w * (w - 2.0 * u));
    }
    v * (u * u)
}

/// What the derivatives of the noise term of a block of tokens depend on.
#[derive(Clone, Copy, Debug)]
pub struct SharedDerivatives<'a> {
    /// p, `[tokens of the block][S]`, 0 in the padding.
    pub marginals: &'a [f64],
    /// The factor of the noise term of each token, `[tokens of the block]`.
    pub factors: &'a [f64],
    /// All parameters θ.
    pub theta: &'a [f64],
}

impl TransposeProduct {
    /// Adds Σ factor·∂R/∂θ over the tokens of block `index` to the gradient, which may be anchored
    /// ([`crate::exact_sum`]): `Σ_t factor·ρ·x²·p[b]·(θ[b] − u)` for each column.
    pub fn add_shared_gradient(
        &self,
        index: usize,
        masks: &SharedMasks,
        derivatives: SharedDerivatives<'_>,
        gradient: &mut [f64],
    ) {
        self.for_each_task(index, gradient, |slice, task, gradient| {
            simd::dispatch(GatherShared {
                slice,
                task,
                targets: &self.block.targets,
                masks,
                derivatives: SharedDerivatives {
                    theta: self.block.weights(derivatives.theta),
                    ..derivatives
                },
                gradient,
            });
        });
    }
}

/// The kernel that runs one task.
struct GatherShared<'a> {
    slice: &'a Slice,
    task: &'a Task,
    targets: &'a Targets,
    masks: &'a SharedMasks,
    derivatives: SharedDerivatives<'a>, // `theta`: the weights of the block
    gradient: &'a mut [f64],            // of the weights of the task
}

impl Kernel for GatherShared<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        match self.targets.stride / LANES {
            1 => self.gather_dense::<1>(),
            2 => self.gather_dense::<2>(),
            3 => self.gather_dense::<3>(),
            4 => self.gather_dense::<4>(),
            5 => self.gather_dense::<5>(),
            6 => self.gather_dense::<6>(),
            BLOCKS => self.gather_dense::<BLOCKS>(),
            _ => self.gather_wide(),
        }
        self.gather_listed();
        self.gather_sparse();
    }
}

impl GatherShared<'_> {
    /// Gathers the derivatives of dense columns, if there are `B` blocks of labels.
    #[inline(always)]
    fn gather_dense<const B: usize>(&mut self) {
        let columns = &self.slice.dense;
        let SharedDerivatives { marginals, factors, theta } = self.derivatives;
        for i in self.task.dense.clone() {
            let column = columns.column(i);
            let range = self.targets.range(column);
            let (mut row, labels) = ([[0.0; LANES]; B], [0, 0, B * LANES]);
            let (to, weights) = (row.as_flattened_mut(), &theta[range.clone()]);
            self.targets.for_block(column, labels, |label, index| to[label] = weights[index]);
            let mut sums = [[0.0; LANES]; B];
            for entry in columns.entries(i) {
                let (token, x) = (columns.token(entry), columns.value(entry));
                let p = row_of::<B>(marginals, token);
                let u = mean(p, &row);
                let factor = factors[token] * (x * x);
                for k in 0..B {
                    for j in 0..LANES {
                        sums[k][j] += factor * (p[k][j] * (row[k][j] - u));
                    }
                }
            }
            let (rate, sums) = (self.masks.rates.column(column), sums.as_flattened());
            let first = range.start - self.task.weights.start;
            let gradient = &mut self.gradient[first..first + range.len()];
            self.targets.for_block(column, labels, |label, index| {
                gradient[index] += untied(rate * sums[label]);
            });
        }
    }

    /// Like [`gather_dense`](Self::gather_dense) for any number of labels.
    #[inline(always)]
    fn gather_wide(&mut self) {
        let columns = &self.slice.dense;
        let (stride, labels) = (self.targets.stride, self.targets.labels);
        let SharedDerivatives { marginals, factors, theta } = self.derivatives;
        let (mut row, mut sums) = (vec![0.0; labels], vec![0.0; labels]);
        for i in self.task.dense.clone() {
            let column = columns.column(i);
            let range = self.targets.range(column);
            row.fill(0.0);
            sums.fill(0.0);
            self.targets.for_each(column, |position, index| row[position] = theta[index]);
            for entry in columns.entries(i) {
                let (token, x) = (columns.token(entry), columns.value(entry));
                let p = &marginals[token * stride..][..labels];
                let u = wide_mean(p, &row);
                let factor = factors[token] * (x * x);
                for ((sum, p), w) in sums.iter_mut().zip(p).zip(&row) {
                    *sum += factor * (p * (w - u));
                }
            }
            let rate = self.masks.rates.column(column);
            let gradient = &mut self.gradient[range.start - self.task.weights.start..];
            self.targets.for_each(column, |position, index| {
                gradient[index - range.start] += untied(rate * sums[position]);
            });
        }
    }

    /// Gathers the derivatives of listed columns.
    #[inline(always)]
    fn gather_listed(&mut self) {
        let columns = &self.slice.listed;
        for i in self.task.listed.clone() {
            let column = columns.column(i);
            let range = self.targets.range(column);
            let positions = self.targets.positions(range.clone());
            let first = range.start - self.task.weights.start;
            let gradient = &mut self.gradient[first..first + range.len()];
            let weights = &self.derivatives.theta[range];
            for entry in columns.entries(i) {
                let (token, x) = (columns.token(entry), columns.value(entry));
                let p = &self.derivatives.marginals[token * self.targets.stride..];
                let terms = weights.iter().zip(positions);
                let u: f64 = terms.map(|(w, &b)| p[b as usize] * w).sum();
                let factor = self.derivatives.factors[token] * (x * x);
                let factor = self.masks.rates.column(column) * factor;
                let weights = weights.iter().zip(positions);
                for (g, (w, &b)) in gradient.iter_mut().zip(weights) {
                    *g += untied(factor * (p[b as usize] * (w - u)));
                }
            }
        }
    }

    /// Gathers the derivatives of sparse columns.
    #[inline(always)]
    fn gather_sparse(&mut self) {
        let SharedDerivatives { marginals, factors, theta } = self.derivatives;
        let Range { mut start, end } = self.task.sparse;
        while start < end {
            let sparse = &self.slice.sparse;
            let last = self.masks.column_end(start, |i| sparse[i][0] as usize);
            let entry = &sparse[start..last];
            let terms = entry.iter().map(|x| x.map(|index| index as usize));
            let u: f64 = terms.clone().map(|[weight, cell]| marginals[cell] * theta[weight]).sum();
            let values = self.slice.sparse_values.as_ref();
            let x = values.map_or(1.0, |values| values[start]);
            let [weight, cell] = entry[0].map(|index| index as usize);
            let factor = factors[cell / self.targets.stride] * (x * x);
            let factor = self.masks.rates.weight(weight) * factor;
            for [weight, cell] in terms {
                let term = factor * (marginals[cell] * (theta[weight] - u));
                self.gradient[weight - self.task.weights.start] += untied(term);
            }
            start = last;
        }
    }
}
