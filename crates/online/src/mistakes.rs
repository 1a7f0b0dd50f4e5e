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
//! In a class of m attributes, each has the weight w/m and the same change, which counts m times in
//! ‖δ‖² and in w.
//!
//! # Sources
//!
//! - M. Collins: Discriminative training methods for hidden Markov models. EMNLP 2002.
//! - K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer: Online passive-aggressive
//!   algorithms. JMLR 7, 2006.
//! - K. Crammer, A. Kulesza, M. Dredze: Adaptive regularization of weight vectors. NIPS 2009. Of
//!   the covariance only the diagonal is kept; as in CRFsuite, its update is divided by γ.

use dropchain::kernel::chain::{LabelMask, LabelWeights, Scores, Transitions, Viterbi};
use dropchain::kernel::extract::Target;
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::objective::{BlockArrays, fill_mask};

use crate::algorithm::{Arow, MistakeRule, PassiveAggressive};
use crate::problem::{Problem, State};
use crate::rows::Rows;
use crate::sentence_vector::SentenceVector;

/// Finds mistakes and changes weights.
#[derive(Debug)]
pub(crate) struct MistakeLearner {
    pub rule: MistakeRule,
    /// Whether the transitions are not those of the weights.
    pub is_stale: bool,
    label_weights: LabelWeights,
    transitions: Transitions,
    viterbi: Viterbi,
    scores: BlockArrays,
    path: Vec<LabelId>,    // the best path
    correct: Vec<LabelId>, // the best path of those that are correct
    mask: LabelMask,       // of a sentence with partial labels
    delta: SentenceVector,
}

/// A mistake: what an update depends on.
#[derive(Clone, Copy, Debug)]
struct Mistake<'a> {
    rows: &'a Rows<'a>,
    delta: &'a SentenceVector,
    wrong: f64,  // number of wrong labels
    weight: f64, // of the sentence
}

impl MistakeRule {
    /// Returns whether the result is an average of the weights.
    pub(crate) fn is_averaged(self) -> bool {
        !matches!(self, Self::Arow(_))
    }

    /// Returns whether training stops at this mean loss. Without averages nothing changes once it
    /// is 0.
    pub(crate) fn has_converged(mut self, mean_loss: f64) -> bool {
        mean_loss < *self.epsilon() || (mean_loss == 0.0 && !self.is_averaged())
    }

    /// Writes the result to θ.
    pub(crate) fn write(self, problem: &Problem<'_>, state: &State, theta: &mut [f64]) {
        let State { weights, sums, .. } = state;
        let count = (state.steps + 1) as f64;
        match self.is_averaged() {
            true => problem.write(|i| weights[i] - sums[i] / count, theta),
            false => problem.write(|i| weights[i], theta),
        }
    }

    /// Changes the weights; returns the loss of the sentence, without its weight.
    fn update(self, mistake: Mistake<'_>, state: &mut State) -> f64 {
        match self {
            Self::Perceptron(_) => {
                mistake.add(mistake.weight, state);
                mistake.wrong / mistake.rows.tokens.len() as f64
            }
            Self::PassiveAggressive(options) => mistake.passive_aggressive(options, state),
            Self::Arow(options) => mistake.arow(options, state),
        }
    }
}

impl Mistake<'_> {
    /// Returns m, the weight and the number of δ of each weight that changes, in a fixed order.
    fn changes(self) -> impl Iterator<Item = (f64, usize, f64)> {
        self.delta.groups.list.iter().flat_map(move |&group| {
            let members = self.rows.problem.members[group as usize];
            let weights = self.rows.problem.group(group as usize);
            weights.map(move |i| (members, i, self.delta.values[i])).filter(|(_, _, d)| *d != 0.0)
        })
    }

    /// Returns the score of the correct path minus that of the best one.
    fn margin(self, weights: &[f64]) -> f64 {
        self.changes().map(|(_, i, d)| d * weights[i]).sum()
    }

    /// Adds δ, times `factor`, to the weights and to the sums for averaging.
    fn add(self, factor: f64, state: &mut State) {
        let count = state.steps as f64;
        for (members, i, d) in self.changes() {
            let step = factor * members * d;
            state.weights[i] += step;
            state.sums[i] += count * step;
        }
    }

    fn passive_aggressive(self, options: PassiveAggressive, state: &mut State) -> f64 {
        let loss = self.wrong.sqrt() - self.margin(&state.weights);
        let norm: f64 = self.changes().map(|(members, _, d)| members * d * d).sum();
        if norm > 0.0 {
            self.add((loss / norm).min(options.c) * self.weight, state);
        }
        loss
    }

    fn arow(self, options: Arow, state: &mut State) -> f64 {
        let State { weights, sums: variances, .. } = state;
        let loss = self.wrong - self.margin(weights);
        let changes = || self.changes().map(|(members, i, d)| (members, i, self.weight * d));
        let spread: f64 = changes().map(|(members, i, d)| members * d * d * variances[i]).sum();
        let alpha = loss / (options.gamma + spread);
        for (members, i, d) in changes() {
            weights[i] += members * alpha * variances[i] * d;
            variances[i] = 1.0 / (1.0 / variances[i] + d * d / options.gamma);
        }
        loss
    }
}

impl MistakeLearner {
    pub fn new(rule: MistakeRule, problem: &Problem<'_>) -> Self {
        Self {
            rule,
            is_stale: true,
            label_weights: LabelWeights::default(),
            transitions: problem.space.transitions(),
            viterbi: Viterbi::default(),
            scores: BlockArrays::default(),
            path: Vec::new(),
            correct: Vec::new(),
            mask: LabelMask::default(),
            delta: SentenceVector::new(problem),
        }
    }

    /// Learns from a sentence and returns its loss.
    pub fn learn(&mut self, problem: &Problem<'_>, state: &mut State, sentence: usize) -> f64 {
        state.steps += 1;
        let target = problem.data.target(sentence);
        if matches!(target, Target::Unlabeled) {
            return 0.0;
        }
        let rows = Rows::new(problem, sentence);
        if !self.decode(&rows, &state.weights) {
            return f64::NAN; // the scores are not finite
        }
        let wrong = self.count_wrong(target) as f64;
        if wrong == 0.0 {
            return 0.0;
        }
        self.is_stale = true;
        self.delta.set_difference(&rows, [&self.correct, &self.path]);
        let weight = problem.data.weight(sentence);
        weight * self.rule.update(Mistake { rows: &rows, delta: &self.delta, wrong, weight }, state)
    }

    /// Finds the best path; returns false if there is none.
    fn decode(&mut self, rows: &Rows<'_>, weights: &[f64]) -> bool {
        if std::mem::take(&mut self.is_stale) {
            let space = rows.problem.space;
            space.set_transitions(weights, &mut self.label_weights, &mut self.transitions);
        }
        rows.score(weights, &mut self.scores);
        let scores = Scores::new(&self.scores.nodes, &self.scores.edges);
        self.viterbi.decode(&self.transitions, scores, None, None, &mut self.path);
        self.path.len() == rows.tokens.len()
    }

    /// Returns the number of wrong labels on the best path, and if there are some, finds the
    /// correct path: of those that are allowed, the best one.
    fn count_wrong(&mut self, target: Target<'_>) -> usize {
        let labels = self.path.iter().enumerate();
        match target {
            Target::Unlabeled => 0,
            Target::Gold(gold) => {
                self.correct.clear();
                self.correct.extend_from_slice(gold);
                labels.filter(|&(t, label)| *label != gold[t]).count()
            }
            Target::Allowed(allowed) => {
                fill_mask(&mut self.mask, self.transitions.labels(), allowed);
                let wrong = labels.filter(|&(t, &label)| !self.mask.allows(t, label)).count();
                if wrong > 0 {
                    let scores = Scores::new(&self.scores.nodes, &self.scores.edges);
                    let mask = Some(&self.mask);
                    let correct = &mut self.correct;
                    self.viterbi.decode(&self.transitions, scores, None, mask, correct);
                }
                wrong
            }
        }
    }
}
