//! Max-marginals: for each token and label, the score of the best path through them.
//!
//! ```text
//! δ[t][b] = max over the labels before t, as in Viterbi decoding
//! β[T−1][b] = 0
//! β[t][b] = max_c (w[t+1][b][c] + n[t+1][c] + β[t+1][c])     w = trans + edge, n = node + boundary
//! m[t][b] = δ[t][b] + β[t][b]
//! ```
//!
//! m[t][b] is the score of the best path y with y_t = b, so the best path with another label than
//! the one that decoding gives to a token has the score max m[t][b] over the other labels b. That
//! path leaves the best one before t and joins it again after t: it is a *detour*, and only its
//! own tokens differ. A detour is traced from t outwards, by the maxima of δ to the left and of β
//! to the right, until both are back on the best path.
//!
//! δ and β take O(TK²), a detour O(K) for each of its tokens.
//!
//! Source: Dawid, "Applications of a general propagation algorithm for probabilistic expert
//! systems", Statistics and Computing 2 (1992), max-propagation; for chains, the forward and
//! backward passes of Viterbi's algorithm.

use super::scores::{Constraint, LabelMask, Scores};
use super::transitions::Transitions;
use super::viterbi::{PathScores, Viterbi, argmax};
use crate::ids::LabelId;
use crate::interrupt::Interrupt;

/// The best path of a sentence, and the score of the best path through each token and label.
#[derive(Clone, Debug)]
pub struct MaxMarginals {
    viterbi: Viterbi,
    nodes: Vec<f64>, // [T][S] node scores with boundaries; −∞ if forbidden
    beta: Vec<f64>,  // [T][S] β
    /// The labels of the best path, `[T]`, those of [`Viterbi::decode`]; empty if none is allowed.
    pub path: Vec<LabelId>,
    score: f64, // of the best path
}

/// The part of a path that differs from the best path, at every token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detour {
    /// The first token of the part.
    pub start: usize,
    /// The labels of the part.
    pub labels: Vec<LabelId>,
}

impl MaxMarginals {
    /// Computes the max-marginals over the paths that `constraint` and `mask` allow. With a mask,
    /// edge scores may be −∞. An interrupt ends it early, with numbers that mean nothing.
    ///
    /// # Panics
    ///
    /// If `scores` have the wrong shape or `constraint` has another number of labels.
    pub fn new(
        transitions: &Transitions,
        scores: Scores,
        constraint: Option<&Constraint>,
        mask: Option<&LabelMask>,
        interrupt: &Interrupt,
    ) -> Self {
        let mut viterbi = Viterbi { interrupt: interrupt.clone(), ..Viterbi::default() };
        let input = PathScores { transitions, scores, constraint, mask };
        viterbi.fill_nodes(input);
        let nodes = viterbi.delta.clone();
        viterbi.forward_from_nodes(input);
        let mut path = Vec::new();
        let score = viterbi.trace(scores.edges(transitions), &mut path);
        let mut marginals = Self { beta: vec![0.0; nodes.len()], viterbi, nodes, path, score };
        let (tokens, edge) = (marginals.viterbi.tokens, scores.edges(transitions));
        for t in (1..tokens).rev().take_while(|_| !interrupt.is_set()) {
            for b in 0..marginals.viterbi.labels {
                let best = argmax(marginals.successor_scores(edge, t, b)).1;
                marginals.beta[(t - 1) * marginals.viterbi.stride + b] = best;
            }
        }
        marginals
    }

    /// Returns w[t][a][c] + n[t][c] + β[t][c] for every c.
    fn successor_scores(
        &self,
        edge: Option<&[f64]>,
        t: usize,
        a: usize,
    ) -> impl Iterator<Item = f64> {
        let (labels, stride) = (self.viterbi.labels, self.viterbi.stride);
        let steps = &self.viterbi.constrained[a * stride..][..labels];
        let [nodes, beta] = [&self.nodes, &self.beta].map(|rows| &rows[t * stride..][..labels]);
        let edge = edge.map(|edge| &edge[(t * labels + a) * stride..][..labels]);
        (0..labels).map(move |c| steps[c] + edge.map_or(0.0, |edge| edge[c]) + (nodes[c] + beta[c]))
    }

    /// Returns the score of the best path; −∞ if none is allowed.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// Returns how much lower the score of the best path with another label at token `t` is, up to
    /// the rounding of both scores; ∞ if there is none.
    ///
    /// # Panics
    ///
    /// If there is no such token.
    pub fn margin(&self, t: usize) -> f64 {
        let own = self.path[t];
        self.score - self.best_at(t, |label| label != own).1
    }

    /// Returns the label at token `t` of the best path whose label there is wanted, and its score.
    fn best_at(&self, t: usize, is_wanted: impl Fn(LabelId) -> bool) -> (usize, f64) {
        let (labels, stride) = (self.viterbi.labels, self.viterbi.stride);
        let [delta, beta] = [&self.viterbi.delta, &self.beta].map(|rows| &rows[t * stride..]);
        argmax((0..labels).map(|b| match is_wanted(LabelId(b as u16)) {
            true => delta[b] + beta[b],
            false => f64::NEG_INFINITY,
        }))
    }

    /// Returns the best path whose label at token `t` is one of those for which `is_wanted` holds;
    /// `None` if no path has one, or if the best path does. `edge` are the scores that the
    /// max-marginals were made of. Ties go to the lowest label.
    ///
    /// # Panics
    ///
    /// If there is no such token.
    pub fn detour(
        &self,
        edge: Option<&[f64]>,
        t: usize,
        is_wanted: impl Fn(LabelId) -> bool,
    ) -> Option<Detour> {
        if is_wanted(*self.path.get(t)?) {
            return None;
        }
        let (label, best) = self.best_at(t, is_wanted);
        if best == f64::NEG_INFINITY {
            return None;
        }
        let mut detour = vec![LabelId(label as u16)];
        let (mut start, mut b) = (t, label);
        while start > 0 {
            b = argmax(self.viterbi.predecessor_scores(edge, start, b)).0;
            if self.path[start - 1].index() == b {
                break;
            }
            detour.push(LabelId(b as u16));
            start -= 1;
        }
        detour.reverse();
        let (mut end, mut b) = (t + 1, label);
        while end < self.path.len() {
            b = argmax(self.successor_scores(edge, end, b)).0;
            if self.path[end].index() == b {
                break;
            }
            detour.push(LabelId(b as u16));
            end += 1;
        }
        Some(Detour { start, labels: detour })
    }
}
