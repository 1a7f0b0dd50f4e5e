//! Losses of a score, the bounds of their expectations under noise, and quadratic majorizers of
//! these.
//!
//! A score has the mean f and the variance V. By Jensen's inequality, E|a| ≤ √E[a²], and
//!
//! | loss | bound of its expectation |
//! |---|---|
//! | hinge: max(0, ζ) = ½(ζ + abs ζ), ζ = ℓ − y·f | ½(ℓ − y·f + s), s = √((ℓ − y·f)² + V) |
//! | logistic: ln(1 + e^−y·f) = −½·y·f + ln 2cosh(½·f) | −½·y·f + ln 2cosh(½·s), s = √(f² + V) |
//! | squared: (y − f)² | (y − f)² + V: exact |
//! | ε-insensitive: max(0, abs(y − f) − ε), a hinge on either side | ½(s₁ + s₂) − ε, s = √((y − f ∓ ε)² + V) |
//!
//! where the one of the logistic loss holds because ln 2cosh(½√u) is concave in u. √u and that
//! function lie below their tangents in u, whence the majorizers ½·g·[(f − t)² + V] + constant:
//!
//! | loss | g | t |
//! |---|---|---|
//! | hinge | 1/(2s) | y·(ℓ + s) |
//! | logistic | tanh(½s)/(2s) | y/(2g) |
//! | squared | 2 | y |
//! | ε-insensitive | ½(1/s₁ + 1/s₂) | y + ε·(1/s₂ − 1/s₁)/(1/s₁ + 1/s₂) |
//!
//! These are eqs. 15, 35 and lemmas 1 to 3 of the paper, with γ = 1/(c·s) for the hinge. Fixed
//! s = 1 and ℓ = 0 would make the hinge a quarter of the squared loss.
//!
//! Without noise, 1/s is infinite where a document lies on the margin. Hence s = √(ζ² + V + δ²)
//! with a small δ > 0: the bound is then that of a hinge whose argument has noise of variance δ² of
//! its own. It remains an upper bound, is larger by at most δ/2 for each hinge, g is at most
//! 1/(2δ), and the majorizer remains one, so that the objective still falls.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// δ of a hinge, relative to its scale: the margin, or the spread of the targets.
const SMOOTHING: f64 = 1e-4;

/// The largest margin and ε: their squares are far from overflowing.
const LARGEST: f64 = 1e30;

/// A loss of the score f of a document with target y; y is 1 or −1 for the first two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// max(0, ℓ − y·f): a support vector machine.
    Hinge {
        /// The margin ℓ, above 0.
        margin: f64,
    },
    /// ln(1 + exp(−y·f)): logistic regression.
    Logistic,
    /// (y − f)²: least squares.
    Squared,
    /// max(0, |y − f| − ε): support vector regression.
    Insensitive {
        /// ε, at least 0.
        epsilon: f64,
    },
}

/// The majorizer ½·g·[(f − t)² + V] + constant of the loss of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Majorizer {
    /// g.
    pub weight: f64,
    /// t.
    pub target: f64,
}

impl Loss {
    /// Returns the name, such as `hinge`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hinge { .. } => "hinge",
            Self::Logistic => "logistic",
            Self::Squared => "squared",
            Self::Insensitive { .. } => "insensitive",
        }
    }

    /// Checks the margin or ε.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is out of its range.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Hinge { margin } if !(margin > 0.0 && margin <= LARGEST) => {
                Err(Error::parameter(format!(
                    "margin {margin}; expected a number above 0, at most {LARGEST:e}"
                )))
            }
            Self::Insensitive { epsilon } if !(0.0..=LARGEST).contains(&epsilon) => {
                Err(Error::parameter(format!(
                    "epsilon {epsilon}; expected a number that is not negative, at most \
                     {LARGEST:e}"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns δ, given the targets.
    pub(super) fn smoothing(self, targets: &[f64]) -> f64 {
        match self {
            Self::Hinge { margin } => SMOOTHING * margin,
            Self::Logistic | Self::Squared => 0.0,
            Self::Insensitive { .. } => {
                let count = targets.len().max(1) as f64;
                let mean = targets.iter().map(|y| y / count).sum::<f64>();
                let spread = targets
                    .iter()
                    .map(|y| (y - mean).abs() / count)
                    .sum::<f64>();
                SMOOTHING * if spread > 0.0 { spread } else { 1.0 }
            }
        }
    }

    /// Returns the loss of a score without noise.
    #[must_use]
    pub fn value(self, y: f64, f: f64) -> f64 {
        match self {
            Self::Hinge { margin } => (margin - y * f).max(0.0),
            Self::Logistic => log_cosh(f.abs()) - 0.5 * y * f,
            Self::Squared => (y - f).powi(2),
            Self::Insensitive { epsilon } => ((y - f).abs() - epsilon).max(0.0),
        }
    }

    /// Returns the bound of the expected loss of a score with mean f and variance V.
    pub(super) fn bound(self, y: f64, f: f64, variance: f64, delta: f64) -> f64 {
        let norm = |a: f64| norm(a, variance, delta);
        match self {
            Self::Hinge { margin } => 0.5 * (margin - y * f + norm(margin - y * f)),
            Self::Logistic => log_cosh(norm(f)) - 0.5 * y * f,
            Self::Squared => (y - f).powi(2) + variance,
            Self::Insensitive { epsilon } => {
                0.5 * (norm(y - f - epsilon) + norm(y - f + epsilon)) - epsilon
            }
        }
    }

    /// Returns the majorizer that touches the bound at (f, V).
    pub(super) fn majorizer(self, y: f64, f: f64, variance: f64, delta: f64) -> Majorizer {
        let norm = |a: f64| norm(a, variance, delta);
        match self {
            Self::Hinge { margin } => {
                let s = norm(margin - y * f);
                Majorizer {
                    weight: 0.5 / s,
                    target: y * (margin + s),
                }
            }
            Self::Logistic => {
                let s = norm(f);
                // tanh(½s)/(2s) = ¼ − s²/48 + …
                let weight = if s < 1e-4 {
                    0.25 - s * s / 48.0
                } else {
                    (0.5 * s).tanh() / (2.0 * s)
                };
                Majorizer {
                    weight,
                    target: 0.5 * y / weight,
                }
            }
            Self::Squared => Majorizer {
                weight: 2.0,
                target: y,
            },
            Self::Insensitive { epsilon } => {
                let [a, b] = [norm(y - f - epsilon), norm(y - f + epsilon)].map(|s| 1.0 / s);
                Majorizer {
                    weight: 0.5 * (a + b),
                    target: y + epsilon * (b - a) / (a + b),
                }
            }
        }
    }
}

/// √(a² + V + δ²).
fn norm(a: f64, variance: f64, delta: f64) -> f64 {
    (a * a + variance + delta * delta).sqrt()
}

/// ln 2cosh(½s) of s ≥ 0.
fn log_cosh(s: f64) -> f64 {
    0.5 * s + (-s).exp().ln_1p()
}
