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
//! *Backward.* Let Γ = v·(B − E[W]) = ψ/c · ω with ω = β·(B − E[W]), and g = Γ + ½ n·v. As Σ_b e·v = β, ω
//! obeys the recurrence of β·B, only that it begins with ω[T−1] = −E[W]:
//!
//! ```text
//! ω[t−1][a] = Σ_b (e[a][b]·g[t][b] + ½eτ[a][b]·v[t][b]) − α[t−1][a]·Σ_b (e²[a][b]·n·v² + e²τ[a][b]·v²)
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
//! with α and Φ of t−1, a and v, g, n of t, b. That is 4 multiply-adds per (t, a, b) forward, 4
//! backward and 5 in the sums, against 3 in forward-backward with its expectations.
//!
//! *Order of work.* Only Φ·e and g·e wait for the token before. The six other products forward and backward
//! are taken of all tokens of a sentence at once, matrix by matrix, and so are the sums: tiles of several
//! tokens or labels in registers (`chain/products.rs`), so that what is loaded serves several of them.
//!
//! *Range.* v may be large and α or e small although μ ≤ 1. With v ≤ 2⁴⁰⁰ all v² are finite, and
//! where α·e or α is so small (below 2⁻⁵¹¹) that its square is not a normal number, μ is below
//! 2⁻¹¹¹ and its square is no loss. Other sentences are left to `adjoint.rs`.

use super::pairs::Pairs;
use super::{ChainContext, Derivatives, SentenceInput};
use crate::chain::products::{Block, add_outer, blocks, blocks_mut, combine, each, multiply};
use crate::chain::{LANES, Mode, Transitions};
use crate::simd::{self, Kernel};

/// The largest v that is squared: 2⁴⁰⁰.
const REACH: f64 = f64::from_bits((1023 + 400) << 52);

/// Tokens that make the sums worth taking: fewer would read and write more sums than they multiply.
const PENDING: usize = 32;

/// Matrices, messages and sums.
///
/// What the sums are made of is kept until [`PENDING`] tokens have come together.
#[derive(Clone, Debug, Default)]
pub(super) struct Factored {
    left: [Vec<Block>; 3],  // [S/LANES][K] ½eτ, e², e²τ, as `multiply` has them
    right: [Vec<Block>; 3], // [S/LANES][K] their transposes
    sums: [Vec<f64>; 4],    // [K][S] P
    pending: usize,         // numbers of the arrays [P][S] that are of sentences before
    alpha: Vec<f64>,        // [P][S] weight·α
    phi: Vec<f64>,          // [P][S] Φ, and once the sentence is done weight·Φ
    alpha_square: Vec<f64>, // [P][S] α², and then weight·α²
    v: Vec<f64>,            // [P][S]
    gain: Vec<f64>,         // [P][S] g
    square: Vec<f64>,       // [P][S] v²
    noise: Vec<f64>,        // [P][S] n·v²
    before: [Vec<f64>; 3],  // [T][S] Σ_a α·½eτ, C, D
    after: [Vec<f64>; 2],   // [T][S] of the edges to t: Σ_b ½eτ·v, Σ_b (e²·n·v² + e²τ·v²)
    omega: Vec<f64>,        // [S] ω of one token
    row: Vec<f64>,          // [S]
}

impl Factored {
    /// Prepares the matrices and clears the sums.
    pub fn begin(&mut self, shared: ChainContext<'_>) {
        let (labels, stride) = (shared.transitions.labels(), shared.transitions.stride());
        self.pending = 0;
        for panels in self.left.iter_mut().chain(&mut self.right) {
            panels.clear();
            panels.resize(stride / LANES * labels, [0.0; LANES]);
        }
        for sums in &mut self.sums {
            sums.clear();
            sums.resize(labels * stride, 0.0);
        }
        for row in [&mut self.omega, &mut self.row] {
            row.clear();
            row.resize(stride, 0.0);
        }
        let potentials = shared.transitions.potentials();
        for a in 0..labels {
            for b in 0..labels {
                let (e, tau) = (potentials[a * stride + b], shared.variance[a * stride + b]);
                let entry = [0.5 * e * tau, e * e, e * e * tau];
                for (i, x) in entry.into_iter().enumerate() {
                    self.left[i][b / LANES * labels + a][b % LANES] = x;
                    self.right[i][a / LANES * labels + b][a % LANES] = x;
                }
            }
        }
    }

    /// Whether a sentence can be done here.
    pub fn suits(sentence: SentenceInput<'_>, out: &Derivatives<'_>) -> bool {
        let lattice = sentence.lattice;
        let mut highest = [0.0; LANES];
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
    pub fn regularize(
        &mut self,
        transitions: &Transitions,
        sentence: SentenceInput<'_>,
        out: &mut Derivatives<'_>,
    ) -> f64 {
        self.make_room(sentence.node_variance.len());
        let value = simd::dispatch(Passes {
            factored: self,
            transitions,
            sentence,
            out,
        });
        if self.pending >= PENDING * self.row.len() {
            simd::dispatch(Sums(self));
        }
        value
    }

    /// Makes room for a sentence of so many numbers.
    fn make_room(&mut self, numbers: usize) {
        let kept = [
            &mut self.alpha,
            &mut self.phi,
            &mut self.alpha_square,
            &mut self.v,
            &mut self.gain,
            &mut self.square,
            &mut self.noise,
        ];
        for array in kept {
            array.resize(array.len().max(self.pending + numbers), 0.0);
        }
        for array in self.before.iter_mut().chain(&mut self.after) {
            array.resize(array.len().max(numbers), 0.0);
        }
    }

    /// Fills the powers of α and v and the products that wait for nothing.
    #[inline(always)]
    fn multiply(&mut self, sentence: SentenceInput<'_>) {
        let (alpha, v) = (sentence.lattice.alpha(), sentence.lattice.suffix());
        let (stride, numbers) = (self.row.len(), v.len());
        let here = self.pending..self.pending + numbers;
        let alpha_square = &mut self.alpha_square[here.clone()];
        let square = &mut self.square[here.clone()];
        let noise = &mut self.noise[here.clone()];
        self.v[here].copy_from_slice(v);
        let from = blocks(alpha).iter().zip(blocks(v));
        let from = from.zip(blocks(sentence.node_variance));
        let to = blocks_mut(square).iter_mut().zip(blocks_mut(noise));
        let to = to.zip(blocks_mut(alpha_square));
        for (((alpha, v), n), ((square, noise), alpha_square)) in from.zip(to) {
            let v2 = each(|j| v[j] * v[j]);
            let noise2 = each(|j| n[j] * v2[j]);
            (*alpha_square, *square, *noise) = (each(|j| alpha[j] * alpha[j]), v2, noise2);
        }
        let (last, after) = (numbers - stride, stride..numbers);
        let [tau, c, d] = &mut self.before;
        let [sums, differences] = &mut self.after;
        for products in [&mut *tau, c, d, sums, differences] {
            products[..numbers].fill(0.0);
        }
        let products = [
            (&alpha[..last], &self.left[0], tau),
            (&alpha_square[..last], &self.left[1], c),
            (&alpha_square[..last], &self.left[2], d),
            (&v[after.clone()], &self.right[0], sums),
        ];
        for (x, matrix, out) in products {
            multiply(stride, x, matrix, &mut out[after.clone()]);
        }
        for (x, matrix) in [(noise, &self.right[1]), (square, &self.right[2])] {
            let out = &mut differences[after.clone()];
            multiply(stride, &x[after.clone()], matrix, out);
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
        // To the first token leads one edge, of α·e = 1.
        self.before[1][..stride].fill(1.0);
        for t in 0..lattice.tokens() {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale()[t];
            let [tau, c, d, alpha, psi, v, p, n] = [
                &self.before[0],
                &self.before[1],
                &self.before[2],
                lattice.alpha(),
                lattice.node_potentials(),
                lattice.suffix(),
                lattice.node_marginals(),
                sentence.node_variance,
            ]
            .map(|array| blocks(&array[row.clone()]));
            let first = blocks_mut(&mut self.row);
            let derivatives = blocks_mut(&mut out.node_variance[row.clone()]);
            for i in 0..first.len() {
                let [tau, c, d, v, p, n] = [tau[i], c[i], d[i], v[i], p[i], n[i]];
                let variance = each(|j| v[j] * (n[j] * c[j] + d[j]));
                let direct = each(|j| weight * 0.5 * (p[j] - v[j] * v[j] * c[j]));
                let derivative = derivatives[i];
                squares = each(|j| squares[j] + v[j] * variance[j]);
                first[i] = each(|j| tau[j] - variance[j]);
                derivatives[i] = each(|j| derivative[j] + direct[j]);
            }
            let (done, rest) = phi.split_at_mut(row.start);
            let phi = &mut rest[..stride];
            if t == 0 {
                phi.copy_from_slice(&self.row);
            } else {
                let before = &done[row.start - stride..][..labels];
                combine::<B>(before, potentials, &self.row, phi);
            }
            let phi = blocks_mut(phi);
            for i in 0..phi.len() {
                let [sum, alpha, psi, n] = [phi[i], alpha[i], psi[i], n[i]];
                phi[i] = each(|j| psi[j] * factor * sum[j] + 0.5 * n[j] * alpha[j]);
            }
        }
        squares.iter().sum()
    }

    /// Runs through ω, fills g and adds ∂R/∂node scores.
    #[inline(always)]
    fn backward<const B: usize>(
        &mut self,
        transposed: &[f64],
        (sentence, mean): (SentenceInput<'_>, f64),
        out: &mut Derivatives<'_>,
    ) {
        let lattice = sentence.lattice;
        let stride = if B == 0 { self.row.len() } else { B * LANES };
        let labels = transposed.len() / stride;
        let (weight, gain) = (sentence.weight, &mut self.gain[self.pending..]);
        self.omega.fill(0.0);
        self.omega[..labels].fill(-mean);
        for t in (0..lattice.tokens()).rev() {
            let row = t * stride..(t + 1) * stride;
            let factor = 1.0 / lattice.scale()[t];
            let [alpha, beta, psi, v, n, phi] = [
                lattice.alpha(),
                lattice.beta(),
                lattice.node_potentials(),
                lattice.suffix(),
                sentence.node_variance,
                &self.phi[self.pending..],
            ]
            .map(|array| blocks(&array[row.clone()]));
            let omega = blocks(&self.omega);
            let derivatives = blocks_mut(&mut out.node[row.clone()]);
            let gains = blocks_mut(&mut gain[row.clone()]);
            for i in 0..gains.len() {
                let [alpha, beta, psi, v, n] = [alpha[i], beta[i], psi[i], v[i], n[i]];
                let [phi, omega, derivative] = [phi[i], omega[i], derivatives[i]];
                let covariance = each(|j| phi[j] * beta[j] + alpha[j] * omega[j]);
                derivatives[i] = each(|j| derivative[j] + weight * covariance[j]);
                gains[i] = each(|j| psi[j] * (omega[j] * factor) + 0.5 * n[j] * v[j]);
            }
            if t > 0 {
                let alpha = blocks(&lattice.alpha()[row.start - stride..row.start]);
                let [sums, differences] = &self.after;
                let (sums, differences) = (&sums[row.clone()], &differences[row.clone()]);
                let differences = alpha.iter().zip(blocks(differences));
                let first = blocks_mut(&mut self.row).iter_mut().zip(blocks(sums));
                for ((first, sum), (alpha, difference)) in first.zip(differences) {
                    *first = each(|j| sum[j] - alpha[j] * difference[j]);
                }
                let gain = &gain[row.start..][..labels];
                combine::<B>(gain, transposed, &self.row, &mut self.omega);
            }
        }
    }

    /// Puts the weight on what stands left of every edge. Left of no edge stands the last token.
    #[inline(always)]
    fn keep(&mut self, sentence: SentenceInput<'_>) {
        let (weight, alpha) = (sentence.weight, sentence.lattice.alpha());
        let here = self.pending..self.pending + alpha.len();
        let last = here.end - self.row.len();
        let to = blocks_mut(&mut self.alpha[here.clone()]).iter_mut();
        for (to, alpha) in to.zip(blocks(alpha)) {
            *to = each(|j| weight * alpha[j]);
        }
        for array in [&mut self.phi, &mut self.alpha_square] {
            for x in blocks_mut(&mut array[here.clone()]) {
                *x = each(|j| weight * x[j]);
            }
        }
        for array in [&mut self.alpha, &mut self.phi, &mut self.alpha_square] {
            array[last..here.end].fill(0.0);
        }
        self.pending = here.end;
    }

    /// Adds the derivatives that the sums amount to to those of `pairs`.
    pub fn add_to(&mut self, shared: ChainContext<'_>, pairs: &mut Pairs) {
        simd::dispatch(Sums(self));
        let matrices = shared.transitions.potentials().iter().zip(shared.variance);
        let derivatives = pairs.score_sums.iter_mut().zip(&mut pairs.variance_sums);
        let [p0, p1, p2, p3] = &self.sums;
        for (i, ((e, tau), (score, variance))) in matrices.zip(derivatives).enumerate() {
            let square = e * e;
            *score += e * (p1[i] + 0.5 * tau * p0[i]) - square * (p3[i] + tau * p2[i]);
            *variance += 0.5 * (e * p0[i] - square * p2[i]);
        }
    }
}

/// All that is done about a sentence, but for the sums.
struct Passes<'a, 'b> {
    factored: &'a mut Factored,
    transitions: &'a Transitions,
    sentence: SentenceInput<'a>,
    out: &'a mut Derivatives<'b>,
}

impl Kernel for Passes<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run(mut self) -> f64 {
        self.factored.multiply(self.sentence);
        // A constant number of blocks lets a whole row of sums stay in registers.
        let value = match self.factored.row.len() / LANES {
            1 => self.recursions::<1>(),
            2 => self.recursions::<2>(),
            3 => self.recursions::<3>(),
            4 => self.recursions::<4>(),
            5 => self.recursions::<5>(),
            6 => self.recursions::<6>(),
            7 => self.recursions::<7>(),
            // Zero stands for any number: block after block.
            _ => self.recursions::<0>(),
        };
        self.factored.keep(self.sentence);
        self.sentence.weight * value
    }
}

impl Passes<'_, '_> {
    /// What goes from token to token; returns R.
    #[inline(always)]
    fn recursions<const B: usize>(&mut self) -> f64 {
        let (factored, sentence) = (&mut *self.factored, self.sentence);
        let potentials = self.transitions.potentials();
        let squares = factored.forward::<B>(potentials, sentence, self.out);
        let end = factored.pending + sentence.node_variance.len();
        let last = &factored.phi[end - factored.row.len()..end];
        let mean: f64 = last.iter().sum();
        let transposed = self.transitions.transposed_potentials();
        factored.backward::<B>(transposed, (sentence, mean), self.out);
        mean + 0.5 * squares
    }
}

/// Adds the products of what stands left and right of the edges that were kept to the sums.
struct Sums<'a>(&'a mut Factored);

impl Kernel for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let factored = self.0;
        let stride = factored.row.len();
        let pending = std::mem::take(&mut factored.pending);
        let products = [
            (&factored.alpha, &factored.v, 0),
            (&factored.phi, &factored.v, 1),
            (&factored.alpha, &factored.gain, 1),
            (&factored.alpha_square, &factored.square, 2),
            (&factored.alpha_square, &factored.noise, 3),
        ];
        if pending > 0 {
            for (x, y, sums) in products {
                let (x, y) = (&x[..pending - stride], &y[stride..pending]);
                add_outer(stride, x, y, &mut factored.sums[sums]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
