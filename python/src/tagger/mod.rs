//! The class `Tagger`.

mod facts;
mod methods;
mod model;
mod rows;
mod sentences;

pub use model::PyTagger;
pub use sentences::PyPreparedSentence;
