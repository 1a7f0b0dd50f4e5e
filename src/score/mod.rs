//! The one hinge between weights and scores.
//!
//! The parameters θ are one flat vector; [`ParameterSpace`] says which of them stands where:
//!
//! ```text
//! θ = [ node weights | edge weights | transitions | start | end ]
//! ```
//!
//! Scores are linear in θ. The forward map goes row by row over the design matrix X
//! (S = X·Θ); the transposed map, which a gradient needs (G = Xᵀ·∂S), goes column by column over
//! blocks of X that are stored transposed ([`TransposeProduct`]), so that every row of G is owned by one
//! thread: no atomics, no copies of the gradient, and the same bits for any number of threads.

mod forward;
mod parameters;
mod targets;
#[cfg(test)]
mod tests;
mod transpose;

pub use forward::ForwardProduct;
pub use parameters::{Boundary, ParameterSpace, SpaceOptions, States};
pub use targets::Targets;
pub use transpose::{Block, BlockPartition, Derivatives, NoiseDerivatives, TransposeProduct};
