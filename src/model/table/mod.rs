//! A table of attributes: a hash table from the key of a name to its weights.
//!
//! [`super`] describes the format. [`TableBuilder`] writes it, [`AttributeTable`] reads it, and
//! [`WeightRows`] sums the weights of the most common format fast.

mod builder;
mod encoding;
mod names;
mod reader;
mod rows;
mod slots;
mod stored_weight;
mod weights;

pub use builder::TableBuilder;
pub use reader::AttributeTable;
pub(super) use reader::{TableFormat, TableLayout};
pub use rows::WeightRows;
pub use slots::WeightLocation;
pub use weights::AttributeWeights;
