//! The memory of L-BFGS and the direction that it gives.
//!
//! Problem: d = −H·g, where H is the inverse Hessian as the last m steps show it. With the pairs
//! s = x_{k+1} − x_k and y = ∇f(x_{k+1}) − ∇f(x_k), H is what m BFGS updates make of γ·P,
//! γ = sᵀy / yᵀPy of the newest pair (Nocedal & Wright 2006, equation 7.20, in variables scaled by
//! P^(−1/2)). P is the diagonal that the objective estimates the curvature with, or I. The two-loop
//! recursion (algorithm 7.4) finds H·g without H:
//!
//! ```text
//! q ← −g
//! newest to oldest:  α_i ← s_iᵀq / s_iᵀy_i;  q ← q − α_i y_i
//! q ← γ P q
//! oldest to newest:  β ← y_iᵀq / s_iᵀy_i;    q ← q + (α_i − β) s_i
//! ```
//!
//! Each line's update and the next line's inner product are one pass: 2m + 1 passes over vectors of
//! n numbers (two more with P), 4mn multiplications. The last pass yields dᵀg, the slope for the line search.

use super::vector::Passes;

/// Least cosine of the angle between s and y with which a pair enters the memory.
///
/// Below it sᵀy is mostly rounding error. The usual bound on sᵀy / yᵀy depends on the unit in
/// which f is measured (ours is a sum, whose size grows with the corpus); the cosine does not.
const MIN_COSINE: f64 = 1e-10;

/// A step and the change of the gradient along it.
///
/// Four bytes a number: what they are rounded to is as good a pair, and all products are of that.
#[derive(Debug)]
struct Pair {
    s: Vec<f32>, // [n]
    y: Vec<f32>, // [n]
    sy: f64,
    ypy: f64, // yᵀPy
}

/// The last steps, in a ring.
#[derive(Debug)]
pub(super) struct History {
    pairs: Vec<Pair>, // [memory]
    alpha: Vec<f64>,  // [memory], 0 is the newest
    next: usize,      // where the next pair goes
    len: usize,
    inverse_curvature: Option<Vec<f32>>, // [n] the diagonal of P; none: I
}

/// What became of a step.
pub(super) struct Learned {
    /// ‖s‖
    pub(super) length: f64,
    /// Whether the pair was kept.
    pub(super) kept: bool,
}

impl History {
    pub(super) fn new(
        memory: usize,
        dimension: usize,
        inverse_curvature: Option<Vec<f32>>,
    ) -> Self {
        let pair = || Pair {
            s: vec![0.0; dimension],
            y: vec![0.0; dimension],
            sy: 0.0,
            ypy: 0.0,
        };
        Self {
            pairs: (0..memory).map(|_| pair()).collect(),
            alpha: vec![0.0; memory],
            next: 0,
            len: 0,
            inverse_curvature,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// The `age`-th newest pair, from 0.
    fn pair(&self, age: usize) -> &Pair {
        let memory = self.pairs.len();
        &self.pairs[(self.next + memory - 1 - age) % memory]
    }

    /// Learns from the step between two points (x, ∇f(x)). A pair without positive curvature is not kept; since it was
    /// computed where the oldest one stood, that one is lost nevertheless.
    pub(super) fn learn(
        &mut self,
        passes: &mut Passes,
        from: (&[f64], &[f64]),
        to: (&[f64], &[f64]),
    ) -> Learned {
        let memory = self.pairs.len();
        let pair = &mut self.pairs[self.next];
        let [ss, yy, sy] = passes.pair(from, to, &mut pair.s, &mut pair.y);
        let length = ss.sqrt();
        let kept = sy.is_finite() && yy.is_finite() && sy > MIN_COSINE * length * yy.sqrt();
        if kept {
            pair.sy = sy;
            pair.ypy = match &self.inverse_curvature {
                Some(p) => passes.weighted_square(&pair.y, p),
                None => yy,
            };
            self.next = (self.next + 1) % memory;
            self.len = (self.len + 1).min(memory);
        } else {
            self.len = self.len.min(memory - 1);
        }
        Learned { length, kept }
    }

    /// direction = −H·gradient; returns directionᵀgradient.
    pub(super) fn direction(
        &mut self,
        passes: &mut Passes,
        gradient: &[f64],
        direction: &mut [f64],
    ) -> f64 {
        if self.is_empty() {
            let slope = passes.negate(gradient, gradient, direction);
            return match &self.inverse_curvature {
                Some(p) => passes.scale(direction, 1.0, p, gradient),
                None => slope,
            };
        }
        let mut dot = passes.negate(gradient, &self.pair(0).s, direction);
        for age in 0..self.len {
            let pair = self.pair(age);
            let alpha = dot / pair.sy;
            let next = if age + 1 < self.len {
                &self.pair(age + 1).s
            } else {
                &pair.y
            };
            dot = passes.update(direction, (1.0, -alpha), &pair.y, next);
            self.alpha[age] = alpha;
        }
        let mut scale = self.pair(0).sy / self.pair(0).ypy;
        if let Some(p) = &self.inverse_curvature {
            let oldest = &self.pair(self.len - 1).y;
            dot = passes.scale(direction, scale, p, oldest);
            scale = 1.0;
        } else {
            dot *= scale;
        }
        for age in (0..self.len).rev() {
            let pair = self.pair(age);
            let factors = (scale, self.alpha[age] - dot / pair.sy);
            dot = match age {
                0 => passes.update(direction, factors, &pair.s, gradient),
                _ => passes.update(direction, factors, &pair.s, &self.pair(age - 1).y),
            };
            scale = 1.0;
        }
        dot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a history of two variables see the step s with the gradient change y.
    fn learn(history: &mut History, s: [f64; 2], y: [f64; 2]) -> Learned {
        history.learn(&mut Passes::new(2), (&[0.0; 2], &[0.0; 2]), (&s, &y))
    }

    fn direction(history: &mut History, gradient: [f64; 2]) -> ([f64; 2], f64) {
        let mut direction = [0.0; 2];
        let slope = history.direction(&mut Passes::new(2), &gradient, &mut direction);
        (direction, slope)
    }

    #[test]
    fn an_empty_memory_gives_steepest_descent() {
        let mut history = History::new(3, 2, None);
        assert_eq!(direction(&mut history, [3.0, -4.0]), ([-3.0, 4.0], -25.0));
    }

    #[test]
    fn two_conjugate_steps_give_the_newton_direction() {
        // Hessian diag(2, 8)
        let mut history = History::new(3, 2, None);
        learn(&mut history, [1.0, 0.0], [2.0, 0.0]);
        learn(&mut history, [0.0, 1.0], [0.0, 8.0]);
        assert_eq!(direction(&mut history, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
    }

    #[test]
    fn the_newest_steps_survive_when_the_ring_is_full() {
        let mut history = History::new(2, 2, None);
        learn(&mut history, [1.0, 1.0], [500.0, 500.0]);
        learn(&mut history, [1.0, 0.0], [2.0, 0.0]);
        learn(&mut history, [0.0, 1.0], [0.0, 8.0]);
        assert_eq!(direction(&mut history, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
    }

    #[test]
    fn a_step_without_positive_curvature_is_not_kept() {
        let mut history = History::new(3, 2, None);
        assert!(!learn(&mut history, [1.0, 0.0], [-2.0, 0.0]).kept);
        assert!(!learn(&mut history, [1.0, 0.0], [1e-12, 1.0]).kept);
        assert!(!learn(&mut history, [0.0, 0.0], [0.0, 0.0]).kept);
        assert!(!learn(&mut history, [1.0, 0.0], [f64::NAN, 0.0]).kept);
        assert!(history.is_empty());
    }

    #[test]
    fn a_right_estimate_of_the_curvature_gives_the_newton_direction_at_once() {
        // Hessian diag(2, 8)
        let mut history = History::new(3, 2, Some(vec![0.5, 0.125]));
        assert_eq!(direction(&mut history, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
        learn(&mut history, [1.0, 1.0], [2.0, 8.0]);
        assert_eq!(direction(&mut history, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
    }

    #[test]
    fn the_unit_of_the_estimate_does_not_matter_once_a_step_is_known() {
        let mut history = History::new(3, 2, Some(vec![4.0, 1.0]));
        learn(&mut history, [1.0, 1.0], [2.0, 8.0]);
        assert_eq!(direction(&mut history, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
    }

    #[test]
    fn curvature_is_judged_in_any_unit() {
        let mut history = History::new(3, 2, None);
        assert!(learn(&mut history, [1.0, 0.0], [1e-30, 0.0]).kept);
        assert!(learn(&mut history, [1.0, 0.0], [1e30, 0.0]).kept);
    }
}
