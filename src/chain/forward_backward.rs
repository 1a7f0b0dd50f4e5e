//! Forward-backward in scaled exponentials, and when it may be trusted.
//!
//! Exponentials are fast: one multiply-add per (t, a, b) and direction, against an exponential each
//! in log space. Dividing α by its sum at every token keeps it in range whatever T is. What remains
//! is underflow: a label that cannot compete *here* is rounded to nothing, yet the rest of the
//! sentence may turn out to favor it by more than the range of a number. Looking at the results
//! does not reveal that, because a path that is lost on its way in and on its way out leaves no
//! trace in either direction. So nothing is ever rounded to nothing: whatever gets too small is
//! rounded *up*, to at least φ = 2⁻¹⁰⁰⁰, and the harm of that can be bounded.
//!
//! # The bound
//!
//! Let ψ, e ≤ 1 be the exact potentials, and ψ̂ = max(ψ, φ), ê = max(e, φ). What is computed is
//!
//! ```text
//! α̂[t][b] = (ψ̂[t][b] · (Σ_a α̂[t−1][a]·ê[t][a][b] + φ) + φ) / c[t],   c[t] the sum of the numerators
//! v̂[t][b] = ψ̂[t][b] · β̂[t][b] / c[t] + φ
//! β̂[t][a] = Σ_b ê[t+1][a][b]·v̂[t+1][b] + φ,                          β̂[T−1][a] = 1
//! ```
//!
//! Let α, β, v be what the recurrences without φ and hats give with the same c; Z = Σ_b α[t][b]·β[t][b]
//! is the same for all t, the true marginal is α·β/Z, and the true log-partition differs from the
//! computed one by log Z. Ordinary rounding is left aside: all terms are positive, so it is a
//! relative error of a few K·2⁻⁵³ per token, as it would be without φ.
//!
//! 1. α ≤ α̂, v ≤ v̂, β ≤ β̂, by induction: the terms themselves are rounded up, and a product that
//!    underflows loses at most 2⁻¹⁰⁷⁴, of which 2¹⁶ labels cannot make the φ that is added.
//! 2. One step adds little. As Σ_a α̂[t−1][a] = 1 and ê, ψ̂ ≤ 1, α̂[t] exceeds an exact step from
//!    α̂[t−1] by δ[t][b] ≤ 4φ/c[t]. Let R = max(1, max β̂) / min(1, min c). Then β̂[t] exceeds an exact
//!    step from β̂[t+1] by ε[t][a] ≤ φ + K(φ + φR + φR) ≤ 4KφR.
//! 3. An excess travels on by exact steps, and an exact step leaves Σ_b α[b]·β[b] as it is. So
//!    0 ≤ Σ_b (α̂ − α)[t][b]·β[t][b] ≤ Σ_s Σ_b δ[s][b]·β[s][b] ≤ T·K·4φR, using β ≤ β̂ (1.), which
//!    is what rounding up is for. Taking t = T−1, where β = 1 and Σ α̂ = 1: 0 ≤ 1 − Z ≤ 4TKφR.
//! 4. Likewise D[t] = Σ_b α̂[t][b]·(β̂ − β)[t][b] ≤ D[t+1] + max_a ε[t][a], since an exact step from
//!    α̂[t] is at most α̂[t+1]; and D[T−1] = 0. So D ≤ 4TKφR, and with 3. the computed
//!    α̂·β̂ = α·β + (α̂ − α)·β + α̂·(β̂ − β) is off by at most 8TKφR. For edges alike.
//!
//! A sentence is accepted when R ≤ 2⁹⁰⁰: the error is at most 8TK·2⁻¹⁰⁰, less than rounding to
//! double precision for every TK below 2⁴⁰. Otherwise, also where β̂ overflows, it is done again in
//! log space (`logspace.rs`). As β[t][b] ≤ 1/α[t][b], it takes a label that is less probable than
//! 2⁻⁹⁰⁰ by what stands up to t, that is, scores some 600 apart within a token and its transitions.

use super::LANES;
use super::lattice::{Lattice, Mode};
use super::products::{blocks, blocks_mut, combine, each};
use super::transitions::{FLOOR, Transitions, exponentiate};
use crate::simd::{self, Kernel};

/// The largest R with which a sentence is accepted: 2⁹⁰⁰.
const REACH: f64 = f64::from_bits((1023 + 900) << 52);

/// Order 0: α[t] is the softmax of the node scores, O(TK). Expects log ψ in the lattice.
///
/// The largest ψ of a token is 1, so underflow costs no more than the smallest number there is.
pub(super) fn independent(lattice: &mut Lattice) {
    let (labels, stride) = (lattice.labels, lattice.stride);
    lattice.mode = Mode::Scaled;
    exponentiate(&mut lattice.psi, labels);
    let rows = lattice.psi.chunks_exact(stride);
    let rows = rows.zip(lattice.alpha.chunks_exact_mut(stride));
    for ((psi, alpha), scale) in rows.zip(&mut lattice.scale) {
        *scale = sum(psi);
        let factor = 1.0 / *scale;
        for (alpha, psi) in alpha.iter_mut().zip(psi) {
            *alpha = psi * factor;
        }
    }
    lattice.suffix.copy_from_slice(&lattice.alpha);
    lattice.marginals.copy_from_slice(&lattice.alpha);
    for beta in lattice.beta.chunks_exact_mut(stride) {
        beta[..labels].fill(1.0);
        beta[labels..].fill(0.0);
    }
}

/// Order 1, O(TK²). Expects log ψ and log e in the lattice; whether the result can be trusted.
pub(super) fn scaled(lattice: &mut Lattice, transitions: &Transitions) -> bool {
    simd::dispatch(Scaled {
        lattice,
        transitions,
    })
}

struct Scaled<'a> {
    lattice: &'a mut Lattice,
    transitions: &'a Transitions,
}

impl Kernel for Scaled<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (lattice, transitions) = (self.lattice, self.transitions);
        let (labels, stride) = (lattice.labels, lattice.stride);
        lattice.mode = Mode::Scaled;
        exponentiate(&mut lattice.psi, labels);
        let edges = lattice.edge.get_mut(labels * stride..).unwrap_or_default();
        exponentiate(edges, labels);
        // A constant number of blocks lets a whole row of sums stay in registers.
        match stride / LANES {
            1 => passes::<1>(lattice, transitions),
            2 => passes::<2>(lattice, transitions),
            3 => passes::<3>(lattice, transitions),
            4 => passes::<4>(lattice, transitions),
            5 => passes::<5>(lattice, transitions),
            6 => passes::<6>(lattice, transitions),
            7 => passes::<7>(lattice, transitions),
            // Zero stands for any number: block after block.
            _ => passes::<0>(lattice, transitions),
        }
    }
}

#[inline(always)]
fn passes<const B: usize>(lattice: &mut Lattice, transitions: &Transitions) -> bool {
    let stride = if B == 0 { lattice.stride } else { B * LANES };
    let lowest = forward::<B>(stride, lattice, transitions);
    let highest = backward::<B>(stride, lattice, transitions);
    highest.max(1.0) / lowest.min(1.0) <= REACH
}

/// Fills α̂ and c; returns min c.
#[inline(always)]
fn forward<const B: usize>(stride: usize, lattice: &mut Lattice, transitions: &Transitions) -> f64 {
    let size = lattice.labels * stride;
    let floor = &transitions.floor[..stride];
    let mut lowest = f64::INFINITY;
    for t in 0..lattice.tokens {
        let psi = &lattice.psi[t * stride..][..stride];
        let (done, rest) = lattice.alpha.split_at_mut(t * stride);
        let alpha = &mut rest[..stride];
        if t == 0 {
            alpha.copy_from_slice(psi);
        } else {
            let before = &done[(t - 1) * stride..][..lattice.labels];
            let matrix = match lattice.edge.get(t * size..(t + 1) * size) {
                Some(edge) => edge,
                None => transitions.potentials(),
            };
            combine::<B>(before, matrix, floor, alpha);
            let from = blocks(psi).iter().zip(blocks(floor));
            for (alpha, (psi, floor)) in blocks_mut(alpha).iter_mut().zip(from) {
                *alpha = each(|j| alpha[j] * psi[j] + floor[j]);
            }
        }
        let scale = sum(alpha);
        let factor = 1.0 / scale;
        alpha.iter_mut().for_each(|x| *x *= factor);
        lattice.scale[t] = scale;
        lowest = lowest.min(scale);
    }
    lowest
}

/// Fills β̂, v̂ and the node marginals; returns max β̂, ∞ where that leaves the range.
#[inline(always)]
fn backward<const B: usize>(
    stride: usize,
    lattice: &mut Lattice,
    transitions: &Transitions,
) -> f64 {
    let (labels, size) = (lattice.labels, lattice.labels * stride);
    let floor = &transitions.floor[..stride];
    let mut highest = [0.0; LANES];
    for t in (0..lattice.tokens).rev() {
        let row = t * stride;
        let (before, beta) = lattice.beta.split_at_mut(row);
        let beta = &mut beta[..stride];
        if t + 1 == lattice.tokens {
            beta[..labels].fill(1.0);
            beta[labels..].fill(0.0);
        }
        let alpha = blocks(&lattice.alpha[row..][..stride]);
        let psi = blocks(&lattice.psi[row..][..stride]);
        let suffix = &mut lattice.suffix[row..][..stride];
        let marginals = blocks_mut(&mut lattice.marginals[row..][..stride]);
        let factor = 1.0 / lattice.scale[t];
        let from = blocks(beta)
            .iter()
            .zip(blocks(floor))
            .zip(alpha.iter().zip(psi));
        let to = blocks_mut(suffix).iter_mut().zip(marginals);
        for (((beta, floor), (alpha, psi)), (suffix, marginal)) in from.zip(to) {
            // β̂/c first: ψ̂·β̂ could underflow where the quotient does not.
            *suffix = each(|j| psi[j] * (beta[j] * factor) + floor[j]);
            *marginal = each(|j| alpha[j] * beta[j]);
            highest = each(|j| {
                if beta[j] > highest[j] {
                    beta[j]
                } else {
                    highest[j]
                }
            });
        }
        if t > 0 {
            let out = &mut before[row - stride..];
            match lattice.edge.get(t * size..(t + 1) * size) {
                Some(edge) => combine_rows(stride, edge, suffix, out),
                None => {
                    let suffix = &suffix[..labels];
                    let matrix = transitions.transposed_potentials();
                    combine::<B>(suffix, matrix, floor, out);
                }
            }
        }
    }
    highest.into_iter().fold(0.0, f64::max)
}

/// out[a] = φ + Σ_b matrix[a][b]·x[b], and 0 in the padding, with matrix `[K][S]`, x and out `[S]`.
#[inline(always)]
fn combine_rows(stride: usize, matrix: &[f64], x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let (x, _) = x[..stride].as_chunks::<LANES>();
    for (out, row) in out.iter_mut().zip(matrix.chunks_exact(stride)) {
        let (row, _) = row.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for (row, x) in row.iter().zip(x) {
            for ((sum, weight), x) in sums.iter_mut().zip(row).zip(x) {
                *sum += weight * x;
            }
        }
        *out = FLOOR + sum(&sums);
    }
}

/// The sum of `[S]` numbers, lane by lane and the lanes last: always in the same order.
#[inline(always)]
fn sum(values: &[f64]) -> f64 {
    let (values, _) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for values in values {
        for (sum, x) in sums.iter_mut().zip(values) {
            *sum += x;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}
