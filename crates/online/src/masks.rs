//! Real dropout of attributes.
//!
//! With every update of a sentence, each of its attributes at each token is dropped at rate δ, for
//! all labels at once, and otherwise scaled by 1/(1 − δ). So are the transition into a token, with
//! the rate of edges, and the two boundaries. A mask is a function of seed, epoch, sentence, kind,
//! token and column: SplitMix64 with counters ([`random`]).

use dropchain::kernel::aligned::Aligned;
use dropchain::kernel::chain::{LabelWeights, Order};
use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::objective::LabelSums;
use dropchain::kernel::random;

use crate::problem::Problem;
use crate::rows::Rows;

/// Dropout of attributes.
#[derive(Clone, Debug)]
pub(crate) struct Dropout {
    /// δ of node attributes, and of edge attributes, transitions and boundaries.
    pub rates: [f64; 2],
    pub seed: u64,
}

/// A sentence after dropout.
#[derive(Debug)]
pub(crate) struct DroppedSentence {
    matrices: [SparseRows; 2],
    /// The factor of the transition into each token, `[T]`.
    pub transitions: Vec<f64>,
    boundaries: [f64; 2], // factors of start and end
}

impl Dropout {
    /// Draws the masks of a sentence in an epoch.
    pub fn draw(&self, rows: &Rows<'_>, epoch: u64) -> DroppedSentence {
        let Rows { problem, sentence, matrices, tokens } = rows;
        let key = random::nth(random::nth(self.seed, epoch), *sentence as u64);
        let attributes = |i: usize| {
            let (key, first) = (random::nth(key, i as u64), problem.first_group(i));
            let mut dropped = SparseRows::default();
            let is_empty = problem.space.blocks()[i].is_empty();
            let tokens = if is_empty { 0..0 } else { tokens.clone() };
            for (t, token) in tokens.enumerate() {
                let entries = matrices[i].entries(token).map(|(column, x)| {
                    let members = problem.members[first + column as usize] as u64;
                    let place = [t as u64, u64::from(column)];
                    (column, x * factor(key, self.rates[i], place, members))
                });
                dropped.push_row(&mut entries.collect());
            }
            dropped
        };
        let label = |kind: u64, place| factor(random::nth(key, kind), self.rates[1], place, 1);
        DroppedSentence {
            matrices: [attributes(0), attributes(1)],
            transitions: (0..tokens.len() as u64).map(|t| label(4, [t, 0])).collect(),
            boundaries: [label(5, [0, 0]), label(5, [1, 0])],
        }
    }
}

/// Returns the factor of an occurrence: k/(m(1 − δ)) if k of its m members survive, which are
/// dropped independently.
fn factor(key: u64, rate: f64, [token, column]: [u64; 2], members: u64) -> f64 {
    if rate == 0.0 {
        return 1.0;
    }
    let key = random::nth(key, (token << 32) | column);
    // A uniform number in (0, 1] is above the rate with probability 1 − δ.
    let survivors = (0..members).filter(|&n| random::uniform(key, n) > rate);
    survivors.count() as f64 / (members as f64 * (1.0 - rate))
}

impl DroppedSentence {
    /// Returns the rows of the sentence, which is `whole` without dropout.
    pub fn rows<'a>(&'a self, whole: &Rows<'a>) -> Rows<'a> {
        Rows { matrices: self.matrices.each_ref(), tokens: 0..self.transitions.len(), ..*whole }
    }

    /// Moves the transitions to the edge scores, since those into each token have a factor of their
    /// own, and multiplies boundary weights by theirs.
    pub fn mask_labels(
        &self,
        problem: &Problem<'_>,
        weights: &mut LabelWeights,
        edges: &mut Aligned,
    ) {
        let (labels, stride) = (problem.space.labels(), problem.space.stride());
        if problem.space.order() == Order::One {
            edges.resize(self.transitions.len() * labels * stride);
            let matrices = edges.chunks_exact_mut(labels * stride).zip(&self.transitions);
            for (matrix, &factor) in matrices.skip(1) {
                let rows = matrix.chunks_exact_mut(stride);
                for (row, weights) in rows.zip(weights.transitions.chunks_exact(labels)) {
                    row.iter_mut().zip(weights).for_each(|(x, w)| *x += factor * w);
                }
            }
        }
        weights.transitions.fill(0.0);
        let boundaries = [&mut weights.start, &mut weights.end].into_iter().zip(self.boundaries);
        boundaries.for_each(|(weights, factor)| weights.iter_mut().for_each(|w| *w *= factor));
    }

    /// Makes the derivatives with respect to label scores those with respect to the weights without
    /// masks, given the derivatives with respect to edge scores.
    pub fn unmask_labels(&self, edges: &[f64], sums: &mut LabelSums) {
        let boundaries = [&mut sums.first, &mut sums.last].into_iter().zip(self.boundaries);
        boundaries.for_each(|(sums, factor)| sums.iter_mut().for_each(|x| *x *= factor));
        sums.pairs.fill(0.0);
        let matrices = edges.chunks_exact(sums.pairs.len()).zip(&self.transitions);
        for (matrix, &factor) in matrices.skip(1) {
            sums.pairs.iter_mut().zip(matrix).for_each(|(sum, x)| *sum += factor * x);
        }
    }
}
