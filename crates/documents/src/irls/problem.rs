//! The objective: documents, their noise, and the products of the matrix with weights.
//!
//! Sums over vectors and over the entries of a row or column. They have several partial sums, so
//! that an addition need not wait for the one before it.

use std::sync::Arc;

use rayon::prelude::*;

use super::loss::Loss;
use dropchain::extract::SparseRows;
use dropchain::objective::Terms;

/// The smallest number of rows or columns that a thread takes.
pub(super) const MIN_ROWS: usize = 256;

/// δ of the first iteration, relative to that at the end.
const START: f64 = 3000.0;

/// What δ is multiplied by in every iteration.
const SHRINKING: f64 = 0.2;

/// Documents with their targets.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'a> {
    /// X: a row for each document, `[N][D]`.
    pub rows: &'a SparseRows,
    /// √m of each column, which stands for m equal columns: it adds √m·x·w to a score, and has the
    /// noise of x·w. `[D]`.
    pub scales: &'a [f64],
    /// The value of a feature without noise that all documents have; 0 for no bias.
    pub bias: f64,
    /// y, `[N]`.
    pub targets: &'a [f64],
    /// `[N]`.
    pub weights: &'a [f64],
    /// Whether the weight of the bias is penalized like those of features.
    pub penalizes_bias: bool,
}

impl Documents<'_> {
    /// Returns whether the weight of the bias has no penalty. One that has no effect always has
    /// one, so that the minimum is unique.
    pub fn has_free_bias(&self) -> bool {
        !self.penalizes_bias && self.bias != 0.0
    }

    /// Returns the sum of a·b over the weights that are penalized; a and b are `[D + 1]`.
    pub fn penalized_product(&self, a: &[f64], b: &[f64]) -> f64 {
        let count = a.len() - usize::from(self.has_free_bias());
        dot(&a[..count], &b[..count])
    }
}

/// Feature noise. The bias has none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum InputNoise {
    /// None.
    #[default]
    None,
    /// V = ρ·Σ x²·w².
    Proportional(f64),
    /// V = σ²·Σ w².
    Additive(f64),
}

/// The objective J. Weights are `[D + 1]`, the bias last.
#[derive(Debug)]
pub struct Problem<'a> {
    pub(super) documents: Documents<'a>,
    pub(super) columns: Arc<SparseRows>, // Xᵀ, [D][N]
    pub(super) loss: Loss,
    pub(super) delta: f64, // at the end
    pub(super) noise: InputNoise,
    pub(super) l2: f64,
}

/// The terms of J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Value {
    /// J: the bound and the penalty.
    pub total: f64,
    /// The losses without noise.
    pub loss: f64,
    /// c·‖w‖², of the weights that are penalized.
    pub l2: f64,
}

impl Value {
    /// Returns the terms of an objective with this loss and noise. Only the logistic loss has a
    /// likelihood.
    pub(super) fn terms(self, loss: Loss, noise: InputNoise) -> Terms {
        Terms {
            log_likelihood: match loss {
                Loss::Logistic => -self.loss,
                _ => f64::NAN,
            },
            noise: match noise {
                InputNoise::None => 0.0,
                _ => self.total - self.loss - self.l2,
            },
            l2: self.l2,
        }
    }

    /// Returns the value without noise and smoothing.
    pub(super) fn without_noise(self) -> Self {
        Self { total: self.loss + self.l2, ..self }
    }
}

/// Means and variances of scores, `[N]` each.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    pub means: Vec<f64>,
    pub variances: Vec<f64>,
}

/// J along a line w + α·d. Of a score the mean grows by α·slope, the variance is V + 2α·b + α²·c.
#[derive(Debug)]
pub(super) struct Line<'s, 'a> {
    problem: &'s Problem<'a>,
    scores: &'s Scores,   // at w
    slopes: Vec<f64>,     // [N]
    noise: Vec<[f64; 2]>, // [N] b and c
    squares: [f64; 3],    // ‖w‖², w·d, ‖d‖² of what is penalized
    delta: f64,
}

/// The number of problems that should make an iteration at a time, however many threads there are:
/// each of them needs memory.
pub const CONCURRENT: usize = 8;

/// Returns the memory in bytes that the optimization of so many problems with the same documents
/// takes, besides the documents and the results.
pub fn irls_memory(rows: &SparseRows, columns: usize, problems: usize) -> usize {
    let transposed = rows.memory() + 8 * columns;
    // Of each weight: the point, gradient, diagonal and slopes; of each document: targets, scores,
    // and its part in the quadratic.
    let state = 8 * (4 * (columns + 1) + 6 * rows.len());
    // The diagonal and six vectors of conjugate gradients; a line, and three buffers.
    let step = 8 * (7 * (columns + 1) + 6 * rows.len());
    let steps = step.saturating_mul(problems.min(CONCURRENT));
    (state.saturating_mul(problems)).saturating_add(steps).saturating_add(transposed)
}

impl<'a> Problem<'a> {
    /// Creates the objective with a penalty of `l2`·‖w‖².
    pub fn new(documents: Documents<'a>, loss: Loss, noise: InputNoise, l2: f64) -> Self {
        Self {
            columns: Arc::new(documents.rows.transposed(documents.scales.len())),
            delta: loss.smoothing(documents.targets),
            documents,
            loss,
            noise,
            l2,
        }
    }

    /// Returns the objective of the same documents with other targets, `[N]`.
    pub fn with_targets(&self, targets: &'a [f64]) -> Self {
        Self {
            columns: Arc::clone(&self.columns),
            delta: self.loss.smoothing(targets),
            documents: Documents { targets, ..self.documents },
            ..*self
        }
    }

    /// Returns the terms of a value.
    pub fn terms(&self, value: Value) -> Terms {
        value.terms(self.loss, self.noise)
    }

    /// Returns the number of weights, D + 1.
    pub fn dimension(&self) -> usize {
        self.documents.scales.len() + 1
    }

    /// Returns J and its terms.
    pub fn value(&self, w: &[f64]) -> Value {
        self.value_of(&self.scores(w), w, self.delta)
    }

    /// Returns J of weights without noise and smoothing, and the change of the weight of the bias
    /// at which it is lowest, which is made if the bias is free.
    pub(super) fn plain_value(&self, w: &[f64]) -> (Value, f64) {
        let mut scores = self.scores(w);
        let mut change = 0.0;
        if self.documents.has_free_bias() {
            let shift = self.best_shift(&scores.means);
            scores.means.iter_mut().for_each(|f| *f += shift);
            change = shift / self.documents.bias;
        }
        let value = self.value_of(&scores, w, self.delta);
        (value.without_noise(), change)
    }

    /// Returns what all scores have to grow by for the least sum of losses with kinks, which is
    /// linear between them. Time O(N log N).
    fn best_shift(&self, scores: &[f64]) -> f64 {
        let mut kinks: Vec<[f64; 2]> = Vec::new(); // where, and by how much the slope grows
        let mut slope = 0.0; // far below
        for (&f, (&y, &weight)) in scores.iter().zip(self.examples()) {
            match self.loss {
                Loss::Insensitive { epsilon } => {
                    slope -= weight;
                    kinks.extend([[y - f - epsilon, weight], [y - f + epsilon, weight]]);
                }
                Loss::Hinge { margin } => {
                    slope -= if y > 0.0 { weight } else { 0.0 };
                    kinks.push([y * margin - f, weight]);
                }
                Loss::Logistic | Loss::Squared => {}
            }
        }
        kinks.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let flat = 1e-12 * kinks.iter().map(|[_, weight]| weight).sum::<f64>();
        for (i, &[place, weight]) in kinks.iter().enumerate() {
            slope += weight;
            if slope >= -flat {
                let next = kinks.get(i + 1).filter(|_| slope <= flat);
                return next.map_or(place, |next| 0.5 * (place + next[0]));
            }
        }
        0.0
    }

    /// Returns the variables of the dual problem at the minimum of the smoothed loss, which has
    /// these scores: −∂B/∂f, `[N]`.
    pub(super) fn dual_variables(&self, scores: &Scores) -> Vec<f64> {
        let examples = scores.means.iter().zip(self.examples());
        let variables = examples.map(|(&f, (&y, &weight))| {
            let majorizer = self.loss.majorizer(y, f, 0.0, self.delta);
            let [lower, upper] = match self.loss {
                Loss::Hinge { .. } if y > 0.0 => [0.0, weight],
                Loss::Hinge { .. } => [-weight, 0.0],
                _ => [-weight, weight],
            };
            (weight * majorizer.weight * (majorizer.target - f)).clamp(lower, upper)
        });
        variables.collect()
    }

    /// Returns whether a dual method can take it: the loss has kinks, and there is no noise.
    pub(super) fn has_dual(&self) -> bool {
        self.loss.has_kinks() && self.noise == InputNoise::None && self.l2 > 0.0
    }

    /// Returns δ of an iteration. At first it is large, which makes minima easy to find: J falls
    /// with it.
    pub(super) fn smoothing(&self, iteration: usize) -> f64 {
        let start = self.delta * START;
        let shrink = SHRINKING.powi(i32::try_from(iteration).unwrap_or(i32::MAX));
        self.delta.max(start * shrink)
    }

    /// Returns whether δ of an iteration is that at the end.
    pub(super) fn is_smoothed(&self, iteration: usize) -> bool {
        self.smoothing(iteration) <= self.delta
    }

    /// Returns the means and variances of scores.
    pub(super) fn scores(&self, w: &[f64]) -> Scores {
        let Documents { rows, scales, bias, .. } = self.documents;
        let (rate, constant) = match self.noise {
            InputNoise::None => (0.0, 0.0),
            InputNoise::Proportional(rate) => (rate, 0.0),
            InputNoise::Additive(variance) => {
                let features = &w[..w.len() - 1];
                (0.0, variance * features.iter().map(|w| w * w).sum::<f64>())
            }
        };
        let (means, variances) = self.by_document(|n| {
            let [mean, variance] = entry_sums(rows.row(n), |j, x| {
                let product = x * w[j];
                [scales[j] * product, product * product]
            });
            (mean + bias * w[w.len() - 1], rate * variance + constant)
        });
        Scores { means, variances }
    }

    /// Returns J along a line from w, which has these scores.
    pub(super) fn line<'s>(
        &'s self,
        scores: &'s Scores,
        w: &[f64],
        d: &[f64],
        delta: f64,
    ) -> Line<'s, 'a> {
        let Documents { rows, scales, bias, .. } = self.documents;
        let (rate, constants) = match self.noise {
            InputNoise::None => (0.0, [0.0; 2]),
            InputNoise::Proportional(rate) => (rate, [0.0; 2]),
            InputNoise::Additive(variance) => {
                let last = w.len() - 1;
                let sum = |a: &[f64], b: &[f64]| variance * dot(&a[..last], &b[..last]);
                (0.0, [sum(w, d), sum(d, d)])
            }
        };
        let (slopes, noise) = self.by_document(|n| {
            let [slope, cross, curvature] = entry_sums(rows.row(n), |j, x| {
                let product = x * d[j];
                [scales[j] * product, x * w[j] * product, product * product]
            });
            (
                slope + bias * d[d.len() - 1],
                [rate * cross + constants[0], rate * curvature + constants[1]],
            )
        });
        Line {
            problem: self,
            scores,
            slopes,
            noise,
            squares: [[w, w], [w, d], [d, d]].map(|[a, b]| self.documents.penalized_product(a, b)),
            delta,
        }
    }

    /// Returns J of scores and weights.
    pub(super) fn value_of(&self, scores: &Scores, w: &[f64], delta: f64) -> Value {
        let l2 = self.l2 * self.documents.penalized_product(w, w);
        let moments = scores.means.iter().zip(&scores.variances);
        let (mut bound, mut loss) = (0.0, 0.0);
        for ((&f, &variance), (&y, &weight)) in moments.zip(self.examples()) {
            bound += weight * self.loss.bound(y, f, variance, delta);
            loss += weight * self.loss.value(y, f);
        }
        Value { total: bound + l2, loss, l2 }
    }

    /// Returns Σ_n a_n·x_nj².
    pub(super) fn weighted_square(&self, j: usize, a: &[f64]) -> f64 {
        let [sum] = entry_sums(self.columns.row(j), |n, x| [a[n] * x * x]);
        sum
    }

    /// Returns Xᵀ·a, with the bias as last column.
    pub(super) fn transpose_product(&self, a: &[f64]) -> Vec<f64> {
        let mut product = self.by_column(|j| {
            let [sum] = entry_sums(self.columns.row(j), |n, x| [x * a[n]]);
            self.documents.scales[j] * sum
        });
        product.push(self.documents.bias * a.iter().sum::<f64>());
        product
    }

    pub(super) fn examples(&self) -> impl Iterator<Item = (&f64, &f64)> {
        self.documents.targets.iter().zip(self.documents.weights)
    }

    pub(super) fn by_document<A: Send, B: Send>(
        &self,
        numbers: impl Fn(usize) -> (A, B) + Sync + Send,
    ) -> (Vec<A>, Vec<B>) {
        let documents = (0..self.documents.rows.len()).into_par_iter();
        documents.with_min_len(MIN_ROWS).map(numbers).unzip()
    }

    /// Returns a number for each column, with room for the bias.
    pub(super) fn by_column(&self, number: impl Fn(usize) -> f64 + Sync + Send) -> Vec<f64> {
        let mut numbers = Vec::with_capacity(self.dimension());
        let columns = (0..self.columns.len()).into_par_iter();
        let columns = columns.with_min_len(MIN_ROWS).map(number);
        columns.collect_into_vec(&mut numbers);
        numbers
    }
}

impl Line<'_, '_> {
    /// Returns J at w + α·d and its derivative with respect to α, the step.
    pub fn at(&self, step: f64) -> [f64; 2] {
        let (loss, l2, delta) = (self.problem.loss, self.problem.l2, self.delta);
        let moments = self.scores.means.iter().zip(&self.scores.variances);
        let changes = self.slopes.iter().zip(&self.noise);
        let (mut bound, mut derivative) = (0.0, 0.0);
        for (((&f, &variance), (&slope, &[cross, curvature])), (&y, &weight)) in
            moments.zip(changes).zip(self.problem.examples())
        {
            let variance = variance + step * (2.0 * cross + step * curvature);
            let variance = variance.max(0.0); // rounding may make a variance of 0 negative
            let f = f + step * slope;
            bound += weight * loss.bound(y, f, variance, delta);
            let majorizer = loss.majorizer(y, f, variance, delta);
            let change = (f - majorizer.target) * slope + cross + step * curvature;
            derivative += weight * majorizer.weight * change;
        }
        let [ww, wd, dd] = self.squares;
        [
            bound + l2 * (ww + step * (2.0 * wd + step * dd)),
            derivative + 2.0 * l2 * (wd + step * dd),
        ]
    }
}

/// The number of partial sums.
const LANES: usize = 8;

/// Returns a·b.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Returns the sums of `N` terms over the entries of a row or column: their numbers and, unless all
/// are 1, their values. `term` gets both.
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
pub(super) fn sums<const N: usize>(length: usize, term: impl Fn(usize) -> [f64; N]) -> [f64; N] {
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
            assert_eq!(dot(&values, &vec![1.0; values.len()]), expected);
        }
    }
}
