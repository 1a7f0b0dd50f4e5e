//! The class `Corpus`.

mod methods;
mod sentences;

pub use sentences::{PyCorpus, each};
