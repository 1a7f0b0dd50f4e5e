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
//! | `Best`, more labels | the unscented transform | below |
//! | `Unscented` | the unscented transform for any number of labels | below |
//!
//! If two labels share the masks of an attribute, its noise moves d by x·(θ_1 − θ_0)·ε, and the
//! variance of d is 4U + V_0 + V_1, where U is that of `quadratic.rs` with marginals of ½: the
//! paper's own model, logistic regression. Only [`Expectation::Best`] of two labels has that.
//!
//! # The unscented transform
//!
//! E\[A(s)\] − A(μ) of one token by the unscented transform (Julier and Uhlmann 1997).
//!
//! The K independent scores s_y ~ N(μ_y, V_y) are represented by 2K + 1 sigma points: μ with the
//! weight κ/(K + κ), and μ ± √((K + κ)·V_y)·e_y with the weights 1/(2(K + κ)). With the authors'
//! K + κ = 3 their fourth moments along each axis are those of the Gaussian, too. Since the weights
//! add up to 1, with c = K + κ and δ_y = √(c·V_y)
//!
//! ```text
//! R = 1/(2c) Σ_y ( A(μ + δ_y·e_y) + A(μ − δ_y·e_y) − 2A(μ) )
//! ```
//!
//! which is at least 0, as A is convex, even where κ is negative. As e^A is linear in e^(s_y), with
//! the probabilities p and q = 1 − p
//!
//! ```text
//! A(μ ± δ_y·e_y) − A(μ) = log(q_y + p_y·e^(±δ_y))
//! R = 1/(2c) Σ_y log(1 + u_y)             u_y = 4·p_y·q_y·sinh²(δ_y/2)
//! ∂R/∂V_y = h_y·coth(δ_y/2)/(4·δ_y)       h_y = u_y/(1 + u_y)
//! ∂R/∂μ_b = g_b − p_b Σ_{y≠b} g_y/q_y     g_y = h_y·(1 − 2p_y)/(2c)
//! ```
//!
//! O(K) per token, against O(K²) if every sigma point is summed anew. For V → 0 it is the quadratic
//! term ½ Σ p·q·V, and ∂R/∂V = ½ p·q.

mod logistic;
#[cfg(test)]
mod tests;
pub use logistic::{LogisticMoments, logistic_moments};

use super::regularizer::{
    ChainContext, ChainDerivatives, Derivatives, Regularizer, SentenceInput, checked_tokens,
};
use crate::chain::Order;

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
    pub fn new(expectation: Expectation) -> Self {
        Self { expectation, quotients: Vec::new() }
    }

    /// Returns weight·R of a token, and adds its derivatives.
    fn add_token(
        &mut self,
        labels: usize,
        sentence: SentenceInput<'_>,
        t: usize,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let stride = out.scores.nodes.len() / sentence.lattice.tokens();
        let row = t * stride..t * stride + labels;
        let p = &sentence.lattice.node_marginals()[row.clone()];
        let variance = &sentence.node_variance[row.clone()];
        let shared = match sentence.linear_variance {
            Some(linear) => 4.0 * (linear[row.start] - variance[0]),
            None => 0.0,
        };
        let derivatives = [&mut out.scores.nodes[row.clone()], &mut out.variances.nodes[row]];
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
                add_unscented(weight, p, variance, derivatives, &mut self.quotients)
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
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let tokens = checked_tokens(context, sentence, out);
        let labels = context.transitions.labels();
        if labels < 2 {
            return 0.0; // the one label is certain
        }
        assert!(
            sentence.linear_variance.is_none()
                || (labels == 2 && self.expectation == Expectation::Best),
            "labels share masks only if there are two"
        );
        (0..tokens).map(|t| self.add_token(labels, sentence, t, out)).sum()
    }

    fn finish(&mut self, _: ChainContext<'_>, _: ChainDerivatives<'_>) {}
}

/// c = K + κ.
const SPREAD: f64 = 3.0;

/// Below this δ, coth(δ/2)/δ comes from its series.
const SMALL: f64 = 1e-3;

/// A label of a token.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    slope: f64,    // g
    quotient: f64, // g/q
}

/// Returns weight·R of a token with the probabilities `p` and the variances, and adds its
/// derivatives with respect to scores and variances, all `[K]`, K ≥ 2. `q` is a buffer.
fn add_unscented(
    weight: f64,
    p: &[f64],
    variance: &[f64],
    out: [&mut [f64]; 2],
    q: &mut Vec<f64>,
) -> f64 {
    let [scores, variances] = out;
    // 1 − p loses its digits for the one label that may have p > ½.
    let dominant = p.iter().position(|&p| p > 0.5);
    q.clear();
    q.extend(p.iter().map(|p| 1.0 - p));
    if let Some(label) = dominant {
        q[label] = p[..label].iter().sum::<f64>() + p[label + 1..].iter().sum::<f64>();
    }
    let mut total = 0.0;
    let mut others = 0.0; // Σ g/q without the dominant label
    let mut of_dominant = Term::default();
    for (y, ((&p, q), &v)) in p.iter().zip(&mut *q).zip(variance).enumerate() {
        let delta = (SPREAD * v).sqrt();
        let product = p * *q;
        let root = (0.5 * delta).sinh();
        let u = 4.0 * product * root * root;
        let (value, share) = match u.is_infinite() {
            // log(p·q·e^δ)
            true => (product.ln() + delta, 1.0),
            false => (u.ln_1p(), u / (1.0 + u)),
        };
        total += value;
        variances[y] += weight
            * match delta < SMALL {
                true => product * (1.0 + delta * delta / 6.0) / (2.0 * (1.0 + u)),
                false => share / ((0.5 * delta).tanh() * 4.0 * delta),
            };
        let slope = share * (1.0 - 2.0 * p) / (2.0 * SPREAD);
        let term = Term { slope, quotient: slope / *q };
        scores[y] += weight * term.slope;
        if dominant == Some(y) {
            of_dominant = term;
        } else {
            others += term.quotient;
        }
        *q = term.quotient;
    }
    for (y, (&p, quotient)) in p.iter().zip(&*q).enumerate() {
        let sum = match dominant == Some(y) {
            true => others,
            false => others - quotient + of_dominant.quotient,
        };
        scores[y] -= weight * (p * sum);
    }
    weight * total / (2.0 * SPREAD)
}
