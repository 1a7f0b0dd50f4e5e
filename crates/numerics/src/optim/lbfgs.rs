//! The memory of L-BFGS and its search direction.
//!
//! Problem: d = −H·g, where H approximates the inverse Hessian from the last m steps. With the
//! curvature pairs s = x_{k+1} − x_k and y = ∇f(x_{k+1}) − ∇f(x_k), H is the result of m BFGS
//! updates of γ·P, where γ = sᵀy / yᵀPy of the newest pair (Nocedal & Wright 2006, equation 7.20,
//! in variables scaled by P^(−1/2)) and P is the diagonal preconditioner of the objective, or I.
//! The two-loop recursion (algorithm 7.4) computes H·g without forming H:
//!
//! ```text
//! q ← −g
//! newest to oldest:  α_i ← s_iᵀq / s_iᵀy_i;  q ← q − α_i y_i
//! q ← γ P q
//! oldest to newest:  β ← y_iᵀq / s_iᵀy_i;    q ← q + (α_i − β) s_i
//! ```
//!
//! Each line's update and the next line's inner product are fused into one pass: 2m + 2 passes over
//! vectors of n numbers, 4mn multiplications. The last pass yields dᵀg, the slope for the line
//! search.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::vector::{Point, difference, negate, scale, update, weighted_square};
use crate::aligned::zeros;

/// The minimum cosine of the angle between s and y of a pair in the memory.
///
/// Below it sᵀy is mostly rounding error. The usual bound on sᵀy / yᵀy depends on the unit of f
/// (ours is a sum, which grows with the corpus); the cosine does not.
const MIN_COSINE: f64 = 1e-10;

/// A step s and the change y of the gradient along it.
///
/// Stored as `f32` to save memory: the rounded vectors form a valid pair themselves, since all
/// products are computed from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CurvaturePair {
    s: Vec<f32>, // [n]
    y: Vec<f32>, // [n]
    sy: f64,     // sᵀy
    ypy: f64,    // yᵀPy
}

/// The last curvature pairs, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LbfgsMemory {
    /// The pairs.
    pub pairs: VecDeque<CurvaturePair>,
    #[serde(skip)]
    alpha: Vec<f64>, // [memory], 0 is the newest
    #[serde(skip)]
    inverse_curvature: Vec<f32>, // [n] the diagonal of P
}

impl LbfgsMemory {
    /// Sets the maximum number of pairs, and the diagonal of P.
    pub fn prepare(&mut self, memory: usize, inverse_curvature: Vec<f32>) {
        self.alpha = vec![0.0; memory];
        self.inverse_curvature = inverse_curvature;
    }

    /// Returns whether there are at most so many pairs, of so many variables.
    pub(super) fn fits(&self, memory: usize, dimension: usize) -> bool {
        let mut vectors = self.pairs.iter().flat_map(|pair| [&pair.s, &pair.y]);
        self.pairs.len() <= memory && vectors.all(|vector| vector.len() == dimension)
    }

    /// Returns the `age`-th newest pair, counted from 0.
    fn pair(&self, age: usize) -> &CurvaturePair {
        &self.pairs[self.pairs.len() - 1 - age]
    }

    /// Adds the pair of a step between two points; returns ‖s‖, and the
    /// [`norms`](super::vector::norms) of the second. A pair without positive curvature is not
    /// stored; the oldest pair is lost either way, since the new one is computed in its place.
    pub fn update<D>(&mut self, from: &Point<D>, to: &Point<D>) -> (f64, [f64; 3]) {
        let is_full = self.pairs.len() == self.alpha.len();
        let oldest = if is_full { self.pairs.pop_front() } else { None };
        let mut pair = oldest.unwrap_or_default();
        if pair.s.len() != from.x.len() {
            (pair.s, pair.y) = (zeros(from.x.len()), zeros(from.x.len()));
        }
        let [ss, yy, sy, norms @ ..] = difference(from, to, &mut pair.s, &mut pair.y);
        let step_norm = ss.sqrt();
        if sy.is_finite() && yy.is_finite() && sy > MIN_COSINE * step_norm * yy.sqrt() {
            pair.sy = sy;
            pair.ypy = weighted_square(&pair.y, &self.inverse_curvature);
            self.pairs.push_back(pair);
        }
        (step_norm, norms)
    }

    /// Sets d = −H·g, by the two-loop recursion; returns dᵀg.
    pub fn direction(&mut self, g: &[f64], d: &mut [f64]) -> f64 {
        if self.pairs.is_empty() {
            negate(g, g, d);
            return scale(d, 1.0, &self.inverse_curvature, g);
        }
        let mut dot = negate(g, &self.pair(0).s, d);
        for age in 0..self.pairs.len() {
            let pair = self.pair(age);
            let alpha = dot / pair.sy;
            let next = if age + 1 < self.pairs.len() { &self.pair(age + 1).s } else { &pair.y };
            dot = update(d, -alpha, &pair.y, next);
            self.alpha[age] = alpha;
        }
        let [newest, oldest] = [0, self.pairs.len() - 1].map(|age| self.pair(age));
        dot = scale(d, newest.sy / newest.ypy, &self.inverse_curvature, &oldest.y);
        for age in (0..self.pairs.len()).rev() {
            let pair = self.pair(age);
            let factor = self.alpha[age] - dot / pair.sy;
            dot = match age {
                0 => update(d, factor, &pair.s, g),
                _ => update(d, factor, &pair.s, &self.pair(age - 1).y),
            };
        }
        dot
    }
}
