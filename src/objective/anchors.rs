//! Where the sums over sentences start, so that their bits do not depend on how the sentences are
//! divided among processes ([`crate::exact_sum`]).
//!
//! That needs a bound on each sum. If no derivative with respect to a score or a variance exceeds
//! a limit D, the derivative with respect to the weight φ of a class of m attributes with the
//! values x is at most
//!
//! ```text
//! √m·Σ|x|·D + 2ρ·|φ|·Σx²·D
//! ```
//!
//! If labels share the masks of node attributes, the derivative of the noise term is
//! λ·ρ·Σ x²·p·(φ − u), where λ is the factor of a sentence and u is a mean of the weights of the
//! column. With ½λ ≤ D it is at most
//!
//! ```text
//! 2ρ·(|φ| + max |φ|)·Σx²·D
//! ```
//!
//! The likelihood has D = w, the largest weight of a sentence, since marginals are at most 1. The
//! noise term has no such limit: one is tried after another ([`LIMITS`]), and the evaluation is
//! repeated if a derivative exceeds it. That depends on θ alone, so results do, too. In training
//! the largest derivatives are around 1, so the first limit suffices; steps that the line search
//! rejects may need more.

use rayon::prelude::*;

use super::totals::Totals;
use crate::exact_sum::anchor;
use crate::math::largest_magnitude;
use crate::score::{ColumnRates, FeatureBlock, ParameterSpace, split_by_owner};

/// The limits on derivatives under noise, relative to the largest weight of a sentence. Each factor
/// of 2 costs the sums a bit.
pub(super) const LIMITS: [f64; 3] = [8.0, (1u64 << 32) as f64, (1u128 << 96) as f64];

/// Weights per task.
const TASK_WEIGHTS: usize = 1 << 14;

/// The first and the last of the columns that are a unit of work.
pub(super) type Task = [usize; 2];

/// The anchors of the sums of one evaluation.
#[derive(Clone, Copy)]
pub(super) struct Anchors<'a> {
    pub space: &'a ParameterSpace,
    pub totals: &'a Totals,
    /// No derivative with respect to a score or a variance exceeds it.
    pub limit: f64,
    /// Of node and of edge attributes.
    pub tasks: &'a [Vec<Task>; 2],
    /// Under noise proportional to the values: what 2ρ·∂R/∂V is multiplied by.
    pub variances: Option<VarianceFactors<'a>>,
}

/// What the derivatives with respect to variances are multiplied by.
#[derive(Clone, Copy)]
pub(super) struct VarianceFactors<'a> {
    /// `[n]`.
    pub factors: &'a [f64],
    /// ρ of node and of edge attributes.
    pub rates: [f64; 2],
    /// ρ of single attributes, where they differ.
    pub column_rates: &'a [Option<ColumnRates>; 2],
    /// Whether labels share the masks of node attributes.
    pub is_shared: bool,
}

impl Anchors<'_> {
    /// Returns the anchor of sums of the derivatives with respect to the score of a label pair, of
    /// a first or of a last label, or their variances.
    pub fn of_labels(&self) -> f64 {
        anchor(self.totals.tokens * self.limit)
    }

    /// Overwrites the gradient with the anchors of attribute weights, and 0 for others.
    pub fn start(&self, gradient: &mut [f64]) {
        gradient[self.space.edges.range.end..].fill(0.0);
        self.for_each(gradient, |sum, anchor| *sum = anchor);
    }

    /// Subtracts the anchors.
    pub fn finish(&self, gradient: &mut [f64]) {
        self.for_each(gradient, |sum, anchor| *sum -= anchor);
    }

    /// Calls `visit(entry of the gradient, anchor)` for all attribute weights.
    fn for_each(&self, gradient: &mut [f64], visit: impl Fn(&mut f64, f64) + Sync) {
        for (kind, block) in self.space.blocks().into_iter().enumerate() {
            let tasks = &self.tasks[kind];
            let weights = |columns: &Task| {
                let [first, last] = columns.map(|column| block.targets.range(column));
                first.start..last.end
            };
            let owners = tasks.iter().map(weights);
            let slices = split_by_owner(owners, block.weights_mut(gradient));
            tasks.par_iter().zip(slices).for_each(|(task, mut rest)| {
                for column in task[0]..=task[1] {
                    let weights = block.targets.range(column);
                    let (sums, after) = rest.split_at_mut(weights.len());
                    rest = after;
                    let totals = &self.totals.columns[kind];
                    let bound = block.scale[column] * totals.magnitudes[column] * self.limit;
                    let Some(variances) = &self.variances else {
                        let anchor = anchor(bound);
                        sums.iter_mut().for_each(|sum| visit(sum, anchor));
                        continue;
                    };
                    let own = variances.column_rates[kind].as_ref();
                    let rate = own.map_or(variances.rates[kind], |own| own.column(column));
                    let slope = 2.0 * rate * totals.square_magnitudes[column] * self.limit;
                    let factors = &block.weights(variances.factors)[weights];
                    let mean = match variances.is_shared && kind == 0 {
                        true => largest_magnitude(factors),
                        false => 0.0,
                    };
                    for (sum, factor) in sums.iter_mut().zip(factors) {
                        visit(sum, anchor(bound + slope * (factor.abs() + mean)));
                    }
                }
            });
        }
    }
}

/// Divides the columns of a block into tasks.
pub(super) fn tasks(block: &FeatureBlock) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut end = 0; // of the weights of the task
    for column in 0..block.columns() {
        let weights = block.targets.range(column);
        match tasks.last_mut() {
            Some(task) if weights.end <= end => task[1] = column,
            _ => {
                tasks.push([column; 2]);
                end = weights.start + TASK_WEIGHTS;
            }
        }
    }
    tasks
}
