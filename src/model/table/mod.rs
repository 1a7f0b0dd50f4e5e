//! A table of attributes: a hash table from the key of a name to its weights.
//!
//! [`super`] describes the format. [`TableBuilder`] writes it, [`AttributeTable`] looks
//! attributes up, and [`WeightRows`] reads and sums their weights.

mod builder;
mod encoding;
mod names;
mod reader;
mod rows;

pub use builder::TableBuilder;
pub use reader::AttributeTable;
pub(super) use reader::TableLayout;
pub use rows::WeightRows;
