//! Forward-backward in scaled exponentials, with an error bound that selects the fallback to log
//! space.
//!
//! The recurrences (notation of [`Lattice`]): every α[t] is normalized to sum to 1, and the same
//! scale c[t] divides the backward message,
//!
//! ```text
//! α[t][b] = ψ[t][b] · Σ_a α[t−1][a]·e[t][a][b] / c[t]      Σ_b α[t][b] = 1
//! v[t][b] = ψ[t][b] · β[t][b] / c[t]
//! β[t−1][a] = Σ_b e[t][a][b]·v[t][b]                       β[T−1][a] = 1
//! p(y_t = b) = α[t][b]·β[t][b]                             A = Σ_t (log c[t] + n̄[t] + w̄[t])
//! ```
//!
//! O(TK²) time: one multiply-add per (t, a, b) and direction, where log space takes an exponential
//! each. O(TK) memory.
//!
//! Scaling keeps the messages in range for any T. What remains is underflow: a label that cannot
//! compete *here* is rounded to 0, although the rest of the sentence may favor it by more than the
//! range of a double. The results do not reveal this, because a path that underflows both in
//! the forward and in the backward pass leaves no trace in either. So nothing is ever rounded to 0:
//! whatever gets too small is rounded *up*, to at least the floor φ = 2⁻¹⁰⁰⁰, and the error that
//! this causes can be bounded.
//!
//! # The error bound
//!
//! Let ψ, e ≤ 1 be the exact potentials, and ψ̂ = max(ψ, φ), ê = max(e, φ). The computed messages
//! are
//!
//! ```text
//! α̂[t][b] = (ψ̂[t][b] · (Σ_a α̂[t−1][a]·ê[t][a][b] + φ) + φ) / c[t]
//! v̂[t][b] = ψ̂[t][b] · β̂[t][b] / c[t] + φ
//! β̂[t][a] = Σ_b ê[t+1][a][b]·v̂[t+1][b] + φ                        β̂[T−1][a] = 1
//! ```
//!
//! where c[t] is the sum of the numerators of α̂[t]. Let α, β, v be the messages of the recurrences
//! without φ and hats, with the same c. Z = Σ_b α[t][b]·β[t][b] is the same for all t, the true
//! marginal is α·β/Z, and the true log-partition function differs from the computed one by log Z.
//! Ordinary rounding is not considered: all terms are positive, so it is a relative error of a few
//! K·2⁻⁵³ per token, as it would be without φ.
//!
//! 1. α ≤ α̂, v ≤ v̂, β ≤ β̂, by induction: the terms are rounded up, and a product that underflows
//!    loses at most 2⁻¹⁰⁷⁴; even 2¹⁶ labels of those do not add up to the φ that is added.
//! 2. One step adds little. As Σ_a α̂[t−1][a] = 1 and ê, ψ̂ ≤ 1, α̂[t] exceeds an exact step from
//!    α̂[t−1] by δ[t][b] ≤ 4φ/c[t]. Let R = max(1, max β̂) / min(1, min c). Then β̂[t] exceeds an
//!    exact step from β̂[t+1] by ε[t][a] ≤ φ + K(φ + φR + φR) ≤ 4KφR.
//! 3. An excess propagates by exact steps, and an exact step preserves Σ_b α[b]·β[b]. So
//!    0 ≤ Σ_b (α̂ − α)[t][b]·β[t][b] ≤ Σ_s Σ_b δ[s][b]·β[s][b] ≤ T·K·4φR, using β ≤ β̂ (1.), which
//!    is the reason for rounding up. With t = T−1, where β = 1 and Σ α̂ = 1: 0 ≤ 1 − Z ≤ 4TKφR.
//! 4. Likewise D[t] = Σ_b α̂[t][b]·(β̂ − β)[t][b] ≤ D[t+1] + max_a ε[t][a], since an exact step
//!    from α̂[t] is at most α̂[t+1]; and D[T−1] = 0. So D ≤ 4TKφR, and with 3. the computed
//!    α̂·β̂ = α·β + (α̂ − α)·β + α̂·(β̂ − β) is off by at most 8TKφR. The same holds for edges.
//!
//! A sentence is accepted if R ≤ 2⁹⁰⁰: the error is then at most 8TK·2⁻¹⁰⁰, below double-precision
//! rounding for every TK < 2⁴⁰. Otherwise, and if β̂ overflows, inference is repeated in log space
//! (below). As β[t][b] ≤ 1/α[t][b], that takes a label whose probability given the scores
//! up to t is below 2⁻⁹⁰⁰: scores some 600 apart within a token and its transitions.
//!
//! # In log space
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
//! (above). Dividing by c matters here too: it keeps the logarithms near 0, where
//! doubles are dense; unscaled messages of a long sentence would have a precision of 10⁻⁹ or worse.

use super::label_pairs::LabelPairs;
use super::lattice::{Lattice, Mode};
use super::products::{
    FLOOR, across, blocks, blocks_mut, by_stride, exponentiate_rows, lane_sum, lanewise,
    row_times_matrix,
};
use super::scores::{LabelMask, Scores};
use super::transitions::{Order, Transitions};
use crate::math::log_sum_exp;
use crate::simd::{self, Kernel};

/// The largest accepted R: 2⁹⁰⁰.
const MAX_RATIO: f64 = f64::from_bits((1023 + 900) << 52);

impl Lattice {
    /// Runs forward-backward on a sentence and returns the log-partition function A.
    ///
    /// O(TK²) multiply-adds and O(TK) exponentials; with edge scores O(TK²) of both; at order 0
    /// O(TK) of both. A sentence without tokens has one path, of score 0.
    ///
    /// With a mask, A is the logarithm of the sum over the paths whose labels it allows, and
    /// marginals are those given that the path is one of them. Edge scores may be −∞ then: such
    /// pairs are forbidden. The error bound above holds, with potentials of 0. If there is no path,
    /// the results are NaN or meaningless.
    ///
    /// # Panics
    ///
    /// If `scores` or `mask` have the wrong shape.
    pub fn forward_backward(
        &mut self,
        transitions: &Transitions,
        scores: Scores,
        mask: Option<&LabelMask>,
    ) -> f64 {
        if !self.prepare(transitions, scores, mask) {
            self.mode = Mode::Scaled;
            for array in [&mut self.alpha, &mut self.beta, &mut self.suffix, &mut self.marginals] {
                array.fill(f64::NAN);
            }
            self.scale.fill(f64::NAN);
            return f64::NAN;
        }
        if transitions.order() == Order::Zero {
            simd::dispatch(Independent(self));
        } else if !simd::dispatch(ScaledPasses { lattice: self, transitions })
            && !self.interrupt.is_set()
        {
            self.prepare(transitions, scores, mask);
            forward_in_log_space(self, transitions);
            backward_in_log_space(self, transitions);
        }
        self.log_partition()
    }
}

/// Order 0, O(TK): α[t] is the softmax of the node scores. Expects log ψ in the lattice.
///
/// The largest ψ of a token is 1, so the error of an underflow is at most the smallest double.
struct Independent<'a>(&'a mut Lattice);

impl Kernel for Independent<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        let lattice = self.0;
        let (labels, stride) = (lattice.labels, lattice.stride);
        lattice.mode = Mode::Scaled;
        exponentiate_rows(&mut lattice.psi, labels);
        let rows = lattice.psi.chunks_exact(stride).zip(lattice.alpha.chunks_exact_mut(stride));
        for ((psi, alpha), scale) in rows.zip(&mut lattice.scale) {
            *scale = lane_sum::<4>(psi);
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
}

/// The forward and the backward pass of order 1, O(TK²). Expects log ψ and log e in the lattice;
/// returns whether R is small enough.
struct ScaledPasses<'a> {
    lattice: &'a mut Lattice,
    transitions: &'a Transitions,
}

impl Kernel for ScaledPasses<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const SUMS: usize>(self) -> bool {
        let (lattice, transitions) = (self.lattice, self.transitions);
        let (labels, stride) = (lattice.labels, lattice.stride);
        lattice.mode = Mode::Scaled;
        exponentiate_rows(&mut lattice.psi, labels);
        let edges = lattice.edge.get_mut(labels * stride..).unwrap_or_default();
        for edges in edges.chunks_mut(labels * stride) {
            if lattice.interrupt.is_set() {
                break;
            }
            exponentiate_rows(edges, labels);
        }
        let floor = &transitions.floor;
        if let (Some(pairs), true) = (transitions.pairs(), lattice.edge.is_empty()) {
            return passes::<4, 0, _>(lattice, floor, PairPotentials(pairs));
        }
        let (forward, backward) = (transitions.potentials(), transitions.transposed_potentials());
        by_stride!(SUMS, stride, |L, B| {
            passes::<L, B, _>(lattice, floor, DensePotentials::<L, B> { forward, backward })
        })
    }
}

/// Products with the edge potentials that all tokens share.
trait SharedPotentials: Copy {
    /// out[b] = first[b] + Σ_a x[a]·e[a][b], with x `[K]`, first and out `[S]`.
    fn forward(self, x: &[f64], first: &[f64], out: &mut [f64]);

    /// out[a] = first[a] + Σ_b e[a][b]·x[b], with x `[K]`, first and out `[S]`.
    fn backward(self, x: &[f64], first: &[f64], out: &mut [f64]);
}

/// A weight for every pair, in rows of `B` blocks of `L` lanes ([`by_stride`]).
#[derive(Clone, Copy)]
struct DensePotentials<'a, const L: usize, const B: usize> {
    forward: &'a [f64],  // [K][S] e
    backward: &'a [f64], // [K][S] its transpose
}

impl<const L: usize, const B: usize> SharedPotentials for DensePotentials<'_, L, B> {
    #[inline(always)]
    fn forward(self, x: &[f64], first: &[f64], out: &mut [f64]) {
        row_times_matrix::<L, B>(x, self.forward, first, out);
    }

    #[inline(always)]
    fn backward(self, x: &[f64], first: &[f64], out: &mut [f64]) {
        row_times_matrix::<L, B>(x, self.backward, first, out);
    }
}

/// Weights for few pairs.
#[derive(Clone, Copy)]
struct PairPotentials<'a>(&'a LabelPairs);

impl SharedPotentials for PairPotentials<'_> {
    #[inline(always)]
    fn forward(self, x: &[f64], first: &[f64], out: &mut [f64]) {
        self.0.predecessors.product(self.0.background, x, first, out);
    }

    #[inline(always)]
    fn backward(self, x: &[f64], first: &[f64], out: &mut [f64]) {
        self.0.successors.product(self.0.background, x, first, out);
    }
}

/// Runs both passes over rows of `B` blocks of `L` lanes; returns whether R is small enough.
#[inline(always)]
fn passes<const L: usize, const B: usize, P: SharedPotentials>(
    lattice: &mut Lattice,
    floor: &[f64],
    potentials: P,
) -> bool {
    let stride = if B == 0 { lattice.stride } else { B * L };
    let floor = &floor[..stride];
    let lowest = forward::<L, B, P>(floor, lattice, potentials);
    let highest = backward::<L, P>(floor, lattice, potentials);
    highest.max(1.0) / lowest.min(1.0) <= MAX_RATIO
}

/// Fills α̂ and c; returns min c.
#[inline(always)]
fn forward<const L: usize, const B: usize, P: SharedPotentials>(
    floor: &[f64],
    lattice: &mut Lattice,
    potentials: P,
) -> f64 {
    let stride = floor.len();
    let size = lattice.labels * stride;
    let mut lowest = f64::INFINITY;
    for t in 0..lattice.tokens {
        if lattice.interrupt.is_set() {
            break;
        }
        let psi = &lattice.psi[t * stride..][..stride];
        let (done, rest) = lattice.alpha.split_at_mut(t * stride);
        let alpha = &mut rest[..stride];
        if t == 0 {
            alpha.copy_from_slice(psi);
        } else {
            let before = &done[(t - 1) * stride..][..lattice.labels];
            match lattice.edge.get(t * size..(t + 1) * size) {
                Some(edge) => row_times_matrix::<L, B>(before, edge, floor, alpha),
                None => potentials.forward(before, floor, alpha),
            }
            let from = blocks::<L>(psi).iter().zip(blocks::<L>(floor));
            for (alpha, (psi, floor)) in blocks_mut::<L>(alpha).iter_mut().zip(from) {
                *alpha = lanewise(|j| alpha[j].mul_add(psi[j], floor[j]));
            }
        }
        let scale = lane_sum::<L>(alpha);
        let factor = 1.0 / scale;
        alpha.iter_mut().for_each(|x| *x *= factor);
        lattice.scale[t] = scale;
        lowest = lowest.min(scale);
    }
    lowest
}

/// Fills β̂, v̂ and the node marginals; returns max β̂, which is ∞ if it overflows.
#[inline(always)]
fn backward<const L: usize, P: SharedPotentials>(
    floor: &[f64],
    lattice: &mut Lattice,
    potentials: P,
) -> f64 {
    let stride = floor.len();
    let (labels, size) = (lattice.labels, lattice.labels * stride);
    let mut highest = [0.0; L];
    for t in (0..lattice.tokens).rev() {
        if lattice.interrupt.is_set() {
            break;
        }
        let row = t * stride;
        let (before, beta) = lattice.beta.split_at_mut(row);
        let beta = &mut beta[..stride];
        if t + 1 == lattice.tokens {
            beta[..labels].fill(1.0);
            beta[labels..].fill(0.0);
        }
        let alpha = blocks::<L>(&lattice.alpha[row..][..stride]);
        let psi = blocks::<L>(&lattice.psi[row..][..stride]);
        let suffix = &mut lattice.suffix[row..][..stride];
        let marginals = blocks_mut::<L>(&mut lattice.marginals[row..][..stride]);
        let factor = 1.0 / lattice.scale[t];
        let from = blocks::<L>(beta).iter().zip(blocks::<L>(floor)).zip(alpha.iter().zip(psi));
        let to = blocks_mut::<L>(suffix).iter_mut().zip(marginals);
        for (((beta, floor), (alpha, psi)), (suffix, marginal)) in from.zip(to) {
            // β̂/c first: ψ̂·β̂ can underflow where the quotient does not.
            *suffix = lanewise(|j| psi[j].mul_add(beta[j] * factor, floor[j]));
            *marginal = lanewise(|j| alpha[j] * beta[j]);
            highest = lanewise(|j| if beta[j] > highest[j] { beta[j] } else { highest[j] });
        }
        if t > 0 {
            let out = &mut before[row - stride..];
            match lattice.edge.get(t * size..(t + 1) * size) {
                Some(edge) => matrix_times_column::<L>(stride, edge, suffix, out),
                None => potentials.backward(&suffix[..labels], floor, out),
            }
        }
    }
    highest.into_iter().fold(0.0, f64::max)
}

/// out[a] = φ + Σ_b matrix[a][b]·x[b], 0 in the padding; matrix `[K][S]`, x and out `[S]`.
#[inline(always)]
fn matrix_times_column<const L: usize>(stride: usize, matrix: &[f64], x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let x = blocks::<L>(&x[..stride]);
    for (out, row) in out.iter_mut().zip(matrix.chunks_exact(stride)) {
        let mut sums = [0.0; L];
        for (row, x) in blocks::<L>(row).iter().zip(x) {
            sums = lanewise(|j| row[j].mul_add(x[j], sums[j]));
        }
        *out = FLOOR + across(sums);
    }
}

/// Fills log α and log c at order 1, given log ψ and log e. The rows of v, which are filled later,
/// serve as a buffer.
pub(crate) fn forward_in_log_space(lattice: &mut Lattice, transitions: &Transitions) {
    lattice.mode = Mode::Log;
    let (labels, stride) = (lattice.labels, lattice.stride);
    let mut alpha = std::mem::take(&mut lattice.alpha);
    let mut suffix = std::mem::take(&mut lattice.suffix);
    for t in 0..lattice.tokens {
        let (done, rest) = alpha.split_at_mut(t * stride);
        let row = &mut rest[..stride];
        row.copy_from_slice(&lattice.psi[t * stride..][..stride]);
        if t > 0 {
            let before = &done[(t - 1) * stride..];
            let (matrix, shift) = lattice.edge_matrix(transitions, t);
            let scratch = &mut suffix[..labels];
            let row = row[..labels].iter_mut().enumerate();
            for (b, x) in row.take_while(|_| !lattice.interrupt.is_set()) {
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
    lattice.suffix = suffix;
}

/// Fills log β, log v and the node marginals.
pub(crate) fn backward_in_log_space(lattice: &mut Lattice, transitions: &Transitions) {
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
            let scratch = &mut suffix[..labels];
            let rows = beta.iter_mut().zip(matrix.chunks_exact(stride));
            for (x, weights) in rows.take_while(|_| !lattice.interrupt.is_set()) {
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
