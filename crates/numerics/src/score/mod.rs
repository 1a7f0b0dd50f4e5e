//! The sparse products of the design matrix and the weights.
//!
//! Everything before this module knows attributes and no weights, everything after it knows scores
//! and no attributes. The parameters θ are one flat vector; [`ParameterSpace`] defines its layout:
//!
//! ```text
//! θ = [ node weights | edge weights | transitions | start | end ]
//! ```
//!
//! The first two are [`FeatureBlock`]s, one per design matrix X. With Θ the weights of a block,
//!
//! | product | type | order |
//! |---|---|---|
//! | S = X·Θ, V = ρ·X∘²·Θ∘² | [`ForwardProduct`] | by rows (CSR) |
//! | G += Xᵀ·∂S + 2ρ·Θ∘(X∘²ᵀ·∂V) | [`TransposeProduct`] | by columns (CSC), block by block |
//!
//! A row of S and a row of G are each written by one thread: no atomics, no per-thread copies of
//! the gradient, and the same bits for any number of threads. [`BlockPartition`] fixes the units of
//! work, which depend on the data alone.

mod forward;
mod observed;
mod parameters;
mod partition;
mod targets;
mod transpose;

pub use forward::{ForwardProduct, Variances};
pub use parameters::{Boundary, ExtraWeights, ParameterSpace, SpaceOptions, States};
pub use partition::{Block, BlockPartition, split_by_owner};
pub use targets::{ColumnForm, FeatureBlock, Targets};
pub use transpose::{TransposeProduct, VarianceDerivatives};
