//! The class `Corpus`.

mod methods;
mod pickled;
mod reading;
mod sentences;
mod write;

pub use methods::sample_text;
pub use pickled::{dump, load};
pub use reading::{PyReadOptions, label_column, label_names};
pub use sentences::PyCorpus;
