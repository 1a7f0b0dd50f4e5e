//! The interface of the engines: inputs, outputs and the [`Regularizer`] trait.

use super::features::{FeatureGradient, Features};
use crate::chain::{Lattice, Order, Transitions};

/// The inputs that all sentences between [`Regularizer::begin`] and [`Regularizer::finish`] share.
#[derive(Clone, Copy, Debug)]
pub struct ChainContext<'a> {
    /// The transitions that all lattices were computed with.
    pub transitions: &'a Transitions,
    /// The transition part of V\[t\]\[a\]\[b\], the same for all t ≥ 1, `[K][S]`; of P pairs
    /// with weights ([`Transitions::with_pairs`]) `[P]`. Ignored at order 0.
    pub variance: &'a [f64],
}

/// A sentence to be regularized. Padding of variances must be finite.
#[derive(Clone, Copy, Debug)]
pub struct SentenceInput<'a> {
    /// The lattice after [`Lattice::forward_backward`] on the sentence.
    pub lattice: &'a Lattice,
    /// The node (and boundary) part of V\[t\]\[·\]\[b\], `[T][S]`.
    pub node_variance: &'a [f64],
    /// What takes the place of the node part where V is not multiplied by μ², `[T][S]`: L = V + U,
    /// if some features have noise that all labels share, where the term of these in R is
    /// ½ Σ p·U. Only [`Adjoint`](super::Adjoint) can have it, and for two labels
    /// [`Gaussian`](super::Gaussian). See `quadratic.rs`.
    pub linear_variance: Option<&'a [f64]>,
    /// The edge-attribute part of V\[t\]\[a\]\[b\], `[T][K][S]`, if there is one. The matrix of
    /// t = 0 is ignored, and at order 0 all of them are.
    pub edge_variance: Option<&'a [f64]>,
    /// The factor that R and its derivatives are multiplied by.
    pub weight: f64,
    /// The features of the sentence, used only by [`Message`](super::Message).
    pub features: Features<'a>,
}

impl<'a> SentenceInput<'a> {
    /// Returns L, which is V unless there is noise that labels share.
    #[inline(always)]
    pub(super) fn linear(&self) -> &'a [f64] {
        self.linear_variance.unwrap_or(self.node_variance)
    }
}

/// Accumulators for the derivatives of weight·R with respect to the scores and variances of a
/// sentence.
#[derive(Debug)]
pub struct Derivatives<'a> {
    /// ∂R/∂node scores, `[T][S]`. [`Message`](super::Message) leaves it unchanged.
    pub node: &'a mut [f64],
    /// ∂R/∂edge scores, `[T][K][S]`, if requested. [`Message`](super::Message) leaves it unchanged.
    pub edge: Option<&'a mut [f64]>,
    /// ∂R/∂node variances, `[T][S]`.
    pub node_variance: &'a mut [f64],
    /// ∂R/∂edge variances, `[T][K][S]`, if requested.
    pub edge_variance: Option<&'a mut [f64]>,
}

/// Accumulators for the derivatives with respect to the scores of a sentence.
#[derive(Debug)]
pub struct ScoreDerivatives<'a> {
    /// With respect to node scores, `[T][S]`.
    pub node: &'a mut [f64],
    /// With respect to edge scores, `[T][K][S]`, if requested.
    pub edge: Option<&'a mut [f64]>,
}

impl Derivatives<'_> {
    /// Borrows the derivatives with respect to scores.
    pub(super) fn scores(&mut self) -> ScoreDerivatives<'_> {
        ScoreDerivatives {
            node: self.node,
            edge: self.edge.as_deref_mut(),
        }
    }
}

/// Accumulators for the derivatives with respect to the transition scores and variances of
/// [`ChainContext`].
#[derive(Debug)]
pub struct ChainDerivatives<'a> {
    /// Σ ∂R/∂transition scores, shaped like [`ChainContext::variance`].
    pub scores: &'a mut [f64],
    /// Σ ∂R/∂transition variances, shaped like `scores`.
    pub variance: &'a mut [f64],
}

/// An engine: computes R and its gradient, sentence by sentence.
///
/// Engines are reusable workspaces: once they have seen the longest sentence, they allocate
/// nothing. If a lattice holds NaN (see `chain`), so do R and its derivatives.
///
/// # Panics
///
/// All methods panic if an array has the wrong shape.
pub trait Regularizer: std::fmt::Debug + Send + Sync {
    /// Starts a batch of sentences that share `context`; resets all sums. O(K²).
    fn begin(&mut self, context: ChainContext<'_>);

    /// Returns weight·R of a sentence and adds its derivatives to `out`, except those with respect
    /// to transitions.
    fn regularize(
        &mut self,
        context: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        out: Derivatives<'_>,
    ) -> f64;

    /// Adds the derivatives with respect to transition scores and variances, summed over all
    /// sentences since [`Regularizer::begin`], to `out`. Does nothing at order 0.
    fn finish(&mut self, context: ChainContext<'_>, out: ChainDerivatives<'_>);

    /// Returns the gradient of the last sentence with respect to the weights of its features, if
    /// the engine computes that instead of derivatives with respect to node and edge scores.
    fn feature_gradient(&self) -> Option<&FeatureGradient> {
        None
    }
}

/// Checks the shapes of a sentence and its derivatives; returns the number of tokens.
pub(super) fn checked_tokens(
    context: ChainContext<'_>,
    sentence: SentenceInput<'_>,
    out: &Derivatives<'_>,
) -> usize {
    let tokens = sentence.lattice.tokens();
    let rows = tokens * context.transitions.stride();
    for array in [
        sentence.node_variance,
        sentence.linear(),
        out.node,
        out.node_variance,
    ] {
        assert_eq!(array.len(), rows, "node arrays are [T][S]");
    }
    if context.transitions.order() == Order::One {
        let edges = [
            sentence.edge_variance,
            out.edge.as_deref(),
            out.edge_variance.as_deref(),
        ];
        for array in edges.into_iter().flatten() {
            let expected = rows * context.transitions.labels();
            assert_eq!(array.len(), expected, "edge arrays are [T][K][S]");
        }
    }
    tokens
}
