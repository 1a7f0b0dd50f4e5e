//! Viterbi decoding: the best path by max-product.
//!
//! ```text
//! δ[0][b] = n[0][b]
//! δ[t][b] = max_a (δ[t−1][a] + w[t][a][b]) + n[t][b]        w = trans + edge, n = node + boundary
//! y_{T−1} = argmax_b δ[T−1][b]         y_{t−1} = argmax_a (δ[t−1][a] + w[t][a][y_t])
//! ```
//!
//! O(TK²) additions and maxima, without branches; O(TK) memory. There are no backpointers: the
//! predecessor of each label on the path is recomputed in O(K), from the same numbers in the same
//! order, so that it is exactly the one that attained the maximum. Illegal transitions have the
//! score −∞. Ties go to the lowest label, both at the last token and at each predecessor.
//!
//! Source: Viterbi, IEEE Trans. Information Theory 13 (1967); Forney, Proc. IEEE 61 (1973).
//!
//! # Where few label pairs have weights
//!
//! Then decoding takes O(T(K + P)) for P pairs, mostly.
//!
//! Pairs without a weight have the score 0, so the best predecessor of a label b is one of its
//! pairs, or the best of all other labels. Labels in descending order of δ are tried until one has
//! no pair with b, or cannot be better than what was found: nearly always the first or the second.
//! The paths are those of all pairs, and so are the scores, to the bit.

use super::label_pairs::LabelPairs;
use super::scores::{Constraint, LabelMask, Scores};
use super::transitions::{Order, Transitions};
use crate::ids::LabelId;
use crate::interrupt::Interrupt;
use crate::math::add;
use crate::simd::{self, Kernel};

/// Labels that are kept in descending order of δ; after those, all others are tried.
const LEADERS: usize = 16;

/// A Viterbi decoder; a reusable workspace.
#[derive(Clone, Debug, Default)]
pub struct Viterbi {
    pub(super) labels: usize,
    pub(super) stride: usize,
    pub(super) tokens: usize,
    pub(super) delta: Vec<f64>, // [T][S] δ: score of the best path to b at t
    pub(super) constrained: Vec<f64>, // [K][S] transition scores, −∞ if illegal
    /// Ends decoding early, with labels and scores that mean nothing.
    pub interrupt: Interrupt,
}

/// What scores the paths of a sentence, of which constraint and mask forbid some.
#[derive(Clone, Copy)]
pub(super) struct PathScores<'a> {
    pub transitions: &'a Transitions,
    pub scores: Scores<'a>,
    pub constraint: Option<&'a Constraint>,
    pub mask: Option<&'a LabelMask>,
}

impl Viterbi {
    /// Writes the best path, among those that `constraint` and `mask` allow, to `path` and returns
    /// its score. If no path is legal, `path` is left empty and the score is −∞.
    ///
    /// With a mask, edge scores may be −∞.
    ///
    /// # Panics
    ///
    /// If `scores` have the wrong shape or `constraint` has another number of labels.
    pub fn decode(
        &mut self,
        transitions: &Transitions,
        scores: Scores,
        constraint: Option<&Constraint>,
        mask: Option<&LabelMask>,
        path: &mut Vec<LabelId>,
    ) -> f64 {
        let edge = scores.edges(transitions);
        let input = PathScores { transitions, scores, constraint, mask };
        if let (Some(pairs), None, None) = (transitions.pairs(), constraint, edge) {
            return self.decode_by_pairs(pairs, input, path);
        }
        self.fill_nodes(input);
        self.forward_from_nodes(input);
        self.trace(edge, path)
    }

    /// Like [`Viterbi::decode`], by pairs, without a constraint and edge scores.
    fn decode_by_pairs(
        &mut self,
        pairs: &LabelPairs,
        input: PathScores<'_>,
        path: &mut Vec<LabelId>,
    ) -> f64 {
        self.set_nodes(input);
        let mut leaders = Vec::with_capacity(LEADERS + 1);
        for t in (1..self.tokens).take_while(|_| !self.interrupt.is_set()) {
            let (done, rest) = self.delta.split_at_mut(t * self.stride);
            let before = &done[(t - 1) * self.stride..][..self.labels];
            lead(before, &mut leaders);
            for (b, score) in rest[..self.labels].iter_mut().enumerate() {
                *score += best_before(pairs, before, &leaders, b);
            }
        }
        let lists = &pairs.predecessors;
        self.trace_by(path, |t, b| {
            let before = &self.delta[(t - 1) * self.stride..][..self.labels];
            let steps = lists.row(b, &lists.scores, 0.0);
            argmax(before.iter().zip(steps).map(|(before, step)| before + step)).0
        })
    }

    /// Writes the best path to `path` and returns its score, given δ and the edge scores.
    pub(super) fn trace(&self, edge: Option<&[f64]>, path: &mut Vec<LabelId>) -> f64 {
        self.trace_by(path, |t, b| argmax(self.predecessor_scores(edge, t, b)).0)
    }

    /// Like [`trace`](Self::trace), given the best label before label b at t.
    fn trace_by(&self, path: &mut Vec<LabelId>, before: impl Fn(usize, usize) -> usize) -> f64 {
        path.clear();
        if self.tokens == 0 {
            return 0.0;
        }
        let (mut b, best) = argmax(self.last().iter().copied());
        if best == f64::NEG_INFINITY {
            return best;
        }
        path.push(LabelId(b as u16));
        for t in (1..self.tokens).rev() {
            b = before(t, b);
            path.push(LabelId(b as u16));
        }
        path.reverse();
        best
    }

    /// Sets δ to the scores of single nodes, boundary weights included; −∞ where the mask forbids a
    /// label.
    fn set_nodes(&mut self, PathScores { transitions, scores, mask, .. }: PathScores<'_>) {
        self.labels = transitions.labels();
        self.stride = transitions.stride();
        self.tokens = scores.tokens(transitions);
        self.delta.resize(self.tokens * self.stride, 0.0);
        let rows = self.delta.chunks_exact_mut(self.stride);
        for (t, row) in rows.enumerate() {
            scores.copy_node(transitions, t, &mut row[..self.labels]);
        }
        if let Some(mask) = mask {
            add(&mut self.delta, &mask.rows);
        }
    }

    /// Sets δ to the scores of single nodes: boundary weights included, −∞ where the constraint or
    /// the mask forbid a label.
    pub(super) fn fill_nodes(&mut self, input: PathScores<'_>) {
        self.set_nodes(input);
        self.constrained.clear();
        self.constrained.extend_from_slice(input.transitions.scores());
        let Some(constraint) = input.constraint else { return };
        assert_eq!(constraint.labels(), self.labels, "labels differ");
        add(&mut self.constrained, &constraint.transitions);
        if self.tokens > 0 {
            add(&mut self.delta, &constraint.start);
            let last = (self.tokens - 1) * self.stride;
            add(&mut self.delta[last..], &constraint.end);
        }
    }

    /// Turns the scores of nodes into δ; O(TK) at order 0 without a constraint.
    pub(super) fn forward_from_nodes(&mut self, input: PathScores<'_>) {
        let PathScores { transitions, scores, constraint, .. } = input;
        if transitions.order() == Order::One || constraint.is_some() {
            let edge = scores.edges(transitions);
            return simd::dispatch(ViterbiForward { viterbi: self, edge });
        }
        let mut best = 0.0;
        for row in self.delta.chunks_exact_mut(self.stride) {
            let row = &mut row[..self.labels];
            row.iter_mut().for_each(|x| *x += best);
            best = argmax(row.iter().copied()).1;
        }
    }

    /// Turns node scores into δ, O(TK²): the Viterbi recurrence.
    #[inline(always)]
    fn forward<const L: usize>(&mut self, stride: usize, edge: Option<&[f64]>) {
        let size = self.labels * stride;
        for t in 1..self.tokens {
            if self.interrupt.is_set() {
                return;
            }
            let (done, rest) = self.delta.split_at_mut(t * stride);
            let before = &done[(t - 1) * stride..][..self.labels];
            let row = &mut rest[..stride];
            match edge {
                None => viterbi_step::<L>(stride, before, &self.constrained, row),
                Some(edge) => {
                    let edge = &edge[t * size..][..size];
                    viterbi_step_with_edges::<L>(stride, before, &self.constrained, edge, row);
                }
            }
        }
    }

    /// Returns δ of the last token, `[K]`.
    pub(super) fn last(&self) -> &[f64] {
        &self.delta[(self.tokens - 1) * self.stride..][..self.labels]
    }

    /// Returns δ[t−1][a] + w[t][a][b] for every a.
    pub(super) fn predecessor_scores(
        &self,
        edge: Option<&[f64]>,
        t: usize,
        b: usize,
    ) -> impl Iterator<Item = f64> + Clone {
        let before = &self.delta[(t - 1) * self.stride..][..self.labels];
        before.iter().enumerate().map(move |(a, before)| {
            let step = self.constrained[a * self.stride + b];
            match edge {
                None => before + step,
                Some(edge) => before + (step + edge[(t * self.labels + a) * self.stride + b]),
            }
        })
    }
}

/// [`Viterbi::forward`] as a SIMD kernel.
struct ViterbiForward<'a> {
    viterbi: &'a mut Viterbi,
    edge: Option<&'a [f64]>, // [T][K][S]
}

impl Kernel for ViterbiForward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        let Self { viterbi, edge } = self;
        // A constant stride lets the compiler unroll inner loops and elide bounds checks.
        match viterbi.stride {
            4 => viterbi.forward::<4>(4, edge),
            8 => viterbi.forward::<8>(8, edge),
            12 => viterbi.forward::<4>(12, edge),
            16 => viterbi.forward::<8>(16, edge),
            24 => viterbi.forward::<8>(24, edge),
            32 => viterbi.forward::<8>(32, edge),
            stride => viterbi.forward::<8>(stride, edge),
        }
    }
}

/// Returns the index and value of the first maximum of `values`; (0, −∞) if there is none.
pub(super) fn argmax(values: impl Iterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, x) in values.enumerate() {
        if x > best.1 {
            best = (i, x);
        }
    }
    best
}

/// The recurrence: row[b] = max_a (before[a] + step[a][b]) + row[b], with before `[K]`,
/// step `[K][S]`, row `[S]`.
#[inline(always)]
fn viterbi_step<const L: usize>(stride: usize, before: &[f64], step: &[f64], row: &mut [f64]) {
    let (row, _) = row[..stride].as_chunks_mut::<L>();
    for (block, out) in row.iter_mut().enumerate() {
        let mut best = [f64::NEG_INFINITY; L];
        for (before, step) in before.iter().zip(step.chunks_exact(stride)) {
            let (step, _) = step.as_chunks::<L>();
            for (best, step) in best.iter_mut().zip(&step[block]) {
                let x = before + step;
                *best = if x > *best { x } else { *best };
            }
        }
        for (out, best) in out.iter_mut().zip(best) {
            *out += best;
        }
    }
}

/// Like [`viterbi_step`], with step[a][b] + edge[a][b] for step[a][b].
#[inline(always)]
fn viterbi_step_with_edges<const L: usize>(
    stride: usize,
    before: &[f64],
    step: &[f64],
    edge: &[f64],
    row: &mut [f64],
) {
    let (row, _) = row[..stride].as_chunks_mut::<L>();
    let rows = step.chunks_exact(stride).zip(edge.chunks_exact(stride));
    for (block, out) in row.iter_mut().enumerate() {
        let mut best = [f64::NEG_INFINITY; L];
        for (before, (step, edge)) in before.iter().zip(rows.clone()) {
            let (step, edge) = (step.as_chunks::<L>().0, edge.as_chunks::<L>().0);
            let steps = step[block].iter().zip(&edge[block]);
            for (best, (step, edge)) in best.iter_mut().zip(steps) {
                let x = before + (step + edge);
                *best = if x > *best { x } else { *best };
            }
        }
        for (out, best) in out.iter_mut().zip(best) {
            *out += best;
        }
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
    let lists = &pairs.predecessors;
    let range = lists.range(b);
    let others = &lists.others[range.clone()];
    let mut best = f64::NEG_INFINITY;
    for (&a, score) in others.iter().zip(&lists.scores[range]) {
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
    (0..before.len() as u32).filter(has_no_pair).fold(best, |best, a| best.max(before[a as usize]))
}
