//! The best path: max-product.
//!
//! ```text
//! δ[t][b] = max_a (δ[t−1][a] + w[t][a][b]) + n[t][b]        w = trans + edge, n = node + boundary
//! ```
//!
//! O(TK²) additions and maxima, without a branch. Predecessors are not stored: walking back, the
//! one of each label on the path is found again in O(K), from the same numbers in the same order,
//! so that it is exactly the one that gave δ. Illegal transitions weigh −∞. Ties, at the end and on
//! the way back, go to the lowest label.
//!
//! Source: Viterbi, IEEE Trans. Information Theory 13 (1967); Forney, Proc. IEEE 61 (1973).

use super::constraint::Constraint;
use super::transitions::Transitions;
use super::{LANES, Order, Scores, add};
use crate::ids::LabelId;
use crate::simd::{self, Kernel};

/// Decodes sentences; keeps the room that takes for the next one.
#[derive(Clone, Debug, Default)]
pub struct Viterbi {
    pub(super) labels: usize,
    pub(super) stride: usize,
    pub(super) tokens: usize,
    pub(super) delta: Vec<f64>, // [T][S] score of the best path that ends in b at t
    legal: Vec<f64>,            // [K][S] transition scores, −∞ where not legal
}

impl Viterbi {
    /// Writes the best path (of the legal ones, where there is a constraint) to `path` and returns
    /// its score. Where no path is legal, `path` is left empty and the score is −∞.
    ///
    /// # Panics
    ///
    /// If `scores` have the wrong shape or `constraint` has another number of labels.
    pub fn decode(
        &mut self,
        transitions: &Transitions,
        scores: Scores,
        constraint: Option<&Constraint>,
        path: &mut Vec<LabelId>,
    ) -> f64 {
        path.clear();
        self.fill(transitions, scores, constraint);
        if self.tokens == 0 {
            return 0.0;
        }
        let (mut b, best) = highest(self.last().iter().copied());
        if best == f64::NEG_INFINITY {
            return best;
        }
        let edge = scores.edges(transitions);
        path.push(LabelId(b as u16));
        for t in (1..self.tokens).rev() {
            b = highest(self.arrivals(edge, t, b)).0;
            path.push(LabelId(b as u16));
        }
        path.reverse();
        best
    }

    /// Fills δ.
    pub(super) fn fill(
        &mut self,
        transitions: &Transitions,
        scores: Scores,
        constraint: Option<&Constraint>,
    ) {
        self.labels = transitions.labels();
        self.stride = transitions.stride();
        self.tokens = scores.tokens(transitions);
        self.delta.resize(self.tokens * self.stride, 0.0);
        self.legal.clear();
        self.legal.extend_from_slice(transitions.scores());
        if let Some(constraint) = constraint {
            assert_eq!(constraint.labels(), self.labels, "labels differ");
            add(&mut self.legal, constraint.transitions());
        }
        let rows = self.delta.chunks_exact_mut(self.stride);
        for (t, row) in rows.enumerate() {
            scores.copy_node(transitions, t, &mut row[..self.labels]);
        }
        if let Some(constraint) = constraint
            && self.tokens > 0
        {
            add(&mut self.delta, constraint.start());
            let last = (self.tokens - 1) * self.stride;
            add(&mut self.delta[last..], constraint.end());
        }
        if transitions.order() == Order::Zero && constraint.is_none() {
            return self.forward_independent();
        }
        let edge = scores.edges(transitions);
        simd::dispatch(Forward(self, edge));
    }

    /// Turns node scores into δ where every label may follow every other at no cost: O(TK).
    fn forward_independent(&mut self) {
        let mut best = 0.0;
        for row in self.delta.chunks_exact_mut(self.stride) {
            let row = &mut row[..self.labels];
            row.iter_mut().for_each(|x| *x += best);
            best = highest(row.iter().copied()).1;
        }
    }

    /// Turns node scores into δ: O(TK²).
    #[inline(always)]
    fn forward(&mut self, stride: usize, edge: Option<&[f64]>) {
        let size = self.labels * stride;
        for t in 1..self.tokens {
            let (done, rest) = self.delta.split_at_mut(t * stride);
            let before = &done[(t - 1) * stride..][..self.labels];
            let row = &mut rest[..stride];
            match edge {
                None => advance(stride, before, &self.legal, row),
                Some(edge) => {
                    let edge = &edge[t * size..][..size];
                    advance_edges(stride, before, &self.legal, edge, row);
                }
            }
        }
    }

    /// δ of the last token, `[K]`.
    pub(super) fn last(&self) -> &[f64] {
        &self.delta[(self.tokens - 1) * self.stride..][..self.labels]
    }

    /// δ[t−1][a] + w[t][a][b] for every a.
    pub(super) fn arrivals(
        &self,
        edge: Option<&[f64]>,
        t: usize,
        b: usize,
    ) -> impl Iterator<Item = f64> + Clone {
        let before = &self.delta[(t - 1) * self.stride..][..self.labels];
        before.iter().enumerate().map(move |(a, before)| {
            let step = self.legal[a * self.stride + b];
            match edge {
                None => before + step,
                Some(edge) => before + (step + edge[(t * self.labels + a) * self.stride + b]),
            }
        })
    }
}

/// [`Viterbi::forward`], with the edge scores if there are any.
struct Forward<'a>(&'a mut Viterbi, Option<&'a [f64]>);

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(viterbi, edge) = self;
        // A constant stride lets the compiler unroll the inner loops and drop their bounds checks.
        match viterbi.stride {
            8 => viterbi.forward(8, edge),
            16 => viterbi.forward(16, edge),
            24 => viterbi.forward(24, edge),
            32 => viterbi.forward(32, edge),
            stride => viterbi.forward(stride, edge),
        }
    }
}

/// The highest of `values` and its position, the first of several; (0, −∞) if there is none.
pub(super) fn highest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, x) in values.enumerate() {
        if x > best.1 {
            best = (i, x);
        }
    }
    best
}

/// row[b] = max_a (before[a] + step[a][b]) + row[b], with before `[K]`, step `[K][S]`, row `[S]`.
#[inline(always)]
fn advance(stride: usize, before: &[f64], step: &[f64], row: &mut [f64]) {
    let (row, _) = row[..stride].as_chunks_mut::<LANES>();
    for (block, out) in row.iter_mut().enumerate() {
        let mut best = [f64::NEG_INFINITY; LANES];
        for (before, step) in before.iter().zip(step.chunks_exact(stride)) {
            let (step, _) = step.as_chunks::<LANES>();
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

/// As [`advance`], with step[a][b] + edge[a][b] for step[a][b].
#[inline(always)]
fn advance_edges(stride: usize, before: &[f64], step: &[f64], edge: &[f64], row: &mut [f64]) {
    let (row, _) = row[..stride].as_chunks_mut::<LANES>();
    let rows = step.chunks_exact(stride).zip(edge.chunks_exact(stride));
    for (block, out) in row.iter_mut().enumerate() {
        let mut best = [f64::NEG_INFINITY; LANES];
        for (before, (step, edge)) in before.iter().zip(rows.clone()) {
            let (step, edge) = (step.as_chunks::<LANES>().0, edge.as_chunks::<LANES>().0);
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
