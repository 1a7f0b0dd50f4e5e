//! E\[A(s)\] − A(μ) of one token by sampling the Gaussian scores.
//!
//! Every draw ε ~ N(0, I) is used with both signs,
//!
//! ```text
//! R = 1/N Σ_n ( A(μ + √V∘ε_n) + A(μ − √V∘ε_n) − 2A(μ) )              of N/2 draws
//! ```
//!
//! so the terms of first order cancel, and since A is convex, R ≥ 0: the sampled objective is
//! bounded below like the expected one. The draws of a token depend on the seed and on its number
//! in the data and never change, so this is a function of the weights, of which the derivatives
//!
//! ```text
//! ∂R/∂μ = 1/N Σ softmax(s) − p        ∂R/∂V_b = 1/N Σ softmax(s)_b·(±ε_b)/(2√V_b)
//! ```
//!
//! over all N scores s are the exact gradient: a line search works. Where V_b is 0, R has a kink as
//! a function of weights, like √θ²; its symmetric derivative is 0, and so is ∂R/∂V_b here.
//!
//! Time O(N·K) per token, whatever the number of attributes.

use crate::random::{nth, uniform};

/// Buffers, `[K]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    logs: Vec<f64>,       // log p
    deviations: Vec<f64>, // √V
    draw: Vec<f64>,       // √V·ε
    softmax: [Vec<f64>; 2],
    means: Vec<f64>,  // Σ softmax
    slopes: Vec<f64>, // Σ ±softmax·√V·ε
}

/// What determines the draws of a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    /// N/2.
    pub pairs: u32,
    pub seed: u64,
    /// The number of the token.
    pub token: u64,
}

/// Returns normal deviate `n` of a seed: Box and Muller's method on SplitMix64.
fn normal(seed: u64, n: u64) -> f64 {
    let [radius, angle] = [n | 1, n & !1].map(|i| uniform(seed, i));
    let (sine, cosine) = (std::f64::consts::TAU * angle).sin_cos();
    (-2.0 * radius.ln()).sqrt() * if n & 1 == 0 { cosine } else { sine }
}

/// Overwrites scores with their softmax and returns A.
fn softmax(scores: &mut [f64]) -> f64 {
    let peak = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for x in scores.iter_mut() {
        *x = (*x - peak).exp();
        sum += *x;
    }
    scores.iter_mut().for_each(|x| *x /= sum);
    peak + sum.ln()
}

impl Samples {
    /// Returns weight·R of a token with the probabilities `p` and the variances, and adds its
    /// derivatives with respect to scores and variances, all `[K]`.
    pub fn add_token(
        &mut self,
        draws: Draws,
        weight: f64,
        p: &[f64],
        variance: &[f64],
        out: [&mut [f64]; 2],
    ) -> f64 {
        let seed = nth(draws.seed, draws.token);
        for (array, from) in [(&mut self.logs, p), (&mut self.deviations, variance)] {
            array.clear();
            array.extend_from_slice(from);
        }
        self.logs.iter_mut().for_each(|x| *x = x.ln());
        self.deviations.iter_mut().for_each(|x| *x = x.sqrt());
        for array in [&mut self.means, &mut self.slopes] {
            array.clear();
            array.resize(p.len(), 0.0);
        }
        let mut total = 0.0;
        for pair in 0..u64::from(draws.pairs) {
            let first = pair * p.len() as u64;
            let draw = self.deviations.iter().zip(first..);
            self.draw.clear();
            self.draw
                .extend(draw.map(|(deviation, n)| deviation * normal(seed, n)));
            for (sign, softmaxes) in [1.0, -1.0].into_iter().zip(&mut self.softmax) {
                softmaxes.clear();
                let scores = self.logs.iter().zip(&self.draw);
                softmaxes.extend(scores.map(|(x, difference)| x + sign * difference));
                total += softmax(softmaxes);
            }
            let [plus, minus] = &self.softmax;
            for (b, difference) in self.draw.iter().enumerate() {
                self.means[b] += (plus[b] - p[b]) + (minus[b] - p[b]);
                self.slopes[b] += (plus[b] - minus[b]) * difference;
            }
        }
        let scale = weight / f64::from(2 * draws.pairs);
        let [scores, variances] = out;
        for b in 0..p.len() {
            scores[b] += scale * self.means[b];
            if variance[b] > 0.0 {
                variances[b] += scale * self.slopes[b] / (2.0 * variance[b]);
            }
        }
        scale * total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviates_have_the_moments_of_the_normal_distribution() {
        let n = 200_000;
        let moment = |power: i32| -> f64 {
            let sum: f64 = (0..n).map(|i| normal(7, i).powi(power)).sum();
            sum / n as f64
        };
        // Four standard errors: those of x, x², x⁴ are √(1/n), √(2/n), √(96/n).
        assert!(moment(1).abs() < 4.0 * (1.0 / n as f64).sqrt());
        assert!((moment(2) - 1.0).abs() < 4.0 * (2.0 / n as f64).sqrt());
        assert!((moment(4) - 3.0).abs() < 4.0 * (96.0 / n as f64).sqrt());
        let neighbors: f64 = (0..n).map(|i| normal(7, i) * normal(7, i + 1)).sum();
        assert!((neighbors / n as f64).abs() < 4.0 * (1.0 / n as f64).sqrt());
    }
}
