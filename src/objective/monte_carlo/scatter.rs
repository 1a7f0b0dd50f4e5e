//! The transpose product with masked features.
//!
//! Every entry of X has its own masks, so rows cannot be summed as a whole, as
//! [`TransposeProduct`](crate::score::TransposeProduct) does.

use std::ops::Range;

use rayon::prelude::*;

use crate::extract::SparseRows;
use crate::score::{ColumnBlock, FeatureBlock, TASK_ENTRIES, sorted_entries, split_by_owner};

/// The transpose of one block of tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct MaskedTranspose {
    columns: ColumnBlock,
    tasks: Vec<Range<usize>>, // of `columns`, about TASK_ENTRIES entries each
}

impl MaskedTranspose {
    /// Transposes the rows `tokens` of `matrix`.
    pub fn new(matrix: &SparseRows, tokens: Range<usize>) -> Self {
        let mut columns = ColumnBlock::for_entries_of(matrix);
        let entries = sorted_entries(matrix, tokens);
        for column in entries.chunk_by(|x, y| x.column == y.column) {
            columns.push(column);
        }
        columns.shrink_to_fit();
        let mut tasks = Vec::new();
        let (mut first, mut work) = (0, 0);
        for i in 0..columns.len() {
            work += columns.entries(i).len();
            if work >= TASK_ENTRIES || i + 1 == columns.len() {
                tasks.push(first..i + 1);
                (first, work) = (i + 1, 0);
            }
        }
        Self { columns, tasks }
    }

    /// Adds X̃ᵀ·D to the gradient with respect to θ, given the derivatives D with respect to
    /// scores, `[tokens][width]`. `fill(token, column, factors)` computes the masks of an entry's
    /// weights.
    pub fn add_gradient(
        &self,
        block: &FeatureBlock,
        derivatives: &[f64],
        fill: impl Fn(usize, usize, &mut [f64]) + Sync,
        gradient: &mut [f64],
    ) {
        let (columns, targets, width) = (&self.columns, &block.targets, block.width());
        let weights = |i: usize| targets.range(columns.column(i));
        // Columns ascend and weights are in column order, so each task owns a slice of the
        // gradient.
        let owners = self.tasks.iter();
        let owners = owners.map(|task| weights(task.start).start..weights(task.end - 1).end);
        let slices = split_by_owner(owners, block.weights_mut(gradient));
        let work: Vec<_> = self.tasks.iter().zip(slices).collect();
        work.into_par_iter().for_each(|(task, slice)| {
            let [mut factors, mut products] = [Vec::new(), Vec::new()];
            let first = weights(task.start).start;
            for i in task.clone() {
                let column = columns.column(i);
                let range = weights(i);
                let gradient = &mut slice[range.start - first..range.end - first];
                for entry in columns.entries(i) {
                    let token = columns.token(entry);
                    factors.resize(gradient.len(), 0.0);
                    fill(token, column, &mut factors);
                    products.clear();
                    products.resize(gradient.len(), 0.0);
                    let c = block.scale[column] * columns.value(entry);
                    let score_derivatives = &derivatives[token * width..][..width];
                    targets.add_derivatives(column, c, score_derivatives, &mut products);
                    for ((g, factor), x) in gradient.iter_mut().zip(&factors).zip(&products) {
                        *g += *factor * *x;
                    }
                }
            }
        });
    }
}
