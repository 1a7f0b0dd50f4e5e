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
//! of noise, collapsed classes and unlabeled text are those of eq. 14.

use std::borrow::Cow;

use super::noise::SentenceNoise;
use super::pass::PassInput;
use super::term::{Term, TermInput};
use crate::optim::vector::by_chunks;
use crate::optim::{Change, Round};

/// The state of the noise term.
#[derive(Debug)]
pub(super) struct Reweighting {
    noise: SentenceNoise,
    iterations: u64, // of a round
    iteration: u64,
    first: u64, // iteration of the current round
    is_due: bool,
    strengths: Option<Vec<f64>>, // Λ; none before the first round
}

impl Reweighting {
    /// Creates the noise term with rounds of this number of iterations; the first begins with the
    /// first evaluation.
    pub fn new(noise: SentenceNoise, iterations: usize) -> Self {
        let iterations = iterations as u64;
        Self { noise, iterations, iteration: 0, first: 0, is_due: true, strengths: None }
    }

    fn begin(&mut self, strengths: Vec<f64>, first: u64) {
        self.strengths = Some(strengths);
        self.first = first;
        self.is_due = false;
    }
}

impl Term for Reweighting {
    fn add(&mut self, input: TermInput<'_>, gradient: &mut [f64]) -> f64 {
        let TermInput { theta, problem, pass, .. } = input;
        let is_known = |strengths: &Vec<f64>| strengths.len() == theta.len();
        if self.is_due || !self.strengths.as_ref().is_some_and(is_known) {
            pass.set_noise(problem, Some(self.noise.clone()));
            // With factors ½, the derivatives 2ρ·½·(X∘²ᵀ·∂V) are the coefficients of θ∘² in R.
            let halves = vec![0.5; theta.len()];
            let mut strengths = vec![0.0; theta.len()];
            let input = PassInput { problem, theta, is_noise_alone: true, factors: &halves };
            pass.run(input, &mut strengths);
            pass.set_noise(problem, None);
            self.begin(strengths, self.iteration);
        }
        let Some(strengths) = self.strengths.as_deref() else { return 0.0 };
        by_chunks!([theta, strengths], [gradient], {
            let mut sum = 0.0;
            for ((g, &w), strength) in gradient.iter_mut().zip(theta).zip(strengths) {
                *g += 2.0 * strength * w;
                sum += strength * w * w;
            }
            [sum]
        })[0]
    }

    fn begin_iteration(&mut self, iteration: u64, is_converged: bool) -> Change {
        self.iteration = iteration;
        let age = iteration - self.first;
        self.is_due = age >= self.iterations || (is_converged && age > 0);
        if self.is_due { Change::Round } else { Change::None }
    }

    fn round(&self) -> Option<Round<'_>> {
        let strengths = self.strengths.as_ref()?;
        Some(Round { first: self.first, numbers: Cow::Borrowed(strengths) })
    }

    fn resume_round(&mut self, round: Round<'static>) {
        self.begin(round.numbers.into_owned(), round.first);
    }
}
