//! Losses of a score, and what feature noise adds to their expectations.
//!
//! A score has the mean f and the variance V. By Jensen's inequality, E|a| ≤ √E[a²], and
//!
//! | loss | expectation under noise, or its bound |
//! |---|---|
//! | softmax: ln(1 + e^−y·f) | + ½·p(1 − p)·V, p = σ(f): second order; or a Gaussian score's |
//! | hinge: max(0, ζ) = ½(ζ + abs ζ), ζ = 1 − y·f | ½(1 − y·f + s), s = √((1 − y·f)² + V) |
//! | logistic: ln(1 + e^−y·f) = −½·y·f + ln 2cosh(½·f) | −½·y·f + ln 2cosh(½·s), s = √(f² + V) |
//! | squared: (y − f)² | (y − f)² + V: exact |
//!
//! The bounds are those of Chen, Zhu, Chen and Zhang, "Dropout training for support vector
//! machines", AAAI 2014 (eqs. 15, 35): ln 2cosh(½√u) is concave in u. They are convex in the
//! weights: f is linear in them, √(a² + V) is a norm, and the bounds compose these with convex
//! increasing functions. The second order is that of Wager, Wang and Liang (2013), eq. 6.
//!
//! Where V = 0, for a document without features, s has a kink. Hence s = √(ζ² + V + δ²) with a
//! small δ > 0 if there is noise: the bound of a hinge whose argument has noise of variance δ² of
//! its own. It remains an upper bound, larger by at most δ/2 for each hinge.
//!
//! # Kinks without noise
//!
//! A hinge max(0, ζ) = max α·ζ over 0 ≤ α ≤ 1 becomes smooth with a quadratic term,
//!
//! ```text
//! max over 0 ≤ α ≤ 1 of  α·ζ − ½σ·(α − β)²          at α = β + ζ/σ, bounded
//! ```
//!
//! which is below max(0, ζ) but where α = β. The method of multipliers minimizes that, sets each β
//! to its α, and starts again: the α converge to the dual variables, and the minimum to that of the
//! loss with its kink, whatever σ (Rockafellar 1976).

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::logistic::{LogisticMoments, logistic_moments};
use dropchain::kernel::math::sigmoid;

/// δ of a hinge, whose margin is 1.
const SMOOTHING: f64 = 1e-4;

/// A loss of the score f of a document with target y = ±1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// −log p(class): a log-linear model
    #[default]
    Softmax,
    /// max(0, 1 − y·score): a support vector machine
    Hinge,
    /// log(1 + exp(−y·score)): the same as softmax without noise
    Logistic,
    /// (1 − y·score)²: least squares
    Squared,
}

dropchain::named!(Loss, "loss":
    Softmax = "softmax", Hinge = "hinge", Logistic = "logistic", Squared = "squared",
);

/// The loss of a document, what the noise adds to it, and their derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub loss: f64,
    pub slope: f64, // by f
    pub noise: f64,
    pub noise_slope: f64, // by f
    pub by_variance: f64,
}

impl Loss {
    /// Returns the loss of a score without noise, and its derivative, of which kinks have one of
    /// several.
    fn value(self, y: f64, f: f64) -> [f64; 2] {
        match self {
            Self::Softmax | Self::Logistic => {
                [log_cosh(f.abs()) - 0.5 * y * f, -y * sigmoid(-y * f)]
            }
            Self::Hinge if y * f < 1.0 => [1.0 - y * f, -y],
            Self::Hinge => [0.0; 2],
            Self::Squared => [(y - f) * (y - f), 2.0 * (f - y)],
        }
    }

    /// Returns the loss of a document without noise.
    pub(super) fn plain(self, y: f64, f: f64) -> Point {
        let [loss, slope] = self.value(y, f);
        Point { loss, slope, ..Point::default() }
    }

    /// Returns the expectation of a logistic loss over Gaussian scores.
    pub(super) fn gaussian(self, y: f64, f: f64, variance: f64) -> Point {
        let LogisticMoments { penalty, slope, curvature } = logistic_moments(f, variance);
        let by_variance = 0.5 * curvature;
        Point { noise: penalty, noise_slope: slope, by_variance, ..self.plain(y, f) }
    }

    /// Returns the loss of a document under noise.
    pub(super) fn noisy(self, y: f64, f: f64, variance: f64) -> Point {
        let [loss, slope] = self.value(y, f);
        let [noise, noise_slope, by_variance] = match self {
            Self::Softmax => {
                let (p, q) = (sigmoid(f), sigmoid(-f));
                [0.5 * p * q * variance, 0.5 * p * q * (q - p) * variance, 0.5 * p * q]
            }
            Self::Squared => [variance, 0.0, 1.0],
            Self::Hinge => {
                let a = 1.0 - y * f;
                let s = (a * a + variance + SMOOTHING * SMOOTHING).sqrt();
                [0.5 * (a + s) - loss, -0.5 * y * (1.0 + a / s) - slope, 0.25 / s]
            }
            Self::Logistic => {
                let s = (f * f + variance).sqrt();
                // tanh(½s)/(2s) = ¼ − s²/48 + …
                let g = if s < 1e-4 { 0.25 - s * s / 48.0 } else { (0.5 * s).tanh() / (2.0 * s) };
                [log_cosh(s) - 0.5 * y * f - loss, g * f - 0.5 * y - slope, 0.5 * g]
            }
        };
        Point { loss, slope, noise, noise_slope, by_variance }
    }

    /// Returns the hinge of a document, smooth by σ and the multiplier β.
    pub(super) fn smooth(self, y: f64, f: f64, sigma: f64, beta: f64) -> Point {
        let [loss, slope] = self.value(y, f);
        let alpha = multiplier(y, f, sigma, beta);
        let smooth = alpha * (f - y) - 0.5 * sigma * (alpha - beta) * (alpha - beta);
        Point { loss, slope, noise: smooth - loss, noise_slope: alpha - slope, by_variance: 0.0 }
    }
}

/// Returns the α of a score, which is the derivative of the smooth hinge, and the next β: −y times
/// that of ζ.
pub(super) fn multiplier(y: f64, f: f64, sigma: f64, beta: f64) -> f64 {
    let [low, high] = if y > 0.0 { [-1.0, 0.0] } else { [0.0, 1.0] };
    (beta + (f - y) / sigma).clamp(low, high)
}

/// ln 2cosh(½s) of s ≥ 0.
pub(super) fn log_cosh(s: f64) -> f64 {
    0.5 * s + (-s).exp().ln_1p()
}
