//! The class `Tagger`.

mod facts;
mod methods;
mod model;
mod sentences;

pub use model::PyTagger;
pub use sentences::PyPreparedSentence;
