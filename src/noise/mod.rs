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
//! | the same for most sentences, faster | `adjoint_kernel/` |
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
mod adjoint_kernel;
mod engine;
mod features;
mod message;
mod pair_kernel;
mod quadratic;
mod regularizer;
#[cfg(test)]
mod tests;
mod window;

pub use adjoint::Adjoint;
pub use engine::Engine;
pub use features::{ActiveCounts, AttributeRows, FeatureGradient, FeatureRows, Features};
pub use message::Message;
pub use regularizer::{
    ChainContext, ChainDerivatives, Derivatives, LabelVariances, Regularizer, SentenceInput,
};
pub use window::Window;
