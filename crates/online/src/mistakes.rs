//! Learners that change weights when the most likely labels are wrong: the averaged perceptron,
//! passive-aggressive, and adaptive regularization of weights.
//!
//! For a sentence with gold labels y and most likely labels z, let δ = F(x, y) − F(x, z) be the
//! difference of their features and d the number of labels that differ. If d > 0,
//!
//! | | loss ℓ | change of the weights |
//! |---|---|---|
//! | perceptron | d/T | w += δ |
//! | passive-aggressive | score(z) − score(y) + √d | w += τδ, τ = min(C, ℓ/‖δ‖²) (PA-I) |
//! | AROW | score(z) − score(y) + d | w += ασ∘δ, α = ℓ/(γ + Σσδ²); 1/σ += δ²/γ |
//!
//! as in CRFsuite. The weight of a sentence scales its loss and its δ (of passive-aggressive: τ).
//! Where tokens have several allowed labels, z is wrong at a token whose label is not allowed, and
//! y is the most likely path that is: the latent perceptron.
//!
//! # Averages
//!
//! The average of the weights after each of u sentences is w − s/u, where every change Δ of a
//! weight, made for the u-th sentence, adds uΔ to s. So a sentence costs its own attributes only
//! (Daumé: Practical Structured Learning Techniques, 2006, figure 2.3).
//!
//! # Classes of attributes
//!
//! Of the m attributes of a class each has the weight w/m and the same change, which counts m times
//! in ‖δ‖² and in w.
//!
//! # Sources
//!
//! - M. Collins: Discriminative training methods for hidden Markov models. EMNLP 2002.
//! - K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer: Online passive-aggressive
//!   algorithms. JMLR 7, 2006.
//! - K. Crammer, A. Kulesza, M. Dredze: Adaptive regularization of weight vectors. NIPS 2009. Of
//!   the covariance only the diagonal is kept; as in CRFsuite, its update is divided by γ.

use super::algorithm::{Algorithm, Arow, PassiveAggressive, PassiveAggressiveType};
use super::changes::Changes;
use super::problem::{Chain, Problem};
use dropchain::chain::{LabelMask, Scores, Viterbi};
use dropchain::extract::Target;
use dropchain::ids::LabelId;
use dropchain::objective::{BlockArrays, fill_mask};

/// A learner that changes weights when it makes mistakes.
#[derive(Debug)]
pub(super) struct MistakeLearner {
    algorithm: Algorithm, // not stochastic gradient descent
    chain: Chain,
    viterbi: Viterbi,
    scores: BlockArrays,
    path: Vec<LabelId>,
    changes: Changes,
    partial: Partial,
    epsilon: f64,
    /// Whether the chain is not that of the weights.
    pub is_stale: bool,
    /// Sentences so far, plus 1.
    pub count: u64,
    /// The weights, `[slots]`.
    pub weights: Vec<f64>,
    /// A number beside each weight, `[slots]`: the sum s of changes, or a variance.
    pub sums: Vec<f64>,
}

/// A mistake: what an update depends on.
#[derive(Clone, Copy, Debug)]
struct Mistake {
    wrong: f64,  // number of wrong labels
    tokens: f64, // T
    weight: f64, // of the sentence
    count: f64,  // number of the sentence
}

/// What sentences with partial labels need.
#[derive(Debug, Default)]
struct Partial {
    mask: LabelMask,
    set: Vec<LabelId>,
    path: Vec<LabelId>, // the best one that is allowed
}

impl MistakeLearner {
    /// Creates a learner that starts at these weights.
    pub fn new(
        algorithm: Algorithm,
        epsilon: f64,
        problem: &Problem<'_>,
        weights: Vec<f64>,
    ) -> Self {
        let first = match algorithm {
            Algorithm::Arow(options) => options.variance,
            _ => 0.0,
        };
        Self {
            algorithm,
            epsilon,
            chain: Chain::new(problem.space),
            viterbi: Viterbi::default(),
            scores: BlockArrays::default(),
            path: Vec::new(),
            changes: Changes::default(),
            partial: Partial::default(),
            is_stale: true,
            count: 1,
            sums: vec![first; weights.len()],
            weights,
        }
    }

    /// Returns whether the result is an average of the weights.
    fn is_averaged(&self) -> bool {
        match self.algorithm {
            Algorithm::PassiveAggressive(options) => options.averaging,
            Algorithm::Arow(_) => false,
            _ => true,
        }
    }

    /// Returns whether training stops at this mean loss. Without averages nothing changes once it
    /// is 0.
    pub fn has_converged(&self, mean_loss: f64) -> bool {
        mean_loss < self.epsilon || (mean_loss == 0.0 && !self.is_averaged())
    }

    /// Writes the result to θ.
    pub fn write(&self, problem: &Problem<'_>, theta: &mut [f64]) {
        let (weights, sums) = (&self.weights, &self.sums);
        let (layout, space) = (&problem.layout, problem.space);
        if self.is_averaged() {
            let count = self.count as f64;
            layout.write(space, |slot| weights[slot] - sums[slot] / count, theta);
        } else {
            layout.write(space, |slot| weights[slot], theta);
        }
    }

    /// Learns from a sentence and returns its loss.
    pub fn learn(&mut self, problem: &Problem<'_>, sentence: usize) -> f64 {
        let count = self.count as f64;
        self.count += 1;
        let tokens = problem.data.sentence(sentence).len();
        let target = problem.data.target(sentence);
        if matches!(target, Target::Unlabeled) {
            return 0.0;
        }
        if std::mem::take(&mut self.is_stale) {
            self.chain.set(problem, &self.weights, 1.0);
        }
        problem.score(sentence, &self.weights, &mut self.scores);
        let scores = Scores::new(&self.scores.nodes, &self.scores.edges);
        self.viterbi.decode(&self.chain.transitions, scores, None, None, &mut self.path);
        if self.path.len() != tokens {
            return f64::NAN; // the scores are not finite
        }
        let wrong = self.find_changes(problem, sentence, target);
        if wrong == 0 {
            return 0.0;
        }
        self.is_stale = true;
        let mistake = Mistake {
            wrong: wrong as f64,
            tokens: tokens as f64,
            weight: problem.data.weight(sentence),
            count,
        };
        match self.algorithm {
            Algorithm::PassiveAggressive(options) => {
                self.update_passive_aggressive(options, mistake)
            }
            Algorithm::Arow(options) => self.update_arow(options, mistake),
            _ => {
                self.add_changes(mistake.weight, mistake.count);
                mistake.wrong / mistake.tokens * mistake.weight
            }
        }
    }

    /// Returns the number of wrong labels on the path, and if there are some, finds the changes to
    /// the correct path: of those that are allowed, the best one.
    fn find_changes(
        &mut self,
        problem: &Problem<'_>,
        sentence: usize,
        target: Target<'_>,
    ) -> usize {
        match target {
            Target::Unlabeled => 0,
            Target::Gold(gold) => {
                let wrong = gold.iter().zip(&self.path).filter(|(a, b)| a != b).count();
                if wrong > 0 {
                    self.changes.find(problem, sentence, gold, &self.path);
                }
                wrong
            }
            Target::Allowed(allowed) => {
                let Partial { mask, set, path } = &mut self.partial;
                fill_mask(mask, problem.space.labels(), allowed, set);
                let labels = self.path.iter().enumerate();
                let wrong = labels.filter(|&(t, &label)| !mask.allows(t, label)).count();
                if wrong > 0 {
                    let transitions = &self.chain.transitions;
                    let scores = Scores::new(&self.scores.nodes, &self.scores.edges);
                    self.viterbi.decode(transitions, scores, None, Some(mask), path);
                    self.changes.find(problem, sentence, path, &self.path);
                }
                wrong
            }
        }
    }

    fn update_passive_aggressive(&mut self, options: PassiveAggressive, mistake: Mistake) -> f64 {
        let margin = if options.error_sensitive { mistake.wrong.sqrt() } else { 1.0 };
        let loss = margin - self.changes.score(&self.weights);
        let changes = self.changes.all.iter();
        let norm: f64 = changes.map(|c| c.members * c.difference * c.difference).sum();
        if norm > 0.0 {
            let tau = match options.variant {
                PassiveAggressiveType::Zero => loss / norm,
                PassiveAggressiveType::One => (loss / norm).min(options.c),
                PassiveAggressiveType::Two => loss / (norm + 0.5 / options.c),
            };
            self.add_changes(tau * mistake.weight, mistake.count);
        }
        loss * mistake.weight
    }

    fn update_arow(&mut self, options: Arow, mistake: Mistake) -> f64 {
        let (weights, variances) = (&mut self.weights, &mut self.sums);
        let loss = mistake.wrong - self.changes.score(weights);
        let changes = self.changes.all.iter().map(|change| {
            let difference = mistake.weight * change.difference;
            (change.slot, change.members, difference)
        });
        let confidence = changes
            .clone()
            .map(|(slot, members, d)| members * d * d * variances[slot])
            .sum::<f64>();
        let alpha = loss / (options.gamma + confidence);
        for (slot, members, d) in changes {
            let variance = &mut variances[slot];
            weights[slot] += members * alpha * *variance * d;
            *variance = 1.0 / (1.0 / *variance + d * d / options.gamma);
        }
        loss * mistake.weight
    }

    /// Adds the changes, times `factor`, to the weights and to the sums for averaging.
    fn add_changes(&mut self, factor: f64, count: f64) {
        for change in &self.changes.all {
            let step = factor * change.members * change.difference;
            self.weights[change.slot] += step;
            self.sums[change.slot] += count * step;
        }
    }
}
