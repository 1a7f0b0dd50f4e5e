//! The class `Corpus`.

mod methods;
mod sentences;
mod write;

pub use methods::sample_text;
pub use sentences::{PyCorpus, each};
