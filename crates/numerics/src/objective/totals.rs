//! What the objective has to know of all sentences, wherever each is evaluated.
//!
//! # Anchors
//!
//! Where the sums over sentences start, so that their bits do not depend on how the sentences are
//! divided among processes ([`crate::exact_sum`]).
//!
//! This needs a bound on each sum. If no derivative with respect to a score or a variance exceeds
//! a limit D, the derivative with respect to the weight φ of a class of m attributes with the
//! values x is at most
//!
//! ```text
//! √m·Σ|x|·D + 2ρ·|φ|·Σx²·D
//! ```
//!
//! The likelihood has D = w, the largest weight of a sentence, since marginals are at most 1. The
//! noise term has no such limit: one is tried after another ([`LIMITS`]), and the evaluation
//! begins again as soon as a derivative exceeds it. That depends on θ alone, so results do, too. In
//! training the largest derivatives are around 1, so the first limit suffices; steps that the line
//! search rejects, and weights that were trained without noise, may need more.
//!
//! # The diagonal preconditioner of L-BFGS, from an estimate of the curvature
//!
//! The Hessian of the likelihood has Σ x²·p(1−p) + 2·c2 on its diagonal, a sum over the tokens of
//! an attribute. Attribute counts range from 1 to the size of the corpus, and so do the curvatures;
//! an optimizer that scales all parameters alike needs hundreds of iterations for the weights of
//! rare attributes. Since p(1−p) is unknown, h = κ·Σ x² + 2·c2 estimates the diagonal.
//!
//! The optimizer uses 1/√h. The full 1/h is right at the start but wrong later, when frequent
//! attributes are certain of their labels (p(1−p) → 0) and rare ones are not; the root is the
//! geometric mean of 1/h and no preconditioning. (docs/decisions, 16)

use std::collections::BTreeMap;
use std::sync::Arc;

use super::penalty::Penalty;
use crate::chain::Transitions;
use crate::data::{Dataset, SparseRows, Target};
use crate::exact_sum::{FixedPointSum, anchor, untied};
use crate::parallel;
use crate::score::{FeatureBlock, ParameterSpace, split_by_owner};

/// The estimate κ of p(1−p).
const KAPPA: f64 = 0.1;

/// Counts over all sentences. All of them have the same bits for any number of ranks.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// The total weights of labeled and of unlabeled sentences.
    pub weights: [f64; 2],
    /// The largest weight of a sentence.
    pub largest_weight: f64,
    pub tokens: f64,
    /// Tokens, each with the weight of its sentence.
    pub weighted_tokens: f64,
    /// Totals of the columns of node and of edge attributes.
    pub columns: [ColumnTotals; 2],
    /// The columns of node and of edge attributes, divided into tasks.
    tasks: [Vec<Task>; 2],
    /// Pairs of adjacent gold labels, each with the weight of its sentence. Sentences in which some
    /// token has no single label are left out.
    label_pairs: BTreeMap<(u32, u32), FixedPointSum>,
}

/// Sums over the entries x of each column, `[columns]`, or bounds on them.
#[derive(Clone, Debug)]
pub(crate) struct ColumnTotals {
    /// Σ w·x², where w is the weight of the sentence. A class of m attributes counts once.
    pub squares: Arc<[f64]>,
    /// At least Σ max(1, |x|): the number of entries times the largest of them.
    pub magnitudes: Arc<[f64]>,
    /// At least Σ max(1, x²), likewise.
    pub square_magnitudes: Arc<[f64]>,
}

impl Totals {
    /// Counts all sentences.
    pub fn new(data: &Dataset, space: &ParameterSpace) -> Self {
        let mut weights = [FixedPointSum::default(); 2];
        let [mut tokens, mut weighted_tokens] = [FixedPointSum::default(); 2];
        let mut largest_weight: f64 = 0.0;
        let mut label_pairs: BTreeMap<(u32, u32), FixedPointSum> = BTreeMap::new();
        let labeled = data.labeled();
        for i in 0..data.len() {
            let (weight, length) = (data.weight(i), data.sentence(i).len() as f64);
            weights[usize::from(i >= labeled)].add(weight);
            tokens.add(length);
            weighted_tokens.add(weight * length);
            largest_weight = largest_weight.max(weight);
            if let Target::Gold(labels) = data.target(i) {
                for pair in labels.windows(2) {
                    let pair = (pair[0].index() as u32, pair[1].index() as u32);
                    label_pairs.entry(pair).or_default().add(weight);
                }
            }
        }
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        let columns = matrices.map(|(matrix, block)| {
            ColumnTotals::new(data, matrix, block.columns(), largest_weight)
        });
        Self {
            weights: weights.map(|sum| sum.value()),
            largest_weight,
            tokens: tokens.value(),
            weighted_tokens: weighted_tokens.value(),
            columns,
            tasks: space.blocks().map(tasks),
            label_pairs,
        }
    }

    /// Turns expected counts of label pairs, in the shape of [`Transitions::pair_scores`], into
    /// derivatives of the likelihood. Pairs without a weight are left out.
    pub fn subtract_observed(&self, transitions: &Transitions, counts: &mut [f64]) {
        for (&(first, second), count) in &self.label_pairs {
            if let Some(index) = transitions.pair_index(first as usize, second as usize) {
                counts[index] -= count.value();
            }
        }
    }

    /// Returns the estimates 1/√h of all parameters, `[space.dimension()]`. Time O(parameters).
    pub fn inverse_curvature(&self, space: &ParameterSpace, penalty: &Penalty) -> Vec<f32> {
        // Extreme attribute values leave the range of f32.
        let estimate = |count: f64, l2: f64| {
            (1.0 / (KAPPA * count + 2.0 * l2).sqrt()).clamp(1e-30, 1e30) as f32
        };
        let pairs = (self.weighted_tokens / space.labels() as f64).max(1.0);
        // Transitions and boundary weights; attributes are overwritten below.
        let first = space.edges.range.end;
        let mut estimates = vec![1.0; first];
        let labels = first..space.dimension();
        estimates.extend(labels.map(|_| estimate(pairs, penalty.strength)));
        // A pair is that much rarer than a label.
        let label_pair_share = 1.0 / space.labels() as f64;
        let [nodes, edges] = &self.columns;
        for (columns, block, share) in
            [(nodes, &space.nodes, 1.0), (edges, &space.edges, label_pair_share)]
        {
            let estimates = block.weights_mut(&mut estimates);
            for (column, &square) in columns.squares.iter().enumerate() {
                // Attributes of unlabeled text alone may have no count here.
                let count = (share * square).max(share);
                let range = block.targets.range(column);
                estimates[range].fill(estimate(count, penalty.strength));
            }
        }
        estimates
    }
}

impl ColumnTotals {
    /// Counts the entries of each column of a matrix.
    fn new(data: &Dataset, matrix: &SparseRows, columns: usize, largest_weight: f64) -> Self {
        let mut counts = vec![0.0; columns];
        // max(1, |x|), unless all are 1.
        let mut largest = matrix.values.is_some().then(|| vec![1.0_f64; columns]);
        for (column, x) in (0..data.len()).flat_map(|i| entries(data, matrix, i)) {
            counts[column as usize] += 1.0;
            if let Some(largest) = &mut largest {
                let largest = &mut largest[column as usize];
                *largest = largest.max(x.abs());
            }
        }
        let largest_of = |column| largest.as_ref().map_or(1.0, |largest| largest[column]);
        let squares = (data.weights.is_some() || largest.is_some()).then(|| {
            // With bits that do not depend on the order of the entries.
            let anchors = counts.iter().enumerate().map(|(column, count)| {
                let largest = largest_of(column);
                anchor(count * largest_weight * largest * largest)
            });
            let anchors: Vec<f64> = anchors.collect();
            let mut sums = anchors.clone();
            for i in 0..data.len() {
                let weight = data.weight(i);
                for (column, x) in entries(data, matrix, i) {
                    sums[column as usize] += untied(weight * (x * x));
                }
            }
            let pairs = sums.iter_mut().zip(anchors);
            pairs.for_each(|(sum, anchor)| *sum -= anchor);
            Arc::from(sums)
        });
        let counts: Arc<[f64]> = counts.into();
        let bounds = |power: i32| match &largest {
            None => Arc::clone(&counts),
            Some(largest) => counts.iter().zip(largest).map(|(n, x)| n * x.powi(power)).collect(),
        };
        Self {
            magnitudes: bounds(1),
            square_magnitudes: bounds(2),
            squares: squares.unwrap_or(counts),
        }
    }
}

/// Returns the entries of the tokens of sentence `i`.
fn entries(data: &Dataset, matrix: &SparseRows, i: usize) -> impl Iterator<Item = (u32, f64)> {
    data.sentence(i).flat_map(|row| matrix.entries(row))
}

/// The limits on derivatives under noise, relative to the largest weight of a sentence. Each factor
/// of 2 costs the sums a bit.
pub(crate) const LIMITS: [f64; 3] = [8.0, (1u64 << 32) as f64, (1u128 << 96) as f64];

/// Weights per task.
const TASK_WEIGHTS: usize = 1 << 14;

/// The first and the last of the columns that are a unit of work.
type Task = [usize; 2];

/// The anchors of the sums of one evaluation.
#[derive(Clone, Copy)]
pub(super) struct Anchors<'a> {
    pub space: &'a ParameterSpace,
    pub totals: &'a Totals,
    /// No derivative with respect to a score or a variance exceeds it.
    pub limit: f64,
    /// What 2ρ·∂R/∂V is multiplied by, `[n]`.
    pub factors: &'a [f64],
    /// ρ of node and of edge attributes, under noise proportional to the values.
    pub rates: Option<[f64; 2]>,
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
        let Self { space, totals, .. } = self;
        for (kind, block) in space.blocks().into_iter().enumerate() {
            let (tasks, totals) = (&totals.tasks[kind], &totals.columns[kind]);
            let weights = |columns: &Task| {
                let [first, last] = columns.map(|column| block.targets.range(column));
                first.start..last.end
            };
            let owners = tasks.iter().map(weights);
            let slices = split_by_owner(owners, block.weights_mut(gradient));
            parallel::for_each(tasks.iter().zip(slices), |(task, mut rest)| {
                for column in task[0]..=task[1] {
                    let weights = block.targets.range(column);
                    let (sums, after) = rest.split_at_mut(weights.len());
                    rest = after;
                    let bound = block.scale[column] * totals.magnitudes[column] * self.limit;
                    let Some(rates) = self.rates else {
                        let anchor = anchor(bound);
                        sums.iter_mut().for_each(|sum| visit(sum, anchor));
                        continue;
                    };
                    let slope = 2.0 * rates[kind] * totals.square_magnitudes[column] * self.limit;
                    let factors = &block.weights(self.factors)[weights];
                    for (sum, factor) in sums.iter_mut().zip(factors) {
                        visit(sum, anchor(bound + slope * factor.abs()));
                    }
                }
            });
        }
    }
}

/// Divides the columns of a block into tasks.
fn tasks(block: &FeatureBlock) -> Vec<Task> {
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
