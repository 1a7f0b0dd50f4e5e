//! The smooth part of the objective, for L-BFGS and OWL-QN.

use super::design::Design;
use super::record::RegressionLoss;
use crate::irls::InputNoise;
use dropchain::optim::Objective;

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
            _ => Derivatives {
                value: (f - y) * (f - y),
                by_score: 2.0 * (f - y),
                by_variance: 0.0,
            },
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
