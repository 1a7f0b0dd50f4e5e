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
//! where Φ[0] = α·w[0], E[W] = Σ_b Φ[T−1][b], and Σ_a μ[t][a][b]² = v²·C gives ∂R/∂n. Since
//! μ(1−μ) = 2·μ(½−μ) − μ(1−μ) + μ... halves to R = E[W] + ½ Σ μ²V, and Σ_a μ²V = v²·(n·C + D).
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
use crate::chain::{LANES, Mode};

/// The largest v that is squared: 2⁴⁰⁰.
const REACH: f64 = f64::from_bits((1023 + 400) << 52);

/// Numbers of neighboring labels.
type Block = [f64; LANES];

const ZERO: Block = [0.0; LANES];

/// Matrices, messages and sums, block by block: a matrix is the rows of its first [`LANES`]
/// columns, then those of the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Factored {
    labels: usize,
    blocks: usize,               // S/LANES
    matrices: Vec<[Block; 4]>,   // [S/LANES][K] e, ½eτ, e², e²τ at [a][b], blocks of b
    transposed: Vec<[Block; 4]>, // [S/LANES][K] the same at [b][a], blocks of a
    sums: Vec<[Block; 4]>,       // [S/LANES][K] weight·P
    left: Vec<[f64; 3]>,         // [T][S] α, Φ, α²
    right: Vec<[Block; 4]>,      // [T][S/LANES] weight·(v, g − E[W]·v, v², n·v²)
    current: Vec<[f64; 4]>,      // [S] g, v, n·v², v² of one token
    after: Vec<Block>,           // [S/LANES] β·B of one token
}

impl Factored {
    /// Prepares the matrices and clears the sums.
    pub fn begin(&mut self, shared: Shared<'_>) {
        let (labels, stride) = (shared.transitions.labels(), shared.transitions.stride());
        (self.labels, self.blocks) = (labels, stride / LANES);
        let size = self.blocks * labels;
        for blocks in [&mut self.matrices, &mut self.transposed, &mut self.sums] {
            blocks.clear();
            blocks.resize(size, [ZERO; 4]);
        }
        self.current.resize(stride, [0.0; 4]);
        self.after.resize(self.blocks, ZERO);
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
        for suffix in lattice.suffix().as_chunks::<LANES>().0 {
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
        let tokens = sentence.lattice.tokens();
        self.left.resize(tokens * self.blocks * LANES, [0.0; 3]);
        self.right.resize(tokens * self.blocks, [ZERO; 4]);
        let squares = self.forward(sentence, out);
        let stride = self.blocks * LANES;
        let last = &self.left[(tokens - 1) * stride..];
        let mean: f64 = last.iter().map(|left| left[1]).sum();
        self.backward(sentence, mean, out);
        self.add_products();
        sentence.weight * (mean + 0.5 * squares)
    }

    /// Fills α and Φ and adds ∂R/∂n; returns Σ μ²V.
    fn forward(&mut self, sentence: Sentence<'_>, out: &mut Derivatives<'_>) -> f64 {
        let stride = self.blocks * LANES;
        let mut squares = ZERO;
        for t in 0..sentence.lattice.tokens() {
            let node = Node::new(sentence, t, stride);
            let derivatives = &mut out.node_variance[t * stride..][..stride];
            let (derivatives, _) = derivatives.as_chunks_mut::<LANES>();
            let (done, rest) = self.left.split_at_mut(t * stride);
            let (left, _) = rest[..stride].as_chunks_mut::<LANES>();
            let before = done.get(t.max(1) * stride - stride..).unwrap_or_default();
            let matrices = self.matrices.chunks_exact(self.labels);
            for (i, (left, matrix)) in left.iter_mut().zip(matrices).enumerate() {
                // To the first token leads one edge, of α·e = 1.
                let [sum, c, d] = match t {
                    0 => [ZERO, [1.0; LANES], ZERO],
                    _ => from_left(before, matrix),
                };
                let (alpha, psi, v) = (&node.alpha[i], &node.psi[i], &node.suffix[i]);
                let (p, n) = (&node.marginals[i], &node.variance[i]);
                for j in 0..LANES {
                    let variance = v[j] * (n[j] * c[j] + d[j]);
                    let phi = psi[j] * node.factor * (sum[j] - variance) + 0.5 * n[j] * alpha[j];
                    left[j] = [alpha[j], phi, alpha[j] * alpha[j]];
                    derivatives[i][j] += sentence.weight * 0.5 * (p[j] - v[j] * v[j] * c[j]);
                    squares[j] += v[j] * variance;
                }
            }
        }
        squares.iter().sum()
    }

    /// Runs through β·B, adds ∂R/∂node scores and fills what the sums take from the right.
    fn backward(&mut self, sentence: Sentence<'_>, mean: f64, out: &mut Derivatives<'_>) {
        let (stride, weight) = (self.blocks * LANES, sentence.weight);
        self.after.fill(ZERO);
        for t in (0..sentence.lattice.tokens()).rev() {
            let node = Node::new(sentence, t, stride);
            let (derivatives, _) = out.node[t * stride..][..stride].as_chunks_mut::<LANES>();
            let (left, _) = self.left[t * stride..][..stride].as_chunks::<LANES>();
            let (current, _) = self.current.as_chunks_mut::<LANES>();
            let right = &mut self.right[t * self.blocks..][..self.blocks];
            for (i, after) in self.after.iter().enumerate() {
                let (alpha, beta, psi) = (&node.alpha[i], &node.beta[i], &node.psi[i]);
                let (p, v, n) = (&node.marginals[i], &node.suffix[i], &node.variance[i]);
                let [r0, r1, r2, r3] = &mut right[i];
                for j in 0..LANES {
                    let phi = left[i][j][1];
                    derivatives[i][j] +=
                        weight * (phi * beta[j] + alpha[j] * after[j] - mean * p[j]);
                    let g = psi[j] * (after[j] * node.factor) + 0.5 * n[j] * v[j];
                    let square = v[j] * v[j];
                    current[i][j] = [g, v[j], n[j] * square, square];
                    r0[j] = weight * v[j];
                    r1[j] = weight * (g - mean * v[j]);
                    r2[j] = weight * square;
                    r3[j] = weight * (n[j] * square);
                }
            }
            if t > 0 {
                let before = Node::new(sentence, t - 1, stride);
                let matrices = self.transposed.chunks_exact(self.labels);
                for ((after, alpha), matrix) in
                    self.after.iter_mut().zip(before.alpha).zip(matrices)
                {
                    let [sum, squares] = from_right(&self.current, matrix);
                    for j in 0..LANES {
                        after[j] = sum[j] - alpha[j] * squares[j];
                    }
                }
            }
        }
    }

    /// Adds the products of what stands left and right of every edge to the sums.
    fn add_products(&mut self) {
        let stride = self.blocks * LANES;
        for (block, sums) in self.sums.chunks_exact_mut(self.labels).enumerate() {
            let right = self.right.get(self.blocks + block..).unwrap_or_default();
            let right = right.iter().step_by(self.blocks);
            for (a, [p0, p1, p2, p3]) in sums.iter_mut().enumerate() {
                let left = self.left[a..].iter().step_by(stride);
                for ([alpha, phi, _], [v, g, _, _]) in left.clone().zip(right.clone()) {
                    for j in 0..LANES {
                        p0[j] += alpha * v[j];
                        p1[j] += phi * v[j] + alpha * g[j];
                    }
                }
                for ([_, _, square], [_, _, v, nv]) in left.zip(right.clone()) {
                    for j in 0..LANES {
                        p2[j] += square * v[j];
                        p3[j] += square * nv[j];
                    }
                }
            }
        }
    }

    /// Adds the derivatives that the sums amount to to those of `pairs`.
    pub fn add_to(&self, pairs: &mut Pairs) {
        let stride = self.blocks * LANES;
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

/// What the lattice and the variances say about one token, in blocks.
struct Node<'a> {
    factor: f64, // 1/c
    alpha: &'a [Block],
    beta: &'a [Block],
    psi: &'a [Block],
    suffix: &'a [Block],
    marginals: &'a [Block],
    variance: &'a [Block],
}

impl<'a> Node<'a> {
    fn new(sentence: Sentence<'a>, t: usize, stride: usize) -> Self {
        let lattice = sentence.lattice;
        let row = |array: &'a [f64]| array[t * stride..][..stride].as_chunks::<LANES>().0;
        Self {
            factor: 1.0 / lattice.scale()[t],
            alpha: row(lattice.alpha()),
            beta: row(lattice.beta()),
            psi: row(lattice.node_potentials()),
            suffix: row(lattice.suffix()),
            marginals: row(lattice.node_marginals()),
            variance: row(sentence.node_variance),
        }
    }
}

/// Σ_a (Φ·e + α·½eτ), Σ_a α²·e² and Σ_a α²·e²τ for a block of b, with `left` `[S]` and `matrix` `[K]`.
#[inline(always)]
fn from_left(left: &[[f64; 3]], matrix: &[[Block; 4]]) -> [Block; 3] {
    let [mut sum, mut c, mut d] = [ZERO; 3];
    for ([alpha, phi, square], [e, tau, e2, tau2]) in left.iter().zip(matrix) {
        for j in 0..LANES {
            sum[j] += phi * e[j] + alpha * tau[j];
            c[j] += square * e2[j];
            d[j] += square * tau2[j];
        }
    }
    [sum, c, d]
}

/// Σ_b (g·e + v·½eτ) and Σ_b (n·v²·e² + v²·e²τ) for a block of a, with `right` `[S]`, `matrix` `[K]`.
#[inline(always)]
fn from_right(right: &[[f64; 4]], matrix: &[[Block; 4]]) -> [Block; 2] {
    let [mut sum, mut squares] = [ZERO; 2];
    for ([g, v, nv2, v2], [e, tau, e2, tau2]) in right.iter().zip(matrix) {
        for j in 0..LANES {
            sum[j] += g * e[j] + v * tau[j];
            squares[j] += nv2 * e2[j] + v2 * tau2[j];
        }
    }
    [sum, squares]
}
