//! Coordinate descent for least squares with an L1 penalty: the lasso and the elastic net.
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

use std::sync::atomic::{AtomicBool, Ordering};

use super::design::Design;
use dropchain::math::dot;

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
        Check {
            objective: 2.0 * primal,
            gap: 2.0 * (primal - dual).max(0.0),
            working_set,
        }
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
