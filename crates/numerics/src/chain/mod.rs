//! Linear chains: exact inference over label sequences, given scores.
//!
//! A sentence has T tokens and K labels. A path y = y₀ … y_{T−1} has the score
//!
//! ```text
//! score(y) = start[y₀] + Σ_t node[t][y_t] + Σ_{t≥1} (trans[y_{t−1}][y_t] + edge[t][y_{t−1}][y_t])
//!            + end[y_{T−1}]
//! ```
//!
//! and the probability exp(score(y) − A), where A = log Σ_y exp score(y) is the *log-partition
//! function*. `edge`, the scores of observation-conditioned edges, is optional. At order 0 there
//! are no transitions: tokens are independent, and `start` and `end` are added to the first and
//! the last node score.
//!
//! | quantity | computed by | file | cost |
//! |---|---|---|---|
//! | A and the node marginals p(y_t = b) | [`Lattice`] | `forward_backward.rs` | O(TK²) |
//! | edge marginals p(y_{t−1} = a, y_t = b) | [`Lattice`] | `lattice.rs` | O(K²) each |
//! | their sums over t, ∂A/∂trans | [`EdgeSums`] | `lattice.rs` | TK² multiply-adds |
//! | A and marginals in a [`LabelMask`] | [`Lattice`] | `forward_backward.rs` | O(TK²) |
//! | best path, under a [`Constraint`] | [`Viterbi::decode`] | `viterbi.rs` | O(TK²) |
//! | n best paths | [`Viterbi::nbest`] | `nbest.rs` | O(TK² + nTK log n) |
//! | best path with another label at a token | [`MaxMarginals`] | `max_marginals.rs` | O(TK²) |
//! | score of a given path | [`score`] | `scores.rs` | O(T) |
//!
//! At order 0 every K² is a K. Where only P label pairs have weights ([`Transitions::for_pairs`]),
//! K² is K + P in all but the n best paths and max-marginals. [`Transitions`] holds the scores that
//! all sentences share and is prepared once per evaluation. [`Scores`] borrows the scores of one
//! sentence. [`Lattice`] and [`Viterbi`] are reusable workspaces: once they have seen the longest
//! sentence, they allocate nothing.
//!
//! # Layout
//!
//! Arrays are flat and row-major. The length of a row over labels is the *stride*
//! S = [`padded`]`(K)`, so that inner loops run over whole SIMD vectors.
//! Padding in inputs is ignored, whatever its value. Padding in outputs is exactly 0 (−∞ in the
//! logarithms of [`Mode::Log`]).
//!
//! # Non-finite scores
//!
//! Inference never panics on a value. If a score, or the sum of the scores of one node or edge, is
//! infinite or NaN, the log-partition function and all marginals are NaN, and decoding returns an
//! arbitrary path or none. (Impossible transitions are expressed by a [`Constraint`], impossible
//! labels by a [`LabelMask`], not by −∞.) Only with a mask, edge scores may be −∞ as well.
//!
//! Arrays of the wrong shape are a bug in the caller and do panic.

pub(crate) mod forward_backward;
mod label_pairs;
mod lattice;
mod marginals;
mod max_marginals;
mod nbest;
pub mod products;
mod scores;
mod transitions;
mod viterbi;

pub use label_pairs::LabelPairs;
#[cfg(feature = "train")] // of the noise term
pub(crate) use label_pairs::{GROUP, PairLists, TokenGroup};
pub use lattice::{EdgeSums, Lattice, Mode};
pub use marginals::Marginals;
pub use max_marginals::{Detour, MaxMarginals};
pub use nbest::ScoredPath;
pub use products::padded;
pub use scores::{Constraint, LabelMask, ScoreArrays, Scores, score};
pub use transitions::{LabelWeights, Order, Transitions};
pub use viterbi::Viterbi;
