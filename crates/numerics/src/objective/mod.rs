//! The objective that training minimizes, and its gradient.
//!
//! ```text
//! J(θ) = − Σ w·log p(Y|x) + λ·( Σ_labeled w·R(x) + α Σ_unlabeled w·R(u) ) + c2·‖θ‖²  (+ c1·‖θ‖₁)
//! ```
//!
//! is a sum over sentences, not a mean. w is the weight of a sentence, 1 by default: an integer w
//! equals w copies. Y are the label sequences that its labels allow: one sequence y, unless tokens
//! have several labels or none (`sentence.rs`). R is the quadratic noise regularizer
//! ([`crate::noise`], eq. 14 of Wang et al. 2013); λ = n/(n + αm) (eq. 11), where n and m are the
//! total weights of labeled and of unlabeled sentences. The optimizer adds the L1 term. Any number
//! of further [`Term`]s may be added, in place of R reweighted noise (`reweighting.rs`) and
//! Monte-Carlo dropout (`monte_carlo.rs`).
//!
//! # One evaluation
//!
//! [`PenalizedLikelihood::evaluate`](Objective::evaluate) computes value and gradient in one pass:
//!
//! 1. the label weights, prepared once for all sentences: transition potentials and, under noise,
//!    their variances (`buffers.rs`);
//! 2. where the sums over sentences start (`totals.rs`);
//! 3. block by block of the corpus ([`BlockPartition`](crate::score::BlockPartition)), in parallel
//!    over chunks of sentences: scores S = X·Θ and variances V = ρ·X∘²·Θ∘²
//!    ([`ForwardProduct`](crate::score::ForwardProduct)), then
//!    the sentence kernel (`sentence.rs`): −log p(y|x), R, ∂S, ∂V;
//! 4. in parallel over columns, the block's contribution to the gradient, Xᵀ·∂S + 2ρ·Θ∘(X∘²ᵀ·∂V)
//!    ([`TransposeProduct`](crate::score::TransposeProduct)), while the sentences of the next block
//!    are being evaluated;
//! 5. the sums over all ranks, if there are several (`problem.rs`);
//! 6. the gradient with respect to transitions and boundary weights, from sums over sentences;
//! 7. the further terms;
//! 8. the L2 penalty ([`Penalty`]).
//!
//! Steps 1 to 6 are a pass over the sentences (`pass.rs`).
//!
//! Time O(nonzeros of X · K + M·K²) for M tokens. Chunks and blocks depend only on the data, and
//! sums over them have the same bits in any order (`exact_sum`), so the bits do not depend
//! on the number of threads or of processes.

mod buffers;
mod monte_carlo;
mod noise;
pub(crate) mod pass;
pub(crate) mod penalty;
pub(crate) mod problem;
mod reweighting;
mod sentence;
mod term;
pub(crate) mod totals;

use serde::{Deserialize, Serialize};

pub use crate::chain::ScoreArrays;
use crate::data::Dataset;
use crate::noise::Engine;
use crate::optim::{Change, Objective, Round};
use crate::ranks::Ranks;
use crate::score::ParameterSpace;
pub use buffers::{BlockArrays, LabelSums, active_counts};
use monte_carlo::MonteCarlo;
use noise::SentenceNoise;
pub use noise::{NoiseKind, NoiseOptions};
use pass::{PassInput, SentencePass};
pub use penalty::Penalty;
use problem::Problem;
use reweighting::Reweighting;
pub use sentence::{SentenceArrays, SentenceKernel, SentenceTask, SentenceTerms, fill_mask};
pub use term::{AnyTerm, Term, TermInput};

/// The terms of the objective, without the L1 penalty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Σ log p(y|x): at most 0.
    pub log_likelihood: f64,
    /// The noise term, and further terms.
    pub noise: f64,
    /// The L2 penalty, by default c2·‖θ‖².
    pub l2: f64,
}

/// The penalized negative log-likelihood of a corpus.
///
/// Labeled sentences come first in the data; those after the last label are unlabeled and enter
/// only the noise term. The objective shares their matrices.
#[derive(Debug)]
pub struct PenalizedLikelihood {
    pub(crate) problem: Problem,
    pub(crate) pass: SentencePass, // the likelihood and R
    terms: Vec<Box<dyn Term>>,
    penalty: Penalty,
}

impl PenalizedLikelihood {
    /// Creates the objective on collapsed training data with an L2 penalty, such as the strength
    /// c2, without noise.
    pub fn new(data: &Dataset, space: &ParameterSpace, penalty: impl Into<Penalty>) -> Self {
        Self::divided(data, space, penalty, None)
    }

    /// Creates the objective without noise for evaluations by several ranks, if there are any,
    /// which have the same data. They evaluate at the same θ, and get the same value and gradient:
    /// those of [`new`](Self::new).
    ///
    /// If a rank cannot be reached by an evaluation, value and gradient are NaN, and the error is
    /// that of [`Ranks::take_failure`].
    pub fn divided(
        data: &Dataset,
        space: &ParameterSpace,
        penalty: impl Into<Penalty>,
        ranks: Option<&Ranks>,
    ) -> Self {
        let problem = Problem::new(data, space, ranks);
        let pass = SentencePass::new(&problem);
        Self { problem, pass, terms: Vec::new(), penalty: penalty.into() }
    }

    /// Adds a noise term. Monte-Carlo noise has one process, not several ranks;
    /// [`Objective::begin_iteration`] draws new samples.
    #[must_use]
    pub fn with_noise(self, noise: NoiseOptions) -> Self {
        self.with_noise_except(noise, 1, Default::default())
    }

    /// Adds a noise term: if it is sampled, from `seed`, and if it is additive, without the classes
    /// of node and of edge attributes that are fixed, `[classes]`; empty: none is.
    #[must_use]
    pub fn with_noise_except(
        mut self,
        mut options: NoiseOptions,
        seed: u64,
        is_fixed: [Vec<bool>; 2],
    ) -> Self {
        let Self { problem, pass, .. } = &mut self;
        match options.kind {
            NoiseKind::Dropout | NoiseKind::Gaussian | NoiseKind::Additive => {
                pass.set_noise(problem, Some(SentenceNoise { options, is_fixed }));
                self
            }
            NoiseKind::Reweighted(iterations) => {
                // Only ∂R/∂V is used, for which the cheapest engine suffices.
                options.gradient = match pass.transitions.pairs() {
                    Some(_) => Engine::Exact,
                    None => Engine::Window(0),
                };
                let noise = SentenceNoise { options, is_fixed };
                self.with_term(Box::new(Reweighting::new(noise, iterations)))
            }
            NoiseKind::MonteCarlo(samples) => {
                pass.use_all_pairs(problem);
                let term = MonteCarlo::new(options, samples, seed, problem);
                self.with_term(Box::new(term))
            }
        }
    }

    /// Adds a term.
    #[must_use]
    pub fn with_term(mut self, term: Box<dyn Term>) -> Self {
        self.terms.push(term);
        self
    }
}

impl Objective for PenalizedLikelihood {
    type Detail = Terms;

    fn dimension(&self) -> usize {
        self.problem.space.dimension()
    }

    fn inverse_curvature(&self) -> Option<Vec<f32>> {
        let Problem { totals, space, .. } = &self.problem;
        Some(totals.inverse_curvature(space, &self.penalty))
    }

    fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64]) -> (f64, Terms) {
        let Self { problem, pass, terms, penalty } = self;
        let input = PassInput { problem, theta, is_noise_alone: false, factors: theta };
        let [loss, mut noise] = pass.run(input, gradient);
        for term in terms {
            noise += term.add(TermInput { theta, space: &problem.space, problem, pass }, gradient);
        }
        let l2 = penalty.add(theta, gradient);
        (loss + noise + l2, Terms { log_likelihood: -loss, noise, l2 })
    }

    fn begin_iteration(&mut self, iteration: u64, is_converged: bool) -> Change {
        let terms = self.terms.iter_mut();
        terms.map(|term| term.begin_iteration(iteration, is_converged)).max().unwrap_or_default()
    }

    fn rounds(&self) -> Vec<Option<Round<'_>>> {
        self.terms.iter().map(|term| term.round()).collect()
    }

    fn resume_rounds(&mut self, rounds: Vec<Option<Round<'static>>>) {
        for (term, round) in self.terms.iter_mut().zip(rounds) {
            if let Some(round) = round {
                term.resume_round(round);
            }
        }
    }
}
