//! Reweighted noise: eq. 14 with marginals that are held fixed for a number of iterations, a round.
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

use rayon::prelude::*;

use super::noise::Noise;
use super::penalty::PARAMETER_CHUNK;
use crate::optim::Round;
use crate::score::ColumnRates;

/// The state of the noise term.
#[derive(Debug)]
pub(super) struct Reweighting {
    pub noise: Noise,
    pub rates: [Option<ColumnRates>; 2], // nodes, edges
    iterations: u64,                     // of a round
    iteration: u64,
    first: u64, // iteration of the current round
    is_due: bool,
    strengths: Vec<f64>, // [n] Λ; empty before the first round
}

impl Reweighting {
    /// Creates the noise term with rounds of this number of iterations; the first begins with the
    /// first evaluation.
    pub fn new(noise: Noise, rates: [Option<ColumnRates>; 2], iterations: usize) -> Self {
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
        (!self.strengths.is_empty()).then(|| Round {
            first: self.first,
            numbers: Cow::Borrowed(&self.strengths),
        })
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
