//! The exact gradient, for sentences whose edges are the transitions alone: matrix products.
//!
//! The messages of `adjoint.rs` are the same here; what differs is how their sums are formed. In
//! scaled exponentials `μ[t][a][b] = α[t−1][a]·e[a][b]·v[t][b]` (symbols as in `chain/lattice.rs`), where e is
//! the same for all tokens, and V = n[t][b] + τ[a][b], where τ, the variance of the transitions, is
//! too. So is every factor that depends on both a and b, once M = μ·w is written out:
//!
//! ```text
//! M = ½ μ V − μ² V = α·[½ e·n + ½ eτ]·v − α²·[e²·n + e²τ]·v²
//! ```
//!
//! (products of matrices are entry by entry). Everything is products of vectors with the four
//! matrices e, ½eτ, e², e²τ, computed once in [`Factored::begin`], with no marginal ever formed.
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
//! *Backward.* Let Γ = v·B = ψ/c · (β·B), and g = Γ + ½ n·v. Then
//!
//! ```text
//! (β·B)[t−1][a] = Σ_b (e[a][b]·g[t][b] + ½eτ[a][b]·v[t][b]) − α[t−1][a]·Σ_b (e²[a][b]·n·v² + e²τ[a][b]·v²)
//! ∂R/∂node[t][b] = Φ·β + α·(β·B) − E[W]·α·β
//! ```
//!
//! *Transitions.* Σ_t of ∂R/∂s and of ∂R/∂V, over all sentences, are
//!
//! ```text
//! Σ ∂R/∂s = e·P₁ + ½eτ·P₀ − e²·P₃ − e²τ·P₂          Σ ∂R/∂V = ½ (e·P₀ − e²·P₂)
//! P₀ = Σ_t α·v      P₁ = Σ_t Φ·v + α·(g − E[W]·v)      P₂ = Σ_t α²·v²      P₃ = Σ_t α²·(n·v²)
//! ```
//!
//! with α and Φ of t−1, a and v, g, n of t, b. That is 4 multiply-adds per (t, a, b) forward, 4
//! backward and 5 in the sums, against 3 in forward-backward with its expectations.
//!
//! *Range.* v may be large and α or e small although μ ≤ 1. With v ≤ 2⁴⁰⁰ all v² are finite, and
//! where α·e or α is so small (below 2⁻⁵¹¹) that its square is not a normal number, μ is below
//! 2⁻¹¹¹ and its square is no loss. Other sentences are left to `adjoint.rs`.

use super::pairs::Pairs;
use super::{Derivatives, Sentence, Shared};
use crate::chain::{LANES, Lattice, Mode};
use crate::wide::{self, Kernel};

/// The largest v that is squared: 2⁴⁰⁰.
const REACH: f64 = f64::from_bits((1023 + 400) << 52);

/// Numbers of neighboring labels.
type Block = [f64; LANES];

const ZERO: Block = [0.0; LANES];

/// Matrices, messages and sums. A matrix is the rows of its first [`LANES`] columns, then those of
/// the next; C = S/[`LANES`] blocks of columns in all.
#[derive(Clone, Debug, Default)]
pub(super) struct Factored {
    labels: usize,
    matrices: Vec<[Block; 4]>, // [C][K] e, ½eτ, e², e²τ at [a][b], blocks of b
    transposed: Vec<[Block; 4]>, // [C][K] the same at [b][a], blocks of a
    sums: Vec<[Block; 4]>,     // [C][K] P
    phi: Vec<f64>,             // [T][S] Φ
    gain: Vec<f64>,            // [T][S] g
    square: Vec<f64>,          // [T][S] v²
    noise: Vec<f64>,           // [T][S] n·v²
    after: Vec<f64>,           // [S] β·B of one token
    sums_left: [Vec<f64>; 3],  // [S]
    sums_right: [Vec<f64>; 2], // [S]
}

impl Factored {
    /// Prepares the matrices and clears the sums.
    pub fn begin(&mut self, shared: Shared<'_>) {
        let (labels, stride) = (shared.transitions.labels(), shared.transitions.stride());
        self.labels = labels;
        for blocks in [&mut self.matrices, &mut self.transposed, &mut self.sums] {
            blocks.clear();
            blocks.resize(stride / LANES * labels, [ZERO; 4]);
        }
        let rows = self.sums_left.iter_mut().chain(&mut self.sums_right);
        for row in rows.chain([&mut self.after]) {
            row.clear();
            row.resize(stride, 0.0);
        }
        let potentials = shared.transitions.potentials();
        for a in 0..labels {
            for b in 0..labels {
                let (e, tau) = (potentials[a * stride + b], shared.variance[a * stride + b]);
                let entry = [e, 0.5 * e * tau, e * e, e * e * tau];
                for (i, x) in entry.into_iter().enumerate() {
                    self.matrices[b / LANES * labels + a][i][b % LANES] = x;
                    self.transposed[a / LANES * labels + b][i][a % LANES] = x;
                }
            }
        }
    }

    /// Whether a sentence can be done here.
    pub fn suits(sentence: Sentence<'_>, out: &Derivatives<'_>) -> bool {
        let lattice = sentence.lattice;
        let mut highest = ZERO;
        for suffix in blocks(lattice.suffix()) {
            for (highest, &v) in highest.iter_mut().zip(suffix) {
                *highest = if v > *highest { v } else { *highest };
            }
        }
        lattice.mode() == Mode::Scaled
            && lattice.edge_potentials().is_empty()
            && sentence.edge_variance.is_none()
            && out.edge.is_none()
            && out.edge_variance.is_none()
            && highest.iter().all(|&v| v <= REACH)
    }

    /// Returns weight·R and adds its derivatives.
    pub fn regularize(&mut self, sentence: Sentence<'_>, out: &mut Derivatives<'_>) -> f64 {
        self.size(sentence);
        wide::run(Passes {
            factored: self,
            sentence,
            out,
        })
    }

    fn size(&mut self, sentence: Sentence<'_>) {
        for array in [
            &mut self.phi,
            &mut self.gain,
            &mut self.square,
            &mut self.noise,
        ] {
            array.resize(sentence.node_variance.len(), 0.0);
        }
    }

    /// Fills Φ and adds ∂R/∂n; returns Σ μ²V.
    #[inline(always)]
    fn forward(&mut self, sentence: Sentence<'_>, out: &mut Derivatives<'_>) -> f64 {
        let (lattice, stride) = (sentence.lattice, self.after.len());
        let mut squares = ZERO;
        for t in 0..lattice.tokens() {
            let row = t * stride..(t + 1) * stride;
            if t == 0 {
                // To the first token leads one edge, of α·e = 1.
                self.sums_left[0].fill(0.0);
                self.sums_left[1].fill(1.0);
                self.sums_left[2].fill(0.0);
            } else {
                let labels = row.start - stride..row.start - stride + self.labels;
                let left = [&lattice.alpha()[labels.clone()], &self.phi[labels]];
                from_left(left, &self.matrices, &mut self.sums_left);
            }
            let factor = 1.0 / lattice.scale()[t];
            let [sum, c, d] = self.sums_left.each_ref().map(|row| blocks(row));
            let [alpha, psi, v, p, n, square] = [
                lattice.alpha(),
                lattice.node_potentials(),
                lattice.suffix(),
                lattice.node_marginals(),
                sentence.node_variance,
                &self.square,
            ]
            .map(|array| blocks(&array[row.clone()]));
            let phi = self.phi[row.clone()].as_chunks_mut::<LANES>().0;
            let derivatives = out.node_variance[row].as_chunks_mut::<LANES>().0;
            for i in 0..phi.len() {
                for j in 0..LANES {
                    let variance = v[i][j] * (n[i][j] * c[i][j] + d[i][j]);
                    phi[i][j] =
                        psi[i][j] * factor * (sum[i][j] - variance) + 0.5 * n[i][j] * alpha[i][j];
                    squares[j] += v[i][j] * variance;
                    derivatives[i][j] += sentence.weight * 0.5 * (p[i][j] - square[i][j] * c[i][j]);
                }
            }
        }
        squares.iter().sum()
    }

    /// Runs through β·B, fills g and adds ∂R/∂node scores.
    #[inline(always)]
    fn backward(&mut self, sentence: Sentence<'_>, mean: f64, out: &mut Derivatives<'_>) {
        let (lattice, stride) = (sentence.lattice, self.after.len());
        self.after.fill(0.0);
        for t in (0..lattice.tokens()).rev() {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale()[t];
            let [alpha, beta, psi, v, p, n, phi, after] = [
                &lattice.alpha()[row.clone()],
                &lattice.beta()[row.clone()],
                &lattice.node_potentials()[row.clone()],
                &lattice.suffix()[row.clone()],
                &lattice.node_marginals()[row.clone()],
                &sentence.node_variance[row.clone()],
                &self.phi[row.clone()],
                &self.after,
            ]
            .map(blocks);
            let derivatives = out.node[row.clone()].as_chunks_mut::<LANES>().0;
            let gain = self.gain[row.clone()].as_chunks_mut::<LANES>().0;
            for i in 0..after.len() {
                for j in 0..LANES {
                    let covariance =
                        phi[i][j] * beta[i][j] + alpha[i][j] * after[i][j] - mean * p[i][j];
                    derivatives[i][j] += sentence.weight * covariance;
                    gain[i][j] = psi[i][j] * (after[i][j] * factor) + 0.5 * n[i][j] * v[i][j];
                }
            }
            if t > 0 {
                let labels = row.start..row.start + self.labels;
                let right = [&self.gain, lattice.suffix(), &self.noise, &self.square];
                let right = right.map(|array| &array[labels.clone()]);
                from_right(right, &self.transposed, &mut self.sums_right);
                let [sum, squares] = self.sums_right.each_ref();
                let alpha = &lattice.alpha()[row.start - stride..row.start];
                for i in 0..stride {
                    self.after[i] = sum[i] - alpha[i] * squares[i];
                }
            }
        }
    }

    /// Adds the products of what stands left and right of every edge to the sums.
    #[inline(always)]
    fn add_products(&mut self, lattice: &Lattice, weight: f64, mean: f64) {
        let stride = self.after.len();
        let edges = self.phi.len() - stride;
        for (block, sums) in self.sums.chunks_exact_mut(self.labels).enumerate() {
            for (a, [p0, p1, p2, p3]) in sums.iter_mut().enumerate() {
                let left = [lattice.alpha(), &self.phi].map(|array| &array[..edges]);
                let right = [lattice.suffix(), &self.gain, &self.square, &self.noise]
                    .map(|array| &array[stride..]);
                let [q0, q1, q2, q3] = products(stride, left, right, (a, block * LANES));
                for j in 0..LANES {
                    p0[j] += weight * q0[j];
                    p1[j] += weight * (q1[j] - mean * q0[j]);
                    p2[j] += weight * q2[j];
                    p3[j] += weight * q3[j];
                }
            }
        }
    }

    /// Adds the derivatives that the sums amount to to those of `pairs`.
    pub fn add_to(&self, pairs: &mut Pairs) {
        let stride = self.after.len();
        let matrices = self.matrices.iter().zip(&self.sums).enumerate();
        for (i, ([e, tau, e2, tau2], [p0, p1, p2, p3])) in matrices {
            let at = i % self.labels * stride + i / self.labels * LANES;
            let scores = &mut pairs.score_sums[at..][..LANES];
            let variances = &mut pairs.variance_sums[at..][..LANES];
            for j in 0..LANES {
                scores[j] += (e[j] * p1[j] + tau[j] * p0[j]) - (e2[j] * p3[j] + tau2[j] * p2[j]);
                variances[j] += 0.5 * (e[j] * p0[j] - e2[j] * p2[j]);
            }
        }
    }
}

/// All that is done about a sentence.
struct Passes<'a, 'b> {
    factored: &'a mut Factored,
    sentence: Sentence<'a>,
    out: &'a mut Derivatives<'b>,
}

impl Kernel for Passes<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let (factored, sentence) = (self.factored, self.sentence);
        let (lattice, variance) = (sentence.lattice, sentence.node_variance);
        let arrays = factored.square.iter_mut().zip(&mut factored.noise);
        for ((square, noise), (v, n)) in arrays.zip(lattice.suffix().iter().zip(variance)) {
            *square = v * v;
            *noise = n * *square;
        }
        let squares = factored.forward(sentence, self.out);
        let last = variance.len() - factored.after.len();
        let mean: f64 = factored.phi[last..].iter().sum();
        factored.backward(sentence, mean, self.out);
        factored.add_products(lattice, sentence.weight, mean);
        sentence.weight * (mean + 0.5 * squares)
    }
}

/// A row over labels, in blocks.
#[inline(always)]
fn blocks(row: &[f64]) -> &[Block] {
    row.as_chunks().0
}

/// Σ_a (Φ·e + α·½eτ), Σ_a α²·e² and Σ_a α²·e²τ `[S]`; left are α and Φ `[K]`, `matrices` `[C][K]`.
#[inline(always)]
fn from_left([alpha, phi]: [&[f64]; 2], matrices: &[[Block; 4]], out: &mut [Vec<f64>; 3]) {
    let [sums, cs, ds] = out.each_mut().map(|row| row.as_chunks_mut().0);
    let out = sums.iter_mut().zip(cs.iter_mut().zip(ds));
    for (matrix, (sum_out, (c_out, d_out))) in matrices.chunks_exact(alpha.len()).zip(out) {
        let [mut sum, mut c, mut d] = [ZERO; 3];
        for ((alpha, phi), [e, tau, e2, tau2]) in alpha.iter().zip(phi).zip(matrix) {
            let square = alpha * alpha;
            for j in 0..LANES {
                sum[j] += phi * e[j] + alpha * tau[j];
                c[j] += square * e2[j];
                d[j] += square * tau2[j];
            }
        }
        (*sum_out, *c_out, *d_out) = (sum, c, d);
    }
}

/// Σ_b (g·e + v·½eτ) and Σ_b (n·v²·e² + v²·e²τ) `[S]`; right are g, v, n·v² and v² `[K]`, `matrices`
/// `[C][K]`.
#[inline(always)]
fn from_right(right: [&[f64]; 4], matrices: &[[Block; 4]], out: &mut [Vec<f64>; 2]) {
    let [g, v, noise, square] = right;
    let [sums, squares] = out.each_mut().map(|row| row.as_chunks_mut().0);
    let out = sums.iter_mut().zip(squares);
    for (matrix, (sum_out, squares_out)) in matrices.chunks_exact(g.len()).zip(out) {
        let [mut sum, mut squares] = [ZERO; 2];
        let right = g.iter().zip(v).zip(noise.iter().zip(square));
        for (((g, v), (noise, square)), [e, tau, e2, tau2]) in right.zip(matrix) {
            for j in 0..LANES {
                sum[j] += g * e[j] + v * tau[j];
                squares[j] += noise * e2[j] + square * tau2[j];
            }
        }
        (*sum_out, *squares_out) = (sum, squares);
    }
}

/// Σ_t α·v, Σ_t (Φ·v + α·g), Σ_t α²·v² and Σ_t α²·(n·v²), for a label on the left and a block of
/// labels on the right; left are α and Φ, right v, g, v² and n·v², all of them `[T−1][S]`.
#[inline(always)]
fn products(
    stride: usize,
    left: [&[f64]; 2],
    right: [&[f64]; 4],
    (a, b): (usize, usize),
) -> [Block; 4] {
    let [mut q0, mut q1, mut q2, mut q3] = [ZERO; 4];
    let [alpha, phi] = left.map(|array| array.chunks_exact(stride));
    let [v, g, square, noise] = right.map(|array| array.chunks_exact(stride));
    let rows = alpha.zip(phi).zip(v.zip(g)).zip(square.zip(noise));
    for (((alpha, phi), (v, g)), (square, noise)) in rows {
        let (x, y) = (alpha[a], phi[a]);
        let z = x * x;
        let range = b..b + LANES;
        let [v, g, square, noise] = [v, g, square, noise].map(|row| &row[range.clone()]);
        for j in 0..LANES {
            q0[j] += x * v[j];
            q1[j] += y * v[j] + x * g[j];
            q2[j] += z * square[j];
            q3[j] += z * noise[j];
        }
    }
    [q0, q1, q2, q3]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Case, Found, Lent, Numbers};
    use super::*;

    fn found(case: &Case, is_wide: bool) -> Found {
        let lent = Lent::new(case, false);
        let mut found = Found::zeros(case);
        let mut out = Derivatives {
            node: &mut found.node,
            edge: None,
            node_variance: &mut found.node_variance,
            edge_variance: None,
        };
        let sentence = lent.sentence(0.7);
        assert!(Factored::suits(sentence, &out));
        let (mut factored, mut pairs) = (Factored::default(), Pairs::default());
        factored.begin(lent.shared());
        factored.size(sentence);
        let passes = Passes {
            factored: &mut factored,
            sentence,
            out: &mut out,
        };
        found.value = match is_wide {
            true => wide::run(passes),
            false => passes.run(),
        };
        pairs.begin(lent.shared());
        factored.add_to(&mut pairs);
        (found.trans, found.trans_variance) = (pairs.score_sums, pairs.variance_sums);
        found
    }

    #[test]
    fn wide_vectors_give_the_same_bits_as_narrow_ones() {
        let mut numbers = Numbers(1);
        for labels in [1, 5, 8, 9, 17, 22, 49] {
            let case = Case::new(7, labels, &mut numbers);
            let (wide, narrow) = (found(&case, true), found(&case, false));
            assert_eq!(wide.value.to_bits(), narrow.value.to_bits());
            assert_eq!(wide.gradient(), narrow.gradient());
            assert_eq!(wide.variances(), narrow.variances());
        }
    }
}
