//! The matrix of documents and features that training takes products with.

use dropchain::kernel::extract::{Classes, SparseRows};

/// The smallest number of rows or columns that a thread takes.
pub(super) const MIN_ROWS: usize = 256;

/// X by rows and by columns. Features with equal columns are one column, which stands for m of them
/// with scale √m ([`Classes`]): it adds √m·x·φ to a score, has the noise of x·φ, and w = φ/√m.
#[derive(Debug)]
pub(crate) struct Design {
    pub rows: SparseRows,    // X, [N][D]
    pub columns: SparseRows, // Xᵀ, [D][N]
    pub classes: Classes,    // of the features
    pub scales: Vec<f64>,    // [D] √m
}

impl Design {
    /// Takes the matrix of documents with so many features; `is_collapsed`: with equal columns as
    /// one.
    pub fn new(matrix: &SparseRows, features: usize, is_collapsed: bool) -> Self {
        let classes = match is_collapsed {
            true => Classes::equal_columns(matrix, features),
            false => Classes::singletons(features),
        };
        let rows = classes.collapsed(matrix);
        Self { columns: rows.transposed(classes.len()), rows, scales: classes.scales(), classes }
    }

    /// Returns the number of columns D.
    pub fn dimension(&self) -> usize {
        self.scales.len()
    }

    /// Estimates the memory in bytes of the design of a matrix.
    pub fn memory(matrix: &SparseRows, features: usize) -> usize {
        2 * matrix.memory() + 40 * features
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
