//! The options of training: their names, values, defaults and help.
//!
//! Each is defined once, as a field of a structure that clap reads. The command line has these
//! structures among its arguments; a configuration file and the keywords of Python become arguments
//! for them ([`parse`]), and pages and other languages read the definitions ([`table`]). Defaults
//! in the help are those of the library ([`with_default`]). A new option is a field here, and a
//! line of the `apply` beside it.

mod algorithm;
mod keywords;
mod labels;
mod model;
mod noise;
mod training;
mod values;

pub use algorithm::AlgorithmOptions;
pub use keywords::{Kind, OptionRow, parse, table, with_default};
pub use labels::LabelOptions;
pub use model::{ModelOptions, StorageOptions};
pub use noise::{CourseOptions, NoiseLevels};
pub use training::{FixedOptions, SearchedOptions, TrainingOptions};
pub use values::named;
