//! Simulated feature noise: the quadratic dropout regularizer of a sentence and its gradient.
//!
//! Training on noised features is, in expectation and to second order, training on the original
//! features with the penalty
//!
//! ```text
//! R = ½ Σ_{t,a,b} μ[t][a][b]·(1 − μ[t][a][b])·V[t][a][b]                                 (eq. 14)
//! ```
//!
//! where `μ[t][a][b] = p(y_{t−1} = a, y_t = b)`, at t = 0 `μ[0][b] = p(y_0 = b)`, and
//! `V[t][a][b] = Var[s̃[t][a][b]]` is the variance of the score of that edge under the noise:
//!
//! ```text
//! dropout, rate δ             V = ρ·( Σ_j g²·θ[j][b]² + trans[a][b]² + Σ_e h²·θ[e][a][b]² )
//!                             with ρ = δ/(1 − δ)
//! multiplicative Gaussian     the same with ρ = σ²
//! additive Gaussian           V = σ²·( Σ over all j θ[j][b]² + … ), the same for every t
//! ```
//!
//! with the values g of node attributes j and h of edge attributes e. R is small where the model is
//! certain or its scores are stable. Equation numbers are those of Wang, Wang, Wager, Liang and
//! Manning, "Feature noising for log-linear structured prediction", EMNLP 2013.
//!
//! This module knows neither weights nor noise rates: it takes variances and returns derivatives
//! with respect to scores and variances.
//!
//! # Where the formulas are
//!
//! | formula | file |
//! |---|---|
//! | R itself (eq. 14; at order 0 eq. 8), ∂R/∂V and w = ∂R/∂μ | `quadratic.rs` |
//! | the gradient through μ, exact, O(TK²) | `adjoint.rs`, `quadratic.rs` |
//! | the same for most sentences, faster | `adjoint_kernel.rs` |
//! | the same where few label pairs have weights, O(T(K + P)) for P pairs | `pair_kernel.rs` |
//! | the paper's dynamic program (eqs. 15–18), exact, O(TK²q) | `message.rs` |
//! | co-occurrence collapsing (section 4.1) | `features.rs` |
//! | the gradient within a window (eqs. 20 and 21) | `window.rs` |
//!
//! # The gradient
//!
//! The direct part of its gradient, through V, is ∂R/∂V = ½ μ(1 − μ), summed over the edges that
//! share a term of V. The engines differ in the indirect part, through μ. With
//!
//! ```text
//! w[t][a][b] = ½ (1 − 2μ[t][a][b])·V[t][a][b]          W(y) = Σ_t w[t][y_{t−1}][y_t]
//! ```
//!
//! and ∇μ = μ·∇log μ (eq. 15), for any edge score `s[i][c][d]` = node + transitions + edge
//!
//! ```text
//! ∂R/∂s[i][c][d] = Σ_{t,a,b} w[t][a][b]·Cov(y has a, b at t; y has c, d at i)
//!                = Cov(W; y has c, d at i)
//! ```
//!
//! | engine | method | time | memory |
//! |---|---|---|---|
//! | [`Adjoint`] | that covariance by scalar messages: exact | O(TK²) | O(TK) |
//! | [`Message`] | eqs. 15–18, vector messages over q features: exact | O(TK²q) | O(Kq) |
//! | [`Window`] | only the t with \|t − i\| ≤ r (eq. 20) | O(TK²r) | O(TK) |
//! | [`Window`] of radius 0 | only t = i (eq. 21) | O(TK²) | O(TK) |
//!
//! At order 0 tokens are independent: V is that of the node, and only t = i contributes.
//!
//! Arrays have the layout of [`chain`](crate::chain): rows are padded to the stride S.

mod adjoint;
pub(crate) mod adjoint_kernel;
pub(crate) mod features;
mod message;
mod pair_kernel;
pub(crate) mod quadratic;
mod regularizer;
mod window;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

pub use adjoint::Adjoint;
pub use features::{ActiveCounts, AttributeRows, FeatureGradient, FeatureRows, Features};
pub use message::Message;
pub use regularizer::{
    ChainContext, ChainDerivatives, Derivatives, LabelVariances, Regularizer, SentenceInput,
};
pub use window::Window;

/// The algorithm for the gradient of the quadratic regularizer: the option `gradient`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Engine {
    /// Exact, by scalar messages: [`Adjoint`].
    #[default]
    Exact,
    /// Exact, by the paper's vector messages: [`Message`].
    Message {
        /// Whether attributes that fire once, at the same token, are collapsed into one feature.
        collapse: bool,
    },
    /// Approximate, within a radius in tokens: [`Window`]. Of radius 0, each token is on its own:
    /// `local`.
    Window(usize),
}

impl Engine {
    /// Returns whether the gradient is exactly that of the function being minimized.
    pub fn is_exact(self) -> bool {
        match self {
            Self::Exact | Self::Message { .. } => true,
            Self::Window(_) => false,
        }
    }

    /// Creates what computes R and its gradient.
    pub fn regularizer(self) -> Box<dyn Regularizer> {
        match self {
            Self::Exact => Box::new(Adjoint::default()),
            Self::Message { collapse } => Box::new(Message::new(collapse)),
            Self::Window(radius) => Box::new(Window::new(radius)),
        }
    }
}

/// The name as an option. Collapsing is a separate option.
impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Message { .. } => f.write_str("message"),
            Self::Window(0) => f.write_str("local"),
            Self::Window(radius) => write!(f, "window={radius}"),
        }
    }
}

/// Parses the name as an option; `message` means with collapsing.
impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let (radius, expected) = match (name, name.strip_prefix("window")) {
            ("exact", _) => return Ok(Self::Exact),
            ("message", _) => return Ok(Self::Message { collapse: true }),
            ("local", _) => return Ok(Self::Window(0)),
            (_, Some(rest)) => (
                rest.strip_prefix('=').and_then(|radius| radius.parse().ok()),
                "window=R with a whole number R, for example window=2",
            ),
            _ => (None, "exact, message, window=R or local"),
        };
        radius
            .map(Self::Window)
            .ok_or_else(|| Error::parameter(format!("gradient '{name}'; expected {expected}")))
    }
}

impl TryFrom<String> for Engine {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        name.parse()
    }
}

impl From<Engine> for String {
    fn from(engine: Engine) -> Self {
        engine.to_string()
    }
}
