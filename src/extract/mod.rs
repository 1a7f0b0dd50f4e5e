//! From attributes to numbers: alphabets, the sparse design matrix, corpus-wide collapsing.
//!
//! The design matrix X has a row for each token and a column for each attribute (or class of
//! attributes that always occur together, see [`Classes`]). It is all that training sees of the
//! text.

mod alphabet;
mod collapse;
mod dataset;
mod matrix;
#[cfg(test)]
pub(crate) mod random;
#[cfg(test)]
mod tests;

pub use alphabet::Alphabet;
pub use collapse::Classes;
pub use dataset::{Alphabets, AttributeSource, Dataset, DatasetBuilder, TokenSink};
pub use matrix::SparseRows;
