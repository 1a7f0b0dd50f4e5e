//! Training: from labeled sentences to a model.
//!
//! ```text
//! sentences → labels, attributes → X → classes of equal columns → objective → optimizer → model
//! ```
//!
//! [`Trainer`] does all of it and tells an [`Observer`] how it goes. Training is deterministic: the
//! same data and options give the same model, to the bit, for any number of threads.

mod development;
mod events;
mod expand;
mod optimize;
mod options;
mod prepare;
mod problem;
mod recall_bias;
#[cfg(test)]
mod tests;
mod trainer;
mod watch;

pub use events::{DevScore, End, EndReason, Iteration, Observer, Pruned, Silent, Start};
pub use options::{Defaults, NoiseKind, TrainOptions};
pub use problem::Problem;
pub use trainer::{Trained, Trainer};
