//! The forward and the backward pass over a sentence.

use super::sums::{FLUSH_TOKENS, FlushSums};
use super::workspace::AdjointKernel;
use crate::chain::products::{add_matrix_product, blocks, blocks_mut, lanewise, row_times_matrix};
use crate::chain::{LANES, Transitions};
use crate::noise::regularizer::{Derivatives, SentenceInput};
use crate::simd::{self, Kernel};

impl AdjointKernel {
    /// Returns weight·R of a sentence and adds its derivatives.
    pub fn regularize(
        &mut self,
        transitions: &Transitions,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        self.reserve(sentence.node_variance.len());
        let value = simd::dispatch(SentencePasses {
            kernel: self,
            transitions,
            sentence,
            out,
        });
        if self.pending >= FLUSH_TOKENS * self.row.len() {
            simd::dispatch(FlushSums(self));
        }
        value
    }

    /// Fills the squares of α and v, and the six products that do not depend on neighboring tokens.
    #[inline(always)]
    fn row_products(&mut self, sentence: SentenceInput<'_>) {
        let (alpha, v) = (sentence.lattice.alpha(), sentence.lattice.suffix());
        let (stride, numbers) = (self.row.len(), v.len());
        let here = self.pending..self.pending + numbers;
        let alpha_squared = &mut self.alpha_squared[here.clone()];
        let v_squared = &mut self.v_squared[here.clone()];
        let n_v_squared = &mut self.n_v_squared[here.clone()];
        self.v[here].copy_from_slice(v);
        let from = blocks(alpha).iter().zip(blocks(v));
        let from = from.zip(blocks(sentence.node_variance));
        let to = blocks_mut(v_squared).iter_mut();
        let to = to.zip(blocks_mut(n_v_squared));
        let to = to.zip(blocks_mut(alpha_squared));
        for (((alpha, v), n), ((v_squared, n_v_squared), alpha_squared)) in from.zip(to) {
            let square = lanewise(|j| v[j] * v[j]);
            *n_v_squared = lanewise(|j| n[j] * square[j]);
            *alpha_squared = lanewise(|j| alpha[j] * alpha[j]);
            *v_squared = square;
        }
        let (last, after) = (numbers - stride, stride..numbers);
        let [tau, c, d] = &mut self.forward_products;
        let [sums, differences] = &mut self.backward_products;
        for products in [&mut *tau, c, d, sums, differences] {
            products[..numbers].fill(0.0);
        }
        let products = [
            (&alpha[..last], &self.panels[0], tau),
            (&alpha_squared[..last], &self.panels[1], c),
            (&alpha_squared[..last], &self.panels[2], d),
            (&v[after.clone()], &self.transposed_panels[0], sums),
        ];
        for (x, matrix, out) in products {
            add_matrix_product(stride, x, matrix, &mut out[after.clone()]);
        }
        let [_, e_squared, e_squared_tau] = &self.transposed_panels;
        for (x, matrix) in [(n_v_squared, e_squared), (v_squared, e_squared_tau)] {
            let out = &mut differences[after.clone()];
            add_matrix_product(stride, &x[after.clone()], matrix, out);
        }
    }

    /// Fills Φ and adds ∂R/∂n; returns Σ μ²V.
    #[inline(always)]
    fn forward<const B: usize>(
        &mut self,
        potentials: &[f64],
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let lattice = sentence.lattice;
        let stride = if B == 0 { self.row.len() } else { B * LANES };
        let labels = potentials.len() / stride;
        let (weight, phi) = (sentence.weight, &mut self.phi[self.pending..]);
        let mut squares = [0.0; LANES];
        // At t = 0 let C = 1, as if one edge with α·e = 1 led to the token.
        self.forward_products[1][..stride].fill(1.0);
        for t in 0..lattice.tokens() {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale()[t];
            let [tau, c, d, alpha, psi, v, p, n, linear] = [
                &self.forward_products[0],
                &self.forward_products[1],
                &self.forward_products[2],
                lattice.alpha(),
                lattice.node_potentials(),
                lattice.suffix(),
                lattice.node_marginals(),
                sentence.node_variance,
                sentence.linear(),
            ]
            .map(|array| blocks(&array[row.clone()]));
            let first = blocks_mut(&mut self.row);
            let derivatives = blocks_mut(&mut out.node_variance[row.clone()]);
            for i in 0..first.len() {
                let [tau, c, d, v, p, n] = [tau[i], c[i], d[i], v[i], p[i], n[i]];
                let variance = lanewise(|j| v[j] * (n[j] * c[j] + d[j]));
                let direct = lanewise(|j| weight * 0.5 * (p[j] - v[j] * v[j] * c[j]));
                let derivative = derivatives[i];
                squares = lanewise(|j| squares[j] + v[j] * variance[j]);
                first[i] = lanewise(|j| tau[j] - variance[j]);
                derivatives[i] = lanewise(|j| derivative[j] + direct[j]);
            }
            let (done, rest) = phi.split_at_mut(row.start);
            let phi = &mut rest[..stride];
            if t == 0 {
                phi.copy_from_slice(&self.row);
            } else {
                let before = &done[row.start - stride..][..labels];
                row_times_matrix::<B>(before, potentials, &self.row, phi);
            }
            let phi = blocks_mut(phi);
            for i in 0..phi.len() {
                let [sum, alpha, psi, linear] = [phi[i], alpha[i], psi[i], linear[i]];
                phi[i] = lanewise(|j| psi[j] * factor * sum[j] + 0.5 * linear[j] * alpha[j]);
            }
        }
        squares.iter().sum()
    }

    /// Runs the recurrence of ω, fills g and adds ∂R/∂node scores.
    #[inline(always)]
    fn backward<const B: usize>(
        &mut self,
        transposed: &[f64],
        sentence: SentenceInput<'_>,
        mean: f64,
        out: &mut Derivatives<'_>,
    ) {
        let lattice = sentence.lattice;
        let stride = if B == 0 { self.row.len() } else { B * LANES };
        let labels = transposed.len() / stride;
        let (weight, g) = (sentence.weight, &mut self.g[self.pending..]);
        self.omega.fill(0.0);
        self.omega[..labels].fill(-mean);
        for t in (0..lattice.tokens()).rev() {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale()[t];
            let [alpha, beta, psi, v, linear, phi] = [
                lattice.alpha(),
                lattice.beta(),
                lattice.node_potentials(),
                lattice.suffix(),
                sentence.linear(),
                &self.phi[self.pending..],
            ]
            .map(|array| blocks(&array[row.clone()]));
            let omega = blocks(&self.omega);
            let derivatives = blocks_mut(&mut out.node[row.clone()]);
            let gains = blocks_mut(&mut g[row.clone()]);
            for i in 0..gains.len() {
                let [alpha, beta, psi, v] = [alpha[i], beta[i], psi[i], v[i]];
                let [linear, phi, omega] = [linear[i], phi[i], omega[i]];
                let derivative = derivatives[i];
                let covariance = lanewise(|j| phi[j] * beta[j] + alpha[j] * omega[j]);
                derivatives[i] = lanewise(|j| derivative[j] + weight * covariance[j]);
                gains[i] = lanewise(|j| psi[j] * (omega[j] * factor) + 0.5 * linear[j] * v[j]);
            }
            if t > 0 {
                let alpha = blocks(&lattice.alpha()[row.start - stride..row.start]);
                let [sums, differences] = &self.backward_products;
                let (sums, differences) = (&sums[row.clone()], &differences[row.clone()]);
                let differences = alpha.iter().zip(blocks(differences));
                let first = blocks_mut(&mut self.row).iter_mut().zip(blocks(sums));
                for ((first, sum), (alpha, difference)) in first.zip(differences) {
                    *first = lanewise(|j| sum[j] - alpha[j] * difference[j]);
                }
                let g = &g[row.start..][..labels];
                row_times_matrix::<B>(g, transposed, &self.row, &mut self.omega);
            }
        }
    }

    /// Buffers the factors of the sums: multiplies those of t−1 by the weight, and clears those of
    /// the last token, which is at the left end of no edge.
    #[inline(always)]
    fn buffer_factors(&mut self, sentence: SentenceInput<'_>) {
        let (weight, alpha) = (sentence.weight, sentence.lattice.alpha());
        let here = self.pending..self.pending + alpha.len();
        let last = here.end - self.row.len();
        let to = blocks_mut(&mut self.alpha[here.clone()]).iter_mut();
        for (to, alpha) in to.zip(blocks(alpha)) {
            *to = lanewise(|j| weight * alpha[j]);
        }
        for array in [&mut self.phi, &mut self.alpha_squared] {
            for x in blocks_mut(&mut array[here.clone()]) {
                *x = lanewise(|j| weight * x[j]);
            }
        }
        for array in [&mut self.alpha, &mut self.phi, &mut self.alpha_squared] {
            array[last..here.end].fill(0.0);
        }
        self.pending = here.end;
    }
}

/// Both passes over a sentence; returns weight·R.
pub(super) struct SentencePasses<'a, 'b> {
    pub(super) kernel: &'a mut AdjointKernel,
    pub(super) transitions: &'a Transitions,
    pub(super) sentence: SentenceInput<'a>,
    pub(super) out: &'a mut Derivatives<'b>,
}

impl Kernel for SentencePasses<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run(mut self) -> f64 {
        self.kernel.row_products(self.sentence);
        // With a constant number of blocks a whole row of sums stays in registers.
        let value = match self.kernel.row.len() / LANES {
            1 => self.recurrences::<1>(),
            2 => self.recurrences::<2>(),
            3 => self.recurrences::<3>(),
            4 => self.recurrences::<4>(),
            5 => self.recurrences::<5>(),
            6 => self.recurrences::<6>(),
            7 => self.recurrences::<7>(),
            // 0 stands for any number, one block at a time.
            _ => self.recurrences::<0>(),
        };
        self.kernel.buffer_factors(self.sentence);
        self.sentence.weight * value
    }
}

impl SentencePasses<'_, '_> {
    /// Runs the recurrences; returns R.
    #[inline(always)]
    fn recurrences<const B: usize>(&mut self) -> f64 {
        let (kernel, sentence) = (&mut *self.kernel, self.sentence);
        let potentials = self.transitions.potentials();
        let squares = kernel.forward::<B>(potentials, sentence, self.out);
        let end = kernel.pending + sentence.node_variance.len();
        let last = &kernel.phi[end - kernel.row.len()..end];
        let mean: f64 = last.iter().sum();
        let transposed = self.transitions.transposed_potentials();
        kernel.backward::<B>(transposed, sentence, mean, self.out);
        mean + 0.5 * squares
    }
}
