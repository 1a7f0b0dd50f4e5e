//! Viterbi decoding where few label pairs have weights: O(T(K + P)) for P pairs, mostly.
//!
//! Pairs without a weight have the score 0, so the best predecessor of a label b is one of its
//! pairs, or the best of all other labels. Labels in descending order of δ are tried until one has
//! no pair with b, or cannot be better than what was found: nearly always the first or the second.
//! The paths are those of `viterbi.rs`, and so are the scores, to the bit.

use super::label_mask::LabelMask;
use super::label_pairs::LabelPairs;
use super::scores::Scores;
use super::transitions::Transitions;
use super::viterbi::{Viterbi, argmax};
use crate::ids::LabelId;

/// Labels that are kept in descending order of δ; after those, all others are tried.
const LEADERS: usize = 16;

impl Viterbi {
    /// Like [`Viterbi::decode_within`], by pairs, without a constraint and edge scores.
    pub(super) fn decode_by_pairs(
        &mut self,
        transitions: &Transitions,
        pairs: &LabelPairs,
        scores: Scores,
        mask: Option<&LabelMask>,
        path: &mut Vec<LabelId>,
    ) -> f64 {
        self.set_nodes(transitions, scores, mask);
        path.clear();
        if self.tokens == 0 {
            return 0.0;
        }
        let mut leaders = Vec::with_capacity(LEADERS + 1);
        for t in 1..self.tokens {
            let (done, rest) = self.delta.split_at_mut(t * self.stride);
            let before = &done[(t - 1) * self.stride..][..self.labels];
            lead(before, &mut leaders);
            let row = rest[..self.labels].iter_mut();
            for (b, score) in row.enumerate() {
                *score += best_before(pairs, before, &leaders, b);
            }
        }
        let (mut b, best) = argmax(self.last().iter().copied());
        if best == f64::NEG_INFINITY {
            return best;
        }
        path.push(LabelId(b as u16));
        for t in (1..self.tokens).rev() {
            let before = &self.delta[(t - 1) * self.stride..][..self.labels];
            let lists = pairs.predecessors();
            let steps = lists.row(b, lists.scores(), 0.0);
            b = argmax(before.iter().zip(steps).map(|(before, step)| before + step)).0;
            path.push(LabelId(b as u16));
        }
        path.reverse();
        best
    }
}

/// Lists the labels with the highest scores in descending order; of equal ones, the lowest first.
fn lead(scores: &[f64], leaders: &mut Vec<u32>) {
    leaders.clear();
    for (a, &score) in scores.iter().enumerate() {
        let is_lower = |&other: &u32| scores[other as usize] >= score;
        if leaders.len() == LEADERS && leaders.last().is_none_or(is_lower) {
            continue;
        }
        leaders.insert(leaders.partition_point(is_lower), a as u32);
        leaders.truncate(LEADERS);
    }
}

/// Returns max_a (δ[a] + trans[a][b]).
fn best_before(pairs: &LabelPairs, before: &[f64], leaders: &[u32], b: usize) -> f64 {
    let lists = pairs.predecessors();
    let range = lists.range(b);
    let others = &lists.others()[range.clone()];
    let mut best = f64::NEG_INFINITY;
    for (&a, score) in others.iter().zip(&lists.scores()[range]) {
        let x = before[a as usize] + score;
        best = if x > best { x } else { best };
    }
    let has_no_pair = |a: &u32| others.binary_search(a).is_err();
    for a in leaders {
        let x = before[*a as usize];
        if x <= best || has_no_pair(a) {
            return if x > best { x } else { best };
        }
    }
    let rest = (0..before.len() as u32).filter(has_no_pair);
    rest.fold(best, |best, a| best.max(before[a as usize]))
}
