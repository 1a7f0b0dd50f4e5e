//! The objective: documents, their noise, and the products of the matrix with weights.

use rayon::prelude::*;

use super::loss::Loss;
use crate::extract::SparseRows;

/// The smallest number of rows or columns that a thread takes.
const MIN_ROWS: usize = 256;

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
    documents: Documents<'a>,
    columns: SparseRows, // Xᵀ, [D][N]
    loss: Loss,
    delta: f64,
    noise: InputNoise,
    l2: f64,
}

/// The terms of J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Value {
    /// J: the bound and the penalty.
    pub total: f64,
    /// The losses without noise.
    pub loss: f64,
    /// c·‖w‖².
    pub l2: f64,
}

/// Means and variances of scores, `[N]` each.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    pub means: Vec<f64>,
    pub variances: Vec<f64>,
}

/// Scores along a line w + α·d: of the mean the slope, of the variance V + 2α·b + α²·c.
#[derive(Debug)]
pub(super) struct Line {
    slopes: Vec<f64>,     // [N]
    cross: Vec<f64>,      // [N] b
    curvatures: Vec<f64>, // [N] c
}

/// The quadratic Q at the current weights.
#[derive(Debug)]
pub(super) struct Quadratic<'p, 'a> {
    problem: &'p Problem<'a>,
    weights: Vec<f64>,      // [N] v·g
    diagonal: Vec<f64>,     // [D + 1] of the penalty and the noise
    pub gradient: Vec<f64>, // [D + 1]
}

/// Returns the memory in bytes that the optimization takes, besides the documents and the result.
#[must_use]
pub fn irls_memory(rows: &SparseRows, columns: usize) -> usize {
    let transposed = rows.memory() + 8 * columns;
    // Of each weight: the point, gradient, diagonals, and four vectors of conjugate gradients. Of
    // each document: targets, weights, scores, a line, and three buffers.
    transposed + 8 * 10 * (columns + 1) + 8 * 12 * rows.len()
}

impl<'a> Problem<'a> {
    /// Creates the objective with a penalty of `l2`·‖w‖².
    #[must_use]
    pub fn new(documents: Documents<'a>, loss: Loss, noise: InputNoise, l2: f64) -> Self {
        Self {
            columns: transposed(documents.rows, documents.scales.len()),
            delta: loss.smoothing(documents.targets),
            documents,
            loss,
            noise,
            l2,
        }
    }

    /// Returns the number of weights, D + 1.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.documents.scales.len() + 1
    }

    /// Returns J and its terms.
    #[must_use]
    pub fn value(&self, w: &[f64]) -> Value {
        self.value_of(&self.scores(w), w)
    }

    /// Returns the gradient of J, `[D + 1]`.
    #[must_use]
    pub fn gradient(&self, w: &[f64]) -> Vec<f64> {
        self.quadratic(w, &self.scores(w)).gradient
    }

    /// Returns the means and variances of scores.
    pub(super) fn scores(&self, w: &[f64]) -> Scores {
        let (rate, constant) = match self.noise {
            InputNoise::None => (0.0, 0.0),
            InputNoise::Proportional(rate) => (rate, 0.0),
            InputNoise::Additive(variance) => {
                let features = &w[..w.len() - 1];
                (0.0, variance * features.iter().map(|w| w * w).sum::<f64>())
            }
        };
        let (means, variances) = self.by_document(|n| {
            let mut variance = 0.0;
            let mut mean = self.documents.bias * w[w.len() - 1];
            for (j, x) in self.documents.rows.entries(n) {
                let product = x * w[j as usize];
                mean += self.documents.scales[j as usize] * product;
                variance += product * product;
            }
            (mean, rate * variance + constant)
        });
        Scores { means, variances }
    }

    /// Returns the scores along a line.
    pub(super) fn line(&self, w: &[f64], d: &[f64]) -> Line {
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
            let mut slope = self.documents.bias * d[d.len() - 1];
            let (mut cross, mut curvature) = (0.0, 0.0);
            for (j, x) in self.documents.rows.entries(n) {
                let j = j as usize;
                let product = x * d[j];
                slope += self.documents.scales[j] * product;
                cross += x * w[j] * product;
                curvature += product * product;
            }
            (
                slope,
                [rate * cross + constants[0], rate * curvature + constants[1]],
            )
        });
        Line {
            slopes,
            cross: noise.iter().map(|n| n[0]).collect(),
            curvatures: noise.iter().map(|n| n[1]).collect(),
        }
    }

    /// Returns J of scores and weights.
    pub(super) fn value_of(&self, scores: &Scores, w: &[f64]) -> Value {
        let l2 = self.l2 * dot(w, w);
        let moments = scores.means.iter().zip(&scores.variances);
        let (mut bound, mut loss) = (0.0, 0.0);
        for ((&f, &variance), (&y, &weight)) in moments.zip(self.examples()) {
            bound += weight * self.loss.bound(y, f, variance, self.delta);
            loss += weight * self.loss.value(y, f);
        }
        Value {
            total: bound + l2,
            loss,
            l2,
        }
    }

    /// Returns J at w + α·d, given the squares ‖w‖², w·d and ‖d‖².
    pub(super) fn value_along(
        &self,
        scores: &Scores,
        line: &Line,
        squares: [f64; 3],
        step: f64,
    ) -> f64 {
        let moments = scores.means.iter().zip(&scores.variances);
        let changes = line.slopes.iter().zip(&line.cross).zip(&line.curvatures);
        let mut bound = 0.0;
        for (((&f, &variance), ((&slope, &cross), &curvature)), (&y, &weight)) in
            moments.zip(changes).zip(self.examples())
        {
            let variance = variance + step * (2.0 * cross + step * curvature);
            let f = f + step * slope;
            // Rounding may make a variance of 0 negative.
            bound += weight * self.loss.bound(y, f, variance.max(0.0), self.delta);
        }
        let [ww, wd, dd] = squares;
        bound + self.l2 * (ww + step * (2.0 * wd + step * dd))
    }

    /// Returns the quadratic that touches J at weights with these scores.
    pub(super) fn quadratic(&self, w: &[f64], scores: &Scores) -> Quadratic<'_, 'a> {
        let moments = scores.means.iter().zip(&scores.variances);
        let (weights, residuals): (Vec<f64>, Vec<f64>) = moments
            .zip(self.examples())
            .map(|((&f, &variance), (&y, &weight))| {
                let majorizer = self.loss.majorizer(y, f, variance, self.delta);
                let weight = weight * majorizer.weight;
                (weight, weight * (f - majorizer.target))
            })
            .unzip();
        let diagonal = self.noise_diagonal(&weights);
        let mut gradient = self.transpose_product(&residuals);
        for ((gradient, diagonal), w) in gradient.iter_mut().zip(&diagonal).zip(w) {
            *gradient += diagonal * w;
        }
        Quadratic {
            problem: self,
            weights,
            diagonal,
            gradient,
        }
    }

    /// Returns what penalty and noise add to the diagonal of the Hessian.
    fn noise_diagonal(&self, weights: &[f64]) -> Vec<f64> {
        let penalty = 2.0 * self.l2;
        let additive = match self.noise {
            InputNoise::Additive(variance) => variance * weights.iter().sum::<f64>(),
            _ => 0.0,
        };
        let mut diagonal = match self.noise {
            InputNoise::Proportional(rate) => {
                self.by_column(|j| penalty + rate * self.weighted_square(j, weights))
            }
            _ => vec![penalty + additive; self.dimension() - 1],
        };
        diagonal.push(penalty);
        diagonal
    }

    /// Returns Σ_n g_n·x_nj².
    fn weighted_square(&self, j: usize, weights: &[f64]) -> f64 {
        let entries = self.columns.entries(j);
        entries.map(|(n, x)| weights[n as usize] * x * x).sum()
    }

    /// Returns Xᵀ·a, with the bias as last column.
    fn transpose_product(&self, a: &[f64]) -> Vec<f64> {
        let mut product = self.by_column(|j| {
            let entries = self.columns.entries(j);
            let sum: f64 = entries.map(|(n, x)| x * a[n as usize]).sum();
            self.documents.scales[j] * sum
        });
        product.push(self.documents.bias * a.iter().sum::<f64>());
        product
    }

    fn examples(&self) -> impl Iterator<Item = (&f64, &f64)> {
        self.documents.targets.iter().zip(self.documents.weights)
    }

    fn by_document<A: Send, B: Send>(
        &self,
        numbers: impl Fn(usize) -> (A, B) + Sync + Send,
    ) -> (Vec<A>, Vec<B>) {
        let documents = (0..self.documents.rows.len()).into_par_iter();
        documents.with_min_len(MIN_ROWS).map(numbers).unzip()
    }

    fn by_column(&self, number: impl Fn(usize) -> f64 + Sync + Send) -> Vec<f64> {
        let columns = (0..self.columns.len()).into_par_iter();
        columns.with_min_len(MIN_ROWS).map(number).collect()
    }
}

impl Quadratic<'_, '_> {
    /// Returns H·d.
    pub fn hessian_product(&self, d: &[f64]) -> Vec<f64> {
        let Documents {
            rows, scales, bias, ..
        } = self.problem.documents;
        let documents = (0..rows.len()).into_par_iter().with_min_len(MIN_ROWS);
        let products = documents.map(|n| {
            let entries = rows.entries(n);
            let sum: f64 = entries
                .map(|(j, x)| scales[j as usize] * x * d[j as usize])
                .sum();
            self.weights[n] * (sum + bias * d[d.len() - 1])
        });
        let products: Vec<f64> = products.collect();
        let mut product = self.problem.transpose_product(&products);
        for ((product, diagonal), d) in product.iter_mut().zip(&self.diagonal).zip(d) {
            *product += diagonal * d;
        }
        product
    }

    /// Returns the diagonal of H, `[D + 1]`.
    pub fn hessian_diagonal(&self) -> Vec<f64> {
        let Documents { scales, bias, .. } = self.problem.documents;
        let mut squares = self
            .problem
            .by_column(|j| scales[j] * scales[j] * self.problem.weighted_square(j, &self.weights));
        squares.push(bias * bias * self.weights.iter().sum::<f64>());
        for (square, diagonal) in squares.iter_mut().zip(&self.diagonal) {
            *square += diagonal;
        }
        squares
    }

    /// Returns the lower half of H, row by row: `[D + 1][D + 1]` with zeros above.
    pub fn hessian(&self) -> Vec<f64> {
        let Documents {
            rows, scales, bias, ..
        } = self.problem.documents;
        let size = self.diagonal.len();
        let mut hessian = vec![0.0; size * size];
        let mut entries: Vec<(usize, f64)> = Vec::new();
        for (n, weight) in self.weights.iter().enumerate() {
            let row = rows
                .entries(n)
                .map(|(j, x)| (j as usize, scales[j as usize] * x));
            entries.clear();
            entries.extend(row.chain([(size - 1, bias)]));
            for (i, (a, x)) in entries.iter().enumerate() {
                for (b, y) in &entries[..=i] {
                    hessian[a * size + b] += weight * x * y;
                }
            }
        }
        for (j, diagonal) in self.diagonal.iter().enumerate() {
            hessian[j * size + j] += diagonal;
        }
        hessian
    }
}

/// Returns a·b.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns Xᵀ: rows in the order of columns, entries in the order of rows.
fn transposed(rows: &SparseRows, columns: usize) -> SparseRows {
    let mut ends = vec![0_usize; columns + 1];
    for n in 0..rows.len() {
        for &j in rows.row(n).0 {
            ends[j as usize + 1] += 1;
        }
    }
    for j in 0..columns {
        ends[j + 1] += ends[j];
    }
    let mut next = ends.clone();
    let mut numbers = vec![0_u32; rows.nonzeros()];
    let mut values = (!rows.is_binary()).then(|| vec![1.0; rows.nonzeros()]);
    for n in 0..rows.len() {
        for (j, x) in rows.entries(n) {
            let position = &mut next[j as usize];
            numbers[*position] = n as u32;
            if let Some(values) = &mut values {
                values[*position] = x;
            }
            *position += 1;
        }
    }
    SparseRows::from_parts(
        ends[1..].iter().map(|&end| end as u64).collect(),
        numbers,
        values,
    )
}
