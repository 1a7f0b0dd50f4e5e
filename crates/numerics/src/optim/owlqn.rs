//! OWL-QN: L-BFGS for F(x) = f(x) + Σ c_i |x_i|, which is not smooth where an x_i is 0.
//!
//! Andrew & Gao 2007. Only the smooth part f enters the L-BFGS memory. In addition:
//!
//! - the *pseudo-gradient* ◇F replaces the gradient (equation 4): the one-sided derivative of F in
//!   the direction of descent, 0 if there is none;
//! - the direction is *aligned*: coordinates whose sign is not opposite to ◇F are set to 0;
//! - a step stays in the *orthant* ξ, ξ_i = sign x_i, or sign −◇_iF where x_i is 0 (equation 5):
//!   coordinates that would leave it are set to exactly 0;
//! - a step is accepted if F(x′) ≤ F(x) + c₁ ◇F·(x′ − x), and shortened otherwise (the backtracking
//!   of the paper, with the decrease measured along the projected step).
//!
//! Coordinates with c_i = 0 are smooth and exempt: they are neither aligned nor projected. If the
//! direction would not descend because of them, they are aligned too.
//!
//! Cost beyond L-BFGS: three passes per iteration, one pass per trial, and one vector.

use super::vector::{by_chunks, dot_chunk};

/// The L1 penalty and the pseudo-gradient at the current point.
#[derive(Debug)]
pub struct L1Penalty<'a> {
    strength: &'a [f64], // [n] c
    /// ◇F as of the last call of `differentiate`, `[n]`.
    pub pseudo: Vec<f64>,
}

impl<'a> L1Penalty<'a> {
    /// The penalty of these strengths, `[n]`.
    pub fn new(strength: &'a [f64]) -> Self {
        Self { strength, pseudo: vec![0.0; strength.len()] }
    }

    /// Returns Σ c_i |x_i|.
    pub(super) fn value(&self, x: &[f64]) -> f64 {
        let strength = self.strength;
        by_chunks!([x, strength], [], [absolute_sum(x, strength)])[0]
    }

    /// Computes ◇F from x and ∇f(x); returns its squared norm.
    pub fn differentiate(&mut self, x: &[f64], g: &[f64]) -> f64 {
        let strength = self.strength;
        let pseudo = self.pseudo.as_mut_slice();
        by_chunks!([x, g, strength], [pseudo], {
            for (((p, &x), &g), &c) in pseudo.iter_mut().zip(x).zip(g).zip(strength) {
                *p = pseudo_derivative(x, g, c);
            }
            [dot_chunk(pseudo, pseudo)]
        })[0]
    }

    /// Sets the coordinates of the direction that are not opposite to ◇F to 0; returns the slope
    /// ◇F·direction.
    pub fn align(&self, direction: &mut [f64]) -> f64 {
        let slope = self.align_where(direction, |c| c > 0.0);
        if slope < 0.0 {
            return slope;
        }
        self.align_where(direction, |_| true)
    }

    fn align_where(&self, direction: &mut [f64], applies: impl Fn(f64) -> bool + Sync) -> f64 {
        let (strength, pseudo) = (self.strength, self.pseudo.as_slice());
        by_chunks!([strength, pseudo], [direction], {
            for ((d, &p), &c) in direction.iter_mut().zip(pseudo).zip(strength) {
                if *d * p >= 0.0 && applies(c) {
                    *d = 0.0;
                }
            }
            [dot_chunk(direction, pseudo)]
        })[0]
    }

    /// Sets out = x + step·direction, projected onto the orthant of x; returns the linear change
    /// ◇F·(out − x) and Σ c_i |out_i|.
    pub fn project(&self, x: &[f64], step: f64, direction: &[f64], out: &mut [f64]) -> (f64, f64) {
        let (strength, pseudo) = (self.strength, self.pseudo.as_slice());
        let [change, absolute] = by_chunks!([x, direction, strength, pseudo], [out], {
            let mut change = 0.0;
            let coordinates = out.iter_mut().zip(x).zip(direction);
            for (((o, &x), &d), (&c, &p)) in coordinates.zip(strength.iter().zip(pseudo)) {
                let orthant = if x == 0.0 { -p } else { x };
                let y = x + step * d;
                *o = if c > 0.0 && y * orthant <= 0.0 { 0.0 } else { y };
                change += p * (*o - x);
            }
            [change, absolute_sum(out, strength)]
        });
        (change, absolute)
    }
}

/// Returns Σ c_i |x_i| of one chunk.
fn absolute_sum(x: &[f64], strength: &[f64]) -> f64 {
    x.iter().zip(strength).map(|(x, c)| c * x.abs()).sum()
}

/// Returns one coordinate of ◇F.
pub fn pseudo_derivative(x: f64, g: f64, c: f64) -> f64 {
    if x > 0.0 || (x == 0.0 && g + c < 0.0) {
        g + c
    } else if x < 0.0 || g - c > 0.0 {
        g - c
    } else if g.is_nan() {
        g
    } else {
        0.0
    }
}
