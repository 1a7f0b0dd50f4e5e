//! The memory layout of rows over labels, their dense products (the inner loops of
//! forward-backward and of the noise gradient), and potentials: exponentials of scores, bounded
//! from below.
//!
//! | function | product |
//! |---|---|
//! | [`row_times_matrix`] | a row times a matrix |
//! | [`add_matrix_product`] | a matrix times a matrix |
//! | [`add_outer_products`] | the transpose of a matrix times a matrix |
//!
//! To be called inside [`simd::dispatch`](crate::simd::dispatch), hence `#[inline(always)]`. These
//! loops are bound by loads and by the latency of additions, not by arithmetic. So sums stay in
//! registers: a whole row of them in [`row_times_matrix`], where the next row depends on it, and
//! otherwise a *tile* of [`TILE_ROWS`] rows times [`LANES`] labels, in which every number loaded
//! is used in several sums. Sums start from the contents of `out`: the compiler does not
//! vectorize accumulators that start from zero.
//!
//! Every sum adds its terms in order, whatever the vector width: results do not depend on the
//! processor.

use crate::math::exp_at_least;
use crate::simd::{self, Kernel};

/// The values of [`LANES`] consecutive labels.
pub(crate) type LaneBlock = [f64; LANES];

/// Rows of a tile. With two registers each they hide the latency of additions and leave registers
/// for the factors.
const TILE_ROWS: usize = 4;

/// Returns a row over labels as blocks.
#[inline(always)]
pub(crate) fn blocks(row: &[f64]) -> &[LaneBlock] {
    row.as_chunks().0
}

/// Returns a row over labels as mutable blocks.
#[inline(always)]
pub(crate) fn blocks_mut(row: &mut [f64]) -> &mut [LaneBlock] {
    row.as_chunks_mut().0
}

/// Builds a block from `f(lane)`. As blocks are passed by value, the compiler need not prove that
/// reads and writes do not alias, and vectorizes. (`std::array::from_fn` is not always inlined.)
#[inline(always)]
pub(crate) fn lanewise(f: impl Fn(usize) -> f64) -> LaneBlock {
    let mut block = [0.0; LANES];
    for (lane, x) in block.iter_mut().enumerate() {
        *x = f(lane);
    }
    block
}

/// Returns the sum of `[S]` numbers: per lane first, then across lanes in a fixed order.
#[inline(always)]
pub(crate) fn lane_sum(values: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for values in blocks(values) {
        for (sum, x) in sums.iter_mut().zip(values) {
            *sum += x;
        }
    }
    across(sums)
}

/// Returns the sum of a block.
#[inline(always)]
pub(super) fn across([a, b, c, d, e, f, g, h]: LaneBlock) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// out[b] = first[b] + Σ_a x[a]·matrix[a][b], with x `[K]`, matrix `[K][S]`, first and
/// out `[S]`.
///
/// `B` is the number of blocks in S, or 0 for any number.
#[inline(always)]
pub(crate) fn row_times_matrix<const B: usize>(
    x: &[f64],
    matrix: &[f64],
    first: &[f64],
    out: &mut [f64],
) {
    let stride = first.len();
    let (out, first) = (blocks_mut(&mut out[..stride]), blocks(first));
    if B == 0 {
        for (block, (out, first)) in out.iter_mut().zip(first).enumerate() {
            let mut sums = *first;
            for (x, row) in x.iter().zip(matrix.chunks_exact(stride)) {
                let row = &blocks(row)[block];
                for j in 0..LANES {
                    sums[j] += x * row[j];
                }
            }
            *out = sums;
        }
        return;
    }
    if B == 7 {
        // Fourteen registers of sums would leave none for the factors.
        row_times_columns::<B, 4>(x, matrix, first, out, 0);
        row_times_columns::<B, 3>(x, matrix, first, out, 4);
    } else {
        row_times_columns::<B, B>(x, matrix, first, out, 0);
    }
}

/// Computes `N` of the `B` blocks of [`row_times_matrix`], starting at block `at`.
#[inline(always)]
fn row_times_columns<const B: usize, const N: usize>(
    x: &[f64],
    matrix: &[f64],
    first: &[LaneBlock],
    out: &mut [LaneBlock],
    at: usize,
) {
    let mut sums = [[0.0; LANES]; N];
    sums.copy_from_slice(&first[at..at + N]);
    let rows = blocks(matrix).as_chunks::<B>().0;
    for (x, row) in x.iter().zip(rows) {
        for i in 0..N {
            for j in 0..LANES {
                sums[i][j] += x * row[at + i][j];
            }
        }
    }
    out[at..at + N].copy_from_slice(&sums);
}

/// out[t][b] += Σ_a x[t][a]·m[a][b] for all t, with x and out `[T][S]`.
///
/// The matrix m is passed as `panels` `[S/LANES][K]`: the rows of its first block of columns, then
/// those of the next.
#[cfg(any(feature = "train", test))]
#[inline(always)]
pub(crate) fn add_matrix_product(stride: usize, x: &[f64], panels: &[LaneBlock], out: &mut [f64]) {
    let labels = panels.len() / (stride / LANES);
    let whole = x.len() - x.len() % (TILE_ROWS * stride);
    let (x, x_rest) = x.split_at(whole);
    let (out, out_rest) = out.split_at_mut(whole);
    for (i, panel) in panels.chunks_exact(labels).enumerate() {
        let b = i * LANES;
        let tiles = x.chunks_exact(TILE_ROWS * stride);
        for (x, out) in tiles.zip(out.chunks_exact_mut(TILE_ROWS * stride)) {
            add_matrix_product_tile::<TILE_ROWS>(stride, x, panel, b, out);
        }
        match x_rest.len() / stride {
            0 => {}
            1 => add_matrix_product_tile::<1>(stride, x_rest, panel, b, out_rest),
            2 => add_matrix_product_tile::<2>(stride, x_rest, panel, b, out_rest),
            _ => add_matrix_product_tile::<3>(stride, x_rest, panel, b, out_rest),
        }
    }
}

/// Computes `R` rows of one block of columns of [`add_matrix_product`], starting at column `b`.
#[cfg(any(feature = "train", test))]
#[inline(always)]
fn add_matrix_product_tile<const R: usize>(
    stride: usize,
    x: &[f64],
    panel: &[LaneBlock],
    b: usize,
    out: &mut [f64],
) {
    let x: [&[f64]; R] = std::array::from_fn(|r| &x[r * stride..][..panel.len()]);
    let mut sums = [[0.0; LANES]; R];
    for r in 0..R {
        sums[r].copy_from_slice(&out[r * stride + b..][..LANES]);
    }
    for (a, m) in panel.iter().enumerate() {
        for r in 0..R {
            let x = x[r][a];
            for j in 0..LANES {
                sums[r][j] += x * m[j];
            }
        }
    }
    for r in 0..R {
        out[r * stride + b..][..LANES].copy_from_slice(&sums[r]);
    }
}

/// out[a][b] += Σ_t x[t][a]·y[t][b] for all a and b, with x and y `[T][S]`, out
/// `[K][S]`.
#[inline(always)]
pub(crate) fn add_outer_products(stride: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    let labels = out.len() / stride;
    let whole = labels - labels % TILE_ROWS;
    let (out, rest) = out.split_at_mut(whole * stride);
    for b in (0..stride).step_by(LANES) {
        for (i, out) in out.chunks_exact_mut(TILE_ROWS * stride).enumerate() {
            add_outer_products_tile::<TILE_ROWS>(stride, x, y, i * TILE_ROWS, b, out);
        }
        match labels - whole {
            0 => {}
            1 => add_outer_products_tile::<1>(stride, x, y, whole, b, rest),
            2 => add_outer_products_tile::<2>(stride, x, y, whole, b, rest),
            _ => add_outer_products_tile::<3>(stride, x, y, whole, b, rest),
        }
    }
}

/// Computes `R` rows of one block of columns of [`add_outer_products`], starting at row `a` and
/// column `b`.
#[inline(always)]
fn add_outer_products_tile<const R: usize>(
    stride: usize,
    x: &[f64],
    y: &[f64],
    a: usize,
    b: usize,
    out: &mut [f64],
) {
    let mut sums = [[0.0; LANES]; R];
    for r in 0..R {
        sums[r].copy_from_slice(&out[r * stride + b..][..LANES]);
    }
    for (x, y) in x.chunks_exact(stride).zip(y.chunks_exact(stride)) {
        let (x, y) = (&x[a..a + R], &blocks(y)[b / LANES]);
        for r in 0..R {
            let x = x[r];
            for j in 0..LANES {
                sums[r][j] += x * y[j];
            }
        }
    }
    for r in 0..R {
        out[r * stride + b..][..LANES].copy_from_slice(&sums[r]);
    }
}

/// The SIMD width that inner loops are written for: rows over labels are padded to a multiple of
/// it.
pub const LANES: usize = 8;

/// Returns the stride S of rows over K labels: K rounded up to a multiple of [`LANES`].
pub const fn padded(labels: usize) -> usize {
    labels.next_multiple_of(LANES)
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
    fn run(self) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::products::padded;

    /// Integers, so that sums of products are exact; 0 in the padding.
    fn rows(rows: usize, labels: usize, seed: usize) -> Vec<f64> {
        let stride = padded(labels);
        let number = |i: usize| (i * i + seed) % 23;
        (0..rows * stride)
            .map(|i| if i % stride < labels { number(i) as f64 - 11.0 } else { 0.0 })
            .collect()
    }

    fn assert_products(labels: usize, tokens: usize) {
        let stride = padded(labels);
        let (x, y) = (rows(tokens, labels, 3), rows(tokens, labels, 7));
        let matrix = rows(labels, labels, 5);

        let mut outer = rows(labels, labels, 1);
        let before = outer.clone();
        add_outer_products(stride, &x, &y, &mut outer);
        for a in 0..labels {
            for b in 0..stride {
                let terms = (0..tokens).map(|t| x[t * stride + a] * y[t * stride + b]);
                let expected = before[a * stride + b] + terms.sum::<f64>();
                assert_eq!(outer[a * stride + b], expected, "{labels} {tokens}");
            }
        }

        let mut panels = vec![[0.0; LANES]; stride / LANES * labels];
        for (i, m) in matrix.iter().enumerate() {
            let (a, b) = (i / stride, i % stride);
            panels[b / LANES * labels + a][b % LANES] = *m;
        }
        let mut product = y.clone();
        add_matrix_product(stride, &x, &panels, &mut product);
        let mut row = vec![0.0; stride];
        for t in 0..tokens {
            let (x, y) = (&x[t * stride..][..labels], &y[t * stride..][..stride]);
            for b in 0..stride {
                let terms = (0..labels).map(|a| x[a] * matrix[a * stride + b]);
                let expected = y[b] + terms.sum::<f64>();
                assert_eq!(product[t * stride + b], expected, "{labels} {tokens}");
            }
            match stride / LANES {
                1 => row_times_matrix::<1>(x, &matrix, y, &mut row),
                3 => row_times_matrix::<3>(x, &matrix, y, &mut row),
                7 => row_times_matrix::<7>(x, &matrix, y, &mut row),
                _ => row_times_matrix::<0>(x, &matrix, y, &mut row),
            }
            assert_eq!(row, product[t * stride..][..stride], "{labels} {tokens}");
        }
    }

    #[test]
    fn products_are_sums_of_products_for_any_number_of_labels_and_tokens() {
        for labels in [1, 2, 3, 5, 8, 17, 23, 49, 60] {
            for tokens in [0, 1, 2, 3, 4, 5, 9] {
                assert_products(labels, tokens);
            }
        }
    }
}
