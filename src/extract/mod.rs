//! From attributes to numbers: alphabets, the sparse design matrix, corpus-wide collapsing.
//!
//! The design matrix X has a row for each token and a column for each attribute (or for each class
//! of attributes that always occur together, see [`Classes`]). Training sees nothing else of the
//! text.

mod alphabet;
mod attribute_corpus;
mod builder;
mod collapse;
mod dataset;
mod matrix;
#[cfg(test)]
pub mod random;
mod source;
mod targets;
#[cfg(test)]
mod tests;

pub use alphabet::{Alphabet, Alphabets};
pub use attribute_corpus::{AttributeCorpus, IntoAttribute};
pub use builder::{AttributeGroups, DatasetBuilder};
pub use collapse::Classes;
#[cfg(feature = "train")]
pub use collapse::numbered;
pub use dataset::Dataset;
pub use matrix::SparseRows;
pub use source::{AttributeSource, TokenSink};
pub use targets::{Allowed, AllowedLabels, Target};
