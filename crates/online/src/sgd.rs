//! Stochastic gradient descent on the penalized likelihood, with or without noise.
//!
//! The objective of N sentences is the sum of the terms of a sentence and (λ/2)‖θ‖², λ = 2·c2/N:
//!
//! ```text
//! J(θ) = Σ_i ( −log p(y|x) + λ_noise·R(x) + (λ/2)‖θ‖² )
//! ```
//!
//! A step descends along the gradient of one sentence's term (`loss.rs`), which is subtracted from
//! the weights as it is computed.
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

use crate::algorithm::{LearnerSettings, LearningRate};
use crate::decay::Decay;
use crate::loss::{OnlineNoise, ScaledWeights, SentenceLoss};
use crate::problem::{Problem, State};
use crate::rows::Rows;
use crate::sentence_vector::Groups;

/// Number of epochs over which the fall of the objective is measured, as in CRFsuite.
const PERIOD: usize = 10;

/// Training stops if the objective falls by less than this fraction in a period, as in CRFsuite.
const TOLERANCE: f64 = 1e-6;

/// Stochastic gradient descent.
#[derive(Debug)]
pub(crate) struct Descent {
    pub rate: LearningRate,
    pub penalty: Penalty,
    cooling: Option<u64>, // number of steps over which the rate falls to 0 in addition
    decay: Decay,
    loss: SentenceLoss,
    groups: Groups,    // of the sentence, if they are needed
    squares: Vec<f64>, // [dimension] derivatives with respect to w², or empty
}

impl Descent {
    /// Divides the penalty among `sentences` sentences.
    pub fn new(
        problem: &Problem<'_>,
        rate: LearningRate,
        LearnerSettings { penalty, cooling, .. }: &LearnerSettings,
        noise: OnlineNoise,
        sentences: usize,
    ) -> Self {
        let squares = if noise.quadratic.is_some() { problem.space.dimension() } else { 0 };
        Self {
            rate,
            decay: Decay::new(problem, penalty, sentences),
            penalty: penalty.clone(),
            cooling: cooling.map(|epochs| (epochs * sentences.max(1)) as u64),
            groups: Groups::new(problem),
            squares: vec![0.0; squares],
            loss: SentenceLoss::new(problem, noise),
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
            let terms = self.step(&Rows::new(problem, sentence as usize), state, noisy_epoch);
            sums.log_likelihood -= terms.loss;
            sums.noise += terms.noise;
        }
        self.decay.complete(problem, state);
        sums
    }

    fn step(
        &mut self,
        rows: &Rows<'_>,
        state: &mut State,
        noisy_epoch: Option<u64>,
    ) -> SentenceTerms {
        let problem = rows.problem;
        let eta = self.rate_after(state, state.steps);
        state.steps += 1;
        let has_squares = noisy_epoch.is_some() && !self.squares.is_empty();
        if self.decay.is_lazy() || has_squares {
            self.groups.include_sentence(rows);
        }
        self.decay.pass(problem, eta, &self.groups.list, state);
        let mut terms = SentenceTerms::default();
        if !rows.tokens.is_empty() {
            let weights = ScaledWeights { values: &state.weights, factor: self.decay.factor };
            terms = self.loss.evaluate(rows, weights, noisy_epoch);
            if has_squares {
                self.loss.add_square_gradient(rows, &mut self.squares);
                self.descend_squares(problem, eta, state);
            }
            let factor = -eta / self.decay.factor;
            self.loss.add_gradient(rows, noisy_epoch, factor, &mut state.weights);
        }
        self.groups.clear();
        terms
    }

    /// Moves the weights against the derivatives with respect to their squares, w = a·v: those with
    /// respect to w are 2·w times these.
    fn descend_squares(&mut self, problem: &Problem<'_>, eta: f64, state: &mut State) {
        for &group in &self.groups.list {
            let (range, members) = (problem.group(group as usize), problem.members[group as usize]);
            let squares = &mut self.squares[range.clone()];
            for (v, square) in state.weights[range].iter_mut().zip(squares) {
                *v -= eta * members * 2.0 * *v * std::mem::take(square);
            }
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
        let rows = Rows::new(problem, sentence);
        if rows.tokens.is_empty() {
            return 0.0;
        }
        let weights = ScaledWeights { values: &state.weights, factor: self.decay.factor };
        self.loss.evaluate(&rows, weights, None).loss
    }

    /// Records an objective and returns whether it fell too little in a period.
    pub fn has_converged(&self, history: &mut Vec<f64>, objective: f64) -> bool {
        let old = (history.len() == PERIOD).then(|| history.remove(0));
        history.push(objective);
        old.is_some_and(|old| (old - objective) / objective < TOLERANCE)
    }
}
