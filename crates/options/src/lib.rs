//! The options of training: their names, values, defaults and help.
//!
//! Each is defined once, as a field of a structure that clap reads. The command line has these
//! structures among its arguments; a configuration file and the keywords of Python become arguments
//! for them ([`parse`]), and pages and other languages read the definitions ([`table`]). Defaults
//! in the help are those of the library ([`with_default`]). A new option is a field here, and a
//! line of the `apply` beside it.

mod keywords;
mod model;
mod training;

pub use keywords::{Kind, OptionRow, parse, table, with_default};
pub use model::{LabelOptions, ModelOptions, StorageOptions, named};
pub use training::{FixedOptions, NoiseLevels, SearchedOptions, TrainingOptions};
