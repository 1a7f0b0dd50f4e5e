//! Stochastic gradient descent on the penalized likelihood, with or without noise.
//!
//! The objective of N sentences is the sum of the terms of a sentence and (λ/2)‖θ‖², λ = 2·c2/N:
//!
//! ```text
//! J(θ) = Σ_i ( −log p(y|x) + λ_noise·R(x) + (λ/2)‖θ‖² )
//! ```
//!
//! A step descends along the gradient of one sentence's term (`loss.rs`).
//!
//! # The learning rate
//!
//! ```text
//! η_t = η/(1 + ηλt)      θ ← (1 − η_t λ)·θ − η_t·g
//! ```
//!
//! is the schedule of Pegasos and of CRFsuite's `l2sgd`.
//!
//! # Calibration
//!
//! η is the one, of those around its initial value, with the lowest objective after one pass over
//! some sentences (`calibration.rs`).
//!
//! # Sources
//!
//! - S. Shalev-Shwartz, Y. Singer, N. Srebro: Pegasos. ICML 2007.
//! - L. Bottou: <https://leon.bottou.org/projects/sgd>, for the calibration and the lazy decay.

use dropchain::kernel::objective::{Penalty, SentenceTerms, Terms};

use crate::algorithm::LearningRate;
use crate::decay::Decay;
use crate::loss::{OnlineNoise, ScaledWeights, SentenceLoss};
use crate::problem::Problem;
use crate::rows::Rows;
use crate::sentence_vector::SentenceVector;
use crate::state::State;

/// Number of epochs over which the fall of the objective is measured, as in CRFsuite.
const PERIOD: usize = 10;

/// Training stops if the objective falls by less than this fraction in a period, as in CRFsuite.
const TOLERANCE: f64 = 1e-6;

/// Stochastic gradient descent.
#[derive(Debug)]
pub(crate) struct Descent {
    pub rate: LearningRate,
    pub penalty: Penalty,
    /// The number of steps over which the rate falls to 0 in addition, if it does.
    pub cooling: Option<u64>,
    pub decay: Decay,
    loss: SentenceLoss,
    gradient: SentenceVector,
    squares: Vec<f64>, // [dimension] derivatives with respect to w², or empty
}

impl Descent {
    /// Divides the penalty among `sentences` sentences.
    pub fn new(
        problem: &Problem<'_>,
        rate: LearningRate,
        penalty: Penalty,
        noise: OnlineNoise,
        sentences: usize,
    ) -> Self {
        let loss = SentenceLoss::new(problem, noise);
        Self {
            rate,
            decay: Decay::new(problem, &penalty, sentences),
            penalty,
            cooling: None,
            gradient: SentenceVector::new(problem),
            squares: vec![0.0; loss.squares(problem)],
            loss,
        }
    }

    /// Takes a step for each sentence of `order`, with noise if `noisy_epoch` is the number of the
    /// epoch. Returns the sums of the terms of the sentences before their steps, without the
    /// penalty.
    pub fn run(
        &mut self,
        problem: &Problem<'_>,
        state: &mut State,
        order: &[u32],
        noisy_epoch: Option<u64>,
    ) -> Terms {
        let mut sums = Terms::default();
        for &sentence in order {
            let terms = self.step(problem, state, sentence as usize, noisy_epoch);
            sums.log_likelihood -= terms.loss;
            sums.noise += terms.noise;
        }
        self.decay.complete(problem, state);
        sums
    }

    fn step(
        &mut self,
        problem: &Problem<'_>,
        state: &mut State,
        sentence: usize,
        noisy_epoch: Option<u64>,
    ) -> SentenceTerms {
        let eta = self.rate_after(state, state.steps);
        state.steps += 1;
        let rows = Rows::new(problem, sentence);
        self.gradient.include(problem, &rows);
        self.decay.pass(problem, eta, &self.gradient.groups, state);
        let mut terms = SentenceTerms::default();
        if !rows.tokens.is_empty() {
            let weights = ScaledWeights { values: &state.weights, factor: self.decay.factor };
            terms = self.loss.evaluate(problem, weights, sentence, noisy_epoch);
            let gradient = [&mut self.gradient.values[..], &mut self.squares];
            self.loss.add_gradient(problem, sentence, noisy_epoch, gradient);
            self.descend(problem, eta, state);
        }
        self.gradient.clear(problem);
        terms
    }

    /// Moves the weights against the gradient.
    fn descend(&mut self, problem: &Problem<'_>, eta: f64, state: &mut State) {
        let factor = self.decay.factor;
        for &group in &self.gradient.groups {
            let (range, members) = (problem.group(group as usize), problem.members[group as usize]);
            let weights = &mut state.weights[range.clone()];
            let gradient = &mut self.gradient.values[range.clone()];
            if let Some(squares) = self.squares.get_mut(range) {
                for ((g, square), w) in gradient.iter_mut().zip(squares).zip(&*weights) {
                    *g += 2.0 * factor * w * std::mem::take(square);
                }
            }
            let gain = eta / factor * members;
            weights.iter_mut().zip(gradient).for_each(|(w, g)| *w -= gain * *g);
        }
    }

    /// Returns the learning rate after some steps.
    pub fn rate_after(&self, state: &State, steps: u64) -> f64 {
        let (LearningRate::Calibrated(first) | LearningRate::Fixed(first)) = self.rate;
        let eta = state.eta.unwrap_or(first);
        let left = self.cooling.map_or(1.0, |all| 1.0 - steps.min(all) as f64 / all as f64);
        left * (eta / (1.0 + eta * self.decay.strength * steps as f64))
    }

    /// Returns −log p(Y|x) of a sentence.
    pub fn loss(&mut self, problem: &Problem<'_>, state: &State, sentence: usize) -> f64 {
        if problem.data.sentence(sentence).is_empty() {
            return 0.0;
        }
        let weights = ScaledWeights { values: &state.weights, factor: self.decay.factor };
        self.loss.evaluate(problem, weights, sentence, None).loss
    }

    /// Records an objective and returns whether it fell too little in a period.
    pub fn has_converged(&self, history: &mut Vec<f64>, objective: f64) -> bool {
        let old = (history.len() == PERIOD).then(|| history.remove(0));
        history.push(objective);
        old.is_some_and(|old| (old - objective) / objective < TOLERANCE)
    }
}
