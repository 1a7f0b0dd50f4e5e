//! The class `Tagger`.

mod facts;
mod methods;
mod model;
mod request;
mod rows;

pub use model::{PyTagger, in_batches};
pub use rows::TOKEN;
