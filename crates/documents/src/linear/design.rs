//! The matrix of documents and features that training takes products with, and their scores.

use std::f64::consts::SQRT_2;

use dropchain::kernel::extract::{Classes, SparseRows};
use rayon::prelude::*;

/// The smallest number of rows or columns that a thread takes.
pub(super) const MIN_ROWS: usize = 256;

/// X by rows and by columns. Features with equal columns are one column, which stands for m of them
/// with scale √m ([`Classes`]): it adds κ·√m·x·φ to each of F scores, has the noise of x·φ, and
/// w = κ·φ/√m.
#[derive(Debug)]
pub(crate) struct Design {
    pub rows: SparseRows,    // X, [N][D]
    pub columns: SparseRows, // Xᵀ, [D][N]
    pub classes: Classes,    // of the features
    pub outputs: usize,      // F
    pub scales: Vec<f64>,    // [D] κ·√m
    pub bias: f64,           // the value of the feature that biases have
}

impl Design {
    /// Takes the matrix of documents with so many features, for `outputs` scores with this κ;
    /// `is_collapsed`: with equal columns as one.
    pub fn new(
        matrix: &SparseRows,
        features: usize,
        is_collapsed: bool,
        (outputs, unit): (usize, f64),
    ) -> Self {
        let classes = match is_collapsed {
            true => Classes::equal_columns(matrix, features),
            false => Classes::singletons(features),
        };
        let rows = classes.collapsed(matrix);
        let columns = rows.transposed(classes.len());
        let scales = classes.scales().iter().map(|s| unit * s).collect();
        Self { rows, columns, classes, outputs, scales, bias: SQRT_2 * unit }
    }

    /// Returns the number of columns D.
    pub fn dimension(&self) -> usize {
        self.scales.len()
    }

    /// Splits φ into the weights and the bias of each score, `[F]`.
    pub fn parts<'t>(&self, phi: &'t [f64]) -> (&'t [f64], Vec<f64>) {
        let (weights, biases) = phi.split_at(phi.len() - self.outputs);
        (weights, biases.iter().map(|b| self.bias * b).collect())
    }

    /// Returns the scores of documents of a matrix with the columns of the design, `[N][F]`.
    pub fn scores(&self, phi: &[f64], rows: &SparseRows) -> Vec<f64> {
        let (weights, biases) = self.parts(phi);
        let mut scores = vec![0.0; rows.len() * biases.len()];
        let by_row = scores.par_chunks_mut(biases.len()).enumerate().with_min_len(MIN_ROWS);
        by_row.for_each(|(n, scores)| {
            scores.copy_from_slice(&biases);
            self.add_scores(rows, n, weights, scores);
        });
        scores
    }

    /// Adds those of the features of document `n` to its scores.
    #[inline(always)]
    pub fn add_scores(&self, rows: &SparseRows, n: usize, weights: &[f64], scores: &mut [f64]) {
        for (j, x) in rows.entries(n) {
            let factor = self.scales[j as usize] * x;
            let own = self.weights(weights, j);
            scores.iter_mut().zip(own).for_each(|(s, w)| *s += factor * w);
        }
    }

    /// Returns the weights of column `j`, `[F]`.
    #[inline(always)]
    pub fn weights<'w>(&self, weights: &'w [f64], j: u32) -> &'w [f64] {
        &weights[j as usize * self.outputs..][..self.outputs]
    }
}

/// Returns the sums of `N` terms over the entries of a row or column: their numbers and, unless all
/// are 1, their values. `term` gets both. There are several partial sums, so that an addition need
/// not wait for the one before it.
#[inline(always)]
pub(super) fn entry_sums<const N: usize>(
    (numbers, values): (&[u32], Option<&[f64]>),
    term: impl Fn(usize, f64) -> [f64; N],
) -> [f64; N] {
    match values {
        None => sums(numbers.len(), |i| term(numbers[i] as usize, 1.0)),
        Some(values) => sums(numbers.len(), |i| term(numbers[i] as usize, values[i])),
    }
}

/// Returns the sums of `N` terms of each index below `length`.
#[inline(always)]
fn sums<const N: usize>(length: usize, term: impl Fn(usize) -> [f64; N]) -> [f64; N] {
    const LANES: usize = 4; // of N sums each
    let mut lanes = [[0.0; N]; LANES];
    let whole = length - length % LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sums) in lanes.iter_mut().enumerate() {
            add(sums, term(start + lane));
        }
    }
    for (i, sums) in (whole..length).zip(&mut lanes) {
        add(sums, term(i));
    }
    let [mut total, second, mut third, fourth] = lanes;
    add(&mut total, second);
    add(&mut third, fourth);
    add(&mut total, third);
    total
}

/// Adds a few numbers, like `math::add`, which is not always inlined: losses add few at once.
#[inline(always)]
fn add<const N: usize>(sums: &mut [f64; N], terms: [f64; N]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_every_entry_once() {
        for length in 0..20 {
            let numbers: Vec<u32> = (0..length).collect();
            let values: Vec<f64> = numbers.iter().map(|&i| f64::from(1 << i)).collect();
            let power = |i: usize, x: f64| [x, f64::from(1 << i), 1.0];
            let expected = f64::from((1 << length) - 1);
            let count = f64::from(length);
            let found = entry_sums((&numbers, Some(&values)), power);
            assert_eq!(found, [expected, expected, count]);
            assert_eq!(entry_sums((&numbers, None), power), [count, expected, count]);
        }
    }
}
