//! Measurements for researchers: what `dropchain bench` does, without the printing.
//!
//! [`measure`] evaluates the objective of training with every way to the gradient of the noise term
//! ([`crate::noise`]): how long it takes beside the likelihood alone, how far it is from the exact
//! gradient. [`memory`] measures what an evaluation takes, [`train`] trains to the end.

mod engines;
mod gradients;
pub mod memory;
#[cfg(test)]
mod tests;
mod training;
mod weights;

pub use engines::{Variant, parse_variants};
pub use gradients::{Measurement, Step, measure, peak};
pub use training::{Run, train};
pub use weights::Weights;
