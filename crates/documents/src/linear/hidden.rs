//! A layer of hidden units under feature noise: support vector machines, logistic and least-squares
//! regression of K learned features.
//!
//! Problem: the score of a document with features x is
//!
//! ```text
//! f(x) = b + Σ_k w_k·g_k(x)        g_k = σ(u_k)        u_k = c_k + Σ_j x_j·α_jk
//! ```
//!
//! Find α `[D][K]`, c and w `[K]`, and b that minimize
//!
//! ```text
//! J = Σ_n v_n · B(y_n, f_n, V_n) + c·(‖α‖² + ‖c‖² + ‖w‖²)
//! ```
//!
//! where B is the bound of `loss.rs`, and V the variance of the expansion of f to first order in
//! the noise of x (and b is penalized, too, if that is asked for):
//!
//! ```text
//! V = Σ_j Var[x_j]·h_j²            h_j = ∂f/∂x_j = Σ_k z_k·α_jk            z_k = w_k·g_k·(1 − g_k)
//! ```
//!
//! with Var[x_j] = ρ·x_j². Biases have no noise.
//!
//! # Gradient
//!
//! With m_k = Σ_j Var[x_j]·h_j·α_jk, so that ∂V/∂z_k = 2m_k, and the derivatives of B,
//!
//! ```text
//! ∂J/∂w_k  = Σ_n v·( ∂B/∂f·g_k + 2·∂B/∂V·m_k·g_k(1 − g_k) )
//! p_k      = v·( ∂B/∂f·z_k + 2·∂B/∂V·m_k·z_k·(1 − 2g_k) )                  (∂J/∂u_k)
//! ∂J/∂α_jk = Σ_n x_j·p_k + 2v·∂B/∂V·Var[x_j]·h_j·z_k
//! ```
//!
//! besides the penalty. The second terms of the first two lines are those by which V depends on all
//! other features of the document; the gradient as the paper prints it lacks them in α.
//!
//! # Cost
//!
//! Cost of an evaluation: 3·K multiplications for each feature of a document by row, 3·K by column,
//! and 3·N·K numbers of memory. Rows and columns are each summed by one thread, in order: results
//! have the same bits for any number of threads.
//!
//! J is not convex. All weights are minimized at once by L-BFGS; the paper takes turns between γ,
//! w and α, and each of its turns lowers J, too.
//!
//! Source: N. Chen, J. Zhu, J. Chen, T. Chen, "Dropout training for SVMs with data augmentation",
//! 2015, sections 4.2 (eqs. 17–20) and 5.2 (eqs. 36–37). There ‖w‖² and ‖α‖² count once, losses 2c
//! or c times.

use rayon::prelude::*;

use super::design::{Design, MIN_ROWS};
use super::loss::Loss;
use super::objective::Terms;
use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::math::{dot, sigmoid};
use dropchain::kernel::optim::Objective;
use dropchain::kernel::random::uniform;

/// δ of hinges, relative to that without hidden units. It is then a hundredth of the margin.
pub(super) const SMOOTHING: f64 = 100.0;

/// The smallest number of rows or columns that a thread takes is divided by this.
const WORK: usize = 8;

/// The objective of documents with K hidden units. θ is α `[D][K]`, c `[K]`, w `[K]`, b.
#[derive(Debug)]
pub(super) struct HiddenObjective<'a> {
    pub design: &'a Design,
    pub targets: &'a [f64], // [N] ±1
    pub weights: &'a [f64], // [N]
    pub loss: Loss,
    pub delta: f64,
    pub rate: f64, // ρ
    /// c, and whether it is that of b, too.
    pub l2: (f64, bool),
    pub units: usize,
}

/// θ in its parts.
#[derive(Clone, Copy)]
struct Weights<'t> {
    alpha: &'t [f64],   // [D][K]
    biases: &'t [f64],  // [K] c
    outputs: &'t [f64], // [K] w
    bias: f64,          // b
}

/// The contribution of a document to J and its gradient.
struct Row {
    value: [f64; 2],      // noise and loss
    by_score: f64,        // v·∂B/∂f
    by_variance: f64,     // 2v·∂B/∂V·ρ
    slopes: Vec<f64>,     // [K] z
    by_units: Vec<f64>,   // [K] p
    by_outputs: Vec<f64>, // [K] terms of ∂J/∂w
}

/// Returns the weights that training starts from: α at random, such that u has a variance of about
/// 1, and w alternately positive and negative. From α = 0, units would stay alike.
pub(super) fn start(design: &Design, units: usize, seed: u64) -> Vec<f64> {
    let (rows, scales) = (&design.rows, &design.scales);
    let columns = scales.len();
    let squares: f64 = (0..rows.len())
        .flat_map(|n| rows.entries(n))
        .map(|(j, x)| (scales[j as usize] * x).powi(2))
        .sum();
    let mean = squares / rows.len().max(1) as f64;
    let spread = if mean > 0.0 { (3.0 / mean).sqrt() } else { 1.0 };
    let alpha = (0..(columns * units) as u64).map(|i| spread * (2.0 * uniform(seed, i) - 1.0));
    let size = 1.0 / (units as f64).sqrt();
    let outputs = (0..units).map(|k| if k % 2 == 0 { size } else { -size });
    let biases = std::iter::repeat_n(0.0, units);
    alpha.chain(biases).chain(outputs).chain(std::iter::once(0.0)).collect()
}

/// Returns b + Σ_k w_k·σ(u_k); w and u are `[K]`.
pub(crate) fn output_score(weights: &[f64], bias: f64, inputs: &[f64]) -> f64 {
    let units = weights.iter().zip(inputs);
    bias + units.map(|(w, &u)| w * sigmoid(u)).sum::<f64>()
}

impl HiddenObjective<'_> {
    /// Returns the scores of documents of a matrix with the columns of the design, `[N]`.
    pub fn scores(&self, theta: &[f64], rows: &SparseRows) -> Vec<f64> {
        let Weights { alpha, biases, outputs, bias } = self.weights(theta);
        let score = |n: usize| {
            let mut inputs = biases.to_vec();
            for (j, x) in rows.entries(n) {
                let alpha = &alpha[j as usize * self.units..][..self.units];
                add_multiple(&mut inputs, self.design.scales[j as usize] * x, alpha);
            }
            output_score(outputs, bias, &inputs)
        };
        (0..rows.len()).into_par_iter().map(score).collect()
    }

    fn weights<'t>(&self, theta: &'t [f64]) -> Weights<'t> {
        let (alpha, rest) = theta.split_at(self.design.dimension() * self.units);
        let (biases, rest) = rest.split_at(self.units);
        let (outputs, bias) = rest.split_at(self.units);
        Weights { alpha, biases, outputs, bias: bias[0] }
    }

    /// Computes what document `n` adds, and how the gradient of its features depends on it.
    /// `buffers` are of K numbers each.
    fn row(&self, n: usize, weights: Weights<'_>, [hidden, moments]: &mut [Vec<f64>; 2]) -> Row {
        let Design { rows, scales, .. } = self.design;
        let units = self.units;
        let alpha = |j: u32| &weights.alpha[j as usize * units..][..units];
        hidden.copy_from_slice(weights.biases);
        for (j, x) in rows.entries(n) {
            add_multiple(hidden, scales[j as usize] * x, alpha(j));
        }
        hidden.iter_mut().for_each(|u| *u = sigmoid(*u));
        let score = weights.bias + dot(weights.outputs, hidden);
        let slope = |g: f64| g * (1.0 - g);
        let pairs = weights.outputs.iter().zip(&*hidden);
        let slopes: Vec<f64> = pairs.map(|(w, g)| w * slope(*g)).collect();
        // m and V.
        moments.fill(0.0);
        let mut variance = 0.0;
        if self.rate > 0.0 {
            for (j, x) in rows.entries(n) {
                let h = dot(&slopes, alpha(j));
                variance += x * x * h * h;
                add_multiple(moments, x * x * h, alpha(j));
            }
        }
        let (y, weight) = (self.targets[n], self.weights[n]);
        let point = self.loss.noisy(y, score, self.rate * variance, self.delta);
        let by_score = weight * (point.slope + point.noise_slope);
        let by_variance = 2.0 * weight * point.by_variance * self.rate;
        let by_unit =
            |k: usize| slopes[k] * (by_score + by_variance * moments[k] * (1.0 - 2.0 * hidden[k]));
        let by_output =
            |k: usize| by_score * hidden[k] + by_variance * moments[k] * slope(hidden[k]);
        Row {
            value: [point.noise, point.loss].map(|value| weight * value),
            by_score,
            by_variance,
            by_units: (0..units).map(by_unit).collect(),
            by_outputs: (0..units).map(by_output).collect(),
            slopes,
        }
    }

    /// Adds the derivatives with respect to the weights of column `j`.
    fn add_column(&self, j: usize, alpha: &[f64], rows: &[Row], gradient: &mut [f64]) {
        let scale = self.design.scales[j];
        for (n, x) in self.design.columns.entries(j) {
            let row = &rows[n as usize];
            add_multiple(gradient, scale * x, &row.by_units);
            if self.rate > 0.0 {
                let factor = row.by_variance * x * x * dot(&row.slopes, alpha);
                add_multiple(gradient, factor, &row.slopes);
            }
        }
    }
}

impl Objective for HiddenObjective<'_> {
    type Detail = Terms;

    fn dimension(&self) -> usize {
        (self.design.dimension() + 2) * self.units + 1
    }

    fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64]) -> (f64, Terms) {
        let units = self.units;
        let weights = self.weights(theta);
        let buffers = || [vec![0.0; units], vec![0.0; units]];
        let rows: Vec<Row> = (0..self.design.rows.len())
            .into_par_iter()
            .with_min_len(MIN_ROWS / WORK)
            .map_init(buffers, |buffers, n| self.row(n, weights, buffers))
            .collect();
        let (strength, penalizes_bias) = self.l2;
        let (columns, rest) = gradient.split_at_mut(self.design.dimension() * units);
        let by_column = columns.par_chunks_exact_mut(units);
        let alphas = weights.alpha.par_chunks_exact(units);
        let by_column = by_column.zip(alphas).enumerate();
        by_column.with_min_len(MIN_ROWS / WORK).for_each(|(j, (gradient, alpha))| {
            for (g, a) in gradient.iter_mut().zip(alpha) {
                *g = 2.0 * strength * a;
            }
            self.add_column(j, alpha, &rows, gradient);
        });
        let own = &theta[columns.len()..];
        for (g, weight) in rest.iter_mut().zip(own) {
            *g = 2.0 * strength * weight;
        }
        let mut l2 = strength * dot(theta, theta);
        if !penalizes_bias {
            rest[2 * units] = 0.0;
            l2 -= strength * weights.bias * weights.bias;
        }
        let (mut noise, mut loss) = (0.0, 0.0);
        for row in &rows {
            noise += row.value[0];
            loss += row.value[1];
            add_multiple(&mut rest[..units], 1.0, &row.by_units);
            add_multiple(&mut rest[units..2 * units], 1.0, &row.by_outputs);
            rest[2 * units] += row.by_score;
        }
        (loss + noise + l2, Terms { loss, noise, l2 })
    }
}

/// Adds `factor`·`b` to `a`.
fn add_multiple(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}
