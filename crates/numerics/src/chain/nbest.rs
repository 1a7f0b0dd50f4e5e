//! N-best decoding: backward A* over the Viterbi lattice.
//!
//! δ[t][b] is the exact score of the best path to label b at token t. A search from the last token
//! to the first thus knows the best completion of every partial path: a perfect heuristic. Partial
//! paths are ranked by *regret*, the score that their best completion loses against the best path:
//!
//! ```text
//! r(b at T−1)   = max_b' δ[T−1][b'] − δ[T−1][b]
//! r(a, b, …)    = r(b, …) + max_a' (δ[t−1][a'] + w[t][a'][b]) − (δ[t−1][a] + w[t][a][b])
//! ```
//!
//! Regret never decreases along a path, and some predecessor always adds none, so every partial
//! path that is expanded leads to one of the n best paths: at most nT are expanded, in O(K) each.
//! The queue is bounded by the number of paths still to be found, since each entry leads to a
//! different one. Time O(TK² + nTK log n), memory O(TK + nT).
//!
//! Source: Soong and Huang, "A tree-trellis based fast search for finding the N best sentence
//! hypotheses in continuous speech recognition", ICASSP 1991.

use std::collections::BTreeSet;

use super::scores::{Constraint, LabelMask, Scores};
use super::transitions::Transitions;
use super::viterbi::{PathScores, Viterbi, argmax};
use crate::ids::LabelId;

/// A path and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPath {
    /// `[T]`
    pub labels: Vec<LabelId>,
    /// The score; the probability of the path is exp(score − A).
    pub score: f64,
}

/// A queued partial path, from `token` to the end of the sentence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PartialPath {
    regret: u64, // bits of the number, which is not negative: in the same order
    token: usize,
    label: u16,
    sequence: usize,     // insertion order
    next: Option<usize>, // the rest of the path, in `NBestSearch::expanded`
}

/// The state of the A* search.
#[derive(Debug)]
struct NBestSearch {
    queue: BTreeSet<PartialPath>,
    capacity: usize, // of the queue: paths still to be found
    expanded: Vec<PartialPath>,
    sequence: usize,
}

impl NBestSearch {
    /// Queues the extensions of a partial path with this `regret` by the labels of `token`;
    /// `scores` are those of the best completions, `next` is the partial path.
    fn extend(
        &mut self,
        token: usize,
        scores: impl Iterator<Item = f64> + Clone,
        regret: f64,
        next: Option<usize>,
    ) {
        let best = argmax(scores.clone()).1;
        for (label, score) in scores.enumerate() {
            let regret = regret + (best - score);
            if !regret.is_finite() {
                continue; // illegal
            }
            self.sequence += 1;
            let (regret, sequence) = (regret.to_bits(), self.sequence);
            let path = PartialPath { regret, token, label: label as u16, sequence, next };
            if self.queue.len() == self.capacity {
                if self.queue.last().is_none_or(|last| *last <= path) {
                    continue;
                }
                self.queue.pop_last();
            }
            self.queue.insert(path);
        }
    }
}

impl Viterbi {
    /// Returns the `n` best distinct paths, among those that `constraint` and `mask` allow, best
    /// first; all paths if there are fewer.
    ///
    /// The first is that of [`Viterbi::decode`], with the same score. The order of paths with equal
    /// scores depends on nothing but the scores.
    ///
    /// With a mask, edge scores may be −∞.
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
        mask: Option<&LabelMask>,
    ) -> Vec<ScoredPath> {
        let mut paths = Vec::new();
        let input = PathScores { transitions, scores, constraint, mask };
        self.fill_nodes(input);
        self.forward_from_nodes(input);
        if n == 0 {
            return paths;
        }
        if self.tokens == 0 {
            return vec![ScoredPath { labels: Vec::new(), score: 0.0 }];
        }
        let edge = scores.edges(transitions);
        let best = argmax(self.last().iter().copied()).1;
        let mut search =
            NBestSearch { queue: BTreeSet::new(), capacity: n, expanded: Vec::new(), sequence: 0 };
        search.extend(self.tokens - 1, self.last().iter().copied(), 0.0, None);
        while !self.interrupt.is_set()
            && let Some(partial) = search.queue.pop_first()
        {
            let (token, label) = (partial.token, partial.label);
            let regret = f64::from_bits(partial.regret);
            let node = search.expanded.len();
            search.expanded.push(partial);
            if token > 0 {
                let scores = self.predecessor_scores(edge, token, label.into());
                search.extend(token - 1, scores, regret, Some(node));
                continue;
            }
            let nodes = std::iter::successors(Some(node), |&node| search.expanded[node].next);
            let labels = nodes.map(|node| LabelId(search.expanded[node].label)).collect();
            paths.push(ScoredPath { labels, score: best - regret });
            search.capacity -= 1;
            if search.capacity == 0 {
                break;
            }
        }
        paths
    }
}
