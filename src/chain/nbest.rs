//! The n best paths: backward A* over the Viterbi lattice.
//!
//! δ[t][b] is the exact score of the best way to reach label b at token t, so searching from the
//! last token to the first the best completion of every partial path is known: a perfect
//! heuristic. Partial paths are ranked by their *regret*, how much worse than the best path their
//! best completion is:
//!
//! ```text
//! r(b at T−1)   = max_b' δ[T−1][b'] − δ[T−1][b]
//! r(a, b, …)    = r(b, …) + max_a' (δ[t−1][a'] + w[t][a'][b]) − (δ[t−1][a] + w[t][a][b])
//! ```
//!
//! Regret never falls on the way, and there always is a predecessor that adds exactly none, so every
//! partial path taken up leads to a path that is one of the n best: at most nT of them are taken up,
//! O(K) each to extend. No more wait than there are paths still to be found, since each promises one
//! of its own. Time O(TK² + nTK log n), memory O(TK + nT).
//!
//! Source: Soong and Huang, "A tree-trellis based fast search for finding the N best sentence
//! hypotheses in continuous speech recognition", ICASSP 1991.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::Scores;
use super::constraint::Constraint;
use super::transitions::Transitions;
use super::viterbi::{Viterbi, highest};
use crate::ids::LabelId;

/// A path and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPath {
    /// `[T]`
    pub labels: Vec<LabelId>,
    /// The score; its exponential over that of the log-partition is the path's probability.
    pub score: f64,
}

/// A partial path from `token` to the end that waits to be taken up.
#[derive(Clone, Debug)]
struct Partial {
    regret: f64,
    token: usize,
    label: u16,
    next: Option<usize>, // the rest of it, in `Search::taken`
    number: usize,       // in order of discovery
}

impl Ord for Partial {
    /// By regret. Among equals the longer one comes first, so that a path is finished before
    /// another is begun, then the lower label, then the earlier: a total order without chance.
    fn cmp(&self, other: &Self) -> Ordering {
        self.regret
            .total_cmp(&other.regret)
            .then(self.token.cmp(&other.token))
            .then(self.label.cmp(&other.label))
            .then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Partial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Partial {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Partial {}

/// The state of the search.
#[derive(Debug)]
struct Search {
    waiting: BTreeSet<Partial>,
    room: usize,                          // how many may wait: paths still to be found
    taken: Vec<(LabelId, Option<usize>)>, // label of a partial path taken up, and the rest of it
    number: usize,
}

impl Search {
    /// Puts the extensions of a partial path by the labels of `token`, each with the score of its
    /// best completion, among those that wait.
    fn extend(
        &mut self,
        token: usize,
        scores: impl Iterator<Item = f64> + Clone,
        from: (f64, Option<usize>),
    ) {
        let (regret, next) = from;
        let best = highest(scores.clone()).1;
        for (label, score) in scores.enumerate() {
            let regret = regret + (best - score);
            if !regret.is_finite() {
                continue; // illegal
            }
            self.number += 1;
            self.waiting.insert(Partial {
                regret,
                token,
                label: label as u16,
                next,
                number: self.number,
            });
            if self.waiting.len() > self.room {
                self.waiting.pop_last();
            }
        }
    }

    /// The labels from `node` of `taken` to the end.
    fn labels(&self, node: usize) -> Vec<LabelId> {
        std::iter::successors(Some(node), |&node| self.taken[node].1)
            .map(|node| self.taken[node].0)
            .collect()
    }
}

impl Viterbi {
    /// The `n` best paths (of the legal ones, where there is a constraint), best first, all
    /// different; all paths if there are fewer.
    ///
    /// The first is that of [`Viterbi::decode`], with the same score. Paths of equal score come in an
    /// order that depends on nothing but the scores.
    ///
    /// # Panics
    ///
    /// If `scores` have the wrong shape or `constraint` has another number of labels.
    pub fn nbest(
        &mut self,
        transitions: &Transitions,
        scores: Scores,
        n: usize,
        constraint: Option<&Constraint>,
    ) -> Vec<ScoredPath> {
        let mut paths = Vec::new();
        self.fill(transitions, scores, constraint);
        if n == 0 {
            return paths;
        }
        if self.tokens == 0 {
            let (labels, score) = (Vec::new(), 0.0);
            return vec![ScoredPath { labels, score }];
        }
        let edge = scores.edges(transitions);
        let best = highest(self.last().iter().copied()).1;
        let mut search = Search {
            waiting: BTreeSet::new(),
            room: n,
            taken: Vec::new(),
            number: 0,
        };
        search.extend(self.tokens - 1, self.last().iter().copied(), (0.0, None));
        while let Some(partial) = search.waiting.pop_first() {
            let (token, label) = (partial.token, partial.label);
            let node = search.taken.len();
            search.taken.push((LabelId(label), partial.next));
            if token > 0 {
                let arrivals = self.arrivals(edge, token, label.into());
                search.extend(token - 1, arrivals, (partial.regret, Some(node)));
                continue;
            }
            paths.push(ScoredPath {
                labels: search.labels(node),
                score: best - partial.regret,
            });
            search.room -= 1;
            if search.room == 0 {
                break;
            }
        }
        paths
    }
}
