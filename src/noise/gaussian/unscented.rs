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
pub(super) fn add_token(
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
        let term = Term {
            slope,
            quotient: slope / *q,
        };
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
