//! The interface of the engines: inputs, outputs and the [`Regularizer`] trait.

use super::features::{FeatureGradient, Features};
use crate::chain::{Lattice, Order, ScoreArrays, Scores, Transitions};

/// The inputs that all sentences between [`Regularizer::begin`] and [`Regularizer::finish`] share.
#[derive(Clone, Copy, Debug)]
pub struct ChainContext<'a> {
    /// The transitions that all lattices were computed with.
    pub transitions: &'a Transitions,
    /// The variances that do not depend on the text; empty without noise.
    pub variances: &'a LabelVariances,
}

/// The variances of scores that do not depend on the text.
#[derive(Clone, Debug, Default)]
pub struct LabelVariances {
    /// The transition part of V\[t\]\[a\]\[b\], the same for all t ≥ 1, `[K][S]`; of P pairs
    /// with weights ([`Transitions::with_pairs`]) `[P]`. Ignored at order 0.
    pub pairs: Vec<f64>,
    /// Variances of start weights, `[S]`: part of those of nodes.
    pub start: Vec<f64>,
    /// Variances of end weights, `[S]`: part of those of nodes.
    pub end: Vec<f64>,
    /// Variance of every node score under additive noise, `[S]`; empty under other noise.
    pub node: Vec<f64>,
}

impl LabelVariances {
    /// Computes the variances of label weights, those of `transitions`, under noise with rate
    /// `rate`.
    pub fn set(&mut self, rate: f64, transitions: &Transitions) {
        let outs = [&mut self.pairs, &mut self.start, &mut self.end];
        for (out, weights) in outs.into_iter().zip(transitions.label_scores()) {
            out.clear();
            out.extend(weights.iter().map(|w| rate * w * w));
        }
        self.node.clear();
    }
}

/// A sentence to be regularized. Padding of variances must be finite.
#[derive(Clone, Copy, Debug)]
pub struct SentenceInput<'a> {
    /// What it shares with other sentences.
    pub chain: ChainContext<'a>,
    /// The lattice after [`Lattice::forward_backward`] on the sentence.
    pub lattice: &'a Lattice,
    /// V without the transition part: that of nodes and boundaries, and that of edge attributes, if
    /// there are any.
    pub variances: Scores<'a>,
    /// The factor that R and its derivatives are multiplied by.
    pub weight: f64,
    /// The features of the sentence, used only by [`Message`](super::Message).
    pub features: Features<'a>,
}

/// Accumulators for the derivatives of weight·R with respect to the scores and variances of a
/// sentence; those of edges only if they are requested.
#[derive(Debug)]
pub struct Derivatives<'a> {
    /// ∂R/∂scores. [`Message`](super::Message) leaves them unchanged.
    pub scores: ScoreArrays<'a>,
    /// ∂R/∂variances.
    pub variances: ScoreArrays<'a>,
}

/// Accumulators for the derivatives with respect to the transition scores and variances of
/// [`ChainContext`].
#[derive(Debug)]
pub struct ChainDerivatives<'a> {
    /// Σ ∂R/∂transition scores, shaped like [`LabelVariances::pairs`].
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
    /// Starts a batch of sentences that share `chain`; resets all sums. O(K²).
    fn begin(&mut self, chain: ChainContext<'_>);

    /// Returns weight·R of a sentence and adds its derivatives to `out`, except those with respect
    /// to transitions.
    fn regularize(&mut self, sentence: SentenceInput<'_>, out: &mut Derivatives<'_>) -> f64;

    /// Adds the derivatives with respect to transition scores and variances, summed over all
    /// sentences since [`Regularizer::begin`], to `out`. Does nothing at order 0.
    fn finish(&mut self, chain: ChainContext<'_>, out: ChainDerivatives<'_>);

    /// Returns the gradient of the last sentence with respect to the weights of its features, if
    /// the engine computes that instead of derivatives with respect to node and edge scores.
    fn feature_gradient(&self) -> Option<&FeatureGradient> {
        None
    }
}

impl SentenceInput<'_> {
    /// Checks the shapes of the sentence and its derivatives; returns the number of tokens.
    pub(super) fn checked_tokens(self, out: &Derivatives<'_>) -> usize {
        let (tokens, transitions) = (self.lattice.tokens, self.chain.transitions);
        let rows = tokens * transitions.stride();
        for array in [self.variances.node, out.scores.nodes, out.variances.nodes] {
            assert_eq!(array.len(), rows, "node arrays are [T][S]");
        }
        if transitions.order() == Order::One {
            let requested = [&*out.scores.edges, out.variances.edges];
            let requested = requested.into_iter().filter(|edges| !edges.is_empty());
            for array in self.variances.edge.into_iter().chain(requested) {
                let expected = rows * transitions.labels();
                assert_eq!(array.len(), expected, "edge arrays are [T][K][S]");
            }
        }
        tokens
    }
}
