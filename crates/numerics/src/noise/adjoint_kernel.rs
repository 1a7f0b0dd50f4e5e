//! The fast kernel of the adjoint: dense matrix products, for sentences without edge scores.
//!
//! The messages are those of `adjoint.rs`; what differs is how their sums are formed. In scaled
//! exponentials `μ[t][a][b] = α[t−1][a]·e[a][b]·v[t][b]` (notation of
//! [`Lattice`](crate::chain::Lattice)), where e is the same for all tokens, and
//! V = n[t][b] + τ[a][b], where τ, the variance of the transitions, is too. So is every factor that
//! depends on both a and b, once M = μ·w is expanded:
//!
//! ```text
//! M = ½ μ V − μ² V = α·[½ e·n + ½ eτ]·v − α²·[e²·n + e²τ]·v²
//! ```
//!
//! (products of matrices are elementwise). Everything is products of vectors with the four matrices
//! e, ½eτ, e², e²τ, computed once per batch, and no marginal is ever formed.
//!
//! *Forward.* Let Φ = α·F. As α[t] = ψ/c · Σ_a α[t−1]·e,
//!
//! ```text
//! C[t][b] = Σ_a α[t−1][a]²·e²[a][b]          D[t][b] = Σ_a α[t−1][a]²·e²τ[a][b]
//! Φ[t][b] = ψ/c · ( Σ_a (Φ[t−1][a]·e[a][b] + α[t−1][a]·½eτ[a][b]) − v·(n·C + D) ) + ½ n·α
//! ```
//!
//! where Φ[0] = α·w[0] and E[W] = Σ_b Φ[T−1][b]. Σ_a μ² = v²·C gives ∂R/∂n = ½ (p − v²·C), and with
//! Σ_a μ²V = v²·(n·C + D) the value is R = ½ Σ (μ − μ²)·V = E[W] + ½ Σ μ²V.
//!
//! *Backward.* Let Γ = v·(B − E[W]) = ψ/c · ω with ω = β·(B − E[W]), and g = Γ + ½ n·v. As
//! Σ_b e·v = β, ω obeys the recurrence of β·B, but starts from ω[T−1] = −E[W]:
//!
//! ```text
//! ω[t−1][a] = Σ_b (e[a][b]·g[t][b] + ½eτ[a][b]·v[t][b])
//!             − α[t−1][a]·Σ_b (e²[a][b]·n·v² + e²τ[a][b]·v²)
//! ∂R/∂node[t][b] = Φ·β + α·ω
//! ```
//!
//! *Transitions.* Σ_t of ∂R/∂s and of ∂R/∂V, over all sentences, are
//!
//! ```text
//! Σ ∂R/∂s = e·P₁ + ½eτ·P₀ − e²·P₃ − e²τ·P₂          Σ ∂R/∂V = ½ (e·P₀ − e²·P₂)
//! P₀ = Σ_t α·v      P₁ = Σ_t Φ·v + α·g      P₂ = Σ_t α²·v²      P₃ = Σ_t α²·(n·v²)
//! ```
//!
//! with α and Φ at (t−1, a) and v, g, n at (t, b). That is 4 multiply-adds per (t, a, b) forward,
//! 4 backward and 5 in the sums, against 3 in forward-backward with its expectations.
//!
//! *Order of work.* Only Φ·e and g·e depend on the neighboring token. The six other products are
//! computed for all tokens of a sentence at once, matrix by matrix, and so are the sums: tiles of
//! several tokens or labels in registers (`chain/products.rs`), so that every number loaded is used
//! several times.
//!
//! *Range.* v may be large and α or e small although μ ≤ 1. With v ≤ 2⁴⁰⁰ all v² are finite, and
//! where α·e or α is so small (below 2⁻⁵¹¹) that its square is not a normal number, μ is below
//! 2⁻¹¹¹ and its square is negligible. `adjoint.rs` handles the other sentences.

use std::ops::Range;

use crate::aligned::Aligned;
use crate::chain::Mode;
use crate::chain::products::{
    add_matrix_product, add_outer_products, blocks, blocks_mut, by_stride, lanewise,
    row_times_matrix,
};
use crate::noise::quadratic::EdgeMatrices;
use crate::noise::regularizer::{ChainContext, ChainDerivatives, Derivatives, SentenceInput};
use crate::simd::{self, Kernel};

/// The largest v whose square is used: 2⁴⁰⁰.
const MAX_SUFFIX: f64 = f64::from_bits((1023 + 400) << 52);

/// Number of buffered tokens that triggers the sums: with fewer, reading and writing the sums would
/// cost more than the multiplications.
const FLUSH_TOKENS: usize = 32;

/// Matrices, messages and sums; a reusable workspace.
#[derive(Clone, Debug, Default)]
pub struct AdjointKernel {
    matrices: [Aligned; 3],   // [K][S] ½eτ, e², e²τ
    transposed: [Aligned; 3], // [K][S]
    sums: [Aligned; 4],       // [K][S] P₀ to P₃
    factors: Factors,
    forward_products: [Aligned; 3],  // [T][S] Σ_a α·½eτ, C, D
    backward_products: [Aligned; 2], // [T][S] Σ_b ½eτ·v, Σ_b (e²·n·v² + e²τ·v²)
    omega: Aligned,                  // [S] ω[t]
    row: Aligned,                    // [S]
}

/// The factors of the sums, buffered over sentences until there are enough tokens
/// ([`FLUSH_TOKENS`]).
#[derive(Clone, Debug, Default)]
struct Factors {
    pending: usize,         // length of the arrays [P][S] in use by previous sentences
    alpha: Aligned,         // [P][S] weight·α
    phi: Aligned,           // [P][S] Φ; weight·Φ once the sentence is done
    alpha_squared: Aligned, // [P][S] α²; weight·α² once the sentence is done
    v: Aligned,             // [P][S]
    g: Aligned,             // [P][S]
    v_squared: Aligned,     // [P][S] v²
    n_v_squared: Aligned,   // [P][S] n·v²
}

impl AdjointKernel {
    /// Starts a batch of sentences: computes the matrices and clears the sums.
    pub fn begin(&mut self, ChainContext { transitions, variances }: ChainContext<'_>) {
        let (labels, stride) = (transitions.labels(), transitions.stride());
        self.factors.pending = 0;
        let matrices = self.matrices.iter_mut().chain(&mut self.transposed);
        for matrix in matrices.chain(&mut self.sums) {
            matrix.set_zeros(labels * stride);
        }
        for row in [&mut self.omega, &mut self.row] {
            row.set_zeros(stride);
        }
        let potentials = transitions.potentials();
        for a in 0..labels {
            for b in 0..labels {
                let (e, tau) = (potentials[a * stride + b], variances.pairs[a * stride + b]);
                for (i, x) in [0.5 * e * tau, e * e, e * e * tau].into_iter().enumerate() {
                    self.matrices[i][a * stride + b] = x;
                    self.transposed[i][b * stride + a] = x;
                }
            }
        }
    }

    /// Returns whether this kernel can handle a sentence.
    pub fn supports(sentence: SentenceInput<'_>, out: &Derivatives<'_>) -> bool {
        let lattice = sentence.lattice;
        let mut highest = [0.0; 4];
        for suffix in blocks::<4>(&lattice.suffix) {
            for (highest, &v) in highest.iter_mut().zip(suffix) {
                *highest = if v > *highest { v } else { *highest };
            }
        }
        lattice.mode == Mode::Scaled
            && lattice.edge.is_empty()
            && sentence.variances.edge.is_none()
            && out.scores.edges.is_empty()
            && out.variances.edges.is_empty()
            && highest.iter().all(|&v| v <= MAX_SUFFIX)
    }

    /// Adds the derivatives with respect to transitions to the sums of `edges`.
    pub fn finish(&mut self, chain: ChainContext<'_>, edges: &mut EdgeMatrices) {
        self.flush();
        let (scores, variance) = (&mut edges.score_sums[..], &mut edges.variance_sums[..]);
        let mut out = ChainDerivatives { scores, variance };
        let sums = self.sums.each_ref().map(|sums| &sums[..]);
        add_transitions(chain.transitions.potentials(), &chain.variances.pairs, sums, &mut out);
    }

    /// Adds the buffered products to the sums and empties the buffers.
    fn flush(&mut self) {
        let Self { factors, sums, row, .. } = self;
        let stride = row.len();
        let pending = std::mem::take(&mut factors.pending);
        let products = [
            (&factors.alpha, &factors.v, 0),
            (&factors.phi, &factors.v, 1),
            (&factors.alpha, &factors.g, 1),
            (&factors.alpha_squared, &factors.v_squared, 2),
            (&factors.alpha_squared, &factors.n_v_squared, 3),
        ];
        if pending > 0 {
            for (x, y, i) in products {
                let (x, y) = (&x[..pending - stride], &y[stride..pending]);
                add_outer_products(stride, x, y, &mut sums[i]);
            }
        }
    }

    /// Returns weight·R of a sentence and adds its derivatives.
    pub fn regularize(&mut self, sentence: SentenceInput<'_>, out: &mut Derivatives<'_>) -> f64 {
        let numbers = sentence.variances.node.len();
        self.factors.reserve(numbers);
        for array in self.forward_products.iter_mut().chain(&mut self.backward_products) {
            array.resize(array.len().max(numbers));
        }
        simd::dispatch(Squares { factors: &mut self.factors, sentence });
        self.row_products(sentence);
        let value = simd::dispatch(SentencePasses { kernel: self, sentence, out });
        if self.factors.pending >= FLUSH_TOKENS * self.row.len() {
            self.flush();
        }
        value
    }

    /// Computes the six products that do not depend on neighboring tokens.
    fn row_products(&mut self, sentence: SentenceInput<'_>) {
        let (alpha, v) = (&sentence.lattice.alpha[..], &sentence.lattice.suffix[..]);
        let (stride, numbers) = (self.row.len(), v.len());
        let factors = &self.factors;
        let here = factors.pending..factors.pending + numbers;
        let [alpha_squared, v_squared, n_v_squared] =
            [&factors.alpha_squared, &factors.v_squared, &factors.n_v_squared]
                .map(|array| &array[here.clone()]);
        let (before, after) = (..numbers - stride, stride..numbers);
        let [tau, c, d] = &mut self.forward_products;
        let [sums, differences] = &mut self.backward_products;
        let products = [
            (&alpha[before], &self.matrices[0], tau),
            (&alpha_squared[before], &self.matrices[1], c),
            (&alpha_squared[before], &self.matrices[2], d),
            (&v[after.clone()], &self.transposed[0], sums),
            (&n_v_squared[after.clone()], &self.transposed[1], &mut *differences),
        ];
        for (x, matrix, out) in products {
            out[..numbers].fill(0.0);
            add_matrix_product(stride, x, matrix, &mut out[after.clone()]);
        }
        let (x, out) = (&v_squared[after.clone()], &mut differences[after]);
        add_matrix_product(stride, x, &self.transposed[2], out);
    }

    /// Fills Φ and adds ∂R/∂n; returns Σ μ²V.
    #[inline(always)]
    fn forward<const L: usize, const B: usize>(
        &mut self,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        let (lattice, potentials) = (sentence.lattice, sentence.chain.transitions.potentials());
        let stride = if B == 0 { self.row.len() } else { B * L };
        let labels = potentials.len() / stride;
        let (weight, phi) = (sentence.weight, &mut self.factors.phi[self.factors.pending..]);
        let mut squares = [0.0; L];
        // At t = 0 let C = 1, as if one edge with α·e = 1 led to the token.
        self.forward_products[1][..stride].fill(1.0);
        for t in 0..lattice.tokens {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale[t];
            let [tau, c, d] = &self.forward_products;
            let (tau, c, d) = (row_of::<L>(tau, &row), row_of::<L>(c, &row), row_of::<L>(d, &row));
            let (alpha, psi) = (row_of::<L>(&lattice.alpha, &row), row_of::<L>(&lattice.psi, &row));
            let (v, p) = (row_of(&lattice.suffix, &row), row_of(lattice.node_marginals(), &row));
            let n = row_of::<L>(sentence.variances.node, &row);
            let first = blocks_mut::<L>(&mut self.row);
            let derivatives = blocks_mut::<L>(&mut out.variances.nodes[row.clone()]);
            for i in 0..first.len() {
                let [tau, c, d, v, p, n] = [tau[i], c[i], d[i], v[i], p[i], n[i]];
                let variance = lanewise::<L>(|j| v[j] * n[j].mul_add(c[j], d[j]));
                let direct = lanewise::<L>(|j| weight * 0.5 * (v[j] * v[j]).mul_add(-c[j], p[j]));
                let derivative = derivatives[i];
                squares = lanewise(|j| v[j].mul_add(variance[j], squares[j]));
                first[i] = lanewise(|j| tau[j] - variance[j]);
                derivatives[i] = lanewise(|j| derivative[j] + direct[j]);
            }
            let (done, rest) = phi.split_at_mut(row.start);
            let phi = &mut rest[..stride];
            if t == 0 {
                phi.copy_from_slice(&self.row);
            } else {
                let before = &done[row.start - stride..][..labels];
                row_times_matrix::<L, B>(before, potentials, &self.row, phi);
            }
            let phi = blocks_mut::<L>(phi);
            for i in 0..phi.len() {
                let [sum, alpha, psi, n] = [phi[i], alpha[i], psi[i], n[i]];
                phi[i] = lanewise(|j| (psi[j] * factor).mul_add(sum[j], 0.5 * n[j] * alpha[j]));
            }
        }
        squares.iter().sum()
    }

    /// Runs the recurrence of ω, fills g and adds ∂R/∂node scores.
    #[inline(always)]
    fn backward<const L: usize, const B: usize>(
        &mut self,
        sentence: SentenceInput<'_>,
        mean: f64,
        out: &mut Derivatives<'_>,
    ) {
        let lattice = sentence.lattice;
        let transposed = sentence.chain.transitions.transposed_potentials();
        let stride = if B == 0 { self.row.len() } else { B * L };
        let labels = transposed.len() / stride;
        let Factors { pending, phi, g, .. } = &mut self.factors;
        let (weight, g, phi) = (sentence.weight, &mut g[*pending..], &phi[*pending..]);
        self.omega.fill(0.0);
        self.omega[..labels].fill(-mean);
        for t in (0..lattice.tokens).rev() {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale[t];
            let (alpha, beta) =
                (row_of::<L>(&lattice.alpha, &row), row_of::<L>(&lattice.beta, &row));
            let (psi, v) = (row_of::<L>(&lattice.psi, &row), row_of::<L>(&lattice.suffix, &row));
            let (n, phi) = (row_of::<L>(sentence.variances.node, &row), row_of::<L>(phi, &row));
            let omega = blocks::<L>(&self.omega);
            let derivatives = blocks_mut::<L>(&mut out.scores.nodes[row.clone()]);
            let gains = blocks_mut::<L>(&mut g[row.clone()]);
            for i in 0..gains.len() {
                let [alpha, beta, psi, v] = [alpha[i], beta[i], psi[i], v[i]];
                let [n, phi, omega] = [n[i], phi[i], omega[i]];
                let derivative = derivatives[i];
                let covariance = lanewise::<L>(|j| phi[j].mul_add(beta[j], alpha[j] * omega[j]));
                derivatives[i] = lanewise(|j| weight.mul_add(covariance[j], derivative[j]));
                gains[i] = lanewise(|j| psi[j].mul_add(omega[j] * factor, 0.5 * n[j] * v[j]));
            }
            if t > 0 {
                let alpha = blocks::<L>(&lattice.alpha[row.start - stride..row.start]);
                let [sums, differences] = &self.backward_products;
                let (sums, differences) = (&sums[row.clone()], &differences[row.clone()]);
                let differences = alpha.iter().zip(blocks::<L>(differences));
                let first = blocks_mut::<L>(&mut self.row).iter_mut().zip(blocks::<L>(sums));
                for ((first, sum), (alpha, difference)) in first.zip(differences) {
                    *first = lanewise(|j| alpha[j].mul_add(-difference[j], sum[j]));
                }
                let g = &g[row.start..][..labels];
                row_times_matrix::<L, B>(g, transposed, &self.row, &mut self.omega);
            }
        }
    }
}

/// Returns the blocks of a row.
#[inline(always)]
fn row_of<'a, const L: usize>(array: &'a [f64], row: &Range<usize>) -> &'a [[f64; L]] {
    blocks(&array[row.clone()])
}

/// Adds the derivatives with respect to transitions, given e, τ and the sums P₀ to P₃ of the same
/// shape.
pub(super) fn add_transitions(
    potentials: &[f64],
    variances: &[f64],
    [p0, p1, p2, p3]: [&[f64]; 4],
    out: &mut ChainDerivatives<'_>,
) {
    let derivatives = out.scores.iter_mut().zip(&mut *out.variance);
    let pairs = potentials.iter().zip(variances).zip(derivatives);
    for (i, ((e, tau), (score, variance))) in pairs.enumerate() {
        let square = e * e;
        *score += e * (p1[i] + 0.5 * tau * p0[i]) - square * (p3[i] + tau * p2[i]);
        *variance += 0.5 * (e * p0[i] - square * p2[i]);
    }
}

impl Factors {
    /// Reserves space for a sentence with T·S = `numbers`.
    fn reserve(&mut self, numbers: usize) {
        let Self { pending, alpha, phi, alpha_squared, v, g, v_squared, n_v_squared } = self;
        for array in [alpha, phi, alpha_squared, v, g, v_squared, n_v_squared] {
            array.resize(array.len().max(*pending + numbers));
        }
    }

    /// Keeps the factors of a sentence: multiplies those of t−1 by the weight, and clears those of
    /// the last token, which is at the left end of no edge.
    #[inline(always)]
    fn keep(&mut self, sentence: SentenceInput<'_>, stride: usize) {
        let (weight, alpha) = (sentence.weight, &sentence.lattice.alpha[..]);
        let here = self.pending..self.pending + alpha.len();
        let last = here.end - stride;
        for (to, alpha) in self.alpha[here.clone()].iter_mut().zip(alpha) {
            *to = weight * alpha;
        }
        for array in [&mut self.phi, &mut self.alpha_squared] {
            array[here.clone()].iter_mut().for_each(|x| *x *= weight);
        }
        for array in [&mut self.alpha, &mut self.phi, &mut self.alpha_squared] {
            array[last..here.end].fill(0.0);
        }
        self.pending = here.end;
    }
}

/// Fills v and the squares of α and v.
struct Squares<'a> {
    factors: &'a mut Factors,
    sentence: SentenceInput<'a>,
}

impl Kernel for Squares<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        let Self { factors, sentence } = self;
        let lattice = sentence.lattice;
        let here = factors.pending..factors.pending + lattice.suffix.len();
        factors.v[here.clone()].copy_from_slice(&lattice.suffix);
        let alpha_squared = &mut factors.alpha_squared[here.clone()];
        for (square, alpha) in alpha_squared.iter_mut().zip(&*lattice.alpha) {
            *square = alpha * alpha;
        }
        let from = lattice.suffix.iter().zip(sentence.variances.node);
        let to = factors.v_squared[here.clone()].iter_mut().zip(&mut factors.n_v_squared[here]);
        for ((square, n_square), (v, n)) in to.zip(from) {
            *square = v * v;
            *n_square = n * *square;
        }
    }
}

/// Both passes over a sentence; returns weight·R.
struct SentencePasses<'a, 'b> {
    kernel: &'a mut AdjointKernel,
    sentence: SentenceInput<'a>,
    out: &'a mut Derivatives<'b>,
}

impl Kernel for SentencePasses<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run<const SUMS: usize>(mut self) -> f64 {
        let value = by_stride!(SUMS, self.kernel.row.len(), |L, B| self.recurrences::<L, B>());
        let kernel = self.kernel;
        kernel.factors.keep(self.sentence, kernel.row.len());
        self.sentence.weight * value
    }
}

impl SentencePasses<'_, '_> {
    /// Runs the recurrences; returns R.
    #[inline(always)]
    fn recurrences<const L: usize, const B: usize>(&mut self) -> f64 {
        let (kernel, sentence) = (&mut *self.kernel, self.sentence);
        let squares = kernel.forward::<L, B>(sentence, self.out);
        let end = kernel.factors.pending + sentence.variances.node.len();
        let last = &kernel.factors.phi[end - kernel.row.len()..end];
        let mean: f64 = last.iter().sum();
        kernel.backward::<L, B>(sentence, mean, self.out);
        mean + 0.5 * squares
    }
}
