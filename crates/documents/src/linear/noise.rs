//! Noise on features, and what it adds to −log p(class) of a document with K scores.
//!
//! With the probabilities p, the variances V of the scores, and the log-partition A,
//!
//! | noise | R |
//! |---|---|
//! | masks of weights | ½ Σ p·(1 − p)·V |
//! | masks of inputs | ½ Σ_b p_b·U_b, U_b = ρ Σ_j x²·(θ_jb − u_j)², u_j = Σ_c p_c·θ_jc |
//! | Gaussian scores | E[A(s)] − A(f), s ~ N(f, V), by the unscented transform |
//! | sampled masks | (1/S) Σ_s A(f̃_s) − A(f), which the quadratic noise term approximates |
//!
//! As Σ_b p_b·(θ_jb − u_j) = 0, ∂R/∂p_b = ½U_b and ∂R/∂θ_jb = ρ·x²·p_b·(θ_jb − u_j) with masks of
//! inputs (Wager, Wang and Liang 2013, eq. 12).
//!
//! # The unscented transform
//!
//! (Julier and Uhlmann 1997.) The K independent scores are represented by 2K + 1 sigma points: f
//! with the weight κ/(K + κ), and f ± √((K + κ)·V_y)·e_y with the weights 1/(2(K + κ)). With
//! c = K + κ = 3 their fourth moments along each axis are those of the Gaussian, too. With
//! δ_y = √(c·V_y), q = 1 − p, and as e^A is linear in e^(s_y),
//!
//! ```text
//! R = 1/(2c) Σ_y log(1 + u_y)             u_y = 4·p_y·q_y·sinh²(δ_y/2)
//! ∂R/∂V_y = h_y·coth(δ_y/2)/(4·δ_y)       h_y = u_y/(1 + u_y)
//! ∂R/∂f_b = g_b − p_b Σ_{y≠b} g_y/q_y     g_y = h_y·(1 − 2p_y)/(2c)
//! ```
//!
//! For V → 0 it is ½ Σ p·q·V.

use dropchain::kernel::math::log_sum_exp;
use dropchain::kernel::random::{nth, uniform};

/// c = K + κ.
const SPREAD: f64 = 3.0;

/// Below this δ, coth(δ/2)/δ comes from its series.
const SMALL: f64 = 1e-3;

/// Noise on features, and what is computed of it. The bias has none.
#[derive(Clone, Copy, Debug)]
pub(super) enum Noise {
    None,
    /// None, of hinges that are smooth by σ and multipliers.
    Smooth(f64),
    /// The second order or the bound, with V = ρ·Σ x²·φ².
    Proportional(f64),
    /// The same with V = σ²·Σ φ².
    Additive(f64),
    /// Gaussian scores with V = ρ·Σ x²·φ².
    Gaussian(f64),
    /// Masks with ρ that more than two classes share.
    Shared(f64),
    Sampled(Sampling),
}

impl Noise {
    /// Returns ρ.
    pub fn rate(&self) -> f64 {
        match *self {
            Self::Proportional(rate) | Self::Gaussian(rate) | Self::Shared(rate) => rate,
            _ => 0.0,
        }
    }
}

/// The masks of an iteration: features are dropped with rate δ in each sample, and those that
/// remain grow by 1/(1 − δ). There are new masks in every iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    pub samples: usize,
    pub rate: f64, // δ
    pub seed: u64,
    pub iteration: u64,
    pub is_shared: bool, // all classes share a mask
}

impl Sampling {
    /// Returns what feature `column` of a document is multiplied by in a sample, for the score of
    /// class `class` of so many. Two classes have one score: the difference of theirs.
    pub fn factor(&self, [document, sample]: [usize; 2], column: usize, class: [usize; 2]) -> f64 {
        let seed = nth(nth(self.seed, self.iteration), (document * self.samples + sample) as u64);
        let kept = |number: usize| {
            let is_kept = uniform(seed, number as u64) > self.rate;
            if is_kept { 1.0 / (1.0 - self.rate) } else { 0.0 }
        };
        match class {
            _ if self.is_shared => kept(column),
            [_, 1] => 0.5 * (kept(2 * column) + kept(2 * column + 1)),
            [class, of] => kept(column * of + class),
        }
    }
}

/// Replaces scores by probabilities, and returns A.
pub(super) fn probabilities(scores: &mut [f64]) -> f64 {
    let partition = log_sum_exp(scores);
    scores.iter_mut().for_each(|s| *s = (*s - partition).exp());
    partition
}

/// Returns R of masks of weights. Adds factor·∂R/∂f to `slopes`, and replaces the variances by
/// factor·∂R/∂V.
pub(super) fn add_quadratic(factor: f64, p: &[f64], v: &mut [f64], slopes: &mut [f64]) -> f64 {
    let mean: f64 = p.iter().zip(&*v).map(|(p, v)| 0.5 * v * p * (1.0 - 2.0 * p)).sum();
    let mut value = 0.0;
    for ((p, v), slope) in p.iter().zip(v).zip(slopes) {
        value += 0.5 * p * (1.0 - p) * *v;
        *slope += factor * p * (0.5 * *v * (1.0 - 2.0 * p) - mean);
        *v = factor * 0.5 * p * (1.0 - p);
    }
    value
}

/// Returns R of masks of inputs, given U. Adds factor·∂R/∂f to `slopes`, and replaces U by
/// factor·p.
pub(super) fn add_shared(factor: f64, p: &[f64], u: &mut [f64], slopes: &mut [f64]) -> f64 {
    let value = p.iter().zip(&*u).map(|(p, u)| 0.5 * p * u).sum::<f64>();
    for ((p, u), slope) in p.iter().zip(u).zip(slopes) {
        *slope += factor * p * (0.5 * *u - value);
        *u = factor * p;
    }
    value
}

/// Returns R of Gaussian scores. Adds factor·∂R/∂f to `slopes`, and replaces the variances by
/// factor·∂R/∂V.
pub(super) fn add_unscented(factor: f64, p: &[f64], v: &mut [f64], slopes: &mut [f64]) -> f64 {
    // 1 − p loses its digits for the one class that may have p > ½.
    let dominant = p.iter().position(|&p| p > 0.5);
    let rest = |y: usize| p[..y].iter().sum::<f64>() + p[y + 1..].iter().sum::<f64>();
    let mut g = Vec::with_capacity(p.len());
    let mut quotients = Vec::with_capacity(p.len()); // g/q
    let mut total = 0.0;
    for (y, (&p, v)) in p.iter().zip(v).enumerate() {
        let q = if dominant == Some(y) { rest(y) } else { 1.0 - p };
        let delta = (SPREAD * *v).sqrt();
        let product = p * q;
        let root = (0.5 * delta).sinh();
        let u = 4.0 * product * root * root;
        let (value, share) = match u.is_infinite() {
            true => (product.ln() + delta, 1.0), // log(p·q·e^δ)
            false => (u.ln_1p(), u / (1.0 + u)),
        };
        total += value;
        *v = factor
            * match delta < SMALL {
                true => product * (1.0 + delta * delta / 6.0) / (2.0 * (1.0 + u)),
                false => share / ((0.5 * delta).tanh() * 4.0 * delta),
            };
        let slope = share * (1.0 - 2.0 * p) / (2.0 * SPREAD);
        g.push(slope);
        quotients.push(slope / q);
    }
    let quotient = |y: usize| if dominant == Some(y) { 0.0 } else { quotients[y] };
    let others: f64 = (0..p.len()).map(quotient).sum(); // without the dominant class
    let of_dominant = dominant.map_or(0.0, |y| quotients[y]);
    for (y, (&p, slope)) in p.iter().zip(slopes).enumerate() {
        let sum = if dominant == Some(y) { others } else { others - quotients[y] + of_dominant };
        *slope += factor * (g[y] - p * sum);
    }
    total / (2.0 * SPREAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropchain::kernel::random::uniform;

    type Noise = fn(f64, &[f64], &mut [f64], &mut [f64]) -> f64;

    /// R at scores and variances at random, with its derivatives.
    fn at(noise: Noise, scores: &[f64], variances: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let (mut p, mut v) = (scores.to_vec(), variances.to_vec());
        let mut slopes = vec![0.0; p.len()];
        probabilities(&mut p);
        let value = noise(1.0, &p, &mut v, &mut slopes);
        (value, slopes, v)
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        for noise in [add_quadratic as Noise, add_unscented] {
            for seed in 0..20 {
                let spread = 3.0_f64.powi(seed as i32 % 5 - 2);
                let random = |n: u64| spread * uniform(seed, n);
                let scores: Vec<f64> = (0..4).map(|n| 3.0 * random(n)).collect();
                let variances: Vec<f64> = (4..8).map(random).collect();
                let (_, slopes, by_variance) = at(noise, &scores, &variances);
                for k in 0..4 {
                    let moved = |to: &[f64], h: f64| {
                        let mut to = to.to_vec();
                        to[k] += h;
                        to
                    };
                    let h = 1e-5;
                    let [a, b] = [h, -h].map(|h| at(noise, &moved(&scores, h), &variances).0);
                    assert!(((a - b) / (2.0 * h) - slopes[k]).abs() < 1e-8);
                    let [a, b] = [h, -h].map(|h| at(noise, &scores, &moved(&variances, h)).0);
                    assert!(((a - b) / (2.0 * h) - by_variance[k]).abs() < 1e-8);
                }
            }
        }
    }

    #[test]
    fn small_variances_have_the_quadratic_term() {
        let (scores, variances) = ([0.3, -1.0, 2.0], [1e-8, 2e-8, 3e-8]);
        let [a, b] = [add_quadratic as Noise, add_unscented].map(|n| at(n, &scores, &variances).0);
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    }
}
