//! The weights of one design matrix: the scores that each column has weights for, and the noise
//! rates of single attributes.

use std::ops::Range;

use rayon::prelude::*;

use super::partition::split_by_owner;
use crate::chain::products::{blocks_mut, by_stride, lanewise};
use crate::data::SparseRows;
use crate::exact_sum::untied;
use crate::simd;

/// Scores whose sums fit in registers.
const MAX_PIECE: usize = 56;

/// Scores whose sums fit in registers together with those of their variances.
pub(super) const FEW_SCORES: usize = 24;

/// A column is dense if at least one score in this many has a weight.
const DENSE: usize = 8;

/// A sparse column is listed if it has more weights than this.
const LISTED: usize = 8;

/// Maximum number of weights that the 32-bit indices of sparse columns can address.
const MOST_SPARSE: usize = u32::MAX as usize;

/// For each column of a design matrix, the scores that it has weights for.
///
/// A token's scores are a row of `height × stride` numbers: one line of labels for node attributes
/// (height 1), K lines for edge attributes (the score of the pair (a, b) at position a·stride + b).
/// The weights of a column are contiguous, columns in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    columns: usize,
    pub(super) labels: usize, // K
    pub(super) stride: usize, // K padded
    pub(super) height: usize, // 1 for nodes, K for edges
    observed: Option<Observed>,
}

/// A product that is computed piece by piece of a token's row of scores.
pub(super) trait Pieces {
    /// Computes `B` blocks of `L` lanes of one line, from label `at` on.
    fn run_piece<const L: usize, const B: usize>(&mut self, line: usize, at: usize);
}

/// How the entries of a column are stored and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnForm {
    /// So many weights that whole rows, with zeros in the gaps, are faster.
    Dense,
    /// A loop over the weights of the column for each entry.
    Listed,
    /// So few weights, mostly one, that each entry stores them: there is no loop.
    Sparse,
}

#[derive(Clone, Debug, PartialEq)]
struct Observed {
    ends: Vec<u64>,      // [columns] end of each column in `positions`
    positions: Vec<u32>, // position of each weight's score in the token's row of scores
}

impl Targets {
    /// Runs a product for all pieces of a row, of at most as many scores as there are `SUMS` for
    /// ([`Kernel::run`](crate::simd::Kernel::run)).
    #[inline(always)]
    pub(super) fn for_each_piece<const SUMS: usize>(&self, product: &mut impl Pieces) {
        let longest = if SUMS == 0 { 8 } else { MAX_PIECE };
        for line in 0..self.height {
            for at in (0..self.stride).step_by(longest) {
                let length = (self.stride - at).min(longest);
                if const { SUMS > 0 } {
                    by_stride!(SUMS, length, |L, B| product.run_piece::<L, B>(line, at));
                } else if length == 4 {
                    product.run_piece::<4, 1>(line, at);
                } else {
                    product.run_piece::<8, 1>(line, at);
                }
            }
        }
    }

    /// Creates targets in which every column has a weight for every score.
    pub fn all(columns: usize, labels: usize, stride: usize, height: usize) -> Self {
        Self { columns, labels, stride, height, observed: None }
    }

    /// Creates targets in which a column has weights only for the scores of the labels that it
    /// occurs with; `positions(token)` are the positions of their scores.
    pub fn observed<'p>(
        columns: usize,
        labels: usize,
        stride: usize,
        height: usize,
        rows: &SparseRows,
        positions: impl Fn(usize) -> &'p [u32],
    ) -> Self {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut compacted = 0;
        for token in 0..rows.len() {
            for &position in positions(token) {
                pairs.extend(rows.row(token).0.iter().map(|&column| (column, position)));
            }
            // Frequent columns repeat their pairs: deduplicate before they fill memory.
            if pairs.len() > 2 * compacted + (1 << 20) {
                pairs.par_sort_unstable();
                pairs.dedup();
                compacted = pairs.len();
            }
        }
        let observed = Some(Observed::new(columns, pairs));
        Self { columns, labels, stride, height, observed }
    }

    /// Adds weights for more pairs of a column and the position of a score.
    #[must_use]
    pub fn including(mut self, mut pairs: Vec<(u32, u32)>) -> Self {
        if let Some(observed) = self.observed.take_if(|_| !pairs.is_empty()) {
            for column in 0..self.columns {
                let positions = &observed.positions[observed.range(column)];
                pairs.extend(positions.iter().map(|&position| (column as u32, position)));
            }
            self.observed = Some(Observed::new(self.columns, pairs));
        }
        self
    }

    /// Returns the index of the weight of a column for the score at `position`, if it has one.
    pub fn index(&self, column: usize, position: u32) -> Option<usize> {
        let range = self.range(column);
        match &self.observed {
            Some(observed) => {
                let found = observed.positions[range.clone()].binary_search(&position);
                found.ok().map(|i| range.start + i)
            }
            None => {
                let position = position as usize;
                let (line, label) = (position / self.stride, position % self.stride);
                Some(range.start + line * self.labels + label)
            }
        }
    }

    /// Keeps the weights whose index is `kept`.
    #[must_use]
    pub(super) fn retain(mut self, kept: impl Fn(usize) -> bool) -> Self {
        let mut pairs = Vec::new();
        for column in 0..self.columns {
            self.for_each(column, |position, index| {
                if kept(index) {
                    pairs.push((column as u32, position as u32));
                }
            });
        }
        self.observed = Some(Observed::new(self.columns, pairs));
        self
    }

    /// Creates targets of one column, with weights for the scores at `positions`.
    pub(super) fn single(labels: usize, stride: usize, height: usize, positions: Vec<u32>) -> Self {
        let observed = Some(Observed { ends: vec![positions.len() as u64], positions });
        Self { columns: 1, labels, stride, height, observed }
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the total number of weights of all columns.
    pub fn weights(&self) -> usize {
        match &self.observed {
            Some(observed) => observed.positions.len(),
            None => self.columns * self.labels * self.height,
        }
    }

    /// Returns the length of a token's row of scores.
    pub fn width(&self) -> usize {
        self.stride * self.height
    }

    /// Returns the range of weight indices of a column.
    #[inline]
    pub fn range(&self, column: usize) -> Range<usize> {
        match &self.observed {
            Some(observed) => observed.range(column),
            None => {
                let n = self.labels * self.height;
                column * n..(column + 1) * n
            }
        }
    }

    /// Divides the columns into parts of `size`, each with its slice of a number per weight.
    pub(crate) fn parts<'n>(
        &self,
        size: usize,
        numbers: &'n mut [f64],
    ) -> impl Iterator<Item = (Range<usize>, &'n mut [f64])> {
        let ends = (size..self.columns + size).step_by(size);
        let parts = ends.map(move |end| end - size..end.min(self.columns));
        let owned = |part: Range<usize>| self.range(part.start).start..self.range(part.end - 1).end;
        parts.clone().zip(split_by_owner(parts.map(owned), numbers))
    }

    /// Calls `visit(position, index)` for each weight of a column, with the position of its score
    /// in a token's row and the index of the weight.
    pub fn for_each(&self, column: usize, mut visit: impl FnMut(usize, usize)) {
        let range = self.range(column);
        match &self.observed {
            Some(observed) => {
                for i in range {
                    visit(observed.positions[i] as usize, i);
                }
            }
            None => {
                for line in 0..self.height {
                    for label in 0..self.labels {
                        let index = range.start + line * self.labels + label;
                        visit(line * self.stride + label, index);
                    }
                }
            }
        }
    }

    /// Returns the weights of a column whose scores are among the labels `at..at + length` of a
    /// line, with `B·L` = `length`, given `weights` from its first on. Where it has none, they are
    /// arbitrary.
    #[inline(always)]
    pub(super) fn load<const L: usize, const B: usize>(
        &self,
        column: usize,
        [line, at, length]: [usize; 3],
        weights: &[f64],
    ) -> [[f64; L]; B] {
        let Some(observed) = &self.observed else {
            let weights = &weights[line * self.labels + at..];
            return match weights.as_chunks::<L>().0.as_chunks::<B>().0.first() {
                Some(row) => *row,
                None => last_row(weights, 0),
            };
        };
        let mut row = [[0.0; L]; B];
        let first = line * self.stride + at;
        observed.for_block(column, first..first + length, |i, w| {
            row[i / L][i % L] = weights[w];
        });
        row
    }

    /// Adds terms of the same weights to `sums` from the first of the column on, in any order
    /// ([`crate::exact_sum`]).
    #[inline(always)]
    pub(super) fn add_untied<const L: usize, const B: usize>(
        &self,
        column: usize,
        [line, at, length]: [usize; 3],
        terms: &[[f64; L]; B],
        sums: &mut [f64],
    ) {
        let Some(observed) = &self.observed else {
            let sums = &mut sums[line * self.labels + at..];
            let labels = self.labels - at;
            match sums.get_mut(..B * L).filter(|_| B * L <= FEW_SCORES) {
                // What follows belongs to the next column, and stays.
                Some(sums) => {
                    let rows = blocks_mut::<L>(sums).iter_mut();
                    for (i, (sums, terms)) in rows.zip(terms).enumerate() {
                        *sums = lanewise(|j| {
                            let sum = sums[j] + untied(terms[j]);
                            select(i * L + j < labels, sum, sums[j])
                        });
                    }
                }
                None => {
                    let terms = terms.as_flattened().iter().take(labels);
                    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += untied(*term));
                }
            }
            return;
        };
        let first = line * self.stride + at;
        observed.for_block(column, first..first + length, |i, w| {
            sums[w] += untied(terms[i / L][i % L]);
        });
    }

    /// Prefetches the end of the weights of a column.
    #[inline(always)]
    pub(super) fn prefetch_range(&self, column: usize) {
        if let Some(observed) = &self.observed {
            simd::prefetch(&observed.ends, column);
        }
    }

    /// Prefetches the positions of weights.
    #[inline(always)]
    pub(super) fn prefetch_positions(&self, weight: usize) {
        if let Some(observed) = &self.observed {
            simd::prefetch(&observed.positions, weight);
        }
    }

    /// Returns whether columns have weights for some scores only.
    pub fn is_observed(&self) -> bool {
        self.observed.is_some()
    }

    /// Returns how the entries of a column are stored.
    pub fn form(&self, column: usize) -> ColumnForm {
        let Some(observed) = &self.observed else { return ColumnForm::Dense };
        let weights = observed.range(column).len();
        if weights * DENSE >= self.width() || observed.positions.len() > MOST_SPARSE {
            ColumnForm::Dense
        } else if weights > LISTED {
            ColumnForm::Listed
        } else {
            ColumnForm::Sparse
        }
    }

    /// Returns whether a column has so many weights that whole rows are faster.
    pub fn is_dense(&self, column: usize) -> bool {
        self.form(column) == ColumnForm::Dense
    }

    /// Returns the positions of the scores that the weights of a column add to, ascending, unless
    /// the column has a weight for every score.
    #[inline(always)]
    pub fn positions(&self, weights: Range<usize>) -> &[u32] {
        let observed = self.observed.as_ref();
        observed.map_or(&[], |observed| &observed.positions[weights])
    }

    /// Returns the memory usage in bytes, excluding the weights.
    pub fn memory(&self) -> usize {
        self.observed.as_ref().map_or(0, |o| 8 * o.ends.capacity() + 4 * o.positions.capacity())
    }
}

/// Returns the last weights of a table, from `at` on, as a row that is padded with zeros.
#[cold]
#[inline(never)]
pub(super) fn last_row<const L: usize, const B: usize>(table: &[f64], at: usize) -> [[f64; L]; B] {
    let weights = table.get(at..).unwrap_or_default();
    let mut row = [[0.0; L]; B];
    row.as_flattened_mut()[..weights.len()].copy_from_slice(weights);
    row
}

/// Returns `x` or else `y`, by masks: of branches the compiler makes one for each lane.
#[inline(always)]
fn select(is_x: bool, x: f64, y: f64) -> f64 {
    let mask = u64::from(is_x).wrapping_neg();
    f64::from_bits((x.to_bits() & mask) | (y.to_bits() & !mask))
}

impl Observed {
    /// Calls `visit(i, index)` for the weights of a column whose scores are at `cells`, the i-th of
    /// these; `index` is relative to the column's first weight.
    #[inline(always)]
    fn for_block(&self, column: usize, cells: Range<usize>, mut visit: impl FnMut(usize, usize)) {
        for (index, &position) in self.positions[self.range(column)].iter().enumerate() {
            let position = position as usize;
            if cells.contains(&position) {
                visit(position - cells.start, index);
            }
        }
    }

    /// Lists the positions of each column, without duplicates.
    fn new(columns: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.par_sort_unstable();
        pairs.dedup();
        let mut ends = vec![0u64; columns];
        for &(column, _) in &pairs {
            ends[column as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let positions = pairs.into_iter().map(|(_, position)| position).collect();
        Self { ends, positions }
    }

    #[inline]
    fn range(&self, column: usize) -> Range<usize> {
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        start as usize..self.ends[column] as usize
    }
}

/// The weights of one design matrix: node attributes or edge attributes.
///
/// A column of the matrix is a class of m attributes with identical columns (see
/// [`Classes`](crate::data::Classes)); they share one parameter φ = √m·θ, which contributes √m·φ
/// to a score.
#[derive(Clone, Debug)]
pub struct FeatureBlock {
    /// The scores that each column has weights for.
    pub targets: Targets,
    /// √m of each column, `[columns]`.
    pub scale: Vec<f64>,
    /// The position of the weights in θ.
    pub range: Range<usize>,
}

impl FeatureBlock {
    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.targets.columns()
    }

    /// Returns whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns() == 0
    }

    /// Returns the length of a token's row of scores: S for nodes, K·S for edges.
    pub fn width(&self) -> usize {
        self.targets.width()
    }

    /// Returns the length of a token's row of scores, or 0 if the block has no columns.
    pub fn used_width(&self) -> usize {
        if self.is_empty() { 0 } else { self.width() }
    }

    /// Returns the slice of this block in an array over all parameters.
    pub fn weights<'a, T>(&self, theta: &'a [T]) -> &'a [T] {
        &theta[self.range.clone()]
    }

    /// Like [`weights`](Self::weights), but mutable.
    pub fn weights_mut<'a, T>(&self, gradient: &'a mut [T]) -> &'a mut [T] {
        &mut gradient[self.range.clone()]
    }
}
