//! The quadratics that an iteration minimizes.
//!
//! At the current w, with the derivatives of B of each document and x its features, bias included,
//!
//! ```text
//! ∇J = 2c·w + Σ v·( ∂B/∂f·x + ∂B/∂V·u )            u = ∂V/∂w
//! ```
//!
//! and u is 2ρ·x²∘w, 2σ²·w or 0, and 0 for the bias. Both models have this gradient. The Hessian of
//! the majorizer is
//!
//! ```text
//! 2c·I + Σ v·g·( x·xᵀ + ½∂²V/∂w² )                   g = 2·∂B/∂V,   ½∂²V/∂w² = diag(u/(2w))
//! ```
//!
//! and that of J itself
//!
//! ```text
//! 2c·I + Σ v·( ∂²B/∂f²·x·xᵀ + ∂²B/∂f∂V·(x·uᵀ + u·xᵀ) + ∂²B/∂V²·u·uᵀ + ½g·∂²V/∂w² )
//! ```
//!
//! which is positive semidefinite beside 2c·I, since J is convex. Either is a product with rows and
//! one with columns, which have the values x and x².
//!
//! # The step that lowers a quadratic: H·d = −∇Q
//!
//! Conjugate gradients with a diagonal preconditioner start at d = 0. Each of their iterates
//! minimizes Q over a larger subspace, which contains the last iterate: Q falls with every one of
//! them, and wherever they stop, Q is below its value at the current weights unless that has no
//! gradient. A factorization of H takes (D + 1)³/6 multiplications and is exact.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::problem::{Documents, InputNoise, MIN_ROWS, Problem, Scores, dot, entry_sums, sums};

/// What the quadratic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// The expansion of J to second order: Newton's method.
    Expansion,
    /// The majorizer of J: iteratively reweighted least squares as in the paper.
    Majorizer,
}

/// The quadratic Q at the current weights.
#[derive(Debug)]
pub(super) struct Quadratic<'p, 'a> {
    problem: &'p Problem<'a>,
    weights: Vec<f64>,          // [N] v·∂²B/∂f², or v·g
    coupling: Option<Coupling>, // of an expansion under noise
    diagonal: Vec<f64>,         // [D + 1] of the penalty and the noise
    pub gradient: Vec<f64>,     // [D + 1]
}

/// What an expansion has besides least squares, as V depends on w.
#[derive(Debug)]
struct Coupling {
    cross: Vec<f64>,     // [N] v·∂²B/∂f∂V
    variances: Vec<f64>, // [N] v·∂²B/∂V²
    /// 2ρ·w, or 2σ²·w: ∂V/∂w is that, times x² if the noise is proportional. `[D + 1]`, 0 for the
    /// bias.
    slopes: Vec<f64>,
}

impl Problem<'_> {
    /// Returns the gradient of J, `[D + 1]`.
    pub fn gradient(&self, w: &[f64]) -> Vec<f64> {
        let scores = self.scores(w);
        Quadratic::new(self, w, &scores, Model::Majorizer, self.delta).gradient
    }

    /// Returns 2ρ·w or 2σ²·w, and 0 for the bias.
    fn variance_slopes(&self, w: &[f64]) -> Vec<f64> {
        let factor = match self.noise {
            InputNoise::None => 0.0,
            InputNoise::Proportional(rate) | InputNoise::Additive(rate) => 2.0 * rate,
        };
        let mut slopes: Vec<f64> = w.iter().map(|w| factor * w).collect();
        if let Some(bias) = slopes.last_mut() {
            *bias = 0.0;
        }
        slopes
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
        let is_free = self.documents.has_free_bias();
        diagonal.push(if is_free { 0.0 } else { penalty });
        diagonal
    }

    /// Returns ∂V/∂w of a document with the value `x` of a feature, given its slope.
    fn variance_slope(&self, slope: f64, x: f64) -> f64 {
        match self.noise {
            InputNoise::Proportional(_) => slope * x * x,
            _ => slope,
        }
    }
}

impl<'p, 'a> Quadratic<'p, 'a> {
    /// Returns the quadratic that touches J at weights with these scores.
    pub fn new(
        problem: &'p Problem<'a>,
        w: &[f64],
        scores: &Scores,
        model: Model,
        delta: f64,
    ) -> Self {
        let moments = || {
            let moments = scores.means.iter().zip(&scores.variances);
            moments.zip(problem.examples())
        };
        let (mut weights, residuals): (Vec<f64>, Vec<f64>) = moments()
            .map(|((&f, &variance), (&y, &weight))| {
                let majorizer = problem.loss.majorizer(y, f, variance, delta);
                let weight = weight * majorizer.weight;
                (weight, weight * (f - majorizer.target))
            })
            .unzip();
        // 2v·∂B/∂V is v·g, in both models.
        let diagonal = problem.noise_diagonal(&weights);
        let mut coupling = None;
        if model == Model::Expansion {
            let mut parts = Coupling {
                cross: Vec::with_capacity(weights.len()),
                variances: Vec::with_capacity(weights.len()),
                slopes: problem.variance_slopes(w),
            };
            weights.clear();
            for ((&f, &variance), (&y, &weight)) in moments() {
                let curvature = problem.loss.curvature(y, f, variance, delta);
                weights.push(weight * curvature.mean);
                parts.cross.push(weight * curvature.cross);
                parts.variances.push(weight * curvature.variance);
            }
            coupling = (problem.noise != InputNoise::None).then_some(parts);
        }
        let mut gradient = problem.transpose_product(&residuals);
        for ((gradient, diagonal), w) in gradient.iter_mut().zip(&diagonal).zip(w) {
            *gradient += diagonal * w;
        }
        Self { problem, weights, coupling, diagonal, gradient }
    }

    /// Returns H·d.
    pub fn hessian_product(&self, d: &[f64]) -> Vec<f64> {
        let Documents { rows, scales, bias, .. } = self.problem.documents;
        let bias = bias * d[d.len() - 1];
        // One gather for each entry instead of two.
        let scaled: Vec<f64> = scales.iter().zip(d).map(|(s, d)| s * d).collect();
        let mut product = match &self.coupling {
            None => {
                let documents = (0..rows.len()).into_par_iter().with_min_len(MIN_ROWS);
                let products = documents.map(|n| {
                    let [sum] = entry_sums(rows.row(n), |j, x| [x * scaled[j]]);
                    self.weights[n] * (sum + bias)
                });
                self.problem.transpose_product(&products.collect::<Vec<f64>>())
            }
            Some(coupling) => self.coupled_product(coupling, d, &scaled),
        };
        for ((product, diagonal), d) in product.iter_mut().zip(&self.diagonal).zip(d) {
            *product += diagonal * d;
        }
        product
    }

    /// Returns H·d without the diagonal, given √m·d as well, `[D]`.
    fn coupled_product(&self, coupling: &Coupling, d: &[f64], scaled: &[f64]) -> Vec<f64> {
        let problem = self.problem;
        let Documents { rows, scales, bias, .. } = problem.documents;
        let bias = bias * d[d.len() - 1];
        let changes: Vec<f64> = coupling.slopes.iter().zip(d).map(|(s, d)| s * d).collect();
        let is_proportional = matches!(problem.noise, InputNoise::Proportional(_));
        let constant = match is_proportional {
            true => 0.0,
            false => changes.iter().sum(),
        };
        let (of_means, of_variances) = problem.by_document(|n| {
            let row = rows.row(n);
            let [mean, variance] = match is_proportional {
                true => entry_sums(row, |j, x| [x * scaled[j], x * x * changes[j]]),
                false => entry_sums(row, |j, x| [x * scaled[j], 0.0]),
            };
            let (mean, variance) = (mean + bias, variance + constant);
            (
                self.weights[n] * mean + coupling.cross[n] * variance,
                coupling.cross[n] * mean + coupling.variances[n] * variance,
            )
        });
        if !is_proportional {
            let total: f64 = of_variances.iter().sum();
            let mut product = problem.transpose_product(&of_means);
            for (product, slope) in product.iter_mut().zip(&coupling.slopes) {
                *product += slope * total;
            }
            return product;
        }
        let mut product = problem.by_column(|j| {
            let [mean, variance] = entry_sums(problem.columns.row(j), |n, x| {
                [x * of_means[n], x * x * of_variances[n]]
            });
            scales[j] * mean + coupling.slopes[j] * variance
        });
        product.push(problem.documents.bias * of_means.iter().sum::<f64>());
        product
    }

    /// Returns the diagonal of H, `[D + 1]`.
    pub fn hessian_diagonal(&self) -> Vec<f64> {
        let problem = self.problem;
        let Documents { scales, bias, .. } = problem.documents;
        let mut squares = problem.by_column(|j| {
            let square = scales[j] * scales[j] * problem.weighted_square(j, &self.weights);
            let Some(coupling) = &self.coupling else {
                return square;
            };
            let [cross, mut variance] = entry_sums(problem.columns.row(j), |n, x| {
                let u = problem.variance_slope(coupling.slopes[j], x);
                [coupling.cross[n] * scales[j] * x * u, coupling.variances[n] * u * u]
            });
            if !matches!(problem.noise, InputNoise::Proportional(_)) {
                variance = 0.0;
            }
            square + 2.0 * cross + variance
        });
        squares.push(bias * bias * self.weights.iter().sum::<f64>());
        let everywhere = match (&self.coupling, problem.noise) {
            (Some(coupling), InputNoise::Additive(_)) => coupling.variances.iter().sum(),
            _ => 0.0,
        };
        for (j, (square, diagonal)) in squares.iter_mut().zip(&self.diagonal).enumerate() {
            if let Some(coupling) = &self.coupling {
                *square += everywhere * coupling.slopes[j] * coupling.slopes[j];
            }
            // J is convex: without the penalty, it is not below 0 but for rounding.
            *square =
                (*square + diagonal).max(if j < scales.len() { 2.0 * problem.l2 } else { 0.0 });
        }
        squares
    }

    /// Returns the lower half of H, row by row: `[D + 1][D + 1]` with zeros above.
    pub fn hessian(&self) -> Vec<f64> {
        let problem = self.problem;
        let Documents { rows, scales, bias, .. } = problem.documents;
        let size = self.diagonal.len();
        let mut hessian = vec![0.0; size * size];
        let is_additive = matches!(problem.noise, InputNoise::Additive(_));
        let mut entries: Vec<(usize, f64, f64)> = Vec::new(); // column, x, u
        for (n, weight) in self.weights.iter().enumerate() {
            entries.clear();
            if is_additive && let Some(coupling) = &self.coupling {
                let slopes = coupling.slopes.iter().enumerate();
                entries.extend(slopes.map(|(j, slope)| (j, 0.0, *slope)));
                for (j, x) in rows.entries(n) {
                    entries[j as usize].1 = scales[j as usize] * x;
                }
                entries[size - 1].1 = bias;
            } else {
                entries.extend(rows.entries(n).map(|(j, x)| {
                    let j = j as usize;
                    let slope = self.coupling.as_ref().map_or(0.0, |c| c.slopes[j]);
                    (j, scales[j] * x, problem.variance_slope(slope, x))
                }));
                entries.push((size - 1, bias, 0.0));
            }
            let [cross, variance] = match &self.coupling {
                Some(coupling) => [coupling.cross[n], coupling.variances[n]],
                None => [0.0; 2],
            };
            for (i, &(a, x, u)) in entries.iter().enumerate() {
                for &(b, y, v) in &entries[..=i] {
                    hessian[a * size + b] +=
                        weight * x * y + cross * (x * v + u * y) + variance * u * v;
                }
            }
        }
        for (j, diagonal) in self.diagonal.iter().enumerate() {
            hessian[j * size + j] += diagonal;
        }
        hessian
    }
}

/// A step and what it took.
#[derive(Debug)]
pub(super) struct Step {
    pub direction: Vec<f64>, // [D + 1]
    /// Products with the Hessian.
    pub products: usize,
}

/// Returns the step to the minimum of the quadratic by Cholesky factorization; `None` if H is not
/// positive definite in floating point.
pub(super) fn by_cholesky(quadratic: &Quadratic<'_, '_>) -> Option<Step> {
    let size = quadratic.gradient.len();
    let mut factor = quadratic.hessian();
    factorize(&mut factor, size)?;
    let mut direction: Vec<f64> = quadratic.gradient.iter().map(|g| -g).collect();
    solve_factorized(&factor, size, &mut direction);
    Some(Step { direction, products: 1 })
}

/// Solves L·Lᵀ·x = b, where `vector` is b and becomes x, `[size]`.
pub(crate) fn solve_factorized(factor: &[f64], size: usize, vector: &mut [f64]) {
    for i in 0..size {
        let sum = dot(&factor[i * size..][..i], &vector[..i]);
        vector[i] = (vector[i] - sum) / factor[i * size + i];
    }
    for i in (0..size).rev() {
        vector[i] /= factor[i * size + i];
        let value = vector[i];
        for (x, l) in vector[..i].iter_mut().zip(&factor[i * size..]) {
            *x -= l * value;
        }
    }
}

/// Replaces the lower half of H, `[size][size]`, by L with L·Lᵀ = H; `None` if H is not positive
/// definite in floating point.
pub(crate) fn factorize(matrix: &mut [f64], size: usize) -> Option<()> {
    for i in 0..size {
        let (above, rest) = matrix.split_at_mut(i * size);
        let row = &mut rest[..=i];
        for j in 0..i {
            let other = &above[j * size..][..=j];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let square = row[i] - dot(&row[..i], &row[..i]);
        if !(square > 0.0 && square.is_finite()) {
            return None;
        }
        row[i] = square.sqrt();
    }
    Some(())
}

/// Returns a step by at most `limit` conjugate gradients, until the preconditioned residual is
/// `tolerance` times that at the start, or the flag is set.
pub(super) fn by_conjugate_gradients(
    quadratic: &Quadratic<'_, '_>,
    tolerance: f64,
    limit: usize,
    interrupt: Option<&AtomicBool>,
) -> Step {
    let inverse: Vec<f64> = quadratic
        .hessian_diagonal()
        .into_iter()
        .map(|d| if d > 0.0 { 1.0 / d } else { 1.0 })
        .collect();
    let mut residual: Vec<f64> = quadratic.gradient.iter().map(|g| -g).collect();
    let mut direction = vec![0.0; residual.len()];
    let mut conjugate: Vec<f64> = inverse.iter().zip(&residual).map(|(m, r)| m * r).collect();
    let mut square = dot(&residual, &conjugate);
    let enough = tolerance * tolerance * square;
    let mut products = 0;
    while products < limit && square > enough {
        let product = quadratic.hessian_product(&conjugate);
        products += 1;
        let curvature = dot(&conjugate, &product);
        if !(curvature > 0.0 && curvature.is_finite()) {
            break;
        }
        let step = square / curvature;
        for ((d, r), (c, p)) in
            direction.iter_mut().zip(&mut residual).zip(conjugate.iter().zip(&product))
        {
            *d += step * c;
            *r -= step * p;
        }
        let last = square;
        [square] = sums(residual.len(), |i| [inverse[i] * residual[i] * residual[i]]);
        for ((c, r), m) in conjugate.iter_mut().zip(&residual).zip(&inverse) {
            *c = m * r + square / last * *c;
        }
        if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            break;
        }
    }
    Step { direction, products }
}
