//! The L2 penalty Σ c2_i·(θ_i − θ0_i)².
//!
//! By default all strengths c2_i are the same and all centers θ0_i are 0. Other strengths tie some
//! weights more tightly than others; other centers are a prior from earlier data: a Gaussian whose
//! mean is an earlier model (Chelba and Acero, *Adaptation of maximum entropy capitalizer*, EMNLP
//! 2004).
//!
//! Parameters are those of attribute classes. A class of m attributes has φ = √m·θ, and
//! m·c2·(θ − θ0)² = c2·(φ − φ0)² with φ0 = √m·θ0: strengths are those of single attributes, centers
//! are scaled like the parameters.
//!
//! # Reweighted noise
//!
//! It is eq. 14 with marginals that are held fixed for a number of iterations, a round.
//!
//! With fixed μ, R is a weighted L2 penalty,
//!
//! ```text
//! R = ½ Σ_{t,a,b} μ(1 − μ)·V = Σ_i Λ_i·θ_i²
//! Λ_jb = ½ρ Σ_t g²·Σ_a μ[t][a][b]·(1 − μ[t][a][b])
//! ```
//!
//! and likewise Λ_ab = ½ρ Σ_t μ[t][a][b]·(1 − μ[t][a][b]) of a transition. This is the adaptive L2
//! penalty of Wager, Wang & Liang 2013, taken literally: an evaluation costs one without noise, and
//! nothing pulls towards confident predictions, as ∇μ does. At the beginning of a round Λ is
//! recomputed at the current θ, where the value is that of eq. 14.
//!
//! Λ follows from the derivatives ∂R/∂V of the sentences as the gradient 2Λ∘θ does, so all kinds
//! of noise, rates of single attributes, collapsed classes and unlabeled text are those of eq. 14.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use super::noise::Noise;
use crate::math::dot;
use crate::optim::Round;
use crate::score::NoiseRates;

/// Parameters per task.
pub(super) const PARAMETER_CHUNK: usize = 1 << 14;

/// The L2 penalty Σ c2_i·(θ_i − θ0_i)².
///
/// A number converts to the penalty with this strength for all parameters and centers 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Penalty {
    strength: f64,
    strengths: Option<Arc<[f64]>>, // [n]
    centers: Option<Arc<[f64]>>,   // [n]
}

impl From<f64> for Penalty {
    fn from(strength: f64) -> Self {
        Self { strength, ..Self::default() }
    }
}

impl Penalty {
    /// Sets a strength for each parameter, `[n]`.
    #[must_use]
    pub fn with_strengths(mut self, strengths: impl Into<Arc<[f64]>>) -> Self {
        self.strengths = Some(strengths.into());
        self
    }

    /// Sets a center for each parameter, `[n]`.
    #[must_use]
    pub fn with_centers(mut self, centers: impl Into<Arc<[f64]>>) -> Self {
        self.centers = Some(centers.into());
        self
    }

    /// Returns the strength c2_i of parameter `i`.
    #[inline]
    pub fn strength(&self, i: usize) -> f64 {
        let strengths = self.strengths.as_ref();
        strengths.map_or(self.strength, |strengths| strengths[i])
    }

    /// Returns the center θ0_i of parameter `i`.
    #[inline]
    pub fn center(&self, i: usize) -> f64 {
        self.centers.as_ref().map_or(0.0, |centers| centers[i])
    }

    /// Returns the penalty at θ.
    pub fn value(&self, theta: &[f64]) -> f64 {
        if self.strengths.is_none() && self.centers.is_none() {
            return self.strength * dot(theta, theta);
        }
        let terms = theta.iter().enumerate();
        let terms = terms.map(|(i, w)| self.strength(i) * (w - self.center(i)).powi(2));
        terms.sum()
    }

    /// Returns the penalty at θ, and adds its gradient to `gradient`.
    pub fn add(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        if self.strengths.is_none() && self.centers.is_none() {
            let c2 = self.strength;
            let squares = sum_chunks(theta, gradient, |_, theta, gradient| {
                let mut sum = 0.0;
                for (g, &w) in gradient.iter_mut().zip(theta) {
                    *g += 2.0 * c2 * w;
                    sum += w * w;
                }
                sum
            });
            return c2 * squares;
        }
        sum_chunks(theta, gradient, |first, theta, gradient| {
            let mut sum = 0.0;
            for (i, (g, &w)) in gradient.iter_mut().zip(theta).enumerate() {
                let c2 = self.strength(first + i);
                let distance = w - self.center(first + i);
                *g += 2.0 * c2 * distance;
                sum += c2 * distance * distance;
            }
            sum
        })
    }
}

/// Calls `work(index of the first parameter, θ, gradient)` for each chunk of parameters, in
/// parallel, and adds the results in order.
fn sum_chunks(
    theta: &[f64],
    gradient: &mut [f64],
    work: impl Fn(usize, &[f64], &mut [f64]) -> f64 + Sync,
) -> f64 {
    let partial: Vec<f64> = theta
        .par_chunks(PARAMETER_CHUNK)
        .zip(gradient.par_chunks_mut(PARAMETER_CHUNK))
        .enumerate()
        .map(|(chunk, (theta, gradient))| work(chunk * PARAMETER_CHUNK, theta, gradient))
        .collect();
    partial.iter().sum()
}

/// The state of the noise term.
#[derive(Debug)]
pub(super) struct Reweighting {
    pub noise: Noise,
    pub rates: [NoiseRates; 2], // nodes, edges
    iterations: u64,            // of a round
    iteration: u64,
    first: u64, // iteration of the current round
    is_due: bool,
    strengths: Vec<f64>, // [n] Λ; empty before the first round
}

impl Reweighting {
    /// Creates the noise term with rounds of this number of iterations; the first begins with the
    /// first evaluation.
    pub fn new(noise: Noise, rates: [NoiseRates; 2], iterations: usize) -> Self {
        Self {
            noise,
            rates,
            iterations: iterations as u64,
            iteration: 0,
            first: 0,
            is_due: true,
            strengths: Vec::new(),
        }
    }

    /// See [`Objective::begin_round`](crate::optim::Objective::begin_round).
    pub fn begin_round(&mut self, iteration: u64, is_converged: bool) -> bool {
        self.iteration = iteration;
        let age = iteration - self.first;
        self.is_due = age >= self.iterations || (is_converged && age > 0);
        self.is_due
    }

    /// Returns whether the next evaluation begins a round.
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// Begins a round.
    pub fn begin(&mut self, strengths: Vec<f64>) {
        self.strengths = strengths;
        self.first = self.iteration;
        self.is_due = false;
    }

    /// Returns the current round.
    pub fn round(&self) -> Option<Round<'_>> {
        (!self.strengths.is_empty())
            .then(|| Round { first: self.first, numbers: Cow::Borrowed(&self.strengths) })
    }

    /// Resumes in a round.
    pub fn resume(&mut self, round: Round<'static>) {
        self.begin(round.numbers.into_owned());
        self.first = round.first;
    }

    /// Returns Σ Λ_i·θ_i² and adds its gradient.
    pub fn add_gradient(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let partial: Vec<f64> = theta
            .par_chunks(PARAMETER_CHUNK)
            .zip(self.strengths.par_chunks(PARAMETER_CHUNK))
            .zip(gradient.par_chunks_mut(PARAMETER_CHUNK))
            .map(|((theta, strengths), gradient)| {
                let mut sum = 0.0;
                for ((g, w), strength) in gradient.iter_mut().zip(theta).zip(strengths) {
                    let half = strength * w;
                    *g += 2.0 * half;
                    sum += half * w;
                }
                sum
            })
            .collect();
        partial.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::assert_close;
    use crate::random::Lcg;

    /// More than one chunk.
    const N: usize = PARAMETER_CHUNK + 100;

    fn evaluate(penalty: &Penalty, theta: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; theta.len()];
        let value = penalty.add(theta, &mut gradient);
        (value, gradient)
    }

    #[test]
    fn every_parameter_has_its_strength_and_its_center() {
        let mut numbers = Lcg(1);
        let [theta, centers] = [(); 2].map(|()| numbers.vector(N));
        let strengths: Vec<f64> = numbers.vector(N).iter().map(|x| x * x).collect();
        let cases = [
            Penalty::from(0.3),
            Penalty::from(0.3).with_strengths(strengths.clone()),
            Penalty::from(0.3).with_centers(centers.clone()),
            Penalty::from(0.3).with_strengths(strengths.clone()).with_centers(centers.clone()),
        ];
        for (case, penalty) in cases.iter().enumerate() {
            let (value, gradient) = evaluate(penalty, &theta);
            let mut expected = 0.0;
            for i in 0..N {
                let c2 = if case % 2 == 1 { strengths[i] } else { 0.3 };
                let center = if case > 1 { centers[i] } else { 0.0 };
                expected += c2 * (theta[i] - center).powi(2);
                assert_close(gradient[i], 2.0 * c2 * (theta[i] - center), 1e-14);
                assert_eq!((penalty.strength(i), penalty.center(i)), (c2, center));
            }
            assert_close(value, expected, 1e-12);
        }
    }

    #[test]
    fn at_its_center_a_parameter_has_exactly_no_gradient() {
        let theta = Lcg(2).vector(N);
        let penalty = Penalty::from(0.1).with_centers(theta.clone());
        let (value, gradient) = evaluate(&penalty, &theta);
        assert_eq!(value, 0.0);
        assert!(gradient.iter().all(|&g| g == 0.0));
    }

    #[test]
    fn equal_strengths_and_centers_of_0_are_the_uniform_penalty() {
        let theta = Lcg(3).vector(N);
        let (value, gradient) = evaluate(&Penalty::from(0.25), &theta);
        let general = Penalty::from(9.0).with_strengths(vec![0.25; N]).with_centers(vec![0.0; N]);
        let (other, other_gradient) = evaluate(&general, &theta);
        assert_close(other, value, 1e-14);
        assert_eq!(other_gradient, gradient);
    }
}
