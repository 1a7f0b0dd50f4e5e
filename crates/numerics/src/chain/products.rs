//! The memory layout of rows over labels, their dense products (the inner loops of
//! forward-backward and of the noise gradient), and potentials: exponentials of scores, bounded
//! from below.
//!
//! | function | product |
//! |---|---|
//! | `row_times_matrix` | a row times a matrix |
//! | `add_matrix_product` | a matrix times a matrix |
//! | `add_outer_products` | the transpose of a matrix times a matrix |
//!
//! These loops are bound by loads and by the latency of fused multiply-adds, four cycles. So sums
//! stay in registers, and there are many of them: a whole row in `row_times_matrix`, where the
//! next row depends on it, several times if it is short; otherwise a *tile* of rows times blocks of
//! labels, in which every number loaded is used in several sums. Sums of tiles start from the
//! contents of `out` and add their terms in order, whatever the tile.
//!
//! What is `#[inline(always)]` is to be called inside [`simd::dispatch`].

use std::ops::Range;

use crate::math::exp_at_least;
use crate::simd::{self, Kernel};

/// Returns the stride S of rows over K labels: a multiple of 4 up to 12, else of 8.
///
/// With 9 labels, those of four types of names, rows of 16 would be 44 % padding.
pub const fn padded(labels: usize) -> usize {
    labels.next_multiple_of(if labels <= 12 { 4 } else { 8 })
}

/// Evaluates an expression with a row's number of lanes per block and its number of blocks as
/// constants, given its stride S; 0 blocks stand for any number. With constants, whole rows of sums
/// stay in registers, if there are such `sums` ([`Kernel::run`]).
#[doc(hidden)] // reachable as `chain::products::by_stride`
#[macro_export]
macro_rules! by_stride {
    ($sums:expr, $stride:expr, |$lanes:ident, $blocks:ident| $value:expr) => {
        if const { $sums > 0 } {
            $crate::by_stride!(@ $stride, $lanes, $blocks, $value,
                (4, 4, 1), (8, 8, 1), (12, 4, 3), (16, 8, 2), (24, 8, 3), (32, 8, 4), (40, 8, 5),
                (48, 8, 6), (56, 8, 7))
        } else {
            $crate::by_stride!(@ $stride, $lanes, $blocks, $value, (4, 4, 0), (12, 4, 0))
        }
    };
    (@ $stride:expr, $lanes:ident, $blocks:ident, $value:expr,
     $(($s:literal, $l:literal, $b:literal)),+) => {
        match $stride {
            $($s => {
                const $lanes: usize = $l;
                const $blocks: usize = $b;
                $value
            })+
            _ => {
                const $lanes: usize = 8;
                const $blocks: usize = 0;
                $value
            }
        }
    };
}
pub use by_stride;

/// Returns a row over labels as blocks.
#[inline(always)]
pub fn blocks<const L: usize>(row: &[f64]) -> &[[f64; L]] {
    row.as_chunks().0
}

/// Returns a row over labels as mutable blocks.
#[inline(always)]
pub fn blocks_mut<const L: usize>(row: &mut [f64]) -> &mut [[f64; L]] {
    row.as_chunks_mut().0
}

/// Builds a block from `f(lane)`. As blocks are passed by value, the compiler need not prove that
/// reads and writes do not alias, and vectorizes. (`std::array::from_fn` is not always inlined.)
#[inline(always)]
pub fn lanewise<const L: usize>(f: impl Fn(usize) -> f64) -> [f64; L] {
    let mut block = [0.0; L];
    for (lane, x) in block.iter_mut().enumerate() {
        *x = f(lane);
    }
    block
}

/// Returns the sum of `[S]` numbers: per lane first, then across lanes in a fixed order.
#[inline(always)]
pub fn lane_sum<const L: usize>(values: &[f64]) -> f64 {
    let mut sums = [0.0; L];
    for values in blocks::<L>(values) {
        sums = lanewise(|j| sums[j] + values[j]);
    }
    across(sums)
}

/// Returns the sum of a block: halves are added until one number is left.
#[inline(always)]
pub fn across<const L: usize>(mut block: [f64; L]) -> f64 {
    let mut half = L / 2;
    while half > 0 {
        for j in 0..half {
            block[j] += block[j + half];
        }
        half /= 2;
    }
    block[0]
}

/// out[b] = first[b] + Σ_a x[a]·matrix[a][b], with x `[K]`, matrix `[K][S]`, first and
/// out `[S]`.
///
/// The row has `B` blocks of `L` lanes, or any number if B is 0. The terms of short rows are
/// divided among several sums, as many whatever B is.
#[inline(always)]
pub(crate) fn row_times_matrix<const L: usize, const B: usize>(
    x: &[f64],
    matrix: &[f64],
    first: &[f64],
    out: &mut [f64],
) {
    if const { B == 0 } {
        row_of_any_length_times_matrix::<L>(x, matrix, first, out);
    } else if const { B * L <= 12 } {
        row_times_columns::<L, B, 3>(x, matrix, B * L, 0, first, out);
    } else if const { B * L <= 24 } {
        row_times_columns::<L, B, 2>(x, matrix, B * L, 0, first, out);
    } else {
        row_times_columns::<L, B, 1>(x, matrix, B * L, 0, first, out);
    }
}

/// `row_times_matrix` of any number of blocks.
#[inline(always)]
fn row_of_any_length_times_matrix<const L: usize>(
    x: &[f64],
    matrix: &[f64],
    first: &[f64],
    out: &mut [f64],
) {
    let stride = first.len();
    match stride {
        0..=12 => {
            for at in (0..stride).step_by(L) {
                row_times_columns::<L, 1, 3>(x, matrix, stride, at, first, out);
            }
        }
        13..=24 => {
            for at in (0..stride).step_by(L) {
                row_times_columns::<L, 1, 2>(x, matrix, stride, at, first, out);
            }
        }
        _ => {
            let groups = stride / (4 * L) * (4 * L);
            for at in (0..groups).step_by(4 * L) {
                row_times_columns::<L, 4, 1>(x, matrix, stride, at, first, out);
            }
            for at in (groups..stride).step_by(L) {
                row_times_columns::<L, 1, 1>(x, matrix, stride, at, first, out);
            }
        }
    }
}

/// Computes `N` blocks of `row_times_matrix` from column `at` on, each in `M` sums.
#[inline(always)]
fn row_times_columns<const L: usize, const N: usize, const M: usize>(
    x: &[f64],
    matrix: &[f64],
    stride: usize,
    at: usize,
    first: &[f64],
    out: &mut [f64],
) {
    let columns = at..at + N * L;
    let mut sums = [[[0.0; L]; N]; M];
    // The compiler is not to know that `first` is the same for all tokens: it would keep its first
    // number in a register, and gather vectors from that and the rest.
    sums[0].copy_from_slice(blocks(&std::hint::black_box(first)[columns.clone()]));
    let (groups, rest) = x.as_chunks::<M>();
    let (whole, matrix_rest) = matrix.split_at(groups.len() * M * stride);
    for (x, rows) in groups.iter().zip(whole.chunks_exact(M * stride)) {
        for m in 0..M {
            let row = blocks(&rows[m * stride..][columns.clone()]);
            sums[m] = add_multiple(sums[m], x[m], row);
        }
    }
    // Constant indices keep the sums in registers.
    for m in 0..M - 1 {
        if m < rest.len() {
            let row = blocks(&matrix_rest[m * stride..][columns.clone()]);
            sums[m] = add_multiple(sums[m], rest[m], row);
        }
    }
    let mut total = sums[0];
    for sums in &sums[1..] {
        for i in 0..N {
            total[i] = lanewise(|j| total[i][j] + sums[i][j]);
        }
    }
    out[columns].copy_from_slice(total.as_flattened());
}

/// Returns sums + x·row.
#[inline(always)]
fn add_multiple<const L: usize, const N: usize>(
    mut sums: [[f64; L]; N],
    x: f64,
    row: &[[f64; L]],
) -> [[f64; L]; N] {
    for i in 0..N {
        sums[i] = lanewise(|j| x.mul_add(row[i][j], sums[i][j]));
    }
    sums
}

/// out[t][b] += Σ_a x[t][a]·matrix[a][b] for all t, with x and out `[T][S]`, matrix `[K][S]`.
#[cfg(feature = "train")]
pub(crate) fn add_matrix_product(stride: usize, x: &[f64], matrix: &[f64], out: &mut [f64]) {
    let x = Rows { x, stride, length: matrix.len() / stride };
    simd::dispatch(Product { stride, x, y: matrix, out });
}

/// out[a][b] += Σ_t x[t][a]·y[t][b] for all a and b, with x and y `[T][S]`, out
/// `[K][S]`.
pub(crate) fn add_outer_products(stride: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    simd::dispatch(Product { stride, x: Columns { x, stride }, y, out });
}

/// out[i][b] += Σ_k x(i, k)·y[k][b] for all i and b.
struct Product<'a, X> {
    stride: usize,
    x: X,
    y: &'a [f64],       // [inner dimension][S]
    out: &'a mut [f64], // [rows][S]
}

/// The most rows of a tile.
const MAX_ROWS: usize = 8;

/// The left factor of a product of matrices.
trait LeftFactor: Copy {
    /// Returns x(i, k) of the first `rows` of some rows i, from `row` on, for all k.
    fn factors(self, row: usize, rows: usize) -> impl Iterator<Item = [f64; MAX_ROWS]>;
}

/// A matrix `[T][S]`, row by row.
#[cfg(feature = "train")]
#[derive(Clone, Copy)]
struct Rows<'a> {
    x: &'a [f64],
    stride: usize,
    length: usize, // K
}

#[cfg(feature = "train")]
impl LeftFactor for Rows<'_> {
    #[inline(always)]
    fn factors(self, row: usize, rows: usize) -> impl Iterator<Item = [f64; MAX_ROWS]> {
        let mut x = [&[][..]; MAX_ROWS];
        for (r, x) in x[..rows].iter_mut().enumerate() {
            *x = &self.x[(row + r) * self.stride..][..self.length];
        }
        (0..self.length).map(move |k| {
            let mut factors = [0.0; MAX_ROWS];
            for (factor, x) in factors[..rows].iter_mut().zip(&x) {
                *factor = x[k];
            }
            factors
        })
    }
}

/// The transpose of a matrix `[T][S]`.
#[derive(Clone, Copy)]
struct Columns<'a> {
    x: &'a [f64],
    stride: usize,
}

impl LeftFactor for Columns<'_> {
    #[inline(always)]
    fn factors(self, row: usize, rows: usize) -> impl Iterator<Item = [f64; MAX_ROWS]> {
        self.x.chunks_exact(self.stride).map(move |x| {
            let mut factors = [0.0; MAX_ROWS];
            factors[..rows].copy_from_slice(&x[row..row + rows]);
            factors
        })
    }
}

/// The sums of a tile.
///
/// Tiles are pairs of smaller ones, not arrays: the compiler unrolls small loops alone, and without
/// that sums are not in registers.
trait Tile: Copy {
    const ROWS: usize;

    /// Loads the columns from `at` on of the first rows.
    fn load(rows: &[f64], stride: usize, at: usize) -> Self;

    /// Adds x(i)·y(b), with x `[ROWS]`.
    fn add(self, x: &[f64], y: &[f64]) -> Self;

    /// Stores what was loaded.
    fn store(self, rows: &mut [f64], stride: usize, at: usize);
}

/// A row.
impl<const L: usize, const C: usize> Tile for [[f64; L]; C] {
    const ROWS: usize = 1;

    #[inline(always)]
    fn load(rows: &[f64], _: usize, at: usize) -> Self {
        let mut sums = [[0.0; L]; C];
        sums.copy_from_slice(blocks(&rows[at..at + C * L]));
        sums
    }

    #[inline(always)]
    fn add(self, x: &[f64], y: &[f64]) -> Self {
        add_multiple(self, x[0], blocks(y))
    }

    #[inline(always)]
    fn store(self, rows: &mut [f64], _: usize, at: usize) {
        rows[at..at + C * L].copy_from_slice(self.as_flattened());
    }
}

impl<T: Tile> Tile for (T, T) {
    const ROWS: usize = 2 * T::ROWS;

    #[inline(always)]
    fn load(rows: &[f64], stride: usize, at: usize) -> Self {
        (T::load(rows, stride, at), T::load(&rows[T::ROWS * stride..], stride, at))
    }

    #[inline(always)]
    fn add(self, x: &[f64], y: &[f64]) -> Self {
        (self.0.add(x, y), self.1.add(&x[T::ROWS..], y))
    }

    #[inline(always)]
    fn store(self, rows: &mut [f64], stride: usize, at: usize) {
        self.0.store(rows, stride, at);
        self.1.store(&mut rows[T::ROWS * stride..], stride, at);
    }
}

/// Twice and four times the rows of a tile.
type Two<T> = (T, T);
type Four<T> = Two<Two<T>>;

impl<X: LeftFactor> Kernel for Product<'_, X> {
    type Output = ();

    /// Tiles have as many sums as fit in registers.
    #[inline(always)]
    fn run<const SUMS: usize>(mut self) {
        let mut at = 0;
        while at < self.stride {
            let is_wide = SUMS == 128;
            at += match (self.stride - at, is_wide) {
                (4, _) => self.columns::<4, 1>(at, true),
                (12, _) => self.columns::<4, 3>(at, is_wide),
                (8, _) | (_, false) => self.columns::<8, 1>(at, is_wide),
                (16 | 32, _) => self.columns::<8, 2>(at, true),
                _ => self.columns::<8, 3>(at, true),
            };
        }
    }
}

impl<X: LeftFactor> Product<'_, X> {
    /// Computes `C` blocks of `L` columns from column `at` on, in tiles of up to four or eight
    /// rows; returns the number of columns.
    #[inline(always)]
    fn columns<const L: usize, const C: usize>(&mut self, at: usize, is_high: bool) -> usize {
        let rows = self.out.len() / self.stride;
        let mut row = 0;
        while is_high && rows - row >= 8 {
            row += self.tile::<Two<Four<[[f64; L]; C]>>>(row, at..at + C * L);
        }
        while rows - row >= 4 {
            row += self.tile::<Four<[[f64; L]; C]>>(row, at..at + C * L);
        }
        if rows - row >= 2 {
            row += self.tile::<Two<[[f64; L]; C]>>(row, at..at + C * L);
        }
        if row < rows {
            self.tile::<[[f64; L]; C]>(row, at..at + C * L);
        }
        C * L
    }

    /// Computes a tile; returns its number of rows.
    #[inline(always)]
    fn tile<T: Tile>(&mut self, row: usize, columns: Range<usize>) -> usize {
        let rows = &mut self.out[row * self.stride..];
        let mut sums = T::load(rows, self.stride, columns.start);
        for (x, y) in self.x.factors(row, T::ROWS).zip(self.y.chunks_exact(self.stride)) {
            sums = sums.add(&x, &y[columns.clone()]);
        }
        sums.store(rows, self.stride, columns.start);
        T::ROWS
    }
}

/// φ, the lower bound of potentials and messages in scaled exponentials: 2⁻¹⁰⁰⁰.
///
/// `forward_backward.rs` explains why it is needed.
pub(super) const FLOOR: f64 = f64::from_bits((1023 - 1000) << 52);

/// log φ.
const LN_FLOOR: f64 = -1000.0 * std::f64::consts::LN_2;

/// Exponentiates log-potentials, rounding up to φ.
pub(super) fn exponentiate(potentials: &mut [f64]) {
    simd::dispatch(Exponentiate(potentials));
}

/// [`exponentiate`] as a SIMD kernel.
struct Exponentiate<'a>(&'a mut [f64]);

impl Kernel for Exponentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        exp_at_least(self.0, LN_FLOOR);
    }
}

/// Exponentiates log-potentials of rows over labels in a SIMD kernel, rounding up to φ; sets the
/// padding to 0.
#[inline(always)]
pub(super) fn exponentiate_rows(potentials: &mut [f64], labels: usize) {
    exp_at_least(potentials, LN_FLOOR);
    for row in potentials.chunks_exact_mut(padded(labels)) {
        row[labels..].fill(0.0);
    }
}
