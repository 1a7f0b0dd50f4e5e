//! # Least squares with a ridge in closed form, by Cholesky factorization
//!
//! The minimum of ‖y − X·w‖² + Σ λ_j·w_j², of centered X and y, is the solution of
//!
//! ```text
//! (XᵀX + Λ)·w = Xᵀy                                  D×D
//! (X·Λ⁻¹·Xᵀ + I)·a = y,    w = Λ⁻¹·Xᵀ·a              N×N, if all λ_j > 0
//! ```
//!
//! Cost: m³/6 multiplications and 8·m² bytes, where m is the number of features or of documents.
//!
//! # Coordinate descent for least squares with an L1 penalty: the lasso and the elastic net
//!
//! Minimizes ½‖y − X·w‖² + ½·Σ Λ_j·w_j² + Σ λ_j·|w_j| of centered X and y; that is half of the
//! objective of the module, with λ = c1/2. With the residual r = y − X·w, the minimum over one
//! weight is (Friedman, Hastie and Tibshirani 2010, eq. 5)
//!
//! ```text
//! w_j ← S(x_j·r + ‖x_j‖²·w_j, λ_j) / (‖x_j‖² + Λ_j),    S(z, λ) = sign(z)·max(0, |z| − λ)
//! ```
//!
//! X stays sparse: the centered residual is one of X as it is plus a number that all documents
//! share.
//!
//! A pass over all features is parallel, and computes the gradient, the duality gap, and the
//! working set: features with a weight, and those whose gradient is above λ_j. Passes over the
//! working set, in order, follow until they gain little. The duality gap bounds how far the
//! objective is above its minimum. With X̃ = (X; √Λ) and r̃ = (r; −√Λ·w), for any s with
//! s·|x̃_j·r̃| ≤ λ_j,
//!
//! ```text
//! gap = ½‖r̃‖² + Σ λ_j·|w_j| − (s·r·y − ½·s²·‖r̃‖²)
//! ```
//!
//! # The smooth part of the objective, for L-BFGS and OWL-QN

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::corpus::Design;
use super::options::RegressionLoss;
use crate::irls::{InputNoise, factorize, solve_factorized};
use dropchain::math::dot;
use dropchain::optim::Objective;

/// A pivot below this fraction of its diagonal entry is rounding noise: the matrix is singular.
const SINGULAR: f64 = 1e-13;

/// Which of the two systems is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Features,
    Documents,
}

impl System {
    /// Returns the smaller system that can be solved, and its size.
    pub fn of(design: &Design<'_>, l2: &[f64]) -> (Self, usize) {
        let (features, documents) = (design.dimension(), design.rows.len());
        if documents < features && l2.iter().all(|&l2| l2 > 0.0) {
            (Self::Documents, documents)
        } else {
            (Self::Features, features)
        }
    }
}

/// Returns the minimum for the penalties λ and centered y; `None` if it is not unique.
pub(super) fn minimum(design: &Design<'_>, y: &[f64], l2: &[f64]) -> Option<Vec<f64>> {
    match System::of(design, l2) {
        (System::Features, size) => {
            let mut w = design.transpose_product(y);
            solve(gram(design, l2), size, &mut w)?;
            Some(w)
        }
        (System::Documents, size) => {
            let mut a = y.to_vec();
            solve(kernel(design, l2), size, &mut a)?;
            let products = design.transpose_product(&a);
            Some(products.iter().zip(l2).map(|(p, l2)| p / l2).collect())
        }
    }
}

fn solve(mut matrix: Vec<f64>, size: usize, vector: &mut [f64]) -> Option<()> {
    let diagonal: Vec<f64> = (0..size).map(|i| matrix[i * size + i]).collect();
    factorize(&mut matrix, size)?;
    let is_regular = |(i, d): (usize, &f64)| matrix[i * size + i].powi(2) > SINGULAR * d;
    if !diagonal.iter().enumerate().all(is_regular) {
        return None;
    }
    solve_factorized(&matrix, size, vector);
    Some(())
}

/// Returns the lower half of XᵀX + Λ, of centered X.
fn gram(design: &Design<'_>, l2: &[f64]) -> Vec<f64> {
    let size = design.dimension();
    let count = design.rows.len() as f64;
    let mut matrix = vec![0.0; size * size];
    let rows = matrix.par_chunks_mut(size.max(1)).enumerate();
    rows.for_each(|(i, row)| {
        for (n, x) in design.columns.entries(i) {
            let entries = design.rows.entries(n as usize);
            for (j, other) in entries.take_while(|(j, _)| *j as usize <= i) {
                row[j as usize] += x * other;
            }
        }
        for (entry, mean) in row[..i].iter_mut().zip(&design.means) {
            *entry -= count * design.means[i] * mean;
        }
        row[i] = design.squares[i] + l2[i];
    });
    matrix
}

/// Returns the lower half of X·Λ⁻¹·Xᵀ + I, of centered X.
fn kernel(design: &Design<'_>, l2: &[f64]) -> Vec<f64> {
    let size = design.rows.len();
    let scaled: Vec<f64> = design.means.iter().zip(l2).map(|(m, l2)| m / l2).collect();
    let constant = dot(&scaled, &design.means);
    let offsets = design.by_document(|n| {
        let entries = design.rows.entries(n);
        entries.map(|(j, x)| x * scaled[j as usize]).sum()
    });
    let mut matrix = vec![0.0; size * size];
    let rows = matrix.par_chunks_mut(size.max(1)).enumerate();
    rows.for_each(|(n, row)| {
        for (j, x) in design.rows.entries(n) {
            let entries = design.columns.entries(j as usize);
            for (m, other) in entries.take_while(|(m, _)| *m as usize <= n) {
                row[m as usize] += x * other / l2[j as usize];
            }
        }
        for (entry, offset) in row[..=n].iter_mut().zip(&offsets) {
            *entry += constant - offsets[n] - offset;
        }
        row[n] += 1.0;
    });
    matrix
}

/// Passes over a working set before all features are looked at again.
const PASSES: usize = 100;

/// Passes over a working set end when one gains less than this fraction of the gap that is allowed.
const SMALL: f64 = 0.05;

/// The state of a minimization.
pub(super) struct CoordinateDescent<'a> {
    design: &'a Design<'a>,
    y: &'a [f64],        // [N] centered
    l2: Vec<f64>,        // [D] Λ
    l1: Vec<f64>,        // [D] λ
    pub w: Vec<f64>,     // [D]
    residuals: Vec<f64>, // [N] y − X·w of X as it is
    shift: f64,          // μ·w
}

/// A pass over all features.
pub(super) struct Check {
    /// Twice ½‖r‖² + …: the objective.
    pub objective: f64,
    /// The objective is at most so far above its minimum.
    pub gap: f64,
    working_set: Vec<usize>,
}

impl<'a> CoordinateDescent<'a> {
    /// Starts from `w`, with penalties Σ `l2`·w² + Σ `l1`·|w| of ‖y − X·w‖².
    pub fn new(design: &'a Design<'a>, y: &'a [f64], w: Vec<f64>, l2: &[f64], l1: &[f64]) -> Self {
        Self {
            design,
            y,
            l2: l2.to_vec(),
            l1: l1.iter().map(|c1| 0.5 * c1).collect(),
            w,
            residuals: Vec::new(),
            shift: 0.0,
        }
    }

    /// Computes the residual anew, and the duality gap.
    pub fn check(&mut self) -> Check {
        let fitted = self.design.scores(&self.w, self.design.shift(&self.w));
        self.residuals = self.y.iter().zip(fitted).map(|(y, f)| y - f).collect();
        self.shift = self.design.shift(&self.w);
        let centered: Vec<f64> = self.residuals.iter().map(|r| r + self.shift).collect();
        let products = self.design.transpose_product(&centered);
        let mut ridge = 0.0;
        let mut lasso = 0.0;
        let mut scale = 1.0_f64; // s
        let mut working_set = Vec::new();
        for (j, product) in products.iter().enumerate() {
            let (w, l1) = (self.w[j], self.l1[j]);
            if self.design.squares[j] == 0.0 {
                continue; // a constant feature is the bias
            }
            ridge += self.l2[j] * w * w;
            lasso += l1 * w.abs();
            let gradient = (product - self.l2[j] * w).abs();
            if gradient > l1 {
                scale = scale.min(l1 / gradient);
            }
            if w != 0.0 || gradient > l1 {
                working_set.push(j);
            }
        }
        let square = dot(&centered, &centered) + ridge;
        let primal = 0.5 * square + lasso;
        let dual = scale * dot(&centered, self.y) - 0.5 * scale * scale * square;
        Check { objective: 2.0 * primal, gap: 2.0 * (primal - dual).max(0.0), working_set }
    }

    /// Lowers the objective over the working set until a pass gains less than a fraction of
    /// `allowed`, or there were `limit` passes. Returns the number of passes.
    pub fn descend(
        &mut self,
        check: &Check,
        allowed: f64,
        limit: usize,
        interrupt: Option<&AtomicBool>,
    ) -> usize {
        for pass in 1..=limit.min(PASSES) {
            let mut gain = 0.0;
            for &j in &check.working_set {
                gain += self.update(j);
            }
            let is_interrupted = interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
            if gain <= SMALL * allowed || is_interrupted {
                return pass;
            }
        }
        limit.min(PASSES)
    }

    /// Minimizes over the weight of one feature. Returns a bound of what that gains.
    fn update(&mut self, j: usize) -> f64 {
        let (columns, mean) = (&self.design.columns, self.design.means[j]);
        let square = self.design.squares[j];
        let count = self.y.len() as f64;
        let entries = columns.entries(j);
        let product: f64 = entries.map(|(n, x)| x * self.residuals[n as usize]).sum();
        let old = self.w[j];
        let z = product + self.shift * count * mean + square * old;
        let new = soft_threshold(z, self.l1[j]) / (square + self.l2[j]);
        let change = new - old;
        if change == 0.0 {
            return 0.0;
        }
        self.w[j] = new;
        for (n, x) in columns.entries(j) {
            self.residuals[n as usize] -= change * x;
        }
        self.shift += change * mean;
        (square + self.l2[j]) * change * change
    }
}

/// S(z, λ).
fn soft_threshold(z: f64, threshold: f64) -> f64 {
    if z > threshold {
        z - threshold
    } else if z < -threshold {
        z + threshold
    } else {
        0.0
    }
}

/// Σ loss + noise + Σ λ_j·w_j² as a function of w and the bias of centered features, `[D + 1]`.
pub(super) struct SmoothObjective<'a> {
    pub design: &'a Design<'a>,
    pub targets: &'a [f64], // [N]
    pub loss: RegressionLoss,
    /// The noise; of least squares it is in `l2`.
    pub noise: InputNoise,
    pub l2: &'a [f64], // [D] λ
}

/// The loss of a document and its derivatives.
struct Derivatives {
    value: f64,
    by_score: f64,
    by_variance: f64,
}

impl SmoothObjective<'_> {
    fn differentiate(&self, y: f64, f: f64, variance: f64) -> Derivatives {
        match self.loss {
            RegressionLoss::Poisson => {
                let mean = f.exp();
                Derivatives {
                    value: mean * (1.0 + 0.5 * variance) - y * f,
                    by_score: mean * (1.0 + 0.5 * variance) - y,
                    by_variance: 0.5 * mean,
                }
            }
            _ => {
                Derivatives { value: (f - y) * (f - y), by_score: 2.0 * (f - y), by_variance: 0.0 }
            }
        }
    }

    /// Returns V of each document; empty if there is no noise.
    fn variances(&self, w: &[f64]) -> Vec<f64> {
        match self.noise {
            InputNoise::None => Vec::new(),
            InputNoise::Proportional(rate) => self.design.by_document(|n| {
                let entries = self.design.rows.entries(n);
                let squares = entries.map(|(j, x)| (x * w[j as usize]).powi(2));
                rate * squares.sum::<f64>()
            }),
            InputNoise::Additive(variance) => {
                let square: f64 = w.iter().map(|w| w * w).sum();
                vec![variance * square; self.targets.len()]
            }
        }
    }

    /// Adds the gradient of the noise term; `by_variance` are the derivatives by V, `[N]`.
    fn add_noise(&self, w: &[f64], by_variance: &[f64], gradient: &mut [f64]) {
        let parts = match self.noise {
            InputNoise::None => return,
            InputNoise::Proportional(rate) => self.design.by_feature(|j| {
                let entries = self.design.columns.entries(j);
                let sum: f64 = entries.map(|(n, x)| by_variance[n as usize] * x * x).sum();
                2.0 * rate * w[j] * sum
            }),
            InputNoise::Additive(variance) => {
                let sum: f64 = by_variance.iter().sum();
                w.iter().map(|w| 2.0 * variance * w * sum).collect()
            }
        };
        for (gradient, part) in gradient.iter_mut().zip(parts) {
            *gradient += part;
        }
    }
}

impl Objective for SmoothObjective<'_> {
    type Detail = ();

    fn dimension(&self) -> usize {
        self.design.dimension() + 1
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, ()) {
        let (w, bias) = (&x[..x.len() - 1], x[x.len() - 1]);
        let scores = self.design.scores(w, bias);
        let variances = self.variances(w);
        let (mut value, mut bias_gradient) = (0.0, 0.0);
        let mut by_score = Vec::with_capacity(scores.len());
        let mut by_variance = Vec::with_capacity(variances.len());
        for (n, (&f, &y)) in scores.iter().zip(self.targets).enumerate() {
            let variance = variances.get(n).copied().unwrap_or(0.0);
            let derivatives = self.differentiate(y, f, variance);
            value += derivatives.value;
            bias_gradient += derivatives.by_score;
            by_score.push(derivatives.by_score);
            if !variances.is_empty() {
                by_variance.push(derivatives.by_variance);
            }
        }
        let parts = self.design.transpose_product(&by_score);
        for (j, (gradient, part)) in gradient.iter_mut().zip(parts).enumerate() {
            value += self.l2[j] * w[j] * w[j];
            *gradient = part + 2.0 * self.l2[j] * w[j];
        }
        gradient[w.len()] = bias_gradient;
        self.add_noise(w, &by_variance, gradient);
        (value, ())
    }

    fn inverse_curvature(&self) -> Option<Vec<f32>> {
        let count = self.targets.len() as f64;
        let curvature = match self.loss {
            RegressionLoss::Poisson => self.targets.iter().map(|y| y / count).sum(),
            _ => 2.0,
        };
        let features = (0..self.design.dimension())
            .map(|j| curvature * self.design.squares[j] + 2.0 * self.l2[j]);
        let inverse = |h: f64| if h > 0.0 { (1.0 / h) as f32 } else { 1.0 };
        let inverses: Vec<f32> = features.chain([curvature * count]).map(inverse).collect();
        let is_usable = inverses.iter().all(|h| h.is_finite() && *h > 0.0);
        is_usable.then_some(inverses)
    }
}
