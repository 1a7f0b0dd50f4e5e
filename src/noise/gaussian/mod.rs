//! The noise term at order 0 with Gaussian scores: fast dropout.
//!
//! The score of a label is a sum of many independent terms if many attributes have noise, so it is
//! nearly Gaussian, and the expectation over masks one over K numbers (Wang and Manning, "Fast
//! dropout training", ICML 2013). With the scores s_b ~ N(μ_b, V_b) of a token, the labels
//! independent of each other (a mask per weight), and the log-partition A(s) = log Σ e^(s_b),
//!
//! ```text
//! R = E[A(s)] − A(μ)
//! ```
//!
//! is what the noise adds to −log p(y|x). Its second-order expansion is the quadratic regularizer.
//! R is a function of μ and V alone. Its derivatives with respect to these, sent through V as those
//! of the quadratic regularizer are, are the exact gradient of the Gaussian objective. For two
//! labels, d = s_1 − s_0 and α, β of the paper's section 2.2.1, that gradient is
//! Σ p_i·x_i·(α + Δμ_i·β): eq. 6 without γ. With γ, eq. 6 approximates the gradient of the
//! objective over masks, and is that of no function of μ and V.
//!
//! | [`Expectation`] | method | file |
//! |---|---|---|
//! | `Best`, two labels | numerical integration of N(d; μ_1 − μ_0, V_0 + V_1) | `logistic.rs` |
//! | `Best`, more labels | the unscented transform | `unscented.rs` |
//! | `Unscented` | the unscented transform for any number of labels | `unscented.rs` |
//!
//! If two labels share the masks of an attribute, its noise moves d by x·(θ_1 − θ_0)·ε, and the
//! variance of d is 4U + V_0 + V_1, where U is that of `quadratic.rs` with marginals of ½: the
//! paper's own model, logistic regression. Only [`Expectation::Best`] of two labels has that.

mod logistic;
#[cfg(test)]
mod tests;
mod unscented;

use super::regularizer::{
    ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput, checked_tokens,
};
use crate::chain::Order;
pub use logistic::{LogisticMoments, logistic_moments};

/// How the expectation over Gaussian scores is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expectation {
    /// Of two labels by numerical integration, of more by the unscented transform.
    Best,
    /// By the unscented transform.
    Unscented,
}

/// The engine for Gaussian scores, at order 0 alone.
#[derive(Clone, Debug)]
pub struct Gaussian {
    expectation: Expectation,
    quotients: Vec<f64>, // [K]
}

impl Gaussian {
    /// Creates the engine.
    #[must_use]
    pub fn new(expectation: Expectation) -> Self {
        Self {
            expectation,
            quotients: Vec::new(),
        }
    }

    /// Returns weight·R of a token, and adds its derivatives.
    fn add_token(
        &mut self,
        labels: usize,
        sentence: SentenceInput<'_>,
        t: usize,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let stride = out.node.len() / sentence.lattice.tokens();
        let row = t * stride..t * stride + labels;
        let p = &sentence.lattice.node_marginals()[row.clone()];
        let variance = &sentence.node_variance[row.clone()];
        let shared = match sentence.linear_variance {
            Some(linear) => 4.0 * (linear[row.start] - variance[0]),
            None => 0.0,
        };
        let derivatives = [&mut out.node[row.clone()], &mut out.node_variance[row]];
        let weight = sentence.weight;
        match (self.expectation, p, variance) {
            (Expectation::Best, &[p0, p1], &[v0, v1]) => {
                let moments = logistic_moments(p1.ln() - p0.ln(), v0 + v1 + shared);
                let [scores, variances] = derivatives;
                scores[0] -= weight * moments.slope;
                scores[1] += weight * moments.slope;
                for x in variances {
                    *x += weight * (0.5 * moments.curvature);
                }
                weight * moments.penalty
            }
            (Expectation::Best | Expectation::Unscented, ..) => {
                unscented::add_token(weight, p, variance, derivatives, &mut self.quotients)
            }
        }
    }
}

impl Regularizer for Gaussian {
    /// # Panics
    ///
    /// At order 1.
    fn begin(&mut self, context: ChainContext<'_>) {
        assert_eq!(
            context.transitions.order(),
            Order::Zero,
            "Gaussian scores are those of order 0"
        );
    }

    /// # Panics
    ///
    /// If more than one label shares masks, unless there are two and the expectation is
    /// [`Expectation::Best`].
    fn regularize(
        &mut self,
        context: ChainContext<'_>,
        sentence: SentenceInput<'_>,
        mut out: Derivatives<'_>,
    ) -> f64 {
        let tokens = checked_tokens(context, sentence, &out);
        let labels = context.transitions.labels();
        if labels < 2 {
            return 0.0; // the one label is certain
        }
        assert!(
            sentence.linear_variance.is_none()
                || (labels == 2 && self.expectation == Expectation::Best),
            "labels share masks only if there are two"
        );
        (0..tokens)
            .map(|t| self.add_token(labels, sentence, t, &mut out))
            .sum()
    }

    fn finish(&mut self, _: ChainContext<'_>, _: ChainDerivatives<'_>) {}
}
