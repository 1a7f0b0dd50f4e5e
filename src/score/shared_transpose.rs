//! The gradient of the noise term if one mask drops an attribute for all labels (`shared.rs`).

use std::ops::Range;

use rayon::prelude::*;

use super::columns::split_by_owner;
use super::shared::{SharedMasks, mean, row_of, wide_mean};
use super::targets::{BLOCKS, Targets};
use super::transpose::{Slice, Task, TransposeProduct};
use crate::chain::LANES;
use crate::exact_sum::untied;
use crate::simd::{self, Kernel};

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
        let slice = self.slice(index);
        let owners = slice.tasks.iter().map(|task| task.weights.clone());
        let pieces = split_by_owner(owners, self.block.weights_mut(gradient));
        let work: Vec<_> = slice.tasks.iter().zip(pieces).collect();
        work.into_par_iter().for_each(|(task, gradient)| {
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
        match self.targets.stride() / LANES {
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
        let SharedDerivatives {
            marginals,
            factors,
            theta,
        } = self.derivatives;
        for i in self.task.dense.clone() {
            let column = columns.column(i);
            let range = self.targets.range(column);
            let (mut row, labels) = ([[0.0; LANES]; B], [0, 0, B * LANES]);
            let (to, weights) = (row.as_flattened_mut(), &theta[range.clone()]);
            self.targets
                .for_block(column, labels, |label, index| to[label] = weights[index]);
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
            let (rate, sums) = (self.masks.column_rate(column), sums.as_flattened());
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
        let (stride, labels) = (self.targets.stride(), self.targets.labels());
        let SharedDerivatives {
            marginals,
            factors,
            theta,
        } = self.derivatives;
        let (mut row, mut sums) = (vec![0.0; labels], vec![0.0; labels]);
        for i in self.task.dense.clone() {
            let column = columns.column(i);
            let range = self.targets.range(column);
            row.fill(0.0);
            sums.fill(0.0);
            self.targets
                .for_each(column, |position, index| row[position] = theta[index]);
            for entry in columns.entries(i) {
                let (token, x) = (columns.token(entry), columns.value(entry));
                let p = &marginals[token * stride..][..labels];
                let u = wide_mean(p, &row);
                let factor = factors[token] * (x * x);
                for ((sum, p), w) in sums.iter_mut().zip(p).zip(&row) {
                    *sum += factor * (p * (w - u));
                }
            }
            let rate = self.masks.column_rate(column);
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
                let p = &self.derivatives.marginals[token * self.targets.stride()..];
                let terms = weights.iter().zip(positions);
                let u: f64 = terms.map(|(w, &b)| p[b as usize] * w).sum();
                let factor = self.derivatives.factors[token] * (x * x);
                let factor = self.masks.column_rate(column) * factor;
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
        let SharedDerivatives {
            marginals,
            factors,
            theta,
        } = self.derivatives;
        let Range { mut start, end } = self.task.sparse;
        while start < end {
            let sparse = &self.slice.sparse;
            let last = self.masks.column_end(start, |i| sparse[i][0] as usize);
            let entry = &sparse[start..last];
            let terms = entry.iter().map(|x| x.map(|index| index as usize));
            let u: f64 = terms
                .clone()
                .map(|[weight, cell]| marginals[cell] * theta[weight])
                .sum();
            let values = self.slice.sparse_values.as_ref();
            let x = values.map_or(1.0, |values| values[start]);
            let [weight, cell] = entry[0].map(|index| index as usize);
            let factor = factors[cell / self.targets.stride()] * (x * x);
            let factor = self.masks.weight_rate(weight) * factor;
            for [weight, cell] in terms {
                let term = factor * (marginals[cell] * (theta[weight] - u));
                self.gradient[weight - self.task.weights.start] += untied(term);
            }
            start = last;
        }
    }
}
