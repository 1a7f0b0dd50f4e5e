//! Training: from labeled sentences to a model.
//!
//! ```text
//! sentences → labels, attributes → X → classes of equal columns → objective → optimizer → model
//! ```
//!
//! [`Trainer`] does all of it and tells an [`Observer`] how it goes. Training is deterministic: the
//! same data and options give the same model, to the bit, for any number of threads.
//!
//! With noise the first iterations are without ([`TrainOptions::warm_up`](field@TrainOptions::warm_up)).
//! After each iteration the development data are tagged; the model that is kept has the weights and the recall bias
//! ([`TrainOptions::recall_bias`]) with the best score. The bias lowers the score of the label `O`: likelihood
//! weighs tokens alike, F1 counts spans, and where names are rare the likeliest labels miss too many
//! (Minkov, Wang, Tomasic and Cohen 2006).

mod development;
mod events;
mod expand;
mod extracted;
mod optimize;
mod options;
mod prepare;
mod problem;
mod recall_bias;
mod segment;
#[cfg(test)]
mod tests;
mod trainer;
mod training_set;
mod watch;

pub use events::{DevScore, End, EndReason, Iteration, Observer, Pruned, Start};
pub use extracted::{Corpora, Extracted};
pub use options::{Defaults, NoiseKind, TrainOptions};
pub(crate) use prepare::is_text;
pub use problem::Problem;
pub use segment::{BestWeights, Segment, SegmentEnd};
pub use trainer::{Trained, Trainer};
pub use training_set::TrainingSet;
