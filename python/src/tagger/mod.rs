//! The class `Tagger`.

mod condition;
mod facts;
mod methods;
mod model;
mod rows;

pub use model::PyTagger;
