//! The objective of linear scores: value and gradient.
//!
//! ```text
//! J(φ) = Σ_n v_n·loss(y_n, f_n) + Σ_n λ_n·R(f_n, V_n) + Σ c2·φ²        f = κ·Σ_j √m_j·x_j·φ_j + b
//! ```
//!
//! with F scores of a document: one for two classes, else one of each class. R is what
//! noise adds (`loss.rs`, `noise.rs`); with V = ρ·Σ x²·φ², or σ²·Σ φ², for each score. v is the
//! weight of a document, 0 without a label, and λ that of its noise.
//!
//! A loss of y·f has κ = √2, so that ‖φ‖² = ½‖w‖² is that of the weights ±½w of two classes. The
//! bias b = β·value has a feature of its own, without noise.
//!
//! # Cost
//!
//! Cost of an evaluation: a product with X and one with Xᵀ of F multiplications for each feature of
//! a document, twice as many with noise. Rows and columns are each summed by one thread, in order:
//! results have the same bits for any number of threads.

use rayon::prelude::*;

use super::design::{Design, MIN_ROWS, entry_sums};
use super::loss::{Loss, Point, log_cosh, multiplier};
use super::noise::{Noise, Sampling, add_quadratic, add_shared, add_unscented, probabilities};
use dropchain::kernel::math::{add, dot, sigmoid};
use dropchain::kernel::optim::{Change, Objective};

/// Documents with their classes.
#[derive(Debug)]
pub(super) struct Examples {
    pub targets: Vec<f64>, // [N][F] y: 1 for the class of the document and −1 for others
    pub weights: Vec<f64>, // [N] v
    pub factors: Vec<f64>, // [N] λ
}

/// The terms of the objective, without the L1 penalty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// The losses without noise.
    pub loss: f64,
    /// The noise term.
    pub noise: f64,
    /// The L2 penalty.
    pub l2: f64,
}

/// The objective. φ is the weights, `[D][F]`, then β, `[F]`.
#[derive(Debug)]
pub(super) struct LinearObjective<'a> {
    pub design: &'a Design,
    pub examples: Examples,
    pub loss: Loss,
    pub is_joint: bool, // softmax of more than two classes
    pub noise: Noise,
    pub multipliers: Vec<f64>, // [N][F] β of smooth hinges
    pub l2: Vec<f64>,          // of each number in φ
    pub curvature: Vec<f32>,   // its estimates
}

/// The intermediate results of a pass over documents, for the gradient.
struct Pass {
    slopes: Vec<f64>,      // [N][F] ∂J/∂f
    by_variance: Vec<f64>, // [N][F] ∂J/∂V; of shared masks λ·p; else empty
    sampled: Vec<f64>,     // [N][S][F] λ/S·∂A/∂f̃
}

impl LinearObjective<'_> {
    /// Sets each multiplier to its α, and σ, where hinges are smooth.
    pub fn set_multipliers(&mut self, phi: &[f64], sigma: f64) {
        let Noise::Smooth(old) = self.noise else { return };
        let scores = self.design.scores(phi, &self.design.rows);
        for ((beta, f), y) in self.multipliers.iter_mut().zip(scores).zip(&self.examples.targets) {
            *beta = multiplier(*y, f, old, *beta);
        }
        self.noise = Noise::Smooth(sigma);
    }

    /// Computes what document `n` adds, given its scores and variances, which become the
    /// derivatives by these. Returns its loss and its R, times v and λ.
    fn document(&self, n: usize, scores: &mut [f64], variances: &mut [f64]) -> [f64; 2] {
        let (weight, factor) = (self.examples.weights[n], self.examples.factors[n]);
        let outputs = scores.len();
        let mut sums = [0.0; 2];
        for (k, (f, v)) in scores.iter_mut().zip(variances).enumerate() {
            let i = n * outputs + k;
            let y = self.examples.targets[i];
            let point: Point = match self.noise {
                Noise::None | Noise::Sampled(_) => self.loss.plain(y, *f),
                Noise::Smooth(sigma) => self.loss.smooth(y, *f, sigma, self.multipliers[i]),
                Noise::Gaussian(_) => self.loss.gaussian(y, *f, *v),
                _ => self.loss.noisy(y, *f, *v),
            };
            sums[0] += weight * point.loss;
            sums[1] += factor * point.noise;
            *f = weight * point.slope + factor * point.noise_slope;
            *v = factor * point.by_variance;
        }
        sums
    }

    /// Like [`document`](Self::document) for the softmax of more than two classes.
    fn joint_loss(&self, n: usize, weights: &[f64], scores: &mut [f64], v: &mut [f64]) -> [f64; 2] {
        let (weight, factor) = (self.examples.weights[n], self.examples.factors[n]);
        let targets = &self.examples.targets[n * scores.len()..][..scores.len()];
        let gold = targets.iter().position(|y| *y > 0.0).unwrap_or(0);
        let score = scores[gold];
        let partition = probabilities(scores);
        let p = scores.to_vec();
        scores.iter_mut().for_each(|p| *p *= weight);
        scores[gold] -= weight;
        let noise = match self.noise {
            Noise::None | Noise::Sampled(_) => 0.0,
            Noise::Shared(rate) => {
                v.fill(0.0); // U
                for (j, x) in self.design.rows.entries(n) {
                    let own = self.design.weights(weights, j);
                    let u = dot(&p, own);
                    for (out, w) in v.iter_mut().zip(own) {
                        *out += rate * x * x * (w - u) * (w - u);
                    }
                }
                add_shared(factor, &p, v, scores)
            }
            Noise::Gaussian(_) => add_unscented(factor, &p, v, scores),
            _ => add_quadratic(factor, &p, v, scores),
        };
        [weight * (partition - score), factor * noise]
    }

    /// Adds the noise of sampled masks to the slopes of a document, and writes those of the
    /// samples, `[S][F]`. Returns λ·R.
    fn sample(
        &self,
        sampling: &Sampling,
        n: usize,
        (weights, biases): (&[f64], &[f64]),
        slopes: &mut [f64],
        sampled: &mut [f64],
    ) -> f64 {
        let (factor, outputs) = (self.examples.factors[n], biases.len());
        let share = factor / sampling.samples as f64;
        let mut plain = biases.to_vec();
        self.design.add_scores(&self.design.rows, n, weights, &mut plain);
        let mut value = 0.0 - factor * partition_slopes(&mut plain);
        slopes.iter_mut().zip(&plain).for_each(|(slope, p)| *slope -= factor * p);
        for (s, scores) in sampled.chunks_exact_mut(outputs).enumerate() {
            scores.copy_from_slice(biases);
            for (j, x) in self.design.rows.entries(n) {
                let own = self.design.weights(weights, j);
                for (k, (score, w)) in scores.iter_mut().zip(own).enumerate() {
                    let mask = sampling.factor([n, s], j as usize, [k, outputs]);
                    *score += mask * self.design.scales[j as usize] * x * w;
                }
            }
            value += share * partition_slopes(scores);
            scores.iter_mut().for_each(|p| *p *= share);
        }
        value
    }

    /// Makes a pass over all documents. Also returns the sums of losses and of R.
    fn pass(&self, phi: &[f64]) -> (Pass, [f64; 2]) {
        let (weights, biases) = self.design.parts(phi);
        let (count, outputs) = (self.design.rows.len(), biases.len());
        let mut additive = vec![0.0; outputs]; // V of additive noise
        if let Noise::Additive(variance) = self.noise {
            weights.chunks_exact(outputs).for_each(|own| add_squares(&mut additive, variance, own));
        }
        let samples = if let Noise::Sampled(sampling) = &self.noise { sampling.samples } else { 0 };
        let mut pass = Pass {
            slopes: vec![0.0; count * outputs],
            by_variance: vec![0.0; count * outputs],
            sampled: vec![0.0; count * outputs * samples],
        };
        let rate = self.noise.rate();
        let by_row =
            pass.slopes.par_chunks_mut(outputs).zip(pass.by_variance.par_chunks_mut(outputs));
        let by_row = by_row.enumerate().with_min_len(MIN_ROWS);
        let values = by_row.map(|(n, (scores, variances))| {
            if let ([score], [variance]) = (&mut *scores, &mut *variances) {
                let [f, v] = entry_sums(self.design.rows.row(n), |j, x| {
                    let product = x * weights[j];
                    [self.design.scales[j] * product, product * product]
                });
                (*score, *variance) = (f + biases[0], rate * v + additive[0]);
                return self.document(n, scores, variances);
            }
            scores.copy_from_slice(&biases);
            variances.copy_from_slice(&additive);
            self.design.add_scores(&self.design.rows, n, weights, scores);
            if rate > 0.0 && !matches!(self.noise, Noise::Shared(_)) {
                for (j, x) in self.design.rows.entries(n) {
                    add_squares(variances, rate * x * x, self.design.weights(weights, j));
                }
            }
            match self.is_joint {
                true => self.joint_loss(n, weights, scores, variances),
                false => self.document(n, scores, variances),
            }
        });
        let values: Vec<[f64; 2]> = values.collect();
        let mut sums = values.iter().fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
        if let Noise::Sampled(sampling) = &self.noise {
            let by_row = pass.slopes.par_chunks_mut(outputs);
            let by_row = by_row.zip(pass.sampled.par_chunks_mut(outputs * samples)).enumerate();
            let values = by_row.map(|(n, (slopes, sampled))| {
                self.sample(sampling, n, (weights, &biases), slopes, sampled)
            });
            sums[1] += values.collect::<Vec<f64>>().iter().sum::<f64>();
        }
        (pass, sums)
    }

    /// Writes the gradient by the weights of column `j`, but for the penalty.
    fn write_column(&self, j: usize, weights: &[f64], pass: &Pass, gradient: &mut [f64]) {
        let (outputs, scale) = (self.design.outputs, self.design.scales[j]);
        let rate = self.noise.rate();
        if outputs == 1 {
            let [slope, variance] = entry_sums(self.design.columns.row(j), |n, x| {
                [x * pass.slopes[n], x * x * pass.by_variance[n]]
            });
            gradient[0] = scale * slope + 2.0 * rate * weights[0] * variance;
        } else {
            gradient.fill(0.0);
            for (n, x) in self.design.columns.entries(j) {
                let row = n as usize * outputs;
                let slopes = &pass.slopes[row..][..outputs];
                let variances = &pass.by_variance[row..][..outputs];
                let own = slopes.iter().zip(variances).zip(weights).zip(&mut *gradient);
                if let Noise::Shared(_) = self.noise {
                    // λ·p, of which the sum is λ.
                    let all: f64 = variances.iter().sum();
                    let u = if all > 0.0 { dot(variances, weights) / all } else { 0.0 };
                    own.for_each(|(((slope, v), w), g)| {
                        *g += scale * x * slope + rate * x * x * v * (w - u);
                    });
                } else {
                    own.for_each(|(((slope, v), w), g)| {
                        *g += scale * x * slope + 2.0 * rate * x * x * w * v;
                    });
                }
            }
        }
        if let Noise::Sampled(sampling) = &self.noise {
            let samples = sampling.samples;
            for (n, x) in self.design.columns.entries(j) {
                for s in 0..samples {
                    let row = &pass.sampled[(n as usize * samples + s) * outputs..][..outputs];
                    for (k, (slope, g)) in row.iter().zip(&mut *gradient).enumerate() {
                        let mask = sampling.factor([n as usize, s], j, [k, outputs]);
                        *g += mask * scale * x * slope;
                    }
                }
            }
        }
    }
}

/// Adds factor·w² to variances.
#[inline(always)]
fn add_squares(variances: &mut [f64], factor: f64, weights: &[f64]) {
    variances.iter_mut().zip(weights).for_each(|(v, w)| *v += factor * w * w);
}

/// Replaces scores by the derivatives of A, and returns A; that of one score f is ln 2cosh(½f).
fn partition_slopes(scores: &mut [f64]) -> f64 {
    if let [f] = scores {
        let value = log_cosh(f.abs());
        *f = sigmoid(*f) - 0.5;
        return value;
    }
    probabilities(scores)
}

impl Objective for LinearObjective<'_> {
    type Detail = Terms;

    fn dimension(&self) -> usize {
        self.l2.len()
    }

    fn evaluate(&mut self, phi: &[f64], gradient: &mut [f64]) -> (f64, Terms) {
        let (pass, [loss, noise]) = self.pass(phi);
        let outputs = self.design.outputs;
        let (weights, biases) = gradient.split_at_mut(phi.len() - outputs);
        let by_column = weights.par_chunks_exact_mut(outputs).zip(phi.par_chunks_exact(outputs));
        by_column.enumerate().with_min_len(MIN_ROWS).for_each(|(j, (gradient, weights))| {
            self.write_column(j, weights, &pass, gradient);
        });
        biases.fill(0.0);
        pass.slopes.chunks_exact(outputs).for_each(|slopes| add(biases, slopes));
        pass.sampled.chunks_exact(outputs).for_each(|slopes| add(biases, slopes));
        let mut by_variance = vec![0.0; outputs];
        pass.by_variance.chunks_exact(outputs).for_each(|own| add(&mut by_variance, own));
        biases.iter_mut().for_each(|b| *b *= self.design.bias);
        if let Noise::Additive(variance) = self.noise {
            for (i, gradient) in weights.iter_mut().enumerate() {
                *gradient += 2.0 * variance * by_variance[i % outputs] * phi[i];
            }
        }
        let mut l2 = 0.0;
        for ((g, w), strength) in gradient.iter_mut().zip(phi).zip(&self.l2) {
            l2 += strength * w * w;
            *g += 2.0 * strength * w;
        }
        (loss + noise + l2, Terms { loss, noise, l2 })
    }

    fn inverse_curvature(&self) -> Option<Vec<f32>> {
        Some(self.curvature.clone())
    }

    fn begin_iteration(&mut self, iteration: u64, _: bool) -> Change {
        let Noise::Sampled(sampling) = &mut self.noise else { return Change::None };
        sampling.iteration = iteration;
        Change::Samples
    }
}
