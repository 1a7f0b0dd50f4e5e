//! From attributes to numbers: alphabets of attributes, and the data sets that are built with them.

mod alphabet;
mod attribute_corpus;
mod builder;
#[cfg(test)]
pub(crate) mod tests;

pub use alphabet::{Alphabet, Alphabets};
pub use attribute_corpus::AttributeCorpus;
pub use builder::{AttributeSource, DatasetBuilder, TokenSink};
pub use dropchain_numerics::data::{
    Allowed, AllowedLabels, Classes, Dataset, SparseRows, Target, numbered,
};
