//! The class `Corpus`.

mod methods;
mod sentences;

pub use methods::sample_text;
pub use sentences::{PyCorpus, each};
