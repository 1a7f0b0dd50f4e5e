//! Simulated feature noise: the quadratic dropout regularizer of a sentence and its gradient.
//!
//! Training on noised features, in expectation and to second order, is training on the features as
//! they are with the penalty
//!
//! ```text
//! R = ½ Σ_{t,a,b} μ[t][a][b]·(1 − μ[t][a][b])·V[t][a][b]                                   (eq. 14)
//! ```
//!
//! where `μ[t][a][b] = p(y_{t−1} = a, y_t = b)`, at t = 0 `μ[0][b] = p(y_0 = b)`, and V is the variance
//! of the score of that edge under the noise. It is small where the model is sure of itself or its
//! scores are steady. Equations are those of Wang, Wang, Wager, Liang and Manning, "Feature noising
//! for log-linear structured prediction", EMNLP 2013.
//!
//! This module knows neither weights nor noise rates: variances come in, derivatives by scores and
//! by variances go out. With `V = node[t][b] + transitions[a][b] + edge[t][a][b]` the latter are
//! `∂R/∂V = ½ μ (1 − μ)`, summed as the parts of V are. The former are what the engines are about.
//! With
//!
//! ```text
//! w[t][a][b] = ½ (1 − 2μ[t][a][b])·V[t][a][b]          W(y) = Σ_t w[t][y_{t−1}][y_t]
//! ```
//!
//! and ∇μ = μ·∇log μ (eq. 15), for any score `s[i][c][d]` = node + transitions + edge of one edge
//!
//! ```text
//! ∂R/∂s[i][c][d] = Σ_{t,a,b} w[t][a][b] · Cov(y has a, b at t; y has c, d at i) = Cov(W; y has c, d at i)
//! ```
//!
//! | engine | how | time | memory |
//! |---|---|---|---|
//! | [`Adjoint`] | that covariance, by scalar messages: exact | O(TK²) | O(TK) |
//! | [`Message`] | eqs. 15–18, by messages that are vectors over q features: exact | O(TK²q) | O(Kq) |
//! | [`Window`] | only the t with \|t − i\| ≤ r (eq. 20) | O(TK²r) | O(TK) |
//! | [`Window`] of radius 0 | only t = i (eq. 21) | O(TK²) | O(TK) |
//!
//! At order 0 tokens do not depend on one another: R is eq. 8 summed over tokens, with V the node's,
//! and there is nothing but t = i.
//!
//! Arrays are laid out as [`chain`](crate::chain) has them, rows padded to the stride S.

mod active;
mod adjoint;
mod engine;
mod factored;
mod hessian;
mod message;
mod pairs;
#[cfg(test)]
mod tests;
mod window;

pub use active::{ActiveCounts, AttributeRows, Features};
pub use adjoint::Adjoint;
pub use engine::Engine;
pub use hessian::{HessianProduct, ScoreDirection};
pub use message::{FeatureGradient, Message};
pub use window::Window;

use crate::chain::{Lattice, Transitions};

/// What all sentences between [`Regularizer::begin`] and [`Regularizer::finish`] share.
#[derive(Clone, Copy, Debug)]
pub struct ChainContext<'a> {
    /// The transitions that all lattices were made with.
    pub transitions: &'a Transitions,
    /// What every V\[t\]\[a\]\[b\], t ≥ 1, has of the noise of the transitions, `[K][S]`. Not looked
    /// at at order 0.
    pub variance: &'a [f64],
}

/// A sentence to be regularized. Paddings of variances must be finite.
#[derive(Clone, Copy, Debug)]
pub struct SentenceInput<'a> {
    /// After [`Lattice::forward_backward`] over the sentence.
    pub lattice: &'a Lattice,
    /// What V\[t\]\[·\]\[b\] has of the noise of nodes (and boundaries), `[T][S]`.
    pub node_variance: &'a [f64],
    /// What V\[t\]\[a\]\[b\] has of the noise of edge attributes, `[T][K][S]`, where there is any; the
    /// matrix of t = 0 is not looked at, and at order 0 none is.
    pub edge_variance: Option<&'a [f64]>,
    /// What R and its derivatives are multiplied by.
    pub weight: f64,
    /// Its features, for [`Message`]; nobody else looks at them.
    pub features: Features<'a>,
}

/// Where the derivatives of a sentence are added to.
#[derive(Debug)]
pub struct Derivatives<'a> {
    /// ∂R/∂node scores, `[T][S]`. [`Message`] leaves it alone.
    pub node: &'a mut [f64],
    /// ∂R/∂edge scores, `[T][K][S]`, where they are wanted. [`Message`] leaves it alone.
    pub edge: Option<&'a mut [f64]>,
    /// ∂R/∂node variances, `[T][S]`.
    pub node_variance: &'a mut [f64],
    /// ∂R/∂edge variances, `[T][K][S]`, where they are wanted.
    pub edge_variance: Option<&'a mut [f64]>,
}

/// Where derivatives with respect to the scores of a sentence are accumulated.
#[derive(Debug)]
pub struct ScoreDerivatives<'a> {
    /// ∂/∂node scores, `[T][S]`.
    pub node: &'a mut [f64],
    /// ∂/∂edge scores, `[T][K][S]`, if requested.
    pub edge: Option<&'a mut [f64]>,
}

impl Derivatives<'_> {
    /// Borrows the derivatives with respect to scores.
    fn scores(&mut self) -> ScoreDerivatives<'_> {
        ScoreDerivatives {
            node: self.node,
            edge: self.edge.as_deref_mut(),
        }
    }
}

/// Where the derivatives by what sentences share are added to.
#[derive(Debug)]
pub struct ChainDerivatives<'a> {
    /// Σ ∂R/∂transition scores, `[K][S]`.
    pub scores: &'a mut [f64],
    /// Σ ∂R/∂transition variances, `[K][S]`.
    pub variance: &'a mut [f64],
}

/// A way to the gradient of R. It keeps its room from sentence to sentence: once it has seen the
/// longest one, it allocates nothing.
///
/// Where the lattice holds no numbers (see [`chain`](crate::chain)), neither do R and its derivatives.
///
/// # Panics
///
/// All methods do if an array has the wrong shape.
pub trait Regularizer: std::fmt::Debug + Send + Sync {
    /// Prepares for sentences under the same transitions, and forgets those before. O(K²).
    fn begin(&mut self, shared: ChainContext<'_>);

    /// Returns weight·R of a sentence, and adds its derivatives to `out`, those by transitions
    /// excepted.
    fn regularize(
        &mut self,
        shared: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        out: Derivatives<'_>,
    ) -> f64;

    /// Adds the derivatives by transition scores and variances, over all sentences since
    /// [`Regularizer::begin`], to `out`. Nothing at order 0.
    fn finish(&mut self, shared: ChainContext<'_>, out: ChainDerivatives<'_>);

    /// The derivatives of the last sentence by the weights of its features, from an engine that
    /// computes these instead of derivatives by node and edge scores.
    fn feature_gradient(&self) -> Option<&FeatureGradient> {
        None
    }

    /// How many attributes the sentences since [`Regularizer::begin`] had, where the engine looks at
    /// them.
    fn active_counts(&self) -> Option<ActiveCounts> {
        None
    }
}
