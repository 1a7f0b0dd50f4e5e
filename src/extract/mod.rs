//! From attributes to numbers: alphabets, the sparse design matrix, corpus-wide collapsing.
//!
//! The design matrix X has a row for each token and a column for each attribute (or for each class
//! of attributes that always occur together, see [`Classes`]). Training sees nothing else of the
//! text.

mod alphabet;
mod attribute_corpus;
mod builder;
mod dataset;
mod matrix;
#[cfg(test)]
pub(crate) mod tests;

pub use alphabet::{Alphabet, Alphabets};
pub use attribute_corpus::AttributeCorpus;
pub use builder::{AttributeSource, DatasetBuilder, TokenSink};
pub use dataset::{Allowed, AllowedLabels, Dataset, Target};
#[cfg(feature = "train")]
pub use matrix::numbered;
pub use matrix::{Classes, SparseRows};
