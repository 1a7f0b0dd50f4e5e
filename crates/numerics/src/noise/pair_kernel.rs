//! The kernel of the adjoint where few label pairs have weights: O(TK + TP) for P pairs.
//!
//! The messages are those of `adjoint_kernel`. Pairs without a weight share the potential κ and
//! have no variance, so every sum over labels is κ or κ² times a sum of all, plus a correction for
//! each pair with a weight ([`LabelPairs`]). With d = e − κ and h = ½eτ
//!
//! ```text
//! Σ_a α·½eτ = Σ_{a → b} α·h                       D = Σ_a α²·e²τ = Σ_{a → b} α²·2(κ + d)·h
//! C = Σ_a α²·e² = κ²·Σ_a α² + Σ_{a → b} α²·d·(2κ + d)
//! Σ_a Φ·e = κ·Σ_a Φ + Σ_{a → b} Φ·d
//! ```
//!
//! and likewise backward. So the four sums over the pairs of a label are one sum of products of
//! [`Quad`]s, a SIMD vector each:
//!
//! ```text
//! forward   (Φ, α, α², α²)·(d, h, d(2κ + d), 2(κ + d)h)        backward  (g, v, n·v², v²)·(same)
//! ```
//!
//! Only pairs with weights have derivatives, so P₀ to P₃ are `[P]`.
//!
//! [`PairKernel`] serves [`Adjoint`](super::Adjoint) for the sentences that `adjoint_kernel`
//! supports.

use std::ops::Range;

use super::adjoint_kernel::add_transitions;
use super::regularizer::{ChainContext, ChainDerivatives, Derivatives, SentenceInput};
use crate::chain::products::lane_sum;
use crate::chain::{GROUP, LabelPairs, PairLists, TokenGroup};
use crate::math::set_zeros;
use crate::simd::{self, Kernel};

/// Four factors that are multiplied at once.
type Quad = [f64; 4];

/// Messages and sums; a reusable workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct PairKernel {
    values: [Vec<Quad>; 2], // [P] d, h, d(2κ + d), 2(κ + d)h by predecessors; by successors
    sums: [Vec<f64>; 4],    // [P] P₀ to P₃
    pending: usize,         // tokens in the groups
    before: [TokenGroup; 3], // weight·α, weight·Φ, weight·α² of t−1
    after: [TokenGroup; 4], // v, g, v², n·v² of t
    phi: Vec<f64>,          // [T][S] Φ
    factors: Vec<Quad>,     // [S] of one token
    row: Vec<f64>,          // [S] one of the factors
    omega: Vec<f64>,        // [S] ω
}

impl PairKernel {
    /// Starts a batch of sentences.
    pub fn begin(&mut self, chain: ChainContext<'_>, pairs: &LabelPairs) {
        let (labels, stride) = (chain.transitions.labels(), chain.transitions.stride());
        let kappa = pairs.background;
        let value = |(&e, &tau): (&f64, &f64)| {
            let (d, h) = (e - kappa, 0.5 * e * tau);
            [d, h, d * (kappa + e), 2.0 * e * h]
        };
        let [by_predecessors, by_successors] = &mut self.values;
        by_successors.clear();
        by_successors
            .extend(pairs.successors.potentials.iter().zip(&chain.variances.pairs).map(value));
        by_predecessors.clear();
        let sources = pairs.sources.iter();
        by_predecessors.extend(sources.map(|&i| by_successors[i as usize]));
        for sums in &mut self.sums {
            set_zeros(sums, pairs.len());
        }
        self.pending = 0;
        for group in self.before.iter_mut().chain(&mut self.after) {
            group.clear(labels);
        }
        for row in [&mut self.row, &mut self.omega] {
            set_zeros(row, stride);
        }
        self.factors.clear();
        self.factors.resize(stride, [0.0; 4]);
    }

    /// Returns weight·R of a sentence and adds its derivatives.
    pub fn regularize(
        &mut self,
        pairs: &LabelPairs,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        simd::dispatch(Passes { kernel: self, pairs, sentence, out })
    }

    /// Adds the derivatives with respect to transitions, `[P]`.
    pub fn finish(
        &mut self,
        chain: ChainContext<'_>,
        pairs: &LabelPairs,
        out: &mut ChainDerivatives<'_>,
    ) {
        self.add_pending(pairs);
        let sums = self.sums.each_ref().map(Vec::as_slice);
        add_transitions(&pairs.successors.potentials, &chain.variances.pairs, sums, out);
    }

    /// Adds the edges into a token to the pending ones: α and Φ of the token before, which is at
    /// these positions; the factors are those of the token.
    #[inline(always)]
    fn push(&mut self, pairs: &LabelPairs, sentence: SentenceInput<'_>, before: Range<usize>) {
        let (m, weight) = (self.pending, sentence.weight);
        let alpha = &sentence.lattice.alpha[before.clone()];
        for (square, x) in self.row.iter_mut().zip(alpha) {
            *square = x * x;
        }
        let rows = [alpha, &self.phi[before], &self.row];
        for (group, row) in self.before.iter_mut().zip(rows) {
            group.set(m, row.iter().map(|x| weight * x));
        }
        for (i, group) in [1, 0, 3, 2].into_iter().zip(&mut self.after) {
            group.set(m, self.factors.iter().map(|factors| factors[i]));
        }
        self.pending += 1;
        if self.pending == GROUP {
            self.add_pending(pairs);
        }
    }

    /// Adds the products of the pending tokens to the sums.
    fn add_pending(&mut self, pairs: &LabelPairs) {
        if self.pending == 0 {
            return;
        }
        let [alpha, phi, alpha_squared] = &mut self.before;
        let [v, g, v_squared, n_v_squared] = &self.after;
        let [p0, p1, p2, p3] = &mut self.sums;
        pairs.add_group(alpha, v, p0);
        pairs.add_group(alpha_squared, v_squared, p2);
        pairs.add_group(phi, v, p1);
        pairs.add_group(alpha, g, p1);
        pairs.add_group(alpha_squared, n_v_squared, p3);
        for group in [alpha, phi, alpha_squared] {
            group.zero();
        }
        self.pending = 0;
    }
}

/// Both passes over a sentence; returns weight·R.
struct Passes<'a, 'b> {
    kernel: &'a mut PairKernel,
    pairs: &'a LabelPairs,
    sentence: SentenceInput<'a>,
    out: &'a mut Derivatives<'b>,
}

impl Kernel for Passes<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run<const SUMS: usize>(mut self) -> f64 {
        let stride = self.kernel.row.len();
        let numbers = self.sentence.variances.node.len();
        let phi = &mut self.kernel.phi;
        phi.resize(phi.len().max(numbers), 0.0);
        let squares = self.forward();
        let mean = lane_sum::<4>(&self.kernel.phi[numbers - stride..numbers]);
        self.backward(mean);
        self.sentence.weight * (mean + 0.5 * squares)
    }
}

/// Sums over all labels, paired with those over the pairs of a label.
#[derive(Clone, Copy)]
struct Totals {
    messages: f64, // κ·Σ Φ, or κ·Σ g
    squares: f64,  // κ²·Σ α², or κ²·Σ n·v²
}

impl Totals {
    /// Sums the first and the third of the factors over all labels.
    #[inline(always)]
    fn new(kappa: f64, factors: &[Quad], row: &mut [f64]) -> Self {
        let mut sum = |i: usize| {
            for (x, factors) in row.iter_mut().zip(factors) {
                *x = factors[i];
            }
            lane_sum::<4>(row)
        };
        Self { messages: kappa * sum(0), squares: kappa * kappa * sum(2) }
    }

    /// Returns Σ factors·(e, ½eτ, e², e²τ) over the labels that are paired with `label`.
    #[inline(always)]
    fn sums(
        self,
        lists: &PairLists,
        values: &[Quad],
        factors: &[Quad],
        kappa: f64,
        label: usize,
    ) -> Quad {
        let range = lists.range(label);
        let others = &lists.others[range.clone()];
        let mut sums = [[0.0; 4]; 2];
        let (pairs, last) = others.as_chunks::<2>();
        let (value_pairs, last_value) = values[range].as_chunks::<2>();
        for (others, values) in pairs.iter().zip(value_pairs) {
            for k in 0..2 {
                let factors = &factors[others[k] as usize];
                for j in 0..4 {
                    sums[k][j] = factors[j].mul_add(values[k][j], sums[k][j]);
                }
            }
        }
        for (&other, value) in last.iter().zip(last_value) {
            for j in 0..4 {
                sums[0][j] = factors[other as usize][j].mul_add(value[j], sums[0][j]);
            }
        }
        let mut sums: Quad = std::array::from_fn(|j| sums[0][j] + sums[1][j]);
        if lists.is_suppressed[label] {
            [sums[0], sums[2]] = [0.0; 2];
            for (e, factors) in lists.row(label, &lists.potentials, kappa).zip(factors) {
                sums[0] += e * factors[0];
                sums[2] += e * e * factors[2];
            }
        } else {
            sums[0] += self.messages;
            sums[2] += self.squares;
        }
        sums
    }
}

impl Passes<'_, '_> {
    /// Fills Φ and adds ∂R/∂n; returns Σ μ²V.
    #[inline(always)]
    fn forward(&mut self) -> f64 {
        let (lattice, weight) = (self.sentence.lattice, self.sentence.weight);
        let (labels, stride) = (self.pairs.labels, self.kernel.row.len());
        let (kappa, lists) = (self.pairs.background, &self.pairs.predecessors);
        let kernel = &mut *self.kernel;
        let mut total = 0.0;
        for t in 0..lattice.tokens {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale[t];
            let [alpha, psi, v] = [&lattice.alpha, &lattice.psi, &lattice.suffix]
                .map(|array| &array[row.clone()][..labels]);
            let [p, n] = [lattice.node_marginals(), self.sentence.variances.node]
                .map(|array| &array[row.clone()][..labels]);
            let derivatives = &mut self.out.variances.nodes[row.clone()];
            let (done, rest) = kernel.phi.split_at_mut(row.start);
            let phi = &mut rest[..stride];
            let mut totals = None;
            if t > 0 {
                let before = row.start - stride..row.start;
                let from = lattice.alpha[before.clone()].iter().zip(&done[before]);
                for (factors, (&alpha, &phi)) in kernel.factors.iter_mut().zip(from) {
                    let square = alpha * alpha;
                    *factors = [phi, alpha, square, square];
                }
                totals = Some(Totals::new(kappa, &kernel.factors, &mut kernel.row));
            }
            for b in 0..labels {
                // At t = 0 let C = 1, as if one edge with α·e = 1 led to the token.
                let [messages, halves, c, d] = match totals {
                    Some(totals) => {
                        totals.sums(lists, &kernel.values[0], &kernel.factors, kappa, b)
                    }
                    None => [0.0, 0.0, 1.0, 0.0],
                };
                let variance = v[b] * (n[b] * c + d);
                derivatives[b] += weight * 0.5 * (p[b] - v[b] * v[b] * c);
                total += v[b] * variance;
                let sum = halves - variance + messages;
                phi[b] = psi[b] * factor * sum + 0.5 * n[b] * alpha[b];
            }
            phi[labels..].fill(0.0);
        }
        total
    }

    /// Runs the recurrence of ω, adds ∂R/∂node scores, and collects the factors of the sums.
    #[inline(always)]
    fn backward(&mut self, mean: f64) {
        let (lattice, weight) = (self.sentence.lattice, self.sentence.weight);
        let (labels, stride) = (self.pairs.labels, self.kernel.row.len());
        let (kappa, lists) = (self.pairs.background, &self.pairs.successors);
        let kernel = &mut *self.kernel;
        kernel.omega[..labels].fill(-mean);
        for t in (0..lattice.tokens).rev() {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale[t];
            let [alpha, beta, psi, v] =
                [&lattice.alpha, &lattice.beta, &lattice.psi, &lattice.suffix]
                    .map(|array| &array[row.clone()][..labels]);
            let [n, phi] = [self.sentence.variances.node, &kernel.phi]
                .map(|array| &array[row.clone()][..labels]);
            let derivatives = &mut self.out.scores.nodes[row.clone()];
            for b in 0..labels {
                let omega = kernel.omega[b];
                derivatives[b] += weight * (phi[b] * beta[b] + alpha[b] * omega);
                let gain = psi[b] * (omega * factor) + 0.5 * n[b] * v[b];
                let square = v[b] * v[b];
                kernel.factors[b] = [gain, v[b], n[b] * square, square];
            }
            if t == 0 {
                break;
            }
            let totals = Totals::new(kappa, &kernel.factors, &mut kernel.row);
            let before = row.start - stride..row.start;
            let alpha = &lattice.alpha[before.clone()];
            let omega = kernel.omega[..labels].iter_mut().zip(alpha);
            for (a, (omega, alpha)) in omega.enumerate() {
                let [messages, halves, squares, tau] =
                    totals.sums(lists, &kernel.values[1], &kernel.factors, kappa, a);
                *omega = messages + halves - alpha * (squares + tau);
            }
            kernel.push(self.pairs, self.sentence, before);
        }
    }
}
