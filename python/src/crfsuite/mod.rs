//! The core of `dropchain.pycrfsuite` and `dropchain.sklearn`: training and tagging with features
//! from Python, in the semantics of CRFsuite.

mod batch;
mod dump;
mod events;
mod instance;
mod item_sequence;
mod model;
mod parameters;
mod tagger;
mod trainer;

pub use item_sequence::PyItemSequence;
pub use model::PyCrfModel;
pub use tagger::PyCrfTagger;
pub use trainer::PyCrfTrainer;
