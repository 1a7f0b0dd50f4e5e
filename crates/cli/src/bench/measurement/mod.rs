//! Benchmarks of the gradient engines, for researchers: the measurements of `dropchain bench`,
//! without the printing.
//!
//! [`measure`] evaluates the training objective with each engine of the noise term
//! ([`dropchain::noise`]): its time relative to the likelihood alone, and its error relative to the
//! exact gradient. [`peak_memory`] measures the memory of an evaluation, and [`train`] runs a
//! complete training.

mod evaluation_point;
mod gradients;
pub mod memory;
#[cfg(test)]
mod tests;
mod training_run;
mod variant;

pub use evaluation_point::EvaluationPoint;
pub use gradients::{Step, measure, peak_memory};
pub use training_run::train;
pub use variant::{Variant, parse_variants};
