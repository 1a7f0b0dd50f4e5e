//! The class `Tagger`.

mod explain;
mod facts;
mod methods;
mod model;
mod sentences;

pub use model::PyTagger;
pub use sentences::PyPreparedSentence;
