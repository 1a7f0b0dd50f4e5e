//! The rows of a sentence in the design matrices X, and their products with the weights W: the
//! scores S = X·W, the variances V = ρ·X∘²·W∘²/m of scores under noise, and both transposed.
//!
//! The inner loops are compiled for several instruction sets.

use std::ops::Range;

use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::objective::BlockArrays;
use dropchain::kernel::score::Targets;
use dropchain::kernel::simd::{self, Kernel};

use crate::problem::Problem;

/// ρ/m of each column of node and of edge attributes.
pub(crate) type ColumnRates = [Vec<f64>; 2];

/// A sentence, and its rows in the matrices of nodes and edges.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'a> {
    pub problem: &'a Problem<'a>,
    pub sentence: usize,
    pub matrices: [&'a SparseRows; 2],
    pub tokens: Range<usize>,
}

/// The rows of a sentence in one matrix.
struct BlockRows<'a> {
    matrix: &'a SparseRows,
    targets: &'a Targets,
    tokens: Range<usize>,
    lengths: [usize; 2], // of a line of weights and of scores: K and S
}

impl<'a> Rows<'a> {
    /// Returns the rows of a sentence.
    pub fn new(problem: &'a Problem<'a>, sentence: usize) -> Self {
        let Problem { data, .. } = problem;
        let matrices = [&*data.nodes, &*data.edges];
        Self { problem, sentence, matrices, tokens: data.sentence(sentence) }
    }

    /// Computes the scores, without those of transitions and boundaries.
    pub fn score(&self, weights: &[f64], scores: &mut BlockArrays) {
        self.multiply::<false>(weights, &Default::default(), scores);
    }

    /// Computes the variances of the scores, without those of transitions and boundaries.
    pub fn variances(&self, weights: &[f64], rates: &ColumnRates, variances: &mut BlockArrays) {
        self.multiply::<true>(weights, rates, variances);
    }

    fn multiply<const SQUARED: bool>(
        &self,
        weights: &[f64],
        rates: &ColumnRates,
        scores: &mut BlockArrays,
    ) {
        scores.reset(self.tokens.len(), self.problem.space);
        for (i, scores) in [&mut scores.nodes, &mut scores.edges].into_iter().enumerate() {
            let weights = self.problem.space.blocks()[i].weights(weights);
            let rows = self.of_block(i);
            simd::dispatch(Product::<SQUARED> { rows, weights, rates: &rates[i], scores });
        }
    }

    /// Adds the derivatives with respect to weights, times `factor`, to `weights`, given those with
    /// respect to scores. A class of m attributes gets those of all members.
    pub fn add_gradient(&self, derivatives: &BlockArrays, factor: f64, weights: &mut [f64]) {
        let members = [0, 1].map(|i| &self.problem.members[self.problem.first_group(i)..]);
        self.gather::<false>(derivatives, factor, members, weights);
    }

    /// Adds the derivatives with respect to squared weights to `sums`, given those with respect to
    /// variances.
    pub fn add_square_gradient(
        &self,
        derivatives: &BlockArrays,
        rates: &ColumnRates,
        sums: &mut [f64],
    ) {
        self.gather::<true>(derivatives, 1.0, rates.each_ref().map(Vec::as_slice), sums);
    }

    fn gather<const SQUARED: bool>(
        &self,
        derivatives: &BlockArrays,
        factor: f64,
        rates: [&[f64]; 2],
        sums: &mut [f64],
    ) {
        for (i, derivatives) in [&derivatives.nodes, &derivatives.edges].into_iter().enumerate() {
            let sums = self.problem.space.blocks()[i].weights_mut(sums);
            let (rows, rates) = (self.of_block(i), rates[i]);
            simd::dispatch(Transpose::<SQUARED> { rows, derivatives, factor, rates, sums });
        }
    }

    /// Returns the rows of nodes (0) or edges (1); none if there are no such attributes.
    fn of_block(&self, i: usize) -> BlockRows<'a> {
        let (space, block) = (self.problem.space, self.problem.space.blocks()[i]);
        BlockRows {
            matrix: self.matrices[i],
            targets: &block.targets,
            tokens: if block.is_empty() { 0..0 } else { self.tokens.clone() },
            lengths: [space.labels(), space.stride()],
        }
    }
}

/// The kernel of S += X·W or, if `SQUARED`, of V += ρ/m·X∘²·W∘².
struct Product<'a, const SQUARED: bool> {
    rows: BlockRows<'a>,
    weights: &'a [f64],
    rates: &'a [f64],
    scores: &'a mut [f64],
}

impl<const SQUARED: bool> Kernel for Product<'_, SQUARED> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        let Self { rows, weights, rates, scores } = self;
        let [labels, stride] = rows.lengths;
        let scores = scores.chunks_exact_mut(rows.targets.width());
        for (token, scores) in rows.tokens.clone().zip(scores) {
            let (columns, values) = rows.matrix.row(token);
            for (i, &column) in columns.iter().enumerate() {
                let range = rows.targets.range(column as usize);
                let (weights, positions) = (&weights[range.clone()], rows.targets.positions(range));
                let x = entry::<SQUARED>(values, i);
                let factor = if SQUARED { x * rates[column as usize] } else { x };
                let term = |w: f64| factor * if SQUARED { w * w } else { w };
                if positions.is_empty() {
                    let lines = scores.chunks_exact_mut(stride).zip(weights.chunks_exact(labels));
                    for (scores, weights) in lines {
                        scores.iter_mut().zip(weights).for_each(|(sum, &w)| *sum += term(w));
                    }
                }
                for (&w, &position) in weights.iter().zip(positions) {
                    scores[position as usize] += term(w);
                }
            }
        }
    }
}

/// The kernel of G += a·m·Xᵀ·∂S or, if `SQUARED`, of G += a·ρ/m·X∘²ᵀ·∂V.
struct Transpose<'a, const SQUARED: bool> {
    rows: BlockRows<'a>,
    derivatives: &'a [f64],
    factor: f64,      // a
    rates: &'a [f64], // of each column: m or ρ/m
    sums: &'a mut [f64],
}

impl<const SQUARED: bool> Kernel for Transpose<'_, SQUARED> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        let Self { rows, derivatives, factor, rates, sums } = self;
        let [labels, stride] = rows.lengths;
        let derivatives = derivatives.chunks_exact(rows.targets.width());
        for (token, derivatives) in rows.tokens.clone().zip(derivatives) {
            let (columns, values) = rows.matrix.row(token);
            for (i, &column) in columns.iter().enumerate() {
                let range = rows.targets.range(column as usize);
                let (sums, positions) = (&mut sums[range.clone()], rows.targets.positions(range));
                let factor = factor * rates[column as usize] * entry::<SQUARED>(values, i);
                if positions.is_empty() {
                    let lines = sums.chunks_exact_mut(labels).zip(derivatives.chunks_exact(stride));
                    for (sums, derivatives) in lines {
                        sums.iter_mut().zip(derivatives).for_each(|(sum, d)| *sum += factor * d);
                    }
                }
                for (sum, &position) in sums.iter_mut().zip(positions) {
                    *sum += factor * derivatives[position as usize];
                }
            }
        }
    }
}

/// Returns the value x of the `i`-th entry of a row or, if `SQUARED`, x².
#[inline(always)]
fn entry<const SQUARED: bool>(values: Option<&[f64]>, i: usize) -> f64 {
    let x = values.map_or(1.0, |values| values[i]);
    if SQUARED { x * x } else { x }
}
