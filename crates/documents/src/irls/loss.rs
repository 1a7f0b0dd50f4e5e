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
//! | ε-insensitive: max(0, abs(y − f) − ε) | ½(s₁ + s₂) − ε, s = √((y − f ∓ ε)² + V) |
//!
//! (the last is a hinge on either side),
//!
//! where the bound of the logistic loss holds because ln 2cosh(½√u) is concave in u. √u and that
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
//! Where V = 0, for a document without features, 1/s is infinite on the margin. Hence
//! s = √(ζ² + V + δ²) with a small δ > 0: the bound is then that of a hinge whose argument has
//! noise of variance δ² of its own. It remains an upper bound, is larger by at most δ/2 for each
//! hinge, g is at most 1/(2δ), and the majorizer remains one, so that the objective still falls.
//!
//! Each bound is a sum of functions φ(a² + V), where a is ± f plus a constant, and of terms that
//! are linear in f. Hence its second derivatives, with those of φ,
//!
//! ```text
//! ∂²B/∂f² = Σ 2φ′ + 4a²·φ″     ∂²B/∂f∂V = Σ ±2a·φ″     ∂²B/∂V² = Σ φ″
//! ```
//!
//! while the majorizer has g = Σ 2φ′ in their place: φ″ < 0, so it is steeper.

use serde::{Deserialize, Serialize};

use dropchain::error::{Error, Result};

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

/// The second derivatives of the bound of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Curvature {
    /// ∂²B/∂f².
    pub mean: f64,
    /// ∂²B/∂f∂V.
    pub cross: f64,
    /// ∂²B/∂V².
    pub variance: f64,
}

impl Loss {
    /// Returns the name, such as `hinge`.
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

    /// Returns whether the loss has a kink: it is piecewise linear.
    pub(super) fn has_kinks(self) -> bool {
        matches!(self, Self::Hinge { .. } | Self::Insensitive { .. })
    }

    /// Returns δ at the end, given the targets.
    pub(super) fn smoothing(self, targets: &[f64]) -> f64 {
        match self {
            Self::Hinge { margin } => SMOOTHING * margin,
            Self::Logistic | Self::Squared => 0.0,
            Self::Insensitive { .. } => {
                let count = targets.len().max(1) as f64;
                let mean = targets.iter().map(|y| y / count).sum::<f64>();
                let spread = targets.iter().map(|y| (y - mean).abs() / count).sum::<f64>();
                SMOOTHING * if spread > 0.0 { spread } else { 1.0 }
            }
        }
    }

    /// Returns the loss of a score without noise.
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
                Majorizer { weight: 0.5 / s, target: y * (margin + s) }
            }
            Self::Logistic => {
                let s = norm(f);
                // tanh(½s)/(2s) = ¼ − s²/48 + …
                let weight =
                    if s < 1e-4 { 0.25 - s * s / 48.0 } else { (0.5 * s).tanh() / (2.0 * s) };
                Majorizer { weight, target: 0.5 * y / weight }
            }
            Self::Squared => Majorizer { weight: 2.0, target: y },
            Self::Insensitive { epsilon } => {
                let [a, b] = [norm(y - f - epsilon), norm(y - f + epsilon)].map(|s| 1.0 / s);
                Majorizer { weight: 0.5 * (a + b), target: y + epsilon * (b - a) / (a + b) }
            }
        }
    }

    /// Returns the second derivatives of the bound at (f, V), V + δ² > 0 if there are kinks.
    pub(super) fn curvature(self, y: f64, f: f64, variance: f64, delta: f64) -> Curvature {
        let norm = |a: f64| norm(a, variance, delta);
        match self {
            Self::Hinge { margin } => {
                let a = margin - y * f;
                curvature(half_root(norm(a)), a, -y)
            }
            Self::Logistic => curvature(log_cosh_of_root(norm(f)), f, 1.0),
            Self::Squared => Curvature { mean: 2.0, ..Curvature::default() },
            Self::Insensitive { epsilon } => {
                let [a, b] = [y - f - epsilon, y - f + epsilon]
                    .map(|a| curvature(half_root(norm(a)), a, -1.0));
                Curvature {
                    mean: a.mean + b.mean,
                    cross: a.cross + b.cross,
                    variance: a.variance + b.variance,
                }
            }
        }
    }
}

/// Returns the second derivatives of φ(a² + V) + terms that are linear in f, where a has the
/// derivative `sign` = ±1 with respect to f, given φ′ and φ″.
fn curvature([first, second]: [f64; 2], a: f64, sign: f64) -> Curvature {
    Curvature {
        mean: 2.0 * first + 4.0 * a * a * second,
        cross: 2.0 * sign * a * second,
        variance: second,
    }
}

/// φ′ and φ″ of φ(u) = ½√u at u = s².
fn half_root(s: f64) -> [f64; 2] {
    [0.25 / s, -0.125 / (s * s * s)]
}

/// φ′ and φ″ of φ(u) = ln 2cosh(½√u) at u = s².
fn log_cosh_of_root(s: f64) -> [f64; 2] {
    if s < 1e-2 {
        // ⅛ − u/96 + u²/960 − …
        let u = s * s;
        return [
            0.125 - u / 96.0 + u * u / 960.0,
            -1.0 / 96.0 + u / 480.0 - u * u * (17.0 / 53_760.0),
        ];
    }
    let tanh = (0.5 * s).tanh();
    let square = 1.0 - tanh * tanh;
    let first = tanh / (4.0 * s);
    [first, (square / (8.0 * s) - first / s) / (2.0 * s)]
}

/// √(a² + V + δ²).
fn norm(a: f64, variance: f64, delta: f64) -> f64 {
    (a * a + variance + delta * delta).sqrt()
}

/// ln 2cosh(½s) of s ≥ 0.
fn log_cosh(s: f64) -> f64 {
    0.5 * s + (-s).exp().ln_1p()
}
