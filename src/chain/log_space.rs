//! Forward-backward in log space.
//!
//! In the notation of [`Lattice`],
//!
//! ```text
//! log α[t][b] = log ψ[t][b] + log Σ_a exp(log α[t−1][a] + log e[t][a][b]) − log c[t]
//! log β[t][a] = log Σ_b exp(log e[t+1][a][b] + log v[t+1][b])
//! log v[t][b] = log ψ[t][b] + log β[t][b] − log c[t]
//! ```
//!
//! Scores may be arbitrarily far apart. The cost is 2TK² exponentials, at least ten times that of
//! multiplications, so it is used only where scaled exponentials could lose precision
//! (`forward_backward.rs`). Dividing by c matters here too: it keeps the logarithms near 0, where
//! doubles are dense; unscaled messages of a long sentence would have a precision of 10⁻⁹ or worse.

use super::lattice::{Lattice, Mode};
use super::transitions::Transitions;
use crate::math::log_sum_exp;

/// Runs forward-backward at order 1, O(TK²). Expects log ψ and log e in the lattice.
pub(super) fn forward_backward(lattice: &mut Lattice, transitions: &Transitions) {
    lattice.mode = Mode::Log;
    let mut scratch = std::mem::take(&mut lattice.scratch);
    scratch.resize(lattice.labels, 0.0);
    forward(lattice, transitions, &mut scratch);
    backward(lattice, transitions, &mut scratch);
    lattice.scratch = scratch;
}

/// Fills log α and log c.
fn forward(lattice: &mut Lattice, transitions: &Transitions, scratch: &mut [f64]) {
    let (labels, stride) = (lattice.labels, lattice.stride);
    let mut alpha = std::mem::take(&mut lattice.alpha);
    for t in 0..lattice.tokens {
        let (done, rest) = alpha.split_at_mut(t * stride);
        let row = &mut rest[..stride];
        row.copy_from_slice(&lattice.psi[t * stride..][..stride]);
        if t > 0 {
            let before = &done[(t - 1) * stride..];
            let (matrix, shift) = lattice.edge_matrix(transitions, t);
            for (b, x) in row[..labels].iter_mut().enumerate() {
                let column = matrix.iter().skip(b).step_by(stride);
                for ((out, alpha), weight) in scratch.iter_mut().zip(before).zip(column) {
                    *out = alpha + (weight - shift);
                }
                *x += log_sum_exp(scratch);
            }
        }
        let scale = log_sum_exp(&row[..labels]);
        row.iter_mut().for_each(|x| *x -= scale);
        lattice.scale[t] = scale;
    }
    lattice.alpha = alpha;
}

/// Fills log β, log v and the node marginals.
fn backward(lattice: &mut Lattice, transitions: &Transitions, scratch: &mut [f64]) {
    let (labels, stride) = (lattice.labels, lattice.stride);
    let mut beta = std::mem::take(&mut lattice.beta);
    let mut suffix = std::mem::take(&mut lattice.suffix);
    for t in (0..lattice.tokens).rev() {
        let row = t * stride..(t + 1) * stride;
        let (done, rest) = suffix.split_at_mut(row.end);
        let (beta, suffix) = (&mut beta[row.clone()], &mut done[row.start..]);
        beta[labels..].fill(f64::NEG_INFINITY);
        if t + 1 == lattice.tokens {
            beta[..labels].fill(0.0);
        } else {
            let (matrix, shift) = lattice.edge_matrix(transitions, t + 1);
            for (x, weights) in beta.iter_mut().zip(matrix.chunks_exact(stride)) {
                for ((out, weight), suffix) in scratch.iter_mut().zip(weights).zip(&*rest) {
                    *out = (weight - shift) + suffix;
                }
                *x = log_sum_exp(scratch);
            }
        }
        let (alpha, psi) = (&lattice.alpha[row.clone()], &lattice.psi[row.clone()]);
        let marginals = &mut lattice.marginals[row];
        for i in 0..stride {
            suffix[i] = psi[i] + (beta[i] - lattice.scale[t]);
            marginals[i] = (alpha[i] + beta[i]).exp();
        }
    }
    lattice.beta = beta;
    lattice.suffix = suffix;
}
