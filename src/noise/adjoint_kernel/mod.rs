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
//! *Noise that labels share* (`quadratic.rs`) adds ½ μ·U to M, whose sums have the form of ½ μ·n: L
//! takes the place of n in the last term of Φ and of g.
//!
//! *Range.* v may be large and α or e small although μ ≤ 1. With v ≤ 2⁴⁰⁰ all v² are finite, and
//! where α·e or α is so small (below 2⁻⁵¹¹) that its square is not a normal number, μ is below
//! 2⁻¹¹¹ and its square is negligible. `adjoint.rs` handles the other sentences.
//!
//! | file | contents |
//! |---|---|
//! | `workspace.rs` | [`AdjointKernel`]: matrices, messages and sums |
//! | `passes.rs` | the forward and the backward pass over a sentence |
//! | `sums.rs` | the sums P₀ to P₃ and the derivatives with respect to transitions |

mod passes;
mod sums;
#[cfg(test)]
mod tests;
mod workspace;

pub(super) use workspace::AdjointKernel;
